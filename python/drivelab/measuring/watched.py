"""A run with the machine's counters before and after it: the record with its environment and warnings."""

from __future__ import annotations

from dataclasses import replace

from drivelab import _core
from drivelab.measuring.device import System, Target
from drivelab.measuring.environment import environment
from drivelab.measuring.plausibility import Counters, Reading, warnings_of
from drivelab.measuring.run import How, MeasuredResult, Progress, measure_plan


def measure_watched(
    checked: _core.Plan, target: Target, system: System, how: How, progress: Progress | None = None
) -> MeasuredResult:
    """Measure a plan, with the facts needed to trust it. Raises InputError."""
    surroundings = environment(target, system)
    before = Reading.of(target, system)
    result = measure_plan(checked, target, how, progress)
    after = Reading.of(target, system)
    counters = Counters(before, after, result.moved_bytes, result.issued_bytes)
    warnings = warnings_of(target, system, result.records, result.fio, counters)
    return replace(result, environment=surroundings, warnings=warnings)
