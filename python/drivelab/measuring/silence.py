"""Commands that a device had not answered when a run ended: they are in no latency, so they are reported separately."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.report.array_summary import duration_text
from drivelab.report.plural import counted

# A command that has waited this many times the maximum response time, and at least this long, is reported.
SILENT_FACTOR = 10
SILENT_NS_MIN = 100_000_000


def never_answered(point: Mapping[str, Any]) -> int:
    """Commands still unanswered after the drain that follows the run."""
    count: int = point["measured"]["under_way"]["unanswered"]
    return count


def unanswered(point: Mapping[str, Any]) -> str | None:
    """A sentence on them; None if the device answered as before."""
    under_way = point["measured"]["under_way"]
    longest = point["latency_ns"]["max"] or 0
    oldest = under_way["oldest_ns"]
    if left := under_way["unanswered"]:
        waited = _time(oldest + under_way["waited_ns"])
        return (
            f"{counted(left, 'command')} had no answer for {waited}, {_time(under_way['waited_ns'])} of them after the "
            "run; they are in no latency, and the figures are those of what was answered"
        )
    if oldest < max(SILENT_NS_MIN, SILENT_FACTOR * longest):
        return None
    failed = f" ({under_way['failed']:,} of them an error)" if under_way["failed"] else ""
    return (
        f"when the run ended, {counted(under_way['commands'], 'command')} had had no answer for up to {_time(oldest)}, "
        f"far longer than any that finished ({_time(longest)}); the answers came later{failed}, and are in no latency"
    )


def _time(ns: float) -> str:
    return duration_text(float(f"{ns:.2g}"))
