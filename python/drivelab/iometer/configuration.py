"""Converts a configuration file of Iometer (.icf) to a scenario.

Workers on one target are jobs, each with its own I/Os outstanding, and those that are alike are copies of one job.
Cycling the outstanding I/Os is a sweep of `iodepth`. I/Os bypass the system's cache, as Iometer opens its targets;
sectors are of 512 bytes. What is left out is what Iometer does: one I/O outstanding, the whole target, and no end,
which is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from drivelab.iometer.access import SECTOR, WrongError, job_of, whole_numbers
from drivelab.iometer.syntax import (
    DISK,
    OUTSTANDING,
    RAMP,
    Configuration,
    Value,
    Worker,
    configuration_of,
    is_configuration,
)
from drivelab.report import toml_text
from drivelab.scenarios.converted import Converted, drop_given, told

__all__ = ["is_configuration", "scenario_of"]

_Built = TypeVar("_Built")

_LIMITS = {"workload.runtime", "run.duration", "workload.number_ios", "run.ios"}
_CYCLE_DEPTH, _NORMAL = "CYCLE_OUTSTANDING_IOS", {"NORMAL", "0"}
_DEPTH_MAX, _STEPS_MAX, _SECONDS_MAX, _SEED_MAX = 1 << 16, 1000, 10_000_000, (1 << 63) - 1
_WORKERS_MAX = 1000
# What of the test setup changes nothing of a drive; cycling of what the test does not cycle.
_IDLE = {
    "record results": "Record Results",
    "default disk workers to spawn": "Default Disk Workers to Spawn",
    "default workers to spawn": "Default Workers to Spawn",
    "default network workers to spawn": "Default Network Workers to Spawn",
    "worker cycling": "Worker Cycling",
    "disk cycling": "Disk Cycling",
}
_IDLE_SPECIFICATION = "idle"
_PAUSE = "a pause begins when all I/Os of its worker have finished, where Iometer's begins with the end of the burst"


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of a configuration. Raises InputError with all problems, each with its line.

    `given` are the keys that are set beside the file: with a limit the file needs no run time.
    """
    found = configuration_of(text)
    problems = list(found.problems)
    jobs: list[tuple[Worker, dict[str, object]]] = []
    seeds: dict[int, int] = {}
    has_limit = bool(_LIMITS & set(given or {}))

    def tried(build: Callable[[], _Built]) -> _Built | None:
        try:
            return build()
        except WrongError as wrong:
            problems.append((wrong.line, str(wrong)))
        return None

    ends = tried(lambda: _ends(found.setup, has_limit=has_limit)) or {}
    depths = tried(lambda: _depths(found.setup)) or []
    for worker in tried(lambda: _active(found)) or []:
        job = tried(partial(_job, worker, found, seeds))
        if job is not None:
            jobs.append((worker, job))
    if len(seeds) > 1:
        problems.append(
            (max(seeds.values()), "a second fixed seed: a run has one; give all workers the same")
        )
    if problems:
        raise told([f"{origin}:{line}: {what}" for line, what in dict.fromkeys(sorted(problems))])
    workload = _workload(jobs, depths) | ends
    name = ", ".join(dict.fromkeys(worker.specifications[0].text for worker, _ in jobs))
    document: dict[str, Any] = {"name": f"iometer {name}", "workload": workload}
    if seeds:
        document["run"] = {"seed": next(iter(seeds))}
    drop_given(document, given or {})
    return Converted(toml_text.dumps(document), _notes(found, jobs, depths))


def _active(found: Configuration) -> list[Worker]:
    """The workers that do something, which all use one target of one machine. Raises WrongError."""
    disks = []
    for worker in found.workers:
        if worker.kind is None:
            raise WrongError(worker.name.line, f"{worker.name.text}: its 'Worker type is missing: give DISK")
        if worker.kind.parts[0].upper() != "DISK":
            kind = worker.kind.text[:20]
            raise WrongError(
                worker.kind.line,
                f"{worker.name.text}: a worker of type {kind}: remove it; those of drives are DISK",
            )
        if worker.targets:
            disks.append(worker)
    if not disks:
        line = found.workers[0].name.line if found.workers else 1
        raise WrongError(
            line, "no worker has a target: nothing would run; assign one in Iometer, and save it again"
        )
    if len(disks) > _WORKERS_MAX:
        raise WrongError(disks[_WORKERS_MAX].name.line, f"more than {_WORKERS_MAX:,} workers: remove some")
    first = disks[0].targets[0]
    for worker in disks:
        if worker.manager != disks[0].manager:
            raise WrongError(
                worker.name.line,
                f"{worker.name.text}: a worker of a second manager: give each machine a file of its own",
            )
        for target in worker.targets:
            if target.text != first.text:
                raise WrongError(
                    target.line,
                    f"{target.text}: a second target beside {first.text}: a scenario has one; keep the workers of one",
                )
    active = [
        worker
        for worker in disks
        if [one.text.lower() for one in worker.specifications] != [_IDLE_SPECIFICATION]
    ]
    if not active:
        raise WrongError(disks[0].name.line, "all workers are idle: assign an access specification")
    return active


def _job(worker: Worker, found: Configuration, seeds: dict[int, int]) -> dict[str, object]:
    """The keys of a worker's job; its fixed seed goes to `seeds`, with its line. Raises WrongError."""
    names = worker.specifications
    if not names:
        raise WrongError(
            worker.name.line, f"{worker.name.text}: no access specification is assigned: assign one"
        )
    if len(names) > 1:
        listed = ", ".join(one.text for one in names)
        raise WrongError(
            names[1].line,
            f"{worker.name.text}: {listed} are tests one after the other: keep one of these lines in the file, and "
            "remove the others",
        )
    chosen = [one for one in found.specifications if one.name.text.lower() == names[0].text.lower()]
    if not chosen:
        raise WrongError(
            names[0].line, f"{names[0].text}: there is no access specification of that name in the file"
        )
    job = job_of(chosen[-1])
    job["iodepth"] = _outstanding(worker.settings.get(OUTSTANDING), seeds)
    return job | _range(worker.settings.get(DISK))


def _outstanding(value: Value | None, seeds: dict[int, int]) -> int:
    """I/Os outstanding, which is the first of a worker's settings. Raises WrongError."""
    if value is None:
        return 1
    (depth,) = whole_numbers(value, ("outstanding I/Os",))
    if not 1 <= depth <= _DEPTH_MAX:
        raise WrongError(value.line, f"{depth} I/Os outstanding: from 1 to {_DEPTH_MAX:,} are possible")
    switches = [part.upper() for part in value.parts]
    if "ENABLED" in switches[1:2]:
        raise WrongError(
            value.line, "test connection rate: opening and closing a target is no I/O: give DISABLED"
        )
    if "ENABLED" in switches[3:4]:
        (seed,) = whole_numbers(Value(value.line, ",".join(value.parts[4:5])), ("fixed seed",))
        if seed > _SEED_MAX:
            raise WrongError(value.line, f"fixed seed {seed}: at most {_SEED_MAX} is possible")
        seeds.setdefault(seed, value.line)
    return depth


def _range(value: Value | None) -> dict[str, object]:
    """Where on the target: from a sector on, so many, or up to its end if they are 0."""
    if value is None:
        return {}
    size, start = whole_numbers(value, ("disk maximum size", "starting sector"))
    found: dict[str, object] = {"offset": f"{start * SECTOR}B"} if start else {}
    return {**found, "size": f"{size * SECTOR}B"} if size else found


def _ends(setup: Mapping[str, Value], *, has_limit: bool) -> dict[str, object]:
    """The run time and what comes before it. Raises WrongError."""
    time, ramp = setup.get("run time"), setup.get(RAMP)
    found: dict[str, object] = {}
    seconds = 0
    if time is not None:
        hours, minutes, rest = whole_numbers(_columns(time), ("hours", "minutes", "seconds"))
        seconds = hours * 3600 + minutes * 60 + rest
    if seconds > _SECONDS_MAX:
        raise WrongError(
            time.line if time else 1, f"a run time of {seconds} s: at most {_SECONDS_MAX:,} are possible"
        )
    if seconds:
        found["runtime"] = f"{seconds}s"
    elif not has_limit:
        raise WrongError(time.line if time else 1, "the run has no end: give a 'Run Time of more than 0 0 0")
    if ramp is not None:
        (before,) = whole_numbers(ramp, ("ramp up time",))
        if before > _SECONDS_MAX:
            raise WrongError(
                ramp.line, f"a ramp up time of {before} s: at most {_SECONDS_MAX:,} are possible"
            )
        found["ramp_time"] = f"{before}s"
    return found


def _depths(setup: Mapping[str, Value]) -> list[int]:
    """The depths of a test that cycles them; nothing for one that does not. Raises WrongError."""
    kind = setup.get("test type")
    name = kind.text.upper() if kind else "NORMAL"
    if kind is None or name in _NORMAL:
        return []
    if name != _CYCLE_DEPTH:
        raise WrongError(
            kind.line,
            f"{name[:40]}: tests with more and more targets or workers: give NORMAL, or {_CYCLE_DEPTH}",
        )
    cycle = setup.get("queue depth cycling")
    if cycle is None:
        raise WrongError(kind.line, f"{name}: there is no 'Queue Depth Cycling: add it")
    columns = _columns(cycle)
    start, end, step = whole_numbers(columns, ("start", "end", "step"))
    how = (columns.parts[3:] or ["LINEAR"])[0].upper()
    if how not in {"LINEAR", "EXPONENTIAL", "0", "1"}:
        raise WrongError(cycle.line, f"{how[:20]}: steps are LINEAR or EXPONENTIAL")
    if not 1 <= start <= end <= _DEPTH_MAX or step < 1:
        raise WrongError(
            cycle.line,
            f"depths from {start} to {end} by {step}: from 1 to {_DEPTH_MAX:,} are possible, upwards",
        )
    found, depth = [], start
    while depth <= end:
        found.append(depth)
        # As in Iometer, steps of 1 add.
        depth = depth * step if how in {"EXPONENTIAL", "1"} and step > 1 else depth + step
    if len(found) > _STEPS_MAX:
        raise WrongError(
            cycle.line, f"{len(found):,} depths: at most {_STEPS_MAX:,} are possible; give a larger step"
        )
    return found


def _columns(value: Value) -> Value:
    """A line whose values stand in columns, as one with commas."""
    return Value(value.line, ",".join(value.text.replace(",", " ").split()))


def _workload(jobs: Sequence[tuple[Worker, dict[str, object]]], depths: Sequence[int]) -> dict[str, object]:
    """One job, or several with names of workers; those that are alike are copies."""
    shared: dict[str, object] = {"direct": True}
    if depths:
        shared["iodepth"] = depths[0] if len(depths) == 1 else list(depths)
    groups: list[tuple[str, dict[str, object], int]] = []
    for worker, keys in jobs:
        own = {key: value for key, value in keys.items() if key not in shared}
        place = next((at for at, (_, known, _) in enumerate(groups) if known == own), None)
        if place is None:
            groups.append((worker.name.text, own, 1))
        else:
            name, known, count = groups[place]
            groups[place] = (name, known, count + 1)
    copies = [{**keys, **({"numjobs": count} if count > 1 else {})} for _, keys, count in groups]
    if len(copies) == 1:
        return {**copies[0], **shared}
    named: dict[str, object] = {}
    for (name, _, _), keys in zip(groups, copies, strict=True):
        own_name, number = name, 2
        while own_name in named:
            own_name, number = f"{name}-{number}", number + 1
        named[own_name] = keys
    return {**shared, "job": named}


def _notes(
    found: Configuration, jobs: Sequence[tuple[Worker, dict[str, object]]], depths: Sequence[int]
) -> list[str]:
    notes = []
    idle = [title for key, title in _IDLE.items() if key in found.setup]
    if not depths and "queue depth cycling" in found.setup:
        idle.append("Queue Depth Cycling")
    if idle:
        notes.append(f"without effect on a drive: {', '.join(idle)}")
    running = {id(worker) for worker, _ in jobs}
    resting = [worker.name.text for worker in found.workers if id(worker) not in running]
    if resting:
        notes.append(f"workers without a target, or idle, do nothing: {', '.join(resting[:10])}")
    if any("thinktime" in keys and (depths or keys["iodepth"] != 1) for _, keys in jobs):
        notes.append(_PAUSE)
    if any("size" not in keys for _, keys in jobs):
        notes.append("the target is the whole drive, for its maximum size is 0")
    return notes
