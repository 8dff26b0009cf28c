"""One scenario of the many that a comparison of arrays runs, for a reader who wants to see what was run."""

from __future__ import annotations

from collections.abc import Iterable

from drivelab.arrays.simulation.planning import Entry
from drivelab.runs.result import resolved


def one_of(entries: Iterable[Entry]) -> str:
    """The first scenario of the first array that has one, as TOML; empty if none has."""
    for entry in entries:
        for (state, _), plan in entry.plans.items():
            what = f"{entry.level.name}, {state}"
            text = resolved(plan)["scenario"]
            return f"# {what}: one of the runs; the others differ in array, state or load.\n{text}"
    return ""
