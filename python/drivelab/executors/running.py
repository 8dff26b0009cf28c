"""The one way to run points and histories: tasks to an executor, results in the order of their input."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

from drivelab import _core
from drivelab.errors import RunError, TimelessError, UnfitError
from drivelab.executors.checkpoint import Checkpoint
from drivelab.executors.local import Done, Local
from drivelab.executors.tasks import ChunkTask, PointTask, Task

CHUNKS_OF_A_TASK = 16
"""65,536 histories: a tenth of a second or more, compared with which the overhead of a task is small."""
Kept = TypeVar("Kept")
Entry = dict[str, Any] | RunError | None
"""The result of a point from `_core.run`: None if Ctrl-C came first."""


class Executor(Protocol):
    """Runs tasks somewhere."""

    name: str

    def run(self, tasks: Sequence[Task], done: Done, workers: int, /) -> None:
        """Run all, and deliver each result as soon as it is available."""

    def close(self) -> None:
        """Release all resources."""


class Running:
    """An executor, and the checkpoint of completed work."""

    def __init__(self, executor: Executor, checkpoint: Checkpoint | None) -> None:
        """The caller closes both."""
        self._executor, self._checkpoint = executor, checkpoint

    def all_of(self, tasks: Sequence[Task], workers: int, taken: Callable[[int, Any], object]) -> None:
        """Run all; `taken` receives each result in the order of the tasks, as soon as all before it are available.

        Delivered results are not kept here. Raises KeyboardInterrupt, once finished results are in the checkpoint,
        and RunError.
        """
        kept = self._checkpoint
        keys = [] if kept is None else [task.key for task in tasks]
        known = {place for place, key in enumerate(keys) if kept is not None and key in kept}
        left = [place for place in range(len(tasks)) if place not in known]
        came: dict[int, Any] = {}
        lock, next_place = Lock(), 0

        def hand_over() -> None:
            nonlocal next_place
            with lock:
                while next_place in came or next_place in known:
                    if next_place in came:
                        taken(next_place, came.pop(next_place))
                    elif kept is not None:
                        taken(next_place, kept.get(keys[next_place]))
                    next_place += 1

        def done(at: int, result: Any) -> None:  # noqa: ANN401
            place = left[at]
            if kept is not None:
                kept.keep(keys[place], result)
            came[place] = result
            hand_over()

        hand_over()
        if left:
            self._executor.run([tasks[place] for place in left], done, workers)

    def points(
        self,
        plans: Sequence[_core.Plan],
        on_plan: Callable[[int, list[Entry]], Kept],
        workers: int,
        progress: Callable[[float], object] | None,
        *,
        log: int,
        check_data: bool,
    ) -> list[Kept]:
        """The results of `on_plan` for the points of each plan, called in their order as soon as a plan is complete;
        points not run because of Ctrl-C are None."""
        tasks: list[Task] = []
        for plan in plans:
            pickled = pickle.dumps(plan)
            tasks += [
                PointTask(pickled, plan.scenario_hash, place, log, check_data) for place in range(len(plan))
            ]
        entries: list[Entry] = []
        found: list[Kept] = []

        def close() -> None:
            while len(found) < len(plans) and len(entries) >= len(plans[len(found)]):
                length = len(plans[len(found)])
                complete = entries[:length]
                del entries[:length]
                found.append(on_plan(len(found), complete))

        def taken(place: int, result: dict[str, Any]) -> None:
            entries.append(_failed(result) if "error" in result else result["point"])
            close()
            if progress is not None:
                progress(place + 1)

        try:
            close()
            self.all_of(tasks, workers, taken)
        except KeyboardInterrupt:
            while len(found) < len(plans):
                entries += [None] * (len(plans[len(found)]) - len(entries))
                close()
        return found

    def histories(self, workers: int) -> Callable[[str, int, int], list[list[int]]]:
        """The function that `_core.durability` calls for chunks of histories."""

        def run(job: str, first: int, last: int) -> list[list[int]]:
            tasks = [
                ChunkTask(job, at, min(at + CHUNKS_OF_A_TASK, last))
                for at in range(first, last, CHUNKS_OF_A_TASK)
            ]
            found: list[list[int]] = []
            self.all_of(tasks, workers, lambda _, chunks: found.extend(chunks))
            return found

        return run


_running: Running | None = None


def current() -> Running | None:
    """What `using` has set up; None if everything runs on the threads of this process without a checkpoint."""
    return _running


@contextmanager
def using(
    ray: str | None = None,
    checkpoint: str | Path | None = None,
    note: Callable[[str], object] = lambda _: None,
) -> Iterator[None]:
    """Run everything within on a Ray cluster, `HOST:PORT` or `auto`, and store results in a file as they complete.

    Results in a checkpoint of the same work are not computed again; `note` is told of lines that are no results.
    Raises InputError and OutputError.
    """
    global _running  # noqa: PLW0603 - one executor for all that runs within
    if ray is None and checkpoint is None:
        yield
        return
    executor: Executor = Local() if ray is None else _on_ray(ray)
    try:
        kept = None if checkpoint is None else Checkpoint(Path(checkpoint))
        if kept is not None and kept.damaged:
            note(_damaged_note(kept))
        before, _running = _running, Running(executor, kept)
        try:
            yield
        finally:
            _running = before
            if kept is not None:
                kept.close()
    finally:
        executor.close()


def _damaged_note(kept: Checkpoint) -> str:
    first, count = kept.damaged[0], len(kept.damaged)
    lines = f"line {first} is damaged" if count == 1 else f"{count} lines are damaged, the first is {first}"
    return f"note: {kept.path}: {lines}: left out, and what it was of runs again"


def _on_ray(address: str) -> Executor:
    from drivelab.executors.on_ray import OnRay  # noqa: PLC0415 - an extra

    return OnRay(address)


_KINDS = {kind.__name__: kind for kind in (RunError, UnfitError, TimelessError)}


def _failed(result: Mapping[str, Any]) -> RunError:
    """Why a point has no result, as reported by the process that ran it."""
    return _KINDS.get(result.get("kind", ""), RunError)(result["error"])
