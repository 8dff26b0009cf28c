"""The log of commands as a verb's options: what was asked for, refused here before anything runs where it cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli.output import say
from drivelab.cli.places import check_file, check_picture, place
from drivelab.errors import InputError
from drivelab.host.files import write_text
from drivelab.report.json_text import json_text
from drivelab.report.points_table import commands_csv
from drivelab.runs.result import Result
from drivelab.runs.simulation import check_log

# What a picture of single commands can show with their numbers.
LOG_FOR_TIMELINE = 40
LOG_SUFFIXES = (".csv", ".json")
LOG_PANEL = "Traces of single commands"

Log = Annotated[
    int | None,
    typer.Option(
        help="Keep the first N commands after the ramp, at each point: `commands` in the record",
        metavar="N",
        min=1,
        rich_help_panel=LOG_PANEL,
        show_default=False,
    ),
]
LogTo = Annotated[
    list[Path],
    typer.Option(
        help="Write them: .csv, a line for each; .json, the whole record; give it again for another file",
        metavar="FILE",
        parser=place,
        rich_help_panel=LOG_PANEL,
    ),
]
Timeline = Annotated[
    list[Path],
    typer.Option(
        help=f"Draw head and queue over time, of an array every head; {LOG_FOR_TIMELINE} commands unless --log "
        "says more: .png, .svg, .pdf, .html or .json; give it again for another file",
        metavar="FILE",
        parser=place,
        rich_help_panel=LOG_PANEL,
    ),
]


@dataclass(frozen=True)
class LogWish:
    """How many commands to log at each point, and where the log goes."""

    commands: int
    files: list[Path]
    timelines: list[Path]

    def check_points(self, checked: _core.Plan) -> None:
        """Refuse what is too much for so many points. Raises InputError."""
        check_log(self.commands, len(checked))
        if (
            self.timelines
            and len({bool(in_force and "array" in in_force) for in_force in checked.in_force}) > 1
        ):
            raise InputError(
                f"--timeline {self.timelines[0]}: a picture shows arrays or single drives, and this sweep has both; "
                "draw them apart"
            )
        if self.timelines and len(checked) > points_in_a_timeline():
            raise InputError(
                f"--timeline {self.timelines[0]}: a picture compares at most {points_in_a_timeline()} points, and "
                f"this sweep has {len(checked)}; give fewer values"
            )

    def write(self, result: Result) -> Iterator[Path]:
        """Write the log to each of its files. Raises OutputError."""
        for file in self.files:
            is_csv = file.suffix.lower() == ".csv"
            write_text(file, commands_csv(result.records) if is_csv else json_text(result.document()))
            yield file


def points_in_a_timeline() -> int:
    """How many points one picture of the log has room for."""
    from drivelab import charts  # noqa: PLC0415 - it loads slowly

    return charts.TIMELINE_POINTS_MAX


def log_wish(log: int | None, log_to: list[Path], timelines: list[Path]) -> LogWish:
    """What the options ask for. Raises InputError and OutputError for what cannot be done."""
    for path in timelines:
        check_picture("--timeline", path)
    for path in log_to:
        if path.suffix.lower() not in LOG_SUFFIXES:
            raise InputError(f"--log-to {path}: a log ends in {' or '.join(LOG_SUFFIXES)}")
        if log is None:
            raise InputError(f"--log-to {path}: how many commands? Add --log, such as --log 1000")
        check_file("--log-to", path)
    return LogWish(log or (LOG_FOR_TIMELINE if timelines else 0), log_to, timelines)


def note_unlogged(result: Result) -> None:
    """A log that stays empty because the target keeps none would be a riddle."""
    if any("platter" in point and point["platter"] is None for point in result.points):
        say("note: no command is logged where the target is no drive: only drives keep traces of commands")
