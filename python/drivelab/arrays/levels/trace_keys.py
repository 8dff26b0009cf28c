"""The keys of `workload.trace` that a comparison and a plan take beside the file of a recorded trace, as overrides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drivelab.scenarios.scenario import Override

PREFIX = "workload.trace."
KEYS = ("format", "columns", "device", "lenient", "sort", "remap", "of")
"""Of `workload.trace`, what may be set beside the file."""
_FLAGS = {"true": True, "false": False}


def split(overrides: Iterable[Override], trace: str | None) -> tuple[list[Override], dict[str, Any]]:
    """What is laid over the target, and the keys of a trace among it. Raises InputError."""
    others, keys = list[Override](), dict[str, Any]()
    for one in overrides:
        key = one.key.removeprefix(PREFIX)
        if not one.key.startswith(PREFIX) or key not in KEYS:
            others.append(one)
            continue
        if trace is None:
            raise one.refused(f"{one.key} changes nothing without a recorded trace; leave it out")
        keys[key] = _FLAGS.get(one.value, one.value)
    return others, keys
