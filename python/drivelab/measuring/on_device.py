"""The loads of `reorder` on a real device, and properties of the device that preclude any verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.errors import RunError
from drivelab.measuring.device import Target
from drivelab.measuring.ready import suspicion_of
from drivelab.measuring.reorder import Runner
from drivelab.measuring.run import How, measure_plan, plan_on
from drivelab.report import toml_text
from drivelab.scenarios.scenario import Source


def runner_on(target: Target, engine: str) -> tuple[Runner, str | None, list[str]]:
    """A function that runs a load there; why no figure could decide, if so; notes for the reader."""

    def run(document: Mapping[str, Any], number: int, log: int) -> Mapping[str, Any]:
        seeded = {**document, "run": {**document["run"], "seed": number + 1}}
        checked = plan_on(Source(toml_text.dumps(seeded), "reorder"), [], target)
        result = measure_plan(checked, target, How(engine=engine, log=log))
        if result.interrupted:
            raise KeyboardInterrupt
        if result.failures:
            raise RunError(result.failures[0].why)
        return result.records[0]

    notes = []
    block = target.block
    if block is not None and block.scheduler not in (None, "none"):
        notes.append(
            f"the kernel's scheduler is {block.scheduler}: what waits in it may be reordered there; `none` takes it out"
        )
    if block is not None and block.queue_depth == 1:
        notes.append("the drive is given one command at a time (queue_depth 1): its own queue has no say")
    return run, suspicion_of(target), notes
