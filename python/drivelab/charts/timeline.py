"""A drive's queue at work: the head's path over time, and the commands that wait for it.

Below a short log is the same in order of arrival, on one time axis, and for a few commands the platter from above.
The gain of the drive's order is the difference between two whole runs, never an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.head import PHASES, Command, Move, described, finish_ns, moves, same_commands
from drivelab.charts.platter import platter, turns
from drivelab.charts.rows import NS_PER_MS, Point, Row, part, place_name
from drivelab.charts.theme import INK, LINE_COLOURS, PART_COLOURS, Chart, Panel, dress, heading, inline, layer
from drivelab.errors import ref
from drivelab.report.plural import counted

WIDTH = 900
# Height of a single panel, and of each of several: at full height they would be a poster.
HEIGHT, HEIGHT_OF_MANY = 330, 230
POINTS_MAX = 4
"""Maximum number of points in one picture."""
COMMANDS_MAX = 2_000
"""Maximum number of commands in the picture: more are a grey block."""
SHORT = 40
"""Up to this many commands have their number in the picture, and the order of arrival has its own panel."""
FEW = 8
"""Up to this many commands, the eye can follow the head's path over the platter."""

_PHASE_COLOURS = ("#555555", PART_COLOURS["seek"], "#E69F00", PART_COLOURS["transfer"])
_READ, _WRITE = "#9a9a9a", LINE_COLOURS[3]
# Width of a mark with a number in it.
_MARK_PX = 15.0
_STAMPS = ("submitted", "accepted", "chosen", "begun", "ended", "completed")
# There are no cylinders between two integers, and none below zero.
_CYLINDER = "datum.value < 0 || datum.value % 1 ? '' : format(datum.value, ',d')"
_HEAD_TOOLTIP = [
    alt.Tooltip("phase:N", title="head"),
    alt.Tooltip("ms:Q", title="for, ms", format=",.3f"),
    alt.Tooltip("from:Q", title="from cylinder"),
    alt.Tooltip("to:Q", title="to cylinder"),
    alt.Tooltip("for:Q", title="command"),
]


@dataclass(frozen=True)
class _Run:
    """One point with its log, and the same run in order of arrival if there is one."""

    name: str
    point: Point
    commands: list[Command]
    yardstick: Point | None

    @property
    def time_ns(self) -> int:
        """From the end of the warm-up to the last of the commands."""
        return _time_ns(self.point, self.commands)

    @property
    def fcfs_ns(self) -> int | None:
        """The same for as many commands in order of arrival."""
        return None if self.yardstick is None else _time_ns(self.yardstick, _log(self.yardstick))

    def verdict(self) -> str:
        """How long the commands took, and the gain of their order."""
        text = f"{counted(len(self.commands), 'command')} in {_ms(self.time_ns)}"
        if self.fcfs_ns is None:
            return text
        share = 100 * (1 - self.time_ns / self.fcfs_ns)
        if round(share) == 0:
            return f"{text}, as in order of arrival"
        gain = f"{share:.0f} % of the time saved" if share > 0 else f"{-share:.0f} % longer"
        return f"{text} instead of {_ms(self.fcfs_ns)} in order of arrival: {gain}"


def timeline(points: Sequence[Point], in_arrival_order: Sequence[Point | None] = ()) -> alt.VConcatChart:
    """Cylinder over time, a panel for each point: the head as a line in the colours of its phases, each command as a
    thin line from the instant at which the drive accepted it to the one at which it was served.

    `points` are dicts as in `simulate --json --log N`; `in_arrival_order` has for each of them the same run
    with its commands served in order of arrival, or None. Raises ChartError where there is no log, or more
    points than one picture can hold.
    """
    runs = _runs(points, in_arrival_order)
    views = _views(runs)
    longest = max(view.span_ms for view in views)
    panels: list[Any] = [
        _panel(view, longest, alone=len(views) == 1, last=view is views[-1]) for view in views
    ]
    if all(len(view.commands) <= FEW for view in views):
        panels.append(_platters(views))
    text = runs[0].verdict() if len(runs) == 1 else _together(runs)
    chart = alt.vconcat(*panels, spacing=22, title=heading(text, _notes(runs)))
    return dress(chart)


@dataclass(frozen=True)
class _View:
    """A log to draw, its name, and the rest of its title."""

    name: str
    says: str
    point: Point
    commands: list[Command]

    @property
    def start_ms(self) -> float:
        """When the first of the commands arrived."""
        return float(min(command["accepted_ns"] for command in self.commands)) / NS_PER_MS

    @property
    def span_ms(self) -> float:
        """The time from then to the completion of the last command."""
        return finish_ns(self.commands) / NS_PER_MS - self.start_ms


def _views(runs: Sequence[_Run]) -> list[_View]:
    """Each point; for a single, short one whose order matters, also the same in order of arrival."""
    if len(runs) > 1:
        return [_View(run.name, run.verdict(), run.point, _shown(run.commands)) for run in runs]
    run, fcfs_ns = runs[0], runs[0].fcfs_ns
    own = _View("As the drive served them", _ms(run.time_ns), run.point, _shown(run.commands))
    if run.yardstick is None or fcfs_ns is None or len(run.commands) > SHORT or fcfs_ns == run.time_ns:
        return [own]
    return [own, _View("In order of arrival", _ms(fcfs_ns), run.yardstick, _shown(_log(run.yardstick)))]


def _together(runs: Sequence[_Run]) -> str:
    """What several runs have in common."""
    counts = {len(run.commands) for run in runs}
    if len(counts) == 1:
        return f"{counted(counts.pop(), 'command')} in each of {len(runs)} runs"
    return f"{counted(sum(len(run.commands) for run in runs), 'command')} in {len(runs)} runs"


def _runs(points: Sequence[Point], in_arrival_order: Sequence[Point | None]) -> list[_Run]:
    yardsticks = list(in_arrival_order) or [None] * len(points)
    runs = []
    for point, yardstick in zip(points, yardsticks, strict=True):
        if _log(point):
            runs.append(_Run(place_name(point), point, _log(point), yardstick))
    if not runs:
        raise ChartInputError(f"no point has a log of commands: simulate a drive with {ref('log')}")
    if len(runs) > POINTS_MAX:
        raise ChartInputError(f"{len(runs)} points: one picture compares at most {POINTS_MAX}")
    return runs


def _log(point: Point) -> list[Command]:
    """The commands that have an address: a flush has none."""
    return [command for command in point.get("commands") or () if command["access"] != "flush"]


def _has_flush(point: Point) -> bool:
    return any(command["access"] == "flush" for command in point.get("commands") or ())


def _time_ns(point: Point, commands: Sequence[Command]) -> int:
    return finish_ns(commands) - int(point["logged_from_ns"])


def _ms(ns: float) -> str:
    return f"{ns / NS_PER_MS:,.1f} ms"


def _shown(commands: Sequence[Command]) -> list[Command]:
    """The commands for which the picture has room."""
    return sorted(commands, key=lambda command: command["completed_ns"])[:COMMANDS_MAX]


def _notes(runs: Sequence[_Run]) -> list[str]:
    """How to read the picture, and what is compared."""
    writes = any(command["access"] == "write" for run in runs for command in run.commands)
    notes = [
        "Thick line: the head. Thin lines: commands in the drive, from their arrival until the head reaches their "
        f"first sector{', dashed for writes' if writes else ''}."
        + (" Numbers: order of arrival." if all(len(run.commands) <= SHORT for run in runs) else "")
    ]
    compared = [(run, run.yardstick) for run in runs if run.yardstick is not None]
    if compared:
        same = all(same_commands(run.commands, _log(yardstick)) for run, yardstick in compared)
        which = (
            "the same commands"
            if same
            else "as many commands; the queue is filled up again meanwhile, so they are not all the same ones"
        )
        notes.append(
            f"In order of arrival: a second run with target.queue.order = fcfs and the same seed, {which}."
        )
    if any(len(run.commands) > COMMANDS_MAX for run in runs):
        notes.append(f"The first {COMMANDS_MAX:,} commands are drawn.")
    if any(command["served"] in {"met", "buffered"} for run in runs for command in run.commands):
        notes.append("Commands that the buffer answered are drawn where the arm was.")
    lost = sum(command["served"] == "not" for run in runs for command in run.commands)
    if lost:
        notes.append(f"Not in the picture: {counted(lost, 'command')} not served.")
    if any(_has_flush(run.point) for run in runs):
        notes.append("Flushes are left out: they are about no cylinder.")
    return notes


def _colour() -> alt.Color:
    scale = alt.Scale(domain=list(PHASES), range=list(_PHASE_COLOURS))
    legend = alt.Legend(title="Head", symbolType="stroke", symbolStrokeWidth=4, symbolSize=300)
    return alt.Color("phase:N", scale=scale, legend=legend)


def _shape() -> alt.Shape:
    scale = alt.Scale(domain=["read", "write"], range=["circle", "square"])
    # Explicit colours would hide the outline of the symbols.
    legend = alt.Legend(title="Command", symbolSize=120)
    return alt.Shape("access:N", scale=scale, legend=legend)


def _tooltip() -> list[alt.Tooltip]:
    """Everything that the log has on a command."""
    names = [
        ("id:Q", "command"),
        ("access:N", "access"),
        ("first_sector:Q", "first sector"),
        ("sectors:Q", "sectors"),
        ("cylinder:Q", "cylinder"),
        ("served:N", "served"),
        ("number:Q", "arrived as number"),
        ("place:Q", "served as number"),
        ("distance:Q", "reorder distance"),
        ("overtaken_by:Q", "overtaken by"),
    ]
    stamps = [alt.Tooltip(f"{name}_ms:Q", title=f"{name}, ms", format=",.3f") for name in _STAMPS]
    return [alt.Tooltip(field, title=title) for field, title in names] + stamps


def _panel(view: _View, longest_ms: float, *, alone: bool, last: bool) -> Panel:
    """Cylinder over time."""
    short = len(view.commands) <= SHORT
    height = HEIGHT if alone else HEIGHT_OF_MANY
    start_ms = view.start_ms
    head = [_stretch(move, start_ms) for move in moves(view.commands)]
    commands = [_waiting(command, start_ms) for command in view.commands if command["served"] != "not"]
    cylinders = [row[name] for row in head for name in ("from", "to")] + [row["y"] for row in commands]
    low, high = min(cylinders), max(cylinders)
    margin = max((high - low) * 0.08, 0.5)
    across = alt.Scale(domain=[-0.012 * longest_ms, longest_ms * 1.012], nice=False)
    up = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    x = alt.X(
        "start:Q",
        title="Time since the first of these commands arrived, ms" if last else None,
        scale=across,
        axis=alt.Axis(tickCount=10, grid=False),
    )
    y = alt.Y("from:Q", title="Cylinder", scale=up, axis=alt.Axis(tickCount=6, labelExpr=_CYLINDER))
    waiting = [
        Chart(inline([row for row in commands if row["access"] == access]))
        .mark_rule(strokeWidth=1, color=colour, strokeDash=dash, opacity=0.9 if short else 0.35)
        .encode(x=x, x2="end:Q", y=alt.Y("y:Q", scale=up), tooltip=_tooltip())
        for access, colour, dash in (("read", _READ, [1, 0]), ("write", _WRITE, [5, 2]))
    ]
    way = (
        Chart(inline(head))
        .mark_rule(strokeWidth=2.4 if short else 1.4, strokeCap="round")
        .encode(x=x, x2="end:Q", y=y, y2="to:Q", color=_colour(), tooltip=_HEAD_TOOLTIP)
    )
    if short:
        _dodge(commands, [-0.012 * longest_ms, longest_ms * 1.012], [low - margin, high + margin], height)
    marks = _marks(commands, up, short=short)
    layered = layer(*waiting, way, *marks).properties(width=WIDTH, height=height)
    if alone:
        return layered
    return layered.properties(
        title=alt.TitleParams(f"{view.name}: {view.says}", fontSize=12.5, anchor="start", offset=6)
    )


def _stretch(move: Move, start_ms: float) -> Row:
    """A stretch of the head's path."""
    return {
        "start": move.start_ns / NS_PER_MS - start_ms,
        "end": move.end_ns / NS_PER_MS - start_ms,
        "from": move.start_cylinder,
        "to": move.end_cylinder,
        "phase": move.phase,
        "for": move.command["id"],
        "ms": (move.end_ns - move.start_ns) / NS_PER_MS,
    }


def _waiting(command: Command, start_ms: float) -> Row:
    """A command's line: at its cylinder, from its arrival until it is served."""
    at = command["from_cylinder"] if command["first_cylinder"] is None else command["first_cylinder"]
    # A command that was given up on its way never reached its first sector.
    begun_ns = command["completed_ns"] if command["begun_ns"] is None else command["begun_ns"]
    return {
        **described(command),
        "start": command["accepted_ns"] / NS_PER_MS - start_ms,
        "end": begun_ns / NS_PER_MS - start_ms,
        "y": at,
        "mark": at,
    }


def _dodge(commands: list[Row], across: list[float], up: list[float], height: float) -> None:
    """Move a mark that would cover another up or down by the smallest free distance; its line stays in place."""
    taken: list[tuple[float, float]] = []
    per_cylinder = height / (up[1] - up[0])
    for row in sorted(commands, key=lambda row: row["end"]):
        x = (row["end"] - across[0]) * WIDTH / (across[1] - across[0])
        y = (row["y"] - up[0]) * per_cylinder
        steps = (sign * step * _MARK_PX for step in range(8) for sign in ((1, -1) if step else (1,)))
        free = (
            moved
            for step in steps
            if _MARK_PX / 2 <= (moved := y + step) <= height - _MARK_PX / 2 or not step
            if all(max(abs(x - other_x), abs(moved - other_y)) >= _MARK_PX for other_x, other_y in taken)
        )
        placed = next(free, y)
        taken.append((x, placed))
        row["mark"] = row["y"] + (placed - y) / per_cylinder


def _marks(commands: list[Row], up: alt.Scale, *, short: bool) -> list[alt.Chart]:
    """A mark where each command is served, with its number of arrival if there is room."""
    place = {"x": alt.X("end:Q"), "y": alt.Y("mark:Q", scale=up)}
    base = Chart(inline(commands))
    marks = base.mark_point(
        filled=False, size=150 if short else 14, opacity=1, fill="white", color=INK, strokeWidth=0.9
    ).encode(**place, shape=_shape(), tooltip=_tooltip())
    if not short:
        return [marks]
    moved = [row for row in commands if row["mark"] != row["y"]]
    ties = (
        Chart(inline(moved))
        .mark_rule(strokeWidth=0.9, color=INK)
        .encode(x=place["x"], y=alt.Y("y:Q", scale=up), y2="mark:Q")
    )
    numbers = base.mark_text(fontSize=8.5, fontWeight="bold", color=INK).encode(
        **place, text="number:N", tooltip=_tooltip()
    )
    return [ties, marks, numbers]


def _platters(views: Sequence[_View]) -> alt.HConcatChart:
    """The same commands from above, a platter for each panel."""
    size = min(400.0, (WIDTH - 30 * (len(views) - 1)) / len(views))
    drawn = []
    for view in views:
        geometry = part(view.point, "platter")
        title = (view.name, f"{turns(view.commands, geometry):.1f} turns of the platter")
        drawn.append(platter(view.commands, geometry, title, _colour(), _shape(), _tooltip(), size))
    return alt.hconcat(*drawn, spacing=30)
