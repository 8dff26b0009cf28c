"""What is compared, and how far it may differ: the options of `compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from drivelab.errors import InputError, ref
from drivelab.records.model import DIRECTIONS, FIGURES, LOAD_FIGURES
from drivelab.records.places import axis_name

CONFIDENCE = 0.95
JUDGED = ("iops", "mean", "p99")
"""The figures that are compared by default."""


@dataclass(frozen=True)
class Choice:
    """What is compared, and how far it may differ."""

    figures: tuple[str, ...] = JUDGED
    confidence: float = CONFIDENCE
    is_pointwise: bool = False
    """Whether each interval holds by itself, instead of all jointly."""
    threshold: float | None = None
    """A share; None if nothing is judged."""
    worse_only: bool = False
    strict: bool = False
    ignore: tuple[str, ...] = ()
    """Axes that are ignored in matching points."""
    where: Mapping[str, str] | None = None
    """Values of axes; points with other values are left out."""
    split: str | None = None
    """The axis whose values split one record into several."""


class Options(TypedDict, total=False):
    """The options of a choice, which `chosen` has defaults of."""

    figures: Sequence[str]
    confidence_percent: float
    pointwise: bool
    threshold_percent: float | None
    worse_only: bool
    strict: bool
    ignore: Sequence[str]
    where: Mapping[str, str] | None
    split: str | None


def chosen(  # noqa: PLR0913 - its parameters are options
    *,
    figures: Sequence[str] = JUDGED,
    confidence_percent: float = 100 * CONFIDENCE,
    pointwise: bool = False,
    threshold_percent: float | None = None,
    worse_only: bool = False,
    strict: bool = False,
    ignore: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    split: str | None = None,
) -> Choice:
    """A choice from the options as typed. Raises InputError."""
    for name in figures:
        if _plain(name) not in {*FIGURES, *LOAD_FIGURES}:
            raise InputError(
                f"{ref('figures', name)}: no such figure; there is {', '.join(FIGURES)}, and each of them of "
                "reads, writes or trims alone as read.p99"
            )
    if not figures:
        raise InputError(f"{ref('figures')} is empty: name some of {', '.join(FIGURES)}")
    if not 50 <= confidence_percent < 100:
        raise InputError(
            f"{ref('confidence_percent', f'{confidence_percent:g}')}: give a percentage from 50 to below 100, "
            "such as 95"
        )
    # NaN compares as false with everything.
    if threshold_percent is not None and not threshold_percent >= 0:
        raise InputError(
            f"{ref('threshold_percent', f'{threshold_percent:g}')}: give a percentage that is not below zero, such as 5"
        )
    if threshold_percent is None and (worse_only or strict):
        option = "worse_only" if worse_only else "strict"
        raise InputError(
            f"{ref(option)} changes nothing without a threshold; add one, such as {ref('threshold_percent', '5')}"
        )
    return Choice(
        figures=tuple(dict.fromkeys(figures)),
        confidence=confidence_percent / 100,
        is_pointwise=pointwise,
        threshold=None if threshold_percent is None else threshold_percent / 100,
        worse_only=worse_only,
        strict=strict,
        ignore=tuple(axis_name(name) for name in ignore),
        where={axis_name(name): value for name, value in (where or {}).items()},
        split=None if split is None else axis_name(split),
    )


def _plain(name: str) -> str:
    """The name of a figure without the kind of I/O before it."""
    kind, _, rest = name.partition(".")
    return rest if kind in DIRECTIONS else name
