"""`rebuild = "simulated"`: the duration of a rebuild during the given load, from its simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.arrays.level import COPIES, GROUPS, LEVELS
from drivelab.arrays.simulation.loads import Loads
from drivelab.arrays.simulation.measure import Wanted, measure
from drivelab.arrays.simulation.planning import Chosen, Entry, checked, drive_bytes, named, planned
from drivelab.arrays.simulation.rebuild import hours_with_interval
from drivelab.errors import OptionError, ref
from drivelab.errors.several import Problems
from drivelab.scenarios.scenario import Override, Source, plan

SIMULATED = "simulated"
LOAD_KEYS = ("rw", "pattern", "bs", "iodepth", "rwmixread", "rate_iops", "rate_process", "sync")
KEYS = ("drive", "controller", *LOAD_KEYS)
"""The drive, and options that only a simulated rebuild has."""
_NO_REBUILD = "1h"


def is_simulated(options: Mapping[str, Any]) -> bool:
    """Whether rebuilds are to be simulated."""
    return str(options.get("rebuild", "")).strip() == SIMULATED


def check(options: Mapping[str, Any], level: str) -> None:
    """Reject options without effect, missing options, and arrays that cannot be simulated. Raises InputError with all
    errors.
    """
    problems = Problems()
    if options.get("drive") is not None and options.get("capacity") is not None:
        what = f"it changes nothing with {ref('drive')}, whose capacity counts"
        problems.found.append(OptionError("capacity", None, what, "leave it out"))
    if not is_simulated(options):
        said = (key for key in KEYS if key != "drive" and options.get(key) is not None)
        if idle := [key for key in said if options[key] is not False]:
            what = f"{', '.join(map(ref, idle))} changes nothing without {ref('rebuild', SIMULATED)}"
            problems.found.append(
                OptionError(idle[0], None, what, "add it, or leave these out", is_named=False)
            )
        problems.check()
        return
    if options.get("drive") is None:
        remedy = f"give {ref('drive', 'NAME')}, of the catalogue or a path"
        problems.found.append(OptionError("rebuild", SIMULATED, "no drive is named", remedy))
    if level.partition(":")[0] not in LEVELS:
        what = f"{level} is known to durability alone, and cannot be simulated"
        problems.found.append(
            OptionError("rebuild", SIMULATED, what, f"give its hours: {ref('rebuild', '20h')}")
        )
    problems.read(None, _loads, options)
    problems.check()


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
    """The bytes of one drive. Raises ScenarioError."""
    overrides = [Override("target.drive", drive, ref("drive"))]
    return plan(Source("", "the drive"), overrides).capacity_bytes(0)


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


def _loads(options: Mapping[str, Any]) -> Loads:
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
        loads=_loads(options),
        overrides=checked(drive, others, "level"),
        rebuilds_idle=False,
    )
