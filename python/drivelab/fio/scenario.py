"""Converts a job file to a scenario: concurrent jobs are jobs of a workload, groups separated by a stonewall are values
of a sweep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import InputError
from drivelab.fio.exits import check, ends_all, that_run
from drivelab.fio.files import copies, devices_of, lay_out
from drivelab.fio.given import has_limit, replace_options
from drivelab.fio.job import build
from drivelab.fio.options import MEANT, refusal
from drivelab.fio.range import SECTOR_BYTES
from drivelab.fio.reader import Built
from drivelab.fio.syntax import Job, Place, Problem, jobs_of
from drivelab.fio.values import WrongError, flag
from drivelab.report import toml_text
from drivelab.scenarios.converted import Converted, drop_given

_SHOWN = 20
# More problems than anybody reads: with so many the rest is not looked for.
_PROBLEMS_MAX = 100
"""The most problems that one message lists."""


@dataclass(frozen=True)
class Ending:
    """What ends the groups besides their own options."""

    is_with_first: bool
    """exitall: with the first job that ends, all do."""
    alone: frozenset[Place]
    """The jobs that end no others all the same."""
    has_limit: bool
    """Whether a key beside the file ends the run."""


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of a job file. Raises InputError with all problems, each with its line.

    `given` are the keys that are set beside the file, with their values: they take the place of its options.
    """
    given = given or {}
    jobs, problems = jobs_of(text, origin)
    if not jobs and not problems:
        raise InputError(
            f"{origin}: there is no job in it; a job is a section such as [readers] with rw=randread"
        )
    notes: dict[str, None] = {}
    held = replace_options(jobs, given)
    check(jobs, problems)
    _sort_out(jobs, problems, notes)
    has_page_cache = any(key.startswith("target.host_cache") for key in given)
    groups, alone = that_run(_groups(jobs, problems), problems, notes)
    built = [
        [
            copy
            for job in group
            for copy in copies(build(job, problems, notes, has_page_cache=has_page_cache), problems)
        ]
        for group in groups
    ]
    drives = devices_of(built)
    for group in built:
        lay_out(group, drives, problems, notes)
    seeds = {one.seed: one for group in built for one in group if one.seed is not None}
    if len(seeds) > 1:
        place = [one.place for one in seeds.values()][-1]
        problems.append(Problem(place, "two values of randseed: a run has one; keep one of them"))
    how = Ending(ends_all(jobs), alone, has_limit(given, held))
    workloads = [_workload(group, how, problems) for group in built]
    if problems:
        raise InputError(_message(problems))
    document: dict[str, Any] = {"workload": workloads[0] if len(workloads) == 1 else workloads}
    if seeds:
        document["run"] = {"seed": next(iter(seeds))}
    if drives:
        document["target"] = _drives(drives, given, origin, notes)
    drop_given(document, given, held)
    return Converted(_with_lines(toml_text.dumps(document), built), list(notes), held)


def _drives(
    drives: Sequence[str], given: Mapping[str, str], origin: str, notes: dict[str, None]
) -> dict[str, Any]:
    """The drives of a file whose jobs use several devices. Raises InputError where the target is another array."""
    names = ", ".join(drives)
    if beside := [key for key in given if key.startswith("target.array")]:
        raise InputError(
            f"{origin}: its jobs use {len(drives)} devices ({names}), each a drive of its own, and {beside[0]} makes "
            "one array of the drives: leave that out, or give all jobs the same filename"
        )
    notes[
        f"{names} are {len(drives)} drives, each like the one that is named, side by side (array.level = jbod)"
    ] = None
    return {"array": {"level": "jbod", "members": len(drives)}}


_SECTION = re.compile(r"\[\[?workload(?P<job>\.job\..*)?\]\]?")


def _with_lines(text: str, built: Sequence[Sequence[Built]]) -> str:
    """The text with a comment after each line that comes from an option of the job file."""
    groups = iter(built)
    group: Iterator[Built] = iter(())
    here: Built | None = None
    lines: list[str] = []
    for line in text.splitlines():
        if match := _SECTION.fullmatch(line):
            if match["job"]:
                here = next(group, None)
            else:
                own = next(groups, ())
                group, here = iter(own), own[0] if own else None
        key = line.split(" = ", 1)[0]
        at = here.line_of(key) if here is not None and " = " in line else None
        lines.append(line if at is None else f"{line}  # {Path(at.file).name}:{at.line}")
    return "\n".join(lines) + "\n"


def _message(problems: Sequence[Problem]) -> str:
    found = sorted(dict.fromkeys(problems), key=lambda problem: problem.place)
    lines = [f"{problem.place}: {problem.text}" for problem in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN} more{' at least' if len(found) >= _PROBLEMS_MAX else ''}")
    return "\n".join(lines)


def _sort_out(jobs: Sequence[Job], problems: list[Problem], notes: dict[str, None]) -> None:
    """Reject unsupported options, and note those without effect."""
    idle: dict[str, None] = {}
    for job in jobs:
        for key, option in job.options.items():
            if len(problems) >= _PROBLEMS_MAX:
                return
            if why := refusal(key, option.value):
                problems.append(Problem(option.place, f"{option}: {why}"))
            elif key not in MEANT:
                idle[key] = None
    if idle:
        verb = "changes" if len(idle) == 1 else "change"
        notes[f"{', '.join(idle)} {verb} nothing here"] = None


def _groups(jobs: Sequence[Job], problems: list[Problem]) -> list[list[Job]]:
    """Groups of concurrent jobs: a stonewall begins a new group."""
    groups: list[list[Job]] = []
    for job in jobs:
        wall = job.get("stonewall")
        try:
            waits = wall is not None and flag(wall.value)
        except WrongError as wrong:
            problems.append(Problem(job.place, f"{wall}: {wrong}"))
            waits = False
        if waits or not groups:
            groups.append([])
        groups[-1].append(job)
    return groups


def _workload(group: Sequence[Built], how: Ending, problems: list[Problem]) -> dict[str, Any]:
    """The workload of concurrent jobs."""
    name = ", ".join(dict.fromkeys(built.name for built in group))
    ends = _ends(group, how, problems)
    if len(group) == 1:
        return {"name": name, **group[0].keys, **ends}
    if any("trace" in built.keys for built in group):
        at = next(built.place for built in group if "trace" in built.keys)
        problems.append(
            Problem(at, "read_iolog: a trace is replayed alone; put stonewall between it and the others")
        )
    jobs: dict[str, Any] = {}
    for built in group:
        name_of_job, number = built.name, 2
        while name_of_job in jobs:
            name_of_job, number = f"{built.name}-{number}", number + 1
        jobs[name_of_job] = built.keys
    return {"name": name, "job": jobs, **ends}


def _ends(group: Sequence[Built], how: Ending, problems: list[Problem]) -> dict[str, Any]:
    """The end of a group: each job ends after its data, and the run after its time."""
    found: dict[str, Any] = {}
    for key, title in (("delay_us", "startdelay"), ("ramp_us", "ramp_time"), ("runtime_us", "runtime")):
        values = {getattr(built.duration, key) for built in group}
        if len(values) > 1:
            last = group[-1]
            problems.append(Problem(last.lines.get(title, last.place), _DIFFERS[title]))
        elif (value := values.pop()) is not None and title != "startdelay":
            found[title] = f"{value}us"
    is_unknown = any({"runtime", "size", "io_size"} & built.unreadable for built in group)
    for built in group:
        amount, has_time = built.duration.amount_bytes, built.duration.runtime_us is not None
        if "trace" in built.keys or (built.duration.time_based and has_time):
            continue
        if amount is not None:
            built.keys["io_size"] = f"{-(-amount // SECTOR_BYTES) * SECTOR_BYTES}B"
            if how.is_with_first and len(group) > 1 and built.place not in how.alone:
                built.keys["exitall"] = True
        elif not has_time and not is_unknown and not how.has_limit:
            problems.append(Problem(built.place, f"[{built.name}] has no end; add runtime=60, say"))
    return found


_SAME = "differs between jobs that run side by side; give all of them the same, in [global]"
_DIFFERS = {
    "startdelay": f"startdelay {_SAME}: they begin together here; put what comes later behind a stonewall",
    "ramp_time": f"ramp_time {_SAME}",
    "runtime": f"runtime {_SAME}",
}
