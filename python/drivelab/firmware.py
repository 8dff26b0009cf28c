"""Drives whose firmware is that of their class: how far their I/Os per second may lie from the prediction.

The firmware decides what a drive gains by its queue. Where nobody measured that, the drive takes its class's, and
the figure a range: docs/firmware-classes.md tells from which measured drives it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from drivelab.plural import counted


def iops_range(in_force: Mapping[str, Any] | None, point: Mapping[str, Any]) -> dict[str, float]:
    """`iops_low` and `iops_high` of a point, or nothing where no class has a part in it.

    The range is that of the depth within a drive: the commands in the drives over their number. Below one command
    a drive has no choice and the figure no range; of drives of several classes the widest counts. Where requests come
    at a rate of their own, the I/Os per second are that rate and have no range: it is the latency that would differ.
    """
    firmware = (in_force or {}).get("firmware", [])
    inside = point["depth"]["in_drives"]
    has_own_rate = point["depth"]["asked"] is None
    if not firmware or inside is None or not point["iops"] or has_own_rate:
        return {}
    depth = inside / (in_force or {}).get("array", {}).get("members", 1)
    found = [bounds(one["range"], depth) for one in firmware if one["range"]]
    if not found or depth <= 1:
        return {}
    low, high = min(low for low, _ in found), max(high for _, high in found)
    return {"iops_low": point["iops"] * low, "iops_high": point["iops"] * high}


def bounds(known: Sequence[Mapping[str, float]], depth: float) -> tuple[float, float]:
    """Least and most as shares of the prediction at this depth, linear over the depth's logarithm.

    A drive with one command has no choice: there both are 1. Beyond the deepest they stay as they are there.
    """
    places = [(0.0, 1.0, 1.0), *((math.log2(one["depth"]), one["low"], one["high"]) for one in known)]
    at = math.log2(max(depth, 1.0))
    for (left, low, high), (right, next_low, next_high) in pairwise(places):
        if at <= right:
            share = (at - left) / (right - left)
            return low + share * (next_low - low), high + share * (next_high - high)
    return places[-1][1:]


def range_note(points: Iterable[Mapping[str, Any]]) -> str | None:
    """What the ranges of these points are drawn from, in one line; None where none has one."""
    counts: dict[str, tuple[int, int]] = {}
    for point in points:
        if "iops_low" in point:
            for one in point["in_force"]["firmware"]:
                counts[one["class"]] = (one["drives"], one["of_class"])
    if not counts:
        return None
    drives = next(iter(counts.values()))[0]
    members = ", ".join(f"{of_class} of class {name}" for name, (_, of_class) in counts.items())
    return (
        f"IOPS range: what the queue gains was not measured on this drive; range from {counted(drives, 'drive')}, "
        f"{members}"
    )
