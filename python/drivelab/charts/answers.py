"""The picture of a ready answer: a panel for each figure, as lines over numbers or as bars at names, with ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import Row
from drivelab.charts.theme import INK, LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer
from drivelab.charts.ticks import fitting, log_axis, log_labels

WIDTH, HEIGHT, BAR = 560, 200, 30
BLUE, RED = LINE_COLOURS[:2]
_FAR = 20
"""Figures at names that differ by a larger factor have a logarithmic axis."""


class PanelOf(Protocol):
    """A figure of the rows, and a limit that is drawn across its panel."""

    @property
    def key(self) -> str:
        """Of the rows."""

    @property
    def title(self) -> str:
        """Of the axis."""

    @property
    def limit(self) -> float | None:
        """In the unit of the figure."""

    @property
    def limit_title(self) -> str:
        """What the limit is."""

    @property
    def is_log(self) -> bool:
        """Whether the axis of a line's figures is logarithmic."""


class PictureOf(Protocol):
    """Which figures are drawn over what."""

    @property
    def x(self) -> str:
        """Key of the rows."""

    @property
    def x_title(self) -> str:
        """Of the axis."""

    @property
    def panels(self) -> Sequence[PanelOf]:
        """From top to bottom."""

    @property
    def scale(self) -> str:
        """Of x: log, linear, or names."""


def answer(
    title: str, rows: Sequence[Mapping[str, Any]], picture: PictureOf, decisive: int
) -> alt.VConcatChart:
    """Figures of `rows` over a key of theirs, each with its `_low` and `_high` where it has them.

    The `decisive` row is orange. Raises ChartError where no row has a figure.
    """
    found = [(_rows(rows, picture, panel, decisive), panel) for panel in picture.panels]
    places = [row[picture.x] for row in rows]
    panels = [_panel(drawn, places, picture, panel) for drawn, panel in found if drawn]
    if not panels:
        raise ChartInputError("no row of the answer has a figure to draw")
    notes = ["Orange: what the answer is about. Thin lines: from the least to the most that it may be."]
    if picture.scale == "names":
        notes += [f"Dashed: {panel.limit_title}." for panel in picture.panels if panel.limit is not None]
    return dress(alt.vconcat(*panels, spacing=18, title=heading(title, notes)))


def _rows(rows: Sequence[Mapping[str, Any]], picture: PictureOf, panel: PanelOf, decisive: int) -> list[Row]:
    return [
        {
            "x": row[picture.x],
            "figure": row[panel.key],
            "low": row.get(f"{panel.key}_low"),
            "high": row.get(f"{panel.key}_high"),
            "decisive": number == decisive,
        }
        for number, row in enumerate(rows)
        if row.get(panel.key) is not None and row.get(picture.x) is not None
    ]


def _panel(rows: list[Row], places: Sequence[Any], picture: PictureOf, panel: PanelOf) -> Panel:
    if picture.scale == "names":
        return _bars(rows, picture, panel)
    return _line(rows, _across([float(place) for place in places], picture), panel)


def _colour() -> Any:  # noqa: ANN401 - as altair has it
    return alt.condition("datum.decisive", alt.value(RED), alt.value(BLUE))


def _top(rows: Sequence[Row], panel: PanelOf) -> float:
    return 1.12 * max(max(row["figure"], row["high"] or 0.0, panel.limit or 0.0) for row in rows) or 1.0


def _bars(rows: list[Row], picture: PictureOf, panel: PanelOf) -> Panel:
    """A bar for each name; where figures differ by orders of magnitude a dot, on a logarithmic axis."""
    values = _values(rows, panel)
    y = alt.Y("x:N", sort=None, title=picture.x_title, axis=alt.Axis(labelLimit=300))
    base = Chart(inline(rows))
    if values and max(values) > _FAR * min(values):
        domain, ticks = log_axis(values, WIDTH, across=True)
        scale = alt.Scale(type="log", domain=[domain[0], domain[1] * 1.3], nice=False)
        axis = alt.Axis(**log_labels(ticks))
        marks = base.mark_point(filled=True, size=120, opacity=1)
    else:
        scale, axis = alt.Scale(domain=[0, 1.06 * _top(rows, panel)], nice=False), alt.Axis(tickCount=6)
        marks = base.mark_bar(height=BAR * 0.6)
    x = alt.X("figure:Q", title=panel.title, scale=scale, axis=axis)
    drawn = marks.encode(x=x, y=y, color=_colour(), tooltip=_tooltip(panel))
    ends = [row for row in rows if row["low"] is not None]
    text = (
        Chart(inline([{**row, "end": max(row["figure"], row["high"] or 0.0)} for row in rows]))
        .mark_text(align="left", dx=8, color=INK, fontSize=11)
        .encode(x=alt.X("end:Q", scale=scale), y=y, text=alt.Text("figure:Q", format=",.3~r"))
    )
    limit = [] if panel.limit is None else [_limit_rule(panel.limit, x=alt.X("limit:Q", scale=scale))]
    layers = [*limit, drawn, *([_rule(ends, y, scale)] if ends else []), text]
    return layer(*layers).properties(width=WIDTH, height=BAR * len(rows))


def _values(rows: Sequence[Row], panel: PanelOf) -> list[float]:
    """All figures of a panel that a logarithmic axis can have, with ends and limit."""
    every = [row[key] for row in rows for key in ("figure", "low", "high")]
    return [float(value) for value in (*every, panel.limit) if value is not None and value > 0]


def _rule(ends: Sequence[Row], y: alt.Y, scale: alt.Scale) -> alt.Chart:
    found: alt.Chart = (
        Chart(inline(ends))
        .mark_rule(color=INK, strokeWidth=1.5)
        .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y)
    )
    return found


def _line(rows: list[Row], x: alt.X, panel: PanelOf) -> Panel:
    scale, axis = _upright(rows, panel)
    y = alt.Y("figure:Q", title=panel.title, scale=scale, axis=axis)
    base = Chart(inline(rows))
    line = base.mark_line(strokeWidth=1.8, color=BLUE).encode(x=x, y=y)
    ends = [row for row in rows if row["low"] is not None]
    rules = (
        Chart(inline(ends))
        .mark_rule(color=SOFT)
        .encode(x=x, y=alt.Y("low:Q", title=panel.title, scale=scale), y2="high:Q")
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x, y=y, color=_colour(), tooltip=_tooltip(panel)
    )
    marks = [line, *([rules] if ends else []), dots, *_limit(panel, scale)]
    return layer(*marks).properties(width=WIDTH, height=HEIGHT)


def _across(places: Sequence[float], picture: PictureOf) -> alt.X:
    """The axis of x: linear, or logarithmic with a tick at each value that has room."""
    values = sorted(set(places))
    if picture.scale == "linear":
        return alt.X("x:Q", title=picture.x_title, scale=alt.Scale(domain=[0, 1.05 * values[-1]], nice=False))
    domain = [values[0] / 1.15, values[-1] * 1.15]
    axis = alt.Axis(**log_labels(fitting(values, domain, WIDTH, across=True)))
    return alt.X(
        "x:Q",
        title=picture.x_title,
        scale=alt.Scale(type="log", base=2, domain=domain, nice=False),
        axis=axis,
    )


def _upright(rows: Sequence[Row], panel: PanelOf) -> tuple[alt.Scale, alt.Axis]:
    """The upright axis: from zero, or logarithmic."""
    values = _values(rows, panel)
    if not panel.is_log or not values:
        return alt.Scale(domain=[0, _top(rows, panel)], nice=False), alt.Axis(minExtent=40)
    domain, at = log_axis(values, HEIGHT)
    return alt.Scale(type="log", domain=domain, nice=False), alt.Axis(minExtent=40, **log_labels(at))


def _limit(panel: PanelOf, scale: alt.Scale) -> list[alt.Chart]:
    """A dashed line at the limit of a panel of lines, with its name."""
    if panel.limit is None:
        return []
    y = alt.Y("limit:Q", scale=scale)
    text = (
        Chart(inline([{"limit": panel.limit, "name": panel.limit_title}]))
        .mark_text(fontSize=11, color=INK, align="left", x=6, dy=-6)
        .encode(text="name:N", y=y)
    )
    return [_limit_rule(panel.limit, y=y), text]


def _limit_rule(limit: float, **at: alt.X | alt.Y) -> alt.Chart:
    found: alt.Chart = Chart(inline([{"limit": limit}])).mark_rule(strokeDash=[6, 3], color=INK).encode(**at)
    return found


def _tooltip(panel: PanelOf) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("x:N", title="at"),
        alt.Tooltip("figure:Q", title=panel.title, format=",.4~g"),
        alt.Tooltip("low:Q", title="least", format=",.4~g"),
        alt.Tooltip("high:Q", title="most", format=",.4~g"),
    ]
