"""How many concurrent readers of whole files suit a drive or an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering.lab import Lab, Ran, notes_of
from drivelab.answering.option import Drive, Level, Members, Option
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import MB, figure, listed, rate_of, size_named, target_named

TITLE = "how many concurrent readers of whole files suit it"
QUESTION = "How many threads should read large files from this drive, or this array, at once: 1, 4, or 16?"
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16)
_TOLD = (2, 4, 8, 16)
ALIKE = 0.05
"""The fewest readers within this share of the most are the answer."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Level = None
    members: Members = None
    bs: Annotated[str, Option("What a reader has under way: its read-ahead, or its reads", "SIZE")] = "1MiB"


def answer(asked: Options, lab: Lab) -> Answer:
    """Sequential streams at places of their own, for each number of them."""
    typed = {key: getattr(asked, key) for key in ("drive", "level", "members", "bs")}
    runs = lab.run([_document(count) for count in COUNTS], typed)
    rows = [_row(count, ran, runs[0]) for count, ran in zip(COUNTS, runs, strict=True)]
    most = max(row["mb_per_s"] for row in rows)
    best = next(place for place, row in enumerate(rows) if row["mb_per_s"] >= (1 - ALIKE) * most)
    name = target_named(asked.drive, asked.level, asked.members)
    return Answer(
        sentence=_sentence(name, rows, best),
        columns=[
            Column("readers", "readers", "d"),
            Column("mb_per_s", "MB/s together", "rate"),
            Column("mb_per_s", "range", "range"),
            Column("each_mb_per_s", "MB/s each", "rate"),
            Column("percent_of_one", "% of one", ",.0f"),
            Column("p99_ms", "p99 ms", ",.2f"),
        ],
        rows=rows,
        decisive=best,
        figure="mb_per_s",
        scenario=runs[best].scenario,
        assumptions=[
            f"each reader has one read of {size_named(asked.bs)} under way, and its file lies in one piece; the files "
            "are spread evenly over the target, so that the rate of one is that of the middle",
            *notes_of(runs),
        ],
        picture=Picture(
            "readers",
            "Readers at once",
            [Panel("mb_per_s", "MB/s together"), Panel("p99_ms", "p99 of a read, ms")],
        ),
        title=f"{name}: readers of whole files",
    )


def _document(count: int) -> dict[str, Any]:
    jobs = {
        f"reader-{number + 1}": {
            "offset": f"{100 * (2 * number + 1) / (2 * count):.3f}%",
            "size": f"{50 / count:.3f}%",
        }
        for number in range(count)
    }
    workload = {"rw": "read", "iodepth": 1, "job": jobs}
    return {"workload": workload, "run": {"warmup": "2s", "duration": "20s"}}


def _row(count: int, ran: Ran, first: Ran) -> Row:
    point, one = ran.point, first.point
    p99 = point["latency_ns"]["p99"]
    size = point["bytes_per_s"] / point["iops"]
    return {
        "readers": count,
        **rate_of(point, per=MB / size, key="mb_per_s"),
        "each_mb_per_s": point["bytes_per_s"] / count / MB,
        "percent_of_one": 100 * point["bytes_per_s"] / one["bytes_per_s"],
        "p99_ms": None if p99 is None else p99 / 1e6,
    }


def _sentence(name: str, rows: Sequence[Row], best: int) -> str:
    one, chosen = rows[0], rows[best]
    told = [
        f"{row['readers']} get {figure(row, 'mb_per_s', 'MB/s')}, {row['percent_of_one']:.0f} %"
        for row in rows
        if row["readers"] in _TOLD and row is not chosen
    ]
    if best == 0:
        return (
            f"One reader suits {name}: {figure(one, 'mb_per_s', 'MB/s')}. Together, {listed(told)} of that; what is "
            f"within {100 * ALIKE:.0f} % counts as equal."
        )
    return (
        f"{chosen['readers']} readers suit {name}: {figure(chosen, 'mb_per_s', 'MB/s')} together, "
        f"{chosen['percent_of_one']:.0f} % of the {figure(one, 'mb_per_s', 'MB/s')} of one, and more of them bring no "
        f"{100 * ALIKE:.0f} % more. Together, {listed(told)}."
    )
