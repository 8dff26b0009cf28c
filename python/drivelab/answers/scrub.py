"""What a scrub of an array costs: the rate and the p99 of a load beside it, and its hours, for several limits of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering import arrays
from drivelab.answering.lab import Lab, Ran, notes_of
from drivelab.answering.option import Bs, Drive, Option
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import figure, number, rate_of, size_named, span, target_named
from drivelab.arrays.simulation.loads import KINDS
from drivelab.errors import InputError, RunError, ref
from drivelab.runs.hdr import latency_interval

TITLE = "what a scrub costs a load: its p99 and rate beside it, and the hours of the scrub"
QUESTION = (
    "Can I scrub (md's check) while the array is in use: what does it do to latency, and when is it done?"
)
LIMITS_KIB = (None, 10_000, 50_000, 200_000)
"""No scrub, then limits of it, in KiB/s for each member, as sync_speed_max has it; the last is md's own."""
RATE_OF_MEMBER = 20
"""Requests a second for each member, where nobody says."""
RESOLUTION = 0.03
"""Of the hours: a minute's pace differs by so much from that of a whole scrub over equal tracks."""
PLACES = 16
"""Places of the surface at which the rate of the media is measured."""
_MD, _HOUR_S = -1, 3600


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Annotated[str, Option("The level of the array", "NAME", "levels")] = "raid5"
    members: Annotated[str, Option("Number of drives", "N")] = "4"
    rw: Annotated[str, Option("read, write, rw, randread, randwrite or randrw", "KIND", "loads")] = "randrw"
    bs: Bs = "4KiB"
    rwmixread: Annotated[str | None, Option("Share of reads in a mixed load, in percent [70]", "PERCENT")] = (
        None
    )
    iodepth: Annotated[str | None, Option("Requests outstanding, in place of a rate", "N")] = None
    rate_iops: Annotated[str | None, Option(f"Requests a second [{RATE_OF_MEMBER} for each member]", "N")] = (
        None
    )


def answer(asked: Options, lab: Lab) -> Answer:
    """The load without a scrub and beside one, and the rate of the media over the surface."""
    arrays.check_drive(asked.drive, asked.rate_iops or "")
    members = arrays.check_members(asked.members)
    if asked.iodepth is not None and asked.rate_iops is not None:
        raise InputError(f"{ref('iodepth')} changes nothing with {ref('rate_iops')}: keep one of the two")
    arrays.check_md(asked.level)
    arrays.check_scrubbed(asked.level)
    rate = asked.rate_iops if asked.rate_iops or asked.iodepth else str(RATE_OF_MEMBER * members)
    mixed = asked.rw in ("rw", "randrw")
    typed = {
        **{key: getattr(asked, key) for key in ("drive", "level", "members", "rw", "bs", "iodepth")},
        "rwmixread": asked.rwmixread or ("70" if mixed else None),
        "rate_iops": rate,
        "rate_process": None if rate is None else "poisson",
    }
    runs = lab.run([_document(limit) for limit in LIMITS_KIB], typed)
    surface = lab.run([_stream(place) for place in range(PLACES + 1)], {"drive": asked.drive})
    media = [each.point["bytes_per_s"] for each in surface]
    rows = [_row(limit, ran) for limit, ran in zip(LIMITS_KIB, runs, strict=True)]
    arrays.check_keeps_up(rows[0]["iops"], rate)
    unlimited = _scrub_of(runs[_MD])["member_bytes_per_s"]
    for row, ran in zip(rows[1:], runs[1:], strict=True):
        row.update(_hours(_scrub_of(ran), unlimited, media))
    name = target_named(asked.drive, asked.level, asked.members)
    load = _load(asked, rate)
    return Answer(
        sentence=_sentence(name, load, rows),
        columns=[
            Column("scrub", "scrub"),
            Column("p99_ms", "p99 ms", ",.1f"),
            Column("p99_ms", "interval", "range"),
            Column("iops", "IOPS", "rate"),
            Column("iops", "range", "range"),
            Column("scrub_mb_per_s", "scrub MB/s", ",.1f"),
            Column("hours", "scrub h", "range"),
        ],
        rows=rows,
        decisive=len(rows) - 1,
        figure="p99_ms",
        scenario=runs[_MD].scenario,
        assumptions=[
            f"the load: {load}; the scrub begins with the run and has md's sync_speed_min of 1000 KiB/s",
            "rates and p99 are those of the scrub's first minutes. Its hours: the least if it keeps the pace of the "
            "first tracks until the media are slower, the most if it slows down as the media do towards the inner "
            "tracks",
            *arrays.unknown_queue(runs[0].point["in_force"], has_rate=rate is not None),
            *notes_of(runs),
        ],
        picture=Picture("scrub", "", [Panel("p99_ms", "p99, ms"), Panel("iops", "IOPS")], scale="names"),
        title=f"{name}: a scrub beside a load",
    )


def _document(limit_kib: int | None) -> dict[str, Any]:
    array: dict[str, Any] = {}
    if limit_kib is not None:
        array = {"scrub_at": "0s", "rebuild": {"ceiling": f"{limit_kib}KiB/s"}}
    return {"target": {"array": array}, "run": {"warmup": "10s", "ios": 4_000, "duration": "5min"}}


def _stream(place: int) -> dict[str, Any]:
    """Sequential reads at the very first tracks, then in the middle of each of equal shares of the surface."""
    offset = "0%" if place == 0 else f"{100 * (place - 0.5) / PLACES:.3f}%"
    workload = {"rw": "read", "bs": "16MiB", "iodepth": 1, "offset": offset}
    return {"workload": workload, "run": {"warmup": "1s", "ios": 16}}


def _scrub_of(ran: Ran) -> Mapping[str, Any]:
    """The scrub of a run. Raises RunError where there was none."""
    syncs = ran.point.get("array", {}).get("syncs", ())
    found: Mapping[str, Any] | None = next((one for one in syncs if one["kind"] == "scrub"), None)
    if found is None:
        raise RunError("the array did not begin its scrub")
    return found


def _row(limit_kib: int | None, ran: Ran) -> Row:
    point = ran.point
    p99, ends = point["latency_ns"]["p99"], latency_interval(point, 0.99)
    return {
        "scrub": "none" if limit_kib is None else f"at most {limit_kib:,} KiB/s",
        "limit_kib_per_s": limit_kib,
        "p99_ms": None if p99 is None else p99 / arrays.MS,
        "p99_ms_low": ends[0] / arrays.MS if ends and p99 is not None else None,
        "p99_ms_high": ends[1] / arrays.MS if ends and p99 is not None else None,
        **rate_of(point),
        "scrub_mb_per_s": None if limit_kib is None else _scrub_of(ran)["member_bytes_per_s"] / 1e6,
        "hours_low": None,
        "hours_high": None,
    }


def _hours(scrub: Mapping[str, Any], unlimited: float, media: Sequence[float]) -> Row:
    """The least and the most hours of a scrub, by its pace at the first tracks, in bytes a second of a member, and by
    that with md's limit.
    """
    if scrub["duration_ns"] is not None:
        hours = scrub["duration_ns"] / arrays.HOUR_NS
        return {"hours_low": hours, "hours_high": hours}
    pace = scrub["member_bytes_per_s"]
    if not pace or not unlimited:
        return {"hours_low": None, "hours_high": None}
    first, *zones = media
    least = sum(1 / min(pace, rate) for rate in zones) / len(zones)
    most = sum(1 / min(pace, max(pace, unlimited) * rate / first) for rate in zones) / len(zones)
    hours = scrub["member_bytes_in_all"] / _HOUR_S
    return {
        "hours_low": hours * least * (1 - RESOLUTION),
        "hours_high": hours * max(least, most) * (1 + RESOLUTION),
    }


def _load(asked: Options, rate: str | None) -> str:
    """The load in words."""
    mix = f" ({asked.rwmixread or 70} % reads)" if asked.rw in ("rw", "randrw") else ""
    how = f"{asked.iodepth} outstanding" if rate is None else f"{rate} Poisson arrivals a second"
    return f"{KINDS.get(asked.rw, asked.rw)} of {size_named(asked.bs)}{mix}, {how}"


def _sentence(name: str, load: str, rows: Sequence[Row]) -> str:
    without, *limited = rows
    plain = limited[_MD]
    inside = None not in (without["p99_ms_high"], plain["p99_ms_low"]) and (
        plain["p99_ms_low"] <= without["p99_ms_high"]
    )
    text = (
        f"A scrub of {name} beside {load} takes the p99 from {arrays.p99_of(without)} to {arrays.p99_of(plain)} with "
        f"md's limit{', a difference inside the intervals' if inside else ''}, and {_taking(plain)}"
    )
    if plain["iops_high"] is not None and plain["iops_high"] < without["iops"]:
        text += f"; the load gets {figure(plain)} of {figure(without)}"
    calm = limited[0]
    return (
        f"{text}. With sync_speed_max = {calm['limit_kib_per_s']} the p99 is {arrays.p99_of(calm)}, and the scrub "
        f"{_taking(calm)}."
    )


def _taking(row: Row) -> str:
    low, high = row["hours_low"], row["hours_high"]
    if low is None:
        return "makes no progress"
    return f"takes {number(low) if high < 1.01 * low else span(low, high)} h"
