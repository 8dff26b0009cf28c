"""How `drivelab simulate` shows and keeps a run, as options; refused here before anything runs where it cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli.chart_options import PICTURE_PANEL, Look, Metric, check_look, check_shown
from drivelab.cli.groups import given
from drivelab.cli.places import check_file, check_picture, place
from drivelab.cli.reports import Reports, check_reports
from drivelab.cli.run_options import check_form
from drivelab.cli.workload_options import ARRAY_PANEL, TRACE_PANEL
from drivelab.errors import InputError
from drivelab.host.files import write_text
from drivelab.report.json_text import json_text
from drivelab.report.points_table import commands_csv
from drivelab.runs import simulation
from drivelab.runs.result import Result

# What a picture of single commands can show with their numbers.
LOG_FOR_TIMELINE = 40
LOG_SUFFIXES = (".csv", ".json")
LOG_PANEL = "Traces of single commands"
DATA_PANEL = "Data integrity"


def _picture(text: str, panel: str = PICTURE_PANEL) -> typer.models.OptionInfo:
    """Files that a picture is drawn into."""
    found: typer.models.OptionInfo = typer.Option(
        help=f"{text}: .png, .svg, .pdf, .html or .json; repeatable",
        metavar="FILE",
        parser=place,
        rich_help_panel=panel,
    )
    return found


@dataclass(frozen=True)
class Form:
    """The form in which results are printed: a table, unless one of these."""

    as_json: Annotated[bool, typer.Option("--json", help="The record as JSON")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="One line per point")] = False
    as_fio: Annotated[bool, typer.Option("--fio", help="Run nothing: print the workload for fio")] = False

    def check(self) -> None:
        """Refuse two of them at once. Raises InputError."""
        check_form(json=self.as_json, csv=self.as_csv, fio=self.as_fio)

    @property
    def is_plain(self) -> bool:
        """Whether results are printed for people."""
        return not (self.as_json or self.as_csv)


@dataclass(frozen=True)
class LogWish:
    """How many commands to log at each point, and where the log goes."""

    log: Annotated[
        int | None,
        typer.Option(
            help="Keep the first N commands after the ramp, at each point: `commands` in the record",
            metavar="N",
            min=1,
            rich_help_panel=LOG_PANEL,
            show_default=False,
        ),
    ] = None
    log_to: Annotated[
        list[Path],
        typer.Option(
            help="Write them: .csv, a line for each; .json, the whole record; repeatable",
            metavar="FILE",
            parser=place,
            rich_help_panel=LOG_PANEL,
        ),
    ] = field(default_factory=list)
    timeline: Annotated[
        list[Path],
        _picture(
            f"Draw head and queue over time, of an array every head; {LOG_FOR_TIMELINE} commands unless --log "
            "says more",
            LOG_PANEL,
        ),
    ] = field(default_factory=list)

    @property
    def commands(self) -> int:
        """How many to log at each point."""
        return self.log or (LOG_FOR_TIMELINE if self.timeline else 0)

    def check(self) -> None:
        """Refuse what cannot be written. Raises InputError and OutputError."""
        for path in self.timeline:
            check_picture("--timeline", path)
        for path in self.log_to:
            if path.suffix.lower() not in LOG_SUFFIXES:
                raise InputError(f"--log-to {path}: a log ends in {' or '.join(LOG_SUFFIXES)}")
            if self.log is None:
                raise InputError(f"--log-to {path}: how many commands? Add --log, such as --log 1000")
            check_file("--log-to", path)

    def check_points(self, checked: _core.Plan) -> None:
        """Refuse what is too much for so many points. Raises InputError."""
        simulation.check_log(self.commands, len(checked))
        if (
            self.timeline
            and len({bool(in_force and "array" in in_force) for in_force in checked.in_force}) > 1
        ):
            raise InputError(
                f"--timeline {self.timeline[0]}: a picture shows arrays or single drives, and this sweep has both; "
                "draw them apart"
            )
        if self.timeline and len(checked) > points_in_a_timeline():
            raise InputError(
                f"--timeline {self.timeline[0]}: a picture compares at most {points_in_a_timeline()} points, and "
                f"this sweep has {len(checked)}; give fewer values"
            )

    def write(self, result: Result) -> Iterator[Path]:
        """Write the log to each of its files. Raises OutputError."""
        for file in self.log_to:
            is_csv = file.suffix.lower() == ".csv"
            write_text(file, commands_csv(result.records) if is_csv else json_text(result.document()))
            yield file


def points_in_a_timeline() -> int:
    """How many points one picture of the log has room for."""
    from drivelab import charts  # noqa: PLC0415 - it loads slowly

    return charts.TIMELINE_POINTS_MAX


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a run is shown and kept: none of it goes with --fio, which runs nothing."""

    out: Annotated[
        list[Path], typer.Option(help="Folder for record.json and pictures", metavar="DIR", parser=place)
    ] = field(default_factory=list)
    report: Reports = field(default_factory=list)
    chart: Annotated[
        list[Path], _picture("Draw rates and latency; of a single point, its response times")
    ] = field(default_factory=list)
    metric: Metric = None
    breakdown: Annotated[
        bool,
        typer.Option("--breakdown", help="Also a table of the components of the mean response time"),
    ] = False
    breakdown_chart: Annotated[
        list[Path], _picture("Draw the components of the response time, a stacked bar for each point")
    ] = field(default_factory=list)
    over_time: Annotated[list[Path], _picture("Draw IOPS, latency and depth over the measured time")] = field(
        default_factory=list
    )
    look: Look
    rebuild: Annotated[
        list[Path], _picture("Draw latency, IOPS and the progress of rebuilds over time", ARRAY_PANEL)
    ] = field(default_factory=list)
    check_data: Annotated[
        bool,
        typer.Option(
            "--check-data",
            help="Verify every read against what was written, and parity and copies at the end",
            rich_help_panel=DATA_PANEL,
        ),
    ] = False
    log: LogWish
    capture: Annotated[
        Path | None,
        typer.Option(
            help="Write every command that reaches the target to a trace, for --trace",
            metavar="FILE",
            parser=place,
            rich_help_panel=TRACE_PANEL,
            show_default=False,
        ),
    ] = None

    def check_form(self, form: Form) -> None:
        """Refuse options that change nothing beside the form that was chosen. Raises InputError."""
        wanted = next(given(self), None)
        if form.as_fio and wanted is not None:
            raise InputError(
                f"{wanted} changes nothing with --fio, which runs nothing; leave one of the two out"
            )
        if self.breakdown and not form.is_plain:
            name = "--json" if form.as_json else "--csv"
            raise InputError(
                f"--breakdown changes nothing with {name}, which has breakdown_ns of each point; leave it out"
            )

    def check(self, checked: _core.Plan, *, elsewhere: bool) -> None:
        """Refuse what this plan cannot give, before anything runs. Raises InputError and OutputError."""
        self.log.check_points(checked)
        check_reports(self.report)
        if self.capture is not None:
            check_file("--capture", self.capture)
            simulation.check_capture(self.capture, checked)
            if elsewhere:
                raise InputError(
                    "--capture: a trace is written as it runs, here: leave --ray and --checkpoint out"
                )
        if self.check_data and any(in_force is None for in_force in checked.in_force):
            raise InputError("--check-data: a station holds no data; take a drive or an array as the target")
        _check_rebuild(self.rebuild, checked)
        _check_charts(self.breakdown_chart, self.over_time, checked)
        drawn = (self.chart, self.breakdown_chart, self.over_time, self.rebuild, self.log.timeline, self.out)
        check_look(self.look, pictures=any(drawn))
        check_shown(self.metric, pictures=bool(self.chart or self.out or self.report))


def points_in_a_rebuild() -> int:
    """How many points one picture of arrays over time compares."""
    from drivelab import charts  # noqa: PLC0415 - it loads slowly

    return charts.REBUILD_POINTS_MAX


def _check_rebuild(paths: Sequence[Path], checked: _core.Plan) -> None:
    """Refuse a picture of these arrays that could not be drawn. Raises InputError and OutputError."""
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


def _check_charts(breakdown: Sequence[Path], over_time: Sequence[Path], checked: _core.Plan) -> None:
    """Refuse pictures of these points that could not be drawn. Raises InputError and OutputError."""
    for path in breakdown:
        check_picture("--breakdown-chart", path)
    for path in over_time:
        check_picture("--over-time", path)
    if not over_time:
        return
    from drivelab import charts  # noqa: PLC0415 - it loads slowly

    if len(checked) > charts.OVER_TIME_POINTS_MAX:
        raise InputError(
            f"--over-time {over_time[0]}: a picture compares at most {charts.OVER_TIME_POINTS_MAX} points, and this "
            f"sweep has {len(checked)}; give fewer values"
        )
