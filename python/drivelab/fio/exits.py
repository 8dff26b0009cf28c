"""exitall: the first job that ends lets the others end too, and with exit_what=all all groups behind them."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.fio.syntax import Job, Place, Problem
from drivelab.fio.values import WrongError, flag

_WHAT = {"group", "stonewall", "all"}
_GROUPS = (
    "new_group: exitall ends those of the jobs side by side that are in one group, and here all of them end; leave "
    "new_group out, or write exit_what=stonewall"
)


def ends_all(jobs: Sequence[Job]) -> bool:
    """Whether exitall is set; in fio one job that sets it does so for all."""
    return any(_is_on(job, "exitall") for job in jobs)


def _is_on(job: Job, key: str) -> bool:
    option = job.get(key)
    try:
        return option is not None and flag(option.value)
    except WrongError:
        return False


def check(jobs: Sequence[Job], problems: list[Problem]) -> None:
    """The values of the options."""
    for job in jobs:
        for key in ("exitall", "exit_what"):
            option = job.get(key)
            if option is None:
                continue
            try:
                if key == "exitall":
                    flag(option.value)
                elif option.value not in _WHAT:
                    raise WrongError(f"write one of {', '.join(sorted(_WHAT))}")
            except WrongError as wrong:
                problems.append(Problem(option.place, f"{option}: {wrong}"))


def that_run(
    groups: Sequence[list[Job]], problems: list[Problem], notes: dict[str, None]
) -> tuple[list[list[Job]], frozenset[Place]]:
    """The groups that run at all, none behind one whose jobs end everything; and the jobs that end no others."""
    if not ends_all([job for group in groups for job in group]):
        return list(groups), frozenset()
    alone: set[Place] = set()
    for number, group in enumerate(groups):
        alone |= _that_end_alone(group, problems)
        what = {_what(job) for job in group}
        if "all" not in what or len(groups) == number + 1:
            continue
        if len(what) > 1:
            option = next(option for job in group if (option := job.get("exit_what")))
            problems.append(
                Problem(
                    option.place,
                    f"{option}: which groups run depends on the job that ends first; give all the same",
                )
            )
            continue
        left = ", ".join(f"[{job.name}]" for group in groups[number + 1 :] for job in group)
        notes[f"exit_what=all: as in fio, {left} never runs, since a job before it ends everything"] = None
        return list(groups[: number + 1]), frozenset(alone)
    return list(groups), frozenset(alone)


def _what(job: Job) -> str:
    option = job.get("exit_what")
    return (option.value if option else None) or "group"


def _that_end_alone(group: Sequence[Job], problems: list[Problem]) -> set[Place]:
    """Jobs that end only the jobs of their reporting group, and are the only ones of it."""
    parts: list[list[Job]] = []
    for job in group:
        if not parts or _is_on(job, "new_group"):
            parts.append([])
        parts[-1].append(job)
    if len(parts) < 2:
        return set()
    shared = [part for part in parts if len(part) > 1 and any(_what(job) == "group" for job in part)]
    problems += [Problem(part[0].place, _GROUPS) for part in shared]
    return {job.place for part in parts for job in part if _what(job) == "group"}
