"""What a job of DiskSpd says, and the workload that it is, whether a command line says it or a profile in XML.

The threads of one target are copies of one job: each has its own outstanding I/Os, and sequential threads begin at the
same place. What is left out is what DiskSpd does: sequential reads of 64 KiB with two I/Os outstanding, for 10 s after
5 s of warm-up, through the system's cache, with seed 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drivelab.report import toml_text
from drivelab.scenarios.converted import HOST_CACHE, Converted, drop_given, has_host_cache

BLOCK, _OUTSTANDING, _DURATION_S, _WARMUP_S = 64 << 10, 2, 10, 5


class WrongError(Exception):
    """An option that cannot be taken over, and what can be done."""


@dataclass(frozen=True)
class Terms:
    """What the options are called where the job is written."""

    uncached: str
    orders: str
    interlocked: str
    pauses: str
    rate: str
    pause: str
    outstanding: str
    base: str
    sizes: str


COMMAND = Terms("-Su or -Sh", "-s and -r", "-si", "-i and -j", "-g", "-i", "-o", "-B", "neither -c nor -f")
PROFILE = Terms(
    "DisableOSCache or DisableAllCache",
    "InterlockedSequential and Random",
    "InterlockedSequential",
    "BurstSize and ThinkTime",
    "Throughput",
    "BurstSize",
    "RequestCount",
    "BaseFileOffset",
    "neither FileSize nor MaxFileSize",
)


@dataclass
class Given:
    """What the options say."""

    bs: int | None = None
    outstanding: int = _OUTSTANDING
    threads: int = 1
    writes_percent: int = 0
    is_random: bool = False
    align: int | None = None
    """Where random I/Os may begin; at whole blocks if it is not given."""
    is_sequential: bool = False
    is_interlocked: bool = False
    more: dict[str, object] = field(default_factory=dict)
    """Keys of the workload that an option states as they are."""
    caching: str = ""
    burst: int | None = None
    think_ms: int | None = None
    seed: int | None = None
    file_size: int | None = None
    base: int = 0
    end: int | None = None
    """The place on the target behind the last that I/Os go to."""
    idle: dict[str, None] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)


def converted(found: Given, terms: Terms, given: Mapping[str, str]) -> Converted:
    """The scenario of what the options say; the keys that are given beside the file take precedence.

    Raises WrongError.
    """
    workload = _workload(found, terms, has_cache=has_host_cache(given))
    notes = []
    if found.idle:
        notes.append(f"without effect on a drive: {', '.join(found.idle)}")
    name = found.targets[0] if found.targets else "diskspd"
    document: dict[str, Any] = {"name": f"diskspd {name}", "workload": workload}
    if found.seed:
        # 0 is what DiskSpd has without a seed.
        document["run"] = {"seed": found.seed}
    is_whole = "size" not in workload
    drop_given(document, given)
    if "rate_iops" in workload:
        notes.append(
            f"{terms.rate} is an open loop: arrivals do not wait, where DiskSpd holds them back at {terms.outstanding}"
        )
    if is_whole:
        notes.append(f"the target is the whole drive, for {terms.sizes} gives it a size")
    return Converted(toml_text.dumps(document), notes)


def _range(found: Given, terms: Terms) -> dict[str, object]:
    """Where on the target: from its base on, so much or up to its end. Raises WrongError."""
    ends = [end for end in (found.file_size, found.end) if end is not None]
    if ends and found.base >= min(ends):
        raise WrongError(f"{terms.base} begins behind the end of the target: give less than its size")
    offset: dict[str, object] = {"offset": f"{found.base}B"} if found.base else {}
    return {**offset, "size": f"{min(ends) - found.base}B"} if ends else offset


def _workload(found: Given, terms: Terms, *, has_cache: bool) -> dict[str, object]:
    """The section of the scenario. Raises WrongError."""
    more = dict(found.more)
    kinds = {0: "read", 100: "write"}
    kind = kinds.get(found.writes_percent, "rw")
    random = "rand" if found.is_random else ""
    bs = found.bs or BLOCK
    workload: dict[str, object] = {"rw": f"{random}{kind}", "bs": f"{bs}B"}
    if kind == "rw":
        workload["rwmixread"] = 100 - found.writes_percent
    if found.is_random and found.is_sequential:
        raise WrongError(f"{terms.orders} contradict each other: keep one of the two")
    if found.is_random and found.align not in {None, bs}:
        workload["blockalign"] = f"{found.align}B"
    copies, depth = found.threads, found.outstanding
    if found.is_interlocked:
        # The threads take the next block in turn: one stream with all that they have outstanding.
        copies, depth = 1, copies * depth
    workload["iodepth"] = depth
    if copies > 1:
        workload["numjobs"] = copies
    if "u" not in found.caching and not has_cache:
        raise WrongError(
            f"I/Os go through the system's cache without {terms.uncached}: add one, or {HOST_CACHE}"
        )
    workload["direct"] = "u" in found.caching
    if "w" in found.caching and kind != "read":
        workload["fua"] = True
    _pace(found, terms, workload, more)
    workload |= {"ramp_time": f"{_WARMUP_S}s", "runtime": f"{_DURATION_S}s", **_range(found, terms)}
    return workload | more


def _pace(found: Given, terms: Terms, workload: dict[str, object], more: dict[str, object]) -> None:
    """Pauses between bursts, or a rate in place of a depth. Raises WrongError."""
    if (found.burst is None) != (found.think_ms is None):
        raise WrongError(
            f"{terms.pauses} belong together: the I/Os of a burst, and the pause behind it in ms"
        )
    if found.burst is not None:
        if found.is_interlocked and found.threads > 1:
            raise WrongError(
                f"{terms.interlocked} and {terms.pauses}: each thread of the one stream pauses by itself: leave one of "
                "them out, or give one thread"
            )
        workload |= {"thinktime": f"{found.think_ms}ms", "thinktime_blocks": found.burst}
    # Each thread has its rate; the threads of one stream together have that of all.
    streams = found.threads if found.is_interlocked else 1
    if (rate := more.pop("rate", None)) is not None:
        more["rate_iops"] = max(1, round(int(str(rate)) * streams / (found.bs or BLOCK)))
    elif "rate_iops" in more:
        more["rate_iops"] = int(str(more["rate_iops"])) * streams
    if "rate_iops" in more:
        if found.burst is not None:
            raise WrongError(
                f"{terms.rate} and {terms.pause} contradict each other: a rate issues whatever has finished"
            )
        del workload["iodepth"]
