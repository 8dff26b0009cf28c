"""A published table run again: Python's `drivelab.reproduce`."""

from __future__ import annotations

from drivelab.errors import Interrupted
from drivelab.experiment.catalogue import load
from drivelab.experiment.engine import run
from drivelab.experiment.outcome import Outcome
from drivelab.runs.simulation import Progress
from drivelab.scenarios.names import names_checked


@names_checked
def reproduce(name: str, *, workers: int | None = None, progress: Progress | None = None) -> Outcome:
    """Run a published table again, e.g. `reproduce("lkml-2007")`; or the experiment in the file at a path.

    Raises InputError (no such experiment), ScenarioError, RunError and Interrupted (Ctrl-C; its `result` holds
    the finished cells).
    """
    outcome = run(load(name), workers, progress)
    if outcome.interrupted:
        raise Interrupted(outcome)
    return outcome
