"""How long a rebuild takes, extrapolated from parts of it.

A member of 24 TB is rebuilt in days of virtual time, of which every second is like those about it: the rate changes
with the zone, with how far the arms have to go for hosts, and with how much is read from the new member already. So
the rebuild is simulated for a few seconds at `WINDOWS` places, each in the middle of an equal share of what there is
to go over (`target.array.rebuilt`), with the load from the start and a seed of its own. The time for a byte at those
places, averaged, is that of the whole: the midpoint rule.

Its error is taken from the spread of the places about their neighbours' trend: with systematic samples y of a trend
the variance of one is the mean of (y[i-1] - 2 y[i] + y[i+1])^2 / 6 (second differences: K. Wolter, Introduction to
Variance Estimation, 2007). It holds what chance does in a window, and what a place says wrongly of its zone. It does
not hold what changes in hours: an open load that the array cannot keep up with, and records of a RAID-Z pool that hosts
move meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from drivelab.result import Point

WINDOWS = 24
WINDOW_S, SETTLED_S = 5, 1
"""Measured at each place, after what does not count: queues fill first."""
T_95 = 2.074
"""Student's t for 95 % with WINDOWS - 2 degrees of freedom."""
RESOLUTION = 0.01
"""What windows show at best, beside their spread: whole rebuilds of idle arrays differ by half of it."""

IDLE: Mapping[str, Any] = {"rw": "randread", "bs": "4KiB", "rate_iops": 0.001}
"""Next to nothing is asked of the array: a read every thousand seconds."""

_NS_PER_S = 10**9


def places() -> list[str]:
    """How far the rebuild has come where the windows begin."""
    return [f"{100 * (2 * window + 1) / (2 * WINDOWS):g}%" for window in range(WINDOWS)]


def run_document() -> dict[str, Any]:
    """How long each window is simulated."""
    return {"duration": f"{SETTLED_S + WINDOW_S}s"}


def extrapolated(points: Sequence[Point]) -> dict[str, Any] | None:
    """The whole rebuild from its windows, as `--json` has it. None where nothing is rebuilt, or a window has no result.

    Where a window brings nothing there is no time for the whole, but one that it takes at least.
    """
    if len(points) < WINDOWS or not all(_rebuilds(point) for point in points):
        return None
    whole = max(sync["member_bytes_in_all"] for sync in _rebuilds(points[0]))
    windows = [_window(point) for point in points]
    paces = [_ns_per_byte(window) for window in windows]
    found: dict[str, Any] = {
        "extrapolated": True,
        "member_bytes": whole,
        "simulated_bytes": sum(window["bytes"] for window in windows),
        "simulated_s": WINDOWS * (SETTLED_S + WINDOW_S),
        "windows": [
            {
                "rebuilt": point["axes"]["target.array.rebuilt"],
                "iops": point["iops"],
                "member_bytes_per_s": window["bytes"] * _NS_PER_S / window["ns"],
            }
            for point, window in zip(points, windows, strict=True)
        ],
    }
    if any(window["bytes"] == 0 for window in windows):
        at_least = whole * sum(pace for pace, window in zip(paces, windows, strict=True)) / WINDOWS
        return {**found, "duration_ns": None, "at_least_ns": round(at_least), "relative_error": None}
    mean = sum(paces) / WINDOWS
    return {
        **found,
        "duration_ns": round(whole * mean),
        "at_least_ns": None,
        "relative_error": math.hypot(T_95 * _standard_error(paces) / mean, RESOLUTION),
        "member_bytes_per_s": _NS_PER_S / mean,
    }


def _rebuilds(point: Point) -> list[Mapping[str, Any]]:
    return [sync for sync in point.get("array", {}).get("syncs", ()) if sync["kind"] == "rebuild"]


def _window(point: Point) -> dict[str, int]:
    """What the rebuild did once queues had filled: bytes of a member, from one end of a request to the last one."""
    sync = _rebuilds(point)[0]
    whole, series = sync["member_bytes_in_all"], point["array"]["series"]
    piece_ns = series[1]["start_ns"] - series[0]["start_ns"] if len(series) > 1 else 0
    ends = [(piece["start_ns"] + piece_ns, round((piece["rebuilt"] or 0) * whole)) for piece in series]
    steps = [after for before, after in pairwise(ends) if after[1] > before[1]]
    settled = [step for step in steps if step[0] >= SETTLED_S * _NS_PER_S]
    # Near the end of a small member the window may be all that is left of it.
    is_short = len(settled) < 2 and sync["ended_ns"] is not None
    counted = [(0, sync["member_bytes_before"]), *steps] if is_short else settled
    if len(counted) < 2:
        return {"bytes": 0, "ns": WINDOW_S * _NS_PER_S}
    (first_ns, first), (last_ns, last) = counted[0], counted[-1]
    return {"bytes": last - first, "ns": last_ns - first_ns}


def _ns_per_byte(window: Mapping[str, int]) -> float:
    """At a place; where nothing came, as if a request of 1 MiB ended with the window."""
    return window["ns"] / (window["bytes"] or 2**20)


def _standard_error(paces: Sequence[float]) -> float:
    """Of their mean, by their second differences."""
    bends = [a - 2 * b + c for a, b, c in zip(paces, paces[1:], paces[2:], strict=False)]
    return math.sqrt(sum(bend * bend for bend in bends) / (6 * len(bends)) / len(paces))
