"""What a replayed trace was read in spite of stands in the record of its replay."""

from __future__ import annotations

from typing import Any

from drivelab import _core


def tell_problems(entry: dict[str, Any], plan: _core.Plan, place: int) -> None:
    """Add them to the point at `place`, as the run that this process has made of it met them."""
    if problems := plan.trace_problems(place):
        entry["replay"]["problems"] = [
            {"kind": kind, "count": count, "first_line": first} for kind, count, first in problems
        ]
