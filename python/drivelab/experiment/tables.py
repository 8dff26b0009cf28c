"""An experiment's outcome for people: cells, a summary of errors, a verdict on each claim."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable

from drivelab.experiment.model import CALIBRATION, VALIDATION, TableLayout
from drivelab.experiment.outcome import FAR, NEAR, Outcome, Prediction, Summary
from drivelab.report.points_table import rate_text
from drivelab.report.table import Cell, Table

LEGEND = "Each cell: published, predicted, error beyond the rounding of the print; * = calibrated on it."
LEGEND_TABLES = (
    "Below the cells: how many are predicted within 5 % and 15 % of the published figure, with the median and the\n"
    "largest error (calibration: cells that a drive was fitted to; validation: all others); then whether each "
    "published\nfinding holds for the predicted cells too. `drivelab help` explains each column."
)
LEGEND_UNPUBLISHED = "A cell with one figure was not published: it is predicted for the claims."

# Maximum line length of a claim's sentence, so that a table stays readable in a narrow window.
CLAIM_CHARACTERS = 90
WHAT_CHARACTERS = 40


def cell_tables(outcome: Outcome) -> list[Table]:
    """The tables defined by the experiment's file, each once per value of the field that splits it."""
    tables = []
    values = dict.fromkeys(
        (layout.split, prediction.cell.fields[layout.split])
        for layout in outcome.experiment.tables
        for prediction in outcome.predictions
    )
    for split, value in values:
        for layout in outcome.experiment.tables:
            if layout.split == split:
                wanted = {**layout.only, split: value}
                members = [p for p in outcome.predictions if wanted.items() <= p.cell.fields.items()]
                tables.append(_cell_table(layout, value, members))
    return [table for table in tables if table.rows]


def legend(outcome: Outcome) -> str:
    """How to read the cells."""
    unpublished = any(prediction.cell.published is None for prediction in outcome.predictions)
    return "\n".join([LEGEND, *([LEGEND_UNPUBLISHED] if unpublished else []), LEGEND_TABLES])


def not_modelled_table(outcome: Outcome) -> Table:
    """What was published and is left out, with the reasons."""
    rows = []
    for what, why in outcome.experiment.not_modelled.items():
        pair = (textwrap.wrap(what, WHAT_CHARACTERS), textwrap.wrap(why, CLAIM_CHARACTERS - WHAT_CHARACTERS))
        rows += [[Cell(left), Cell(right)] for left, right in itertools.zip_longest(*pair, fillvalue="")]
    return Table(["not modelled", "because"], rows, left=frozenset({0, 1}))


def summary_table(outcome: Outcome) -> Table:
    """How many cells were predicted closely, for each meaningful group."""
    main = " and ".join(f"{name} from {least:g}" for name, least in outcome.experiment.main.items())
    groups = [(CALIBRATION, outcome.group(CALIBRATION)), (VALIDATION, outcome.group(VALIDATION))]
    if main:
        groups.append((f"{VALIDATION}, {main}", outcome.group(VALIDATION, main_only=True)))
    rows = []
    for name, predictions in groups:
        if summary := Summary.of(predictions):
            figures = (summary.within_near, summary.within_far, summary.median, summary.worst)
            rows.append(
                [Cell(name), Cell(str(summary.count)), *(Cell(f"{figure:.1%}") for figure in figures)]
            )
    columns = ["cells", "count", f"within {NEAR:.0%}", f"within {FAR:.0%}", "error median", "error max"]
    return Table(columns, rows, left=frozenset({0}))


def claims_table(outcome: Outcome) -> Table:
    """Each published finding in its own words, whether the predicted cells show it too, and their numbers."""
    rows = []
    for verdict in outcome.verdicts:
        holds = Cell("yes", "green") if verdict.holds else Cell("NO", "red")
        lines = textwrap.wrap(verdict.text, CLAIM_CHARACTERS)
        lines += textwrap.wrap(verdict.numbers, CLAIM_CHARACTERS, initial_indent="  ", subsequent_indent="  ")
        rows += [[Cell("") if place else holds, Cell(line)] for place, line in enumerate(lines)]
    return Table(["holds", "claim, and below it what is predicted"], rows, left=frozenset({0, 1}))


def error_text(error: float) -> str:
    """A signed share in whole percent; one that rounds to zero has no sign."""
    text = f"{error:+.0%}"
    return "0%" if text in {"-0%", "+0%"} else text


def change_text(change: float) -> str:
    """A signed share in tenths of a percent; one that rounds to zero has no sign."""
    text = f"{change:+.1%}"
    return "0.0%" if text in {"-0.0%", "+0.0%"} else text


def _cell_table(layout: TableLayout, value: str, members: list[Prediction]) -> Table:
    rows: dict[tuple[str, ...], dict[str, Prediction]] = {}
    for prediction in members:
        fields = prediction.cell.fields
        if fields[layout.columns] in layout.shown:
            place = tuple(fields[name] for name in layout.rows)
            rows.setdefault(place, {})[fields[layout.columns]] = prediction
    widths = {name: _widths(row[name] for row in rows.values() if name in row) for name in layout.shown}
    return Table(
        columns=[*layout.rows, *layout.shown],
        rows=[
            [*map(Cell, place), *(_cell(row.get(name), widths[name]) for name in layout.shown)]
            for place, row in rows.items()
        ],
        title=f"{value}: {layout.title}",
    )


def _cell(prediction: Prediction | None, widths: tuple[int, int]) -> Cell:
    if prediction is None:
        return Cell("")
    published, predicted = _texts(prediction)
    if prediction.error is None:
        # Predictions without a published figure are in the same column as those with one.
        before = f"{'':>{widths[0]}} " if widths[0] else ""
        return Cell(f"{before}{predicted:>{widths[1]}}{' ' * 7 if widths[0] else ''}")
    error = abs(prediction.error)
    mark = "*" if prediction.cell.role == CALIBRATION else " "
    text = f"{published:>{widths[0]}} {predicted:>{widths[1]}} {error_text(prediction.error):>5}{mark}"
    return Cell(text, "green" if error <= NEAR else "yellow" if error <= FAR else "red")


def _widths(predictions: Iterable[Prediction]) -> tuple[int, int]:
    """The widest published and predicted figure of a column, so that figures are aligned."""
    texts = [_texts(prediction) for prediction in predictions]
    return max((len(text) for text, _ in texts), default=0), max((len(text) for _, text in texts), default=0)


def _texts(prediction: Prediction) -> tuple[str, str]:
    """Published as printed, predicted with one digit more; four figures if nothing was printed."""
    cell = prediction.cell
    if cell.published is None:
        return "", rate_text(prediction.predicted)
    digits = max(0, round(-math.log10(2 * cell.resolution)))
    return f"{cell.published:.{digits}f}", f"{prediction.predicted:.{digits + 1}f}"
