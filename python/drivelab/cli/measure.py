"""`drivelab measure`: a scenario's workload on a file, block device or NBD address, with a simulation's record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from drivelab.cli import measure_options as device
from drivelab.cli import workload_options as words
from drivelab.cli.chart_options import ASK_FOR_ONE, Look, Metric, check_look, check_shown
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.measure_ready import add_ready
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_picture, place
from drivelab.cli.reports import Reported, Reports, check_reports, write_reports
from drivelab.cli.run_options import Form, Pictures, Quiet
from drivelab.errors import InputError
from drivelab.host.files import make_folder, write_text
from drivelab.measuring import summary
from drivelab.measuring.address import is_address
from drivelab.measuring.asked import prepared, with_names
from drivelab.measuring.run import MeasuredResult
from drivelab.measuring.silence import never_answered
from drivelab.report.json_text import json_text
from drivelab.report.points_table import points_csv
from drivelab.report.sweep_summary import sentence
from drivelab.scenarios.scenario import Source, read_source

RUN = "run"
"""The verb that is meant where none is named."""


class _Group(TyperGroup):
    """Verbs of measuring; what is none of them is a scenario, or options of a run."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - a class that typer hides
        if args and args[0] not in {*self.commands, "-h", "--help"}:
            args = [RUN, "--target", *args] if is_address(args[0]) else [RUN, *args]
        return super().parse_args(ctx, args)


measure = typer.Typer(
    cls=_Group,
    help="Measure a real file, block device or NBD address: `measure [SCENARIO.toml] --target PATH`, or a ready-made "
    "measurement.",
    no_args_is_help=True,
)
add_ready(measure)


@measure.command(RUN)
@grouped
def run(
    *,
    scenario: Annotated[
        Path | None, typer.Argument(metavar="[SCENARIO.toml|JOB.fio]", show_default=False)
    ] = None,
    target: device.TargetPath = None,
    name: words.Name = None,
    load: words.Load,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    engine: device.Engine = "auto",
    permit: device.Permit,
    course: device.Course,
    names: device.Names,
    form: Form,
    out: Annotated[list[Path], typer.Option(help="Folder for record.json", metavar="DIR", parser=place)] = [],  # noqa: B006
    output: Pictures = [],  # noqa: B006
    report: Reports = [],  # noqa: B006
    metric: Metric = None,
    look: Look,
    quiet: Quiet = False,
) -> int:
    """Run a workload on a real file, block device or NBD address.

    Reads only, unless --write and --yes-destroy are given. A list is a sweep: --bs 4k,64k --iodepth 1,4,16,64.
    """
    form.check()
    for path in output:
        check_picture("--output", path)
    check_reports(report)
    check_look(look, pictures=bool(output))
    check_shown(metric, pictures=bool(output or report), remedy=ASK_FOR_ONE)
    if load.direct not in {None, "0", "1"}:
        raise InputError(f"--direct {load.direct}: give 1, or 0 for the page cache")
    # It is about this machine's cache, and no key of a scenario.
    overrides = words.overrides_of({"name": name, **vars(load), "direct": None}, settings)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    said: list[str] = []
    ready = prepared(
        source,
        overrides,
        target,
        permit.destroy(),
        engine=engine,
        direct=load.direct != "0",
        **vars(course),
        say=_remembering(said, quiet=quiet),
        look=lambda checked: words.note_words(checked, source),
    )
    for folder in out:
        make_folder(folder)
    with progress_bar(len(ready.plan) * ready.how.repeats, ready.plan.name, quiet=quiet) as progress:
        result = ready.measure(progress)
    result = with_names(result, ready.target, **vars(names))
    _print(result, form, quiet=quiet)
    for note in summary.notes(result):
        say(note)
    _write(result, out, output, look, metric, quiet=quiet)
    write_reports(report, lambda: _reported(result, metric, said), quiet=quiet)
    return exit_code(result)


def _remembering(said: list[str], *, quiet: bool) -> Callable[[str], None]:
    """Says a remark unless it is quiet, and keeps it for a report."""

    def remark(text: str) -> None:
        said.append(text)
        if not quiet:
            say(text)

    return remark


def _print(result: MeasuredResult, form: Form, *, quiet: bool) -> None:
    if form.as_json:
        emit_json(result.document())
    elif form.as_csv:
        emit(points_csv(result.records))
    elif result.points:
        emit_table(result.table())
        emit("")
        emit_table(summary.costs_table(result.records))
        if not quiet:
            emit(f"\n{summary.condition(result)}\n{result.identity()}")


def _reported(result: MeasuredResult, metric: str | None, said: Sequence[str]) -> Reported:
    def prints() -> None:
        _print(result, Form(), quiet=False)
        for note in summary.notes(result):
            say(note)

    return Reported(
        title=result.headline(),
        verb="measure",
        prints=prints,
        charts=[lambda: result.chart(metric=metric)] if result.points else [],
        provenance=result.provenance(),
        identity=result.identity(),
        captions=("Points", "Parts of the response time, and processor time"),
        record=result.document(),
        scenario=str(result.scenario().get("scenario", "")),
        answer=list(filter(None, [sentence(result.records)])),
        said=said,
    )


def _write(
    result: MeasuredResult,
    out: Sequence[Path],
    output: Sequence[Path],
    look: Look,
    metric: str | None,
    *,
    quiet: bool,
) -> None:
    for folder in out:
        write_text(folder / "record.json", json_text(result.document()))
        if not quiet:
            say(f"wrote {folder / 'record.json'}")
    for path in output if result.points else ():
        draw(lambda: result.chart(metric=metric), path, result.provenance(), look)
        if not quiet:
            say(f"wrote {path}")


def exit_code(result: MeasuredResult) -> int:
    """What the run came to."""
    if result.interrupted:
        return Exit.INTERRUPTED
    has_failed = any(point["measured"]["failures"]["count"] for point in result.records)
    is_empty = any(not point["latency_ns"]["n"] for point in result.records)
    is_silent = any(map(never_answered, result.records))
    return Exit.FAILED if result.failures or has_failed or is_empty or is_silent else Exit.OK
