"""A run over its time: IOPS, latency and depth in each interval of the window, with the mean and the last quarter.

A run is steady where those two coincide. Several points are lines of different colours, without levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Point, Row, hidden, place_name, scaled
from drivelab.charts.theme import INK, LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer
from drivelab.report.steady import ending

WIDTH = 760
HEIGHT = 150
POINTS_MAX = len(LINE_COLOURS)
"""Maximum number of points in one picture."""
# Intervals are merged until the mean one has this many I/Os, but not to fewer intervals than this.
_IOS_MIN, _PIECES_MIN = 20, 30
_PANELS = (("iops", "IOPS"), ("mean", "Mean latency, ms"), ("max", "Longest, ms"), ("depth", "Depth"))


def over_time(
    points: Sequence[Point], title: str | None = None, notes: Sequence[str] = ()
) -> alt.VConcatChart:
    """IOPS, latency and depth over time, for points as in `simulate --json`.

    Raises ChartInputError if no point has a series, or more do than one picture can compare.
    """
    found = [point for point in points if len(point.get("series") or ()) > 1 and point["iops"]]
    if not found:
        raise ChartInputError("no point has figures over time: nothing finished, or all at one instant")
    if len(found) > POINTS_MAX:
        raise ChartInputError(f"{len(found)} points: one picture compares at most {POINTS_MAX}")
    names = [place_name(point) for point in found]
    rows = [row for point, name in zip(found, names, strict=True) for row in _rows(point, name)]
    levels = _levels(found[0]) if len(found) == 1 else []
    panels = [
        _panel(
            field, text, rows, [row for row in levels if row["field"] == field], names, last=field == "depth"
        )
        for field, text in _PANELS
    ]
    text = "A run over its time" if title is None else title
    return dress(
        alt.vconcat(*panels, spacing=12, title=heading(text, [*notes, *_notes(found), *_alike(rows, names)]))
    )


def _rows(point: Point, name: str) -> list[Row]:
    """A row for each interval, at its middle; neighbours are merged while few I/Os finish in each."""
    pieces = list(point["series"])
    end_ns = pieces[0]["start_ns"] + point["window_ns"]
    ends = [later["start_ns"] for _, later in pairwise(pieces)] + [end_ns]
    spans = [
        {**piece, "end_ns": end, "latency": piece["ios"] * (piece["mean_latency_ns"] or 0.0)}
        for piece, end in zip(pieces, ends, strict=True)
    ]
    # A short last interval is noise.
    if (
        len(spans) > 1
        and spans[-1]["end_ns"] - spans[-1]["start_ns"] < (spans[0]["end_ns"] - spans[0]["start_ns"]) / 2
    ):
        spans[-2:] = [_joined(spans[-2:])]
    while len(spans) >= 2 * _PIECES_MIN and sum(span["ios"] for span in spans) < _IOS_MIN * len(spans):
        spans = [_joined(spans[at : at + 2]) for at in range(0, len(spans), 2)]
    return [
        {
            "series": name,
            "t": (span["start_ns"] + span["end_ns"]) / 2e9,
            "iops": span["ios"] * 1e9 / max(span["end_ns"] - span["start_ns"], 1),
            "mean": span["latency"] / span["ios"] / NS_PER_MS if span["ios"] else None,
            "max": scaled(span["max_latency_ns"], NS_PER_MS),
            "depth": span["depth"],
        }
        for span in spans
    ]


def _joined(spans: Sequence[Row]) -> Row:
    """Adjacent intervals as one."""
    lengths = [span["end_ns"] - span["start_ns"] for span in spans]
    longest = [span["max_latency_ns"] for span in spans if span["max_latency_ns"] is not None]
    inside = sum(span["depth"] * length for span, length in zip(spans, lengths, strict=True))
    return {
        "start_ns": spans[0]["start_ns"],
        "end_ns": spans[-1]["end_ns"],
        "ios": sum(span["ios"] for span in spans),
        "latency": sum(span["latency"] for span in spans),
        "max_latency_ns": max(longest, default=None),
        "depth": inside / max(sum(lengths), 1),
    }


def _levels(point: Point) -> list[Row]:
    """The mean of the window and of its last quarter, for rate and latency."""
    start = point["series"][0]["start_ns"] / 1e9
    end = start + point["window_ns"] / 1e9
    rows = [
        {"field": "iops", "level": point["iops"], "what": "mean", "from": start, "to": end},
        {
            "field": "mean",
            "level": point["latency_ns"]["mean"] / NS_PER_MS,
            "what": "mean",
            "from": start,
            "to": end,
        },
        {"field": "depth", "level": point["depth"]["achieved"], "what": "mean", "from": start, "to": end},
    ]
    last = ending(point)
    if last is not None and last.mean_latency_ns is not None:
        quarter = {"what": "last quarter", "from": end - (end - start) / 4, "to": end}
        rows.append({"field": "iops", "level": last.iops, **quarter})
        rows.append({"field": "mean", "level": last.mean_latency_ns / NS_PER_MS, **quarter})
    return rows


def _notes(points: Sequence[Point]) -> list[str]:
    """How to read the levels."""
    if len(points) > 1:
        return ["Each piece of the measured time, one line for each point."]
    last = ending(points[0])
    if last is None or last.latency_change is None:
        return ["Each piece of the measured time; black: the mean."]
    return [
        f"Black: the mean; orange: the last quarter, IOPS {100 * last.iops_change:+.1f} %, "
        f"mean latency {100 * last.latency_change:+.1f} %."
    ]


def _alike(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Names the lines that another hides."""
    figures = {
        name: tuple(
            tuple(row[key] for key in ("t", "iops", "mean", "max")) for row in rows if row["series"] == name
        )
        for name in names
    }
    return hidden(figures)


def _panel(
    field: str, title: str, rows: Sequence[Row], levels: Sequence[Row], names: Sequence[str], *, last: bool
) -> Panel:
    """One quantity over time, from zero."""
    values = [row[field] for row in rows if row[field] is not None] + [row["level"] for row in levels]
    scale = alt.Scale(domain=[0, max(values, default=1.0) * 1.1 or 1.0], nice=False)
    times = [row["t"] for row in rows]
    across = alt.Scale(domain=[min(times), max(times)], nice=False, zero=False)
    x = alt.X(
        "t:Q",
        title="Time since the start of the run, s" if last else None,
        scale=across,
        axis=alt.Axis(labels=last, tickCount=8, grid=False, labelOverlap="greedy"),
    )
    y = alt.Y(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=4, minExtent=40))
    colour: Any = alt.value(LINE_COLOURS[0])
    if len(names) > 1:
        colours = alt.Scale(domain=list(names), range=list(LINE_COLOURS[: len(names)]))
        legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=3) if field == "iops" else None
        colour = alt.Color("series:N", title=None, scale=colours, legend=legend)
    tooltip = [
        alt.Tooltip("series:N", title="point"),
        alt.Tooltip("t:Q", title="time, s", format=",.4~g"),
        alt.Tooltip(f"{field}:Q", title=title, format=",.4~g"),
    ]
    lines = Chart(inline(rows)).mark_line(strokeWidth=1.5, strokeJoin="round", clip=True)
    layers: list[Any] = [lines.encode(x=x, y=y, color=colour, tooltip=tooltip)]
    for what, ink in (("mean", INK), ("last quarter", LINE_COLOURS[1])):
        chosen = [row for row in levels if row["what"] == what]
        if chosen:
            rule = Chart(inline(chosen)).mark_rule(color=ink, strokeWidth=2 if ink != INK else 1.1, clip=True)
            layers.append(
                rule.encode(x=alt.X("from:Q", scale=across), x2="to:Q", y=alt.Y("level:Q", scale=scale))
            )
            figures = [{**row, "text": f"{what} {row['level']:,.4g}"} for row in chosen]
            words = Chart(inline(figures)).mark_text(
                align="left",
                dx=6,
                dy=-5 if what == "mean" else 7,
                fontSize=10.5,
                color=SOFT if ink == INK else ink,
            )
            layers.append(words.encode(x=alt.value("width"), y=alt.Y("level:Q", scale=scale), text="text:N"))
    return layer(*layers).properties(width=WIDTH, height=HEIGHT)
