"""What a verb says of arrays: the picture of an array over time as an option, and what happened on the console."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _core
from drivelab.cli.output import emit, say
from drivelab.cli.places import check_picture, place
from drivelab.cli.workload_options import ARRAY_PANEL
from drivelab.errors import InputError
from drivelab.report.array_summary import is_eventful, lines, missed_floors
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text

# The events of so many points are listed; of more the table shows enough.
TIMELINES_MAX = 4

Rebuild = Annotated[
    list[Path],
    typer.Option(
        help="Draw latency, IOPS and the progress of rebuilds over time: .png, .svg, .pdf, .html or .json; "
        "give it again for another file",
        metavar="FILE",
        parser=place,
        rich_help_panel=ARRAY_PANEL,
    ),
]


def points_in_a_rebuild() -> int:
    """How many points one picture of arrays over time compares."""
    from drivelab import charts  # noqa: PLC0415 - it loads slowly

    return charts.REBUILD_POINTS_MAX


def check_rebuild(paths: Sequence[Path], checked: _core.Plan) -> None:
    """Refuse a picture that could not be drawn, before anything runs. Raises InputError and OutputError."""
    if not paths:
        return
    for path in paths:
        check_picture("--rebuild", path)
    path = paths[0]
    if not any(in_force and "array" in in_force for in_force in checked.in_force):
        raise InputError(f"--rebuild {path}: this target is no array; add --level and --members")
    if len(checked) > points_in_a_rebuild():
        raise InputError(
            f"--rebuild {path}: a picture compares at most {points_in_a_rebuild()} points, and this sweep has "
            f"{len(checked)}; give fewer values"
        )


def emit_timelines(points: Sequence[dict[str, Any]]) -> None:
    """What happened to the array of each point, where the points are few."""
    eventful = [point for point in points if is_eventful(point)]
    if len(eventful) > TIMELINES_MAX:
        return
    for point in eventful:
        at = ", ".join(f"{axis} = {axis_text(value)}" for axis, value in point["axes"].items())
        emit("\n".join([f"\nWhat happened to the array{f', {at}' if at else ''}", *lines(point["array"])]))


def note_floors(points: Sequence[dict[str, Any]]) -> None:
    """A floor that busy members did not let a rebuild keep would go unseen."""
    missed = [(point, text) for point in points if "array" in point for text in missed_floors(point["array"])]
    for point, text in missed[:TIMELINES_MAX]:
        at = ", ".join(f"{axis}={axis_text(value)}" for axis, value in point["axes"].items())
        say(
            f"note: rebuild.floor was not kept{f' at {at}' if at else ''}: {text}; "
            "hosts keep the members busy, and more requests at once (rebuild.outstanding) would get more"
        )
    if len(missed) > TIMELINES_MAX:
        say(
            f"note: nor was it {counted(len(missed) - TIMELINES_MAX, 'time')} more: see floor_missed_ns in --json"
        )
