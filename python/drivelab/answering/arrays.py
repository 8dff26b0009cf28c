"""An array in its states, for answers about rebuilds and scrubs: the runs and the estimates of `compare-levels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from drivelab.answering.lab import Lab
from drivelab.answering.result import Row
from drivelab.answering.words import figure, medium_of
from drivelab.arrays.levels import compare
from drivelab.arrays.levels.risk import CAUSES
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation import rebuild
from drivelab.arrays.simulation.loads import Loads, rate_asked
from drivelab.arrays.simulation.measure import all_of, measure
from drivelab.arrays.simulation.planning import Chosen, Entry, planned
from drivelab.errors import InputError, RunError, ref
from drivelab.scenarios.catalogue_choice import Medium
from drivelab.scenarios.firmware import shares_note
from drivelab.scenarios.scenario import Override

HOUR_NS, MS = 3600e9, 1e6
UNKNOWN_QUEUE = (
    "latency: what the queue gains was not measured on these drives; at a rate, response times depend on it, the "
    "longest most of all, and their intervals are of chance alone"
)
_ARRAY = {
    "copies",
    "groups",
    "controller",
    "drive_price",
    "controller_price",
    "afr",
    "mttf",
    "repair",
    "precision",
}


def check_members(members: str) -> int:
    """The number of drives. Raises InputError."""
    if not members.isdigit() or int(members) < 1:
        raise InputError(f"{ref('members', members)}: the number of drives, such as 4")
    return int(members)


def check_redundant(entry: Entry, level: str) -> None:
    """Refuse a level that bears no failure: it is never degraded, and nothing is rebuilt. Raises InputError."""
    if (reason := entry.level.bears_none()) is not None:
        raise InputError(f"{ref('level', level)}: {reason}; choose one with copies or parity, such as raid5")


RATE_MAX = 2_000
"""Requests a second beside a rebuild: more take long to simulate, over the minutes of its parts."""


def check_drive(drive: str, rate_iops: str | None) -> None:
    """Refuse shingled drives, whose rebuilds slow down once their media caches are full, and loads that are simulated
    for longer than anybody waits. Raises InputError.
    """
    kind = medium_of(drive)
    if kind is Medium.SMR:
        raise InputError(
            f"{ref('drive', drive)}: rebuilds and scrubs are extrapolated from minutes of them, and a shingled drive "
            "becomes slower once its media cache is full, which takes longer; name a conventional drive, or let "
            '`drivelab simulate` play the whole of it with run.until = "rebuilt" (docs/how-to/shingled.md)'
        )
    why = "minutes of it are simulated beside a rebuild"
    if kind is Medium.FLASH and rate_iops is None:
        raise InputError(
            f"{ref('drive', drive)}: a flash drive answers so many requests that {why} only at a rate; add "
            f"{ref('rate_iops', '1000')}"
        )
    if rate_iops is not None and (rate_asked({"rate_iops": rate_iops}) or 0) > RATE_MAX:
        raise InputError(
            f"{ref('rate_iops', rate_iops)}: {why}: at most {RATE_MAX:,}; `drivelab compare-levels` takes more"
        )


def chosen(lab: Lab, target: Mapping[str, Any], load: Mapping[str, Any], states: Sequence[str]) -> Chosen:
    """One level under a load, by the words of `compare_levels`; the settings of the lab are laid over it."""
    given: dict[str, Any] = dict.fromkeys((*compare.LOAD_WORDS, *_ARRAY, *CAUSES))
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


def with_setting(one: Chosen, key: str, value: str) -> Chosen:
    """A choice with one more override. Raises InputError where it is set already."""
    for override in one.overrides:
        if override.key == key:
            raise override.refused(f"{key} is what this answer sets itself: leave it out")
    return replace(one, overrides=[*one.overrides, Override(key, value, key)])


def state_row(entry: Entry, state: str, one: Chosen) -> Row:
    """The figures of a level under the load in a state: IOPS, p99 in ms, each with its interval.

    Where it does not keep up with a rate its queue grows as long as the run lasts, so it has no latency.
    """
    found = entry.states[state][under.LOAD]
    if one.loads.keeps_up(found) is False:
        unknown = ("iops_low", "iops_high", "mean_ms", "p99_ms", "p99_ms_low", "p99_ms_high")
        return {"iops": found["iops"], **dict.fromkeys(unknown)}
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


def hours_row(found: Mapping[str, Any] | None) -> Row:
    """The hours of a rebuild with their interval; None where it makes no progress, or has no error."""
    if not found or found["duration_ns"] is None:
        return {"hours": None, "hours_low": None, "hours_high": None}
    hours, error = found["duration_ns"] / HOUR_NS, found["relative_error"]
    ends = (None, None) if error is None else (hours * (1 - error), hours * (1 + error))
    return {"hours": hours, "hours_low": ends[0], "hours_high": ends[1]}


def no_hours(found: Mapping[str, Any] | None) -> str:
    """Why a rebuild has no hours."""
    if found and found.get("at_least_ns"):
        return f"makes no progress in some parts, and takes at least {found['at_least_ns'] / HOUR_NS:,.0f} h"
    return "makes no progress"


def scenario_of(entry: Entry, state: str) -> str:
    """The scenario of the load in a state."""
    return entry.plans[state, under.LOAD].scenario


def range_of(entry: Entry) -> list[str]:
    """How far the rates of drives of its kind may lie from these, where the record tells."""
    found = shares_note([loads[under.LOAD] for loads in entry.states.values()])
    return [found] if found else []


def notes_of(entry: Entry, load: Loads) -> list[str]:
    """What its figures have to be read with."""
    found = [f"the load: {load.text()}, the same in all states"]
    if load.rate_iops is not None:
        found[0] += "; the arrivals are those of many independent clients"
    if load.may_write:
        found.append("a write ends where the drive answers it: its write cache is as its file has it")
    found.append(
        f"a rebuild's hours are extrapolated from {rebuild.PARTS} parts of it, evenly spaced, or from the whole of a "
        "short one; its interval is at 95 %. Rates and p99 beside it are those of its first minutes"
    )
    known = [one for each in entry.plans.values() for one in (each.in_force[0] or {}).get("firmware", ())]
    if load.rate is not None and any(one["range"] for one in known):
        found.append(UNKNOWN_QUEUE)
    notes = dict.fromkeys(note for each in entry.plans.values() for note in each.notes)
    return [*found, *range_of(entry), *notes]


def check_percent(text: str) -> int:
    """A share of reads in percent. Raises InputError."""
    if not text.removesuffix("%").isdigit():
        raise InputError(f"{ref('rwmixread', text)}: a share in percent, such as 70")
    return int(text.removesuffix("%"))


def asked_of(asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401 - options of several answers
    """The array and the load, by the words of `compare_levels`. Raises InputError."""
    mix = asked.rwmixread
    if "," in asked.level:
        raise InputError(f"{ref('level', asked.level)}: an answer is about one level; ask once for each")
    if asked.rate_iops is not None and getattr(asked, "iodepth", None) is not None:
        raise InputError(f"{ref('iodepth')} changes nothing with {ref('rate_iops')}: keep one of the two")
    target = {"drive": asked.drive, "members": check_members(asked.members), "levels": asked.level}
    load = {
        "rw": asked.rw,
        "bs": asked.bs,
        "rwmixread": None if mix is None else check_percent(mix),
        "iodepth": getattr(asked, "iodepth", None),
        "rate_iops": asked.rate_iops,
    }
    return target, load


def p99_of(row: Mapping[str, Any]) -> str:
    """The p99 of a row in words, with its interval."""
    if row["p99_ms"] is None:
        return "endless, for the rate is not kept up with"
    return figure(row, "p99_ms", "ms")


def check_keeps_up(iops: float, rate: str | None) -> None:
    """Refuse a rate with which the array does not keep up even undisturbed: its latency would mean nothing."""
    if rate is not None and iops < under.KEEPS_UP_SHARE * (rate_asked({"rate_iops": rate}) or 0):
        raise InputError(
            f"{ref('rate_iops', rate)}: the healthy array does not keep up ({iops:,.4g} a second); give a lower rate"
        )


def hours_of(row: Mapping[str, Any]) -> str:
    """The hours of a row in words, with their interval."""
    return figure(row, "hours", "h")


def check_md(level: str) -> None:
    """Refuse RAID-Z, which has none of md's limits. Raises InputError."""
    if level.lower().startswith("raidz"):
        raise InputError(
            f"{ref('level', level)}: the limits are those of md, and a RAID-Z pool has none; choose a level of md, or "
            "ask `drivelab answer degraded` for the pool"
        )


def check_scrubbed(level: str) -> None:
    """Refuse a level that has nothing to compare. Raises InputError."""
    plain = level.partition(":")[0].lower()
    if plain in ("jbod", "raid0"):
        raise InputError(
            f"{ref('level', level)}: it holds everything once, so that a scrub has nothing to compare; choose one with "
            "copies or parity, such as raid5"
        )


def unknown_queue(in_force: Mapping[str, Any] | None, *, has_rate: bool) -> list[str]:
    """What is unknown of response times at a rate, where nobody measured what the drives' queues gain."""
    known = (in_force or {}).get("firmware", ())
    return [UNKNOWN_QUEUE] if has_rate and any(one["range"] for one in known) else []
