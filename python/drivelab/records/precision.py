"""How certain a figure is, from the course of a run in its record: batch means, its series, its histograms.

A standard error is a share of its figure. An error is None if a record holds too little to estimate it.

Adjacent stretches of a run are correlated, the more the shorter they are: the variance of a mean is estimated from 24
stretches and from 12, and the increase from the first to the second is added once more. The errors of percentiles are
estimated from ranks, for as many independent I/Os as the error of the mean implies; in a closed loop the depth
constrains the mean, so that this number also has an upper bound (`independent`).
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
# Number of stretches into which a series is merged; also half of them.
_STRETCHES = 24
# With fewer samples their deviation is too uncertain.
SAMPLES_MIN = 5
# Percentiles of the record have three significant digits.
_DIGITS_SHARE = 1e-3
_NORMAL = 1.959964
# I/Os that wait in one queue count as one independent I/O in two.
_DEEP = 2.0

Quantile = Callable[[float], float | None]
"""The response time in ns that a share of all does not exceed; None outside the known range."""


def of_batches(
    value: float,
    half_width: float | None,
    pieces: Sequence[Mapping[str, Any]] = (),
    window_ns: float | None = None,
) -> Figure:
    """IOPS with the record's interval, or the one estimated from its series, whichever is wider."""
    if half_width is None:
        return Figure(value)
    error, freedom = half_width / BATCH_STUDENT, BATCH_FREEDOM
    if window_ns and len(pieces) >= _STRETCHES:
        begins = [piece.get("start_ns") or 0 for piece in pieces]
        lengths = [end - begin for begin, end in pairwise([*begins, begins[0] + window_ns])]
        spread = _spread(
            [(length, piece.get("ios") or 0) for length, piece in zip(lengths, pieces, strict=True)]
        )
        if spread is not None and spread[0] > error:
            error, freedom = spread
    return Figure(value, error, freedom, basis="batches")


def of_series(value: float, pieces: Sequence[Mapping[str, Any]]) -> Figure:
    """A mean response time: the ratio of two sums over stretches of the run."""
    ios = [piece.get("ios") or 0 for piece in pieces]
    spread = _spread(
        [(n, n * (piece.get("mean_latency_ns") or 0.0)) for n, piece in zip(ios, pieces, strict=True)]
    )
    return Figure(value) if spread is None else Figure(value, *spread, basis="series")


def _spread(pieces: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The standard error of the ratio of the second sums to the first, as a share, with its degrees of freedom."""
    if len(pieces) < _STRETCHES:
        return None
    fine, coarse = _variance(pieces, _STRETCHES), _variance(pieces, _STRETCHES // 2)
    if fine is None or coarse is None:
        return None
    # Correlation of the stretches biases the variance low, twice as much at half the length: extrapolated.
    if coarse > fine:
        return math.sqrt(2 * coarse - fine), _STRETCHES // 2 - 1
    return math.sqrt(fine), _STRETCHES - 1


def _variance(pieces: Sequence[tuple[float, float]], count: int) -> float | None:
    """The relative variance of the ratio of two sums, from `count` stretches assumed independent."""
    sums = [(0.0, 0.0)] * count
    for place, (below, above) in enumerate(pieces):
        stretch = place * count // len(pieces)
        sums[stretch] = (sums[stretch][0] + below, sums[stretch][1] + above)
    below_all, above_all = math.fsum(below for below, _ in sums), math.fsum(above for _, above in sums)
    if below_all <= 0 or above_all <= 0:
        return None
    ratio = above_all / below_all
    squares = math.fsum((above - ratio * below) ** 2 for below, above in sums)
    return squares * count / (count - 1) / above_all**2


def of_samples(value: float, mean: float, deviation: float, count: int) -> Figure:
    """A rate with its error from fio's samples."""
    if count < SAMPLES_MIN or mean <= 0:
        return Figure(value)
    return Figure(value, deviation / mean / math.sqrt(count), count - 1, basis="samples")


def of_repeats(values: Sequence[float]) -> Figure:
    """The mean of repeated runs."""
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
    """Quantiles between printed ones, by linear interpolation over the share."""
    known = sorted(printed.items())

    def quantile(share: float) -> float | None:
        for (left, low), (right, high) in pairwise(known):
            if left <= share <= right:
                return low + (high - low) * (share - left) / (right - left)
        return None

    return quantile


def independent(
    count: float, deviation_share: float, error: float | None, depth: float | None, *, is_mixed: bool
) -> float | None:
    """The number of independent response times that would give the same error of the mean as `count` dependent ones.

    At most one in 2 N - 1 if `is_mixed` says that N outstanding I/Os are drawn from several kinds: one of them is
    replaced at a time, so the outstanding set follows an AR(1) process with the coefficient 1 - 1/N, and that is its
    inflation of a variance. For a single kind at most one in two, which the simulated drives confirm.
    """
    if error is None:
        return None
    together = max(depth or 1.0, 1.0)
    most = count / ((2 * together - 1) if is_mixed else min(together, _DEEP))
    return most if error <= 0 else min(most, (deviation_share / error) ** 2)


def of_percentile(
    value: float, name: str, quantile: Quantile, effective: float | None, freedom: float, basis: str
) -> Figure:
    """A percentile; its error from the percentiles that are a statistical margin of ranks away (`effective` I/Os)."""
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
