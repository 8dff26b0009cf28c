"""What memories had answered and could not hand on, in words: from the record's `given_up`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.report.array_summary import bytes_text, duration_text
from drivelab.report.plural import counted


def has_given_up(point: Mapping[str, Any]) -> bool:
    """Whether a memory of a point gave up data; False where there is none."""
    return bool((point.get("given_up") or {}).get("writes"))


def given_up_text(given_up: Mapping[str, Any]) -> str:
    """How much is gone, since when, why, and what the memory does since."""
    first = given_up["events"][0]
    memory = "the controller's cache" if first["memory"] == "controller" else "the host's cache"
    since = duration_text(float(f"{first['at_ns']:.3g}"))
    text = (
        f"{memory} gave up {counted(given_up['writes'], 'write')} that it had answered "
        f"({bytes_text(given_up['bytes'])}), the first at {since}: it ended as {first['outcome']}"
    )
    return f"{text}; since then writes go through" if given_up["memories"] else text
