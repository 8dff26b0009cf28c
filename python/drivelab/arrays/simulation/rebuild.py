"""How long a rebuild takes, extrapolated from parts of it.

A member of 24 TB takes days of virtual time to rebuild, and neighbouring seconds are alike: the rate changes with the
zone, with how far the arms have to move for hosts, and with how much is already read from the new member. So the
rebuild is sampled (`run.until = "sampled"`): one run under the load stays at places in the middle of equal shares of
the work, and what lies between them is skipped. The mean time per byte at those places is that of the whole: the
midpoint rule. What is left out at the beginning and at each place, until the caches of the drives hold what they will
hold, is the run's own rule (crates/simulate/src/sampled_rebuild.rs). There are `PARTS` parts of the time that counts:
one at each place, or where caches fill slowly four at each of a quarter of the places.

The length of a part is given by `Way`. If the error is larger than `Precision` asks for, the rebuild is sampled again,
for as much longer as the error needs, by the square root of the time; if some part made no progress, or hosts did not
get the rate that they asked for, at its greatest length. A rebuild shorter than `WHOLE_BELOW` times the sampled run is
simulated completely.

A recorded trace may be shorter than that, so each place has a run of its own beside the beginning of it. Its caches are
empty, so that with writes the rebuild may take up to `RECORDED_RESOLUTION` longer, however long the parts are.

Records that hosts rewrite in a RAID-Z pool go to a new place, on the new member too, and need not be rebuilt any
more. With w of N records rewritten at random per second, a record at the share p of a rebuild of duration T is still
in place with probability exp(-w p T / N); averaged over all records this is (1 - exp(-x)) / x with x = w T / N.

The error is estimated from the spread of the parts: about the mean of their place where there are several, or about
their neighbours' trend. With systematic samples y of a trend the variance of one is the mean of
(y[i-1] - 2 y[i] + y[i+1])^2 / 6 (second differences: K. Wolter, Introduction to Variance Estimation, 2007). It covers
the random variation within a part, and the deviation of a place from its zone. It does not cover changes over hours: an
open load with which the array cannot keep up while it is rebuilt, for which there is no error, and a RAID-Z pool that
is fragmented by host writes that are not random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Any

from drivelab.arrays.typed import share
from drivelab.errors import OptionError
from drivelab.runs.result import Point

PARTS = 16
T_95 = 2.18
"""Student's t for 95 % with 12 degrees of freedom: 16 parts at 4 places. About a trend they have two more."""
RESOLUTION = 0.03
"""Minimum error, in addition to the spread of the parts: the angles between the spindles are the same in all."""
FILLED_RESOLUTION = 0.05
"""The same where caches fill slowly, with parts of 10 s: what lies near the arm is written for longer than they take to
fill, so that a rebuild was up to this much slower in parts of 300 s. Longer parts begin later, in proportion."""
RECORDED_RESOLUTION = 0.35
"""The same beside a recorded trace with writes."""
WHOLE_BELOW = 8
"""A rebuild shorter than this many times the sampled run is simulated completely."""
WHOLE_ERROR = 0.03
"""For a whole rebuild: other seeds differ by a standard deviation of 1.4 % at most; this is twice that."""
KEPT_UP = 0.95
"""With a smaller share of the requested rate during the rebuild, latencies of hosts grow without bound."""

IDLE: Mapping[str, Any] = {"rw": "randread", "bs": "4KiB", "rate_iops": 0.001}
"""An almost idle array: a read every thousand seconds."""

_NS_PER_S = 10**9


@dataclass(frozen=True)
class Way:
    """How much of a rebuild is simulated: parts of it, or all."""

    part_s: int
    """The length of each part that counts; 0 for the whole rebuild."""

    def array(self, *, is_recorded: bool) -> dict[str, Any]:
        """The keys that it adds to target.array."""
        if not self.part_s or not is_recorded:
            return {}
        return {"rebuilt": [f"{100 * (2 * part + 1) / (2 * PARTS):g}%" for part in range(PARTS)]}

    def run_document(self, *, is_recorded: bool) -> dict[str, Any]:
        """How each run is simulated."""
        if self.part_s and is_recorded:
            return {"duration": f"{2 * self.part_s}s"}
        if self.part_s:
            return {"until": "sampled", "places": PARTS, "stay": f"{self.part_s}s"}
        return {"until": "rebuilt", "duration": WHOLE_MAX}


SHORT, LONG, WHOLE = Way(10), Way(60), Way(0)
IDLE_WAY = Way(3)
"""With the array idle nothing is random but the turn of the platters."""
WHOLE_MAX = "48h"
"""The end of a rebuild that is simulated completely, should it not come to its own."""
_STEP_S = 10
_SPARE = 1.2
"""The error of short parts is itself uncertain: longer ones are this much longer than it says."""


@dataclass(frozen=True)
class Precision:
    """How well the duration of a rebuild is to be known."""

    error: float = 0.10
    """Half the 95 % confidence interval, as a share of the duration. With a larger one it is sampled again."""
    part_max_s: int = LONG.part_s
    """The longest part, whatever the error."""

    @classmethod
    def asked(cls, text: str | None) -> Precision:
        """As typed, `3%`; the default without a text. Raises InputError."""
        if text is None:
            return cls()
        what = f"a percentage from {LEAST:.0%} to {MOST:.0%}, half the interval of a rebuild's duration"
        refused = OptionError("precision", text, what, "such as 5%")
        try:
            error = share(text, "precision")
        except OptionError as no_number:
            raise refused from no_number
        if not LEAST <= error <= MOST:
            raise refused
        return cls(error, PART_ASKED_MAX_S)


LEAST, MOST = 0.04, 0.5
"""The precision that may be asked for: RESOLUTION remains however long the parts are."""
PART_ASKED_MAX_S = 600
"""The longest part where a precision is asked for."""
PRECISION_HELP = (
    f"Error of a rebuild's duration that is small enough: half its 95 % interval [{Precision.error:.0%}]"
)
DEFAULT, FINE = Precision(), Precision(0.05, PART_ASKED_MAX_S)
"""FINE is for a duration on which a decision depends."""


def way_of(found: Mapping[str, Any]) -> Way:
    """How this result was simulated."""
    return Way(found["part_s"])


def next_way(found: Mapping[str, Any] | None, way: Way, precision: Precision = DEFAULT) -> Way | None:
    """How the rebuild must be simulated again after this result; None if its error is small enough."""
    if found is None or way == WHOLE:
        return None
    if (found["duration_ns"] or math.inf) < WHOLE_BELOW * found["simulated_s"] * _NS_PER_S:
        return WHOLE
    error = found["relative_error"]
    if error is None:
        return LONG if way.part_s < LONG.part_s and found["is_steady"] else None
    if error <= precision.error or found["resolution"] == RECORDED_RESOLUTION:
        return None
    longer = way.part_s * _SPARE * (error**2 - RESOLUTION**2) / (precision.error**2 - RESOLUTION**2)
    part_s = min(_STEP_S * math.ceil(longer / _STEP_S), precision.part_max_s)
    return Way(part_s) if part_s > way.part_s else None


def first_way(*, is_idle: bool) -> Way:
    """How it is simulated at first."""
    return IDLE_WAY if is_idle else SHORT


def extrapolated(
    points: Sequence[Point], rate: float | None = None, records: float | None = None
) -> dict[str, Any] | None:
    """The whole rebuild, as in `--json`. None if nothing is rebuilt, or the run has no result.

    `rate` is the requests per second of hosts, if they have a rate; `records` are those of a RAID-Z pool that hosts
    write at random. If some part makes no progress, the result has no duration, only a lower bound; if hosts get less
    than that rate, there is no error.
    """
    if not points or not all(_rebuilds(point) for point in points):
        return None
    point, parts = points[0], _parts(points)
    if parts is None:
        return _of_whole(point, rate)
    found = _found(points, parts)
    sync = _rebuilds(point)[0]
    if len(parts) < PARTS:
        # It was over before it was seen everywhere.
        return None if sync["ended_ns"] is None else {**found, "duration_ns": sync["ended_ns"]}
    kept_up = rate is None or _iops(parts) >= KEPT_UP * rate
    found |= {
        "kept_up": kept_up,
        "parts": [
            {
                "rebuilt": f"{100 * part['rebuilt']:g}%",
                "iops": part["ios"] * _NS_PER_S / part["counted_ns"],
                "member_bytes_per_s": part["member_bytes"] * _NS_PER_S / part["counted_ns"],
            }
            for part in parts
        ],
    }
    # Without progress, as if a request of 1 MiB ended with the part.
    paces = [part["counted_ns"] / (part["member_bytes"] or 2**20) for part in parts]
    whole, mean = found["member_bytes"] - found["before_bytes"], sum(paces) / PARTS
    if not all(part["member_bytes"] for part in parts):
        return {**found, "at_least_ns": round(whole * mean)}
    writes = fmean(point["write"]["iops"] for point in points)
    left = _left_of_pool(writes, whole * mean / _NS_PER_S, records) if records else 1.0
    error = math.hypot(T_95 * _standard_error(paces, parts) / mean, found["resolution"])
    return {
        **found,
        "duration_ns": round(whole * mean * left),
        "relative_error": error if kept_up and found["is_steady"] else None,
        "member_bytes_per_s": _NS_PER_S / mean,
    }


def _parts(points: Sequence[Point]) -> list[dict[str, Any]] | None:
    """The parts of a sampled rebuild, or those of the runs of all places; None for a whole rebuild."""
    sampled = points[0]["array"].get("sampled")
    if sampled is not None:
        return list(sampled["parts"])
    if len(points) < PARTS:
        return None
    return [
        {
            "rebuilt": _share(point["axes"]["target.array.rebuilt"]),
            "counted_ns": point["window_ns"],
            "member_bytes": _rebuilds(point)[0]["member_bytes"],
            "ios": point["read"]["ios"] + point["write"]["ios"],
        }
        for point in points
    ]


def _share(text: object) -> float:
    return float(str(text).rstrip("%")) / 100


def _found(points: Sequence[Point], parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is known of any rebuild that was sampled."""
    sync, sampled = _rebuilds(points[0])[0], points[0]["array"].get("sampled") or {}
    return {
        "extrapolated": True,
        "kept_up": True,
        "member_bytes": sync["member_bytes_in_all"],
        # One run is of what is left; several begin where they are.
        "before_bytes": sync["member_bytes_before"] if sampled else 0,
        "simulated_bytes": sum(part["member_bytes"] for part in parts),
        "simulated_s": sum(point["window_ns"] for point in points) / _NS_PER_S,
        "settled_s": sampled.get("settled_ns", 0) / _NS_PER_S,
        "part_s": round(parts[0]["counted_ns"] / _NS_PER_S / (1 if sampled else 2)) if parts else 0,
        "is_steady": sampled.get("is_steady", True),
        "resolution": _resolution(points, parts),
        "parts": [],
        "duration_ns": None,
        "at_least_ns": None,
        "relative_error": None,
    }


def _resolution(points: Sequence[Point], parts: Sequence[Mapping[str, Any]]) -> float:
    if len(points) > 1:
        return RECORDED_RESOLUTION if any(point["write"]["ios"] for point in points) else RESOLUTION
    if len({part["rebuilt"] for part in parts}) == len(parts):
        return RESOLUTION
    longer = parts[0]["counted_ns"] / (SHORT.part_s * _NS_PER_S)
    return max(RESOLUTION, FILLED_RESOLUTION / max(1.0, float(longer)))


def _iops(parts: Sequence[Mapping[str, Any]]) -> float:
    return float(sum(part["ios"] for part in parts) * _NS_PER_S / sum(part["counted_ns"] for part in parts))


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
        "kept_up": rate is None or point["iops"] >= KEPT_UP * rate,
        "member_bytes": sync["member_bytes_in_all"],
        "before_bytes": 0,
        "simulated_bytes": sync["member_bytes_in_all"],
        "simulated_s": sync["duration_ns"] / _NS_PER_S,
        "settled_s": 0.0,
        "part_s": 0,
        "is_steady": True,
        "resolution": WHOLE_ERROR,
        "parts": [],
        "duration_ns": sync["duration_ns"],
        "at_least_ns": None,
        "relative_error": WHOLE_ERROR,
        "member_bytes_per_s": sync["member_bytes_in_all"] * _NS_PER_S / sync["duration_ns"],
    }


def _left_of_pool(writes: float, seconds: float, records: float) -> float:
    """The share of a pool that must be rebuilt if all of it would take `seconds`: hosts rewrite the rest meanwhile."""
    left = 1.0
    for _ in range(50):
        exponent = writes * seconds * left / records
        left = -math.expm1(-exponent) / exponent if exponent else 1.0
    return left


def _rebuilds(point: Point) -> list[Mapping[str, Any]]:
    return [sync for sync in point.get("array", {}).get("syncs", ()) if sync["kind"] == "rebuild"]


def _standard_error(paces: Sequence[float], parts: Sequence[Mapping[str, Any]]) -> float:
    """The standard error of the mean: within places, or from second differences."""
    groups = [
        [pace for pace, _ in group]
        for _, group in groupby(zip(paces, parts, strict=True), key=lambda one: one[1]["rebuilt"])
    ]
    if len(groups) < len(paces):
        squares = sum((pace - fmean(group)) ** 2 for group in groups for pace in group)
        variance = squares / (len(paces) - len(groups))
    else:
        bends = [a - 2 * b + c for a, b, c in zip(paces, paces[1:], paces[2:], strict=False)]
        variance = sum(bend * bend for bend in bends) / (6 * len(bends))
    return math.sqrt(variance / len(paces))
