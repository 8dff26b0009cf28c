"""`drivelab schema`: the JSON Schema of the files, for editors that complete and check as you type."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit_json
from drivelab.cli.run_options import Quiet


def schema(
    drive: Annotated[bool, typer.Option("--drive", help="Of a drive file, not of a scenario")] = False,
    as_json: Annotated[bool, typer.Option("--json", hidden=True)] = True,  # noqa: ARG001 - every verb has it
    quiet: Quiet = False,  # noqa: ARG001 - as well
) -> int:
    """Print the JSON Schema of a scenario or of a drive file."""
    emit_json(_core.drive_schema() if drive else _core.schema())
    return Exit.OK
