"""A published table beside the model's predictions, and below each drive the signed error of every cell.

Published values are marks, with the rounding of the print as a bar; predictions are lines; an error is the part of a
difference that rounding cannot explain. Cells on which a drive's free parameters were fitted have another shape,
because agreement there proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import Row, number
from drivelab.charts.theme import INK, SOFT, Chart, Panel, colours, dress, heading, inline, layer
from drivelab.charts.ticks import log_axis, log_labels
from drivelab.report.plural import counted

GRID_WIDTH = 1250
HEIGHT_RATES = 170
HEIGHT_ERRORS = 110
BANDS = (5.0, 15.0)
FILLS = ("#cfe8dd", "#eef6f2")
_GAP = 8
# Room for the labels of y, the same for rates and errors so that the panels are aligned.
_EXTENT = 34
_PANEL_MIN, _PANEL_MAX = 110, 300
# Errors beyond this are drawn at the edge; their tooltip has the value.
_ERROR_LIMIT = 60.0
# Room for a whole mark at the limit.
_ERROR_MARGIN = 1.12
# Threads are this far apart on the log2 axis, in octaves, so that equal values stay visible.
_DODGE = 0.16

ROLES = {"validation": "circle", "calibration": "triangle-up"}
_COLUMNS = {
    "linRd": "linear read",
    "rndRd": "random read",
    "linWr": "linear write",
    "rndWr": "random write",
    "linRW_read": "linear mixed: reads",
    "linRW_write": "linear mixed: writes",
    "rndRW_read": "random mixed: reads",
    "rndRW_write": "random mixed: writes",
}


@dataclass(frozen=True)
class _Table:
    """The scales that all panels of one experiment share."""

    blocks: list[float]
    threads: list[str]
    rate_domain: list[float]
    rate_ticks: list[float]
    error_limit: float
    unit: str
    width: float


def experiment(result: Mapping[str, Any]) -> alt.VConcatChart:
    """Published against predicted rates over block size: a panel for each column, a block for each drive.

    `result` is {"experiment": name, "cells": [{"id": "drive/block KiB/threads/column", "published",
    "predicted", "unit", "resolution", "role", "error"}]}: rates in `unit`; `resolution` is half a unit of the last
    printed digit; `role` is "calibration" or "validation"; `error`, a share of the published figure, is the part of
    the difference beyond that rounding, and is computed here if it is missing. Raises ChartError if a cell
    is not in that form.
    """
    rows = [_row(cell, at) for at, cell in enumerate(result.get("cells") or [])]
    if not rows:
        raise ChartInputError("the experiment has no cells to draw")
    columns = list(dict.fromkeys(row["column"] for row in rows))
    table = _table(rows, len(columns))
    drives = [
        _drive(drive, [row for row in rows if row["drive"] == drive], columns, table)
        for drive in dict.fromkeys(row["drive"] for row in rows)
    ]
    text = f"{result.get('experiment', 'experiment')}: published against predicted"
    chart = alt.vconcat(*drives, spacing=26, title=heading(text, _notes(rows, table)))
    return dress(chart)


def _row(cell: Mapping[str, Any], at: int) -> Row:
    """One cell as a flat row; all drawn values are computed here."""
    name = str(cell.get("id", f"number {at}"))
    words = name.split("/")
    try:
        drive, block, threads, column = words
        block_kib = float(block)
    except ValueError:
        raise ChartInputError(f"cell {name!r} is not named drive/block KiB/threads/column") from None
    if block_kib <= 0:
        raise ChartInputError(f"cell {name!r} has a block size of {block} KiB")
    published, predicted = number(cell.get("published")), number(cell.get("predicted"))
    half = number(cell.get("resolution")) or 0.0
    role = str(cell.get("role") or "validation")
    row: Row = {
        "drive": drive,
        "block": block_kib,
        "threads": threads,
        "column": column,
        "role": role,
        "unit": str(cell.get("unit") or "MiB/s"),
        "published": published if published is not None and published > 0 else None,
        "predicted": predicted if predicted is not None and predicted > 0 else None,
        "half": half,
    }
    if published is not None and published > 0:
        row.update(low=max(published - half, published / 10), high=published + half)
        if predicted is not None:
            known = number(cell.get("error"))
            row["error"] = 100 * (_error(predicted, published, half) if known is None else known)
    return row


def _error(predicted: float, published: float, half: float) -> float:
    """How far the prediction lies outside the rounding of the printed digits, as a signed share of the published."""
    distance = predicted - published
    return math.copysign(max(0.0, abs(distance) - half), distance) / published


def _table(rows: list[Row], columns: int) -> _Table:
    """The scales that contain every cell."""
    units = list(dict.fromkeys(row["unit"] for row in rows))
    if len(units) > 1:
        raise ChartInputError(f"cells in {' and '.join(units)} cannot share one axis")
    rates = [row[name] for row in rows for name in ("low", "high", "predicted") if row.get(name) is not None]
    if not rates:
        raise ChartInputError("no cell has a published or a predicted rate above zero")
    domain, ticks = log_axis(rates, HEIGHT_RATES)
    errors = [abs(row["error"]) for row in rows if "error" in row]
    return _Table(
        blocks=sorted({row["block"] for row in rows}),
        threads=sorted({row["threads"] for row in rows}, key=lambda text: (len(text), text)),
        rate_domain=domain,
        rate_ticks=ticks,
        error_limit=min(_ERROR_LIMIT, max(20.0, 10.0 * -(-max(errors, default=0.0) // 10))),
        unit=units[0],
        width=min(_PANEL_MAX, max(_PANEL_MIN, GRID_WIDTH / columns - _GAP)),
    )


def _notes(rows: list[Row], table: _Table) -> list[str]:
    """How to read the picture, and how many cells of each role lie within the bands."""
    notes = [
        "Marks: published, with the rounding of the print. Lines: predicted. Errors: beyond that rounding, "
        f"as a share of the published, over bands of ±{BANDS[0]:g} % and ±{BANDS[1]:g} %."
    ]
    for role in dict.fromkeys(row["role"] for row in rows):
        errors = [abs(row["error"]) for row in rows if row["role"] == role and "error" in row]
        if errors:
            within = ", ".join(f"{sum(e <= band for e in errors)} within {band:g} %" for band in BANDS)
            notes.append(f"{role}: {counted(len(errors), 'cell')}, {within}")
    beyond = sum(abs(row.get("error", 0.0)) > table.error_limit for row in rows)
    if beyond:
        notes.append(f"{counted(beyond, 'error')} beyond ±{table.error_limit:g} % drawn at the edge")
    return notes


def _drive(drive: str, rows: list[Row], columns: Sequence[str], table: _Table) -> alt.ConcatChart:
    """One drive: a row of rates above a row of errors, one panel for each column of the table."""
    middle = (len(table.threads) - 1) / 2
    for row in rows:
        row["place"] = row["block"] * 2 ** (_DODGE * (table.threads.index(row["threads"]) - middle))
    cells = [[row for row in rows if row["column"] == column] for column in columns]
    rates = [
        _rates(cell, table, first=place == 0).properties(
            title=alt.TitleParams(_COLUMNS.get(column, column), fontSize=12, anchor="middle", offset=5)
        )
        for place, (column, cell) in enumerate(zip(columns, cells, strict=True))
    ]
    errors = [_errors(cell, table, first=place == 0) for place, cell in enumerate(cells)]
    title = alt.TitleParams(drive, fontSize=14, anchor="start", offset=6)
    return alt.concat(*rates, *errors, columns=len(columns), spacing=_GAP, title=title)


def _x(table: _Table, *, labelled: bool) -> alt.X:
    """Block size on a log2 axis with a tick at each size of the table."""
    low, high = table.blocks[0], table.blocks[-1]
    axis = alt.Axis(
        **log_labels([float(block) for block in table.blocks]),
        labels=labelled,
        ticks=labelled,
        labelAngle=-90,
        labelFontSize=10,
        titleFontSize=11,
        titleFontWeight="normal",
    )
    return alt.X(
        "place:Q",
        title="Block size, KiB" if labelled else None,
        scale=alt.Scale(type="log", base=2, domain=[low / 1.8, high * 1.8], nice=False),
        axis=axis,
    )


def _colour(table: _Table) -> alt.Color:
    """Threads by colour."""
    return alt.Color(
        "threads:N",
        title="Threads",
        scale=alt.Scale(domain=table.threads, range=colours(len(table.threads))),
        legend=alt.Legend(orient="top", symbolType="square", titleOrient="left"),
    )


def _shape() -> alt.Shape:
    """Roles by shape."""
    return alt.Shape(
        "role:N",
        title="Cells",
        scale=alt.Scale(domain=list(ROLES), range=list(ROLES.values())),
        legend=alt.Legend(orient="top", titleOrient="left", symbolFillColor=SOFT, symbolStrokeColor=SOFT),
    )


def _tooltip(table: _Table) -> list[alt.Tooltip]:
    """The tooltip of a cell."""
    return [
        alt.Tooltip("drive:N"),
        alt.Tooltip("column:N"),
        alt.Tooltip("block:Q", title="block size, KiB", format="~r"),
        alt.Tooltip("threads:N"),
        alt.Tooltip("published:Q", title=f"published, {table.unit}"),
        alt.Tooltip("half:Q", title=f"rounded within ±, {table.unit}"),
        alt.Tooltip("predicted:Q", title=f"predicted, {table.unit}", format=",.3f"),
        alt.Tooltip("error:Q", title="error, %", format="+.1f"),
        alt.Tooltip("role:N"),
    ]


def _rates(rows: list[Row], table: _Table, *, first: bool) -> Panel:
    """One panel of rates: rounding bars, published marks, predicted lines."""
    title = f"Rate, {table.unit}" if first else None
    extent = _EXTENT if first else 0
    axis = alt.Axis(
        **log_labels(table.rate_ticks),
        labels=first,
        ticks=first,
        minExtent=extent,
    )
    scale = alt.Scale(type="log", domain=table.rate_domain, nice=False)
    x = _x(table, labelled=False)
    known = Chart(inline([row for row in rows if row["published"] is not None]))
    lines = Chart(inline([row for row in rows if row["predicted"] is not None]))
    return layer(
        lines.mark_line(strokeWidth=1.6).encode(
            x=x,
            y=alt.Y("predicted:Q", title=title, scale=scale, axis=axis),
            color=_colour(table),
            order="block:Q",
        ),
        known.mark_rule(strokeWidth=1.2).encode(x=x, y="low:Q", y2="high:Q", color=_colour(table)),
        known.mark_point(filled=True, size=42, opacity=1, stroke="white", strokeWidth=0.6).encode(
            x=x, y="published:Q", color=_colour(table), shape=_shape(), tooltip=_tooltip(table)
        ),
    ).properties(width=table.width, height=HEIGHT_RATES)


def _errors(rows: list[Row], table: _Table, *, first: bool) -> Panel:
    """One panel of signed errors in percent, over the bands."""
    limit = table.error_limit
    shown = [row | {"drawn": max(-limit, min(limit, row["error"]))} for row in rows if "error" in row]
    ticks = [-15, -5, 0, 5, 15] if limit <= 20 else [-limit, -BANDS[1], 0, BANDS[1], limit]
    y = alt.Y(
        "low:Q",
        title="Error, %" if first else None,
        scale=alt.Scale(domain=[-limit * _ERROR_MARGIN, limit * _ERROR_MARGIN], nice=False),
        axis=alt.Axis(
            values=ticks,
            tickCount=2 * len(ticks),
            labelExpr="datum.value > 0 ? '+' + datum.label : datum.label",
            labelOverlap=False,
            labels=first,
            ticks=first,
            minExtent=_EXTENT if first else 0,
            grid=False,
        ),
    )
    spans = [{"low": -band, "high": band, "fill": fill} for band, fill in zip(BANDS, FILLS, strict=True)]
    fill = alt.Fill("fill:N", scale=None)
    bands = Chart(inline(spans[::-1])).mark_rect().encode(y=y, y2="high:Q", fill=fill)
    zero = Chart(inline([{"low": 0}])).mark_rule(color=INK, strokeWidth=0.8).encode(y="low:Q")
    x = _x(table, labelled=True)
    cells = Chart(inline(shown))
    return layer(
        bands,
        zero,
        cells.mark_point(filled=True, size=34, opacity=1, stroke="white", strokeWidth=0.5).encode(
            x=x, y="drawn:Q", color=_colour(table), shape=_shape(), tooltip=_tooltip(table)
        ),
    ).properties(width=table.width, height=HEIGHT_ERRORS)
