"""Ticks whose labels all have room: none disappears, and none touches its neighbour.

Vega leaves labels of a logarithmic axis out by a rule of its own, and those that touch by their order, so that 100 may
go and 90 stay. Here ticks are chosen so that each has its label, and round numbers stay longest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

# Width of a character, height of a line, and the least distance of two labels, in points.
_CHAR, _LINE, _GAP = 6.2, 13.0, 6.0
_SIZE_CHARS = 7
_FEW = 3

SIZE_LABEL = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.4~r') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '.4~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '.4~r') + ' KiB' : datum.value + ' B'"
)
"""The label of a size: in the largest power of 1024 that it reaches."""


def log_axis(
    values: Sequence[float], length: float, *, across: bool = False, form: str = ",~r"
) -> tuple[list[float], list[float]]:
    """The domain [low, high] of a logarithmic axis that contains `values` (all above 0), and its ticks.

    The axis is `length` points long, `across` if it is horizontal. Ticks are at 1, 2, 5 times a power of ten if their
    labels have room, else at powers of ten; at every digit if the values are close together.
    """
    low, high = min(values) / 1.25, max(values) * 1.25
    if high / low < 4:
        middle = math.sqrt(low * high)
        low, high = middle / 2, middle * 2
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = range(1, 10) if math.log10(high / low) <= 0.9 else (1, 2, 5)
    every = [float(f"{digit}e{exponent}") for exponent in exponents for digit in digits]
    ticks = fitting([tick for tick in every if low <= tick <= high], [low, high], length, across, form)
    # A label at the very edge would extend beyond its panel, and push the title up.
    if ticks:
        high = max(high, ticks[-1] * (high / low) ** 0.04)
    return [low, high], ticks


def log_labels(ticks: Sequence[float], form: str = ",~r") -> dict[str, Any]:
    """The parameters of an `alt.Axis` with these ticks, each with its label."""
    return {"values": list(ticks), "labelExpr": labelled(form), "labelOverlap": False}


def labelled(form: str) -> str:
    """The expression of a label in this format: Vega applies its rule for logarithmic axes to a plain format."""
    return f"format(datum.value, '{form}')"


def fitting(
    ticks: Sequence[float],
    domain: Sequence[float],
    length: float,
    across: bool,
    form: str = ",~r",
    *,
    is_log: bool = True,
) -> list[float]:
    """The most ticks whose labels have room on an axis of this domain and length, in points."""
    place: Callable[[float], float] = math.log if is_log else float
    span = place(domain[1]) - place(domain[0])
    if span <= 0:
        return list(ticks)

    def has_room(chosen: Sequence[float]) -> bool:
        for left, right in pairwise(chosen):
            gap = (place(right) - place(left)) / span * length
            need = (_width(left, form) + _width(right, form)) / 2 + _GAP if across else _LINE
            if gap < need:
                return False
        return True

    return next((list(chosen) for chosen in _thinner(list(ticks)) if has_room(chosen)), list(ticks[:1]))


def _width(value: float, form: str) -> float:
    """The width of a label, in points."""
    if form == SIZE_LABEL:
        return _CHAR * _SIZE_CHARS
    text = f"{value:.0e}" if form.endswith("e") else f"{value:,.10f}".rstrip("0").rstrip(".")
    return _CHAR * len(text)


def _thinner(ticks: list[float]) -> Iterator[list[float]]:
    """Fewer and fewer of the ticks: the round ones of a decade stay longest, of equal steps every second, third, .."""
    yield ticks
    if not _has_equal_steps(ticks):
        for digits in ((1, 2, 5), (1, 3), (1, 5), (1,)):
            chosen = [tick for tick in ticks if _digit(tick) in digits]
            if len(chosen) > 1 or (chosen and digits == (1,)):
                yield chosen
                if digits == (1,):
                    ticks = chosen
    for step in range(2, len(ticks)):
        yield ticks[::step]
    if ticks:
        yield ticks[:1]


def _digit(value: float) -> float:
    """The leading digits of a number: 2 of 0.02, 1.5 of 1500; 0 of 0."""
    if value <= 0:
        return 0.0
    return round(float(value / 10.0 ** math.floor(math.log10(value) + 1e-9)), 6)


def _has_equal_steps(ticks: Sequence[float]) -> bool:
    """Whether ticks are equally far from each other, on a logarithmic axis or on a linear one."""
    if len(ticks) < _FEW or min(ticks) <= 0:
        return len(ticks) < _FEW
    ratios = [right / left for left, right in pairwise(ticks)]
    steps = [right - left for left, right in pairwise(ticks)]
    return max(ratios) < 1.01 * min(ratios) or max(steps) < 1.01 * min(steps)
