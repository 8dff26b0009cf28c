"""The relative difference of a figure between two records, with its interval if both have an error.

The interval is that of the logarithm of the ratio: the squares of both standard errors add up, and Student's t has
the degrees of freedom of Welch and Satterthwaite; the possible effect of rounding is added at both ends. Intervals
that are read together are wide enough to hold jointly (`each_of`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.records.model import LOAD_FIGURES, Figure
from drivelab.report.points_table import axis_text

Shown = Literal["identical", "more", "less", "none", "unknown"]
"""The result: exactly equal, more or less beyond the interval, no significant difference, or no interval."""
Judged = Literal["within", "beyond", "open"]
"""Against a threshold: shown to be within it, shown to be beyond it, or neither."""

# For these larger is better; for all others, which are response times, smaller is.
_RATES = {"iops", "bytes_per_s"}
# Half an interval is at most this factor of e: beyond it nothing is known.
_LOG_MAX = 50.0


@dataclass(frozen=True)
class Difference:
    """A figure at a place, from two records. Shares are of the first record's figure."""

    place: dict[str, Any]
    figure: str
    first: float
    other: float
    share: float | None
    """None if the first is zero and the other is not."""
    low: float | None
    high: float | None
    error: float | None
    """The standard error of the logarithm of the ratio."""
    freedom: float
    """Degrees of freedom of the error."""
    shown: Shown
    is_open: bool = False
    """Whether nothing can be judged of it."""

    @property
    def is_uncertain(self) -> bool:
        """Whether its interval is statistical; that of rounding alone is certain."""
        return self.low is not None and bool(self.error)

    @property
    def is_better(self) -> bool | None:
        """Whether the other is better, if they differ; None for a figure without a better direction."""
        if self.share is None or self.share == 0:
            return None
        name = self.figure.rpartition(".")[2]
        if name in {"figure", *LOAD_FIGURES}:
            return None
        return (self.share > 0) == (name in _RATES)

    def judged(self, threshold: float, *, worse_only: bool) -> Judged:
        """The judgement against a threshold; without an interval, from the figures alone."""
        if self.share is None:
            return "beyond"
        if self.is_open and self.low is None:
            return "open"
        low = self.share if self.low is None else self.low
        high = self.share if self.high is None else self.high
        ends = (low, high) if not worse_only else self._worse(low, high)
        if ends[0] > threshold or ends[1] < -threshold:
            return "beyond"
        return "within" if -threshold <= ends[0] and ends[1] <= threshold else "open"

    def _worse(self, low: float, high: float) -> tuple[float, float]:
        """The interval, with the part in which the other is better cut off at zero difference."""
        if self.figure.rpartition(".")[2] in _RATES:
            return min(low, 0.0), min(high, 0.0)
        return max(low, 0.0), max(high, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """As `compare --json` prints it."""
        return {
            "place": self.place,
            "figure": self.figure,
            "first": self.first,
            "other": self.other,
            "difference": self.share,
            "low": self.low,
            "high": self.high,
            "shown": self.shown,
        }


def difference(
    place: dict[str, Any], name: str, first: Figure, other: Figure, confidence: float, *, identical: bool
) -> Difference:
    """Two figures of the same name at a place. `identical` says that both come from the same run."""

    def made(
        share: float | None, ends: tuple[float, float] | None, error: float | None, shown: Shown
    ) -> Difference:
        low, high = (None, None) if ends is None else ends
        freedom = joint_freedom([first, other])
        is_open = first.is_open or other.is_open
        return Difference(
            place, name, first.value, other.value, share, low, high, error, freedom, shown, is_open
        )

    if identical and first.value == other.value:
        return made(0.0, (0.0, 0.0), 0.0, "identical")
    if first.value == 0 or other.value == 0:
        share = 0.0 if first.value == other.value else -1.0 if first.value else None
        return made(share, None, None, "unknown")
    log = math.log(other.value / first.value)
    if first.error is None or other.error is None:
        return made(math.expm1(log), None, None, "unknown")
    half = margin(first, other, confidence)
    ends = (math.expm1(max(log - half, -_LOG_MAX)), math.expm1(min(log + half, _LOG_MAX)))
    shown: Shown = "more" if ends[0] > 0 else "less" if ends[1] < 0 else "none"
    return made(math.expm1(log), ends, math.hypot(first.error, other.error), shown)


def varying(differences: Sequence[Difference]) -> list[str]:
    """Axes in which the places differ; the depth is omitted if iodepth is among them."""
    names = dict.fromkeys(name for one in differences for name in one.place)
    found = [name for name in names if len({axis_text(one.place.get(name)) for one in differences}) > 1]
    return [name for name in found if name != "depth" or "iodepth" not in found]


def margin(first: Figure, other: Figure, confidence: float) -> float:
    """Half the width of the interval of the log ratio."""
    one, two = first.error or 0.0, other.error or 0.0
    rounding = -math.log1p(-min(first.resolution, 0.99)) - math.log1p(-min(other.resolution, 0.99))
    variance = one**2 + two**2
    if variance == 0:
        return rounding
    return student(joint_freedom([first, other]), confidence) * math.sqrt(variance) + rounding


def joint_freedom(parts: Iterable[Figure | Difference]) -> float:
    """Degrees of freedom of a sum, after Welch and Satterthwaite; an error with infinite freedom adds nothing."""
    known = [(part.error, part.freedom) for part in parts if part.error]
    below = sum(error**4 / freedom for error, freedom in known)
    return sum(error**2 for error, _ in known) ** 2 / below if below > 0 else math.inf


def each_of(count: int, confidence: float) -> float:
    """The confidence of each of `count` intervals that hold jointly with at least `confidence` (Bonferroni)."""
    return 1 - (1 - confidence) / max(count, 1)


def student(freedom: float, confidence: float) -> float:
    """Half the width of an interval of this confidence, in standard errors."""
    from scipy import special  # noqa: PLC0415 - it loads slowly, and not every comparison has an interval

    share = (1 + confidence) / 2
    return float(special.ndtri(share) if math.isinf(freedom) else special.stdtrit(freedom, share))
