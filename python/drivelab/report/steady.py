"""Whether a run is steady: the last quarter of its window beside the mean of all of it, from the record's `series`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# A run differs at its end where its rate does by more than this, and more than chance would explain,
RATE_SHARE = 0.05
# or its latency by more than this.
LATENCY_SHARE = 0.25
# With fewer pieces a quarter of them is hardly one.
PIECES_MIN = 16
# Of so few I/Os a quarter says nothing: most pieces have none.
IOS_MIN = PIECES_MIN
# The difference of a quarter and the whole has a variance three times that of the whole; of that the interval by which
# three points in a thousand are taken for unsteady by chance, not the one for fifty.
_QUARTER_ERROR = 1.5 * 3**0.5
# A run that is unsteady has a wide interval: whatever that says, a rate that differs by this is no chance.
RATE_SHARE_MAX = 0.25


@dataclass(frozen=True)
class Ending:
    """The last quarter of a window: its figures, and how far they are from those of the whole, as shares."""

    iops: float
    mean_latency_ns: float | None
    iops_change: float
    latency_change: float | None
    rate_differs: bool
    latency_differs: bool

    @property
    def is_steady(self) -> bool:
        """Whether neither differs."""
        return not (self.rate_differs or self.latency_differs)

    @property
    def most(self) -> float:
        """The larger of the changes by which it is not steady."""
        rate = abs(self.iops_change) if self.rate_differs else 0.0
        return max(rate, abs(self.latency_change or 0.0) if self.latency_differs else 0.0)

    def text(self) -> str:
        """What differs, and by how much."""
        rate = [f"IOPS {100 * self.iops_change:+.0f} %"] * self.rate_differs
        latency = [f"mean latency {100 * (self.latency_change or 0):+.0f} %"] * self.latency_differs
        return ", ".join([*rate, *latency])


def ending(point: Mapping[str, Any]) -> Ending | None:
    """The last quarter of the window; None where too little of it is known."""
    pieces: Sequence[Mapping[str, Any]] = point.get("series") or ()
    if len(pieces) < PIECES_MIN or sum(piece["ios"] for piece in pieces) < IOS_MIN:
        return None
    end_ns = pieces[0]["start_ns"] + point["window_ns"]
    last = [piece for piece in pieces if piece["start_ns"] >= end_ns - point["window_ns"] / 4]
    length_s = (end_ns - last[0]["start_ns"]) / 1e9
    ios = sum(piece["ios"] for piece in last)
    iops = ios / length_s
    change = iops / point["iops"] - 1
    latency = (
        sum(piece["mean_latency_ns"] * piece["ios"] for piece in last if piece["ios"]) / ios if ios else None
    )
    mean = point["latency_ns"]["mean"]
    latency_change = latency / mean - 1 if latency is not None and mean else None
    rate_differs = not ios or abs(change) > _rate_threshold(point)
    # Without an interval of the rate there are too few I/Os for a quarter's latency to tell.
    is_known = latency_change is not None and point.get("iops_relative_error") is not None
    latency_differs = is_known and abs(latency_change or 0) > LATENCY_SHARE
    return Ending(iops, latency, change, latency_change, rate_differs, latency_differs)


def _rate_threshold(point: Mapping[str, Any]) -> float:
    """How far the rate of the last quarter may be from the mean. Without an interval chance is that of a count."""
    error: float | None = point.get("iops_relative_error")
    if error is None:
        ios: int = sum(piece["ios"] for piece in point["series"])
        # 1.96 standard deviations of a count, as the interval has it.
        return max(RATE_SHARE_MAX, _QUARTER_ERROR * 1.96 / math.sqrt(max(ios, 1)))
    return min(max(RATE_SHARE, _QUARTER_ERROR * error), RATE_SHARE_MAX)


def summary(points: Sequence[Mapping[str, Any]]) -> str:
    """One line for the footer: how far the ends are from the means; empty where no point tells."""
    found = [end for point in points if (end := ending(point)) is not None]
    if not found:
        return ""
    rates = [end.iops_change for end in found]
    latencies = [end.latency_change for end in found if end.latency_change is not None]
    text = f"last quarter of the run against its mean: IOPS {_range(rates)}"
    return text + (f", mean latency {_range(latencies)}" if latencies else "")


def note(points: Sequence[Mapping[str, Any]]) -> str:
    """What to do where a run is not steady; empty where all are."""
    found = [end for end in map(ending, points) if end is not None and not end.is_steady]
    count, silent = len(found), sum(not end.iops for end in found)
    if not count:
        return ""
    where = f"at {count} of {len(points)} points " if len(points) > 1 else ""
    still = f", at {silent} nothing finished in it" if len(points) > 1 else ", nothing finished in it"
    return (
        f"note: {where}the last quarter of the run differs from its mean (columns `end`){still * bool(silent)}: "
        "the run is not steady; a longer --ramp-time leaves the beginning out, and --over-time FILE draws the course"
    )


def _range(changes: Sequence[float]) -> str:
    """Shares in percent, from the least to the largest."""
    texts = list(dict.fromkeys(f"{100 * change:+.1f} %" for change in (min(changes), max(changes))))
    return " to ".join(texts)
