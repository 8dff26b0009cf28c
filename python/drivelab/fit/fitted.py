"""Fitted values: the value of a parameter with its 90 % interval and its mark, and the note of one at its bound.

A value outside its own interval is an error of the fit: it is raised, and no drive file is written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from drivelab.errors import RunError

FITTED, UNDECIDED, AT_BOUND = "fitted", "undecided", "at-bound"
ONE_OF_MANY = "one of the values that explain the measurement"
"""The note of an undecided parameter that is not the start's value."""
_ROUNDING = 1e-9
_NEAR_RANGE, _NEAR_SPREAD, _NEAR_LOG = 0.002, 0.01, 0.05
HALF_TURN = "half a revolution"
_ENDS = {
    "queue.read_margin": HALF_TURN,
    "queue.write_margin": HALF_TURN,
    "queue.seek_margin": "the whole seek",
}


@dataclass(frozen=True)
class Parameter:
    """A fitted number; times in milliseconds, spindle speeds in rpm, rates in MB/s, others without unit."""

    key: str
    start: float
    spread: float
    """The standard deviation of the prior around the start value."""
    low: float
    high: float
    unit: str = "ms"
    is_log: bool = False
    """Whether it is searched by its logarithm."""


@dataclass(frozen=True)
class Fitted:
    """The result for a parameter. Raises RunError if the value lies outside its interval."""

    key: str
    value: float
    low: float
    high: float
    mark: str
    """`fitted`; `undecided` (the data do not determine it: the start's value remains, or has the note); `at-bound` (the
    edge of what was searched, which the note names)."""
    unit: str = "ms"
    note: str = ""

    def __post_init__(self) -> None:
        """Check the interval; also NaN is outside."""
        slack = _ROUNDING * max(abs(self.value), 1.0) if math.isfinite(self.value) else 0.0
        if not self.low - slack <= self.value <= self.high + slack:
            unit = f" {self.unit}" if self.unit else ""
            raise RunError(
                f"{self.key}: the fitted value {self.value:.6g}{unit} lies outside its own 90 % interval, "
                f"{self.low:.6g} to {self.high:.6g}{unit}: this is an error of the fit, and nothing is written"
            )

    def to_dict(self) -> dict[str, Any]:
        """The entry in `drivelab fit --json`."""
        found = {
            "key": self.key,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "mark": self.mark,
            "unit": self.unit,
        }
        return found | ({"note": self.note} if self.note else {})


def judged(one: Parameter, value: float, low: float, high: float, *, sure: bool) -> Fitted:
    """A value that was searched: at its bound, fitted, or undecided where the interval is too wide to be `sure`."""
    bound = _bound_note(one, value)
    if bound:
        note = bound if sure else f"{bound}; the data do not decide it"
        return Fitted(one.key, value, min(low, value), max(high, value), AT_BOUND, one.unit, note)
    mark, note = (FITTED, "") if sure else (UNDECIDED, ONE_OF_MANY)
    return Fitted(one.key, value, low, high, mark, one.unit, note)


def _bound_note(one: Parameter, value: float) -> str:
    """Which bound of the search the value is at, and what to do; empty if it is at none."""
    unit = f" {one.unit}" if one.unit else ""
    if _is_near(one, value, one.low):
        at = f"at its lower bound, {one.low:.4g}{unit}"
        if one.low == 0:
            return f"{at}: less is not possible; hold it by --known {one.key}=... if it is known to be longer"
        return f"{at}: {_beyond(one.key)}"
    if _is_near(one, value, one.high):
        at = f"at its upper bound, {one.high:.4g}{unit}"
        if one.key in _ENDS:
            return (
                f"{at}, {_ENDS[one.key]}: no guard explains the sweep; try another order, --known queue.order=..., "
                f"or measure the sweep again"
            )
        return f"{at}: {_beyond(one.key)}"
    return ""


def _is_near(one: Parameter, value: float, bound: float) -> bool:
    if one.is_log:
        return abs(math.log(max(value, 1e-12) / bound)) < _NEAR_LOG
    return abs(value - bound) < max(_NEAR_RANGE * (one.high - one.low), _NEAR_SPREAD * one.spread)


def _beyond(key: str) -> str:
    return f"the best value may lie beyond it; fit again from a start whose {key} is nearer, or hold it by --known"
