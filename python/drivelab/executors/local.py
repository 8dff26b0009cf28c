"""Tasks on the threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from drivelab import _core
from drivelab.errors import RunError
from drivelab.executors.tasks import PointTask, Task, outcome_of

Done = Callable[[int, Any], object]
"""Called with the index of a task and its result, in order of completion."""


class Local:
    """Threads: the simulation runs without the interpreter's lock."""

    name = "threads of this process"

    def run(self, tasks: Sequence[Task], done: Done, workers: int) -> None:
        """Run all; Ctrl-C ends it, after finished results are delivered. Raises KeyboardInterrupt and RunError."""
        points = [task for task in tasks if isinstance(task, PointTask)]
        if len(points) == len(tasks):
            _run_points(points, done, workers)
            return
        with ThreadPoolExecutor(workers) as pool:
            places = {pool.submit(task.run): place for place, task in enumerate(tasks)}
            try:
                for future in as_completed(places):
                    done(places[future], future.result())
            finally:
                for future in places:
                    future.cancel()

    def close(self) -> None:
        """Does nothing: there is nothing to release."""


def _run_points(tasks: Sequence[PointTask], done: Done, workers: int) -> None:
    """On threads that Ctrl-C can end within a run."""
    if not tasks:
        return
    interrupted = False

    def taken(place: int, entries: Sequence[dict[str, Any] | RunError | None]) -> None:
        nonlocal interrupted
        entry = entries[0]
        if entry is None:
            interrupted = True
        else:
            done(place, outcome_of(entry, plans[place]))

    plans = [task.alone() for task in tasks]
    _core.run(plans, workers, None, tasks[0].log, tasks[0].check_data, taken)
    if interrupted:
        raise KeyboardInterrupt
