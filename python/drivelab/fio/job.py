"""Converts one fio job to the keys of a workload."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any

from drivelab.fio import priorities, values
from drivelab.fio.options import ASYNCHRONOUS, SYNCHRONOUS, WAITS_IF_BUFFERED
from drivelab.fio.range import range_of
from drivelab.fio.reader import Built, Reader
from drivelab.fio.sizes import MIXED, sizes_of
from drivelab.fio.syntax import Job, Problem
from drivelab.fio.zones import zones_of

_KINDS = {"read", "write", "randread", "randwrite", *MIXED}
_NOT_OF_EVERY_JOB: dict[str, Callable[[str], Any]] = {
    "rwmixread": values.percent,
    "rwmixwrite": values.percent,
    "percentage_random": lambda text: [values.percent(part) for part in values.pair(text) if part],
    "random_distribution": values.zones,
    "fsync": values.whole,
    "fdatasync": values.whole,
    "thinktime_blocks": values.whole,
}
"""Options that some jobs have no use for, and the form of their values, which is checked in every job."""
# What fio takes where the number is left out.
_DISTRIBUTIONS = {"zipf": "zipf:1.1", "pareto": "pareto:0.2"}
_CENTERED = {"zipf": 2, "pareto": 2}
"""The distributions, with the number of colons that they have if a center is given."""


def build(job: Job, problems: list[Problem], notes: dict[str, None], *, has_page_cache: bool) -> Built:
    """The job as keys; appends to problems and notes. `has_page_cache`: whether the target has one."""
    reader = Reader(job, problems)
    built = Built(reader.text("name") or job.name, job.place)
    built.lines = {key: option.place for key, option in job.options.items()}
    built.unreadable = reader.unreadable
    built.seed = reader.read("randseed", values.whole, None)
    for key, parse in _NOT_OF_EVERY_JOB.items():
        reader.read(key, parse, None)
    _times(reader, built, notes)
    if job.get("read_iolog"):
        _trace(reader, built, notes)
        return built
    rw = _rw(reader)
    built.keys["rw"] = rw
    is_direct = _is_direct(reader)
    mean = sizes_of(reader, built, rw, notes, is_rounded=has_page_cache and not is_direct)
    if rw.startswith("rand"):
        _places(reader, built, rw, notes)
    if rw in MIXED:
        _mix(reader, built)
    zones_of(reader, built, rw, notes)
    span = range_of(reader, built, rw)
    _arrivals(reader, built, mean, notes, is_direct=is_direct)
    _flushes(reader, built, rw)
    priorities.of_shares(reader, built, rw)
    priorities.of_job(reader, built)
    if is_direct:
        built.keys["direct"] = True
    else:
        notes[
            "without direct=1 fio goes through the page cache: here too, where the target has one (target.host_cache)"
        ] = None
    copies = reader.read("numjobs", values.whole, 1)
    if copies != 1:
        built.keys["numjobs"] = copies
    _end(reader, built, (span, mean))
    return built


def _is_direct(reader: Reader) -> bool:
    """Whether the job bypasses the page cache."""
    is_buffered = reader.job.get("buffered") is not None and reader.flag("buffered")
    is_unbuffered = reader.job.get("buffered") is not None and not is_buffered
    return reader.flag("direct") or reader.flag("atomic") or is_unbuffered


def _times(reader: Reader, built: Built, notes: dict[str, None]) -> None:
    duration = built.duration
    # fio's 0 is no limit.
    duration.runtime_us = reader.read("runtime", lambda text: values.time_us(text, "s"), None) or None
    duration.ramp_us = reader.read("ramp_time", lambda text: values.time_us(text, "s"), None)
    duration.time_based = reader.flag("time_based")
    duration.delay_us = reader.read("startdelay", lambda text: values.time_us(text, "s"), 0)
    for key in ("runtime", "ramp_time", "startdelay"):
        option = reader.job.get(key)
        if option is not None and values.is_clock(option.value or ""):
            seconds = f"{values.time_us(option.value or '', 's') / 1e6:g}"
            notes[
                f"{option} is {seconds} s here, as fio's older manuals say; fio 3 reads the number before the first "
                f"colon alone: write {key}={seconds}"
            ] = None


def _trace(reader: Reader, built: Built, notes: dict[str, None]) -> None:
    """An iolog instead of a job."""
    keys = built.keys
    trace: dict[str, Any] = {"file": reader.text("read_iolog")}
    for key in ("end_fsync", "end_syncfs", "fsync_on_close"):
        if reader.flag(key):
            reader.wrong(reader.job.get(key), "a replayed log is not flushed at its end; leave it out")
    if reader.flag("replay_no_stall"):
        trace["pace"] = "closed"
        keys["iodepth"] = reader.read("iodepth", values.whole, 1)
    percent = reader.read("replay_time_scale", values.whole, 100)
    if percent < 1:
        reader.wrong(
            reader.job.get("replay_time_scale"), "write a percentage above 0, such as 200 for twice the rate"
        )
    elif percent != 100 and "pace" in trace:
        notes["replay_time_scale changes nothing beside replay_no_stall, which replays at iodepth"] = None
    elif percent != 100:
        # fio scales the rate, and scale_time is its inverse.
        trace["scale_time"] = round(100 / percent, 9)
    if reader.text("replay_redirect"):
        trace["device"] = "*"
    keys["trace"] = trace


def _rw(reader: Reader) -> str:
    option = reader.job.get("rw")
    rw = reader.text("rw") or "read"
    kind, colon, _ = rw.partition(":")
    if colon:
        reader.wrong(
            option, "gaps and runs are not drawn here; take the kind alone, or replay a trace (read_iolog)"
        )
    elif "trim" in kind:
        reader.wrong(option, "discards are not modelled")
    elif kind not in _KINDS:
        reader.wrong(option, f"write one of {', '.join(sorted(_KINDS))}")
    return kind if kind in _KINDS else "read"


def _places(reader: Reader, built: Built, rw: str, notes: dict[str, None]) -> None:
    def random_shares(text: str) -> tuple[int, int]:
        if rw == "randrw":
            reads, writes = values.pair(text)
            return values.percent(reads), values.percent(writes)
        share = values.of_one(text, "percentage_random", rw, values.percent)
        return share, share

    if (percent := reader.read("percentage_random", random_shares, None)) is not None:
        reads, writes = percent
        built.keys["percentage_random"] = f"{reads}%"
        if writes != reads:
            built.keys["percentage_random_writes"] = f"{writes}%"
    distribution = reader.text("random_distribution")
    if distribution is not None:
        own = [part.strip() for part in distribution.split(",")]
        if len(set(own)) > 1:
            reader.wrong(
                reader.job.get("random_distribution"),
                "reads and writes of one job have one; make two jobs of it",
            )
        own[0] = _DISTRIBUTIONS.get(own[0], own[0])
        built.keys["random_distribution"] = own[0]
        if own[0].startswith("normal") or own[0].count(":") == _CENTERED.get(own[0].split(":")[0]):
            notes[
                f"random_distribution={own[0]}: popular places lie side by side here; fio scatters them over the range"
            ] = None
    if not reader.flag("norandommap") and distribution in {None, "random"}:
        notes[
            "without norandommap fio visits each place once before any again; here places are drawn each by itself"
        ] = None


def _mix(reader: Reader, built: Built) -> None:
    reads = reader.read("rwmixread", values.percent, None)
    writes = reader.read("rwmixwrite", values.percent, None)
    # The later one of both applies.
    lines = built.lines
    if writes is not None and (reads is None or lines["rwmixwrite"] > lines["rwmixread"]):
        reads = 100 - writes
    if reads is not None:
        built.keys["rwmixread"] = f"{reads}%"


def _arrivals(
    reader: Reader, built: Built, mean: Fraction, notes: dict[str, None], *, is_direct: bool
) -> None:
    """A closed loop, or an open one if a rate is given."""
    engine = (reader.text("ioengine") or "psync").split(":")[0]
    if engine not in ASYNCHRONOUS | SYNCHRONOUS:
        known = ", ".join(sorted(ASYNCHRONOUS | SYNCHRONOUS))
        reader.wrong(
            reader.job.get("ioengine"), f"no engine that reads and writes a device; write one of {known}"
        )
    depth = reader.read("iodepth", values.whole, 1)
    if engine in SYNCHRONOUS and depth > 1:
        notes[f"iodepth={depth} has no effect with ioengine={engine}: it has one I/O outstanding"] = None
        depth = 1
    if engine in WAITS_IF_BUFFERED and not is_direct and depth > 1:
        notes[
            f"without direct=1 ioengine={engine} waits for each I/O, as fio's manual says: iodepth={depth} is 1"
        ] = None
        depth = 1
    think = reader.read("thinktime", lambda text: values.time_us(text, "us"), 0)
    if reader.text("thinktime_blocks_type") not in {None, "complete"}:
        reader.wrong(
            reader.job.get("thinktime_blocks_type"),
            "a job stops to think after so many I/Os that are complete here; leave it out",
        )
    rate = _rate(reader, built, mean)
    if rate is not None:
        built.keys["rate_iops"] = f"{float(rate):.6g}/s"
        if (process := reader.text("rate_process")) is not None:
            built.keys["rate_process"] = process
        notes[
            "rate and rate_iops are an open loop: arrivals do not wait, where fio holds them back at iodepth"
        ] = None
        if built_is_mixed(reader) and {"rwmixread", "rwmixwrite"} & set(built.lines):
            notes[
                "rwmixread and rwmixwrite have no effect beside a rate: as in fio, reads and writes have theirs"
            ] = None
        if think:
            reader.wrong(
                reader.job.get("thinktime"),
                "a job with a rate does not stop to think here; leave one of the two out",
            )
        return
    built.keys["iodepth"] = depth
    if think:
        built.keys["thinktime"] = f"{think}us"
        # As in fio, the think time pauses the whole job; at depth 1 that is the pause after each I/O.
        blocks = reader.read("thinktime_blocks", values.whole, 1)
        if blocks > 1 or depth > 1:
            built.keys["thinktime_blocks"] = blocks


def _rate(reader: Reader, built: Built, mean: Fraction) -> Fraction | None:
    """The requested I/Os per second of reads and writes together; in a mixed job they also define the mix."""
    sides: dict[str, list[Fraction]] = {"reads": [], "writes": []}
    is_mixed, of_write = built_is_mixed(reader), (reader.text("rw") or "").endswith("write")
    for key, per_io in (("rate_iops", Fraction(1)), ("rate", mean)):
        option = reader.job.get(key)
        if option is None:
            continue
        none: list[int | None] = [None, None]
        found = reader.read(key, lambda text: [_rate_of(part, reader) for part in values.pair(text)], none)
        for side, value in zip(sides.values(), found, strict=True):
            if value:
                side.append(Fraction(value) / per_io)
    least = {side: min(rates) for side, rates in sides.items() if rates}
    if not is_mixed:
        return least.get("writes" if of_write else "reads")
    if len(least) == 1:
        option = reader.job.get("rate_iops") or reader.job.get("rate")
        reader.wrong(
            option, "reads and writes of one job both have a rate here, or none; make two jobs of it"
        )
    if len(least) < len(sides):
        return None
    total = sum(least.values(), Fraction())
    built.keys["rwmixread"] = f"{float(100 * least['reads'] / total):.6g}%"
    return total


def _rate_of(text: str, reader: Reader) -> int | None:
    """A rate; an omitted side has no limit."""
    return values.size(text, reader.kb_base) if text else None


def built_is_mixed(reader: Reader) -> bool:
    """Whether the job both reads and writes."""
    return (reader.text("rw") or "read") in MIXED


def _flushes(reader: Reader, built: Built, rw: str) -> None:
    """Flushes after a number of writes; O_SYNC is one after each."""
    if rw in {"read", "randread"}:
        return
    counts = [reader.read(key, values.whole, 0) for key in ("fsync", "fdatasync")]
    sync = reader.text("sync") if reader.job.get("sync") and reader.job.options["sync"].value else None
    if reader.job.get("sync") and (sync is None or sync not in {"0", "none"}):
        counts.append(1)
    every = [count for count in counts if count]
    if every and "rate_iops" in built.keys:
        reader.wrong(
            reader.job.get("fsync") or reader.job.get("fdatasync") or reader.job.get("sync"),
            "a job with a rate waits for no flush here; leave one of the two out",
        )
    elif every:
        built.keys["fsync"] = min(every)


def _end(reader: Reader, built: Built, amount: tuple[int | None, Fraction]) -> None:
    """What each copy transfers before fio ends it, and whether it is flushed then."""
    span, mean = amount
    number = reader.read("number_ios", values.whole, None)
    loops = max(reader.read("loops", values.whole, 1), 1)
    found = [int(number * mean)] if number else []
    if span:
        found.append(span * loops)
    if found:
        # fio transfers whole I/Os: a rest that is smaller is left.
        built.duration.amount_bytes = ceil(max(min(found) // mean, 1) * mean)
    flushes = [key for key in ("end_fsync", "end_syncfs", "fsync_on_close") if reader.flag(key)]
    if not flushes or built.keys["rw"] in {"read", "randread"}:
        return
    if loops > 1 or (flushes[0] == "fsync_on_close" and len(built.files.names) > 1):
        reader.wrong(
            reader.job.get(flushes[0]),
            "a job flushes once here, at its end, and fio after each "
            + ("loop; leave loops out" if loops > 1 else "file; write a job for each file"),
        )
    built.keys["end_fsync"] = True
