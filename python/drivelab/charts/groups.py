"""Grouped bars: a group for each name, in it a bar for each setting, a panel for each quantity.

For points that no line joins: patterns, orders, protocols, or a single depth for each of them. The axis with the fewest
values is the colour, the others together name the groups. A quantity that spans orders of magnitude has dots on a
logarithmic axis, since a bar needs a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.metrics import Metric, latency_title
from drivelab.charts.rows import DEPTH_AXES, Row, Sweep, number
from drivelab.charts.theme import INK, LINE_COLOURS, Chart, Panel, colours, inline, layer
from drivelab.charts.ticks import fitting, log_axis, log_labels

WIDTH = 760
_BAR, _GAP, _HEIGHT_MAX, _BAR_MIN = 13.0, 9.0, 1600.0, 4.0
# A quantity that spans more than this has a logarithmic axis.
_LOG_RATIO = 40.0
# Room for the figure behind the longest bar, as a share of the panel.
_FIGURE = 0.34
# Titles of an x that is a depth.
_DEPTHS = {title for title in DEPTH_AXES.values() if title != "Jobs"}
# Bars thinner than this have no figure.
_FIGURE_PX = 8.0


@dataclass(frozen=True)
class _Axis:
    """An axis of the sweep: its title, its values as text in their order, and the text of a row."""

    title: str
    names: list[str]
    of: Callable[[Row], str]


@dataclass(frozen=True)
class _Layout:
    """The groups and the colours of a picture; rows have `group` and `shade`."""

    rows: list[Row]
    group_title: str
    groups: list[str]
    shade_title: str
    shades: list[str]

    @property
    def bar_px(self) -> float:
        """The height of a bar."""
        bars = len(self.groups) * max(len(self.shades), 1)
        room = (_HEIGHT_MAX - len(self.groups) * _GAP) / bars
        return max(_BAR_MIN, min(_BAR, room))

    @property
    def height(self) -> float:
        """The height of a panel."""
        return len(self.groups) * (max(len(self.shades), 1) * self.bar_px + _GAP)


def is_grouped(plan: Sweep) -> bool:
    """Whether the points of a sweep have too few places on a numeric x to be lines."""
    if not plan.x_is_number or len(plan.x_values) < 2:
        return True
    places = {name: {row["x"] for row in plan.rows if row["series"] == name} for name in plan.series}
    most = max(map(len, places.values()), default=0)
    return most < 2 or (most == 2 and len(plan.series) > len(LINE_COLOURS))


def groups(plan: Sweep, metric: Metric) -> alt.HConcatChart:
    """A panel for the rate, and one for each statistic of the latency that is known."""
    layout = _layout(plan)
    quantities = [(metric.rate, metric.rate_title)] if metric.rate else []
    quantities += [(name, f"{latency_title(name)}, ms") for name in metric.statistics]
    known = [
        (field, text) for field, text in quantities if any(row[field] is not None for row in layout.rows)
    ]
    if not known:
        raise metric.missing()
    shares = [1.5 if field == metric.rate else 1.0 for field, _ in known]
    panels = [
        _panel(layout, field, text, WIDTH * share / sum(shares), first=place == 0)
        for place, ((field, text), share) in enumerate(zip(known, shares, strict=True))
    ]
    return alt.hconcat(*panels, spacing=12, bounds="flush")


def _layout(plan: Sweep) -> _Layout:
    """Which axis is the colour, and which name the groups."""
    axes = [
        _Axis(title, names, lambda row, key=f"key_{at}": str(row[key]))  # type: ignore[misc]
        for at, (title, names) in enumerate(zip(plan.line_axes, plan.line_keys, strict=True))
    ]
    x = _Axis(
        plan.x_title, [plan.x_text(value) for value in plan.x_values], lambda row: plan.x_text(row["x"])
    )
    if not axes:
        axes = [x]
    elif len(x.names) > 1 and (carrier := _carrier(axes, x, plan.rows)) is None:
        axes.append(x)
    elif len(x.names) > 1 and carrier is not None:
        axes[axes.index(carrier)] = _with_x(carrier, x, plan.rows)
    shade = min(axes, key=lambda axis: len(axis.names)) if len(axes) > 1 else None
    if shade is not None and len(shade.names) > len(LINE_COLOURS):
        shade = None
    others = [axis for axis in axes if axis is not shade]
    rows = [
        {
            **row,
            "group": " · ".join(axis.of(row) for axis in others),
            "shade": shade.of(row) if shade else "",
        }
        for row in plan.rows
    ]
    places = {id(axis): {name: at for at, name in enumerate(axis.names)} for axis in others}
    order = sorted(
        {tuple(axis.of(row) for axis in others) for row in rows},
        key=lambda parts: [places[id(axis)][name] for axis, name in zip(others, parts, strict=True)],
    )
    return _Layout(
        rows=rows,
        group_title=" · ".join(axis.title for axis in others),
        groups=[" · ".join(parts) for parts in order],
        shade_title=shade.title if shade else "",
        shades=shade.names if shade else [],
    )


def _carrier(axes: Sequence[_Axis], x: _Axis, rows: Sequence[Row]) -> _Axis | None:
    """The axis that decides the place on x: each pattern has its own depth."""
    for axis in axes:
        pairs = {(axis.of(row), x.of(row)) for row in rows}
        if len(pairs) == len({name for name, _ in pairs}):
            return axis
    return None


def _with_x(axis: _Axis, x: _Axis, rows: Sequence[Row]) -> _Axis:
    """The axis with the place on x behind each of its names."""
    what = "depth" if x.title in _DEPTHS else x.title.lower()
    of = {axis.of(row): f"{axis.of(row)}, {what} {x.of(row)}" for row in rows}
    names = [of[name] for name in axis.names if name in of]
    return _Axis(axis.title, names, lambda row: of[axis.of(row)])


def _panel(layout: _Layout, field: str, title: str, width: float, *, first: bool) -> Panel:
    """One quantity of every point."""
    rows = [
        {
            **row,
            "value": row[field],
            "figure": f"{row[field]:,.4g}" if row[field] < 1e4 else f"{row[field]:,.0f}",
        }
        for row in layout.rows
        if row[field] is not None
    ]
    ends = [row["value"] for row in rows]
    ends += [row[f"{field}_high"] for row in rows if row.get(f"{field}_high") is not None]
    lows = [row[f"{field}_low"] for row in rows if row.get(f"{field}_low") is not None]
    is_log = min(ends) > 0 and max(ends) > _LOG_RATIO * min(ends)
    scale, axis = _log([*ends, *lows], width) if is_log else _linear(max(ends), width)
    places = _places(layout, first=first)
    named = title[:1].upper() + title[1:]
    x = alt.X("value:Q", title=named, scale=scale, axis=axis)
    colour: Any = alt.ColorValue(LINE_COLOURS[0])
    if layout.shades:
        legend = alt.Legend(
            orient="top", symbolType="circle", symbolOpacity=1, columns=8, titleOrient="left", offset=4
        )
        domain = alt.Scale(domain=layout.shades, range=colours(len(layout.shades)))
        colour = alt.Color(
            "shade:N", title=layout.shade_title, scale=domain, legend=legend if first else None
        )
    base = Chart(inline(rows)).encode(**places)
    marked = {"x": x, "color": colour, "tooltip": _tooltip(layout, rows)}
    size = max(layout.bar_px - 2, 2)
    layers: list[alt.Chart] = [
        base.mark_point(filled=True, size=min(60.0, size * size), opacity=1).encode(**marked)
        if is_log
        else base.mark_bar(size=size).encode(**marked)
    ]
    ranged = [row for row in rows if row.get(f"{field}_low") is not None]
    if ranged:
        span = Chart(inline(ranged)).mark_rule(strokeWidth=1.4, color=INK)
        low = alt.X(f"{field}_low:Q", scale=scale, title=named)
        layers.append(span.encode(**places, x=low, x2=f"{field}_high:Q"))
    if layout.bar_px >= _FIGURE_PX:
        behind = f"{field}_high" if ranged else "value"
        texts = [
            {**row, "end": row.get(behind) if row.get(behind) is not None else row["value"]} for row in rows
        ]
        words = Chart(inline(texts)).mark_text(
            align="left", dx=7 if is_log else 4, fontSize=min(10.5, layout.bar_px - 1), color=INK
        )
        layers.append(words.encode(**places, x=alt.X("end:Q", scale=scale), text="figure:N"))
    return layer(*layers).properties(width=width, height=layout.height)


def _places(layout: _Layout, *, first: bool) -> dict[str, Any]:
    """The channels that give a point its place: its group, and its bar in it."""
    inner = _GAP / (max(len(layout.shades), 1) * layout.bar_px + _GAP)
    axis = alt.Axis(labels=first, ticks=first, labelLimit=300, labelOverlap=False, grid=False)
    band = alt.Scale(type="band", domain=layout.groups, paddingInner=inner, paddingOuter=inner / 2)
    found: dict[str, Any] = {
        "y": alt.Y(
            "group:N",
            title=layout.group_title if first else None,
            sort=layout.groups,
            scale=band,
            axis=axis,
        )
    }
    if layout.shades:
        within = alt.Scale(type="band", domain=layout.shades, paddingInner=0, paddingOuter=0)
        found["yOffset"] = alt.YOffset("shade:N", sort=layout.shades, scale=within)
    return found


def _linear(top: float, width: float) -> tuple[alt.Scale, alt.Axis]:
    """An axis from zero, with room for the figure of the longest bar."""
    room = min(_FIGURE, 62.0 / width)
    scale = alt.Scale(domain=[0, (top or 1.0) / (1 - room)], nice=False)
    count = max(2, int(width // 75))
    return scale, alt.Axis(tickCount=count, labelOverlap="greedy", labelSeparation=4)


def _log(values: Sequence[float], width: float) -> tuple[alt.Scale, alt.Axis]:
    """A logarithmic axis, with room for the figure of the last dot."""
    (low, high), ticks = log_axis(values, width, across=True)
    high *= (high / low) ** min(_FIGURE, 50.0 / width)
    ticks = fitting(ticks, [low, high], width, across=True)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return scale, alt.Axis(**log_labels(ticks))


def _tooltip(layout: _Layout, rows: Sequence[Row]) -> list[alt.Tooltip]:
    """The name of a point, and everything that was measured there."""
    found = [alt.Tooltip("group:N", title=layout.group_title)]
    found += [alt.Tooltip("shade:N", title=layout.shade_title)] if layout.shades else []
    return found + measured(rows)


_MEASURED = (
    ("iops", "IOPS", ",.1f"),
    ("iops_low", "IOPS, at least", ",.1f"),
    ("iops_high", "IOPS, at most", ",.1f"),
    ("mb_per_s", "MB/s", ",.2f"),
    ("achieved", "depth achieved", ".2f"),
    ("mean", "mean, ms", ",.3f"),
    ("p99", "p99, ms", ",.3f"),
    ("max", "max, ms", ",.3f"),
    ("n", "commands", ",d"),
)


def measured(rows: Sequence[Row]) -> list[alt.Tooltip]:
    """The figures of a point that any of the rows has, for a tooltip."""
    present = [item for item in _MEASURED if any(number(row.get(item[0])) is not None for row in rows)]
    return [alt.Tooltip(f"{field}:Q", title=text, format=form) for field, text, form in present]
