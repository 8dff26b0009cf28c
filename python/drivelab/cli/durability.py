"""`drivelab durability`: how likely an array loses data, and how long it is not available."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import executors
from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.problems import File
from drivelab.arrays.durability.question import HISTORIES, LIFE, METHODS, RELATIVE, of_file, whole
from drivelab.arrays.durability.solving import solve
from drivelab.arrays.levels.loads import KINDS
from drivelab.cli.exits import Exit
from drivelab.cli.failure_options import (
    FAILS,
    REPAIR,
    Attended,
    Batch,
    Common,
    Detection,
    Latent,
    Outage,
    Reads,
    Replacement,
    Scrub,
    Ure,
    WrongDrive,
    option,
)
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.run_options import AsCsv, AsJson, Checkpoint, Quiet, Ray, check_form
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
    return option(text, metavar, "How it is found")


def durability(
    file: Annotated[
        Path | None, typer.Argument(help="A TOML file with the same keys; options change it", metavar="FILE")
    ] = None,
    level: Annotated[str | None, _array("raid6; several: raid5,raid6; also draid and lrc", "NAMES")] = None,
    members: Annotated[str | None, _array("How many drives", "N")] = None,
    capacity: Annotated[str | None, _array("Of a drive [1TB]", "SIZE")] = None,
    drive: Annotated[
        str | None, _array("Of the catalogue, or a path to one: its capacity and class", "NAME")
    ] = None,
    layout: Annotated[str | None, _array("Of raid10: near, far, offset", "NAME")] = None,
    copies: Annotated[str | None, _array("Of raid01 and raid10 [2]", "N")] = None,
    groups: Annotated[str | None, _array("Of raid30, raid50, raid60; local groups of lrc [2]", "N")] = None,
    parity: Annotated[str | None, _array("Of a stripe of draid; global parities of lrc [2]", "N")] = None,
    width: Annotated[str | None, _array("Members of a stripe of draid, data and parity", "N")] = None,
    stripes: Annotated[str | None, _array("Stripes of draid on different members [1e6]", "N")] = None,
    spares: Annotated[str | None, _array("Hot spares, each ordered anew when it is used", "N")] = None,
    life: Annotated[str | None, _array(f"How long the array is used [{LIFE}]", "TIME")] = None,
    afr: Annotated[str | None, _failure("Share of drives that fail within a year", "PERCENT")] = None,
    mttf: Annotated[str | None, _failure("The same as a mean time to failure", "TIME")] = None,
    drive_life: Annotated[
        str | None, _failure("The same as a law: weibull:1.12:461386h, survival:1y=98%,5y=89%", "LAW")
    ] = None,
    batch: Batch = None,
    ure: Ure = None,
    latent: Latent = None,
    reads: Reads = None,
    common: Common = None,
    wrong_drive: WrongDrive = None,
    outage: Outage = None,
    rebuild: Annotated[
        str | None,
        _repair("Mean, law, interval: 20h, fixed:20h, 20h(18h..23h); by missing members; simulated", "LAWS"),
    ] = None,
    detection: Detection = None,
    replacement: Replacement = None,
    attended: Attended = None,
    serial: Annotated[
        bool, typer.Option("--serial", help="Rebuilds share the pace of one", rich_help_panel=REPAIR)
    ] = False,
    controller: Annotated[str | None, _beside("The host's adapter", "NAME")] = None,
    rw: Annotated[str | None, _beside(f"What hosts ask for: {', '.join(KINDS)} [randrw]", "KIND")] = None,
    pattern: Annotated[str | None, _beside("A workload of the catalogue in place of it", "NAME")] = None,
    bs: Annotated[str | None, _beside("Size of a request [4KiB]", "SIZE")] = None,
    rwmixread: Annotated[int | None, _beside("Share of reads where both are mixed [70]", "PERCENT")] = None,
    iodepth: Annotated[int | None, _beside("Requests outstanding [16]", "N")] = None,
    rate_iops: Annotated[str | None, _beside("So many requests a second instead", "N")] = None,
    rate_process: Annotated[
        str | None, _beside("How these come: poisson, unasked, or linear (evenly spaced)", "NAME")
    ] = None,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync",
            help="Each write ends on the media (FUA), as with O_SYNC",
            rich_help_panel="The load beside a simulated rebuild",
        ),
    ] = False,
    scrub: Scrub = None,
    method: Annotated[str | None, _way(", ".join(METHODS), "NAME")] = None,
    histories: Annotated[str | None, _way(f"At most [{HISTORIES}]", "N")] = None,
    error: Annotated[
        str | None,
        _way(f"It ends sooner where half the interval is less of the chance [{RELATIVE}]", "PERCENT"),
    ] = None,
    every_loss: Annotated[
        bool,
        typer.Option(
            "--every-loss", help="Go on after a loss, and count each", rich_help_panel="How it is found"
        ),
    ] = False,
    randseed: Annotated[int | None, _way("Seed of the random numbers [1]", "N")] = None,
    ray: Ray = None,
    checkpoint: Checkpoint = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    quiet: Quiet = False,
) -> int:
    """How likely an array loses data: failures, unreadable sectors, repairs, spares, and what fails together.

    A chain of states where all times are exponential, which is exact; else histories, event by event.
    """
    given: dict[str, Any] = dict(locals())
    check_form(json=as_json, csv=as_csv)
    source = None if file is None else File.read(file)
    options = {} if source is None else of_file(source)
    own = {"file", "as_json", "as_csv", "quiet", "randseed", "ray", "checkpoint"}
    # 0 is an answer, and equals False.
    typed = {
        key: value
        for key, value in given.items()
        if key not in own and value is not None and value is not False
    }
    if randseed is not None:
        # In a file, and to Python, it is the seed.
        typed["seed"] = whole({"randseed": randseed}, "randseed", None)
    with executors.using(ray, checkpoint, say):
        found = solve({**options, **typed}, source, typed)
    _print(found, as_json=as_json, as_csv=as_csv, quiet=quiet)
    if found.interrupted:
        say("interrupted: the levels that had finished are printed")
        return Exit.INTERRUPTED
    return Exit.OK


def _print(found: Losses, *, as_json: bool, as_csv: bool, quiet: bool) -> None:
    if as_json:
        emit_json(found.to_dict())
        return
    if as_csv:
        emit(rows_csv(found.rows()))
        return
    emit("\n".join(found.lines()))
    emit("")
    emit_table(found.table())
    if not quiet:
        for note in found.notes():
            say(f"note: {note}")
        say(found.identity())
