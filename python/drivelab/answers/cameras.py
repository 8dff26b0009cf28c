"""How many cameras record on a drive or an array, and whether capacity or throughput binds."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering.lab import Lab, Ran, notes_of
from drivelab.answering.option import Drive, Level, Members, Option
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import MB, medium_of, number, of_parity, size_named, target_named
from drivelab.arrays.simulation.loads import KEEPS_UP_SHARE
from drivelab.errors import InputError, ref
from drivelab.report.plural import counted
from drivelab.scenarios.catalogue_choice import Medium
from drivelab.scenarios.quantities import span_ns
from drivelab.scenarios.sizes import size_of

TITLE = "how many cameras it records, and whether capacity or throughput binds"
QUESTION = (
    "How many cameras of this bit rate can record on this drive, or this array, and be kept for so many days?"
)
STREAMS = 64
"""Streams of the run that finds the throughput."""
SHARES = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
"""Shares of it at which cameras are tried."""
WINDOW_S, WRITES = 30, 1_500
"""The least time of a run, and the writes that it has: a p99 takes a thousand."""
CAMERAS_MAX = 2_000
"""More streams than that are not tried."""
_DAY_NS = 86_400 * 10**9
_RATE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kMG])?(bit|B)/s\s*")
_FACTORS = {None: 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Level = None
    members: Members = None
    rate: Annotated[str, Option("What a camera sends: 4Mbit/s, or 500kB/s", "RATE")] = "4Mbit/s"
    retention: Annotated[str, Option("How long recordings are kept", "TIME")] = "30d"
    bs: Annotated[str, Option("What the recorder writes of a camera at once", "SIZE")] = "512KiB"


@dataclass(frozen=True)
class _Stream:
    """A camera: bytes a second, days that are kept, and the bytes of a write."""

    bytes_per_s: float
    retention_ns: int
    write_bytes: float

    @property
    def kept_bytes(self) -> float:
        """What is kept of one camera."""
        return self.bytes_per_s * self.retention_ns / 1e9

    @property
    def fills_s(self) -> float:
        """How long the next write takes to fill."""
        return self.write_bytes / self.bytes_per_s


def answer(asked: Options, lab: Lab) -> Answer:
    """Streams at places of their own: first as fast as they go, then at the rate of more and more cameras."""
    kind = medium_of(asked.drive)
    if kind is Medium.HOST_MANAGED:
        raise InputError(
            f"{ref('drive', asked.drive)}: a host-managed drive takes streams in zones of their own, which no recorder "
            "here lays out; name a conventional drive, or see docs/how-to/host-managed.md"
        )
    if kind is Medium.SMR:
        raise InputError(
            f"{ref('drive', asked.drive)}: a shingled drive writes many streams at once into its media cache, and how "
            "long that lasts is not known of drives for recorders; name a conventional drive, or see "
            "docs/how-to/shingled.md"
        )
    size = size_of(asked.bs)
    if not size:
        raise InputError(f"{ref('bs', asked.bs)}: a size above zero, such as 512KiB")
    stream = _Stream(_bytes_per_s(asked.rate), span_ns("retention", asked.retention), size)
    if stream.retention_ns <= 0:
        raise InputError(f"{ref('retention', asked.retention)}: recordings are kept for longer than no time")
    typed = {key: getattr(asked, key) for key in ("drive", "level", "members", "bs")}
    fastest = lab.run([_document(STREAMS, None)], typed)[0]
    fit = int(fastest.capacity_bytes / stream.kept_bytes)
    counts = _counts(fastest.point["bytes_per_s"] / stream.bytes_per_s, fit)
    runs = lab.run([_document(count, stream) for count in counts], typed)
    rows = [_row(count, ran, stream) for count, ran in zip(counts, runs, strict=True)]
    borne = _borne(rows)
    decisive = _decisive(counts, borne, fit)
    name = target_named(asked.drive, asked.level, asked.members)
    return Answer(
        sentence=_sentence(name, asked, stream, (rows, borne, fit), fastest.capacity_bytes),
        columns=[
            Column("cameras", "cameras", ",d"),
            Column("mb_per_s", "MB/s sent", "rate"),
            Column("written_mb_per_s", "MB/s written", "rate"),
            Column("p99_ms", "p99 ms", ",.1f"),
            Column("keeps_up", "keeps up"),
            Column("days", "days kept", ",.1f"),
        ],
        rows=rows,
        decisive=decisive,
        figure="cameras",
        scenario=runs[decisive].scenario,
        assumptions=[
            f"a camera writes {size_named(asked.bs)} at a time to a place of its own, on average every "
            f"{number(stream.fills_s)} s and independently of the others; it keeps up if at least "
            f"{100 * KEEPS_UP_SHARE:.0f} % is written, and 99 % of the writes end before the next one is full",
            "a constant bit rate, and nothing else on the drives: no viewers, no file system's journal",
            *of_parity(asked.level),
            *notes_of([fastest]),
        ],
        picture=Picture(
            "cameras",
            "Cameras",
            [
                Panel("written_mb_per_s", "MB/s written"),
                Panel("p99_ms", "p99 of a write, ms", 1e3 * stream.fills_s, "the next is full", is_log=True),
            ],
            scale="linear",
        ),
        title=f"{name}: cameras of {asked.rate}",
    )


# In bytes a second: a still picture now and then, and more than any camera sends.
_RATE_LEAST, _RATE_MOST = 10e3 / 8, 1e9 / 8


def _bytes_per_s(text: str) -> float:
    match = _RATE.fullmatch(text)
    rate = float(match[1]) * _FACTORS[match[2]] / (8 if match[3] == "bit" else 1) if match else 0.0
    if not _RATE_LEAST <= rate <= _RATE_MOST:
        raise InputError(
            f"{ref('rate', text)}: a rate of a camera from 10kbit/s to 1Gbit/s, such as 4Mbit/s or 500kB/s"
        )
    return rate


def _document(count: int, stream: _Stream | None) -> dict[str, Any]:
    share = 100 / count
    jobs = {
        f"camera-{number + 1}": {"offset": f"{number * share:.4f}%", "size": f"{0.9 * share:.4f}%"}
        for number in range(count)
    }
    workload: dict[str, Any] = {"rw": "write", "job": jobs}
    if stream is None:
        return {"workload": workload | {"iodepth": 1}, "run": {"warmup": "10s", "duration": "30s"}}
    workload |= {"rate_iops": 1 / stream.fills_s, "rate_process": "poisson"}
    seconds = max(WINDOW_S, math.ceil(WRITES * stream.fills_s / count))
    return {"workload": workload, "run": {"warmup": "10s", "duration": f"{seconds}s"}}


def _counts(throughput: float, fit: int) -> list[int]:
    """How many cameras are tried: around what the throughput bears, and as many as fit."""
    most = min(throughput, CAMERAS_MAX / SHARES[-1])
    found = {max(round(share * most), 1) for share in SHARES} | {1}
    if 1 <= fit <= CAMERAS_MAX:
        found.add(fit)
    return sorted(found)


def _row(count: int, ran: Ran, stream: _Stream) -> Row:
    point = ran.point
    p99 = point["latency_ns"]["p99"]
    sent = count / stream.fills_s
    # Arrivals are random: what has come of them within the window varies by the root of their number.
    chance = 3 / max(point["latency_ns"]["n"], 1) ** 0.5
    keeps_up = point["iops"] >= (1 - max(1 - KEEPS_UP_SHARE, chance)) * sent
    in_time = (p99 or point["latency_ns"]["max"] or 0) <= 1e9 * stream.fills_s
    return {
        "cameras": count,
        "mb_per_s": count * stream.bytes_per_s / MB,
        "written_mb_per_s": point["bytes_per_s"] / MB,
        "p99_ms": None if p99 is None else p99 / 1e6,
        "keeps_up": "yes" if keeps_up and in_time else "late" if keeps_up else "no",
        "days": ran.capacity_bytes / (count * stream.bytes_per_s) * 1e9 / _DAY_NS,
    }


def _borne(rows: Sequence[Row]) -> int:
    """The most cameras up to which all keep up; 0 where not even one does."""
    most = 0
    for row in rows:
        if row["keeps_up"] != "yes":
            break
        most = row["cameras"]
    return most


def _decisive(counts: Sequence[int], borne: int, fit: int) -> int:
    """The row of the answer: of as many as are borne and fit, or the first where that is none."""
    wanted = min(borne, fit)
    return counts.index(wanted) if wanted in counts else 0


def _sentence(
    name: str, asked: Options, stream: _Stream, found: tuple[Sequence[Row], int, int], capacity: int
) -> str:
    rows, borne, fit = found
    count = min(borne, fit)
    kept = f"{number(stream.kept_bytes / 1e12)} TB a camera, of {number(capacity / 1e12)} TB"
    failed = next((row["cameras"] for row in rows if row["cameras"] > borne), None)
    bears = f"{borne:,}" if failed is not None else f"at least {borne:,}"
    not_more = f", not {failed:,}" if failed is not None else ""
    what = f"of {asked.rate} that are kept for {asked.retention}"
    if count == 0:
        why = f"not one fits ({kept})" if fit == 0 else "not even one keeps up"
        more = f"; its throughput would bear {bears}{not_more}" if fit == 0 else ""
        return f"{name} records no camera {what}: {why}{more}."
    if fit <= borne:
        return (
            f"{name} records {counted(count, 'camera')} {what}: capacity binds ({kept}). Its throughput would bear "
            f"{bears}{not_more}."
        )
    days = next(row["days"] for row in rows if row["cameras"] == borne)
    return (
        f"{name} records {counted(count, 'camera')} {what}: throughput binds, {failed or borne:,} are too many. "
        f"Capacity would hold {fit:,} ({kept}), and keeps {count:,} for {number(days)} days."
    )
