"""The response times of one point as a distribution: the picture of a single run."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Point, Row, number, part, scaled
from drivelab.charts.theme import INK, LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer
from drivelab.charts.ticks import log_axis, log_labels
from drivelab.report.plural import counted
from drivelab.runs import hdr
from drivelab.scenarios.firmware import range_note

WIDTH = 680
HEIGHT = 300
# Number of bars; all are equally wide on a logarithmic axis.
_BARS = 60
_LOG_RATIO = 30.0
# A label beyond this share of the axis is placed left of its line.
_FAR = 0.7
_NOTE_CHARS = 118
_MARKS = (("mean", INK), ("p50", LINE_COLOURS[2]), ("p99", LINE_COLOURS[1]))


def latencies(point: Point, title: str | None = None, notes: Sequence[str] = ()) -> Panel:
    """How often each response time occurred, reads and writes stacked, with mean, median and p99 as vertical lines.

    Raises ChartInputError if the point has no histogram, or nothing finished.
    """
    counts = {name: decode(part(point, name).get("histogram") or "") for name in ("read", "write")}
    times = [ns for found in counts.values() for ns, _ in found]
    if not times:
        raise ChartInputError("the point has no response times to draw")
    low, high = max(min(times), 1) / NS_PER_MS, max(times) / NS_PER_MS
    is_log = high > _LOG_RATIO * low
    edges = _edges(low, high, is_log=is_log)
    total = sum(count for found in counts.values() for _, count in found)
    rows = [row for name, found in counts.items() for row in _bars(name, found, edges, total, is_log=is_log)]
    _stack(rows)
    latency = part(point, "latency_ns")
    rate = f"{point['iops']:,.4g} IOPS{_range(point)}, {point['bytes_per_s'] / 1e6:,.4g} MB/s, {counted(total, 'I/O')}"
    scale = alt.Scale(type="log" if is_log else "linear", domain=[edges[0], edges[-1]], nice=False)
    ticks: dict[str, Any] = {"tickCount": 10, "format": ",~r", "labelOverlap": "greedy", "labelSeparation": 4}
    if is_log:
        ticks = log_labels(log_axis([low, high], WIDTH, across=True)[1])
    x = alt.X(
        "low:Q",
        title="Response time, ms",
        scale=scale,
        axis=alt.Axis(**ticks),
    )
    present = [name for name, found in counts.items() if found]
    colour = alt.Color(
        "access:N",
        title=None,
        scale=alt.Scale(domain=present, range=[LINE_COLOURS[0], LINE_COLOURS[4]][: len(present)]),
        legend=alt.Legend(orient="top") if len(present) > 1 else None,
    )
    tooltip = [
        alt.Tooltip("access:N"),
        alt.Tooltip("low:Q", title="from, ms", format=",.4~g"),
        alt.Tooltip("high:Q", title="to, ms", format=",.4~g"),
        alt.Tooltip("share:Q", title="I/Os, %", format=".2f"),
    ]
    bars = (
        Chart(inline(rows))
        .mark_rect()
        .encode(
            x=x, x2="high:Q", y=alt.Y("from:Q", title="I/Os, %"), y2="to:Q", color=colour, tooltip=tooltip
        )
    )
    marks = []
    for place, (name, ink) in enumerate(_MARKS):
        value = scaled(latency.get(name), NS_PER_MS)
        if value is not None and value > 0:
            one = Chart(inline([{"at": value, "text": f"{name} {value:,.4g} ms"}]))
            at = alt.X("at:Q", scale=scale)
            marks.append(one.mark_rule(color=ink, strokeWidth=1.4, strokeDash=[4, 3]).encode(x=at))
            far = math.log(value / low) / math.log(high / low) if is_log else value / high
            # The median is usually left of the mean, and close to it.
            mean = scaled(latency.get("mean"), NS_PER_MS) or 0.0
            left = far > _FAR or (name == "p50" and value < mean)
            side: dict[str, Any] = {"align": "right", "dx": -4} if left else {"align": "left", "dx": 4}
            words = one.mark_text(**side, fontSize=11, color=ink if ink != INK else SOFT, fontWeight="bold")
            marks.append(words.encode(x=at, y=alt.value(10 + 15 * place), text="text:N"))
    text = "Response times" if title is None else title
    chart = layer(bars, *marks).properties(
        width=WIDTH, height=HEIGHT, title=heading(text, [*notes, rate, *_why_ranged(point)])
    )
    return dress(chart)


def _range(point: Point) -> str:
    """Where the rate may lie, if it has a range."""
    low, high = number(point.get("iops_low")), number(point.get("iops_high"))
    return "" if low is None or high is None else f" ({low:,.4g} to {high:,.4g})"


def _why_ranged(point: Point) -> list[str]:
    """What the range is drawn from, in lines that are no wider than the picture."""
    note = range_note([point]) if part(point, "in_force") else None
    return textwrap.wrap(note or "", _NOTE_CHARS)


def _edges(low: float, high: float, *, is_log: bool) -> list[float]:
    """The edges of the bars, from a little below the minimum to a little above the maximum."""
    if is_log:
        step = (high / low) ** (1 / _BARS) if high > low else 1.1
        return [low * 0.999 * step**bar for bar in range(_BARS + 2)]
    step = (high * 1.001) / _BARS or 1.0
    return [step * bar for bar in range(_BARS + 1)]


def _bars(
    access: str, found: Sequence[tuple[int, int]], edges: Sequence[float], total: int, *, is_log: bool
) -> list[Row]:
    """The share of each bar."""
    sums = [0] * (len(edges) - 1)
    for ns, count in found:
        ms = max(ns, 1) / NS_PER_MS
        place = math.log(ms / edges[0]) / math.log(edges[1] / edges[0]) if is_log else ms / edges[1]
        sums[min(max(int(place), 0), len(sums) - 1)] += count
    return [
        {"access": access, "low": edges[bar], "high": edges[bar + 1], "share": 100 * count / total}
        for bar, count in enumerate(sums)
        if count
    ]


def _stack(rows: Sequence[Row]) -> None:
    """Stack the writes on the reads of the same bar."""
    tops: dict[float, float] = {}
    for row in rows:
        row["from"] = tops.get(row["low"], 0.0)
        row["to"] = tops[row["low"]] = row["from"] + row["share"]


def decode(text: str) -> list[tuple[int, int]]:
    """Values in ns with their counts, from a histogram of the record. Raises ChartInputError."""
    try:
        return hdr.decode(text)
    except ValueError as error:
        raise ChartInputError(str(error)) from error
