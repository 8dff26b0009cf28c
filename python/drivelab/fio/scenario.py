"""Converts a job file to a scenario: concurrent jobs are jobs of a workload, groups separated by a stonewall are values
of a sweep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivelab import toml_text
from drivelab.errors import InputError
from drivelab.fio.job import build
from drivelab.fio.options import MEANT, refusal
from drivelab.fio.range import copies
from drivelab.fio.reader import Built
from drivelab.fio.syntax import Job, Problem, jobs_of
from drivelab.fio.values import WrongError, flag

_SHOWN = 20
# More problems than anybody reads: with so many the rest is not looked for.
_PROBLEMS_MAX = 100
"""The most problems that one message lists."""


@dataclass
class Converted:
    """A scenario without its target, and notes for the reader."""

    text: str
    """The TOML text; each line from an option names its line of the job file."""
    notes: list[str] = field(default_factory=list)


def scenario_of(text: str, origin: str) -> Converted:
    """The scenario of a job file. Raises InputError with all problems, each with its line."""
    jobs, problems = jobs_of(text)
    if not jobs and not problems:
        raise InputError(
            f"{origin}: there is no job in it; a job is a section such as [readers] with rw=randread"
        )
    notes: dict[str, None] = {}
    _sort_out(jobs, problems, notes)
    built = [
        [copy for job in group for copy in copies(build(job, problems, notes))]
        for group in _groups(jobs, problems)
    ]
    seeds = {one.seed: one for group in built for one in group if one.seed is not None}
    if len(seeds) > 1:
        line = [one.line for one in seeds.values()][-1]
        problems.append(Problem(line, "two values of randseed: a run has one; keep one of them"))
    workloads = [_workload(group, problems, notes) for group in built]
    if problems:
        raise InputError(_message(origin, problems))
    document: dict[str, Any] = {"workload": workloads[0] if len(workloads) == 1 else workloads}
    if seeds:
        document["run"] = {"seed": next(iter(seeds))}
    return Converted(_with_lines(toml_text.dumps(document), built, origin), list(notes))


_SECTION = re.compile(r"\[\[?workload(?P<job>\.job\..*)?\]\]?")


def _with_lines(text: str, built: Sequence[Sequence[Built]], origin: str) -> str:
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
        lines.append(line if at is None else f"{line}  # {Path(origin).name}:{at}")
    return "\n".join(lines) + "\n"


def _message(origin: str, problems: Sequence[Problem]) -> str:
    found = sorted(dict.fromkeys(problems), key=lambda problem: problem.line)
    lines = [f"{origin}:{problem.line}: {problem.text}" for problem in found[:_SHOWN]]
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
                problems.append(Problem(option.line, f"{option}: {why}"))
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
            problems.append(Problem(job.line, f"{wall}: {wrong}"))
            waits = False
        if waits or not groups:
            groups.append([])
        groups[-1].append(job)
    return groups


def _workload(group: Sequence[Built], problems: list[Problem], notes: dict[str, None]) -> dict[str, Any]:
    """The workload of concurrent jobs."""
    name = ", ".join(dict.fromkeys(built.name for built in group))
    ends = _ends(group, problems, notes)
    if len(group) == 1:
        return {"name": name, **group[0].keys, **ends}
    if any("trace" in built.keys for built in group):
        line = next(built.line for built in group if "trace" in built.keys)
        problems.append(
            Problem(line, "read_iolog: a trace is replayed alone; put stonewall between it and the others")
        )
    jobs: dict[str, Any] = {}
    for built in group:
        place, number = built.name, 2
        while place in jobs:
            place, number = f"{built.name}-{number}", number + 1
        jobs[place] = built.keys
    return {"name": name, "job": jobs, **ends}


def _ends(group: Sequence[Built], problems: list[Problem], notes: dict[str, None]) -> dict[str, Any]:
    """The end of a group: fio ends each job separately, while here one run has one end."""
    before = len(problems)
    found: dict[str, Any] = {}
    for key, title in (("ramp_us", "ramp_time"), ("runtime_us", "runtime")):
        values = {getattr(built.duration, key) for built in group}
        if len(values) > 1:
            line = group[-1].line
            problems.append(
                Problem(
                    line,
                    f"{title} differs between jobs that run side by side; give all of them the same, in [global]",
                )
            )
        elif (value := values.pop()) is not None:
            found[title] = f"{value}us"
    # Invalid or different values were reported already.
    has_time = "runtime" in found and any(built.duration.time_based for built in group)
    if has_time or len(problems) > before or any("runtime" in built.unreadable for built in group):
        return found
    return {**found, **_amount(group, found, problems, notes)}


def _amount(
    group: Sequence[Built], found: dict[str, Any], problems: list[Problem], notes: dict[str, None]
) -> dict[str, Any]:
    """Report that without time_based fio also ends a job after its size."""
    if any("trace" in built.keys for built in group):
        return {}
    amounts = [built.duration.ios for built in group]
    known = [ios for ios in amounts if ios is not None]
    if len(known) == len(amounts):
        if len(group) == 1 or "runtime" not in found:
            if len(group) > 1:
                notes[
                    "fio ends each job after its own size; here the group ends when all together have done as much"
                ] = None
            return {"number_ios": sum(known)}
        notes["fio ends each job after its own size; here the group goes on for its runtime"] = None
        return {}
    if "runtime" not in found:
        line = group[-1].line
        problems.append(Problem(line, f"[{group[-1].name}] has no end; add runtime=60, say"))
    return {}
