"""Histograms of the record: HdrHistogram in its format V2, deflated, as base64; what their quantiles are worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from drivelab import _core

Z_95 = 1.96
_BATCHES = 20


def decode(text: str) -> list[tuple[int, int]]:
    """Values in ns and how often each came, of a histogram of the record. Raises ValueError."""
    try:
        return _core.histogram(text) if text else []
    except ValueError as error:
        raise ValueError(f"a histogram of the record cannot be read: {error}") from error


def latency_interval(point: Mapping[str, Any], share: float | None) -> tuple[float, float] | None:
    """The 95 % confidence interval in ns of a quantile of all response times, or of their mean where `share` is None.

    Response times that follow each other are alike: their number counts for as much less as the means of
    batches spread more than those of independent ones would (P. Welch, 1983). None below 100 I/Os.
    """
    times = sorted(pair for name in ("read", "write") for pair in decode(point[name]["histogram"]))
    count = sum(often for _, often in times)
    if count < 100:
        return None
    mean = point["latency_ns"]["mean"]
    variance = sum(often * (ns - mean) ** 2 for ns, often in times) / count
    effective = count / _inflation(point["series"], mean, variance)
    if share is None:
        half = Z_95 * math.sqrt(variance / effective)
        return max(mean - half, 0.0), mean + half
    half = Z_95 * math.sqrt(share * (1 - share) / effective)
    ranks = list(accumulate(often for _, often in times))
    low, high = (_at_rank(times, ranks, end * count) for end in (share - half, min(share + half, 1.0)))
    return low, high


def _at_rank(times: Sequence[tuple[int, int]], ranks: Sequence[int], rank: float) -> float:
    return float(next((ns for (ns, _), upto in zip(times, ranks, strict=True) if upto >= rank), times[-1][0]))


def _inflation(series: Sequence[Mapping[str, Any]], mean: float, variance: float) -> float:
    """By how much the means of batches spread more than those of independent response times; 1 at least."""
    pieces = [(piece["ios"], piece["mean_latency_ns"]) for piece in series if piece["ios"]]
    size = max(len(pieces) // _BATCHES, 1)
    batches = [pieces[at : at + size] for at in range(0, len(pieces), size)]
    if len(batches) < 4 or not variance:
        return 1.0
    sums = [(sum(ios for ios, _ in batch), sum(ios * ns for ios, ns in batch)) for batch in batches]
    # Each batch's mean, weighed with its I/Os, has the variance of one response time where these are independent.
    spread = sum(ios * (total / ios - mean) ** 2 for ios, total in sums) / (len(sums) - 1)
    return float(max(spread / variance, 1.0))
