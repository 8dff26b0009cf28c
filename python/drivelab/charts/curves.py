"""IOPS over queue depth, and below it the latency: one line for each combination of the other axes.

Few lines share one latency panel, where the dash distinguishes mean, p99 and maximum. Many lines get a panel for each
statistic, on one scale. Two axes beside x that both have few values become colour and dash; otherwise each
combination has its own colour. If x is a name (an order, a protocol, a size with its unit), points are not joined,
and a shape replaces the dash: there is nothing between two names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.multiples import PANELS_MAX, multiples
from drivelab.charts.rows import Point, Row, Sweep, number, sweep
from drivelab.charts.theme import LINE_COLOURS, SOFT, Panel, colours, dress, heading, inline, log_axis

WIDTH = 680
HEIGHT_IOPS = 270
HEIGHT_LATENCY = 240
PANEL_GAP = 14

STATISTICS = ("mean", "p99", "max")
RATES = {"iops": "IOPS", "mb_per_s": "MB/s"}
_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 1])
_SHAPES = ("circle", "triangle-up", "diamond", "square", "cross", "triangle-down")
# Ticks closer than this many points, plus the width of a label, are thinned.
_TICK_GAP = 6.0
_DIGIT_WIDTH = 6.2
# Above this many lines, one panel for three statistics is unreadable.
_SHARED_PANEL_LINES = 3
# IOPS start at zero unless the smallest would then lie on the axis.
_LOG_IOPS_RATIO = 40.0
_LEGEND_ROWS = 22
# A size in the largest power-of-1024 unit that it reaches.
_SIZE_LABEL = (
    "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.4~r') + ' GiB' : "
    "datum.value >= 1048576 ? format(datum.value / 1048576, '.4~r') + ' MiB' : "
    "datum.value >= 1024 ? format(datum.value / 1024, '.4~r') + ' KiB' : datum.value + ' B'"
)
_SIZE_LABEL_CHARS = 7
_BAND_OPACITY = 0.14
# Maximum number of names per note on lines that hide each other.
_NAMED = 3
# As many steps of the ramp as the eye can distinguish.
_COLOURS_MAX = 16


def depth(
    points: Sequence[Point], title: str | None = None, *, rate: str = "iops", notes: Sequence[str] = ()
) -> alt.VConcatChart:
    """IOPS, or with `rate` "mb_per_s" MB/s (top), and latency in ms: mean, p99, max (bottom), over queue depth.

    If there are more lines than named colours, each gets its own panel, on one scale, with the others in grey behind.

    `points` are dicts as in `simulate --json`: `axes`, `iops`, `bytes_per_s`, `depth` {`asked`, `achieved`},
    `latency_ns`. x is the swept `iodepth`, `outstanding` or `numjobs`, else the depth asked, else the axis
    with the most values. Nulls leave gaps. Raises ChartError where there is nothing to draw.
    """
    plan = sweep(points)
    rows = [row for row in plan.rows if row[rate] is not None]
    tail = [
        {**row, "statistic": name, "ms": row[name]}
        for row in plan.rows
        for name in STATISTICS
        if row[name] is not None and row[name] > 0
    ]
    if not rows and not tail:
        raise ChartInputError("no point has a rate or a latency")
    over = "queue depth" if plan.x_is_depth and plan.x_title != "Jobs" else plan.x_title.lower()
    text = f"{RATES[rate]} and latency over {over}" if title is None else title
    if len(LINE_COLOURS) < len(plan.series) <= PANELS_MAX and plan.x_is_number and len(plan.x_values) > 1:
        panels = multiples(plan, rows, tail, (rate, RATES[rate]), _x_axis)
        return dress(panels.properties(title=heading(text, [*notes, *plan.notes()])))
    style = _style(plan)
    iops = _panel(plan, rows, style, _rate_axis(rows, rate), height=HEIGHT_IOPS)
    ranged = [row for row in rows if row["iops_low"] is not None]
    if rate == "iops" and ranged and plan.x_is_number:
        # Below the lines: the range of the figure for a drive whose queue was never measured.
        iops = alt.layer(_band(plan, rows, style), iops)
    lower = _latency(plan, tail, style)
    chart = alt.vconcat(iops, lower, spacing=18, title=heading(text, [*notes, *plan.notes(), *_hidden(plan)]))
    return dress(chart)


def _hidden(plan: Sweep) -> list[str]:
    """Names the lines that are hidden by another because all their figures are equal: nobody would find them."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for name in plan.series:
        rows = [row for row in plan.rows if row["series"] == name]
        figures = tuple((row["x"], row["iops"], *(row[part] for part in STATISTICS)) for row in rows)
        alike.setdefault(figures, []).append(name)
    groups = [_first(names, " = ") for names in alike.values() if len(names) > 1]
    return [f"Equal, so drawn over each other: {_first(groups, '; ')}"] if groups else []


def _first(names: list[str], between: str) -> str:
    """The first names, and the number of the others."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return between.join(names[:_NAMED]) + more


@dataclass(frozen=True)
class _Second:
    """The axis that the dash distinguishes, or the shape where no lines are drawn; `places` index dashes or shapes."""

    field: str
    title: str
    names: list[str]
    places: list[int]

    def dash(self) -> alt.StrokeDash:
        """The axis as the dash of a line."""
        dashes = [list(_DASHES[place]) for place in self.places]
        legend = alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2, symbolStrokeColor=SOFT)
        scale = alt.Scale(domain=self.names, range=dashes)
        return alt.StrokeDash(f"{self.field}:N", title=self.title, scale=scale, legend=legend)

    def shape(self) -> alt.Shape:
        """The axis as the shape of a point."""
        scale = alt.Scale(domain=self.names, range=[_SHAPES[place] for place in self.places])
        legend = alt.Legend(symbolFillColor=SOFT, symbolStrokeColor=SOFT)
        return alt.Shape(f"{self.field}:N", title=self.title, scale=scale, legend=legend)


@dataclass(frozen=True)
class _Style:
    """How lines are distinguished: the axis of the colour, and the second axis if dash or shape shows one."""

    colour: alt.Color | alt.ColorValue
    second: _Second | None
    picked: alt.Parameter | None


def _style(plan: Sweep) -> _Style:
    """Colour and dash for two short axes, only colour otherwise, nothing for a single line."""
    if len(plan.series) < 2:
        return _Style(alt.ColorValue(LINE_COLOURS[0]), None, None)
    pair = _colour_and_dash(plan)
    if pair is not None:
        first, other = pair
        field, names, legend_title = f"key_{first}", plan.line_keys[first], plan.line_axes[first]
        second = _Second(
            f"key_{other}",
            plan.line_axes[other],
            plan.line_keys[other],
            list(range(len(plan.line_keys[other]))),
        )
    else:
        field, names, legend_title, second = "series", plan.series, plan.series_title, None
    colour = alt.Color(
        f"{field}:N",
        title=legend_title,
        scale=alt.Scale(domain=names, range=colours(len(names))),
        legend=alt.Legend(
            symbolType="circle", symbolLimit=len(names), columns=1 + (len(names) - 1) // _LEGEND_ROWS
        ),
    )
    return _Style(colour, second, alt.selection_point(name="picked", fields=[field], bind="legend"))


def _colour_and_dash(plan: Sweep) -> tuple[int, int] | None:
    """Which of two axes is colour and which is dash; None if the combination of both must be the colour."""
    if len(plan.line_axes) != 2 or len(plan.series) <= _SHARED_PANEL_LINES:
        return None
    sizes = [len(keys) for keys in plan.line_keys]
    pairs = ((0, 1), (1, 0))
    return next((p for p in pairs if sizes[p[0]] <= _COLOURS_MAX and sizes[p[1]] <= len(_DASHES)), None)


def _latency(plan: Sweep, tail: list[Row], style: _Style) -> Panel | alt.HConcatChart:
    """The latency panel, or one panel for each statistic, all on one logarithmic scale in ms."""
    values = [row["ms"] for row in tail]
    y = _log_y("ms", "Latency, ms", values, HEIGHT_LATENCY)
    present = [name for name in STATISTICS if any(row["statistic"] == name for row in tail)]
    if len(plan.series) <= _SHARED_PANEL_LINES and len(plan.x_values) > 1:
        return _panel(plan, tail, style, y, height=HEIGHT_LATENCY, statistics=present)
    width = (WIDTH - PANEL_GAP * (len(present) - 1)) / max(len(present), 1)
    panels = []
    for place, name in enumerate(present):
        axis = y if place == 0 else _log_y("ms", None, values, HEIGHT_LATENCY)
        shown = [row for row in tail if row["statistic"] == name]
        panel = _panel(plan, shown, style, axis, height=HEIGHT_LATENCY, width=width)
        panels.append(panel.properties(title=alt.TitleParams(name, fontSize=12, anchor="middle", offset=4)))
    return alt.hconcat(*panels, spacing=PANEL_GAP, bounds="flush")


def _panel(
    plan: Sweep,
    rows: list[Row],
    style: _Style,
    y: alt.Y,
    *,
    height: float,
    width: float = WIDTH,
    statistics: Sequence[str] = (),
) -> Panel:
    """Lines with a mark at each point; only marks if x is a name. `statistics` are dash or shape."""
    channels: dict[str, Any] = {"x": _x_axis(plan, width), "y": y, "color": style.colour}
    channels["detail"] = "series:N"
    if style.picked is not None:
        channels["opacity"] = alt.when(style.picked).then(alt.value(1)).otherwise(alt.value(0.12))
    points = dict(channels)
    second = style.second
    if statistics:
        places = [STATISTICS.index(name) for name in statistics]
        second = _Second("statistic", "Latency", list(statistics), places)
    base = alt.Chart(inline(rows))
    layers = []
    if plan.x_is_number:
        if second is not None:
            channels["strokeDash"] = second.dash()
        layers.append(base.mark_line(strokeWidth=1.8, strokeJoin="round").encode(**channels))
    elif second is not None:
        points["shape"] = second.shape()
    size = 38 if plan.x_is_number else 70
    dots = base.mark_point(filled=True, size=size, opacity=1).encode(**points, tooltip=_tooltip(plan, rows))
    layered = alt.layer(*layers, dots).properties(width=width, height=height)
    # One view holds the selection; its legend dims the lines of all of them.
    return layered.add_params(style.picked) if style.picked is not None and height == HEIGHT_IOPS else layered


def _band(plan: Sweep, rows: list[Row], style: _Style) -> Panel:
    """The range of each line whose firmware is that of its class; at points without a range it closes on the line."""
    closed = [
        {**row, **{key: row["iops"] if row[key] is None else row[key] for key in ("iops_low", "iops_high")}}
        for row in rows
    ]
    band: Panel = (
        alt.Chart(inline(closed))
        .mark_area(opacity=_BAND_OPACITY)
        .encode(
            x=_x_axis(plan, WIDTH),
            y=alt.Y("iops_low:Q"),
            y2="iops_high:Q",
            color=style.colour,
            detail="series:N",
        )
    )
    return band


def _x_axis(plan: Sweep, width: float) -> alt.X:
    """Numbers on a linear or log axis, with a tick at each value that has room; one position for each name."""
    if not plan.x_is_number:
        angle = -90 if sum(7 * len(str(x)) + 8 for x in plan.x_values) > width else 0
        axis = alt.Axis(labelAngle=angle, labelLimit=140, grid=True)
        scale = alt.Scale(type="point", padding=0.5)
        return alt.X("x:N", title=plan.x_title, sort=plan.x_values, scale=scale, axis=axis)
    low, high = min(plan.x_values), max(plan.x_values)
    if plan.x_scale == "log":
        margin = 2.0 if low == high else (high / low) ** 0.04
        scale = alt.Scale(type="log", base=2, domain=[low / margin, high * margin], nice=False)
    else:
        margin = (high - low) * 0.04 or max(abs(low) / 2, 0.5)
        scale = alt.Scale(type="linear", domain=[low - margin, high + margin], nice=False, zero=False)
    ticks = _ticks(plan, width)
    axis = alt.Axis(
        values=alt.Undefined if ticks is None else ticks,
        tickCount=8 if ticks is None else 2 * len(ticks),
        # Vega's own format rounds to the step between ticks, and shows 55 as 60.
        labelExpr=_SIZE_LABEL if plan.x_is_size else "format(datum.value, '.10~r')",
        labelOverlap="greedy",
        labelSeparation=3,
    )
    return alt.X("x:Q", title=plan.x_title, scale=scale, axis=axis)


def _ticks(plan: Sweep, width: float) -> list[float] | None:
    """A tick at each value if the labels have room, else at round numbers; None if Vega may choose."""
    values: list[float] = plan.x_values
    if len(values) < 2:
        return values
    is_log = plan.x_scale == "log"
    places = [math.log2(value) if is_log else value for value in values]
    scale = width * 0.92 / (places[-1] - places[0])
    gaps = [(right - left) * scale for left, right in pairwise(places)]
    longest = _SIZE_LABEL_CHARS if plan.x_is_size else max(len(f"{value:g}") for value in values)
    if min(gaps) >= _TICK_GAP + _DIGIT_WIDTH * longest:
        return values
    if not is_log:
        return None
    if not (plan.x_is_depth or plan.x_is_size):
        return [tick for tick in log_axis(values, width)[1] if values[0] <= tick <= values[-1]] or values
    octaves = range(math.ceil(places[0]), math.floor(places[-1]) + 1)
    return [float(2**octave) for octave in octaves] if len(octaves) > 2 else values


def _rate_axis(rows: list[Row], rate: str) -> alt.Y:
    """The rate from zero, or logarithmic where one end of the sweep would be invisible."""
    values = [row[rate] for row in rows]
    if rate == "iops":
        values += [row["iops_high"] for row in rows if row["iops_high"] is not None]
    above = [value for value in values if value > 0]
    if above and len(above) == len(values) and max(above) > _LOG_IOPS_RATIO * min(above):
        return _log_y(rate, RATES[rate], above, HEIGHT_IOPS)
    top = max(values, default=0.0) * 1.06 or 1.0
    scale = alt.Scale(domain=[0, top], nice=False)
    return alt.Y(f"{rate}:Q", title=RATES[rate], scale=scale, axis=alt.Axis(tickCount=6))


def _log_y(field: str, title: str | None, values: list[float], height: float) -> alt.Y:
    """A logarithmic y axis around `values`; without a title it has no labels either: the neighbour has them."""
    named = title is not None
    domain, ticks = log_axis(values or [1.0], height)
    return alt.Y(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(
            values=ticks,
            tickCount=2 * len(ticks),
            format=",~r",
            labelOverlap="greedy",
            labels=named,
            ticks=named,
        ),
    )


def _tooltip(plan: Sweep, rows: list[Row]) -> list[alt.Tooltip]:
    """The tooltip of a mark: its place, and everything that was measured there."""
    found = [alt.Tooltip("x:Q" if plan.x_is_number else "x:N", title=plan.x_title)]
    found += [alt.Tooltip(f"key_{index}:N", title=name) for index, name in enumerate(plan.line_axes)]
    measured = [
        ("iops", "IOPS", ",.1f"),
        ("iops_low", "IOPS, at least", ",.1f"),
        ("iops_high", "IOPS, at most", ",.1f"),
        ("mb_per_s", "MB/s", ",.2f"),
        ("achieved", "depth achieved", ".2f"),
        ("mean", "mean, ms", ",.3f"),
        ("p99", "p99, ms", ",.3f"),
        ("max", "max, ms", ",.3f"),
        ("n", "commands", ",d"),
    ]
    present = [item for item in measured if any(number(row.get(item[0])) is not None for row in rows)]
    return found + [alt.Tooltip(f"{field}:Q", title=text, format=form) for field, text, form in present]
