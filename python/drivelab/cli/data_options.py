"""What a verb says of data: the check as an option, what was checked, and what a power cut has taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from drivelab import _core
from drivelab.cli.array_options import TIMELINES_MAX
from drivelab.cli.output import emit, say
from drivelab.errors import InputError
from drivelab.report.data_summary import checked_text, cut_lines, unstruck_lines
from drivelab.report.points_table import axis_text

DATA_PANEL = "What becomes of data"

CheckData = Annotated[
    bool,
    typer.Option(
        "--check-data",
        help="Hold every read to what was written, and parity and copies to their data at the end",
        rich_help_panel=DATA_PANEL,
    ),
]


def check_has_data(checked: _core.Plan, *, wanted: bool) -> None:
    """Refuse the check of a target that holds none. Raises InputError."""
    if wanted and any(in_force is None for in_force in checked.in_force):
        raise InputError("--check-data: a station holds no data; take a drive or an array as the target")


def emit_data(points: Sequence[dict[str, Any]]) -> None:
    """What was checked, in one line, and what power cuts have taken; of many points the table tells enough."""
    if text := checked_text(points):
        emit(f"\n{text}")
    cut = [point for point in points if point.get("power_cut")]
    if not 0 < len(cut) <= TIMELINES_MAX:
        return
    for point in cut:
        at = ", ".join(f"{key} = {axis_text(value)}" for key, value in point["axes"].items())
        emit(f"\n{at}: " * bool(at) + "\n" * (not at) + "\n".join(cut_lines(point["power_cut"])))


def note_unstruck(points: Sequence[dict[str, Any]]) -> None:
    """A fault that changes nothing would be a riddle."""
    lines = list(unstruck_lines(points))
    for line in dict.fromkeys(lines):
        at = f", at {lines.count(line)} of {len(points)} points" if len(points) > 1 else ""
        say(f"note: {line}{at}")
    corrupts = any(entry["what"] == "corrupt" for point in points for entry in point.get("injections", ()))
    if corrupts and not any("data" in point for point in points):
        say("note: what was corrupted is seen with --check-data alone: without it a run has no data")


def note_uncut(points: Sequence[dict[str, Any]]) -> None:
    """A power cut that never came would be a riddle."""
    spared = [point for point in points if "power_cut" in point and point["power_cut"] is None]
    if spared:
        at = f" at {len(spared)} of {len(points)} points" if len(points) > 1 else ""
        ended = " or ".join(sorted({_ENDED[point["ended"]] for point in spared}))
        say(f"note: the power did not go{at}: the run was over before, {ended}")


_ENDED = {
    "duration": "after its duration",
    "ios": "after its I/Os",
    "rebuilt": "with the rebuild",
    "trace": "with the trace",
}
