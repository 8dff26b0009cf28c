"""`drivelab schema`: the JSON Schema of a scenario, for editors that complete and check as you type."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit_json


def schema(
    as_json: Annotated[bool, typer.Option("--json", hidden=True)] = True,  # noqa: ARG001 - every verb has it
) -> int:
    """Print the JSON Schema of a scenario."""
    emit_json(_core.schema())
    return Exit.OK
