"""One point of a result as types, for editors and type checkers; docs/reference/record.md says what each key means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict


class LatencyNs(TypedDict):
    """A distribution of times in nanoseconds; None where there are too few to support the figure."""

    n: int
    mean: float | None
    min: int | None
    max: int | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p99_9: int | None
    p99_99: int | None


class Direction(TypedDict):
    """Reads, or writes, alone."""

    ios: int
    iops: float
    bytes: int
    bytes_per_s: float
    latency_ns: LatencyNs
    histogram: str


class Job(TypedDict):
    """One job of a workload of several, its copies together."""

    numjobs: int
    iops: float
    bytes_per_s: float
    read: Direction
    write: Direction
    latency_ns: LatencyNs
    errors: int


class Priority(TypedDict):
    """The I/Os of one priority, where a workload sends several."""

    ios: int
    iops: float
    bytes_per_s: float
    latency_ns: LatencyNs
    histogram: str
    errors: int


class Flush(TypedDict):
    """FLUSH commands; they are no I/Os."""

    count: int
    latency_ns: LatencyNs
    histogram: str


class Depth(TypedDict):
    """The queue depth that was asked for, and that was there."""

    asked: int | None
    achieved: float
    in_drives: float | None


class Piece(TypedDict):
    """What finished in one piece of the measured time."""

    start_ns: int
    ios: int
    bytes: int
    iops: float
    mean_latency_ns: float | None
    max_latency_ns: int | None
    errors: int
    depth: float


class BreakdownNs(TypedDict):
    """Where the mean response time went."""

    queue: float
    overhead: float
    seek: float
    rotation: float
    transfer: float
    link: float
    wait: float


class Point(TypedDict):
    """One run, e.g. `point["latency_ns"]["p99"]`; `axes` names its place in the sweep."""

    axes: dict[str, Any]
    in_force: dict[str, Any] | None
    iops: float
    iops_relative_error: float | None
    iops_low: NotRequired[float]
    """Of a drive whose queue nobody measured, at a depth above 1, or whose cached writes nobody did: the least that
    `iops` may be."""
    iops_high: NotRequired[float]
    """And the most."""
    bytes_per_s: float
    read: Direction
    write: Direction
    flush: Flush
    jobs: NotRequired[dict[str, Job]]
    """Each job by its name, where there are several."""
    priorities: NotRequired[dict[str, Priority]]
    """The I/Os of each priority by its name, where there are several."""
    depth: Depth
    latency_ns: LatencyNs
    breakdown_ns: BreakdownNs | None
    partial_writes: NotRequired[int]
    """Writes to the media that covered a physical sector in part; left out where there were none."""
    errors: int
    errors_by_outcome: dict[str, int]
    ended: str
    oldest_unfinished_ns: int | None
    window_ns: int
    digest: str
    series: list[Piece]
    array: NotRequired[dict[str, Any]]
    """Of an array: its state, its events, its rebuilds, a series over time."""
    given_up: NotRequired[dict[str, Any]]
    """With a memory before the target: flushes that failed, and answered writes that were given up."""
    replay: NotRequired[dict[str, Any]]
    """Of a replayed trace: how far the target kept up, and recorded response times beside simulated ones."""
    data: NotRequired[dict[str, Any]]
    """With `check_data` or a power cut: what was checked."""
    injections: NotRequired[list[dict[str, Any]]]
    """What a scenario lets go wrong with drives at an instant: how often each has struck, and what refused it."""
    power_cut: NotRequired[dict[str, Any] | None]
    """With a power cut: what it took; None where the run was over before."""
    logged_from_ns: NotRequired[int]
    platter: NotRequired[dict[str, int] | None]
    commands: NotRequired[Sequence[dict[str, Any]]]
    """With `log`: the traces of the first commands; rows that are made when they are asked for."""
    member_commands: NotRequired[Sequence[dict[str, Any]]]
