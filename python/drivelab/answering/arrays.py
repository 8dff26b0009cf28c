"""An array in its states, for answers about rebuilds and scrubs: the runs and the estimates of `compare-levels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drivelab.answering.answer import Row
from drivelab.answering.lab import Lab
from drivelab.answering.words import medium_of
from drivelab.arrays.levels import compare
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation.measure import all_of, measure
from drivelab.arrays.simulation.planning import Chosen, Entry, planned
from drivelab.errors import InputError, RunError, ref
from drivelab.report.plural import counted
from drivelab.scenarios.catalogue_choice import Medium
from drivelab.scenarios.scenario import Override

HOUR_NS, MS = 3600e9, 1e6
_ARRAY = {"copies", "groups", "controller", "drive_price", "controller_price", "afr", "mttf", "repair"}
_CAUSES = compare.risk.CAUSES


def check_members(members: str) -> int:
    """The number of drives. Raises InputError."""
    if not members.isdigit() or int(members) < 1:
        raise InputError(f"{ref('members', members)}: the number of drives, such as 4")
    return int(members)


def check_redundant(entry: Entry, level: str) -> None:
    """Refuse a level that bears no failure: it is never degraded, and nothing is rebuilt. Raises InputError."""
    if (reason := entry.level.bears_none()) is not None:
        raise InputError(f"{ref('level', level)}: {reason}; choose one with copies or parity, such as raid5")


def refuse_shingled(drive: str) -> None:
    """Refuse shingled drives, whose rebuilds slow down once their media caches are full. Raises InputError."""
    if medium_of(drive) is Medium.SMR:
        raise InputError(
            f"{ref('drive', drive)}: a rebuild is extrapolated from parts of it that are shorter than a shingled drive's "
            'media cache takes to fill; `drivelab simulate` with run.until = "rebuilt" plays the whole of it, see '
            "docs/how-to/shingled.md"
        )


def chosen(lab: Lab, target: Mapping[str, Any], load: Mapping[str, Any], states: Sequence[str]) -> Chosen:
    """One level under a load, by the words of `compare_levels`; the settings of the lab are laid over it."""
    given: dict[str, Any] = dict.fromkeys((*compare.LOAD_WORDS, *_ARRAY, *_CAUSES))
    given |= {"sync": False, "spares": None, "scrub": None}
    given |= {**target, **load, "states": states, "full": False}
    return compare.chosen_of(given, lab.settings)


def entry_of(one: Chosen) -> Entry:
    """The only level, with its plans. Raises InputError and ScenarioError."""
    return planned(one)[0]


def run(lab: Lab, wanted: Sequence[tuple[Chosen, Entry]]) -> None:
    """Run all plans of these levels side by side; their figures go to the levels. Raises RunError."""
    ran = measure([one for choice, entry in wanted for one in all_of(choice, [entry])], lab.workers)
    if ran.interrupted:
        raise KeyboardInterrupt
    if ran.failures:
        raise RunError(ran.failures[0].why)
    lab.digests += ran.digests
    lab.hashes += ran.hashes
    lab.seed = ran.seeds[0]


def with_setting(one: Chosen, key: str, value: str) -> list[Override]:
    """The overrides of a choice with one more. Raises InputError where it is set already."""
    for override in one.overrides:
        if override.key == key:
            raise override.refused(f"{key} is what this answer sets itself: leave it out")
    return [*one.overrides, Override(key, value, key)]


def state_row(entry: Entry, state: str) -> Row:
    """The figures of a level under the load in a state: IOPS, p99 in ms, each with its interval."""
    found = entry.states[state][under.LOAD]
    ends = found["latency_interval_ns"].get("p99")
    p99, mean = found["latency_ns"]["p99"], found["latency_ns"]["mean"]
    error = found["iops_relative_error"]
    low, high = found.get("iops_low"), found.get("iops_high")
    if low is None and error is not None and error < 1:
        low, high = found["iops"] * (1 - error), found["iops"] * (1 + error)
    return {
        "iops": found["iops"],
        "iops_low": low,
        "iops_high": high,
        "mean_ms": None if mean is None else mean / MS,
        "p99_ms": None if p99 is None else p99 / MS,
        "p99_ms_low": ends[0] / MS if ends else None,
        "p99_ms_high": ends[1] / MS if ends else None,
    }


def hours_row(rebuild: Mapping[str, Any] | None) -> Row:
    """The hours of a rebuild with their interval; None where it makes no progress, or has no error."""
    if not rebuild or rebuild["duration_ns"] is None:
        return {"hours": None, "hours_low": None, "hours_high": None}
    hours, error = rebuild["duration_ns"] / HOUR_NS, rebuild["relative_error"]
    ends = (None, None) if error is None else (hours * (1 - error), hours * (1 + error))
    return {"hours": hours, "hours_low": ends[0], "hours_high": ends[1]}


def no_hours(rebuild: Mapping[str, Any] | None) -> str:
    """Why a rebuild has no hours."""
    if rebuild and rebuild.get("at_least_ns"):
        return f"makes no progress in some parts, and takes at least {rebuild['at_least_ns'] / HOUR_NS:,.0f} h"
    return "makes no progress"


def scenario_of(entry: Entry, state: str) -> str:
    """The scenario of the load in a state."""
    return entry.plans[state, under.LOAD].scenario


def notes_of(entry: Entry) -> list[str]:
    """What its figures have to be read with."""
    plans = entry.plans.values()
    found = list(dict.fromkeys(note for each in plans for note in each.notes))
    windows = counted(16, "part")
    found.append(
        f"a rebuild's hours are extrapolated from {windows} of it, evenly spaced, or from the whole of a short one; its "
        "interval is at 95 %"
    )
    return found


def check_percent(text: str) -> int:
    """A share of reads in percent. Raises InputError."""
    if not text.removesuffix("%").isdigit():
        raise InputError(f"{ref('rwmixread', text)}: a share in percent, such as 70")
    return int(text.removesuffix("%"))
