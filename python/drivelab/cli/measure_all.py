"""`drivelab measure all`: one unprivileged run that only reads and holds everything that `fit` needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli import measure_options as device
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, say
from drivelab.cli.places import place
from drivelab.cli.run_options import AsJson, Quiet
from drivelab.measuring import all_of_it, asked


def everything(
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A file, a block device or an NBD address", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Folder of the results; what it has already is not measured again",
            metavar="DIR",
            parser=place,
        ),
    ],
    minutes: Annotated[float, typer.Option(help="Time limit", metavar="N")] = 15.0,
    engine: device.Engine = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Measure what `fit` needs: surface, chain, sweep, and whether the drive reorders. Reads only.

    Interrupted, the same command goes on where it was.
    """
    found = asked.find_target(target)
    how = asked.how_of(engine=engine)
    try:
        done = all_of_it.run(
            found, asked.SYSTEM, out, minutes, how.engine, (lambda _: None) if quiet else say
        )
    except KeyboardInterrupt:
        say("interrupted: the same command goes on where it was")
        return Exit.INTERRUPTED
    if as_json:
        emit_json({"kind": "all", "target": found.shown, "files": done})
    else:
        emit(
            f"drivelab fit SHEET.toml --chain {done['chain']} --sweep {done['sweep']} "
            f"--surface {done['surface']} -o MINE.toml"
        )
    return Exit.OK
