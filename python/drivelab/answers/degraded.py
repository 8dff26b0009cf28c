"""An array under a load with a drive missing, and while a new one is filled: rate, p99, and the hours of the rebuild."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering import arrays
from drivelab.answering.answer import Answer, Column, Panel, Picture, Row
from drivelab.answering.lab import Lab
from drivelab.answering.option import Bs, Drive, Option, Rwmixread
from drivelab.answering.words import figure, number, span, target_named
from drivelab.arrays.simulation.loads import STATES
from drivelab.scenarios.firmware import shares_note

TITLE = "an array with a drive missing, and while it is rebuilt, under a load"
QUESTION = "How slow is my array while a drive is missing, and while it is rebuilt, and how long does the rebuild take?"
Iodepth = Annotated[str | None, Option("Requests outstanding [16]", "N")]
Rate = Annotated[str | None, Option("Requests a second, in place of a number outstanding", "N")]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Annotated[str, Option("The level of the array", "NAME", "levels")] = "raid5"
    members: Annotated[str, Option("Number of drives", "N")] = "4"
    rw: Annotated[str, Option("read, write, rw, randread, randwrite or randrw", "KIND", "loads")] = "randrw"
    bs: Bs = "4KiB"
    rwmixread: Rwmixread = None
    iodepth: Iodepth = None
    rate_iops: Rate = None


def answer(asked: Options, lab: Lab) -> Answer:
    """The load in all three states, and the rebuild under it."""
    arrays.refuse_shingled(asked.drive)
    target, load = asked_of(asked)
    one = arrays.chosen(lab, target, load, tuple(STATES))
    entry = arrays.entry_of(one)
    arrays.check_redundant(entry, asked.level)
    arrays.run(lab, [(one, entry)])
    rows = [{"state": state, **arrays.state_row(entry, state)} for state in STATES]
    rows[-1] |= arrays.hours_row(entry.rebuild)
    name = target_named(asked.drive, asked.level, asked.members)
    ranged = shares_note(rows)
    return Answer(
        sentence=_sentence(name, one.loads.text(), rows, entry.rebuild),
        columns=[
            Column("state", "state"),
            Column("iops", "IOPS", "rate"),
            Column("iops", "range", "range"),
            Column("mean_ms", "mean ms", ",.1f"),
            Column("p99_ms", "p99 ms", ",.1f"),
            Column("p99_ms", "interval", "range"),
            Column("hours", "rebuild h", ",.1f"),
            Column("hours", "interval", "range"),
        ],
        rows=rows,
        decisive=2,
        figure="iops",
        scenario=arrays.scenario_of(entry, "rebuilding"),
        assumptions=[
            f"the load: {one.loads.text()}, in all states; the rebuild has md's limits, and its figures of rate and p99 "
            "are those of its first minutes",
            *([one.loads.arrivals() or ""] if one.loads.arrivals() else []),
            *([ranged] if ranged else []),
            *arrays.notes_of(entry),
        ],
        picture=Picture("state", "", [Panel("iops", "IOPS"), Panel("p99_ms", "p99, ms")], is_names=True),
        title=f"{name}: healthy, degraded, rebuilding",
    )


def asked_of(asked: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # noqa: ANN401 - options of several answers
    """The array and the load, by the words of `compare_levels`. Raises InputError."""
    mix = asked.rwmixread
    target = {"drive": asked.drive, "members": arrays.check_members(asked.members), "levels": asked.level}
    load = {
        "rw": asked.rw,
        "bs": asked.bs,
        "rwmixread": None if mix is None else arrays.check_percent(mix),
        "iodepth": getattr(asked, "iodepth", None),
        "rate_iops": asked.rate_iops,
    }
    return target, load


def _sentence(name: str, load: str, rows: Sequence[Row], rebuild: Mapping[str, Any] | None) -> str:
    healthy, degraded, rebuilding = rows
    text = (
        f"{name} under {load}: {figure(healthy)} at p99 {_p99(healthy)} healthy; {figure(degraded)} at {_p99(degraded)} "
        f"with a drive missing; {figure(rebuilding)} at {_p99(rebuilding)} while it is rebuilt. The rebuild "
    )
    if rebuilding["hours"] is None:
        return f"{text}{arrays.no_hours(rebuild)} under this load."
    hours = f"{number(rebuilding['hours'])} h"
    if rebuilding["hours_low"] is not None:
        hours += f" ({span(rebuilding['hours_low'], rebuilding['hours_high'])})"
    late = "" if (rebuild or {}).get("kept_up", True) else "; the load is not kept up with meanwhile"
    return f"{text}takes {hours} under this load{late}."


def _p99(row: Mapping[str, Any]) -> str:
    if row["p99_ms"] is None:
        return "unknown"
    ends = f" ({span(row['p99_ms_low'], row['p99_ms_high'])})" if row["p99_ms_low"] is not None else ""
    return f"{number(row['p99_ms'])} ms{ends}"
