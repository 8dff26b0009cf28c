"""`rebuild = "simulated"`: the duration of a rebuild during the given load, from its simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.arrays.level import COPIES, GROUPS
from drivelab.arrays.simulation.loads import Loads
from drivelab.arrays.simulation.measure import Wanted, measure
from drivelab.arrays.simulation.planning import (
    FAIL_IN_PAIRS,
    Chosen,
    Entry,
    checked,
    drive_bytes,
    has_two_actuators,
    named,
    planned,
)
from drivelab.arrays.simulation.rebuild import hours_with_interval
from drivelab.errors import OptionError, ref
from drivelab.scenarios.scenario import Override, Source, plan

SIMULATED = "simulated"
LOAD_KEYS = ("rw", "pattern", "bs", "iodepth", "rwmixread", "rate_iops", "rate_process", "sync")
KEYS = ("drive", "controller", *LOAD_KEYS)
"""The drive, and options that only a simulated rebuild has."""
_NO_REBUILD = "1h"


def is_simulated(options: Mapping[str, Any]) -> bool:
    """Whether rebuilds are to be simulated."""
    return str(options.get("rebuild", "")).strip() == SIMULATED


def with_rebuild(options: Mapping[str, Any], level: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of one level with the drive's capacity and the hours of a simulated rebuild, and the results of the
    rebuild. Raises InputError and ScenarioError.
    """
    if options.get("drive") is None:
        return dict(options), {}
    given = {key: value for key, value in options.items() if key not in KEYS}
    if not is_simulated(options):
        return {**given, "capacity": f"{capacity_of(str(options['drive']))}B"}, {}
    chosen = _chosen(options, level)
    (entry,) = planned(chosen)
    given["capacity"] = f"{drive_bytes(chosen)}B"
    if entry.without("rebuilding"):
        return {**given, "rebuild": _NO_REBUILD}, {}
    rebuilt = simulated(chosen, entry)
    return {**given, "rebuild": hours_with_interval(rebuilt)}, rebuilt


def capacity_of(drive: str) -> int:
    """The bytes of one drive. Raises ScenarioError, and InputError if it has two actuators."""
    found = plan(Source("", "the drive"), [Override("target.drive", drive, ref("drive"))])
    if has_two_actuators(found):
        raise OptionError("drive", drive, FAIL_IN_PAIRS)
    return found.capacity_bytes(0)


def simulated(chosen: Chosen, entry: Entry) -> dict[str, Any]:
    """Simulate the rebuild of a level. Raises InputError if its duration is unknown."""
    ran = measure([Wanted(chosen, entry, *at) for at in entry.plans if at[1] == "rebuild"])
    if ran.interrupted:
        raise KeyboardInterrupt
    found = dict(entry.rebuild or {})
    if not found or found["relative_error"] is None:
        why = f"{entry.level.label}: under {chosen.loads.text()} hosts leave too little to the rebuild"
        raise OptionError(
            "rebuild", SIMULATED, why, f"ask for less, or give its hours: {ref('rebuild', '200h')}"
        )
    return {"load": chosen.loads.text(), **found}


def loads(options: Mapping[str, Any]) -> Loads:
    """The load beside the rebuild. Raises InputError with all errors."""
    load: dict[str, Any] = {key: options.get(key) for key in LOAD_KEYS}
    return Loads.chosen(states="rebuilding", full=False, has_tables=False, **load)


def _chosen(options: Mapping[str, Any], level: str) -> Chosen:
    others = []
    if options.get("controller") is not None:
        others = [Override("target.controller", str(options["controller"]), ref("controller"))]
    drive, members = str(options["drive"]), int(options["members"])
    number = {
        key: int(options.get(key) or default) for key, default in (("copies", COPIES), ("groups", GROUPS))
    }
    return Chosen(
        drive=drive,
        members=members,
        levels=named(level, members, number["copies"], number["groups"]),
        loads=loads(options),
        overrides=checked(drive, others, "level"),
        rebuilds_idle=False,
    )
