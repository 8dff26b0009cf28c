"""`drivelab compare-levels`: every level of an array side by side, by rate, latency, capacity, price and risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from drivelab import executors
from drivelab.arrays.level import COPIES, GROUPS, LEVELS
from drivelab.arrays.levels import compare
from drivelab.arrays.levels.compare import Comparison
from drivelab.arrays.levels.tables import notes
from drivelab.arrays.simulation.example import one_of
from drivelab.arrays.simulation.loads import KINDS, REQUESTS, STATES, WARM_UP
from drivelab.arrays.simulation.planning import Entry, planned
from drivelab.arrays.simulation.rebuild import PRECISION_HELP
from drivelab.cli import completion
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_assumed
from drivelab.cli.exits import Exit
from drivelab.cli.failure_options import Causes, Scrub, Waits, option
from drivelab.cli.groups import grouped, values
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import Drawn
from drivelab.cli.reports import Reported, Reports, check_reports, write_reports
from drivelab.cli.run_options import AsCsv, AsJson, Placement, Quiet, check_form
from drivelab.errors import InputError, ref
from drivelab.report.csv_text import rows_csv
from drivelab.report.plural import counted
from drivelab.scenarios.scenario import Override

LOAD_PANEL = "The loads"
RISK_PANEL = "Failures and prices"


def _load(text: str, metavar: str, names: completion.Complete | None = None) -> typer.models.OptionInfo:
    return option(text, metavar, LOAD_PANEL, names)


def _risk(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, RISK_PANEL)


@dataclass(frozen=True, kw_only=True)
class Array:
    """The array, and the states in which it runs."""

    members: Annotated[str, typer.Option(help="Number of drives", metavar="N")] = "4"
    levels: Annotated[
        str,
        typer.Option(
            help="Levels; raid10:far names a layout",
            metavar="NAMES",
            autocompletion=completion.levels,
        ),
    ] = ",".join(LEVELS)
    controller: Annotated[
        str | None,
        typer.Option(help="The host's adapter", metavar="NAME", autocompletion=completion.controllers),
    ] = None
    copies: Annotated[
        int | None, typer.Option(help=f"Copies in raid01 and raid10 \\[{COPIES}]", metavar="N")
    ] = None
    groups: Annotated[
        int | None, typer.Option(help=f"Groups in raid30, raid50, raid60 \\[{GROUPS}]", metavar="N")
    ] = None
    stripe_unit: Annotated[
        str | None, typer.Option(help="Stripe unit: consecutive data on one member", metavar="SIZE")
    ] = None
    states: Annotated[
        str,
        typer.Option(
            help="States: healthy, degraded (member 0 missing), rebuilding (it is replaced)", metavar="NAMES"
        ),
    ] = ",".join(STATES)


@dataclass(frozen=True, kw_only=True)
class Load:
    """The loads."""

    rw: Annotated[str | None, _load(f"Accesses: {', '.join(KINDS)} [randrw]", "KIND", completion.loads)] = (
        None
    )
    pattern: Annotated[
        str | None,
        _load(
            "A workload of the catalogue in place of --rw, --bs and --rwmixread", "NAME", completion.patterns
        ),
    ] = None
    trace: Annotated[
        str | None, _load("Path of a recorded trace as the load, replayed at its recorded times", "FILE")
    ] = None
    remap: Annotated[
        str | None, _load("Mapping of its addresses onto each array: wrap or scale", "HOW", completion.remaps)
    ] = None
    of: Annotated[str | None, _load("With --remap scale: size of the recorded device", "SIZE")] = None
    iodepth: Annotated[
        str | None,
        _load("Queue depths: the first for the load, all with --full [16; 1,4,16,64]", "N"),
    ] = None
    rate_iops: Annotated[str | None, _load("Requests per second, in place of --iodepth", "N")] = None
    rate_process: Annotated[
        str | None,
        _load(
            "Arrival process: poisson (default) or linear (evenly spaced)", "NAME", completion.rate_processes
        ),
    ] = None
    sync: Annotated[
        bool,
        typer.Option(
            "--sync", help="Each write ends on the media (FUA), as with O_SYNC", rich_help_panel=LOAD_PANEL
        ),
    ] = False
    bs: Annotated[str | None, _load("Size of a request [4KiB]", "SIZE")] = None
    rwmixread: Annotated[int | None, _load("Share of reads in a mixed load, in percent [70]", "PERCENT")] = (
        None
    )
    number_ios: Annotated[int | None, _load(f"Number of random requests per figure [{REQUESTS}]", "N")] = None
    ramp_time: Annotated[str | None, _load(f"Ramp time before these are counted [{WARM_UP}]", "TIME")] = None
    precision: Annotated[str | None, _load(PRECISION_HELP, "PERCENT")] = None


@dataclass(frozen=True, kw_only=True)
class Lives:
    """How often drives fail, and how long a repair takes."""

    afr: Annotated[str | None, _risk("Annual failure rate of a drive", "PERCENT")] = None
    mttf: Annotated[str | None, _risk("Mean time to failure of a drive, in place of --afr", "TIME")] = None
    repair: Annotated[
        str | None,
        _risk("Time from a failure to the end of the repair; by default the rebuild under the load", "TIME"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices."""

    drive_price: Annotated[str | None, _risk("Price of a drive: 140USD", "PRICE")] = None
    controller_price: Annotated[str | None, _risk("Price of the controller", "PRICE")] = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How much is printed, and in which form."""

    full: Annotated[bool, typer.Option("--full", help="Also a table for each topic, by load and depth")] = (
        False
    )
    as_json: AsJson = False
    as_csv: AsCsv = False

    def check(self) -> None:
        """Refuse two forms at once. Raises InputError."""
        check_form(json=self.as_json, csv=self.as_csv, full=self.full)


@grouped
def compare_levels(
    *,
    drive: Annotated[
        str,
        typer.Option(
            help="A drive of the catalogue, or a path to one",
            metavar="NAME",
            autocompletion=completion.drives,
        ),
    ],
    array: Array,
    load: Load,
    randseed: words.Randseed = None,
    lives: Lives,
    causes: Causes,
    waits: Waits,
    scrub: Scrub = None,
    spares: Annotated[str | None, _risk("Hot spares; each used one is reordered [0]", "N")] = None,
    prices: Prices,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    form: Answer,
    drawn: Drawn,
    report: Reports = [],  # noqa: B006
    placement: Placement,
    quiet: Quiet = False,
) -> int:
    """Compare the levels of an array under a load: what each gives, costs and survives.

    Every level runs the load whole, with a drive missing, and while a new one is filled; how long that takes is
    extrapolated from parts. --full and --json run other loads and depths as well.
    """
    form.check()
    drawn.check()
    check_reports(report)
    given = values(array, load, lives, causes, waits, prices)
    given |= {"drive": drive, "scrub": scrub, "spares": spares, "members": _count(array.members)}
    others = words.overrides_of({"randseed": randseed}, settings)
    if array.stripe_unit is not None:
        others.insert(0, Override("target.array.stripe_unit", array.stripe_unit, ref("stripe_unit")))
    chosen = compare.chosen_of({**given, "full": form.full or form.as_json}, others)
    entries = planned(chosen)
    points = sum(len(plan) for entry in entries for plan in entry.plans.values())
    note_assumed([plan for entry in entries for plan in entry.plans.values()][:1])
    with (
        executors.using(placement.ray, placement.checkpoint, say),
        progress_bar(points, chosen.name, quiet=quiet) as progress,
    ):
        found = compare.run(chosen, entries, placement.workers, progress)
    _print(found, form, quiet=quiet)
    if any(entry.states for entry in found.entries):
        drawn.draw(found.chart, found.provenance(), quiet=quiet)
    write_reports(report, lambda: _reported(found, form, entries, points), quiet=quiet)
    return _exit_code(found, points)


def _print(found: Comparison, form: Answer, *, quiet: bool) -> None:
    if form.as_json:
        emit_json(found.to_dict())
        return
    verdict = found.verdict()
    if form.as_csv:
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


def _reported(found: Comparison, form: Answer, entries: Sequence[Entry], points: int) -> Reported:
    plans = [plan for entry in entries for plan in entry.plans.values()]

    def prints() -> None:
        note_assumed(plans[:1])
        _print(found, Answer(full=form.full), quiet=False)
        _exit_code(found, points)

    return Reported(
        title=f"Levels of {found.chosen.members} x {found.chosen.drive} compared",
        verb="compare-levels",
        prints=prints,
        charts=[found.chart] if any(entry.states for entry in found.entries) else [],
        provenance=found.provenance(),
        identity=found.identity(),
        captions=("Levels",),
        record=found.to_dict(),
        scenario=one_of(entries),
    )


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
