"""A level's chance of data loss, by the engine of `drivelab durability`: the same causes, the same figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.arrays.durability import unreadable
from drivelab.arrays.durability.solving import solve
from drivelab.arrays.durability.unreadable import Assumed
from drivelab.arrays.level import COPIED, GROUPED, Level
from drivelab.arrays.simulation.planning import Chosen, Entry
from drivelab.arrays.simulation.rebuild import hours_with_interval

CAUSES = (
    "ure", "latent", "scrub", "reads", "batch", "common", "wrong_drive", "detection", "replacement", "attended",
    "spares",
)  # fmt: skip
"""Options of `durability` that a comparison passes on."""
_NO_REBUILD = "1h"


def array_of(level: Level, drive_bytes: int) -> dict[str, Any]:
    """A level of drives of this capacity as options of `durability`."""
    found: dict[str, Any] = {
        "level": level.label,
        "members": level.members,
        "capacity": f"{drive_bytes}B",
    }
    if level.name in COPIED:
        found["copies"] = level.copies
    if level.name in GROUPED:
        found["groups"] = level.groups
    return found


def assumed(chosen: Chosen) -> Assumed | None:
    """What is assumed of unreadable sectors; None if nothing fails, or an option says it."""
    given = chosen.failures
    if chosen.lifetime is None or given.get("ure") is not None or given.get("latent") is not None:
        return None
    return unreadable.of_drive(chosen.drive, chosen.overrides)


def check(chosen: Chosen) -> None:
    """Refuse causes that `durability` would refuse, before anything runs. Raises InputError with all errors."""
    if chosen.lifetime is not None:
        solve({**chosen.failures, "level": "raid6", "members": 8, "rebuild": "1h", "histories": 1000})


def loss_of(entry: Entry, chosen: Chosen, drive_bytes: int) -> Mapping[str, Any] | None:
    """The outcome of `durability` for a level; None if nothing fails, or its repair time is unknown."""
    rebuild = _rebuild(entry, chosen)
    if chosen.lifetime is None or rebuild is None:
        return None
    options = {**chosen.failures, **array_of(entry.level, drive_bytes), "rebuild": rebuild}
    if found := assumed(chosen):
        options["ure"] = found.rate
    return solve(options).outcomes[0]


def _rebuild(entry: Entry, chosen: Chosen) -> str | None:
    """The repair of a member as `durability` takes it."""
    if entry.without("rebuilding"):
        return _NO_REBUILD
    if chosen.repair is None:
        return None
    if chosen.repair.hours is not None:
        return f"{chosen.repair.hours:.9g}h"
    rebuilt = entry.rebuild
    if rebuilt is None or rebuilt["duration_ns"] is None:
        return None
    if rebuilt["relative_error"] is None:
        return f"{rebuilt['duration_ns'] / 3600e9:.6g}h"
    return hours_with_interval(rebuilt)
