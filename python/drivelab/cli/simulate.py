"""`drivelab simulate`: run a scenario in virtual time and print what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drivelab import executors
from drivelab.cli import workload_options as words
from drivelab.cli.array_options import (
    Rebuild,
    check_rebuild,
    emit_timelines,
    note_floors,
    points_in_a_rebuild,
)
from drivelab.cli.assumed import note_assumed
from drivelab.cli.chart_options import (
    PICTURE_PANEL,
    BreakdownChart,
    BreakdownWish,
    Dpi,
    Look,
    Metric,
    OverTime,
    Provenance,
    Title,
    Width,
    check_charts,
    check_look,
    check_shown,
)
from drivelab.cli.data_options import CheckData, check_has_data, emit_data, note_uncut, note_unstruck
from drivelab.cli.exits import Exit
from drivelab.cli.fio_jobs import emit_jobs
from drivelab.cli.log_options import (
    Log,
    LogTo,
    LogWish,
    Timeline,
    log_wish,
    note_unlogged,
    points_in_a_timeline,
)
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_picture, place
from drivelab.cli.repetition import tell_repetition
from drivelab.cli.replay_options import Capture, check_capture, emit_replays, note_behind
from drivelab.cli.run_options import Checkpoint, Ray, Workers, check_form
from drivelab.cli.simulate_notes import (
    note_cached,
    note_failed,
    note_given_up,
    note_lost,
    note_skipped,
    note_starved,
    place_of,
    tell_empty,
)
from drivelab.errors import InputError
from drivelab.host.files import make_folder, write_text
from drivelab.report.array_summary import is_eventful
from drivelab.report.json_text import json_text
from drivelab.report.plural import counted
from drivelab.report.points_table import commands_csv, directions_table, points_csv
from drivelab.runs import steady
from drivelab.runs.result import Result
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.firmware import range_note, rate_note
from drivelab.scenarios.scenario import Source, plan, read_source
from drivelab.scenarios.subject import subject_of

if TYPE_CHECKING:
    import altair

Drawing = Callable[[], "altair.TopLevelMixin"]
Pictures = Sequence[tuple[Drawing, Path]]
"""What draws a picture, and where it goes."""


def simulate(
    scenario: Annotated[
        Path | None, typer.Argument(metavar="[SCENARIO.toml|JOB.fio|RECORD.json]", show_default=False)
    ] = None,
    name: words.Name = None,
    drive: words.Drive = None,
    level: words.Level = None,
    members: words.Members = None,
    stripe_unit: words.StripeUnit = None,
    pattern: words.Pattern = None,
    rw: words.Rw = None,
    bs: words.Bs = None,
    bssplit: words.Bssplit = None,
    iodepth: words.Iodepth = None,
    numjobs: words.Numjobs = None,
    rwmixread: words.Rwmixread = None,
    percentage_random: words.PercentageRandom = None,
    random_distribution: words.RandomDistribution = None,
    rate_iops: words.RateIops = None,
    rate_process: words.RateProcess = None,
    thinktime: words.Thinktime = None,
    fsync: words.Fsync = None,
    direct: words.Direct = None,
    size: words.Size = None,
    offset: words.Offset = None,
    runtime: words.Runtime = None,
    ramp_time: words.RampTime = None,
    number_ios: words.NumberIos = None,
    randseed: words.Randseed = None,
    ioengine: words.Ioengine = None,
    time_based: words.TimeBased = False,
    trace: words.Trace = None,
    pace: words.Pace = None,
    trace_format: words.TraceFormat = None,
    trace_device: words.TraceDevice = None,
    scale_time: words.ScaleTime = None,
    remap: words.Remap = None,
    of: words.Of = None,
    lenient: words.Lenient = False,
    sort: words.Sort = False,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    as_json: Annotated[bool, typer.Option("--json", help="The record as JSON")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="One line per point")] = False,
    as_fio: Annotated[bool, typer.Option("--fio", help="Run nothing: print the workload for fio")] = False,
    out: Annotated[
        list[Path], typer.Option(help="Folder for record.json and pictures", metavar="DIR", parser=place)
    ] = [],  # noqa: B006
    chart: Annotated[
        list[Path],
        typer.Option(
            help="Draw rates and latency, of one point its response times: .png, .svg, .pdf, .html or .json; "
            "give it again for another file",
            metavar="FILE",
            parser=place,
            rich_help_panel=PICTURE_PANEL,
        ),
    ] = [],  # noqa: B006
    metric: Metric = None,
    breakdown: BreakdownWish = False,
    breakdown_chart: BreakdownChart = [],  # noqa: B006
    over_time: OverTime = [],  # noqa: B006
    title: Title = None,
    width: Width = None,
    dpi: Dpi = None,
    provenance: Provenance = False,
    rebuild: Rebuild = [],  # noqa: B006
    check_data: CheckData = False,
    log: Log = None,
    log_to: LogTo = [],  # noqa: B006
    timeline: Timeline = [],  # noqa: B006
    capture: Capture = None,
    workers: Workers = None,
    ray: Ray = None,
    checkpoint: Checkpoint = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no footer")] = False,
) -> int:
    """Run a scenario in virtual time.

    A list is a sweep and several lists make a grid: --bs 4k,64k --iodepth 1,4,16,64.
    """
    options = dict(locals())
    check_form(json=as_json, csv=as_csv, fio=as_fio)
    _check_effective(options)
    for path in chart:
        check_picture("--chart", path)
    wish = log_wish(log, log_to, timeline)
    overrides = words.overrides_of(options, settings)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    checked = plan(source, overrides)
    words.note_words(checked, source)
    if as_fio:
        emit_jobs(checked)
        return Exit.OK
    wish.check_points(checked)
    check_capture(capture, checked)
    if capture is not None and (ray or checkpoint):
        raise InputError("--capture: a trace is written as it runs, here: leave --ray and --checkpoint out")
    check_has_data(checked, wanted=check_data)
    check_rebuild(rebuild, checked)
    check_charts(breakdown_chart, over_time, checked)
    look = Look(title, width, dpi, provenance)
    check_look(look, pictures=any((chart, breakdown_chart, over_time, rebuild, timeline, out)))
    check_shown(metric, pictures=bool(chart or out))
    for folder in out:
        make_folder(folder)
    note_skipped(checked)
    note_assumed([checked])
    with (
        executors.using(ray, checkpoint, say),
        progress_bar(len(checked), checked.name, quiet=quiet, limits=checked.limits) as progress,
    ):
        result = run_plan(checked, workers, progress, wish.commands, check_data=check_data, capture=capture)
    result = replace(result, subject=subject_of(source, overrides))
    _print(result, as_json=as_json, as_csv=as_csv, quiet=quiet, breakdown=breakdown)
    is_empty = tell_empty(result)
    note_failed(result)
    lost = note_lost(result)
    note_starved(result)
    note_given_up(result)
    note_cached(result, checked)
    note_behind(result.records)
    note_floors(result.records)
    note_uncut(result.records)
    note_unstruck(result.records)
    note_unlogged(result)
    if unsteady := steady.note([point for point in result.points if point not in lost]):
        say(unsteady)
    rates = partial(result.chart, metric=metric)
    pictures: Pictures = [
        *((rates, path) for path in chart),
        *((result.breakdown_chart, path) for path in breakdown_chart),
        *((result.over_time_chart, path) for path in over_time),
        *((result.rebuild_chart, path) for path in rebuild),
    ]
    for path in _write(result, out, rates, pictures, wish, look):
        if not quiet:
            say(f"wrote {path}")
    code = _exit_code(result, len(checked), is_empty=is_empty)
    repeated = tell_repetition(source, checked, result, is_plain=not (as_json or as_csv), quiet=quiet)
    return repeated if code == Exit.OK else code


# What says how a run is shown or kept; --fio runs nothing.
_OF_A_RUN = (
    "out",
    "chart",
    "metric",
    "breakdown",
    "breakdown_chart",
    "over_time",
    "title",
    "width",
    "dpi",
    "provenance",
    "rebuild",
    "check_data",
    "log",
    "log_to",
    "timeline",
    "capture",
)


def _check_effective(options: Mapping[str, object]) -> None:
    """Refuse options that change nothing beside the form that was chosen. Raises InputError."""
    given = [f"--{name.replace('_', '-')}" for name in _OF_A_RUN if options[name] not in (None, False, [])]
    if options["as_fio"] and given:
        raise InputError(
            f"{given[0]} changes nothing with --fio, which runs nothing; leave one of the two out"
        )
    form = "--json" if options["as_json"] else "--csv" if options["as_csv"] else None
    if options["breakdown"] and form is not None:
        raise InputError(
            f"--breakdown changes nothing with {form}, which has breakdown_ns of each point; leave it out"
        )


def _print(result: Result, *, as_json: bool, as_csv: bool, quiet: bool, breakdown: bool) -> None:
    if as_json:
        emit_json(result.document())
    elif as_csv:
        emit(points_csv(result.records))
    elif result.points:
        emit_table(result.table())
        if (apart := directions_table(result.records)) is not None:
            emit("")
            emit_table(apart)
        if breakdown and (parts := result.breakdown_table()) is not None:
            emit("")
            emit_table(parts)
        emit_timelines(result.records)
        emit_replays(result.records)
        emit_data(result.records)
        if not quiet:
            steadiness = steady.summary(result.points)
            ranged = "\n".join(filter(None, (range_note(result.records), rate_note(result.records))))
            emit(
                f"\n{ranged}\n" * bool(ranged)
                + f"\n{steadiness}\n" * bool(steadiness)
                + f"\n{result.identity()}\nMB/s = 1,000,000 bytes/s, MiB/s = 1,048,576 bytes/s"
            )


def _write(
    result: Result, out: list[Path], rates: Drawing, wanted: Pictures, wish: LogWish, look: Look
) -> Iterator[Path]:
    """Each file that was asked for, as soon as it is there; a result without points has no picture."""
    logged = any(point.get("commands") for point in result.points)
    pictures = list(wanted) if result.points else []
    yield from wish.write(result)
    for folder in out:
        record = folder / "record.json"
        write_text(record, json_text(result.document()))
        yield record
        if logged:
            write_text(folder / "commands.csv", commands_csv(result.records))
            yield folder / "commands.csv"
        pictures += [
            (rates, folder / "depth.html"),
            (result.breakdown_chart, folder / "breakdown.html"),
        ]
        if any(map(is_eventful, result.records)) and len(result.points) <= points_in_a_rebuild():
            pictures.append((result.rebuild_chart, folder / "rebuild.html"))
    timelines = list(wish.timelines)
    alike = len({"array" in point for point in result.points}) == 1
    if logged and alike and len(result.points) <= points_in_a_timeline():
        timelines += [folder / "timeline.html" for folder in out]
    if not any(point["latency_ns"]["n"] for point in result.points):
        if pictures or timelines:
            say("note: no picture, because there is nothing to draw")
        return
    if timelines and logged:
        drawn = result.timeline_chart()
        pictures += [(lambda: drawn, path) for path in timelines]
    for make, path in pictures:
        draw(make, path, result.provenance(), look)
        yield path


def _exit_code(result: Result, asked: int, *, is_empty: bool) -> Exit:
    places: dict[str, list[str]] = {}
    for failure in result.failures:
        places.setdefault(failure.message, []).append(place_of(failure.axes))
    for message, at in places.items():
        more = f" and {counted(len(at) - 1, 'more point')}" if len(at) > 1 else ""
        say(f"error: {f'at {at[0]}{more}: ' if at[0] else ''}{message}")
    if result.interrupted:
        say(f"interrupted: {len(result.points)} of {counted(asked, 'point')} finished")
        return Exit.INTERRUPTED
    if result.failures and not result.points and all(failure.is_unfit for failure in result.failures):
        return Exit.USAGE
    return Exit.FAILED if result.failures or is_empty else Exit.OK
