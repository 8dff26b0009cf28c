"""The platter from above with the path of the head over it, as articles on command queueing draw it.

The angle is that of the platter under the head. A seek is a spiral, because the platter rotates while the arm moves;
rotational latency is an arc; so the length of the whole path, in revolutions, is the time that it takes. Cylinder 0
is the outer edge. The radius of the hub is not to scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from drivelab.charts.head import Command, Move, described, moved, moves
from drivelab.charts.rows import Row
from drivelab.charts.theme import GRID, INK, SOFT, Chart, Panel, inline, layer

_HUB = 0.36
_EDGE = 1.0
# Room outside the edge for the number of a command that lies on it.
_REACH = 1.12
_STEPS_PER_TURN = 90
_RINGS = 3


def platter(
    commands: Sequence[Command],
    geometry: Mapping[str, Any],
    title: Sequence[str],
    colour: alt.Color,
    shape: alt.Shape,
    tooltip: list[alt.Tooltip],
    size: float,
) -> Panel:
    """One platter: rings, the head's path in the colours of its phases, each command with its number of arrival."""
    way = [row for at, move in enumerate(moves(commands)) for row in _path(at, move, geometry)]
    there = [command for command in moved(commands) if command["first_cylinder"] is not None]
    places = [_place(command, geometry) for command in there]
    scale = alt.Scale(domain=[-_REACH, _REACH], nice=False, zero=False)
    x = alt.X("x:Q", scale=scale, axis=None)
    y = alt.Y("y:Q", scale=scale, axis=None)
    disk = (
        Chart(inline(_disk()))
        .mark_line(strokeWidth=1, stroke=GRID)
        .encode(x=x, y=y, detail="ring:N", order="at:Q")
    )
    path = (
        Chart(inline(way))
        .mark_line(strokeWidth=1.6, strokeJoin="round", strokeCap="butt", opacity=0.85)
        .encode(x=x, y=y, detail="move:N", order="at:Q", color=colour)
    )
    marks = (
        Chart(inline(places))
        .mark_point(filled=False, size=150, opacity=1, fill="white", color=INK, strokeWidth=0.9)
        .encode(x=x, y=y, shape=shape, tooltip=tooltip)
    )
    numbers = (
        Chart(inline(places))
        .mark_text(fontSize=8.5, color=INK, fontWeight="bold", baseline="middle")
        .encode(x=x, y=y, text="number:N", tooltip=tooltip)
    )
    heading = alt.TitleParams(
        text=title[0],
        subtitle=list(title[1:]),
        fontSize=12.5,
        subtitleFontSize=11,
        subtitleColor=SOFT,
        anchor="middle",
        offset=4,
    )
    layered = layer(disk, path, marks, numbers)
    return layered.properties(width=size, height=size, title=heading, view=alt.ViewBackground(stroke=None))


def turns(commands: Sequence[Command], geometry: Mapping[str, Any]) -> float:
    """The number of revolutions from the first choice to the end of the last transfer."""
    way = moves(commands)
    return (way[-1].end_ns - way[0].start_ns) / float(geometry["rotation_ns"]) if way else 0.0


def _disk() -> list[Row]:
    """Circles from the outer edge to the hub."""
    radii = [_HUB + (_EDGE - _HUB) * ring / _RINGS for ring in range(_RINGS + 1)]
    return [
        {"ring": ring, "at": step, "x": radius * math.cos(angle), "y": radius * math.sin(angle)}
        for ring, radius in enumerate(radii)
        for step, angle in enumerate(
            2 * math.pi * step / _STEPS_PER_TURN for step in range(_STEPS_PER_TURN + 1)
        )
    ]


def _path(number: int, move: Move, geometry: Mapping[str, Any]) -> list[Row]:
    """A stretch of the head's path as points close enough together to look smooth."""
    share = (move.end_ns - move.start_ns) / geometry["rotation_ns"]
    steps = max(2, math.ceil(share * _STEPS_PER_TURN))
    rows = []
    for step in range(steps + 1):
        part = step / steps
        at_ns = move.start_ns + (move.end_ns - move.start_ns) * part
        cylinder = move.start_cylinder + (move.end_cylinder - move.start_cylinder) * part
        x, y = _point(at_ns, cylinder, geometry)
        rows.append({"move": number, "at": step, "phase": move.phase, "x": x, "y": y})
    return rows


def _place(command: Command, geometry: Mapping[str, Any]) -> Row:
    """The position of a command's first sector."""
    x, y = _point(command["begun_ns"], command["first_cylinder"], geometry)
    return {**described(command), "x": x, "y": y}


def _point(at_ns: float, cylinder: float, geometry: Mapping[str, Any]) -> tuple[float, float]:
    """The point of the platter under a head at this cylinder and instant."""
    turned = 2 * math.pi * (at_ns / geometry["rotation_ns"] % 1.0)
    radius = _EDGE - (_EDGE - _HUB) * cylinder / max(geometry["cylinders"] - 1, 1)
    # The platter rotates counterclockwise, so the head's path over it runs clockwise.
    return radius * math.sin(turned), radius * math.cos(turned)
