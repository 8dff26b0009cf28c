"""`drivelab import`: a drive that is described for another simulator, or that describes itself, as a drive file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import disksim, smartctl
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, say
from drivelab.cli.places import check_file, place
from drivelab.cli.run_options import Quiet
from drivelab.errors import InputError, raw
from drivelab.host.files import write_text

DISKSIM, SMARTCTL = FORMATS = ("disksim", "smartctl")
"""What can be imported."""


def _format(text: str) -> str:
    if text not in FORMATS:
        raise typer.BadParameter(f"{text!r} cannot be imported; {' and '.join(FORMATS)} can")
    return text


def import_drive(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="|".join(FORMATS),
            help="DiskSim 4.0, or the JSON of `smartctl -x -j`",
            show_default=False,
            callback=_format,
        ),
    ],
    description: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The description's first file, a .parv of DiskSim or a .json of smartctl",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write it there, not to stdout", metavar="DRIVE.toml", parser=place
        ),
    ] = None,
    disk: Annotated[
        str | None,
        typer.Option(
            help="The disk of this name, if DiskSim's topology has several",
            metavar="NAME",
            show_default="the model that all share",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The drive as JSON")] = False,
    quiet: Quiet = False,
) -> int:
    """Make a drive file of a drive's description for another simulator, or of what the drive says of itself."""
    if out is not None:
        check_file("-o", out)
    if disk is not None and kind != DISKSIM:
        raise InputError(f"--disk names a disk of DiskSim's topology, and {kind} has one drive")
    drive = smartctl.import_drive(description) if kind == SMARTCTL else _imported(description, disk)
    if out is not None:
        write_text(out, drive.text())
        if not quiet:
            say(f"wrote {out}")
    if not quiet:
        for omission in drive.left_out:
            say(f"left out: {omission}")
    if as_json:
        left_out = {"left_out": drive.left_out} if drive.left_out else {}
        emit_json({"format": kind, "name": drive.name, "drive": drive.keys, **left_out})
    elif out is None:
        emit(drive.text())
    return Exit.OK


def _imported(description: Path, disk: str | None) -> disksim.Drive:
    """The drive of a description. Raises DisksimError, with a hint where the file is not named as one."""
    try:
        return disksim.import_drive(description, disk)
    except disksim.NoTopologyError:
        # It has the hint already.
        raise
    except disksim.DisksimError as error:
        if description.suffix == ".parv":
            raise
        raise disksim.DisksimError(
            f"{raw(error)}; the file to name is the description's .parv, and {description.name} is none"
        ) from error
