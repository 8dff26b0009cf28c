"""Many lines as small panels: one line in each, in colour, on one scale, with all the others in grey behind it.

Nobody can distinguish twelve colours of one ramp; the position of a panel is unambiguous.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from drivelab.charts.metrics import Metric, latency_title
from drivelab.charts.rows import Row, Sweep
from drivelab.charts.theme import GRID, LINE_COLOURS, Chart, Panel, inline, layer
from drivelab.charts.ticks import log_axis, log_labels

PANELS_MAX = 24
"""More lines than this cannot be shown in either form."""
COLUMNS = 4
_COLUMNS_MAX = 5
_BAND_OPACITY = 0.14
_WIDTH, _HEIGHT = 185, 110
_BEHIND = "#d0d0d0"
# IOPS start at zero unless the smallest would then lie on the axis.
_LOG_RATIO = 40.0

XAxis = Callable[[Sweep, float], alt.X]


def multiples(
    plan: Sweep, rows: Sequence[Row], tail: Sequence[Row], metric: Metric, x_axis: XAxis
) -> alt.VConcatChart:
    """Panels of the rate, and below them panels of the first statistic of the latency, a line of the sweep in each."""
    first = metric.statistics[0]
    name = latency_title(first)
    latencies = [row for row in tail if row["statistic"] == first]
    blocks = [
        _block(plan, found, field, text, x_axis)
        for found, field, text in (
            (rows, str(metric.rate), metric.rate_title),
            (latencies, "ms", f"{name[:1].upper()}{name[1:]}, ms"),
        )
        if found
    ]
    return alt.vconcat(*blocks, spacing=26)


def _columns(plan: Sweep) -> int:
    """As many panels in a row as the last axis has values, if every combination is there: its values are below each
    other.
    """
    sizes = [len(keys) for keys in plan.line_keys]
    is_whole = len(sizes) > 1 and math.prod(sizes) == len(plan.series)
    return sizes[-1] if is_whole and 1 < sizes[-1] <= _COLUMNS_MAX else COLUMNS


def _block(plan: Sweep, rows: Sequence[Row], field: str, text: str, x_axis: XAxis) -> alt.ConcatChart:
    panels = []
    columns = _columns(plan)
    for place, name in enumerate(plan.series):
        y = _y(rows, field, text if place % columns == 0 else None)
        own = [row for row in rows if row["series"] == name]
        others = [row for row in rows if row["series"] != name]
        is_last = place + columns >= len(plan.series)
        panels.append(
            _panel(plan, own, others, y, x_axis, titled=is_last).properties(
                title=alt.TitleParams(name, fontSize=11.5, anchor="middle", offset=4)
            )
        )
    words = f"{text}, by {plan.series_title}" if plan.series_title else text
    return alt.concat(*panels, columns=columns, spacing=12).properties(
        title=alt.TitleParams(words, fontSize=13, anchor="start", offset=8)
    )


def _panel(
    plan: Sweep, own: Sequence[Row], others: Sequence[Row], y: alt.Y, x_axis: XAxis, *, titled: bool
) -> Panel:
    """One line in front of the others, with its range if it has one."""
    x = x_axis(plan, _WIDTH)
    if not titled:
        x = x.title(None)
    field = str(y.shorthand)
    rate = field.removesuffix(":Q")
    tooltip: list[Any] = [
        alt.Tooltip("series:N", title=plan.series_title),
        alt.Tooltip("x:Q", title=plan.x_title),
        alt.Tooltip(field, format=",.4~g"),
    ]
    behind = Chart(inline(others)).mark_line(strokeWidth=1, color=_BEHIND).encode(x=x, y=y, detail="series:N")
    layers = [behind]
    if any(row.get(f"{rate}_low") is not None for row in own):
        ends = (f"{rate}_low", f"{rate}_high")
        closed = [
            {**row, **{end: row[rate] if row[end] is None else row[end] for end in ends}} for row in own
        ]
        band = Chart(inline(closed)).mark_area(opacity=_BAND_OPACITY, color=LINE_COLOURS[0])
        layers.append(
            band.encode(x=x, y=alt.Y(f"{ends[0]}:Q", scale=y["scale"], title=y["title"]), y2=f"{ends[1]}:Q")
        )
    base = Chart(inline(own))
    layers.append(base.mark_line(strokeWidth=2, color=LINE_COLOURS[0], strokeJoin="round").encode(x=x, y=y))
    dots = base.mark_point(filled=True, size=30, opacity=1, color=LINE_COLOURS[0])
    layers.append(dots.encode(x=x, y=y, tooltip=tooltip))
    return layer(*layers).properties(width=_WIDTH, height=_HEIGHT)


def _y(rows: Sequence[Row], field: str, title: str | None) -> alt.Y:
    """One scale for all panels of a block; only the first of each row has its title."""
    values = [row[field] for row in rows if row[field] and row[field] > 0]
    values += [row[end] for row in rows for end in (f"{field}_low", f"{field}_high") if row.get(end)]
    if values and (field == "ms" or max(values) > _LOG_RATIO * min(values)):
        domain, ticks = log_axis(values, _HEIGHT)
        scale = alt.Scale(type="log", domain=domain, nice=False)
        axis = alt.Axis(**log_labels(ticks), minExtent=30, gridColor=GRID)
    else:
        scale = alt.Scale(domain=[0, max(values, default=1.0) * 1.08], nice=False)
        axis = alt.Axis(tickCount=4, minExtent=30, gridColor=GRID)
    return alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis)
