"""`drivelab import`: a drive that is described for another simulator, as a drive file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab import disksim
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, say
from drivelab.cli.places import check_file, place
from drivelab.cli.run_options import Quiet
from drivelab.errors import raw
from drivelab.host.files import write_text

FORMAT = "disksim"
"""What can be imported."""


def _format(text: str) -> str:
    if text != FORMAT:
        raise typer.BadParameter(f"{text!r} cannot be imported; {FORMAT} can")
    return text


def import_drive(
    kind: Annotated[
        str, typer.Argument(metavar=FORMAT, help="DiskSim 4.0", show_default=False, callback=_format)
    ],
    description: Annotated[
        Path, typer.Argument(metavar="NAME.parv", help="The description's first file", show_default=False)
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
            help="The disk of this name, if the topology has several",
            metavar="NAME",
            show_default="the model that all share",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The drive as JSON")] = False,
    quiet: Quiet = False,
) -> int:
    """Make a drive file of a drive's description for another simulator."""
    if out is not None:
        check_file("-o", out)
    drive = _imported(description, disk)
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
