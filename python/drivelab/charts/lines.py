"""Predicted cells as lines over one of their fields, a panel for each value of another field: rates over load.

The few published cells are rings with the rounding of the print, each at its own line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import Row, hidden
from drivelab.charts.theme import Chart, Panel, colours, dress, heading, inline, layer
from drivelab.charts.ticks import fitting, log_labels

WIDTH, HEIGHT = 400, 320


def lines(result: Mapping[str, Any], picture: Mapping[str, Any]) -> alt.HConcatChart:
    """Figures over the field `x`, a line for each value of the field `lines`, a panel for each of `panels`.

    `result` is a dict as in `reproduce --json`; `picture` names the fields, in `shown` the panels, and in `only` the
    required values of other fields. Raises ChartError if no cell is left, or one has no number on x.
    """
    only = picture.get("only", {})
    chosen = [
        cell
        for cell in result.get("cells") or ()
        if only.items() <= cell["fields"].items()
        and cell["fields"].get(picture["panels"])
        in picture.get("shown", [cell["fields"].get(picture["panels"])])
    ]
    try:
        rows = [_row(cell, picture) for cell in chosen]
    except (KeyError, ValueError) as error:
        raise ChartInputError(f"a cell has no place in the picture: {error}") from error
    if not rows:
        raise ChartInputError("the experiment has no cell for this picture")
    names = list(dict.fromkeys(row["line"] for row in rows))
    top = max(max(row["figure"], row.get("high", 0.0)) for row in rows) * 1.06
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    drawn = [
        _panel([row for row in rows if row["panel"] == panel], names, picture, top).properties(
            title=alt.TitleParams(panel, fontSize=12, anchor="middle", offset=5)
        )
        for panel in panels
    ]
    text = f"{result.get('experiment', 'experiment')}: {picture.get('title', 'predicted')}"
    rings = any("published" in row for row in rows)
    notes = (
        ["Lines: predicted. Rings: published, in the colour of their line."]
        if rings
        else ["Lines: predicted; nothing was published."]
    )
    notes += _hidden(rows, names)
    return dress(alt.hconcat(*drawn, spacing=22, title=heading(text, notes)))


def _row(cell: Mapping[str, Any], picture: Mapping[str, Any]) -> Row:
    fields = cell["fields"]
    row: Row = {
        "x": float(fields[picture["x"]]),
        "line": picture.get("names", {}).get(fields[picture["lines"]], fields[picture["lines"]]),
        "panel": picture.get("names", {}).get(fields[picture["panels"]], fields[picture["panels"]]),
        "figure": cell["predicted"],
        "unit": cell["unit"],
    }
    if cell.get("published") is not None:
        row.update(
            published=cell["published"],
            low=cell["published"] - cell["resolution"],
            high=cell["published"] + cell["resolution"],
        )
    return row


def _hidden(rows: list[Row], names: list[str]) -> list[str]:
    """Names the lines that are hidden by another because all their figures are equal: nobody would find them."""
    return hidden(
        {
            name: tuple((row["panel"], row["x"], row["figure"]) for row in rows if row["line"] == name)
            for name in names
        }
    )


def _panel(rows: list[Row], names: list[str], picture: Mapping[str, Any], top: float) -> Panel:
    """One panel: a line with a mark at each cell, and rings for published figures."""
    ticks = sorted({row["x"] for row in rows})
    domain = [ticks[0] / 1.15, ticks[-1] * 1.15]
    x = alt.X(
        "x:Q",
        title=picture.get("x_title", picture["x"]),
        scale=alt.Scale(type="log", base=2, domain=domain, nice=False),
        axis=alt.Axis(**log_labels(fitting(ticks, domain, WIDTH, across=True))),
    )
    scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("figure:Q", title=picture.get("y_title", rows[0]["unit"]), scale=scale)
    colour = alt.Color(
        "line:N",
        title=picture.get("lines_title", picture["lines"]),
        scale=alt.Scale(domain=names, range=colours(len(names))),
    )
    tooltip = [
        alt.Tooltip("line:N", title=picture["lines"]),
        alt.Tooltip("x:Q", title=picture["x"]),
        alt.Tooltip("figure:Q", title="predicted", format=",.4~g"),
    ]
    base = Chart(inline(rows))
    line = base.mark_line(strokeWidth=1.8, strokeJoin="round").encode(x=x, y=y, color=colour)
    dots = base.mark_point(filled=True, size=40, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    published = [row for row in rows if "published" in row]
    tooltip_published = [alt.Tooltip("published:Q", title="published"), *tooltip[:2]]
    rings = (
        Chart(inline(published))
        .mark_point(filled=False, size=170, opacity=1, strokeWidth=2)
        .encode(x=x, y=alt.Y("published:Q", scale=scale), color=colour, tooltip=tooltip_published)
    )
    return layer(line, dots, *([rings] if published else [])).properties(width=WIDTH, height=HEIGHT)
