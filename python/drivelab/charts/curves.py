"""IOPS over queue depth, and below it the latency: one line for each combination of the other axes.

Few lines share one latency panel, where the dash distinguishes mean, p99 and maximum. Many lines get a panel for each
statistic, on one scale. Two axes beside x that both have few values become colour and dash; otherwise each
combination has its own colour. If x is a name (an order, a protocol), or hardly any line would have two points, the
picture is grouped bars (groups.py): there is nothing between two names.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.groups import groups, is_grouped, measured
from drivelab.charts.metrics import STATISTICS, Metric, latency_title, metric_of
from drivelab.charts.multiples import PANELS_MAX, multiples
from drivelab.charts.rows import Point, Row, Sweep, hidden, part, sweep
from drivelab.charts.theme import (
    DASHES,
    LINE_COLOURS,
    SOFT,
    Chart,
    Panel,
    colours,
    dress,
    heading,
    inline,
    layer,
)
from drivelab.charts.ticks import SIZE_LABEL, fitting, labelled, log_axis, log_labels
from drivelab.scenarios.firmware import range_note

WIDTH = 680
HEIGHT_IOPS = 270
HEIGHT_LATENCY = 240
PANEL_GAP = 14

# Above this many lines, one panel for three statistics is unreadable.
_SHARED_PANEL_LINES = 3
# IOPS start at zero unless the smallest would then lie on the axis.
_LOG_IOPS_RATIO = 40.0
_LEGEND_ROWS = 22
_BAND_OPACITY = 0.14
# Characters of a note in one line.
_NOTE_CHARS = 125
# As many steps of the ramp as the eye can distinguish.
_COLOURS_MAX = 16


def depth(
    points: Sequence[Point], title: str | None = None, *, metric: str = "iops", notes: Sequence[str] = ()
) -> alt.VConcatChart:
    """The rate (top) and the latency in ms: mean, p99, max (bottom), over queue depth; or what else `metric` names.

    `metric` is one of `METRICS`: "iops" and "mbps" have the latency below them, "latency" is it alone, and "mean",
    "p99", "max" and others are one statistic of it. If there are more lines than named colours, each gets its own
    panel, on one scale, with the others in grey behind. Points that no line joins are grouped bars.

    `points` are dicts as in `simulate --json`: `axes`, `iops`, `bytes_per_s`, `depth` {`asked`, `achieved`},
    `latency_ns`. x is the swept `iodepth`, `outstanding` or `numjobs`, else the depth asked, else the axis
    with the most values. Nulls leave gaps. Raises ChartError where there is nothing to draw.
    """
    wanted = metric_of(metric)
    plan = sweep(points)
    rows, tail = wanted.rates(plan), wanted.latencies(plan)
    if not rows and not tail:
        raise wanted.missing()
    text = _title(plan, wanted) if title is None else title
    remarks = [*notes, *plan.notes()]
    if is_grouped(plan):
        remarks += _of_ranges(points, rows, wanted, "Thin dark line")
        return dress(alt.vconcat(groups(plan, wanted), title=heading(text, _wrapped(remarks))))
    if len(LINE_COLOURS) < len(plan.series) <= PANELS_MAX:
        small = multiples(plan, rows, tail, wanted, _x_axis)
        remarks += _of_ranges(points, rows, wanted, "Shaded band")
        return dress(small.properties(title=heading(text, _wrapped(remarks))))
    style = _style(plan)
    panels: list[Any] = []
    if wanted.rate:
        rates = _panel(plan, rows, style, _rate_axis(rows, wanted), height=HEIGHT_IOPS, is_first=True)
        if any(row[f"{wanted.rate}_low"] is not None for row in rows):
            # Below the lines: the range of the figure for a drive whose queue was never measured.
            rates = layer(_band(plan, rows, style, wanted.rate), rates)
        panels.append(rates)
    panels.append(_latency(plan, tail, style, wanted))
    remarks += [*_of_ranges(points, rows, wanted, "Shaded band"), *_hidden(plan)]
    return dress(alt.vconcat(*panels, spacing=18, title=heading(text, _wrapped(remarks))))


def _title(plan: Sweep, metric: Metric) -> str:
    """A title of a picture that has none."""
    over = "queue depth" if plan.x_is_depth and plan.x_title != "Jobs" else plan.x_title.lower()
    if not is_grouped(plan):
        return f"{metric.title} over {over}"
    names = [name.lower() for name in plan.line_axes]
    return (
        f"{metric.title} by {', '.join([*names, *([over] if len(plan.x_values) > 1 or not names else [])])}"
    )


def _of_ranges(points: Sequence[Point], rows: Sequence[Row], metric: Metric, what: str) -> list[str]:
    """What the band of a picture says, if it has one."""
    if not any(row[f"{metric.rate}_low"] is not None for row in rows):
        return []
    drawn = [point for point in points if part(point, "in_force").get("firmware")]
    return [
        f"{what}: {range_note(drawn) or 'the range of the rate; the queue of this drive was not measured'}"
    ]


def _wrapped(notes: Sequence[str]) -> list[str]:
    """Notes in lines that are no wider than the picture."""
    return [line for note in notes for line in textwrap.wrap(note, _NOTE_CHARS) or [""]]


def _hidden(plan: Sweep) -> list[str]:
    """Names the lines that are hidden by another because all their figures are equal: nobody would find them."""
    figures = {
        name: tuple(
            (row["x"], row["iops"], *(row[part] for part in STATISTICS))
            for row in plan.rows
            if row["series"] == name
        )
        for name in plan.series
    }
    return hidden(figures)


@dataclass(frozen=True)
class _Second:
    """The axis that the dash distinguishes; `places` index dashes."""

    field: str
    title: str
    names: list[str]
    places: list[int]

    def dash(self) -> alt.StrokeDash:
        """The axis as the dash of a line."""
        dashes = [list(DASHES[place]) for place in self.places]
        legend = alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeWidth=2, symbolStrokeColor=SOFT)
        scale = alt.Scale(domain=self.names, range=dashes)
        return alt.StrokeDash(f"{self.field}:N", title=self.title, scale=scale, legend=legend)


@dataclass(frozen=True)
class _Style:
    """How lines are distinguished: the axis of the colour, and the second axis if the dash shows one."""

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
            symbolType="circle",
            symbolOpacity=1,
            symbolLimit=len(names),
            columns=1 + (len(names) - 1) // _LEGEND_ROWS,
        ),
    )
    return _Style(colour, second, alt.selection_point(name="picked", fields=[field], bind="legend"))


def _colour_and_dash(plan: Sweep) -> tuple[int, int] | None:
    """Which of two axes is colour and which is dash; None if the combination of both must be the colour."""
    if len(plan.line_axes) != 2 or len(plan.series) <= _SHARED_PANEL_LINES:
        return None
    sizes = [len(keys) for keys in plan.line_keys]
    pairs = ((0, 1), (1, 0))
    return next((p for p in pairs if sizes[p[0]] <= _COLOURS_MAX and sizes[p[1]] <= len(DASHES)), None)


def _latency(plan: Sweep, tail: list[Row], style: _Style, metric: Metric) -> Panel | alt.HConcatChart:
    """The latency panel, or one panel for each statistic, all on one logarithmic scale in ms."""
    values = [row["ms"] for row in tail]
    is_first = metric.rate is None
    present = [name for name in metric.statistics if any(row["statistic"] == name for row in tail)]
    if len(metric.statistics) == 1:
        name = latency_title(metric.statistics[0])
        y = _log_y("ms", f"{name[:1].upper()}{name[1:]}, ms", values, HEIGHT_IOPS)
        return _panel(plan, tail, style, y, height=HEIGHT_IOPS, is_first=is_first)
    y = _log_y("ms", "Latency, ms", values, HEIGHT_LATENCY)
    if len(plan.series) <= _SHARED_PANEL_LINES:
        return _panel(plan, tail, style, y, height=HEIGHT_LATENCY, statistics=present, is_first=is_first)
    width = (WIDTH - PANEL_GAP * (len(present) - 1)) / max(len(present), 1)
    panels = []
    for place, name in enumerate(present):
        axis = y if place == 0 else _log_y("ms", None, values, HEIGHT_LATENCY)
        shown = [row for row in tail if row["statistic"] == name]
        first = is_first and place == 0
        panel = _panel(plan, shown, style, axis, height=HEIGHT_LATENCY, width=width, is_first=first)
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
    is_first: bool = False,
) -> Panel:
    """Lines with a mark at each point. `statistics` are dashes."""
    channels: dict[str, Any] = {"x": _x_axis(plan, width), "y": y, "color": style.colour}
    channels["detail"] = "series:N"
    if style.picked is not None:
        channels["opacity"] = alt.when(style.picked).then(alt.value(1)).otherwise(alt.value(0.12))
    second = style.second
    if statistics:
        places = [STATISTICS.index(name) for name in statistics]
        second = _Second("statistic", "Latency", list(statistics), places)
    base = Chart(inline(rows))
    dots = base.mark_point(filled=True, size=38, opacity=1).encode(**channels, tooltip=_tooltip(plan, rows))
    if second is not None:
        channels["strokeDash"] = second.dash()
    line = base.mark_line(strokeWidth=1.8, strokeJoin="round").encode(**channels)
    layered = layer(line, dots).properties(width=width, height=height)
    # One view, the first, holds the selection; its legend dims the lines of all of them.
    return layered.add_params(style.picked) if style.picked is not None and is_first else layered


def _band(plan: Sweep, rows: list[Row], style: _Style, rate: str) -> Panel:
    """The range of each line whose firmware is that of its class; at points without a range it closes on the line."""
    closed = [
        {
            **row,
            **{key: row[rate] if row[key] is None else row[key] for key in (f"{rate}_low", f"{rate}_high")},
        }
        for row in rows
    ]
    band: Panel = (
        Chart(inline(closed))
        .mark_area(opacity=_BAND_OPACITY)
        .encode(
            x=_x_axis(plan, WIDTH),
            y=alt.Y(f"{rate}_low:Q"),
            y2=f"{rate}_high:Q",
            color=style.colour,
            detail="series:N",
        )
    )
    return band


def _x_axis(plan: Sweep, width: float) -> alt.X:
    """Numbers on a linear or log axis, with a tick at each value that has room."""
    low, high = min(plan.x_values), max(plan.x_values)
    if plan.x_scale == "log":
        margin = 2.0 if low == high else (high / low) ** 0.04
        domain = [low / margin, high * margin]
        scale = alt.Scale(type="log", base=2, domain=domain, nice=False)
    else:
        space = (high - low) * 0.04 or max(abs(low) / 2, 0.5)
        domain = [low - space, high + space]
        scale = alt.Scale(type="linear", domain=domain, nice=False, zero=False)
    form = SIZE_LABEL if plan.x_is_size else ".10~r"
    ticks = _ticks(plan, domain, width, form)
    axis = alt.Axis(
        values=alt.Undefined if ticks is None else ticks,
        tickCount=8 if ticks is None else alt.Undefined,
        # Vega's own format rounds to the step between ticks, and shows 55 as 60.
        labelExpr=form if plan.x_is_size else labelled(form),
        labelOverlap="greedy" if ticks is None else False,
        labelSeparation=3,
    )
    return alt.X("x:Q", title=plan.x_title, scale=scale, axis=axis)


def _ticks(plan: Sweep, domain: Sequence[float], width: float, form: str) -> list[float] | None:
    """A tick at each value if the labels have room, else at round numbers; None if Vega may choose."""
    values: list[float] = plan.x_values
    is_log = plan.x_scale == "log"
    if len(fitting(values, domain, width, across=True, form=form, is_log=is_log)) == len(values):
        return values
    if not is_log:
        return None
    if plan.x_is_depth or plan.x_is_size:
        octaves = range(math.ceil(math.log2(values[0])), math.floor(math.log2(values[-1])) + 1)
        values = [float(2**octave) for octave in octaves] if len(octaves) > 2 else values
        return fitting(values, domain, width, across=True, form=form)
    ticks = log_axis(values, width, across=True, form=form)[1]
    return [tick for tick in ticks if values[0] <= tick <= values[-1]] or values[:1]


def _rate_axis(rows: list[Row], metric: Metric) -> alt.Y:
    """The rate from zero, or logarithmic where one end of the sweep would be invisible."""
    rate = str(metric.rate)
    values = [row[rate] for row in rows]
    values += [row[f"{rate}_high"] for row in rows if row[f"{rate}_high"] is not None]
    above = [value for value in values if value > 0]
    if above and len(above) == len(values) and max(above) > _LOG_IOPS_RATIO * min(above):
        ends = [row[f"{rate}_low"] for row in rows if row[f"{rate}_low"] is not None]
        return _log_y(rate, metric.rate_title, [*above, *ends], HEIGHT_IOPS)
    top = max(values, default=0.0) * 1.06 or 1.0
    scale = alt.Scale(domain=[0, top], nice=False)
    return alt.Y(f"{rate}:Q", title=metric.rate_title, scale=scale, axis=alt.Axis(tickCount=6))


def _log_y(field: str, title: str | None, values: list[float], height: float) -> alt.Y:
    """A logarithmic y axis around `values`; without a title it has no labels either: the neighbour has them."""
    named = title is not None
    domain, ticks = log_axis(values or [1.0], height)
    return alt.Y(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(**log_labels(ticks), labels=named, ticks=named),
    )


def _tooltip(plan: Sweep, rows: list[Row]) -> list[alt.Tooltip]:
    """The tooltip of a mark: its place, and everything that was measured there."""
    found = [alt.Tooltip("x:Q", title=plan.x_title)]
    found += [alt.Tooltip(f"key_{index}:N", title=name) for index, name in enumerate(plan.line_axes)]
    return found + measured(rows)
