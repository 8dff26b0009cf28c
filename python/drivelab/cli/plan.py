"""`drivelab plan`: which array to buy, from a load, a capacity, a budget and how much loss one bears."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import executors
from drivelab.arrays.level import COPIES, GROUPS
from drivelab.arrays.levels.compare import failure_texts
from drivelab.arrays.plan.planned import KEYS, Plan, run
from drivelab.arrays.plan.question import LEVELS, LIFE, MEMBERS
from drivelab.arrays.simulation.example import one_of
from drivelab.arrays.simulation.loads import KINDS, REQUESTS, WARM_UP
from drivelab.arrays.simulation.rebuild import PRECISION_HELP
from drivelab.cli import completion
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_assumed
from drivelab.cli.chart_options import ASK_FOR_ONE, Look, check_look
from drivelab.cli.exits import Exit
from drivelab.cli.failure_options import FAILS, Causes, Outage, Scrub, Waits, option
from drivelab.cli.groups import grouped, values
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say, wrapped
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_picture, place
from drivelab.cli.reports import Make, Reported, Reports, check_reports, write_reports
from drivelab.cli.run_options import AsCsv, AsJson, Pictures, Placement, Quiet, check_form
from drivelab.report.csv_text import rows_csv
from drivelab.report.plural import counted

NOTES = 3
"""Remarks that are printed without --notes."""


def _limit(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, "Requirements")


def _load(text: str, metavar: str, names: completion.Complete | None = None) -> typer.models.OptionInfo:
    return option(text, metavar, "The load", names)


def _grid(text: str, metavar: str, names: completion.Complete | None = None) -> typer.models.OptionInfo:
    return option(text, metavar, "The candidates", names)


def _price(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, "Prices")


def _failure(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, FAILS)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the array has to hold."""

    capacity: Annotated[str | None, _limit("Usable capacity that is needed: 60TB", "SIZE")] = None
    max_latency: Annotated[str | None, _limit("Upper limits of latency: p99=50ms,mean=20ms", "NAME=TIME")] = (
        None
    )
    min_iops: Annotated[str | None, _limit("Lower limit of I/Os per second", "N")] = None
    max_loss: Annotated[
        str | None, _limit("Upper limit of the probability of data loss: 1e-4/year", "CHANCE")
    ] = None
    budget: Annotated[str | None, _limit("Upper limit of the total cost: 5000USD", "PRICE")] = None
    states: Annotated[
        str | None, _limit("States in which latency and IOPS limits hold [healthy]", "NAMES")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load."""

    load: Annotated[
        str | None, _load("A scenario whose workload is the load, or a recorded trace", "FILE")
    ] = None
    rw: Annotated[str | None, _load(f"Accesses: {', '.join(KINDS)} [randrw]", "KIND", completion.loads)] = (
        None
    )
    pattern: Annotated[
        str | None,
        _load(
            "A workload of the catalogue, in place of --rw, --bs and --rwmixread", "NAME", completion.patterns
        ),
    ] = None
    bs: Annotated[str | None, _load("Size of a request [4KiB]", "SIZE")] = None
    rwmixread: Annotated[str | None, _load("Share of reads in a mixed load [70]", "PERCENT")] = None
    iodepth: Annotated[str | None, _load("Requests outstanding [16]", "N")] = None
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
            "--sync", help="Each write ends on the media (FUA), as with O_SYNC", rich_help_panel="The load"
        ),
    ] = False
    number_ios: Annotated[str | None, _load(f"Number of requests per figure [{REQUESTS}]", "N")] = None
    ramp_time: Annotated[str | None, _load(f"Ramp time before these are counted [{WARM_UP}]", "TIME")] = None
    precision: Annotated[str | None, _load(PRECISION_HELP, "PERCENT")] = None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The candidates."""

    drive: Annotated[str | None, _grid("Drives of the catalogue, or paths", "NAMES", completion.drives)] = (
        None
    )
    level: Annotated[
        str | None, _grid(f"Levels, such as raid10,raidz2 [{LEVELS}]", "NAMES", completion.levels)
    ] = None
    members: Annotated[str | None, _grid(f"Numbers of drives: 4..12, or 4,6,8 [{MEMBERS}]", "N")] = None
    controller: Annotated[
        str | None, _grid("Host adapters; none is one of them [none]", "NAMES", completion.controllers)
    ] = None
    copies: Annotated[str | None, _grid(f"Copies in raid01 and raid10 [{COPIES}]", "N")] = None
    groups: Annotated[str | None, _grid(f"Groups in raid30, raid50, raid60 [{GROUPS}]", "N")] = None
    spares: Annotated[str | None, _grid("Hot spares, included in the cost [0]", "N")] = None


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices, and how long they are paid."""

    drive_price: Annotated[str | None, _price("280USD, or A=280USD,B=300USD", "PRICES")] = None
    controller_price: Annotated[str | None, _price("Price of each controller", "PRICES")] = None
    power_price: Annotated[str | None, _price("Price of energy over the life: 0.30USD/kWh", "PRICE")] = None
    drive_power: Annotated[str | None, _price("Power of a drive: 7W, or A=7W,B=9W", "POWER")] = None
    life: Annotated[str | None, _price(f"Service life of the array [{LIFE}]", "TIME")] = None


@dataclass(frozen=True, kw_only=True)
class Lives:
    """How often drives fail."""

    afr: Annotated[str | None, _failure("Annual failure rate of a drive: 1.5%, or A=1%,B=2%", "PERCENT")] = (
        None
    )
    mttf: Annotated[str | None, _failure("Mean time to failure of a drive, in place of --afr", "TIME")] = None
    drive_life: Annotated[
        str | None,
        _failure(
            "Distribution of a drive's life, in place of --afr: weibull:1.12:461386h, or A=LAW,B=LAW", "LAW"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How much of the answer is printed, and in which form."""

    with_table: Annotated[bool, typer.Option("--table", help="Also a table of all candidates, by cost")] = (
        False
    )
    with_notes: Annotated[
        bool, typer.Option("--notes", help=f"All remarks on the answer, not only {NOTES}")
    ] = False
    as_json: AsJson = False
    as_csv: AsCsv = False

    def check(self) -> None:
        """Refuse two forms at once. Raises InputError."""
        check_form(json=self.as_json, csv=self.as_csv, table=self.with_table)


@dataclass(frozen=True, kw_only=True)
class PlanPictures:
    """The pictures of a plan, and how they look."""

    output: Pictures = field(default_factory=list)
    tornado: Annotated[
        list[Path],
        typer.Option(
            help="Draw the effect of each assumption on the probability of loss: .png, .svg, .pdf, .html or .json",
            metavar="FILE",
            parser=place,
        ),
    ] = field(default_factory=list)
    report: Reports = field(default_factory=list)
    look: Look

    def check(self) -> None:
        """Refuse what could not be drawn, or changes nothing. Raises InputError and OutputError."""
        for path in self.output:
            check_picture("--output", path)
        for path in self.tornado:
            check_picture("--tornado", path)
        check_reports(self.report)
        check_look(self.look, pictures=bool(self.output or self.tornado), remedy=ASK_FOR_ONE)

    def draw(self, found: Plan, *, quiet: bool) -> None:
        """Write each picture that has something to show. Raises OutputError."""
        for paths, (chart, is_there) in zip((self.output, self.tornado), _charts(found), strict=True):
            for path in paths:
                if not is_there:
                    say(f"note: {path} is not drawn: there is nothing to show")
                    continue
                draw(chart, path, found.provenance(), self.look)
                if not quiet:
                    say(f"wrote {path}")


def _charts(found: Plan) -> tuple[tuple[Make, bool], tuple[Make, bool]]:
    """The charts of a plan, and whether each has something to show."""
    return (
        (cache(found.chart), any(one.is_simulated for one in found.candidates)),
        (cache(found.tornado), any(one.is_told for one in found.assumptions)),
    )


@grouped
def plan(
    *,
    limits: Limits,
    load: Load,
    randseed: words.Randseed = None,
    grid: Grid,
    prices: Prices,
    lives: Lives,
    causes: Causes,
    outage: Outage = None,
    waits: Waits,
    scrub: Scrub = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    form: Answer,
    pictures: PlanPictures,
    placement: Placement,
    quiet: Quiet = False,
) -> int:
    """Which array to buy: the cheapest that holds, of drives, levels, members and controllers.

    Closed forms rule candidates out; what is left is simulated, healthy, degraded and rebuilt beside the load, and
    its chance of data loss found with the rebuild as it was simulated. It takes --capacity, --drive and --drive-price.
    """
    form.check()
    pictures.check()
    given = {**values(limits, load, grid, prices, lives, causes, waits), "outage": outage, "scrub": scrub}
    options = {key: given[key] for key in KEYS if given[key] not in (None, False, [])}
    overrides = words.overrides_of({"randseed": randseed}, settings)
    with executors.using(placement.ray, placement.checkpoint, say), _bar(quiet=quiet) as progress:
        found = run(options, overrides, placement.workers, progress)
    _print(found, form, quiet=quiet)
    pictures.draw(found, quiet=quiet)
    write_reports(pictures.report, lambda: _reported(found), quiet=quiet)
    return _exit_code(found)


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Any]:
    """A bar over the share that is done."""
    with progress_bar(100, "candidates", quiet=quiet, limits=[(None, None)]) as progress:
        yield None if progress is None else lambda share: progress(min(100 * share, 100))


def _print(found: Plan, form: Answer, *, quiet: bool) -> None:
    if form.as_json:
        emit_json(found.to_dict())
        return
    if form.as_csv:
        emit(rows_csv(found.rows()))
        return
    emit("\n".join(map(wrapped, found.lines())))
    if form.with_table:
        emit("")
        emit_table(found.table())
        if found.assumptions:
            emit("")
            emit_table(found.assumed())
    if not quiet:
        notes = found.notes()
        shown = notes if form.with_notes else notes[:NOTES]
        say("\n".join(wrapped(f"note: {note}") for note in shown))
        if left := len(notes) - len(shown):
            say(f"{counted(left, 'more note')}: --notes")
        if form.with_notes:
            _note_assumed(found)
        say(found.identity())


def _reported(found: Plan) -> Reported:
    def prints() -> None:
        _print(found, Answer(with_table=True, with_notes=True), quiet=False)
        _exit_code(found)

    shown = found.pick or next((one for one in found.candidates if one.entry.plans), None)
    return Reported(
        title="Which array to buy",
        verb="plan",
        prints=prints,
        charts=[chart for chart, is_there in _charts(found) if is_there],
        provenance=found.provenance(),
        identity=found.identity(),
        captions=("Candidates, the cheapest first", "Assumptions"),
        record=found.to_dict(),
        scenario=one_of([shown.entry] if shown else []),
    )


def _note_assumed(found: Plan) -> None:
    """What each drive's file leaves out."""
    drives = {one.drive: one.entry.plans for one in reversed(found.candidates) if one.entry.plans}
    for drive, plans in drives.items():
        note_assumed(list(plans.values())[:1], drive)


def _exit_code(found: Plan) -> Exit:
    for text in failure_texts(found.ran.failures):
        say(f"error: {text}")
    if found.ran.interrupted:
        say("interrupted: what had finished is printed")
        return Exit.INTERRUPTED
    if found.ran.failures:
        return Exit.FAILED
    return Exit.OK if found.pick else Exit.COMPARISON
