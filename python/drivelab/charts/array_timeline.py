"""An array at work: where the time of each host's command went, and below it the head of each member over time.

A command's lane shows the parts of its response time, summed over its phases. A member's row shows the seeks,
rotational latencies and transfers of its head, those of the array's own work with a dark line below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.head import Command, Move, moves
from drivelab.charts.rows import NS_PER_MS, Point, Row, part, place_name
from drivelab.charts.theme import INK, PART_COLOURS, Chart, Panel, dress, heading, inline, layer
from drivelab.errors import ref
from drivelab.report.plural import counted

WIDTH = 900
POINTS_MAX = 4
"""Maximum number of points in one picture."""
COMMANDS_MAX = 200
"""Maximum number of commands in the picture: more lanes are a grey block."""
SHORT = 40
"""Maximum number of commands that are drawn with their number."""

_LANES_PX, _LANE_PX, _ROW_PX = 460, 13, 24
# Width of a number.
_NUMBER_PX = 13


@dataclass(frozen=True)
class _Run:
    """One point with its log."""

    name: str
    point: Point
    commands: list[Command]

    @property
    def start_ns(self) -> int:
        """When the first command was issued."""
        return min(int(command["submitted_ns"]) for command in self.commands)

    @property
    def end_ns(self) -> int:
        """When the last command was done."""
        return max(int(command["completed_ns"]) for command in self.commands)

    def numbers(self) -> dict[int, int]:
        """Each command's number, by its id."""
        return {command["id"]: number for number, command in enumerate(self.commands, 1)}

    def verdict(self) -> str:
        """Title: what is drawn."""
        array = part(part(self.point, "in_force"), "array")
        what = f"{array['level']} of {array['members']}" if array else "the array"
        span_ms = (self.end_ns - self.start_ns) / NS_PER_MS
        return f"{self.name or what}: {counted(len(self.commands), 'command')} in {span_ms:,.1f} ms"


def array_timeline(points: Sequence[Point]) -> alt.VConcatChart:
    """The commands of hosts, and the concurrent work of the members' heads, a panel for each point.

    `points` are dicts as in `simulate --json --log N`. Raises ChartError where there is no log, or more points
    than one picture can hold.
    """
    runs = _runs(points)
    longest_ms = max(run.end_ns - run.start_ns for run in runs) / NS_PER_MS
    panels: list[Any] = []
    for run in runs:
        title = run.verdict() if len(runs) > 1 else ""
        panels += [_lanes(run, longest_ms, title, first=run is runs[0])]
        panels += [_heads(run, longest_ms, last=run is runs[-1])]
    text = runs[0].verdict() if len(runs) == 1 else f"The first commands at each of {len(runs)} points"
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=10, title=heading(text, _notes(runs)))
    chart = chart.resolve_scale(color="independent")
    return dress(chart)


def _runs(points: Sequence[Point]) -> list[_Run]:
    runs = []
    for point in points:
        logged = [command for command in point.get("commands") or () if command["breakdown_ns"]]
        logged.sort(key=lambda command: (command["completed_ns"], command["id"]))
        commands = sorted(logged[:COMMANDS_MAX], key=lambda command: (command["submitted_ns"], command["id"]))
        if commands:
            runs.append(_Run(place_name(point), point, commands))
    if not runs:
        raise ChartInputError(f"no point has a log of commands: simulate an array with {ref('log')}")
    if any("member_commands" not in run.point for run in runs):
        raise ChartInputError("a picture shows arrays or single drives, not both: draw them apart")
    if len(runs) > POINTS_MAX:
        raise ChartInputError(f"{len(runs)} points: one picture compares at most {POINTS_MAX}")
    return runs


def _notes(runs: Sequence[_Run]) -> list[str]:
    """How to read the picture."""
    notes = [
        "Above, a lane for each command of a host from its issue to its completion: the parts of its time add up to "
        "it, summed over reads and writes of the members, not in their order.",
        "Below, the head of each member: what it does at each instant; where it is blank the head stands still.",
    ]
    if all(len(run.commands) <= SHORT for run in runs):
        notes[1] += " Numbers: the command that it is for."
    if any(command["access"] == "write" for run in runs for command in run.commands):
        notes[0] += " w: a write."
    if any(_is_own(member) for run in runs for member in _members(run)):
        notes.append("Dark line below: work of the array itself, a rebuild, resync or scrub.")
    if any(len(run.point["commands"]) > len(run.commands) == COMMANDS_MAX for run in runs):
        notes.append(f"The first {COMMANDS_MAX} commands are drawn.")
    if any(member["served"] == "buffered" for run in runs for member in _members(run)):
        notes.append(
            "What a member's buffer answers moves no head, and what a drive destages later is no command."
        )
    return notes


def _members(run: _Run) -> list[dict[str, Any]]:
    """The members' commands that overlap the drawn host commands in time."""
    return [
        member
        for member in run.point["member_commands"]
        if member["completed_ns"] > run.start_ns and member["submitted_ns"] < run.end_ns
    ]


def _is_own(member: Command) -> bool:
    return member["part_of"] is None


def _scale(longest_ms: float) -> alt.Scale:
    return alt.Scale(domain=[0, longest_ms * 1.005], nice=False)


def _lanes(run: _Run, longest_ms: float, title: str, *, first: bool) -> Panel:
    """A lane for each command: the parts of its time, one after the other."""
    rows: list[Row] = []
    for number, command in enumerate(run.commands, 1):
        at_ns = command["submitted_ns"]
        for name in PART_COLOURS:
            if part_ns := command["breakdown_ns"][name]:
                rows.append(
                    {
                        "number": number,
                        "part": name,
                        "start": (at_ns - run.start_ns) / NS_PER_MS,
                        "end": (at_ns + part_ns - run.start_ns) / NS_PER_MS,
                        "ms": part_ns / NS_PER_MS,
                        "id": command["id"],
                        "access": command["access"],
                        "first_sector": command["first_sector"],
                        "sectors": command["sectors"],
                    }
                )
                at_ns += part_ns
    count = len(run.commands)
    lane_px = min(_LANE_PX, _LANES_PX / count)
    used = [name for name in PART_COLOURS if any(row["part"] == name for row in rows)]
    scale = alt.Scale(domain=used, range=[PART_COLOURS[name] for name in used])
    scale_y = alt.Scale(domain=[count + 0.6, 0.4], nice=False, zero=False)
    values = [1, *range(5, count + 1, 5 if count <= SHORT else 20)]
    axis = alt.Axis(grid=False, minExtent=48, values=values, format="d")
    up = alt.Y("number:Q", title="Command", scale=scale_y, axis=axis)
    base = Chart(inline(rows))
    bars = base.mark_bar(size=max(lane_px - 2, 1)).encode(
        x=alt.X("start:Q", title=None, scale=_scale(longest_ms), axis=alt.Axis(labels=False, tickCount=10)),
        x2="end:Q",
        y=up,
        color=alt.Color("part:N", scale=scale, legend=alt.Legend(title="Where time goes") if first else None),
        tooltip=[
            alt.Tooltip("id:Q", title="command"),
            alt.Tooltip("access:N"),
            alt.Tooltip("first_sector:Q", title="first sector"),
            alt.Tooltip("sectors:Q"),
            alt.Tooltip("part:N"),
            alt.Tooltip("ms:Q", title="for, ms", format=",.3f"),
        ],
    )
    writes = [
        {"number": number, "end": (command["completed_ns"] - run.start_ns) / NS_PER_MS}
        for number, command in enumerate(run.commands, 1)
        if command["access"] == "write"
    ]
    marks = (
        Chart(inline(writes))
        .mark_text(text="w", align="left", dx=3, fontSize=min(lane_px, 9), color=INK)
        .encode(x=alt.X("end:Q", scale=_scale(longest_ms)), y=up)
    )
    chart: Panel = layer(bars, marks).properties(width=WIDTH, height=lane_px * count + 6)
    if title:
        chart = chart.properties(title=alt.TitleParams(title, fontSize=12.5, anchor="start", offset=6))
    return chart


def _heads(run: _Run, longest_ms: float, *, last: bool) -> Panel:
    """A row for each member: what its head does."""
    numbers = run.numbers()
    short = len(run.commands) <= SHORT
    members = part(part(run.point, "in_force"), "array").get("members", 0)
    by_drive: dict[int, list[Command]] = {drive: [] for drive in range(members)}
    for member in _members(run):
        by_drive.setdefault(member["drive"], []).append(_as_command(member))
    rows = [
        row
        for drive, commands in sorted(by_drive.items())
        for move in moves(commands)
        if move.phase != "waiting" and (row := _stretch(move, run, drive, numbers)) is not None
    ]
    drives = [f"drive {drive}" for drive in sorted(by_drive)]
    x = alt.X(
        "start:Q",
        title="Time since the first of these commands was issued, ms" if last else None,
        scale=_scale(longest_ms),
        axis=alt.Axis(tickCount=10),
    )
    y = alt.Y(
        "drive:N", title="Head", sort=drives, scale=alt.Scale(domain=drives), axis=alt.Axis(minExtent=48)
    )
    scale = alt.Scale(domain=list(PART_COLOURS), range=list(PART_COLOURS.values()))
    base = Chart(inline(rows))
    bars = base.mark_bar(height=_ROW_PX - 8, clip=True).encode(
        x=x,
        x2="end:Q",
        y=y,
        color=alt.Color("phase:N", scale=scale, legend=None),
        tooltip=[
            alt.Tooltip("phase:N", title="head"),
            alt.Tooltip("ms:Q", title="for, ms", format=",.3f"),
            alt.Tooltip("for:N", title="for command"),
            alt.Tooltip("access:N"),
            alt.Tooltip("first_sector:Q", title="first sector of the drive"),
            alt.Tooltip("sectors:Q"),
            alt.Tooltip("from:Q", title="from cylinder"),
            alt.Tooltip("to:Q", title="to cylinder"),
        ],
    )
    own = (
        Chart(inline([row for row in rows if row["own"]]))
        .mark_bar(height=2.5, yOffset=_ROW_PX / 2 - 2, color=INK, clip=True)
        .encode(x=x, x2="end:Q", y=y)
    )
    layers: list[alt.Chart] = [bars, own]
    if short:
        roomy = _numbered(rows, _NUMBER_PX * longest_ms / WIDTH)
        layers.append(
            Chart(inline(roomy))
            .mark_text(fontSize=8.5, fontWeight="bold", clip=True)
            .encode(
                x=alt.X("middle:Q", scale=_scale(longest_ms)),
                y=y,
                text="number:Q",
                color=alt.Color("ink:N", scale=None),
            )
        )
    return layer(*layers).properties(width=WIDTH, height=_ROW_PX * len(drives))


def _numbered(rows: Sequence[Row], room_ms: float) -> list[Row]:
    """The longest stretch of each access, if it has room for the access's number."""
    longest: dict[tuple[str, int], Row] = {}
    for row in rows:
        key = (row["drive"], row["id"])
        if row["number"] and row["ms"] > longest.get(key, {"ms": 0.0})["ms"]:
            longest[key] = row
    roomy = [row for row in longest.values() if row["end"] - row["start"] > room_ms]
    return [{**row, "ink": INK if row["phase"] == "rotation" else "white"} for row in roomy]


def _as_command(member: dict[str, Any]) -> Command:
    """A member's command in the form of a drive's command; the parts of a failed one are unknown."""
    parts = member["breakdown_ns"] if member["outcome"] == "done" else None
    return {**member, "service_rank": member["rank"], "breakdown_ns": parts}


def _stretch(move: Move, run: _Run, drive: int, numbers: dict[int, int]) -> Row | None:
    """A stretch of a head's time, clipped to the picture."""
    start_ns, end_ns = max(move.start_ns, run.start_ns), min(move.end_ns, run.end_ns)
    if start_ns >= end_ns:
        return None
    command = move.command
    start, end = ((ns - run.start_ns) / NS_PER_MS for ns in (start_ns, end_ns))
    number = numbers.get(command["part_of"])
    return {
        "drive": f"drive {drive}",
        "phase": move.phase,
        "start": start,
        "end": end,
        "middle": (start + end) / 2,
        "ms": (move.end_ns - move.start_ns) / NS_PER_MS,
        "own": _is_own(command),
        "id": command["id"],
        "number": number,
        "for": "the array itself" if _is_own(command) else str(command["part_of"]),
        "access": command["access"],
        "first_sector": command["first_sector"],
        "sectors": command["sectors"],
        "from": move.start_cylinder,
        "to": move.end_cylinder,
    }
