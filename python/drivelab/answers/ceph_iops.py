"""Which IOPS to tell Ceph's mClock for a drive, beside what Ceph's own bench would report of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering.lab import Lab, Ran, notes_of
from drivelab.answering.option import Drive, Option
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import (
    figure,
    inside,
    medium_of,
    number,
    rate_of,
    refuse_shingled_writes,
    target_named,
)
from drivelab.scenarios.catalogue_choice import Medium

TITLE = "which IOPS to tell Ceph's mClock for a drive"
QUESTION = (
    "Which osd_mclock_max_capacity_iops_hdd, or _ssd, is true of this drive, and what would "
    "`ceph tell osd.N bench 12288000 4096 4194304 100` report?"
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    iodepth: Annotated[str, Option("Writes that wait for the drive at once", "N")] = "32"


@dataclass(frozen=True)
class _Known:
    """What Ceph has for a kind of drives: its option, the default, and the threshold, above which it keeps that."""

    option: str
    default: int
    threshold: int


_KNOWN = {
    Medium.CMR: _Known("osd_mclock_max_capacity_iops_hdd", 315, 500),
    Medium.FLASH: _Known("osd_mclock_max_capacity_iops_ssd", 21_500, 80_000),
}
WRITES, REGION = 3_000, "400MiB"
"""Of the bench: 12,288,000 bytes in pieces of 4 KiB, over 100 objects of 4 MiB."""
_RUNS: Sequence[tuple[str, bool, bool, bool]] = (
    ("anywhere, durable", False, False, False),
    ("anywhere, durable, one at a time", False, False, True),
    ("anywhere, write cache on", True, False, False),
    ("Ceph's bench, durable", False, True, False),
    ("Ceph's bench, write cache on", True, True, False),
)
"""Each run: its name, whether the write cache answers, whether it is the bench, whether writes come one at a time."""
_SUSTAINED, _BENCH_OFF, _BENCH_ON = 0, 3, 4


def answer(asked: Options, lab: Lab) -> Answer:
    """Random writes of 4 KiB as the drive sustains them, and as the bench sends them."""
    kind = medium_of(asked.drive)
    refuse_shingled_writes(asked.drive)
    known, name = _KNOWN[kind], target_named(asked.drive, None, None)
    runs = lab.run([_document(*run[1:], kind) for run in _RUNS[:1]], _typed(asked))
    runs += lab.run([_document(*run[1:], kind) for run in _RUNS[1:2]], {"drive": asked.drive})
    runs += lab.run([_document(*run[1:], kind) for run in _RUNS[2:]], _typed(asked))
    rows = [_row(run, ran, known) for run, ran in zip(_RUNS, runs, strict=True)]
    return Answer(
        sentence=_sentence(name, rows, known, kind),
        columns=[
            Column("writes", "random writes of 4 KiB"),
            Column("iops", "IOPS", "rate"),
            Column("iops", "range", "range"),
            Column("mean_ms", "mean ms", ",.2f"),
            Column("ceph", "Ceph would"),
        ],
        rows=rows,
        decisive=_SUSTAINED,
        figure="iops",
        scenario=runs[_SUSTAINED].scenario,
        assumptions=_assumptions(asked, runs, kind),
        picture=Picture(
            "writes",
            "",
            [Panel("iops", "IOPS", known.threshold, f"Ceph's threshold, {known.threshold:,}")],
            scale="names",
        ),
        title=f"{name}: what to tell Ceph",
    )


def _typed(asked: Options) -> dict[str, object]:
    return {"drive": asked.drive, "iodepth": asked.iodepth}


def _document(has_cache: bool, is_bench: bool, is_single: bool, kind: Medium) -> dict[str, Any]:
    workload: dict[str, Any] = {"rw": "randwrite", "bs": "4KiB"}
    if is_single:
        workload["iodepth"] = 1
    if is_bench:
        workload["size"] = REGION
    run: dict[str, Any] = {"ios": WRITES}
    if not is_bench:
        # A cache that has to fill first: of a disk in seconds, of flash in far less.
        run["warmup"] = "100ms" if kind is Medium.FLASH else "30s" if has_cache else "2s"
    if kind is Medium.FLASH and not has_cache:
        # A buffer that outlives a power cut counts as durable.
        workload["sync"] = True
    is_on = has_cache or kind is Medium.FLASH
    return {"target": {"write_cache": is_on}, "workload": workload, "run": run}


def _row(run: tuple[str, bool, bool, bool], ran: Ran, known: _Known) -> Row:
    point = ran.point
    is_bench = run[2]
    takes = "take it" if point["iops"] <= known.threshold else f"keep {known.default:,}"
    return {
        "writes": run[0],
        **rate_of(point),
        "mean_ms": (point["latency_ns"]["mean"] or 0) / 1e6,
        "ceph": takes if is_bench else None,
    }


def _sentence(name: str, rows: Sequence[Row], known: _Known, kind: Medium) -> str:
    told = rows[_SUSTAINED]
    most = "at most " if kind is Medium.FLASH else ""
    text = (
        f"Tell Ceph {most}{figure(told)} for {name} ({known.option}): so many random writes of 4 KiB a second it "
        "makes durable, anywhere on it."
    )
    default = known.default
    times = default / told["iops"]
    if inside(default, told):
        text += f" Ceph's default of {default:,} is inside that range."
    elif times >= 1:
        text += f" Ceph's default of {default:,} is {number(times)} times that, outside its range."
    else:
        text += f" Ceph's default of {default:,} is less than that."
    return f"{text} {_bench(rows[_BENCH_ON], told, known)}"


def _bench(bench: Mapping[str, Any], told: Mapping[str, Any], known: _Known) -> str:
    text = f"With the write cache on, its bench reports {figure(bench)}"
    threshold = f"its threshold of {known.threshold:,}"
    why = "that is the cache, and the 400 MiB of the bench, not what the drive sustains"
    if bench["iops"] <= 1.05 * (told["iops_high"] or told["iops"]):
        takes = (
            "it takes that" if bench["iops"] <= known.threshold else "it keeps the default unless it is told"
        )
        return f"{text}, which the drive sustains; by {threshold} {takes}."
    if inside(known.threshold, bench):
        return f"{text}, which may be above or below {threshold}: {why}."
    if bench["iops"] > known.threshold:
        return f"{text}, implausible by {threshold}, so that it keeps the default: {why}."
    times = number(bench["iops"] / told["iops"])
    return f"{text}, {times} times that, and takes it, being below {threshold}: {why}."


def _assumptions(asked: Options, runs: Sequence[Ran], kind: Medium) -> list[str]:
    found = [
        f"{asked.iodepth} writes wait for the drive at once; durable: on the media before it is answered (of a disk "
        "write cache off, of flash FUA), or in a buffer that outlives a power cut",
        "the bench is 3,000 writes to 100 objects of 4 MiB that lie side by side; BlueStore's own log, its database "
        "and its deferred writes are not simulated",
    ]
    if kind is Medium.FLASH:
        found.append("the drive is as new: a filled one that collects garbage writes more slowly")
    return found + notes_of(runs)
