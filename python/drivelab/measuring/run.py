"""A scenario's workload on a real device: one point after the other, with repeats, and their record."""

from __future__ import annotations

import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

from drivelab import _core
from drivelab.errors import InputError, RunError, raw, ref
from drivelab.measuring.device import SECTOR, Target
from drivelab.report import toml_text
from drivelab.runs.result import Failure, Point, Result, Skipped, resolved
from drivelab.scenarios.scenario import Override, Source, plan
from drivelab.scenarios.subject import Subject

REPEATS_MAX = 100
ENGINES = ("auto", "io_uring", "threads", "nbd")
# Student's t at 97.5 %, for 1 to 10 degrees of freedom, then 20, 30 and more.
_STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)

Progress = Callable[[float], object]
"""Called with the number of completed runs, including fractions."""


@dataclass(frozen=True)
class How:
    """How a workload is run on a device."""

    engine: str = "auto"
    may_write: bool = False
    direct: bool = True
    goes_on: bool = False
    """Whether to continue after a failed command."""
    steady: tuple[int, int] | None = None
    """The length of a round in nanoseconds, and the maximum number of rounds, until the device is steady."""
    repeats: int = 1
    log: int = 0
    nowhere: bool = False
    """No device: the cost of the engine itself."""


@dataclass(frozen=True, repr=False)
class MeasuredResult(Result):
    """The record of a simulation, and the figures that a real device adds."""

    environment: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[Mapping[str, str]] = ()
    moved_bytes: tuple[int, int] = (0, 0)
    """Bytes read and written by all runs, warm-ups included."""
    issued_bytes: tuple[int, int] = (0, 0)
    """The same with what failed, or was under way at the end."""

    def document(self) -> dict[str, Any]:
        """As `measure --json` prints it."""
        before = super().document()
        points = before.pop("points")
        return {
            "kind": "measured",
            **before,
            "environment": dict(self.environment),
            "warnings": [dict(one) for one in self.warnings],
            "points": points,
        }


def plan_on(source: Source, overrides: Sequence[Override], target: Target) -> _core.Plan:
    """The workload of a scenario with the device as its target. Raises ScenarioError and InputError."""
    for override in overrides:
        if override.key == "target" or override.key.startswith("target."):
            raise InputError(
                f"{override.origin}: the target is the device at {target.shown}, and is as it is; leave it out"
            )
    document = _document(source)
    if "target" in document:
        # This reports errors of the scenario with their places.
        plan(source, overrides)
    # Stations stand for the device: a plan needs a target, and this one only has the device's size.
    capacity = f"{target.size_bytes // SECTOR * SECTOR}B"
    document["target"] = {"server": {"service": "fixed", "mean": "1ms", "capacity": capacity}}
    record = source.record
    if record is not None:
        own = tuple(one for one in record.overrides if not one.key.startswith("target"))
        record = replace(record, overrides=own)
    text = replace(source, text=toml_text.dumps(document), record=record)
    return plan(text, overrides)


def _document(source: Source) -> dict[str, Any]:
    try:
        return toml_text.loads(source.text)
    except tomllib.TOMLDecodeError:
        # This reports the error with its place.
        plan(source)
        raise


def writes(checked: _core.Plan) -> bool:
    """Whether any point writes, according to its job file."""
    kinds = {
        line.partition("=")[2] for text in checked.fio for line in text.splitlines() if line.startswith("rw=")
    }
    return any(kind not in {"read", "randread"} for kind in kinds)


def check_fits(checked: _core.Plan, target: Target, how: How) -> None:
    """Refuse what the target does not support, before anything runs. Raises InputError."""
    if target.server is None:
        if how.engine == "nbd" and not how.nowhere:
            raise InputError(
                f"{target.shown}: is no NBD address; the engine nbd takes one, as nbd+unix:///?socket=PATH"
            )
        return
    try:
        _core.measure_fits(checked, target.server.address, how.engine)
    except RunError as error:
        raise InputError(raw(error)) from error


def measure_plan(
    checked: _core.Plan, target: Target, how: How, progress: Progress | None = None
) -> MeasuredResult:
    """Run every point, repeats in turn so that drift affects all points alike.

    Failures and an interruption are in the result, with the figures up to then. Raises InputError.
    """
    if not 1 <= how.repeats <= REPEATS_MAX:
        raise InputError(f"{ref('repeat', how.repeats)}: from 1 to {REPEATS_MAX} runs of each point")
    runs: list[list[dict[str, Any]]] = [[] for _ in range(len(checked))]
    failures: dict[int, Failure] = {}
    interrupted, done = False, 0
    try:
        for repeat, (place, axes) in product(range(how.repeats), enumerate(checked.axes)):
            if place in failures:
                continue
            before = done

            def tell(share: float, before: int = before) -> None:
                if progress is not None:
                    progress(before + share)

            try:
                point, interrupted = _core.measure(
                    checked, place, _options(target, how, checked.seed + repeat), tell
                )
                runs[place].append(point)
            except RunError as error:
                failures[place] = Failure(axes, _without_names(raw(error), target))
            if interrupted:
                break
            done += 1
            tell(0.0, done)
    except KeyboardInterrupt:
        # Ctrl-C between two points: short ones are seldom met while they run.
        interrupted = True
    return _result(checked, target, runs, list(failures.values()), interrupted=interrupted)


def _without_names(message: str, target: Target) -> str:
    """A message for a record, without the names of other machines."""
    server = target.server
    return message if server is None else message.replace(server.address, server.shown)


def _options(target: Target, how: How, seed: int) -> dict[str, Any]:
    return {
        "path": None if how.nowhere or target.path is None else str(target.path),
        "address": None if how.nowhere or target.server is None else target.server.address,
        "engine": how.engine,
        "may_write": how.may_write,
        "identity": target.identity,
        "direct": how.direct,
        "goes_on": how.goes_on,
        "steady": how.steady,
        "seed": seed,
        "log": how.log,
    }


def _result(
    checked: _core.Plan,
    target: Target,
    runs: Sequence[Sequence[dict[str, Any]]],
    failures: list[Failure],
    *,
    interrupted: bool,
) -> MeasuredResult:
    points: list[Point] = []
    places: list[int] = []
    for place, (axes, found) in enumerate(zip(checked.axes, runs, strict=True)):
        if not found:
            continue
        # A run that Ctrl-C cut short counts only where it is the only one.
        whole = [run for run in found if run["ended"] != "interrupted"] or found
        point = dict(whole[0]) if len(whole) == 1 else _repeated(whole)
        logged = {} if "commands" not in point else {"logged_from_ns": 0, "platter": None}
        points.append(cast("Point", {"axes": axes, "in_force": None, **point, **logged}))
        places.append(place)
    return MeasuredResult(
        points=points,
        name=checked.name,
        seed=checked.seed,
        scenario_hash=checked.scenario_hash,
        interrupted=interrupted,
        failures=failures,
        fio=[checked.fio[place] for place in places],
        skipped=[Skipped(axes, reason) for axes, reason in checked.skipped],
        places=places,
        subject=Subject(target.title, {}),
        resolved=resolved(checked, without_target=True),
        moved_bytes=_bytes(runs, "moved_bytes"),
        issued_bytes=_bytes(runs, "issued_bytes"),
    )


def _bytes(runs: Sequence[Sequence[Mapping[str, Any]]], key: str) -> tuple[int, int]:
    pairs = [point["measured"][key] for found in runs for point in found]
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def _repeated(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The run with the median rate, and the statistics of all runs."""
    ranked = sorted(found, key=lambda point: point["iops"])
    median = ranked[(len(ranked) - 1) // 2]
    means = [point["latency_ns"]["mean"] for point in found if point["latency_ns"]["mean"] is not None]
    repeats = {
        "count": len(found),
        "figures_of": "the run with the median rate",
        "iops": interval([point["iops"] for point in found]),
        "mean_latency_ns": interval(means),
    }
    # A run in which the device stopped answering has a low rate, and is seldom the median.
    silent = max((point["measured"]["under_way"] for point in found), key=_silence)
    return {**median, "measured": {**median["measured"], "under_way": silent}, "repeats": repeats}


def _silence(under_way: Mapping[str, int]) -> tuple[int, int]:
    return under_way["unanswered"], under_way["oldest_ns"]


def interval(values: Sequence[float]) -> dict[str, Any]:
    """Mean and 95 % confidence interval of the mean by Student's t; no interval from fewer than two values."""
    if not values:
        return {"values": [], "mean": None, "low": None, "high": None}
    mean, count = statistics.fmean(values), len(values)
    if count < 2:
        return {"values": list(values), "mean": mean, "low": None, "high": None}
    half = student(count - 1) * statistics.stdev(values) / math.sqrt(count)
    return {"values": list(values), "mean": mean, "low": mean - half, "high": mean + half}


def student(freedom: int) -> float:
    """Student's t at 97.5 %; between the entries of the table that of fewer degrees, which is conservative."""
    if freedom <= len(_STUDENT):
        return _STUDENT[freedom - 1]
    return 2.228 if freedom < 20 else 2.086 if freedom < 30 else 2.042
