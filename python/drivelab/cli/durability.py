"""`drivelab durability`: how likely an array loses data, and how long it is not available."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from drivelab import executors
from drivelab.arrays.durability.file import File
from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.solving import solve
from drivelab.cli.exits import Exit
from drivelab.cli.failure_options import FAILS, REPAIR, Causes, Outage, Scrub, Waits, flag, of_key
from drivelab.cli.groups import grouped, values
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.run_options import Checkpoint, Form, Quiet, Ray
from drivelab.report.csv_text import rows_csv

ARRAY, LOAD, METHOD = "The array", "The load beside a simulated rebuild", "Method"
"""Panels of the help."""


@dataclass(frozen=True, kw_only=True)
class Array:
    """The array."""

    level: Annotated[str | None, of_key("level", "NAMES", ARRAY)] = None
    members: Annotated[str | None, of_key("members", "N", ARRAY)] = None
    capacity: Annotated[str | None, of_key("capacity", "SIZE", ARRAY)] = None
    drive: Annotated[str | None, of_key("drive", "NAME", ARRAY)] = None
    layout: Annotated[str | None, of_key("layout", "NAME", ARRAY)] = None
    copies: Annotated[str | None, of_key("copies", "N", ARRAY)] = None
    groups: Annotated[str | None, of_key("groups", "N", ARRAY)] = None
    parity: Annotated[str | None, of_key("parity", "N", ARRAY)] = None
    width: Annotated[str | None, of_key("width", "N", ARRAY)] = None
    stripes: Annotated[str | None, of_key("stripes", "N", ARRAY)] = None
    spares: Annotated[str | None, of_key("spares", "N", ARRAY)] = None
    life: Annotated[str | None, of_key("life", "TIME", ARRAY)] = None


@dataclass(frozen=True, kw_only=True)
class Lives:
    """How often drives fail."""

    afr: Annotated[str | None, of_key("afr", "PERCENT", FAILS)] = None
    mttf: Annotated[str | None, of_key("mttf", "TIME", FAILS)] = None
    drive_life: Annotated[str | None, of_key("drive_life", "LAW", FAILS)] = None


@dataclass(frozen=True, kw_only=True)
class Repair:
    """How a failed drive is replaced."""

    rebuild: Annotated[str | None, of_key("rebuild", "LAWS", REPAIR)] = None
    waits: Waits
    serial: Annotated[bool, flag("serial", REPAIR)] = False
    scrub: Scrub = None


@dataclass(frozen=True, kw_only=True)
class Load:
    """The load beside a simulated rebuild."""

    controller: Annotated[str | None, of_key("controller", "NAME", LOAD)] = None
    rw: Annotated[str | None, of_key("rw", "KIND", LOAD)] = None
    pattern: Annotated[str | None, of_key("pattern", "NAME", LOAD)] = None
    bs: Annotated[str | None, of_key("bs", "SIZE", LOAD)] = None
    rwmixread: Annotated[int | None, of_key("rwmixread", "PERCENT", LOAD)] = None
    iodepth: Annotated[int | None, of_key("iodepth", "N", LOAD)] = None
    rate_iops: Annotated[str | None, of_key("rate_iops", "N", LOAD)] = None
    rate_process: Annotated[str | None, of_key("rate_process", "NAME", LOAD)] = None
    sync: Annotated[bool, flag("sync", LOAD)] = False


@dataclass(frozen=True, kw_only=True)
class Way:
    """The method, and when it ends."""

    method: Annotated[str | None, of_key("method", "NAME", METHOD)] = None
    histories: Annotated[str | None, of_key("histories", "N", METHOD)] = None
    error: Annotated[str | None, of_key("error", "PERCENT", METHOD)] = None
    every_loss: Annotated[bool, flag("every_loss", METHOD)] = False
    randseed: Annotated[int | None, of_key("seed", "N", METHOD)] = None


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
    options = {} if source is None else source.options()
    given = {**values(array, lives, causes, repair, load, way), "outage": outage}
    randseed = given.pop("randseed")
    # 0 is an answer, and equals False.
    typed = {key: value for key, value in given.items() if value is not None and value is not False}
    if randseed is not None:
        # In a file, and to Python, it is the seed.
        typed["seed"] = randseed
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
