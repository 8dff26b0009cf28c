"""The levels of an array side by side: IOPS, and below them the mean latency, a panel for each load and state.

Levels lie one below the other, so that their names can be read; a mark for each depth, joined by a thin line from
the shallowest to the deepest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Row, scaled
from drivelab.charts.theme import SOFT, Panel, dress, heading, inline, log_axis

PANEL_WIDTH = 250
_STEP = 18
_LOADS = {"randread": "reads", "randwrite": "writes", "randrw": "reads and writes"}
_RAMP = ("#9ecae1", "#4292c6", "#08519c", "#08306b")
_MEASURES = (("iops", "IOPS", ",.1f"), ("ms", "Mean latency, ms", ",.2f"))


@dataclass(frozen=True)
class _Frame:
    """What all panels of one measure share."""

    field: str
    title: str
    domain: list[float]
    ticks: list[float]
    levels: list[str]
    depths: list[int]


def levels(comparison: Mapping[str, Any]) -> alt.VConcatChart:
    """IOPS (top) and mean latency (bottom) by level, depth, load and state, each on one logarithmic scale.

    `comparison` is a dict as in `drivelab compare-levels --json`. Raises ChartError where no level has a figure.
    """
    rows = [row for level in comparison.get("levels") or () for row in _rows(level)]
    if not rows:
        raise ChartInputError("no level has a rate or a latency to draw")
    states = [state for state in comparison["states"] if any(row["state"] == state for row in rows)]
    loads = [load for load in _LOADS if any(row["load"] == load for row in rows)]
    panels = []
    for field, title, _ in _MEASURES:
        frame = _frame(field, title, [row for row in rows if row[field]])
        for state in states:
            last = state == states[-1]
            panels.append(_line_of_panels(rows, frame, state, loads, titled=last))
    text = f"{comparison.get('name', 'levels')}: IOPS and latency by level"
    return dress(alt.vconcat(*panels, spacing=12, title=heading(text, _notes(comparison))))


def _rows(level: Mapping[str, Any]) -> list[Row]:
    return [
        {
            "level": level["label"],
            "state": state,
            "load": load,
            "depth": point["iodepth"],
            "iops": point["iops"],
            "ms": scaled(point["latency_ns"]["mean"], NS_PER_MS),
        }
        for state, loads in (level.get("states") or {}).items()
        for load, points in loads.items()
        if load in _LOADS
        for point in points
    ]


def _frame(field: str, title: str, rows: Sequence[Row]) -> _Frame:
    # A narrow panel has room for powers of ten with their twos and fives at most.
    domain, ticks = log_axis([row[field] for row in rows] or [1.0], PANEL_WIDTH)
    names = list(dict.fromkeys(row["level"] for row in rows))
    return _Frame(field, title, domain, ticks, names, sorted({row["depth"] for row in rows}))


def _line_of_panels(
    rows: Sequence[Row], frame: _Frame, state: str, loads: Sequence[str], *, titled: bool
) -> alt.HConcatChart:
    """The panels of one state, a load each."""
    panels = [
        _panel(
            [row for row in rows if (row["state"], row["load"]) == (state, load) and row[frame.field]],
            frame,
            f"{state}, {_LOADS[load]}",
            first=load == loads[0],
            titled=titled,
        )
        for load in loads
    ]
    return alt.hconcat(*panels, spacing=10, bounds="flush")


def _panel(rows: Sequence[Row], frame: _Frame, title: str, *, first: bool, titled: bool) -> Panel:
    present = [name for name in frame.levels if any(row["level"] == name for row in rows)]
    y = alt.Y(
        "level:N",
        title=None,
        sort=present,
        scale=alt.Scale(domain=present),
        axis=alt.Axis(labels=first, ticks=first, grid=True, minExtent=60 if first else 0),
    )
    x = alt.X(
        f"{frame.field}:Q",
        title=frame.title if titled else None,
        scale=alt.Scale(type="log", domain=frame.domain, nice=False),
        axis=alt.Axis(
            values=frame.ticks,
            tickCount=2 * len(frame.ticks),
            format=",~r",
            labelOverlap="greedy",
            labels=titled,
        ),
    )
    colour = alt.Color(
        "depth:O",
        title="Depth",
        sort=frame.depths,
        scale=alt.Scale(domain=frame.depths, range=_shades(len(frame.depths))),
        legend=alt.Legend(orient="top", symbolType="circle", columns=len(frame.depths), titleOrient="left"),
    )
    base = alt.Chart(inline(rows))
    line = base.mark_line(stroke=SOFT, strokeWidth=0.8).encode(x=x, y=y, detail="level:N", order="depth:Q")
    tooltip = [alt.Tooltip("level:N"), alt.Tooltip("state:N"), alt.Tooltip("load:N"), alt.Tooltip("depth:Q")]
    tooltip += [alt.Tooltip(f"{field}:Q", title=name, format=form) for field, name, form in _MEASURES]
    marks = base.mark_point(filled=True, size=55, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    return alt.layer(line, marks).properties(
        width=PANEL_WIDTH,
        height=alt.Step(_STEP),
        title=alt.TitleParams(title, fontSize=12, anchor="start", offset=4),
    )


def _shades(count: int) -> list[str]:
    """One colour from light to dark for shallow to deep."""
    if count == 1:
        return [_RAMP[1]]
    return [_RAMP[round(place * (len(_RAMP) - 1) / (count - 1))] for place in range(count)]


def _notes(comparison: Mapping[str, Any]) -> list[str]:
    """What was run, and which levels are not in the picture."""
    workload = comparison["method"]["randrw"]["workload"]
    notes = [f"Random requests of {workload['bs']}; of the mixed ones {workload['rwmixread']} % are reads"]
    missing = [level["label"] for level in comparison["levels"] if level["reason"] is not None]
    if missing:
        notes.append(f"Not possible: {', '.join(missing)}")
    return notes
