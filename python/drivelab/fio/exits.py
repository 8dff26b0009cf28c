"""exitall: the first job that ends lets the others end too, and with exit_what=all all groups behind them."""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.fio.syntax import Job, Problem
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


def that_run(groups: Sequence[list[Job]], problems: list[Problem], notes: dict[str, None]) -> list[list[Job]]:
    """The groups that run at all: none behind one whose jobs end everything."""
    if not ends_all([job for group in groups for job in group]):
        return list(groups)
    for number, group in enumerate(groups):
        what = {(option.value if (option := job.get("exit_what")) else "group") for job in group}
        if len(what) > 1:
            option = next(option for job in group if (option := job.get("exit_what")))
            problems.append(
                Problem(option.place, f"{option}: jobs side by side differ in it; give all of them the same")
            )
        elif what == {"group"} and len(group) > 1:
            problems += [Problem(job.place, _GROUPS) for job in group[1:] if _is_on(job, "new_group")]
        elif what == {"all"} and len(groups) > number + 1:
            left = ", ".join(f"[{job.name}]" for group in groups[number + 1 :] for job in group)
            notes[f"exit_what=all: as in fio, {left} never runs, since a job before it ends everything"] = (
                None
            )
            return list(groups[: number + 1])
    return list(groups)
