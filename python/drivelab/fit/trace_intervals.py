"""Intervals of the parameters from a trace: the loss along each parameter, over resampled blocks of requests.

Adjacent requests are correlated, so whole blocks of the fitted part are drawn with replacement (the block bootstrap).
In each sample a parabola through the loss at three values of a parameter gives its minimum, the value of the parameter
in that sample. The other parameters are fixed: an interval does not show the trade-off of two parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from drivelab.fit.draft import Draft
from drivelab.fit.fitted import UNDECIDED, Fitted, Parameter, judged
from drivelab.fit.inputs import Whole
from drivelab.fit.mechanics import decided
from drivelab.fit.parameters import laid_over, trace_parameters
from drivelab.fit.replaying import TRACE_BLOCK, Replays

_DRAWS = 40
_STEP = 0.25


def trace_intervals(
    replays: Replays, base: Draft, point: Mapping[str, float], known: Sequence[str]
) -> list[Fitted]:
    """Each parameter with its 90 % interval; undecided if it was left at the start's value, or the interval is wide."""
    requests = replays.requests
    blocks = np.arange(len(requests)) // TRACE_BLOCK
    fitted = np.unique(blocks[~replays.held])
    draw = np.random.default_rng(20_260)
    draws = [_weights(blocks, draw.choice(fitted, len(fitted)), len(requests)) for _ in range(_DRAWS)]
    return [
        _one(replays, base, point, one, draws)
        for one in trace_parameters(base, known)
        if one.key in point and not one.key.startswith("seek.bend.")
    ]


def _weights(blocks: Whole, chosen: Whole, size: int) -> Whole:
    """The requests of the drawn blocks, repeated as often as these were drawn."""
    order = np.argsort(blocks, kind="stable")
    edges = np.searchsorted(blocks[order], np.arange(blocks[-1] + 2))
    return np.concatenate([order[edges[block] : edges[block + 1]] for block in chosen])[:size]


def _one(
    replays: Replays, base: Draft, point: Mapping[str, float], one: Parameter, draws: Sequence[Whole]
) -> Fitted:
    value = point[one.key]
    if value == one.start:
        low, high = (
            max(one.start - 1.645 * one.spread, one.low),
            min(one.start + 1.645 * one.spread, one.high),
        )
        return Fitted(one.key, value, low, high, UNDECIDED, one.unit)
    step = _STEP * one.spread
    at = [max(value - step, one.low), value, value + step]
    if at[0] == value:
        at[0] = value + 2 * step
    times = [replays.simulated(laid_over(base, {**point, one.key: x})) for x in at]
    measured = replays.requests.time
    least = []
    for chosen in draws:
        real = np.sort(measured[chosen])
        losses = [float(np.mean((np.sort(times_at[chosen]) - real) ** 2)) for times_at in times]
        least.append(_minimum(at, losses, (value - 2 * one.spread, value + 2 * one.spread)))
    low, high = (float(x) for x in np.quantile(least, [0.05, 0.95]))
    # The parabola is that of three values alone: the value that the search found counts too.
    low, high = max(min(low, value), one.low), min(max(high, value), one.high)
    return judged(one, value, low, high, sure=decided(one, low, high))


def _minimum(at: Sequence[float], losses: Sequence[float], within: tuple[float, float]) -> float:
    """The minimum of the parabola through three points; the better end if there is no minimum between."""
    a, b, _ = np.polyfit(at, losses, 2)
    if a <= 0:
        return within[0] if b > 0 else within[1]
    return float(np.clip(-b / (2 * a), *within))
