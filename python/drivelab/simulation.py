"""Running scenarios in virtual time, many points side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, Interrupted, RunError
from drivelab.result import Failure, Point, Result
from drivelab.scenario import Scenario, overrides_from, plan, read_source

Progress = Callable[[float], object]
"""Called with the number of points done, parts of points included, some 20 times a second."""


def simulate(
    scenario: Scenario = "",
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    **overrides: object,
) -> Result:
    """Simulate a scenario: a path, TOML text or a dictionary. A list is a sweep, several lists a grid.

    `overrides` replace values of the scenario, or make one up: in fio's words as on the command line,
    `simulate(drive="wd-4tb-7200", rw="randread", bs="4KiB", iodepth=[1, 4])`, or under any of its keys,
    `simulate("raptor.toml", **{"workload.iodepth": [1, 4]})`. `workers` is the number of threads, by default
    one per core.

    Raises InputError (no such file, or no scenario at all), ScenarioError (all problems at once), RunError (a
    point failed) and Interrupted (Ctrl-C; its `result` holds the finished points).
    """
    checked = plan(read_source(scenario), overrides_from(overrides))
    result = run_plan(checked, workers, progress)
    if result.interrupted:
        raise Interrupted(result)
    if result.failures:
        first = result.failures[0]
        raise RunError(f"{first.message} (at {first.axes})" if first.axes else first.message)
    return result


def run_plan(checked: _core.Plan, workers: int | None = None, progress: Progress | None = None) -> Result:
    """Run one plan. Failures and an interruption are in the result, beside the points that finished."""
    return run_plans([checked], workers, progress)[0]


def run_plans(
    plans: Sequence[_core.Plan], workers: int | None = None, progress: Progress | None = None
) -> list[Result]:
    """Run every point of every plan side by side; one result per plan, in order."""
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}: it takes at least one thread to run anything")
    outcomes = _core.run(plans, workers or default_workers(), progress)
    return [_result(checked, outcome) for checked, outcome in zip(plans, outcomes, strict=True)]


def default_workers() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _result(checked: _core.Plan, outcome: Sequence[dict[str, Any] | RunError | None]) -> Result:
    points: list[Point] = []
    failures: list[Failure] = []
    fio: list[str] = []
    for axes, command, entry in zip(checked.axes, checked.fio, outcome, strict=True):
        if isinstance(entry, RunError):
            failures.append(Failure(axes, str(entry)))
        elif entry is not None:
            points.append({"axes": axes, **entry})
            fio.append(command)
    return Result(
        points=points,
        name=checked.name,
        seed=checked.seed,
        scenario_hash=checked.scenario_hash,
        interrupted=None in outcome,
        failures=failures,
        fio=fio,
    )
