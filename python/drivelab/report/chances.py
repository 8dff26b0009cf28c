"""The chance of data loss as every verb has it: in percent, in text and in the keys of JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Estimate = dict[str, Any]

CHANCES = (
    "loss_in_a_year",
    "loss_in_life",
    "loss_in_a_year_over_rebuilds",
    "loss_in_a_year_over_failures",
)
_NEARLY, _SURELY = 99.95, 99.9999


def in_percent(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """An outcome of the Rust code, whose chances are from 0 to 1, with those in percent, which their names then say."""
    return {
        f"{key}_percent" if key in CHANCES else key: _hundredfold(value) if key in CHANCES else value
        for key, value in outcome.items()
    }


def _hundredfold(estimate: Mapping[str, float | None] | None) -> dict[str, float | None] | None:
    if estimate is None:
        return None
    return {key: None if value is None else 100 * value for key, value in estimate.items()}


def percent_text(estimate: Mapping[str, Any]) -> str:
    """A chance for people: `1.44 %`."""
    return f"{percent_figure(estimate)} %"


def percent_figure(estimate: Mapping[str, Any]) -> str:
    """A chance in percent with three digits, or its upper bound if no loss was observed; one that is nearly 100 is not
    rounded to 100.
    """
    value = estimate["value"]
    return f"<{figure(estimate['high'])}" if value is None else figure(value)


def figure(percent: float) -> str:
    """Three digits; a chance that is nearly 100 % has as many as tell it from 100."""
    if percent < _NEARLY:
        return f"{percent:.3g}"
    return f"{math.floor(percent * 1e4) / 1e4:.6g}" if percent < _SURELY else f">{_SURELY:.6g}"


def span_text(low: float, high: float, digits: int = 3) -> str:
    """An interval in percent, `1.42 to 1.46 %`."""
    return f"{low:.{digits}g} to {high:.{digits}g} %"


def years_text(estimate: Mapping[str, Any]) -> str:
    """A mean time in years, or its lower bound."""
    value = estimate["value"]
    if value is None:
        return f">{estimate['low']:.3g}"
    return f"{value:,.0f}" if 100 <= value < 1e6 else f"{value:.3g}"
