"""An array under a load with a drive missing, and while a new one is filled: rate, p99, hours of the rebuild."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering import arrays
from drivelab.answering.lab import Lab
from drivelab.answering.option import Bs, Drive, Option, Rwmixread
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import figure, target_named
from drivelab.arrays.simulation.loads import STATES

TITLE = "an array with a drive missing, and while it is rebuilt, under a load"
QUESTION = "How slow is my array while a drive is missing, and while it is rebuilt, and how long does the rebuild take?"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Annotated[str, Option("The level of the array", "NAME", "levels")] = "raid5"
    members: Annotated[str, Option("Number of drives", "N")] = "4"
    rw: Annotated[str, Option("read, write, rw, randread, randwrite or randrw", "KIND", "loads")] = "randrw"
    bs: Bs = "4KiB"
    rwmixread: Rwmixread = None
    iodepth: Annotated[str | None, Option("Requests outstanding [16]", "N")] = None
    rate_iops: Annotated[str | None, Option("Requests a second, in place of a number outstanding", "N")] = (
        None
    )


def answer(asked: Options, lab: Lab) -> Answer:
    """The load in all three states, and the rebuild under it."""
    arrays.check_drive(asked.drive, asked.rate_iops)
    target, load = arrays.asked_of(asked)
    one = arrays.chosen(lab, target, load, tuple(STATES))
    entry = arrays.entry_of(one)
    arrays.check_redundant(entry, asked.level)
    arrays.run(lab, [(one, entry)])
    rows = [
        {
            "state": state,
            **arrays.state_row(entry, state, one),
            **arrays.hours_row(entry.rebuild if state == "rebuilding" else None),
        }
        for state in STATES
    ]
    name = target_named(asked.drive, asked.level, asked.members)
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
        assumptions=arrays.notes_of(entry, one.loads),
        picture=Picture("state", "", [Panel("iops", "IOPS"), Panel("p99_ms", "p99, ms")], scale="names"),
        title=f"{name}: healthy, degraded, rebuilding",
    )


def _sentence(name: str, load: str, rows: Sequence[Row], rebuild: Mapping[str, Any] | None) -> str:
    rebuilding = rows[-1]
    told = [f"{figure(row)}, p99 {arrays.p99_of(row)}" for row in rows]
    text = (
        f"{name} under {load}. Healthy: {told[0]}; with a drive missing: {told[1]}; while it is rebuilt: {told[2]}. "
        "The rebuild "
    )
    if rebuilding["hours"] is None:
        return f"{text}{arrays.no_hours(rebuild)} under this load."
    late = "" if (rebuild or {}).get("kept_up", True) else "; the load is not kept up with meanwhile"
    return f"{text}takes {arrays.hours_of(rebuilding)} under this load{late}."
