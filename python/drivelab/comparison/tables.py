"""A comparison as tables: a row for each place under the columns of a figure, and the shift of percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from drivelab.comparison.difference import Difference, varying
from drivelab.comparison.verdict import percent, title
from drivelab.records.model import PERCENTILES
from drivelab.report.points_table import axis_text, rate_text
from drivelab.report.table import Cell, Table

if TYPE_CHECKING:
    from drivelab.comparison.beside import Beside, Compared

_MISSING = "-"
_WORDS = {
    "identical": "the same",
    "none": "no difference shown",
    "unknown": "no interval",
}


def tables(compared: Compared) -> list[Table]:
    """A table for each figure and pair of records, then the shift of percentiles of each pair."""
    found = []
    for beside in compared.besides:
        for name in beside.figures():
            differences = [one for one in beside.differences if one.figure == name]
            if differences:
                found.append(_figure_table(compared, beside, name, differences))
    return found + [_shift_table(beside) for beside in compared.besides if _has_more(beside)]


def _has_more(beside: Beside) -> bool:
    """Whether there are percentiles that the tables of figures do not show."""
    return bool({one.figure for one in beside.shifts} - set(beside.figures()))


def _figure_table(compared: Compared, beside: Beside, name: str, differences: Sequence[Difference]) -> Table:
    axes = varying(differences)
    unit, scale = _unit(name, differences)
    choice = compared.choice
    columns = [
        *axes,
        f"{beside.first}{unit}",
        f"{beside.other}{unit}",
        "difference",
        f"{100 * choice.confidence:g} % interval",
        "shown",
    ]
    rows = []
    for one in differences:
        cells = [Cell(axis_text(one.place.get(axis, _MISSING))) for axis in axes]
        cells += [Cell(rate_text(value / scale)) for value in (one.first, one.other)]
        cells.append(Cell(_MISSING if one.share is None else percent(one.share)))
        cells.append(Cell(_interval(one)))
        cells.append(_shown(one))
        if choice.threshold is not None:
            judged = one.judged(choice.threshold, worse_only=choice.worse_only)
            cells.append(Cell(judged, {"within": "green", "beyond": "red", "open": "yellow"}[judged]))
        rows.append(cells)
    if choice.threshold is not None:
        columns.append(f"threshold {100 * choice.threshold:g} %")
    left = frozenset({*range(len(axes)), len(axes) + 4, len(axes) + 5})
    return Table(columns, rows, title=f"{title(name)}, {beside.heading()}", left=left)


def _shown(one: Difference) -> Cell:
    if one.shown in _WORDS:
        return Cell(_WORDS[one.shown])
    better = one.is_better
    word = "more" if one.shown == "more" else "less"
    if better is None:
        return Cell(word)
    return Cell(f"{word}, {'better' if better else 'worse'}", "green" if better else "red")


def _interval(one: Difference) -> str:
    if one.low is None or one.high is None:
        return _MISSING
    return f"{percent(one.low)} to {percent(one.high)}"


def _unit(name: str, differences: Sequence[Difference]) -> tuple[str, float]:
    """The unit of a figure, and the divisor to convert to it."""
    last = name.rpartition(".")[2]
    if last == "bytes_per_s":
        return " MB/s", 1e6
    if last in {"iops", "figure", "in_flight"}:
        return "", 1.0
    if last == "request_bytes":
        return " KiB", 1024.0
    if last == "busy":
        return " %", 0.01
    return (" ms", 1e6) if max(max(one.first, one.other) for one in differences) >= 1e6 else (" us", 1e3)


def _shift_table(beside: Beside) -> Table:
    """The relative shift of each percentile from the first's."""
    axes = varying(beside.shifts)
    names = [name for name in PERCENTILES if any(one.figure == name for one in beside.shifts)]
    by_place: dict[str, tuple[dict[str, Any], dict[str, Difference]]] = {}
    for one in beside.shifts:
        by_place.setdefault(repr(one.place), (one.place, {}))[1][one.figure] = one
    rows = []
    for place, found in by_place.values():
        cells = [Cell(axis_text(place.get(axis, _MISSING))) for axis in axes]
        cells += [_shift(found.get(name)) for name in names]
        rows.append(cells)
    return Table(
        [*axes, *(title(name) for name in names)],
        rows,
        title=f"Shift of percentiles, {beside.heading()}; in brackets: not beyond the interval; "
        "?: no interval",
        left=frozenset(range(len(axes))),
    )


def _shift(one: Difference | None) -> Cell:
    if one is None or one.share is None:
        return Cell(_MISSING)
    text = percent(one.share)
    return Cell({"none": f"({text})", "unknown": f"{text} ?"}.get(one.shown, text))
