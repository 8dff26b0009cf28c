"""Running scenarios in virtual time, many points side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from drivelab import _core, executors
from drivelab.errors import InputError, Interrupted, RunError, raw
from drivelab.executors.replay_problems import tell_problems
from drivelab.host.files import write_whole
from drivelab.report.commands import LOGS, Commands
from drivelab.runs.repetition import verdict
from drivelab.runs.result import Failure, Point, Result, Skipped
from drivelab.scenarios.firmware import iops_range
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.scenario import Scenario, overrides_from, plan, read_source
from drivelab.scenarios.subject import subject_of

Progress = Callable[[float], object]
"""Called with the number of points done, parts of points included, some 20 times a second."""

Kept = TypeVar("Kept")
Outcome = dict[str, Any] | RunError | None
"""What one point came to, as `_core` has it: None where Ctrl-C came first."""

WORKERS_MAX = 1024
"""Threads that may be asked for; more than there are points never start."""

LOG_MAX = 100_000
"""Commands that all points together may log: a record of more than a hundred megabytes helps nobody."""


@names_checked
def simulate(
    scenario: Scenario = "",
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    log: int = 0,
    check_data: bool = False,
    capture: str | Path | None = None,
    **overrides: object,
) -> Result:
    """Simulate a scenario: a path, TOML text or a dictionary. A list is a sweep, several lists a grid.

    A path may be that of a record, which is repeated: another digest than the record's is a RunError.

    `overrides` replace values of the scenario, or make one up: in fio's words as on the command line,
    `simulate(drive="wd-4tb-7200", rw="randread", bs="4KiB", iodepth=[1, 4])`, or under any of its keys,
    `simulate("raptor.toml", **{"workload.iodepth": [1, 4]})`. `workers` is the number of threads, by default
    one per core, at most 1024, and never more than there are points. `log` is how many commands of each
    point are kept, from the end of the warm-up on: each
    `point["commands"]` then has their traces. `check_data` holds every read to what was written,
    at a few times the cost: `point["data"]` tells what was checked, and what is wrong is a RunError. `capture` is a
    file that gets every command of the only point as a trace.

    Raises InputError (no such file, or no scenario at all), ScenarioError (all problems at once), RunError (a
    point failed) and Interrupted (Ctrl-C; its `result` holds the finished points).
    """
    laid_over = overrides_from(overrides)
    source = read_source(scenario, laid_over)
    checked = plan(source, laid_over)
    trace = None if capture is None else Path(capture)
    result = run_plan(checked, workers, progress, log, check_data=check_data, capture=trace)
    result = replace(result, subject=subject_of(source, laid_over))
    if result.interrupted:
        raise Interrupted(result)
    if result.failures:
        first = result.failures[0]
        raise RunError(f"{first.why} (at {first.axes})" if first.axes else first.why)
    if source.record is not None:
        repeated = verdict(source.record, checked, result)
        if repeated.is_same is False:
            raise RunError(repeated.text)
    return result


def run_plan(
    checked: _core.Plan,
    workers: int | None = None,
    progress: Progress | None = None,
    log: int = 0,
    *,
    check_data: bool = False,
    capture: Path | None = None,
) -> Result:
    """Run one plan. Failures and an interruption are in the result, beside the points that finished.

    `capture` is a file for the trace of its only point. Raises InputError where there are several, and OutputError.
    """
    if capture is None:
        return run_plans([checked], workers, progress, log, check_data=check_data)[0]
    check_capture(capture, checked)

    def run(part: Path) -> Result:
        plans = [checked]
        return run_reduced(
            plans, lambda _, result: result, workers, progress, log, check_data=check_data, capture=part
        )[0]

    return write_whole(capture, run, keep=lambda result: not result.failures and not result.interrupted)


def check_capture(capture: Path, checked: _core.Plan) -> None:
    """Refuse the trace of several points, and one in place of the trace that is replayed. Raises InputError."""
    if (points := len(checked)) > 1:
        raise InputError(
            f"capture {capture}: a trace is of one run, and this sweep has {points}; give one value of each key"
        )
    if capture.is_file() and any(capture.samefile(path) for path in checked.trace_files):
        raise InputError(
            f"capture {capture}: this is the trace that is replayed, and would be lost; name another file"
        )


def run_plans(
    plans: Sequence[_core.Plan],
    workers: int | None = None,
    progress: Progress | None = None,
    log: int = 0,
    *,
    check_data: bool = False,
) -> list[Result]:
    """Run every point of every plan side by side; one result per plan, in order."""
    return run_reduced(plans, lambda _, result: result, workers, progress, log, check_data=check_data)


def run_reduced(
    plans: Sequence[_core.Plan],
    keep: Callable[[int, Result], Kept],
    workers: int | None = None,
    progress: Progress | None = None,
    log: int = 0,
    *,
    check_data: bool = False,
    capture: Path | None = None,
) -> list[Kept]:
    """The same, but of each result no more than `keep` makes of it: called with the place of its plan, in order.

    What is not kept is gone before the next plan is complete. Ctrl-C may have `keep` called again for the same result.
    """
    if workers is not None and not 1 <= workers <= WORKERS_MAX:
        why = "it takes at least one thread to run anything" if workers < 1 else f"at most {WORKERS_MAX}"
        raise InputError(f"workers is {workers}: {why}")
    check_log(log, sum(map(len, plans)))

    def on_plan(place: int, outcome: Sequence[Outcome]) -> Kept:
        return keep(place, _result(plans[place], outcome))

    # A trace of the commands is written where the run is.
    elsewhere = executors.current() if capture is None else None
    if elsewhere is not None:
        many = workers or default_workers()
        return elsewhere.points(plans, on_plan, many, progress, log=log, check_data=check_data)
    trace = None if capture is None else str(capture)
    return _core.run(plans, workers or default_workers(), progress, log, check_data, on_plan, trace)


def check_log(log: int, points: int) -> None:
    """Refuse a log that is no number of commands, or too long. Raises InputError."""
    if log < 0:
        raise InputError(f"log is {log}: it is how many commands to keep")
    if log * points > LOG_MAX:
        at = f" at each of {points} points" if points > 1 else ""
        raise InputError(
            f"a log of {log:,} commands{at}: at most {LOG_MAX:,} are kept; ask for {LOG_MAX // points:,} or fewer"
        )


def in_arrival_order(result: Result, workers: int | None = None) -> list[Point | None]:
    """For each point its yardstick: the same run with its commands served in the order of their arrival.

    It has the seed, the warm-up and the workload of the point, and ends after as many I/Os as the point has
    commands in its log. None where the target is no drive, or the log is empty.
    """
    if result.plan is None:
        return [None] * len(result.points)
    counts = [len(point.get("commands", ())) if point.get("platter") else 0 for point in result.points]
    wanted = [(place, count) for place, count in zip(result.places, counts, strict=True) if count]
    if not wanted:
        return [None] * len(result.points)
    found = run_plan(result.plan.in_arrival_order(wanted), workers)
    if found.interrupted:
        raise KeyboardInterrupt
    by_place = dict(zip((wanted[place][0] for place in found.places), found.points, strict=True))
    return [by_place.get(place) for place in result.places]


def default_workers() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _result(checked: _core.Plan, outcome: Sequence[Outcome]) -> Result:
    points: list[Point] = []
    failures: list[Failure] = []
    fio: list[str] = []
    places: list[int] = []
    planned = zip(checked.axes, checked.fio, checked.in_force, outcome, strict=True)
    for place, (axes, command, in_force, entry) in enumerate(planned):
        if isinstance(entry, RunError):
            failures.append(Failure(axes, raw(entry), type(entry)))
        elif entry is not None:
            tell_problems(entry, checked, place)
            logs = {key: Commands(entry[key]) for key in LOGS if key in entry}
            ranged = iops_range(in_force, entry)
            points.append(cast("Point", {"axes": axes, "in_force": in_force, **entry, **ranged, **logs}))
            fio.append(command)
            places.append(place)
    return Result(
        points=points,
        name=checked.name,
        seed=checked.seed,
        scenario_hash=checked.scenario_hash,
        interrupted=None in outcome,
        failures=failures,
        fio=fio,
        skipped=[Skipped(axes, reason) for axes, reason in checked.skipped],
        plan=checked,
        places=places,
    )
