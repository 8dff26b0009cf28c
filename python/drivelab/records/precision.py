"""How sure a figure is, from what a record tells of its course: batch means, its series, its histograms.

A standard error is a share of its figure. An error is None where a record holds too little to say.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from drivelab.records.model import PERCENTILES, Figure

# The record's interval is 2.04 standard errors on either side: Student's t for 31 degrees of freedom.
BATCH_STUDENT, BATCH_FREEDOM = 2.04, 31.0
# A series is joined to about so many stretches: in longer ones neighbours depend less on each other.
_STRETCHES = 24
_STRETCHES_MIN = 12
# With fewer samples their deviation is hardly known.
SAMPLES_MIN = 5
# Percentiles of the record have three significant digits.
_DIGITS_SHARE = 1e-3
_NORMAL = 1.959964

Quantile = Callable[[float], float | None]
"""The response time in ns that a share of all does not exceed; None beyond what is known."""


def of_batches(value: float, half_width: float | None) -> Figure:
    """IOPS with the interval that the record carries."""
    if half_width is None:
        return Figure(value)
    return Figure(value, half_width / BATCH_STUDENT, BATCH_FREEDOM, basis="batches")


def of_series(value: float, pieces: Sequence[Mapping[str, Any]]) -> Figure:
    """A mean response time: the ratio of two sums over stretches of the run."""
    count = min(_STRETCHES, len(pieces))
    if count < _STRETCHES_MIN:
        return Figure(value)
    sums = [(0.0, 0.0)] * count
    for place, piece in enumerate(pieces):
        ios, stretch = piece.get("ios") or 0, place * count // len(pieces)
        total = ios * (piece.get("mean_latency_ns") or 0.0)
        sums[stretch] = (sums[stretch][0] + ios, sums[stretch][1] + total)
    sums = [(ios, total) for ios, total in sums if ios]
    ios_all, total_all = sum(ios for ios, _ in sums), sum(total for _, total in sums)
    if len(sums) < _STRETCHES_MIN or total_all <= 0:
        return Figure(value)
    mean, k = total_all / ios_all, len(sums)
    squares = sum((total - mean * ios) ** 2 for ios, total in sums)
    error = math.sqrt(squares * k / (k - 1)) / total_all
    return Figure(value, error, k - 1, basis="series")


def of_samples(value: float, mean: float, deviation: float, count: int) -> Figure:
    """A rate of which fio has taken samples."""
    if count < SAMPLES_MIN or mean <= 0:
        return Figure(value)
    return Figure(value, deviation / mean / math.sqrt(count), count - 1, basis="samples")


def of_repeats(values: Sequence[float]) -> Figure:
    """The mean of runs that were repeated."""
    k = len(values)
    mean = math.fsum(values) / k
    if k < 2 or mean == 0:
        return Figure(mean)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (k - 1))
    return Figure(mean, deviation / abs(mean) / math.sqrt(k), k - 1, basis="repeats")


def quantile_of_counts(counts: Sequence[tuple[float, float]]) -> Quantile:
    """The quantiles of counted response times."""
    ordered = sorted(counts)
    sums = list(accumulate(count for _, count in ordered))

    def quantile(share: float) -> float | None:
        if not sums or not 0 < share < 1:
            return None
        return ordered[min(bisect_left(sums, share * sums[-1]), len(ordered) - 1)][0]

    return quantile


def quantile_of_print(printed: Mapping[float, float]) -> Quantile:
    """Quantiles between those that were printed, along straight lines over the share."""
    known = sorted(printed.items())

    def quantile(share: float) -> float | None:
        for (left, low), (right, high) in pairwise(known):
            if left <= share <= right:
                return low + (high - low) * (share - left) / (right - left)
        return None

    return quantile


def independent(count: float, deviation_share: float, error: float | None) -> float | None:
    """How many independent response times would leave as large an error of the mean as `count` dependent ones do."""
    if error is None:
        return None
    if error <= 0:
        return count
    return min(count, (deviation_share / error) ** 2)


def of_percentile(
    value: float, name: str, quantile: Quantile, effective: float | None, freedom: float, basis: str
) -> Figure:
    """A percentile: what lies as many ranks beside it as chance moves the share of `effective` I/Os."""
    share = PERCENTILES[name]
    if effective is None or value <= 0 or effective * (1 - share) < 2:
        return Figure(value, resolution=_DIGITS_SHARE)
    margin = _NORMAL * math.sqrt(share * (1 - share) / effective)
    low, high = quantile(share - margin), quantile(share + margin)
    if low is None or high is None or low <= 0:
        return Figure(value, resolution=_DIGITS_SHARE)
    error = math.log(high / low) / (2 * _NORMAL)
    return Figure(value, error, freedom, _DIGITS_SHARE, basis)


def deviation_share(counts: Sequence[tuple[float, float]]) -> float | None:
    """The standard deviation of counted times as a share of their mean."""
    n = math.fsum(count for _, count in counts)
    total = math.fsum(value * count for value, count in counts)
    if n < 2 or total <= 0:
        return None
    mean = total / n
    return math.sqrt(math.fsum(count * (value - mean) ** 2 for value, count in counts) / n) / mean
