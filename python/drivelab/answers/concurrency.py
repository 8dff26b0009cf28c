"""How many concurrent requests a drive or an array takes before its latency grows by a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering.lab import Lab, Ran, notes_of
from drivelab.answering.option import Bs, Drive, Level, Members, Option, Rwmixread
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import (
    MS,
    figure,
    listed,
    number,
    rate_of,
    refuse_shingled_writes,
    size_named,
    target_named,
)
from drivelab.arrays.simulation.loads import KINDS
from drivelab.errors import InputError, ref

TITLE = "how many concurrent requests before the latency doubles, and the throughput there"
QUESTION = (
    "How many requests at once does this drive, or this array, like before their latency doubles, and what do "
    "more of them bring?"
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Level = None
    members: Members = None
    rw: Annotated[str, Option("read, write, rw, randread, randwrite or randrw", "KIND", "loads")] = "randread"
    bs: Bs = "4KiB"
    rwmixread: Rwmixread = None
    latency: Annotated[str, Option("Which latency: mean or p99", "NAME")] = "mean"
    factor: Annotated[str, Option("How many times the latency of one at a time is allowed", "N")] = "2"


DEPTHS = (*range(1, 17), 20, 24, 28, 32, 40, 48, 64, 80, 96, 128)
_SHOWN = (1, 2, 4, 8, 16, 32, 64, 128)
REQUESTS, WARM_UP = 4_000, "1s"


def answer(asked: Options, lab: Lab) -> Answer:
    """The same load at each number of requests."""
    factor = _factor(asked.factor)
    if asked.latency not in ("mean", "p99"):
        raise InputError(f"{ref('latency', asked.latency)}: it is mean or p99")
    if asked.rw not in KINDS:
        raise InputError(f"{ref('rw', asked.rw)}: it is {', '.join(KINDS)}")
    if asked.rw in ("randwrite", "randrw"):
        refuse_shingled_writes(asked.drive)
    typed = {key: getattr(asked, key) for key in ("drive", "level", "members", "rw", "bs", "rwmixread")}
    if asked.rw in ("rw", "randrw"):
        typed["rwmixread"] = asked.rwmixread or "70"
    documents = [
        {"workload": {"iodepth": depth}, "run": {"warmup": WARM_UP, "ios": REQUESTS, "duration": "10min"}}
        for depth in DEPTHS
    ]
    runs = lab.run(documents, typed)
    every = [_row(depth, ran, runs[0]) for depth, ran in zip(DEPTHS, runs, strict=True)]
    key = f"{asked.latency}_times"
    held = _last_within(every, key, factor)
    rows = [row for row in every if row["outstanding"] in _SHOWN or row is held]
    return Answer(
        sentence=_sentence(asked, every, held, factor),
        columns=[
            Column("outstanding", "requests at once", "d"),
            Column("iops", "IOPS", "rate"),
            Column("iops", "range", "range"),
            Column("mean_ms", "mean ms", ",.3g" if every[0]["mean_ms"] < 0.1 else ",.2f"),
            Column("mean_times", "times", ",.2f"),
            Column("p99_ms", "p99 ms", ",.3g" if every[0]["mean_ms"] < 0.1 else ",.2f"),
            Column("p99_times", "times", ",.2f"),
        ],
        rows=rows,
        decisive=rows.index(held),
        figure="outstanding",
        scenario=runs[DEPTHS.index(held["outstanding"])].scenario,
        assumptions=[
            "the next request is sent as soon as one is answered (a closed loop), anywhere on the target; "
            f"{REQUESTS:,} requests for each row",
            *notes_of([runs[DEPTHS.index(row["outstanding"])] for row in rows]),
        ],
        picture=Picture(
            "outstanding",
            "Requests at once",
            [
                Panel("iops", "IOPS"),
                Panel(
                    key,
                    f"{asked.latency} latency, times that of one",
                    factor,
                    f"{factor:g} times",
                    is_log=True,
                ),
            ],
        ),
        title=f"{_named(asked)}: {KINDS[asked.rw]} of {size_named(asked.bs)} at once",
    )


def _factor(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 1 < found <= 1000:
        raise InputError(f"{ref('factor', text)}: a number above 1 and at most 1000, such as 2")
    return found


def _named(asked: Options) -> str:
    return target_named(asked.drive, asked.level, asked.members)


def _row(depth: int, ran: Ran, first: Ran) -> Row:
    row: dict[str, Any] = {"outstanding": depth, **rate_of(ran.point)}
    for name in ("mean", "p99"):
        own, one = (one.point["latency_ns"][name] for one in (ran, first))
        row[f"{name}_ms"] = None if own is None else own / MS
        row[f"{name}_times"] = own / one if own is not None and one else None
    return row


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _last_within(rows: Sequence[Row], key: str, factor: float, shares: str = "") -> Row:
    """The last of the rows up to which none exceeds the factor; the first of all where the second does."""
    held = rows[0]
    for row in rows:
        # With the gain of a drive at one end of the range, as a share of the prediction, waiting is as much shorter.
        gain = _gain(row, rows[0], shares) if shares else 1.0
        if row[key] is None or row[key] / gain > factor:
            break
        held = row
    return held


def _gain(row: Mapping[str, Any], first: Mapping[str, Any], end: str) -> float:
    """What a drive at this end of the range gains beside the predicted one, by its queue alone."""
    own, one = ((each[f"iops_{end}"] or each["iops"]) / each["iops"] for each in (row, first))
    return float(own / one)


def _sentence(asked: Options, rows: Sequence[Row], held: Row, factor: float) -> str:
    key = f"{asked.latency}_times"
    count = held["outstanding"]
    often = "doubles" if factor == 2 else f"is {factor:g} times that of one at a time"
    least, most = (_last_within(rows, key, factor, end)["outstanding"] for end in ("low", "high"))
    spread = f" ({least} to {most})" if asked.latency == "mean" and least != most else ""
    latency = f"{number(held[f'{asked.latency}_ms'])} ms"
    what = f"{KINDS[asked.rw]} of {size_named(asked.bs)}"
    text = (
        f"{_capital(what)} on {_named(asked)}: {count}{spread} at once before their {asked.latency} latency {often}, "
        f"with {figure(held)} at {latency}"
    )
    if count == rows[-1]["outstanding"]:
        text = (
            f"{_capital(what)} on {_named(asked)}: all {count} at once that were tried, with a {asked.latency} latency "
            f"below {factor:g} times that of one: {figure(held)} at {latency}"
        )
    if count > 1:
        text += (
            f", where one at a time gives {figure(rows[0])} at {number(rows[0][f'{asked.latency}_ms'])} ms"
        )
    more = [row for row in rows if row["outstanding"] in _SHOWN and row["outstanding"] > count][:2]
    if not more:
        return f"{text}."
    nexts = [
        f"{row['outstanding']} at once {figure(row)} at {number(row[key])} times the latency"
        for row in more
        if row[key] is not None
    ]
    return f"{text}. Beyond that, {listed(nexts)}."
