"""Is a drive shingled? A verdict, with the evidence.

A drive-managed shingled drive appends random writes to a media cache, far from their place, and merges them when it
is idle. So a region that was read as a stream before some blocks of it were written is read in pieces afterwards: for
each block the arm goes to the media cache and back. On a conventional drive the blocks are in their place, and nothing
changes.

One after the other, with one request outstanding: random reads (is there an arm?), the region as a stream, random
writes of 4 KiB in it with FLUSHes and one behind the last, a stream elsewhere (which takes the written data out of the
drive's memory), and the region once more. The figure is

    extra = (T(region, after) - T(region, before)) / writes

as a share of the time of a random read: about 0 where the blocks are in their place, 1 or more where the arm goes to
each of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import InputError, RunError, ref
from drivelab.measuring.device import System, Target
from drivelab.measuring.ready import measured, suspicion_of
from drivelab.measuring.run import How
from drivelab.report.table import Cell, Table
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.scenario import Override, Source, plan

SHINGLED, CONVENTIONAL, CANNOT_TELL = "shingled", "conventional", "cannot-tell"
WRITES = 500
READS = 100
MIB = 1 << 20
REGION, ELSEWHERE = 256 * MIB, 512 * MIB
SIZE_LEAST = 2 << 30
WRITES_LEAST = 100
"""With fewer a movement of the arm for each is little beside the stream."""
FLUSH_MOST = 100
"""The most writes between two FLUSHes."""
ARM_LEAST_NS = 2e6
"""A random read of a drive with an arm takes at least this long."""
EXTRA_SHARE, SLOWER = 0.25, 2.0
"""Shingled: a written block costs at least this share of a random read, and the region this many times its time."""
AS_BEFORE = 1.3
"""Conventional: the region takes at most this many times as long as before."""
LIKE = 3.0
"""The region and the stream elsewhere have the same rate before the writes, within this factor."""

PHASES = ("reads", "before", "writes", "elsewhere", "after")

Progress = Callable[[int], object]


@dataclass(frozen=True)
class Phase:
    """Requests of one kind, one after the other: where they begin, over how many bytes, how large, how many."""

    rw: str
    offset: int
    span: int
    size: int
    count: int


def phases(capacity: int, writes: int) -> dict[str, Phase]:
    """The phases on a target of this many bytes, by name. Raises InputError."""
    if capacity < SIZE_LEAST:
        raise InputError(
            f"{capacity / 1e9:.3g} GB are too small a target: a region and a stream elsewhere need 2 GiB"
        )
    if not WRITES_LEAST <= writes <= REGION // 4096 // 4:
        raise InputError(f"{ref('writes', writes)}: give {WRITES_LEAST} to {REGION // 4096 // 4:,}")
    region, other = (int(capacity * share) // MIB * MIB for share in (0.4, 0.7))
    stream = Phase("read", region, REGION, MIB, REGION // MIB)
    return {
        "reads": Phase("randread", 0, capacity // 4096 * 4096, 4096, READS),
        "before": stream,
        "writes": Phase("randwrite", region, REGION, 4096, writes),
        "elsewhere": Phase("read", other, ELSEWHERE, MIB, ELSEWHERE // MIB),
        "after": stream,
    }


@dataclass(frozen=True)
class Evidence:
    """What was measured: the time of a random read, and of the region and of the stream elsewhere, in nanoseconds."""

    random_read_ns: float
    before_ns: float
    write_ns: float
    elsewhere_ns: float
    after_ns: float
    writes: int

    @property
    def extra_ns(self) -> float:
        """What a written block adds to the time of the region."""
        return (self.after_ns - self.before_ns) / self.writes

    def to_dict(self) -> dict[str, float]:
        """For JSON."""
        return {
            **vars(self),
            "extra_ns": self.extra_ns,
            "before_bytes_per_s": REGION / self.before_ns * 1e9,
            "after_bytes_per_s": REGION / self.after_ns * 1e9,
            "elsewhere_bytes_per_s": ELSEWHERE / self.elsewhere_ns * 1e9,
        }

    def table(self) -> Table:
        """The evidence, one row each."""
        rows = [
            ("a random read of 4 KiB", f"{self.random_read_ns / 1e6:.3g} ms"),
            ("the region as a stream, before", f"{REGION / self.before_ns * 1e3:.4g} MB/s"),
            (f"{self.writes:,} random writes in it", f"{self.write_ns / 1e6:.3g} ms each"),
            ("a stream elsewhere", f"{ELSEWHERE / self.elsewhere_ns * 1e3:.4g} MB/s"),
            ("the region again", f"{REGION / self.after_ns * 1e3:.4g} MB/s"),
            ("what each written block adds", f"{self.extra_ns / 1e6:.3g} ms"),
        ]
        return Table(["evidence", "measured"], [[Cell(a), Cell(b)] for a, b in rows], left=frozenset({0}))


@dataclass(frozen=True)
class Verdict:
    """The result; without evidence where something rules out any verdict, or decides it, before a run."""

    verdict: str
    reason: str
    evidence: Evidence | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        evidence = self.evidence and self.evidence.to_dict()
        return {"verdict": self.verdict, "reason": self.reason, "evidence": evidence}


def conclude(found: Evidence, suspicion: str | None = None) -> Verdict:
    """The verdict from the evidence; `suspicion` is why no figure of this target could decide."""
    slower = found.after_ns / found.before_ns
    share = found.extra_ns / found.random_read_ns
    likeness = (found.elsewhere_ns / ELSEWHERE) / (found.before_ns / REGION)
    if suspicion is not None:
        return Verdict(CANNOT_TELL, suspicion, found)
    if found.random_read_ns < ARM_LEAST_NS:
        reason = "a random read takes too little for an arm: there is none, or a cache answers"
        return Verdict(CANNOT_TELL, reason, found)
    if not 1 / LIKE < likeness < LIKE:
        reason = (
            "before anything was written the region had another rate than a stream elsewhere: something else uses the "
            "target, or data of earlier writes have not been merged; leave it idle for an hour, and try again"
        )
        return Verdict(CANNOT_TELL, reason, found)
    if slower >= SLOWER and share >= EXTRA_SHARE:
        reason = (
            f"the region takes x{slower:.3g} as long as before, {found.extra_ns / 1e6:.3g} ms more for each written "
            "block: these are not in their place"
        )
        return Verdict(SHINGLED, reason, found)
    if slower <= AS_BEFORE and share < EXTRA_SHARE:
        reason = f"the region takes x{slower:.3g} as long as before: the written blocks are in their place"
        return Verdict(CONVENTIONAL, reason, found)
    reason = (
        f"the region takes x{slower:.3g} as long as before: too much for blocks in their place, and too little for a "
        "movement of the arm to each; something else may use the target"
    )
    return Verdict(CANNOT_TELL, reason, found)


def said_by_kernel(target: Target) -> Verdict | None:
    """A verdict that needs no run: what the kernel knows of zones."""
    zoned = target.block.zoned if target.block else None
    if zoned in {"host-managed", "host-aware"}:
        return Verdict(SHINGLED, f"the kernel says that its zones are {zoned}")
    return None


def suspicion_on(target: Target) -> str | None:
    """Why no figure of this target could tell; None if one could."""
    block = target.block
    if block is not None and block.rotational is False and block.kind not in {"loop", "virtual"}:
        return f"/dev/{block.disk.name} is flash: it has no tracks"
    return suspicion_of(target)


def on_device(
    target: Target, system: System, how: How, writes: int, progress: Progress | None = None
) -> Evidence:
    """Carry out the phases on a device. Raises InputError, RunError and KeyboardInterrupt."""
    times: dict[str, float] = {}
    asked = phases(target.size_bytes, writes)
    for number, (name, phase) in enumerate(asked.items()):
        result = measured(_document(name, phase), target, system, how)
        if result.interrupted:
            raise KeyboardInterrupt
        if result.failures:
            raise RunError(result.failures[0].why)
        latency = result.records[0]["latency_ns"]
        if latency["n"] < phase.count:
            raise RunError(f"only {latency['n']} of {phase.count} requests ended in phase {name!r}")
        times[name] = latency["mean"] * phase.count
        if progress is not None:
            progress(number + 1)
    return _evidence(times, writes)


def simulated(drive: str, overrides: Sequence[Override], writes: int, folder: Path) -> Evidence:
    """Carry out the phases on a simulated drive, in one run from a list in `folder`. Raises as `plan` does."""
    named = [Override("target.drive", drive, ref("drive")), *overrides]
    asked = phases(plan(Source("", "shingled"), named).capacity_bytes(0), writes)
    requests, flushes = _requests(asked)
    path = folder / "shingled.log"
    path.write_text("\n".join(requests) + "\n", encoding="ascii")
    trace = [
        Override("workload.iodepth", "1", "shingled"),
        Override("workload.trace.file", str(path), "shingled"),
        Override("workload.trace.pace", "closed", "shingled"),
    ]
    result = run_plan(plan(Source("", "shingled"), [*named, *trace]), 1, None, len(requests))
    if result.failures:
        raise RunError(result.failures[0].why)
    commands = sorted(result.records[0]["commands"], key=lambda one: one["id"])
    times, first = {}, 0
    for name, phase in asked.items():
        count = phase.count + (flushes if name == "writes" else 0)
        own = commands[first : first + count]
        times[name] = float(own[-1]["completed_ns"] - own[0]["submitted_ns"])
        first += count
    return _evidence(times, writes)


def flush_every(writes: int) -> int:
    """After how many writes a FLUSH follows, so that one follows the last."""
    return max(count for count in range(1, FLUSH_MOST + 1) if writes % count == 0)


def _evidence(times: Mapping[str, float], writes: int) -> Evidence:
    return Evidence(
        random_read_ns=times["reads"] / READS,
        before_ns=times["before"],
        write_ns=times["writes"] / writes,
        elsewhere_ns=times["elsewhere"],
        after_ns=times["after"],
        writes=writes,
    )


def _document(name: str, phase: Phase) -> dict[str, Any]:
    """A phase as a scenario."""
    workload: dict[str, Any] = {
        "rw": phase.rw,
        "bs": f"{phase.size}B",
        "offset": f"{phase.offset}B",
        "size": f"{phase.span}B",
    }
    if phase.rw == "randwrite":
        workload["fsync"] = flush_every(phase.count)
    return {"name": f"shingled: {name}", "workload": workload, "run": {"ios": phase.count}}


def _requests(asked: Mapping[str, Phase]) -> tuple[list[str], int]:
    """The same as lines of fio's iolog, and how many of them are FLUSHes."""
    lines, flushes, draw = ["fio version 2 iolog", "/dev/drive add", "/dev/drive open"], 0, random.Random(1)  # noqa: S311 - no secret
    for phase in asked.values():
        for number in range(phase.count):
            places = phase.span // phase.size
            place = draw.randrange(places) if phase.rw.startswith("rand") else number % places
            kind = "write" if phase.rw.endswith("write") else "read"
            lines.append(f"/dev/drive {kind} {phase.offset + place * phase.size} {phase.size}")
            if kind == "write" and (number + 1) % flush_every(phase.count) == 0:
                lines.append("/dev/drive sync 0 0")
                flushes += 1
    return [*lines, "/dev/drive close"], flushes
