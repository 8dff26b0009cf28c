"""`drivelab durability`: how likely an array loses data, and how long it is not available."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from drivelab import executors
from drivelab.arrays.durability.file import File
from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.question import HISTORIES, LIFE, METHODS, RELATIVE, of_file, whole
from drivelab.arrays.durability.solving import solve
from drivelab.arrays.simulation.loads import KINDS
from drivelab.cli.exits import Exit
from drivelab.cli.failure_options import FAILS, REPAIR, Causes, Outage, Scrub, Waits, option
from drivelab.cli.groups import grouped, values
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.run_options import Checkpoint, Form, Quiet, Ray
from drivelab.report.csv_text import rows_csv


def _array(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, "The array")


def _failure(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, FAILS)


def _repair(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, REPAIR)


def _beside(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, "The load beside a simulated rebuild")


def _way(text: str, metavar: str) -> typer.models.OptionInfo:
    return option(text, metavar, "Method")


@dataclass(frozen=True, kw_only=True)
class Array:
    """The array."""

    level: Annotated[str | None, _array("One level or several: raid5,raid6; also draid and lrc", "NAMES")] = (
        None
    )
    members: Annotated[str | None, _array("Number of drives", "N")] = None
    capacity: Annotated[str | None, _array("Capacity of a drive [1TB]", "SIZE")] = None
    drive: Annotated[
        str | None, _array("A drive of the catalogue, or a path: for its capacity and class", "NAME")
    ] = None
    layout: Annotated[str | None, _array("Layout of raid10: near, far, offset", "NAME")] = None
    copies: Annotated[str | None, _array("Copies of raid01 and raid10 [2]", "N")] = None
    groups: Annotated[
        str | None, _array("Groups of raid30, raid50, raid60; local groups of lrc [2]", "N")
    ] = None
    parity: Annotated[
        str | None, _array("Parities of a stripe of draid; global parities of lrc [2]", "N")
    ] = None
    width: Annotated[str | None, _array("Members of a stripe of draid, data and parity", "N")] = None
    stripes: Annotated[str | None, _array("Stripes of draid on different members [1e6]", "N")] = None
    spares: Annotated[str | None, _array("Hot spares; each used one is reordered", "N")] = None
    life: Annotated[str | None, _array(f"Service life of the array [{LIFE}]", "TIME")] = None


@dataclass(frozen=True, kw_only=True)
class Lives:
    """How often drives fail."""

    afr: Annotated[str | None, _failure("Annual failure rate of a drive", "PERCENT")] = None
    mttf: Annotated[str | None, _failure("Mean time to failure of a drive, in place of --afr", "TIME")] = None
    drive_life: Annotated[
        str | None,
        _failure(
            "Distribution of a drive's life, in place of --afr: weibull:1.12:461386h, survival:1y=98%,5y=89%",
            "LAW",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Repair:
    """How a failed drive is replaced."""

    rebuild: Annotated[
        str | None,
        _repair(
            "Time of a rebuild: 20h, a distribution (fixed:20h), an interval (20h(18h..23h)), simulated; "
            "20h,35h by the number of missing members",
            "LAWS",
        ),
    ] = None
    waits: Waits
    serial: Annotated[
        bool,
        typer.Option("--serial", help="Concurrent rebuilds share the rate of one", rich_help_panel=REPAIR),
    ] = False
    scrub: Scrub = None


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load beside a simulated rebuild."""

    controller: Annotated[str | None, _beside("The host's adapter", "NAME")] = None
    rw: Annotated[str | None, _beside(f"Accesses of the hosts: {', '.join(KINDS)} [randrw]", "KIND")] = None
    pattern: Annotated[
        str | None, _beside("A workload of the catalogue, in place of --rw, --bs and --rwmixread", "NAME")
    ] = None
    bs: Annotated[str | None, _beside("Size of a request [4KiB]", "SIZE")] = None
    rwmixread: Annotated[int | None, _beside("Share of reads in a mixed load [70]", "PERCENT")] = None
    iodepth: Annotated[int | None, _beside("Requests outstanding [16]", "N")] = None
    rate_iops: Annotated[str | None, _beside("Requests per second, in place of --iodepth", "N")] = None
    rate_process: Annotated[
        str | None, _beside("Arrival process: poisson (default) or linear (evenly spaced)", "NAME")
    ] = None
    sync: Annotated[
        bool,
        typer.Option(
            "--sync",
            help="Each write ends on the media (FUA), as with O_SYNC",
            rich_help_panel="The load beside a simulated rebuild",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Way:
    """The method, and when it ends."""

    method: Annotated[str | None, _way(", ".join(METHODS), "NAME")] = None
    histories: Annotated[str | None, _way(f"Upper limit of the number of histories [{HISTORIES}]", "N")] = (
        None
    )
    error: Annotated[
        str | None,
        _way(f"Stop once half the interval is below this share of the probability [{RELATIVE}]", "PERCENT"),
    ] = None
    every_loss: Annotated[
        bool,
        typer.Option(
            "--every-loss", help="Continue after a loss, and count every loss", rich_help_panel="Method"
        ),
    ] = False
    randseed: Annotated[int | None, _way("Seed of the random numbers [1]", "N")] = None


@grouped
def durability(
    *,
    file: Annotated[
        Path | None,
        typer.Argument(help="A TOML file with the same keys; options override it", metavar="FILE"),
    ] = None,
    array: Array,
    lives: Lives,
    causes: Causes,
    outage: Outage = None,
    repair: Repair,
    load: Load,
    way: Way,
    ray: Ray = None,
    checkpoint: Checkpoint = None,
    form: Form,
    quiet: Quiet = False,
) -> int:
    """How likely an array loses data: failures, unreadable sectors, repairs, spares, and what fails together.

    A chain of states where all times are exponential, which is exact; else histories, event by event.
    """
    form.check()
    source = None if file is None else File.read(file)
    options = {} if source is None else of_file(source)
    given = {**values(array, lives, causes, repair, load, way), "outage": outage}
    randseed = given.pop("randseed")
    # 0 is an answer, and equals False.
    typed = {key: value for key, value in given.items() if value is not None and value is not False}
    if randseed is not None:
        # In a file, and to Python, it is the seed.
        typed["seed"] = whole({"randseed": randseed}, "randseed", None)
    with executors.using(ray, checkpoint, say):
        found = solve({**options, **typed}, source, typed)
    _print(found, form, quiet=quiet)
    if found.interrupted:
        say("interrupted: the levels that had finished are printed")
        return Exit.INTERRUPTED
    return Exit.OK


def _print(found: Losses, form: Form, *, quiet: bool) -> None:
    if form.as_json:
        emit_json(found.to_dict())
        return
    if form.as_csv:
        emit(rows_csv(found.rows()))
        return
    emit("\n".join(found.lines()))
    emit("")
    emit_table(found.table())
    if not quiet:
        for note in found.notes():
            say(f"note: {note}")
        say(found.identity())
