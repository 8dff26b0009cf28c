"""`drivelab measure shingled`: whether a device, or a simulated drive, is shingled."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab.cli import completion
from drivelab.cli import measure_options as device
from drivelab.cli import workload_options as words
from drivelab.cli.exits import Exit
from drivelab.cli.groups import given, grouped
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.run_options import AsJson, Quiet
from drivelab.errors import InputError
from drivelab.measuring import asked
from drivelab.measuring import shingled as judging
from drivelab.measuring.environment import environment
from drivelab.measuring.run import How


@grouped
def shingled(
    *,
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="A file or a block device", show_default=False),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            help="A simulated drive in place of a device", metavar="NAME", autocompletion=completion.drives
        ),
    ] = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    writes: Annotated[int, typer.Option(help="Random writes of 4 KiB", metavar="N")] = judging.WRITES,
    engine: device.Engine = "auto",
    permit: device.Permit,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Tell whether a drive is shingled: shingled, conventional or cannot-tell, with the evidence.

    It writes to the target. With --drive a simulated drive is analysed in the same way.
    """
    if (target is None) == (drive is None):
        raise InputError("name a TARGET that is measured, or a --drive that is simulated: one of the two")
    surroundings: dict[str, Any] | None = None
    if drive is not None:
        if any(given(permit)):
            raise InputError("--write is for a device: a simulated drive has no data; leave it out")
        with tempfile.TemporaryDirectory(prefix="drivelab-") as folder:
            found = judging.simulated(drive, words.overrides_of({}, settings), writes, Path(folder))
        verdict = judging.conclude(found)
    else:
        if settings:
            raise InputError("--set is for a simulated --drive: a device is as it is; leave it out")
        measured = asked.find_target(target)
        decided = judging.said_by_kernel(measured)
        if decided is None:
            remark = (lambda _text: None) if quiet else say
            asked.allow(measured, permit.destroy(), writes=True, say=remark)
            how = How(engine=asked.how_of(engine=engine).engine, may_write=True)
            try:
                with progress_bar(len(judging.PHASES), "shingled", quiet=quiet) as progress:
                    found = judging.on_device(measured, asked.SYSTEM, how, writes, progress)
            except KeyboardInterrupt:
                say("interrupted: no verdict")
                return Exit.INTERRUPTED
            decided = judging.conclude(found, judging.suspicion_on(measured))
        verdict, surroundings, target = decided, environment(measured, asked.SYSTEM), measured.shown
    if as_json:
        emit_json(
            {
                "kind": "shingled",
                "target": target or drive,
                "environment": surroundings,
                **verdict.to_dict(),
            }
        )
        return Exit.OK
    if verdict.evidence is not None:
        emit_table(verdict.evidence.table())
        emit("")
    emit(f"{verdict.verdict}: {verdict.reason}")
    return Exit.OK
