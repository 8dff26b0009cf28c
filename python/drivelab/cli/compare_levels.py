"""`drivelab compare-levels`: every level of an array side by side, by rate, latency, capacity, price and risk."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from drivelab import executors
from drivelab.arrays import risk
from drivelab.arrays.level import COPIES, GROUPS, LEVELS
from drivelab.arrays.levels import compare
from drivelab.arrays.levels.compare import Comparison
from drivelab.arrays.levels.cost import Prices
from drivelab.arrays.levels.loads import KINDS, REQUESTS, STATES, WARM_UP, Loads
from drivelab.arrays.levels.planning import Chosen, check_used, checked, named, planned
from drivelab.arrays.levels.tables import notes
from drivelab.arrays.levels.trace_keys import split
from drivelab.arrays.odds import Lifetime, Repair
from drivelab.arrays.risk import CAUSES
from drivelab.cli import completion
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_assumed
from drivelab.cli.chart_options import ASK_FOR_ONE, Dpi, Look, Provenance, Title, Width, check_look
from drivelab.cli.exits import Exit
from drivelab.cli.failure_options import (
    Attended,
    Batch,
    Common,
    Detection,
    Latent,
    Reads,
    Replacement,
    Scrub,
    Ure,
    WrongDrive,
    option,
)
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_picture
from drivelab.cli.run_options import (
    AsCsv,
    AsJson,
    Checkpoint,
    Pictures,
    Quiet,
    Ray,
    Workers,
    check_form,
)
from drivelab.errors import InputError
from drivelab.report.csv_text import rows_csv
from drivelab.report.plural import counted
from drivelab.scenarios.scenario import Override

LOAD_PANEL = "The loads"
RISK_PANEL = "Failures and prices"


def _load(text: str, metavar: str, names: completion.Complete | None = None) -> typer.models.OptionInfo:
    return option(text, metavar, LOAD_PANEL, names)


def _risk(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, RISK_PANEL)


def compare_levels(
    drive: Annotated[
        str,
        typer.Option(
            help="A drive of the catalogue, or a path to one",
            metavar="NAME",
            autocompletion=completion.drives,
        ),
    ],
    members: Annotated[str, typer.Option(help="Number of drives", metavar="N")] = "4",
    levels: Annotated[
        str,
        typer.Option(
            help="Levels; raid10:far names a layout",
            metavar="NAMES",
            autocompletion=completion.levels,
        ),
    ] = ",".join(LEVELS),
    controller: Annotated[
        str | None,
        typer.Option(help="The host's adapter", metavar="NAME", autocompletion=completion.controllers),
    ] = None,
    copies: Annotated[
        int | None, typer.Option(help=f"Copies in raid01 and raid10 \\[{COPIES}]", metavar="N")
    ] = None,
    groups: Annotated[
        int | None, typer.Option(help=f"Groups in raid30, raid50, raid60 \\[{GROUPS}]", metavar="N")
    ] = None,
    stripe_unit: Annotated[
        str | None, typer.Option(help="Stripe unit: consecutive data on one member", metavar="SIZE")
    ] = None,
    states: Annotated[
        str,
        typer.Option(
            help="States: healthy, degraded (member 0 missing), rebuilding (it is replaced)", metavar="NAMES"
        ),
    ] = ",".join(STATES),
    rw: Annotated[
        str | None, _load(f"Accesses: {', '.join(KINDS)} [randrw]", "KIND", completion.loads)
    ] = None,
    pattern: Annotated[
        str | None,
        _load(
            "A workload of the catalogue in place of --rw, --bs and --rwmixread", "NAME", completion.patterns
        ),
    ] = None,
    trace: Annotated[
        str | None, _load("Path of a recorded trace as the load, replayed at its recorded times", "FILE")
    ] = None,
    remap: Annotated[
        str | None, _load("Mapping of its addresses onto each array: wrap or scale", "HOW", completion.remaps)
    ] = None,
    of: Annotated[str | None, _load("With --remap scale: size of the recorded device", "SIZE")] = None,
    iodepth: Annotated[
        str | None,
        _load("Queue depths: the first for the load, all with --full [16; 1,4,16,64]", "N"),
    ] = None,
    rate_iops: Annotated[str | None, _load("Requests per second, in place of --iodepth", "N")] = None,
    rate_process: Annotated[
        str | None,
        _load(
            "Arrival process: poisson (default) or linear (evenly spaced)", "NAME", completion.rate_processes
        ),
    ] = None,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync", help="Each write ends on the media (FUA), as with O_SYNC", rich_help_panel=LOAD_PANEL
        ),
    ] = False,
    bs: Annotated[str | None, _load("Size of a request [4KiB]", "SIZE")] = None,
    rwmixread: Annotated[
        int | None, _load("Share of reads in a mixed load, in percent [70]", "PERCENT")
    ] = None,
    number_ios: Annotated[
        int | None, _load(f"Number of random requests per figure [{REQUESTS}]", "N")
    ] = None,
    ramp_time: Annotated[str | None, _load(f"Ramp time before these are counted [{WARM_UP}]", "TIME")] = None,
    randseed: words.Randseed = None,
    afr: Annotated[str | None, _risk("Annual failure rate of a drive", "PERCENT")] = None,
    mttf: Annotated[str | None, _risk("Mean time to failure of a drive, in place of --afr", "TIME")] = None,
    repair: Annotated[
        str | None,
        _risk("Time from a failure to the end of the repair; by default the rebuild under the load", "TIME"),
    ] = None,
    batch: Batch = None,
    ure: Ure = None,
    latent: Latent = None,
    reads: Reads = None,
    common: Common = None,
    wrong_drive: WrongDrive = None,
    detection: Detection = None,
    replacement: Replacement = None,
    attended: Attended = None,
    scrub: Scrub = None,
    spares: Annotated[str | None, _risk("Hot spares; each used one is reordered [0]", "N")] = None,
    drive_price: Annotated[str | None, _risk("Price of a drive: 140USD", "PRICE")] = None,
    controller_price: Annotated[str | None, _risk("Price of the controller", "PRICE")] = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    full: Annotated[
        bool, typer.Option("--full", help="Also a table for each topic, by load and depth")
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    output: Pictures = [],  # noqa: B006
    title: Title = None,
    width: Width = None,
    dpi: Dpi = None,
    provenance: Provenance = False,
    workers: Workers = None,
    ray: Ray = None,
    checkpoint: Checkpoint = None,
    quiet: Quiet = False,
) -> int:
    """Compare the levels of an array under a load: what each gives, costs and survives.

    Every level runs the load whole, with a drive missing, and while a new one is filled; how long that takes is
    extrapolated from parts. --full and --json run other loads and depths as well.
    """
    given: dict[str, Any] = dict(locals())
    check_form(json=as_json, csv=as_csv, full=full)
    for path in output:
        check_picture("--output", path)
    look = Look(title, width, dpi, provenance)
    check_look(look, pictures=bool(output), remedy=ASK_FOR_ONE)
    others, keys = split(words.overrides_of({"randseed": randseed}, settings), trace)
    check_used(levels, copies, groups)
    if controller is not None:
        others.insert(0, Override("target.controller", controller, "--controller"))
    if stripe_unit is not None:
        others.insert(0, Override("target.array.stripe_unit", stripe_unit, "--stripe-unit"))
    count, lifetime = _count(members), Lifetime.parse(afr, mttf)
    chosen = Chosen(
        drive=drive,
        members=count,
        levels=named(
            levels, count, COPIES if copies is None else copies, GROUPS if groups is None else groups
        ),
        loads=Loads.chosen(
            rw=rw,
            pattern=pattern,
            trace=trace,
            remap=remap,
            of=of,
            trace_keys=keys,
            bs=bs,
            iodepth=iodepth,
            rwmixread=rwmixread,
            rate_iops=rate_iops,
            rate_process=rate_process,
            sync=sync,
            number_ios=number_ios,
            ramp_time=ramp_time,
            states=states,
            full=full or as_json,
        ),
        overrides=checked(drive, others),
        lifetime=lifetime,
        failures=compare.failures_of(lifetime, {key: given[key] for key in ("afr", "mttf", *CAUSES)}),
        repair=Repair.parse(repair, lifetime),
        prices=Prices.parse(drive_price, controller_price),
    )
    risk.check(chosen)
    entries = planned(chosen)
    points = sum(len(plan) for entry in entries for plan in entry.plans.values())
    note_assumed([plan for entry in entries for plan in entry.plans.values()][:1])
    with (
        executors.using(ray, checkpoint, say),
        progress_bar(points, chosen.name, quiet=quiet) as progress,
    ):
        found = compare.run(chosen, entries, workers, progress)
    _print(found, as_json=as_json, as_csv=as_csv, quiet=quiet)
    for path in output if any(entry.states for entry in found.entries) else ():
        draw(found.chart, path, found.provenance(), look)
        if not quiet:
            say(f"wrote {path}")
    return _exit_code(found, points)


def _print(found: Comparison, *, as_json: bool, as_csv: bool, quiet: bool) -> None:
    if as_json:
        emit_json(found.to_dict())
        return
    verdict = found.verdict()
    if as_csv:
        emit(rows_csv(verdict.rows))
        return
    if verdict.lines:
        emit("\n".join(verdict.lines))
        emit("")
    emit_table(verdict.table())
    for table in found.tables():
        emit("")
        emit_table(table)
    if not quiet:
        say("\n".join(f"note: {note}" for note in notes(found)))
        say(found.identity())


def _exit_code(found: Comparison, points: int) -> Exit:
    for text in compare.failure_texts(found.failures):
        say(f"error: {text}")
    if found.interrupted:
        say(f"interrupted: {found.points} of {counted(points, 'point')} finished")
        return Exit.INTERRUPTED
    return Exit.FAILED if found.failures else Exit.OK


def _count(members: str) -> int:
    try:
        return int(members)
    except ValueError as error:
        why = "a comparison has one number of drives"
        remedy = "compare once for each" if "," in members else "such as --members 4"
        raise InputError(f"--members {members}: {why}; {remedy}") from error
