"""Converts one fio job to the keys of a workload."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd
from typing import Any

from drivelab.fio import values
from drivelab.fio.options import ASYNCHRONOUS, SYNCHRONOUS
from drivelab.fio.range import range_of
from drivelab.fio.reader import Built, Reader
from drivelab.fio.syntax import Job, Problem
from drivelab.fio.values import Value, WrongError

_MIXED = {"rw", "readwrite", "randrw"}
_KINDS = {"read", "write", "randread", "randwrite", *_MIXED}
_RANGE_MAX = 64
"""The most sizes of a range."""
_IOS_MIN = 1
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
_CENTERED = {"zipf": 2, "pareto": 2}
"""The distributions, with the number of colons that they have if a center is given."""


def build(job: Job, problems: list[Problem], notes: dict[str, None]) -> Built:
    """The job as keys; appends to problems and notes."""
    reader = Reader(job, problems)
    built = Built(reader.text("name") or job.name, job.line)
    built.lines = {key: option.line for key, option in job.options.items()}
    built.unreadable = reader.unreadable
    built.seed = reader.read("randseed", values.whole, None)
    for key, parse in _NOT_OF_EVERY_JOB.items():
        reader.read(key, parse, None)
    _times(reader, built)
    if job.get("read_iolog"):
        _trace(reader, built, notes)
        return built
    rw = _rw(reader)
    built.keys["rw"] = rw
    mean = _sizes(reader, built, rw)
    if rw.startswith("rand"):
        _places(reader, built, rw, notes)
    if rw in _MIXED:
        _mix(reader, built)
    span = range_of(reader, built, rw)
    _arrivals(reader, built, mean, notes)
    _flushes(reader, built, rw)
    if reader.flag("direct") or (job.get("buffered") and not reader.flag("buffered")):
        built.keys["direct"] = True
    else:
        notes[
            "without direct=1 fio goes through the page cache: here too, where the target has one (target.host_cache)"
        ] = None
    copies = reader.read("numjobs", values.whole, 1)
    if copies != 1:
        built.keys["numjobs"] = copies
    _end(reader, built, (span, mean), max(copies, 1))
    return built


def _times(reader: Reader, built: Built) -> None:
    duration = built.duration
    duration.runtime_us = reader.read("runtime", lambda text: values.time_us(text, "s"), None)
    duration.ramp_us = reader.read("ramp_time", lambda text: values.time_us(text, "s"), None)
    duration.time_based = reader.flag("time_based")
    if reader.read("startdelay", lambda text: values.time_us(text, "s"), 0):
        reader.wrong(
            reader.job.get("startdelay"),
            "jobs of a group begin together here; put what comes later behind a stonewall",
        )
    if reader.read("loops", values.whole, 1) > 1:
        reader.wrong(reader.job.get("loops"), "a job runs once; take time_based and a longer runtime")


def _trace(reader: Reader, built: Built, notes: dict[str, None]) -> None:
    """An iolog instead of a job."""
    keys = built.keys
    trace: dict[str, Any] = {"file": reader.text("read_iolog")}
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


def _sizes(reader: Reader, built: Built, rw: str) -> Fraction:
    """The sizes of the I/Os; their mean in bytes."""
    job, kb_base = reader.job, reader.kb_base
    if job.get("bssplit"):
        split = reader.read(
            "bssplit",
            lambda text: _of_one(text, "bssplit", rw, lambda part: _split(part, kb_base)),
            [("4096B", Fraction(4096))],
        )
        built.keys["bssplit"] = ":".join(text for text, _ in split)
        mean = sum((part for _, part in split), Fraction())
    elif job.get("bsrange"):
        found = reader.read(
            "bsrange",
            lambda text: _of_one(
                text.replace("/", ","), "bsrange", rw, lambda part: _range_of(part, kb_base)
            ),
            [4096],
        )
        built.keys["bssplit"] = ":".join(f"{size}B" for size in found)
        mean = Fraction(sum(found), len(found))
    else:
        found = reader.read(
            "bs", lambda text: [_of_one(text, "bs", rw, lambda part: values.size(part, kb_base))], [4096]
        )
        built.keys["bs"] = f"{found[0]}B"
        mean = Fraction(found[0])
    if (align := reader.size("ba")) is not None:
        built.keys["blockalign"] = f"{align}B"
    return max(mean, Fraction(1))


def _of_one(text: str, key: str, rw: str, parse: Callable[[str], Value]) -> Value:
    """What reads or writes have, of a value for each of them; that of the others is checked too, where it is given."""
    reads, writes = values.pair(text)
    if rw in _MIXED and reads != writes:
        raise WrongError(f"reads and writes of one job have one {key} here; make two jobs of it")
    own, other = (writes, reads) if rw.endswith("write") else (reads, writes)
    if other:
        parse(other)
    return parse(own)


def _split(text: str, kb_base: int) -> list[tuple[str, Fraction]]:
    """Sizes with their shares in percent, in the notation of scenarios, and the contribution of each to the mean."""
    parts = [part.partition("/") for part in text.split(":")]
    sizes = [values.size(size, kb_base) for size, _, _ in parts]
    shares = [values.percent(share) if share else None for _, _, share in parts]
    rest = 100 - sum(share for share in shares if share is not None)
    open_ = shares.count(None)
    if rest < 0 or (rest > 0 and not open_):
        raise WrongError(f"the shares add up to {100 - rest} %, not to 100")
    return [
        (f"{size}B", size * Fraction(rest, 100 * open_))
        if share is None
        else (f"{size}B/{share}", size * Fraction(share, 100))
        for size, share in zip(sizes, shares, strict=True)
    ]


def _range_of(text: str, kb_base: int) -> list[int]:
    """The sizes of a range, each with the frequency with which fio draws it.

    fio adds a number below the largest size to the smallest, rounds down to a multiple of the smallest, and clips at
    the largest: all multiples are equally frequent, and so is the largest, except that it has another share if it is
    not a multiple.
    """
    parts = text.replace(":", "-").split("-")
    if len(parts) != 2:
        raise WrongError("write two sizes, such as 4k-64k")
    # As in fio, the order does not matter.
    least, most = sorted(values.size(part, kb_base) for part in parts)
    if not least:
        raise WrongError("write sizes above zero, such as 4k-64k")
    if most // least > _RANGE_MAX:
        raise WrongError(f"more than {_RANGE_MAX} sizes; write bssplit=4k/50:64k/50, say")
    step = gcd(least, most)
    times = {min(begin, most): 0 for begin in range(least, least + most, least)}
    for begin in range(least, least + most, least):
        times[min(begin, most)] += min(least, least + most - begin) // step
    if sum(times.values()) > _RANGE_MAX:
        raise WrongError(
            f"more than {_RANGE_MAX} sizes; end at a multiple of {least} bytes, or write bssplit"
        )
    return [size for size, count in times.items() for _ in range(count)]


def _places(reader: Reader, built: Built, rw: str, notes: dict[str, None]) -> None:
    def random_share(text: str) -> int:
        return _of_one(text, "percentage_random", rw, values.percent)

    if (percent := reader.read("percentage_random", random_share, None)) is not None:
        built.keys["percentage_random"] = f"{percent}%"
    distribution = reader.text("random_distribution")
    if distribution is not None:
        own = [part.strip() for part in distribution.split(",")]
        if len(set(own)) > 1:
            reader.wrong(
                reader.job.get("random_distribution"),
                "reads and writes of one job have one; make two jobs of it",
            )
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


def _arrivals(reader: Reader, built: Built, mean: Fraction, notes: dict[str, None]) -> None:
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
    return (reader.text("rw") or "read") in _MIXED


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


def _end(reader: Reader, built: Built, amount: tuple[int | None, Fraction], copies: int) -> None:
    """The number of I/Os after which fio ends the job."""
    span, mean = amount
    number = reader.read("number_ios", values.whole, None)
    found = [number] if number else []
    if span:
        found.append(max(int(span / mean), _IOS_MIN))
    built.duration.ios = min(found) * copies if found else None
