"""Time per request over its size, and the residuals of the first-order model: time = latency + size / rate.

Marks are requests, lines the models, and below them are the residuals at each size: above zero the requests take
longer than the model says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import BYTES_PER_MB, NS_PER_MS, Row
from drivelab.charts.theme import INK, LINE_COLOURS, Chart, Panel, dress, heading, inline, layer
from drivelab.charts.ticks import SIZE_LABEL, fitting, log_axis, log_labels
from drivelab.scenarios.sizes import size_with_unit

WIDTH = 860
HEIGHT_TIME, HEIGHT_MISS = 300, 190
_SHAPES = ("circle", "triangle-up")
# Residuals smaller than this do not fill the panel.
_MISS_LEAST = 10.0


def sizes(scan: Mapping[str, Any], title: str | None = None) -> alt.VConcatChart:
    """Time over size with both models (top) and the residuals (bottom).

    `scan` is a dict as in `drivelab scan --sizes --json`. Raises ChartError if it has no sizes.
    """
    rows = [row for direction in scan.get("directions") or () for row in _rows(direction)]
    if not rows:
        raise ChartInputError("the scan has no sizes to draw")
    names = list(dict.fromkeys(row["direction"] for row in rows))
    notes = [_model(direction) for direction in scan["directions"]]
    chart = alt.vconcat(
        _times(rows, names),
        _misses(rows, names),
        spacing=18,
        title=heading(
            title or f"{scan.get('name', 'drive')}: time per request = latency + size / rate", notes
        ),
    )
    return dress(chart)


def _rows(direction: Mapping[str, Any]) -> list[Row]:
    return [
        {
            "direction": direction["direction"],
            "size": size["size_bytes"],
            "text": size_with_unit(size["size_bytes"]),
            "ms": size["mean_ns"] / NS_PER_MS,
            "model": size["model_ns"] / NS_PER_MS,
            "miss": 100 * size["miss"],
        }
        for size in direction["sizes"]
    ]


def _model(direction: Mapping[str, Any]) -> str:
    worst = max(direction["sizes"], key=lambda size: abs(size["miss"]))
    return (
        f"{direction['direction']}: {direction['latency_ns'] / NS_PER_MS:.2f} ms + size / "
        f"{direction['bytes_per_s'] / BYTES_PER_MB:.1f} MB/s; missed most at {size_with_unit(worst['size_bytes'])}, "
        f"by {worst['miss']:+.1%}"
    )


def _x(rows: list[Row], *, titled: bool) -> alt.X:
    sizes_ = sorted({float(row["size"]) for row in rows})
    domain = [sizes_[0] / 1.5, sizes_[-1] * 1.5]
    axis = alt.Axis(
        values=fitting(sizes_, domain, WIDTH, across=True, form=SIZE_LABEL),
        labels=titled,
        labelExpr=SIZE_LABEL,
        labelOverlap=False,
    )
    return alt.X(
        "size:Q",
        title="Size of a request" if titled else None,
        scale=alt.Scale(type="log", base=2, domain=domain, nice=False),
        axis=axis,
    )


def _colour(names: list[str]) -> alt.Color:
    scale = alt.Scale(domain=names, range=list(LINE_COLOURS[: len(names)]))
    return alt.Color("direction:N", title="Request", scale=scale)


def _shape(names: list[str]) -> alt.Shape:
    return alt.Shape(
        "direction:N", title="Request", scale=alt.Scale(domain=names, range=list(_SHAPES[: len(names)]))
    )


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("direction:N", title="request"),
        alt.Tooltip("text:N", title="size"),
        alt.Tooltip("ms:Q", title="took, ms", format=",.3f"),
        alt.Tooltip("model:Q", title="model, ms", format=",.3f"),
        alt.Tooltip("miss:Q", title="miss, %", format="+.1f"),
    ]


def _times(rows: list[Row], names: list[str]) -> Panel:
    """Requests as marks, the models as lines."""
    times = [row[name] for row in rows for name in ("ms", "model") if row[name] > 0]
    domain, ticks = log_axis(times, HEIGHT_TIME)
    scale = alt.Scale(type="log", domain=domain, nice=False)
    axis = alt.Axis(**log_labels(ticks))
    base = Chart(inline(rows))
    x, colour = _x(rows, titled=False), _colour(names)
    lines = base.mark_line(strokeWidth=1.2).encode(
        x=x, y=alt.Y("model:Q", title="Time per request, ms", scale=scale, axis=axis), color=colour
    )
    marks = base.mark_point(filled=True, size=42, opacity=0.9).encode(
        x=x, y=alt.Y("ms:Q", scale=scale), color=colour, shape=_shape(names), tooltip=_tooltip()
    )
    return layer(lines, marks).properties(width=WIDTH, height=HEIGHT_TIME)


def _misses(rows: list[Row], names: list[str]) -> Panel:
    """By how much each size took longer than the model says."""
    limit = max(_MISS_LEAST, *(abs(row["miss"]) for row in rows)) * 1.1
    y = alt.Y(
        "miss:Q",
        title="Longer than the model, %",
        scale=alt.Scale(domain=[-limit, limit], nice=False),
        axis=alt.Axis(tickCount=7),
    )
    base = Chart(inline(rows))
    x, colour = _x(rows, titled=True), _colour(names)
    zero = Chart(inline([{"miss": 0}])).mark_rule(color=INK, strokeWidth=0.8).encode(y=y)
    lines = base.mark_line(strokeWidth=1.4).encode(x=x, y=y, color=colour)
    marks = base.mark_point(filled=True, size=42, opacity=0.9).encode(
        x=x, y=y, color=colour, shape=_shape(names), tooltip=_tooltip()
    )
    return layer(zero, lines, marks).properties(width=WIDTH, height=HEIGHT_MISS)
