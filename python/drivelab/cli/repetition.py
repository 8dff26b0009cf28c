"""A record that `drivelab simulate` has run again: whether the same came of it, in words and as an exit code."""

from __future__ import annotations

from drivelab import _core
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, say
from drivelab.runs.repetition import verdict
from drivelab.runs.result import Result
from drivelab.scenarios.scenario import Source


def tell_repetition(
    source: Source, checked: _core.Plan, result: Result, *, is_plain: bool, quiet: bool
) -> Exit:
    """Whether the record that was run again has come to the same."""
    if source.record is None or result.interrupted:
        return Exit.OK
    found = verdict(source.record, checked, result)
    if found.is_same is False:
        say(f"error: {found.text}")
        return Exit.COMPARISON
    if not quiet:
        (emit if found.is_same and is_plain else say)(found.text if found.is_same else f"note: {found.text}")
    return Exit.OK
