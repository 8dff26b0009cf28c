"""An array over time: the performance for its hosts while a member is missing and a new one is rebuilt.

Latency on top, IOPS below it, then errors if there were any, and at the bottom the progress of the rebuild. Thin
vertical lines are events of the array. Several points are lines of different colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Point, Row, part, place_name, scaled
from drivelab.charts.theme import INK, LINE_COLOURS, Chart, Panel, dress, heading, inline, layer
from drivelab.charts.ticks import log_axis, log_labels
from drivelab.report.array_summary import INSTANTS_SHOWN_MAX, is_eventful, sync_text, timeline

WIDTH = 860
HEIGHT, HEIGHT_LOW = 230, 130
# Maximum number of points in one picture: nobody can distinguish more colours than these.
POINTS_MAX = len(LINE_COLOURS)
# Intervals are merged until the mean one has this many I/Os, but not to fewer intervals than this.
IOS_MIN, PIECES_MIN = 20, 60
# A log axis for latencies whose maximum is this many times the minimum.
_LOG_RATIO = 20.0
_CHAR_PX, _LABEL_PX = 6.0, 14
_UNITS = ((7_200e9, 3_600e9, "h"), (240e9, 60e9, "min"), (0.0, 1e9, "s"))


@dataclass(frozen=True)
class _Panel:
    """A quantity over time: the field of the rows, its title, its height, and the axis."""

    field: str
    title: str
    height: int
    scale: alt.Scale
    values: list[float] | None = None


@dataclass(frozen=True)
class _Time:
    """The axis that all panels share."""

    title: str
    scale: alt.Scale


def rebuild(points: Sequence[Point]) -> alt.VConcatChart:
    """Latency, IOPS, errors and progress over time, for points as in `simulate --json` with an array.

    Raises ChartInputError if no point has an array, or more do than one picture can compare.
    """
    found = [point for point in points if part(point, "array").get("series")]
    if not found:
        raise ChartInputError("no point has an array: give target.array a level and members")
    if len(found) > POINTS_MAX:
        raise ChartInputError(f"{len(found)} points: one picture compares at most {POINTS_MAX}")
    names = [place_name(point) for point in found]
    end_ns = max(_ends(point, point["array"]["series"])[-1] for point in found)
    per_unit, unit = next((size, name) for least, size, name in _UNITS if end_ns >= least)
    rows = [row for point, name in zip(found, names, strict=True) for row in _rows(point, name, per_unit)]
    events, crowded = _events(found, names, per_unit, end_ns)
    x = _Time(
        f"Time since the start of the run, {unit}", alt.Scale(domain=[0, end_ns / per_unit], nice=False)
    )
    panels = _panels(rows)
    drawn = [
        _draw(panel, rows, events, x, names, first=panel is panels[0], last=panel is panels[-1])
        for panel in panels
    ]
    return dress(
        alt.vconcat(*drawn, spacing=16, title=heading(_title(found), _notes(found, names, crowded=crowded)))
    )


def _series(point: Point) -> list[Row]:
    """The intervals, merged in pairs while few I/Os finish in each: the mean of two I/Os is only noise."""
    pieces = [dict(piece) for piece in point["array"]["series"]]
    ios = sum(piece["ios"] for piece in pieces)
    while len(pieces) >= 2 * PIECES_MIN and ios < IOS_MIN * len(pieces):
        pieces = [_joined(pieces[at : at + 2]) for at in range(0, len(pieces), 2)]
    return pieces


def _joined(pieces: Sequence[Row]) -> Row:
    """Adjacent intervals as one."""
    ios = sum(piece["ios"] for piece in pieces)
    seconds = sum(piece["ios"] / piece["iops"] for piece in pieces if piece["iops"])
    timed = [piece for piece in pieces if piece["mean_latency_ns"] is not None]
    idle = any(not piece["iops"] for piece in pieces)
    return {
        "start_ns": pieces[0]["start_ns"],
        "ios": ios,
        # The length of an interval in which nothing finished is unknown; all are of one length, except the
        # last.
        "iops": ios / seconds * (len(timed) / len(pieces) if idle else 1) if ios else 0.0,
        "errors": sum(piece["errors"] for piece in pieces),
        "mean_latency_ns": sum(piece["ios"] * piece["mean_latency_ns"] for piece in timed) / ios
        if ios
        else None,
        "max_latency_ns": max((piece["max_latency_ns"] for piece in timed), default=None),
        "rebuilt": pieces[-1]["rebuilt"],
    }


def _ends(point: Point, series: Sequence[Row]) -> list[int]:
    """The end of each interval of the series: the start of the next. That of the last follows from its own rate."""
    starts = [int(piece["start_ns"]) for piece in series]
    length = starts[1] - starts[0] if len(starts) > 1 else int(point["window_ns"])
    last = series[-1]
    if last["iops"]:
        length = round(last["ios"] / last["iops"] * 1e9)
    return [later for _, later in pairwise(starts)] + [starts[-1] + length]


def _is_alone(series: Sequence[Row], at: int, key: str) -> bool:
    """Whether no line can be drawn to an interval, because its neighbours have no value."""
    beside = [series[other][key] for other in (at - 1, at + 1) if 0 <= other < len(series)]
    return series[at][key] is not None and all(value is None for value in beside)


def _rows(point: Point, name: str, per_unit: float) -> list[Row]:
    """A row for each interval: rates at its middle, progress at its end."""
    rows = []
    series = _series(point)
    for at, (piece, end_ns) in enumerate(zip(series, _ends(point, series), strict=True)):
        start_ns = int(piece["start_ns"])
        rows.append(
            {
                "series": name,
                "alone": _is_alone(series, at, "mean_latency_ns"),
                "t": (start_ns + end_ns) / 2 / per_unit,
                "end": end_ns / per_unit,
                "iops": piece["iops"],
                "mean": scaled(piece["mean_latency_ns"], NS_PER_MS),
                "max": scaled(piece["max_latency_ns"], NS_PER_MS),
                "errors": piece["errors"] * 1e9 / (end_ns - start_ns),
                "rebuilt": scaled(piece["rebuilt"], 0.01),
            }
        )
    return rows


def _panels(rows: Sequence[Row]) -> list[_Panel]:
    """Latency and IOPS always, the others if there is anything to see."""
    shown = ("mean", "max") if len({row["series"] for row in rows}) == 1 else ("mean",)
    latencies = [row[key] for row in rows for key in shown if row[key]]
    low_panels = []
    if any(row["errors"] for row in rows):
        low_panels.append(_Panel("errors", "Errors/s", HEIGHT_LOW, _from_zero(rows, "errors")))
    if any(row["rebuilt"] is not None for row in rows):
        low_panels.append(_Panel("rebuilt", "Rebuilt, %", HEIGHT_LOW, alt.Scale(domain=[0, 100], nice=False)))
    first = _Panel("mean", "Latency, ms", HEIGHT, _from_zero(rows, *shown))
    if latencies and max(latencies) >= _LOG_RATIO * min(latencies):
        domain, ticks = log_axis(latencies, HEIGHT)
        first = _Panel("mean", "Latency, ms", HEIGHT, alt.Scale(type="log", domain=domain, nice=False), ticks)
    return [first, _Panel("iops", "IOPS", HEIGHT_LOW, _from_zero(rows, "iops")), *low_panels]


def _from_zero(rows: Sequence[Row], *fields: str) -> alt.Scale:
    """A linear axis from zero with a margin above the largest value."""
    top = max((row[field] for row in rows for field in fields if row[field]), default=1.0)
    return alt.Scale(domain=[0, top * 1.08], nice=False)


def _draw(
    panel: _Panel,
    rows: Sequence[Row],
    events: Sequence[Row],
    x: _Time,
    names: Sequence[str],
    *,
    first: bool,
    last: bool,
) -> Panel:
    """One quantity over time, with the events of the array behind it."""
    axis = alt.Axis(tickCount=10, labels=last, title=x.title if last else None, grid=False)
    across = alt.X("end:Q" if panel.field == "rebuilt" else "t:Q", scale=x.scale, axis=axis)
    ticks: dict[str, Any] = (
        {"tickCount": 5, "format": ",~r"} if panel.values is None else log_labels(panel.values)
    )
    y = alt.Y(
        f"{panel.field}:Q",
        title=panel.title,
        scale=panel.scale,
        axis=alt.Axis(minExtent=48, **ticks),
    )
    colour: Any = alt.value(LINE_COLOURS[0])
    if len(names) > 1:
        scale = alt.Scale(domain=list(names), range=list(LINE_COLOURS[: len(names)]))
        colour = alt.Color(
            "series:N",
            title=None,
            scale=scale,
            legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=3) if first else None,
        )
    base = Chart(inline(rows))
    alone = base.transform_filter("datum.alone")
    layers: list[Any] = [_rules(events, x)]
    if first and len(names) == 1:
        above = {"x": across, "y": alt.Y("max:Q", scale=panel.scale)}
        layers.append(base.mark_line(color=LINE_COLOURS[5], strokeWidth=0.9).encode(**above))
        layers.append(alone.mark_circle(color=LINE_COLOURS[5], size=9, opacity=1).encode(**above))
    layers.append(
        base.mark_line(strokeWidth=1.7, strokeJoin="round", clip=True).encode(
            x=across, y=y, color=colour, tooltip=_tooltip(x, panel)
        )
    )
    if first:
        # A value without neighbours cannot be joined by a line.
        layers.append(alone.mark_circle(size=16, opacity=1, clip=True).encode(x=across, y=y, color=colour))
        layers += _labels(events, x)
    return layer(*layers).properties(width=WIDTH, height=panel.height)


def _tooltip(x: _Time, panel: _Panel) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("series:N", title="point"),
        alt.Tooltip("t:Q", title=x.title, format=",.4~g"),
        alt.Tooltip(f"{panel.field}:Q", title=panel.title, format=",.4~g"),
    ]


def _rules(events: Sequence[Row], x: _Time) -> alt.Chart:
    """A vertical line at each event."""
    rules: alt.Chart = (
        Chart(inline(events))
        .mark_rule(strokeWidth=1, strokeDash=[3, 3], opacity=0.8)
        .encode(
            x=alt.X("t:Q", scale=x.scale),
            color=alt.Color("colour:N", scale=None),
            tooltip=[
                alt.Tooltip("what:N", title="event"),
                alt.Tooltip("t:Q", title=x.title, format=",.5~g"),
            ],
        )
    )
    return rules


def _labels(events: Sequence[Row], x: _Time) -> list[alt.Chart]:
    """The events, named above the top panel, in as many lines as it takes to keep the words apart."""
    texts = []
    for row in events:
        side: dict[str, Any] = {"align": "right", "dx": -3} if row["right"] else {"align": "left", "dx": 3}
        texts.append(
            Chart(inline([row]))
            .mark_text(**side, dy=-8 - _LABEL_PX * row["line"], fontSize=10.5)
            .encode(
                x=alt.X("t:Q", scale=x.scale),
                y=alt.value(0),
                text="what:N",
                color=alt.Color("colour:N", scale=None),
            )
        )
    return texts


def _events(
    points: Sequence[Point], names: Sequence[str], per_unit: float, end_ns: int
) -> tuple[list[Row], bool]:
    """The instants to mark, each with the line for its words; and whether some had to remain without words.

    Events that all points have in common are marked once in the colour of text, the others in that of their point.
    """
    timelines = [timeline(point["array"]) for point in points]
    common = set(timelines[0]).intersection(*timelines[1:])
    marks = [(at_ns, what, INK) for at_ns, what in timelines[0] if (at_ns, what) in common]
    crowded = False
    for events, colour in zip(timelines, LINE_COLOURS, strict=False):
        own = [event for event in events if event not in common]
        crowded |= len(own) > INSTANTS_SHOWN_MAX
        marks += [(at_ns, what, colour) for at_ns, what in own[:INSTANTS_SHOWN_MAX]]
    crowded |= len(common) > INSTANTS_SHOWN_MAX
    rows: list[Row] = []
    taken: list[tuple[int, float, float]] = []
    for place, (at_ns, what, colour) in enumerate(sorted(marks)[: INSTANTS_SHOWN_MAX * len(names)]):
        at_px = at_ns / end_ns * WIDTH
        width = _CHAR_PX * len(what)
        right = at_px + width > WIDTH
        span = (at_px - width, at_px) if right else (at_px, at_px + width)
        line = next(
            line
            for line in range(place + 1)
            if all(line != other or span[1] < low or high < span[0] for other, low, high in taken)
        )
        taken.append((line, *span))
        rows.append({"t": at_ns / per_unit, "what": what, "colour": colour, "line": line, "right": right})
    return rows, crowded


def _title(points: Sequence[Point]) -> str:
    levels = list(dict.fromkeys(_array(point) for point in points))
    return f"{levels[0] if len(levels) == 1 else 'Arrays'} over time"


def _array(point: Point) -> str:
    array = part(part(point, "in_force"), "array")
    return (
        f"{array.get('level', 'array')} of {array['members']} members" if "members" in array else "The array"
    )


def _notes(points: Sequence[Point], names: Sequence[str], *, crowded: bool) -> list[str]:
    """How long the rebuilds took, and how to read the picture."""
    notes = []
    for point, name in zip(points, names, strict=True):
        syncs: Sequence[Mapping[str, Any]] = point["array"]["syncs"]
        if syncs:
            notes.append(f"{name}: " * bool(name) + "; ".join(map(sync_text, syncs[:3])))
    notes.append(
        "Mean of each piece of time" + (", pale: its maximum." if len(points) == 1 else ".")
        if any(is_eventful(point) for point in points)
        else "Nothing happened to the array. Mean of each piece of time."
    )
    if crowded:
        notes.append(f"Of what happened at each point the first {INSTANTS_SHOWN_MAX} instants are marked.")
    return notes
