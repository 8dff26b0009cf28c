"""A published table of mixed figures (rates, times, I/O per second): a line for each, and its signed error.

An error is the part of a difference that the rounding in print cannot explain. Cells on which a drive's free
parameters were fitted have another shape, because agreement there proves nothing. Cells that were not published are
not drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.published import BANDS, FILLS, ROLES
from drivelab.charts.rows import Row
from drivelab.charts.theme import INK, LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer
from drivelab.report.plural import counted

WIDTH = 520
ROW_HEIGHT = 22
_ERROR_LEAST, _ERROR_LIMIT = 20.0, 60.0
# Room for a whole mark at the limit.
_MARGIN = 1.08


def cells(result: Mapping[str, Any]) -> Panel:
    """The signed error of every published cell, with both figures beside it.

    `result` is a dict as in `reproduce --json`. Raises ChartError where no cell was published.
    """
    rows = [_row(cell) for cell in result.get("cells") or () if cell.get("published") is not None]
    if not rows:
        raise ChartInputError("the experiment has no published cell to draw")
    limit = min(_ERROR_LIMIT, max(_ERROR_LEAST, *(abs(row["error"]) for row in rows)))
    for row in rows:
        row["drawn"] = max(-limit, min(limit, row["error"]))
    text = f"{result.get('experiment', 'experiment')}: published against predicted"
    chart = _layers(rows, limit * _MARGIN).properties(
        width=WIDTH, height=ROW_HEIGHT * len(rows), title=heading(text, _notes(rows, limit))
    )
    return dress(chart)


def _row(cell: Mapping[str, Any]) -> Row:
    published, predicted, unit = cell["published"], cell["predicted"], cell["unit"]
    return {
        "id": " · ".join(cell["id"].split("/")),
        "role": cell["role"],
        "error": 100 * cell["error"],
        "figures": f"{published:g} published, {predicted:.4g} predicted {unit}".rstrip(),
    }


def _notes(rows: list[Row], limit: float) -> list[str]:
    """How to read the picture, and how many cells of each role lie within the bands."""
    notes = [f"Errors beyond the rounding of the print, over bands of ±{BANDS[0]:g} % and ±{BANDS[1]:g} %."]
    for role in dict.fromkeys(row["role"] for row in rows):
        errors = [abs(row["error"]) for row in rows if row["role"] == role]
        within = ", ".join(f"{sum(error <= band for error in errors)} within {band:g} %" for band in BANDS)
        notes.append(f"{role}: {counted(len(errors), 'cell')}, {within}")
    beyond = sum(abs(row["error"]) > limit for row in rows)
    if beyond:
        notes.append(f"{counted(beyond, 'error')} beyond ±{limit:g} % drawn at the edge")
    return notes


def _layers(rows: list[Row], limit: float) -> Panel:
    """Bands, a stalk and a mark for each cell, and its figures at the right."""
    order = [row["id"] for row in rows]
    y = alt.Y("id:N", title=None, sort=order, axis=alt.Axis(labelLimit=320, grid=False))
    scale = alt.Scale(domain=[-limit, limit], nice=False)
    x = alt.X("drawn:Q", title="Predicted above published, %", scale=scale, axis=alt.Axis(tickCount=9))
    spans = [{"from": -band, "to": band, "fill": fill} for band, fill in zip(BANDS, FILLS, strict=True)]
    bands = (
        Chart(inline(spans[::-1]))
        .mark_rect()
        .encode(x=alt.X("from:Q", scale=scale), x2="to:Q", fill=alt.Fill("fill:N", scale=None))
    )
    zero = Chart(inline([{"zero": 0}])).mark_rule(color=INK, strokeWidth=0.8).encode(x="zero:Q")
    base = Chart(inline([{**row, "zero": 0, "edge": limit} for row in rows]))
    stalks = base.mark_rule(color=LINE_COLOURS[0], strokeWidth=1.6).encode(x="zero:Q", x2="drawn:Q", y=y)
    shape = alt.Shape(
        "role:N",
        title="Cell",
        scale=alt.Scale(domain=list(ROLES), range=list(ROLES.values())),
        # The figures stand where a legend would.
        legend=alt.Legend(orient="bottom", direction="horizontal"),
    )
    tooltip = [
        alt.Tooltip("id:N", title="cell"),
        alt.Tooltip("figures:N"),
        alt.Tooltip("error:Q", title="error, %", format="+.1f"),
    ]
    marks = base.mark_point(filled=True, size=60, opacity=1, color=LINE_COLOURS[0]).encode(
        x=x, y=y, shape=shape, tooltip=tooltip
    )
    figures = base.mark_text(align="left", dx=8, fontSize=11, color=SOFT).encode(
        x=alt.X("edge:Q", scale=scale), y=y, text="figures:N"
    )
    return layer(bands, zero, stalks, marks, figures)
