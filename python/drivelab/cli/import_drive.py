"""`drivelab import`: a drive that is described for another simulator, as a drive file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from drivelab import disksim
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, say
from drivelab.cli.places import check_file, place
from drivelab.files import write_text
from drivelab.scenario import plan, read_source


class Format(StrEnum):
    """What can be imported."""

    DISKSIM = "disksim"


def import_drive(
    kind: Annotated[Format, typer.Argument(metavar="disksim", help="DiskSim 4.0", show_default=False)],
    description: Annotated[
        Path, typer.Argument(metavar="NAME.parv", help="The description's first file", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write it there, not to stdout", metavar="DRIVE.toml", parser=place
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The drive as JSON")] = False,
) -> int:
    """Make a drive file of a drive's description for another simulator."""
    if out is not None:
        check_file("-o", out)
    drive = disksim.import_drive(description)
    # What comes out has to be a drive that can run, were it a block at a time.
    plan(read_source({"target": {"drive": drive.keys}, "workload": {"bs": "512B"}}))
    if out is not None:
        write_text(out, drive.text())
        say(f"wrote {out}")
    if as_json:
        emit_json({"format": kind.value, "name": drive.name, "drive": drive.keys})
    elif out is None:
        emit(drive.text())
    return Exit.OK
