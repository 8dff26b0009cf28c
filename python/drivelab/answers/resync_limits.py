"""Which limit of a resync (md's sync_speed_max) keeps the p99 of a load below a time, and the hours of a rebuild."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from drivelab.answering import arrays
from drivelab.answering.lab import Lab
from drivelab.answering.option import Bs, Drive, Option, Rwmixread
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import number, target_named
from drivelab.errors import InputError, ref
from drivelab.scenarios.quantities import span_ns

TITLE = "the resync limit that keeps p99 below a time, and the hours of a rebuild with it"
QUESTION = "Which sync_speed_max keeps my latency bearable while md rebuilds, and how long does the rebuild then take?"
LIMITS_KIB = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
"""Limits that are tried, in KiB/s for each member, as sync_speed_max has it; the last is md's own."""
RATE_OF_MEMBER = 20
"""Requests a second for each member, where nobody says."""
TIMES = 2.0
"""How many times the p99 without a rebuild is borne, where nobody says."""
_KEY = "target.array.rebuild.ceiling"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Annotated[str, Option("The level of the array", "NAME", "levels")] = "raid5"
    members: Annotated[str, Option("Number of drives", "N")] = "4"
    p99: Annotated[str | None, Option("The p99 that is borne [twice that without a rebuild]", "TIME")] = None
    rw: Annotated[str, Option("read, write, rw, randread, randwrite or randrw", "KIND", "loads")] = "randrw"
    bs: Bs = "4KiB"
    rwmixread: Rwmixread = None
    rate_iops: Annotated[str | None, Option(f"Requests a second [{RATE_OF_MEMBER} for each member]", "N")] = (
        None
    )


def answer(asked: Options, lab: Lab) -> Answer:
    """A rebuild under the load with each limit."""
    arrays.check_drive(asked.drive, asked.rate_iops or "")
    arrays.check_md(asked.level)
    target, load = arrays.asked_of(asked)
    if asked.rate_iops is None:
        load["rate_iops"] = str(RATE_OF_MEMBER * target["members"])
    borne_ns = None if asked.p99 is None else span_ns("p99", asked.p99)
    plain = arrays.chosen(lab, target, load, ("healthy",))
    limited = [
        arrays.with_setting(arrays.chosen(lab, target, load, ("rebuilding",)), _KEY, f"{limit}KiB/s")
        for limit in LIMITS_KIB
    ]
    wanted = [(one, arrays.entry_of(one)) for one in (plain, *limited)]
    arrays.check_redundant(wanted[0][1], asked.level)
    arrays.run(lab, wanted)
    healthy = arrays.state_row(wanted[0][1], "healthy", plain)
    arrays.check_keeps_up(healthy["iops"], load["rate_iops"])
    if healthy["p99_ms"] is None:
        raise InputError(
            f"{ref('rate_iops', load['rate_iops'])}: too few requests for a p99; give a higher rate"
        )
    borne_ms = TIMES * healthy["p99_ms"] if borne_ns is None else borne_ns / arrays.MS
    rows = [
        {
            "limit_kib_per_s": limit,
            **arrays.state_row(entry, "rebuilding", one),
            **arrays.hours_row(entry.rebuild),
        }
        for limit, (one, entry) in zip(LIMITS_KIB, wanted[1:], strict=True)
    ]
    for row in rows:
        row["within"] = _within(row, borne_ms)
    sure, perhaps = _first(rows, ("no", "perhaps")), _first(rows, ("no",))
    decisive = max((sure or perhaps) - 1, 0)
    name = target_named(asked.drive, asked.level, asked.members)
    return Answer(
        sentence=_sentence(name, plain.loads.text(), (healthy, rows), decisive, borne_ms),
        columns=[
            Column("limit_kib_per_s", "KiB/s at most", ",d"),
            Column("p99_ms", "p99 ms", ",.1f"),
            Column("p99_ms", "interval", "range"),
            Column("within", "p99 kept"),
            Column("iops", "IOPS", "rate"),
            Column("hours", "rebuild h", ",.1f"),
            Column("hours", "interval", "range"),
        ],
        rows=rows,
        decisive=decisive,
        figure="p99_ms",
        scenario=arrays.scenario_of(wanted[1 + decisive][1], "rebuilding"),
        assumptions=[
            *arrays.notes_of(wanted[1 + decisive][1], plain.loads),
            "md's other limits are as they come: sync_speed_min is 1000 KiB/s, and below the limit the rebuild gives "
            "way to a load that is busy enough",
        ],
        picture=Picture(
            "limit_kib_per_s",
            "sync_speed_max, KiB/s",
            [
                Panel("p99_ms", "p99, ms", borne_ms, f"{number(borne_ms)} ms"),
                Panel("hours", "rebuild, h", is_log=True),
            ],
        ),
        title=f"{name}: limits of a rebuild",
    )


def _first(rows: Sequence[Row], words: Sequence[str]) -> int:
    """How many rows there are before the first of which one of these is said."""
    return next((place for place, row in enumerate(rows) if row["within"] in words), len(rows))


def _within(row: Row, borne_ms: float) -> str:
    """Whether a p99 is below the limit; `perhaps` where the limit is within its interval."""
    if row["p99_ms"] is None or row["p99_ms"] > borne_ms:
        return "no"
    high = row["p99_ms_high"]
    return "perhaps" if high is not None and high > borne_ms else "yes"


def _sentence(name: str, load: str, found: tuple[Row, Sequence[Row]], decisive: int, borne_ms: float) -> str:
    healthy, rows = found
    row, most = rows[decisive], rows[-1]
    under = f"{name} under {load}"
    without = f"without a rebuild it is {arrays.p99_of(healthy)}"
    if row["within"] == "no":
        return (
            f"No limit keeps the p99 of {under} below {number(borne_ms)} ms while it is rebuilt: with "
            f"{row['limit_kib_per_s']:,} KiB/s it is {arrays.p99_of(row)}; {without}."
        )
    text = (
        f"sync_speed_max = {row['limit_kib_per_s']} keeps the p99 of {under} below {number(borne_ms)} ms while it is "
        f"rebuilt: {arrays.p99_of(row)}, {_taking(row)}; {without}"
    )
    if row["within"] == "perhaps":
        text += "; the limit is inside that interval"
    further = max((each["limit_kib_per_s"] for each in rows if each["within"] == "perhaps"), default=0)
    if row["within"] == "yes" and further > row["limit_kib_per_s"]:
        text += f"; up to {further} may keep it too"
    if row is most:
        return f"{text}. That is md's own limit."
    return f"{text}. With md's own {most['limit_kib_per_s']} it is {arrays.p99_of(most)}, {_taking(most)}."


def _taking(row: Row) -> str:
    return (
        "and no end of the rebuild is seen" if row["hours"] is None else f"rebuilt in {arrays.hours_of(row)}"
    )
