"""How far the I/Os per second may lie from the prediction of a drive whose seeks, queue or cache nobody measured.

A data sheet's mean seek decides the access time, the firmware what a drive gains by its queue, and the number of
writes that its cache holds what they cost. Where nobody measured that, the figure has a range:
docs/reference/firmware-classes.md tells from which measured drives it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from drivelab.report.plural import counted


def iops_range(in_force: Mapping[str, Any] | None, point: Mapping[str, Any]) -> dict[str, float]:
    """`iops_low` and `iops_high` of a point, or nothing where all that decides them was measured or set.

    The range of reads, and of writes without a write cache, is that of the depth within a drive: the commands in the
    drives over their number. At one command a drive has no choice, and the range is that of its mean seek alone. Of
    cached writes the drive chooses among those that its cache holds, whatever the depth is: they have the range of so
    many commands, and that of their number where nobody measured it. Of several drives the widest counts. Where
    requests come at a rate of their own, the I/Os per second are that rate and have no range: it is the latency that
    would differ.
    """
    known = in_force or {}
    firmware, cached = known.get("firmware", []), known.get("cached_writes", [])
    inside = point["depth"]["in_drives"]
    has_own_rate = point["depth"]["asked"] is None
    if not (firmware or cached) or inside is None or not point["iops"] or has_own_rate:
        return {}
    depth = inside / known.get("array", {}).get("members", 1)
    reads = _widest(bounds(one["range"], depth) for one in firmware if one["range"])
    writes = _widest(
        (low * one["low"], high * one["high"])
        for one in cached
        for low, high in [
            _widest(bounds(of["range"], max(depth, one["segments"])) for of in firmware if of["range"])
        ]
    )
    low, high = _mixed(reads, writes if cached else reads, _share_of_writes(point))
    if low == high:
        return {}
    return {"iops_low": point["iops"] * low, "iops_high": point["iops"] * high}


def _widest(found: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The least and the most of several ranges; 1 where there is none."""
    ranges = list(found)
    return min((low for low, _ in ranges), default=1.0), max((high for _, high in ranges), default=1.0)


def _share_of_writes(point: Mapping[str, Any]) -> float:
    reads, writes = (point.get(way, {}).get("iops") or 0.0 for way in ("read", "write"))
    return writes / (reads + writes) if reads + writes else 0.0


def _mixed(reads: tuple[float, float], writes: tuple[float, float], share: float) -> tuple[float, float]:
    """The range of reads and writes together: each kind takes its share of the time."""
    low, high = (1 / ((1 - share) / read + share / write) for read, write in zip(reads, writes, strict=True))
    return low, high


def bounds(known: Sequence[Mapping[str, float]], depth: float) -> tuple[float, float]:
    """Least and most as shares of the prediction at this depth, linear over the depth's logarithm.

    A range that begins at two commands, as in older records, is 1 at one. Beyond the deepest both stay as they are
    there.
    """
    places = [(math.log2(one["depth"]), one["low"], one["high"]) for one in known]
    if places[0][0] > 0.0:
        places.insert(0, (0.0, 1.0, 1.0))
    at = math.log2(max(depth, 1.0))
    for (left, low, high), (right, next_low, next_high) in pairwise(places):
        if at <= right:
            share = (at - left) / (right - left)
            return low + share * (next_low - low), high + share * (next_high - high)
    return places[-1][1:]


def range_note(points: Iterable[Mapping[str, Any]]) -> str | None:
    """What the ranges of these points are drawn from; None where none has one."""
    counts: dict[str, tuple[int, int]] = {}
    accesses = 0
    segments: set[int] = set()
    for point in points:
        if "iops_low" not in point:
            continue
        for one in point["in_force"].get("firmware", ()):
            accesses = max(accesses, one.get("access_drives", 0))
            if one["drives"]:
                counts[one["class"]] = (one["drives"], one["of_class"])
        writes = point["in_force"].get("cached_writes", ()) if _share_of_writes(point) else ()
        segments |= {one["segments"] for one in writes if one["low"] != one["high"]}
    lines = []
    if accesses or counts:
        unknown, bases = [], []
        if accesses:
            unknown.append("its mean seek time")
            bases.append(f"the access times of {counted(accesses, 'drive')}")
        if counts:
            unknown.append("what its queue gains")
            drives = next(iter(counts.values()))[0]
            members = ", ".join(f"{of_class} of class {name}" for name, (_, of_class) in counts.items())
            bases.append(f"the gains of {drives} ({members})")
        was = "were" if len(unknown) > 1 else "was"
        lines.append(
            f"IOPS range: {' and '.join(unknown)} {was} not measured on this drive; 9 of 10 drives are inside, by "
            f"{' and '.join(bases)}"
        )
    if segments:
        assumed = " and ".join(map(str, sorted(segments)))
        lines.append(
            f"IOPS range: how many writes its cache holds was not measured on this drive; {assumed} here, range from "
            "the fewest and the most that are known of a drive, 11 and 2304"
        )
    return "\n".join(lines) or None


def served_note(in_force: Mapping[str, Any] | None) -> str | None:
    """How far the rates of drives of its kind may lie from those of a served target; None if nothing is uncertain."""
    known = [one["range"] for one in (in_force or {}).get("firmware", ()) if one["range"]]
    if not known:
        return None
    (low, high), (deep_low, deep_high) = (_widest(bounds(one, depth) for one in known) for depth in (1, 32))
    return (
        f"drives of its kind do {100 * low:.0f} to {100 * high:.0f} % of its random IOPS one at a time, "
        f"{100 * deep_low:.0f} to {100 * deep_high:.0f} % at 32 in a drive"
    )


def rate_note(points: Iterable[Mapping[str, Any]]) -> str | None:
    """What is unknown of the response times where requests come at a rate of their own and wait in a drive whose order
    nobody measured; None where there is no such point.
    """
    for point in points:
        known = (point.get("in_force") or {}).get("firmware", ())
        inside = point["depth"]["in_drives"] or 0.0
        members = (point.get("in_force") or {}).get("array", {}).get("members", 1)
        if point["depth"]["asked"] is None and inside > members and any(one["range"] for one in known):
            return _RATE_NOTE
    return None


_RATE_NOTE = (
    "latency: what the queue gains was not measured on this drive. At a rate, the response times depend on it, the "
    "longest most of all, and have no range here: compare --set target.queue.order=fcfs,sptf"
)


def shares_note(figures: Iterable[Mapping[str, Any]]) -> str | None:
    """How far the IOPS of these figures may lie from what is printed, over all of them; None where none has a range."""
    ranged = [one for one in figures if one.get("iops_low") is not None and one.get("iops")]
    if not ranged:
        return None
    low = min(one["iops_low"] / one["iops"] for one in ranged)
    high = max(one["iops_high"] / one["iops"] for one in ranged)
    return (
        f"IOPS range: {low - 1:+.0%} to {high - 1:+.0%} at most, for seeks, what the queue gains, or how many writes a "
        "cache holds were not measured on these drives; the intervals tell of chance alone"
    )
