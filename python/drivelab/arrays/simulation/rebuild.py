"""How long a rebuild takes, extrapolated from parts of it.

A member of 24 TB takes days of virtual time to rebuild, and neighbouring seconds are alike: the rate changes with the
zone, with how far the arms have to move for hosts, and with how much is already read from the new member. So the
rebuild is simulated at `WINDOWS` places, each in the middle of an equal share of the work (`target.array.rebuilt`),
with the load from the start and its own seed. The mean time per byte at those places is that of the whole: the
midpoint rule.

The length of a window is given by `Way`. Its beginning is not typical: md catches up on up to three seconds of its
minimum rate, write caches are empty, and queues fill, so the first ten seconds of a window do not count, the next ten
do. If the spread is too wide, a window made no progress, or hosts did not get the rate that they asked for, thirty
seconds do not count and sixty do. A rebuild shorter than `WHOLE_BELOW` times its windows is simulated completely.

Records that hosts rewrite in a RAID-Z pool go to a new place, on the new member too, and need not be rebuilt any
more. With w of N records rewritten at random per second, a record at the share p of a rebuild of duration T is still
in place with probability exp(-w p T / N); averaged over all records this is (1 - exp(-x)) / x with x = w T / N.

The error is estimated from the spread of the places about their neighbours' trend: with systematic samples y of a
trend the variance of one is the mean of (y[i-1] - 2 y[i] + y[i+1])^2 / 6 (second differences: K. Wolter, Introduction
to Variance Estimation, 2007). It covers the random variation within a window, and the deviation of a place from its
zone. It does not cover changes over hours: an open load with which the array cannot keep up while it is rebuilt, for
which there is no error, and a RAID-Z pool that is fragmented by host writes that are not random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from drivelab.runs.result import Point

WINDOWS = 16
T_95 = 2.145
"""Student's t for 95 % with WINDOWS - 2 degrees of freedom."""
RESOLUTION = 0.015
"""Minimum error of windows, in addition to their spread."""
ERROR_WANTED = 0.03
"""Windows with a larger error are simulated for longer."""
WHOLE_BELOW = 8
"""A rebuild shorter than this many times all its windows is simulated completely."""
WHOLE_ERROR = 0.03
"""For a whole rebuild: other seeds differ by a standard deviation of 1.4 % at most; this is twice that."""
KEPT_UP = 0.95
"""With a smaller share of the requested rate during the rebuild, latencies of hosts grow without bound."""

IDLE: Mapping[str, Any] = {"rw": "randread", "bs": "4KiB", "rate_iops": 0.001}
"""An almost idle array: a read every thousand seconds."""

_NS_PER_S = 10**9


@dataclass(frozen=True)
class Way:
    """How much of a rebuild is simulated: windows, or all of it."""

    settled_s: int
    """The part of each window that does not count."""
    window_s: int
    """The part that counts; 0 for the whole rebuild."""

    @property
    def points(self) -> int:
        """The number of runs."""
        return WINDOWS if self.window_s else 1

    @property
    def simulated_s(self) -> int:
        """Simulated time of all windows."""
        return WINDOWS * (self.settled_s + self.window_s)

    def array(self) -> dict[str, Any]:
        """The keys that it adds to target.array."""
        return {"rebuilt": places()} if self.window_s else {}

    def run_document(self) -> dict[str, Any]:
        """How long each run is simulated."""
        if self.window_s:
            return {"duration": f"{self.settled_s + self.window_s}s"}
        return {"until": "rebuilt", "duration": f"{4 * WHOLE_BELOW * LONG.simulated_s}s"}


SHORT, LONG, WHOLE = Way(10, 10), Way(30, 60), Way(0, 0)


def places() -> list[str]:
    """The progress of the rebuild at which the windows begin."""
    return [f"{100 * (2 * window + 1) / (2 * WINDOWS):g}%" for window in range(WINDOWS)]


def next_way(found: Mapping[str, Any] | None, way: Way, error_wanted: float = ERROR_WANTED) -> Way | None:
    """How the rebuild must be simulated again after this result; None if its error is small enough."""
    if found is None or way is WHOLE:
        return None
    if (found["duration_ns"] or math.inf) < WHOLE_BELOW * way.simulated_s * _NS_PER_S:
        return WHOLE
    is_wide = found["relative_error"] is None or found["relative_error"] > error_wanted
    return LONG if is_wide and way is SHORT else None


def extrapolated(
    points: Sequence[Point], way: Way = SHORT, rate: float | None = None, records: float | None = None
) -> dict[str, Any] | None:
    """The whole rebuild, as in `--json`. None if nothing is rebuilt, or a window has no result.

    `rate` is the requests per second of hosts, if they have a rate; `records` are those of a RAID-Z pool that hosts
    write at random. If a window makes no progress, the result has no duration, only a lower bound; if hosts get less
    than that rate, there is no error.
    """
    if len(points) < way.points or not all(_rebuilds(point) for point in points):
        return None
    if way is WHOLE:
        return _of_whole(points[0], rate)
    whole = max(sync["member_bytes_in_all"] for sync in _rebuilds(points[0]))
    windows = [_window(point, way) for point in points]
    paces = [_ns_per_byte(window) for window in windows]
    kept_up = _kept_up(points, rate)
    found: dict[str, Any] = {
        "extrapolated": True,
        "kept_up": kept_up,
        "member_bytes": whole,
        "simulated_bytes": sum(window["bytes"] for window in windows),
        "simulated_s": way.simulated_s,
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
    left = _left_of_pool(points, whole * mean / _NS_PER_S, records) if records else 1.0
    error = math.hypot(T_95 * _standard_error(paces) / mean, RESOLUTION)
    return {
        **found,
        "duration_ns": round(whole * mean * left),
        "at_least_ns": None,
        "relative_error": error if kept_up else None,
        "member_bytes_per_s": _NS_PER_S / mean,
    }


def hours_with_interval(found: Mapping[str, Any]) -> str:
    """The hours of a rebuild as `drivelab durability --rebuild` accepts them, with their interval."""
    hours, error = found["duration_ns"] / (3600 * _NS_PER_S), found["relative_error"]
    return f"{hours:.6g}h({hours * (1 - error):.6g}h..{hours * (1 + error):.6g}h)"


def _of_whole(point: Point, rate: float | None) -> dict[str, Any] | None:
    """A rebuild that was simulated completely; None if it did not finish."""
    sync = _rebuilds(point)[0]
    if sync["ended_ns"] is None:
        return None
    return {
        "extrapolated": False,
        "kept_up": _kept_up([point], rate),
        "member_bytes": sync["member_bytes_in_all"],
        "simulated_bytes": sync["member_bytes_in_all"],
        "simulated_s": sync["duration_ns"] / _NS_PER_S,
        "windows": [],
        "duration_ns": sync["duration_ns"],
        "at_least_ns": None,
        "relative_error": WHOLE_ERROR,
        "member_bytes_per_s": sync["member_bytes_in_all"] * _NS_PER_S / sync["duration_ns"],
    }


def _left_of_pool(points: Sequence[Point], seconds: float, records: float) -> float:
    """The share of a pool that must be rebuilt if all of it would take `seconds`: hosts rewrite the rest meanwhile."""
    writes = float(sum(point["write"]["iops"] for point in points)) / len(points)
    left = 1.0
    for _ in range(50):
        exponent = writes * seconds * left / records
        left = -math.expm1(-exponent) / exponent if exponent else 1.0
    return left


def _kept_up(points: Sequence[Point], rate: float | None) -> bool:
    """Whether hosts got the rate that they asked for."""
    return rate is None or sum(point["iops"] for point in points) >= KEPT_UP * rate * len(points)


def _rebuilds(point: Point) -> list[Mapping[str, Any]]:
    return [sync for sync in point.get("array", {}).get("syncs", ()) if sync["kind"] == "rebuild"]


def _window(point: Point, way: Way) -> dict[str, int]:
    """The progress of the rebuild once queues have filled: bytes of a member, between ends of requests."""
    sync = _rebuilds(point)[0]
    whole, series = sync["member_bytes_in_all"], point["array"]["series"]
    piece_ns = series[1]["start_ns"] - series[0]["start_ns"] if len(series) > 1 else 0
    ends = [(piece["start_ns"] + piece_ns, round((piece["rebuilt"] or 0) * whole)) for piece in series]
    steps = [after for before, after in pairwise(ends) if after[1] > before[1]]
    settled = [step for step in steps if step[0] >= way.settled_s * _NS_PER_S]
    # Near the end of a small member the window may be all that is left.
    is_short = len(settled) < 2 and sync["ended_ns"] is not None
    counted = [(0, sync["member_bytes_before"]), *steps] if is_short else settled
    if len(counted) < 2:
        return {"bytes": 0, "ns": way.window_s * _NS_PER_S}
    (first_ns, first), (last_ns, last) = counted[0], counted[-1]
    return {"bytes": last - first, "ns": last_ns - first_ns}


def _ns_per_byte(window: Mapping[str, int]) -> float:
    """The pace at a place; without progress, as if a request of 1 MiB ended with the window."""
    return window["ns"] / (window["bytes"] or 2**20)


def _standard_error(paces: Sequence[float]) -> float:
    """The standard error of the mean, from second differences."""
    bends = [a - 2 * b + c for a, b, c in zip(paces, paces[1:], paces[2:], strict=False)]
    return math.sqrt(sum(bend * bend for bend in bends) / (6 * len(bends)) / len(paces))
