"""`drivelab loop`: our own host against our own device in real time, beside the simulation of the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli import workload_options as words
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.run_options import AsJson, Quiet
from drivelab.report.emulation_summary import late_note
from drivelab.report.plural import counted
from drivelab.runs import looping
from drivelab.runs.emulation import BUDGET
from drivelab.scenarios.quantities import span_ns
from drivelab.scenarios.scenario import Source, plan, read_source


@dataclass(frozen=True)
class _Load:
    """What is asked of the target: what both sides can do."""

    pattern: words.Pattern = None
    rw: words.Rw = None
    bs: words.Bs = None
    iodepth: words.Iodepth = None
    numjobs: words.Numjobs = None
    rwmixread: words.Rwmixread = None
    fsync: words.Fsync = None
    runtime: words.Runtime = None
    ramp_time: words.RampTime = None
    randseed: words.Randseed = None


@grouped
def loop(
    *,
    scenario: Annotated[Path | None, typer.Argument(metavar="[SCENARIO.toml]", show_default=False)] = None,
    target: words.Target,
    load: _Load,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    lateness_budget: Annotated[
        str, typer.Option(help="Allowed lateness of answers, at p99", metavar="TIME")
    ] = BUDGET,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Run a workload against its own target in real time, through NBD, and set it beside its simulation.

    Takes as long as the runs last. Exits 3 where a rate differs by more than 3 standard errors.
    """
    budget_ns = span_ns("lateness_budget", lateness_budget)
    overrides = words.overrides_of({**vars(target), **vars(load)}, settings)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    checked = plan(source, overrides)
    # What a served device cannot be is an error of the scenario.
    plan(source, overrides, served=True)
    if not quiet:
        for key in _core.left_out_of_emulation(checked):
            say(f"note: {key} is left out of the device, and simulated: leave it out of the scenario")
    with progress_bar(len(checked), checked.name, quiet=quiet) as progress:
        found = looping.loop(source, overrides, budget_ns, progress)
    if as_json:
        emit_json(found.to_dict())
    elif found.points:
        emit_table(looping.table(found.points))
        if not quiet:
            emit(
                f"\nsimulated: the mean of {looping.SEEDS} seeds, and from them the standard error of a difference; "
                "late: from an answer's due instant to its way out"
            )
    for point in found.points:
        if note := late_note(point.device):
            say(note)
    if found.interrupted:
        say(f"interrupted: {len(found.points)} of {counted(found.asked, 'point')} finished")
        return Exit.INTERRUPTED
    return Exit.OK if all(point.agrees for point in found.points) else Exit.COMPARISON
