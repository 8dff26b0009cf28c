"""Many lines as small panels: one line in each, in colour, on one scale, with all the others in grey behind it.

Nobody can distinguish twelve colours of one ramp; the position of a panel is unambiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt

from drivelab.charts.rows import Row, Sweep
from drivelab.charts.theme import GRID, LINE_COLOURS, Panel, inline, log_axis

PANELS_MAX = 24
"""More lines than this cannot be shown in either form."""
COLUMNS = 4
_WIDTH, _HEIGHT = 185, 110
_BEHIND = "#d0d0d0"
# IOPS start at zero unless the smallest would then lie on the axis.
_LOG_RATIO = 40.0

XAxis = Callable[[Sweep, float], alt.X]


def multiples(
    plan: Sweep, rows: Sequence[Row], tail: Sequence[Row], rate: tuple[str, str], x_axis: XAxis
) -> alt.VConcatChart:
    """Panels of the rate, and below them panels of the mean latency, a line of the sweep in each."""
    mean = [row for row in tail if row["statistic"] == "mean"]
    blocks = [
        _block(plan, found, field, text, x_axis)
        for found, field, text in ((rows, *rate), (mean, "ms", "Mean latency, ms"))
        if found
    ]
    return alt.vconcat(*blocks, spacing=26)


def _block(plan: Sweep, rows: Sequence[Row], field: str, text: str, x_axis: XAxis) -> alt.ConcatChart:
    panels = []
    for place, name in enumerate(plan.series):
        y = _y(rows, field, text if place % COLUMNS == 0 else None)
        own = [row for row in rows if row["series"] == name]
        others = [row for row in rows if row["series"] != name]
        panels.append(
            _panel(plan, own, others, y, x_axis).properties(
                title=alt.TitleParams(name, fontSize=11.5, anchor="middle", offset=4)
            )
        )
    words = f"{text} — {plan.series_title}" if plan.series_title else text
    return alt.concat(*panels, columns=COLUMNS, spacing=12).properties(
        title=alt.TitleParams(words, fontSize=13, anchor="start", offset=8)
    )


def _panel(plan: Sweep, own: Sequence[Row], others: Sequence[Row], y: alt.Y, x_axis: XAxis) -> Panel:
    """One line in front of the others."""
    x = x_axis(plan, _WIDTH)
    field = str(y.shorthand)
    tooltip: list[Any] = [
        alt.Tooltip("series:N", title=plan.series_title),
        alt.Tooltip("x:Q", title=plan.x_title),
        alt.Tooltip(field, format=",.4~g"),
    ]
    behind = (
        alt.Chart(inline(others)).mark_line(strokeWidth=1, color=_BEHIND).encode(x=x, y=y, detail="series:N")
    )
    base = alt.Chart(inline(own))
    line = base.mark_line(strokeWidth=2, color=LINE_COLOURS[0], strokeJoin="round").encode(x=x, y=y)
    dots = base.mark_point(filled=True, size=30, opacity=1, color=LINE_COLOURS[0]).encode(
        x=x, y=y, tooltip=tooltip
    )
    return alt.layer(behind, line, dots).properties(width=_WIDTH, height=_HEIGHT)


def _y(rows: Sequence[Row], field: str, title: str | None) -> alt.Y:
    """One scale for all panels of a block; only the first of each row has its title."""
    values = [row[field] for row in rows if row[field] and row[field] > 0]
    if values and (field == "ms" or max(values) > _LOG_RATIO * min(values)):
        domain, ticks = log_axis(values, _HEIGHT * 0.6)
        scale = alt.Scale(type="log", domain=domain, nice=False)
        axis = alt.Axis(values=ticks, format=",~r", labelOverlap="greedy", minExtent=30, gridColor=GRID)
    else:
        scale = alt.Scale(domain=[0, max(values, default=1.0) * 1.08], nice=False)
        axis = alt.Axis(tickCount=4, minExtent=30, gridColor=GRID)
    return alt.Y(f"{field}:Q", title=title, scale=scale, axis=axis)
