"""`rebuild = "simulated"`: how long a rebuild takes beside the load that was named, from its simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.errors import InputError
from drivelab.levels.level import COPIES, GROUPS, LEVELS
from drivelab.levels.loads import Loads
from drivelab.levels.measure import Wanted, measure
from drivelab.levels.planning import Chosen, Entry, checked, drive_bytes, named, planned
from drivelab.levels.rebuild import hours_with_interval
from drivelab.scenario import Override

SIMULATED = "simulated"
LOAD_KEYS = ("rw", "pattern", "bs", "iodepth", "rwmixread", "rate_iops")
KEYS = ("drive", "controller", *LOAD_KEYS)
"""What belongs to a simulated rebuild alone."""
_NO_REBUILD = "1h"


def is_simulated(options: Mapping[str, Any]) -> bool:
    """Whether rebuilds are to be simulated. Raises InputError for what changes nothing where they are not."""
    if str(options.get("rebuild", "")).strip() == SIMULATED:
        return True
    idle = [f"--{key.replace('_', '-')}" for key in KEYS if options.get(key) is not None]
    if idle:
        raise InputError(f"{', '.join(idle)} changes nothing without --rebuild {SIMULATED}")
    return False


def with_rebuild(options: Mapping[str, Any], level: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of one level with the hours of its rebuild and the drive's capacity, and what the rebuild came to.

    Raises InputError and ScenarioError.
    """
    if options.get("drive") is None:
        raise InputError(
            f"--rebuild {SIMULATED}: of which drive? Give --drive NAME, of the catalogue or a path"
        )
    if options.get("capacity") is not None:
        raise InputError(
            f"--capacity changes nothing with --rebuild {SIMULATED}: it is that of the drive; leave it out"
        )
    if level.partition(":")[0] not in LEVELS:
        why = "it is known to durability alone, and cannot be simulated"
        raise InputError(f"--rebuild {SIMULATED}: {level}: {why}; give its hours")
    chosen = _chosen(options, level)
    (entry,) = planned(chosen)
    given = {key: value for key, value in options.items() if key not in KEYS}
    given["capacity"] = f"{drive_bytes(chosen)}B"
    if entry.without("rebuilding"):
        return {**given, "rebuild": _NO_REBUILD}, {}
    rebuilt = simulated(chosen, entry)
    return {**given, "rebuild": hours_with_interval(rebuilt)}, rebuilt


def simulated(chosen: Chosen, entry: Entry) -> dict[str, Any]:
    """The rebuild of a level. Raises InputError where it has no time."""
    ran = measure([Wanted(chosen, entry, *at) for at in entry.plans if at[1] == "rebuild"])
    if ran.interrupted:
        raise KeyboardInterrupt
    found = dict(entry.rebuild or {})
    if not found or found["relative_error"] is None:
        why = f"{entry.level.label}: under {chosen.loads.text()} hosts leave too little to the rebuild"
        raise InputError(f"--rebuild {SIMULATED}: {why}; ask for less, or give its hours: --rebuild 200h")
    return {"load": chosen.loads.text(), **found}


def _chosen(options: Mapping[str, Any], level: str) -> Chosen:
    load: dict[str, Any] = {key: options.get(key) for key in LOAD_KEYS}
    loads = Loads.chosen(states="rebuilding", full=False, **load)
    others = []
    if options.get("controller") is not None:
        others = [Override("target.controller", str(options["controller"]), "--controller")]
    members = options.get("members")
    if members is None:
        raise InputError("--members is missing: give a number, --members 8")
    drive = str(options["drive"])
    number = {
        key: int(options.get(key) or default) for key, default in (("copies", COPIES), ("groups", GROUPS))
    }
    return Chosen(
        drive=drive,
        members=int(members),
        levels=named(level, int(members), number["copies"], number["groups"]),
        loads=loads,
        overrides=checked(drive, others),
        rebuilds_idle=False,
    )
