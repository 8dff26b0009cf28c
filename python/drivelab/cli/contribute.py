"""`drivelab catalogue contribute`: a bundle that a reader sent, checked, and made an entry of the catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.places import place
from drivelab.cli.run_options import AsJson, Quiet
from drivelab.contributing.contribute import contribute as make_entry
from drivelab.report.table import Cell, Table


def contribute(
    bundle: Annotated[
        Path,
        typer.Argument(
            metavar="BUNDLE",
            help="A folder or a .zip with drive.toml, of `fit`, and records.json, of `library export --anonymous`",
            parser=place,
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The folder in which the entry becomes a folder; the current one by default",
            metavar="DIR",
            parser=place,
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Its name in the catalogue; maker and model by default", metavar="NAME", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Check what was measured of a drive, and make it an entry of the catalogue with its sweep beside it.

    Exits 3 where the bundle is refused, with every reason.
    """
    done = make_entry(bundle, output or Path(), name)
    if as_json:
        emit_json(done.to_dict())
    elif done.refused:
        emit("\n".join([f"{bundle} is refused:", *(f"- {reason}" for reason in done.refused)]))
    else:
        emit_table(_table(done.rates))
        emit(f"\nheld-out requests of the chain: mean time {100 * (done.held_out or 0.0):+.1f} %")
    if not quiet:
        for file in done.files:
            say(f"wrote {file}")
    return Exit.COMPARISON if done.refused else Exit.OK


def _table(rates: list[dict[str, float]]) -> Table:
    rows = [
        [
            Cell(f"{rate['depth']:.0f}"),
            Cell(f"{rate['measured']:.1f}"),
            Cell(f"{rate['simulated']:.1f}"),
            Cell(f"{100 * rate['error']:+.1f}"),
        ]
        for rate in rates
    ]
    return Table(["iodepth", "measured IOPS", "simulated", "error %"], rows)
