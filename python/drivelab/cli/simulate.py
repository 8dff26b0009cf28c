"""`drivelab simulate`: run a scenario in virtual time and print what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drivelab import _core, executors
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_assumed
from drivelab.cli.exits import Exit
from drivelab.cli.fio_jobs import emit_jobs
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_picture
from drivelab.cli.repetition import tell_repetition
from drivelab.cli.reports import write_reports
from drivelab.cli.run_options import Placement
from drivelab.cli.simulate_notes import (
    note_cached,
    note_failed,
    note_given_up,
    note_lost,
    note_partial_writes,
    note_skipped,
    note_starved,
    note_unlogged,
    place_of,
    tell_empty,
)
from drivelab.cli.simulate_options import Form, Shown, points_in_a_rebuild, points_in_a_timeline
from drivelab.cli.simulate_points import (
    emit_data,
    emit_replays,
    emit_timelines,
    note_behind,
    note_floors,
    note_uncut,
    note_unstruck,
)
from drivelab.cli.simulate_report import reported
from drivelab.errors import UnfitError
from drivelab.host.files import make_folder, write_text
from drivelab.report import steady
from drivelab.report.array_summary import is_eventful
from drivelab.report.json_text import json_text
from drivelab.report.plural import counted
from drivelab.report.points_table import commands_csv, directions_table, points_csv
from drivelab.runs.result import Result
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.firmware import range_note, rate_note
from drivelab.scenarios.scenario import Source, plan, read_source
from drivelab.scenarios.subject import subject_of

if TYPE_CHECKING:
    import altair

PLAIN = Form()
Drawing = Callable[[], "altair.TopLevelMixin"]


@grouped
def simulate(
    *,
    scenario: Annotated[
        Path | None, typer.Argument(metavar="[SCENARIO.toml|JOB.fio|RECORD.json]", show_default=False)
    ] = None,
    name: words.Name = None,
    target: words.Target,
    load: words.Load,
    ignored: words.Ignored,
    replay: words.Replay,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    form: Form,
    shown: Shown,
    placement: Placement,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no footer")] = False,
) -> int:
    """Run a scenario in virtual time.

    A list is a sweep and several lists make a grid: --bs 4k,64k --iodepth 1,4,16,64.
    """
    form.check()
    shown.check_form(form)
    for path in shown.chart:
        check_picture("--chart", path)
    shown.log.check()
    typed = {"name": name, **vars(target), **vars(load), **vars(ignored), **vars(replay)}
    overrides = words.overrides_of(typed, settings)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    checked = plan(source, overrides)
    words.note_words(checked, source)
    if form.as_fio:
        emit_jobs(checked)
        return Exit.OK
    shown.check(checked, elsewhere=bool(placement.ray or placement.checkpoint))
    for folder in shown.out:
        make_folder(folder)
    note_skipped(checked)
    note_assumed([checked])
    with (
        executors.using(placement.ray, placement.checkpoint, say),
        progress_bar(len(checked), checked.name, quiet=quiet, limits=checked.limits) as progress,
    ):
        result = run_plan(
            checked,
            placement.workers,
            progress,
            shown.log.commands,
            check_data=shown.check_data,
            capture=shown.capture,
        )
    result = replace(result, subject=subject_of(source, overrides))
    _print(result, form, quiet=quiet, breakdown=shown.breakdown)
    is_empty = tell_empty(result)
    _note(result, checked)
    for path in _write(result, shown):
        if not quiet:
            say(f"wrote {path}")
    prints = partial(_print_all, result, checked, source)
    write_reports(shown.report, lambda: reported(result, shown, prints), quiet=quiet)
    code = _exit_code(result, len(checked), is_empty=is_empty)
    repeated = tell_repetition(source, checked, result, is_plain=form.is_plain, quiet=quiet)
    return repeated if code == Exit.OK else code


def _note(result: Result, checked: _core.Plan) -> None:
    """What a person has to know beside the figures."""
    note_failed(result)
    lost = note_lost(result)
    note_starved(result)
    note_partial_writes(result)
    note_given_up(result)
    note_cached(result, checked)
    note_behind(result.records)
    note_floors(result.records)
    note_uncut(result.records)
    note_unstruck(result.records)
    note_unlogged(result)
    if unsteady := steady.note([point for point in result.points if point not in lost]):
        say(unsteady)


def _print_all(result: Result, checked: _core.Plan, source: Source) -> None:
    """Everything that a run prints for people, and every remark on it."""
    words.note_words(checked, source)
    note_skipped(checked)
    note_assumed([checked])
    _print(result, PLAIN, quiet=False, breakdown=True)
    is_empty = tell_empty(result)
    _note(result, checked)
    _exit_code(result, len(checked), is_empty=is_empty)


def _print(result: Result, form: Form, *, quiet: bool, breakdown: bool) -> None:
    if form.as_json:
        emit_json(result.document())
    elif form.as_csv:
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


def _write(result: Result, shown: Shown) -> Iterator[Path]:
    """Each file that was asked for, as soon as it is there; a result without points has no picture."""
    logged = any(point.get("commands") for point in result.points)
    # Made once, however many files each is written to.
    rates, breakdown = cache(partial(result.chart, metric=shown.metric)), cache(result.breakdown_chart)
    over_time, rebuild = cache(result.over_time_chart), cache(result.rebuild_chart)
    charts: list[tuple[Drawing, list[Path]]] = [
        (rates, shown.chart),
        (breakdown, shown.breakdown_chart),
        (over_time, shown.over_time),
        (rebuild, shown.rebuild),
    ]
    pictures = [(make, path) for make, paths in charts for path in paths] if result.points else []
    yield from shown.log.write(result)
    for folder in shown.out:
        record = folder / "record.json"
        write_text(record, json_text(result.document()))
        yield record
        if logged:
            write_text(folder / "commands.csv", commands_csv(result.records))
            yield folder / "commands.csv"
        pictures += [
            (rates, folder / "depth.html"),
            (breakdown, folder / "breakdown.html"),
        ]
        if any(map(is_eventful, result.records)) and len(result.points) <= points_in_a_rebuild():
            pictures.append((rebuild, folder / "rebuild.html"))
    timelines = list(shown.log.timeline)
    alike = len({"array" in point for point in result.points}) == 1
    if logged and alike and len(result.points) <= points_in_a_timeline():
        timelines += [folder / "timeline.html" for folder in shown.out]
    if not any(point["latency_ns"]["n"] for point in result.points):
        if pictures or timelines:
            say("note: no picture, because there is nothing to draw")
        return
    if timelines and logged:
        drawn = result.timeline_chart()
        pictures += [(lambda: drawn, path) for path in timelines]
    for make, path in pictures:
        draw(make, path, result.provenance(), shown.look)
        yield path


def _exit_code(result: Result, asked: int, *, is_empty: bool) -> Exit:
    places: dict[str, list[str]] = {}
    for failure in result.failures:
        places.setdefault(failure.why, []).append(place_of(failure.axes))
    for message, at in places.items():
        more = f" and {counted(len(at) - 1, 'more point')}" if len(at) > 1 else ""
        say(f"error: {f'at {at[0]}{more}: ' if at[0] else ''}{message}")
    if result.interrupted:
        say(f"interrupted: {len(result.points)} of {counted(asked, 'point')} finished")
        return Exit.INTERRUPTED
    if (
        result.failures
        and not result.points
        and all(failure.kind is UnfitError for failure in result.failures)
    ):
        return Exit.USAGE
    return Exit.FAILED if result.failures or is_empty else Exit.OK
