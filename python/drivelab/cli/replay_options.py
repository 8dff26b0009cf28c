"""Traces as a verb's options: where a run is captured to, and what is reported of a replayed one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _core
from drivelab.cli.array_options import TIMELINES_MAX
from drivelab.cli.output import emit, emit_table, say
from drivelab.cli.places import check_file, place
from drivelab.cli.workload_options import TRACE_PANEL
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text
from drivelab.report.replay_summary import behind_text, is_over_early, recorded_table, replay_lines
from drivelab.runs import simulation

Capture = Annotated[
    Path | None,
    typer.Option(
        help="Write every command that reaches the target as a trace, which --trace replays",
        metavar="FILE",
        parser=place,
        rich_help_panel=TRACE_PANEL,
        show_default=False,
    ),
]


def check_capture(capture: Path | None, checked: _core.Plan) -> None:
    """Refuse a trace that could not be written. Raises InputError and OutputError."""
    if capture is not None:
        check_file("--capture", capture)
        simulation.check_capture(capture, checked)


def emit_replays(points: Sequence[dict[str, Any]]) -> None:
    """What became of the trace at each point; of many points the record tells it."""
    replayed = [point for point in points if "replay" in point]
    if (table := recorded_table(replayed)) is not None:
        emit("")
        emit_table(table)
    if not 0 < len(replayed) <= TIMELINES_MAX:
        return
    for point in replayed:
        at = _at(point)
        emit("\n" * (point is replayed[0]) + f"{at}: " * bool(at) + "\n".join(replay_lines(point)))


def note_behind(points: Sequence[dict[str, Any]]) -> None:
    """A target that did not keep up with the trace: its response times grow with the length of the trace."""
    points = [point for point in points if "replay" in point and not is_over_early(point)]
    behind = [(point, text) for point in points if (text := behind_text(point["replay"]))]
    for point, text in behind[:TIMELINES_MAX]:
        at = f" at {place}" if (place := _at(point)) else ""
        say(f"note: the target cannot keep up with the trace{at}: {text}")
    if len(behind) > TIMELINES_MAX:
        say(f"note: nor can it at {counted(len(behind) - TIMELINES_MAX, 'more point')}: see replay in --json")


def _at(point: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {axis_text(value)}" for key, value in point["axes"].items())
