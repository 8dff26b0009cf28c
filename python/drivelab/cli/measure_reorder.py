"""`drivelab measure reorder`: whether a device, or a simulated drive, changes the order of queued commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from drivelab.cli import completion
from drivelab.cli import measure_options as device
from drivelab.cli import workload_options as words
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.run_options import AsJson, Quiet
from drivelab.errors import InputError, RunError
from drivelab.measuring import asked
from drivelab.measuring import reorder as judging
from drivelab.measuring.environment import environment
from drivelab.measuring.on_device import runner_on
from drivelab.report import toml_text
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.scenario import Override, Source, plan

RUNS = len(judging.LOADS)


def reorder(
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="A file, a block device or an NBD address", show_default=False),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            help="A simulated drive in place of a device", metavar="NAME", autocompletion=completion.drives
        ),
    ] = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    iodepth: Annotated[int, typer.Option(help="The full queue", metavar="N")] = judging.DEPTH,
    rounds: Annotated[int, typer.Option(help="Rounds of the four loads", metavar="N")] = judging.ROUNDS,
    seconds: Annotated[float, typer.Option(help="Time of each run", metavar="S", min=0.01)] = 4.0,
    engine: device.Engine = "auto",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Tell whether a device reorders queued commands: reorders, in-order or cannot-tell, with the evidence.

    It only reads. With --drive a simulated drive is analysed in the same way.
    """
    if (target is None) == (drive is None):
        raise InputError("name a TARGET that is measured, or a --drive that is simulated: one of the two")
    overrides = words.overrides_of({}, settings)
    suspicion: str | None = None
    notes: list[str] = []
    surroundings: dict[str, Any] | None = None
    if drive is not None:
        runner = _simulated(drive, overrides)
    else:
        if settings:
            raise InputError("--set is for a simulated --drive: a device is as it is; leave it out")
        found = asked.find_target(target)
        how = asked.how_of(engine=engine)
        runner, suspicion, notes = runner_on(found, how.engine)
        surroundings, target = environment(found, asked.SYSTEM), found.shown
    done = 0
    with progress_bar(RUNS * rounds, "reorder", quiet=quiet) as progress:

        def counted(document: Mapping[str, Any], number: int, log: int) -> Mapping[str, Any]:
            nonlocal done
            found = runner(document, number, log)
            done += 1
            if progress is not None:
                progress(done)
            return found

        verdict = judging.judge(
            counted, rounds=rounds, depth=iodepth, seconds=seconds, suspicion=suspicion, notes=notes
        )
    if as_json:
        place = {"target": target or drive, "environment": surroundings}
        emit_json({"kind": "reorder", **place, **verdict.to_dict()})
    else:
        emit_table(verdict.table())
        sure = "" if verdict.confidence is None else f" (confidence {100 * verdict.confidence:.4g} %)"
        emit(f"\n{verdict.verdict}{sure}: {verdict.reason}")
    if not quiet:
        for note in notes:
            say(f"note: {note}")
    return Exit.INTERRUPTED if verdict.interrupted else Exit.OK


def _simulated(drive: str, overrides: list[Override]) -> judging.Runner:
    def run(document: Mapping[str, Any], number: int, log: int) -> Mapping[str, Any]:
        seeded = {**document, "target": {"drive": drive}, "run": {**document["run"], "seed": number + 1}}
        result = run_plan(plan(Source(toml_text.dumps(seeded), "reorder"), overrides), 1, None, log)
        if result.interrupted:
            raise KeyboardInterrupt
        if result.failures:
            raise RunError(result.failures[0].why)
        return result.records[0]

    return run
