"""Levels prepared for a comparison: which of them are possible, and the runs that each of them needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.arrays.cost import Prices
from drivelab.arrays.level import COPIED, COPIES, GROUPED, GROUPS, LEVELS, MEMBERS_MAX, Level
from drivelab.arrays.odds import Lifetime, Repair
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation import rebuild
from drivelab.arrays.simulation.loads import Loads
from drivelab.errors import InputError, OptionError, ScenarioError, ref
from drivelab.errors.several import Problems
from drivelab.report import toml_text
from drivelab.report.plural import counted
from drivelab.scenarios.scenario import Override, Source, plan

# What a caller may set besides the target: the rest is the comparison's own.
_FREE = ("run.seed", "workload.submit", "workload.max_transfer")
# What a comparison itself sweeps.
_COLUMNS = ("workload.iodepth", "workload.offset", "target.array.rebuilt")
_REBUILDS = (under.REBUILD, under.REBUILD_IDLE)
# The name of a comparison's own scenarios in error messages.
_ORIGIN = "compare-levels: "
# Keys that define a level or a state, each with the option that sets it.
_OWN = {
    "target.array.level": "levels",
    "target.array.members": "members",
    "target.array.drives": "drive",
    "target.array.copies": "copies",
    "target.array.groups": "groups",
    "target.array.layout": "levels",
    "target.array.missing": "states",
    "target.array.rebuilding": "states",
    "target.array.rebuilt": "states",
    "target.faults": "states",
    **{f"workload.{key}": key for key in ("rw", "bs", "rwmixread", "iodepth", "rate_iops", "pattern")},
    "run.ios": "number_ios",
    "run.warmup": "ramp_time",
}


@dataclass(frozen=True)
class Chosen:
    """What is compared: drives, levels, loads, and what is known of failures and prices."""

    drive: str
    members: int
    levels: Sequence[Level]
    loads: Loads
    overrides: Sequence[Override]
    lifetime: Lifetime | None = None
    failures: Mapping[str, Any] = field(default_factory=dict)
    """The life of a drive and other causes of loss, as typed, by the options of `durability`."""
    repair: Repair | None = None
    prices: Prices | None = None
    rebuilds_idle: bool = True
    """Whether rebuilds are also simulated without a load."""
    precision: rebuild.Precision = rebuild.DEFAULT
    """How well the durations of rebuilds are to be known."""

    def healthy_alone(self) -> Chosen:
        """The same without any other state: enough to know the capacity of each level."""
        loads = replace(self.loads, states=("healthy",))
        return replace(self, loads=loads, repair=None, rebuilds_idle=False)

    @property
    def measures_rebuilds(self) -> bool:
        """Whether the duration of rebuilds is requested."""
        return "rebuilding" in self.loads.states or (self.repair is not None and self.repair.hours is None)

    @property
    def repair_text(self) -> str | None:
        """The source of the repair time."""
        if self.repair is None:
            return None
        if self.repair.hours is not None:
            return f"{self.repair.hours:g} h, as given"
        return f"the rebuild under {self.loads.text()}"

    @property
    def name(self) -> str:
        """Members and drive, for people."""
        return f"{self.members} x {Path(self.drive).stem if self.drive.endswith('.toml') else self.drive}"


FAIL_IN_PAIRS = (
    "a member on this drive is one of two actuators and fails with the other one, and levels are compared for members "
    f"that fail one by one; simulate the array itself, or take {ref('target.drive.dual_actuator', 'no')}"
)


@dataclass
class Entry:
    """The results of one level."""

    level: Level
    reason: str | None = None
    """Why it is impossible; then the entry has nothing else."""
    capacity_bytes: int = 0
    record_bytes: int | None = None
    """For a RAID-Z pool."""
    odds: Mapping[str, Any] = field(default_factory=dict)
    """The failures that it tolerates, and chances of loss by failed drives alone."""
    loss: Mapping[str, Any] | None = None
    """The outcome of the package `durability`; None if nothing fails or its repair time is unknown."""
    cost: Mapping[str, Any] | None = None
    rebuild: Mapping[str, Any] | None = None
    """The time to rebuild a new member under the load, if it was measured and there is such a rebuild."""
    rebuild_idle: Mapping[str, Any] | None = None
    """The same with the array idle."""
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The results by state and load. A state that is impossible is missing."""
    plans: dict[tuple[str, str], _core.Plan] = field(default_factory=dict)
    """By state and load."""
    unused: list[Override] = field(default_factory=list)
    """Overrides that have no effect at this level."""
    left_out: Sequence[Override] = ()
    """Overrides that have no effect while it is rebuilt."""
    notes: Sequence[str] = ()
    """What a reader should know of its drives although nothing is wrong."""

    def without(self, state: str) -> str | None:
        """Why there is no such state; None if there is one."""
        if state == "healthy":
            return None
        return self.level.bears_none()

    def to_dict(self) -> dict[str, Any]:
        """The level as `compare-levels --json` prints it."""
        level = {"label": self.level.label, "settings": self.level.scenario(), "reason": self.reason}
        if self.reason is not None:
            return level
        reasons = {state: reason for state in under.STATES if (reason := self.without(state))}
        return {
            **level,
            "unused_settings": [override.key for override in self.unused],
            "capacity_bytes": self.capacity_bytes,
            "failures": self.odds,
            "loss": self.loss,
            "cost": self.cost,
            "rebuild": self.rebuild,
            "rebuild_idle": self.rebuild_idle,
            "states": self.states,
            "states_that_cannot_be": reasons,
        }


def check_used(levels: str | Iterable[str], copies: int | None, groups: int | None) -> None:
    """Refuse copies and groups where no level has any. Raises InputError."""
    names = under.names_of(levels)
    plain = {name.partition(":")[0].lower() for name in names}
    for option, given, users in (("copies", copies, COPIED), ("groups", groups, GROUPED)):
        if given is not None and not plain & users:
            remedy = f"it is of {', '.join(sorted(users))}; leave it out"
            what = f"{ref(option)} changes nothing with {', '.join(names)}: {remedy}"
            raise OptionError(option, None, what, is_named=False)


def named(
    levels: str | Iterable[str],
    members: int,
    copies: int = COPIES,
    groups: int = GROUPS,
    option: str = "levels",
) -> list[Level]:
    """The levels by their names in `option`, each once. Raises InputError with all errors."""
    if not isinstance(members, int):
        raise OptionError(
            "members", members, "a comparison has one number of drives; compare once for each number"
        )
    problems = Problems()
    refuse = problems.found.append
    if not 1 <= members <= MEMBERS_MAX:
        refuse(OptionError("members", members, f"an array has 1 to {MEMBERS_MAX:,}"))
    names = under.names_of(levels)
    if not names:
        refuse(OptionError(option, None, f"which? There are {', '.join(LEVELS)}"))
    found = [problems.read(None, Level.named, name, members, copies, groups, option) for name in names]
    if copies < 2:
        refuse(OptionError("copies", copies, "the data and at least one copy of them are 2"))
    if groups < 1:
        refuse(OptionError("groups", groups, "a level in groups has at least one"))
    problems.check()
    return list(dict.fromkeys(level for level in found if level is not None))


def checked(drive: str, others: Iterable[Override], level_option: str = "levels") -> list[Override]:
    """The target from overrides that touch neither levels nor loads. Raises InputError."""
    found = [Override("target.drive", drive, ref("drive"))]
    for override in others:
        for key, option in _OWN.items():
            if override.key == key or override.key.startswith(f"{key}."):
                own = level_option if option == "levels" else option
                layout = "raid10:far" if key == "target.array.layout" else None
                raise override.refused(f"{key} is not set so; see {ref(own, layout)}")
        if not override.key.startswith(("target.", *_FREE)):
            what = f"{override.key} is not free here; free are the keys under target, and {', '.join(_FREE)}"
            raise override.refused(what)
        found.append(override)
    return found


def planned(chosen: Chosen) -> list[Entry]:
    """Every level with its plans, or with the reason why it has none.

    Raises the ScenarioError of a key that no level uses in any state, and InputError if no level is possible.
    """
    entries, errors = laid_out(chosen)
    possible = [entry for entry in entries if entry.reason is None]
    if not possible:
        labels: dict[str, list[str]] = {}
        for entry in entries:
            labels.setdefault(str(entry.reason), []).append(entry.level.label)
        reasons = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in labels.items())
        verb = "makes" if chosen.members == 1 else "make"
        what = f"{counted(chosen.members, 'member')} {verb} none of these levels: {reasons}"
        raise OptionError("members", None, what, is_named=False)
    for override in chosen.overrides:
        if all(override in entry.unused for entry in possible):
            raise next(error for error in errors if override in _of_arrays(chosen, error))
    return entries


def laid_out(chosen: Chosen) -> tuple[list[Entry], list[ScenarioError]]:
    """Every level with its plans or the reason why it has none; errors of keys that some level does not use."""
    entries = [Entry(level, level.rule()) for level in chosen.levels]
    if has_two_actuators(_drive(chosen)):
        entries = [Entry(level, FAIL_IN_PAIRS) for level in chosen.levels]
    return entries, [error for entry in entries if not entry.reason for error in _plan_level(entry, chosen)]


def drive_bytes(chosen: Chosen) -> int:
    """The capacity of one of the drives. Raises ScenarioError."""
    return _drive(chosen).capacity_bytes(0)


def has_two_actuators(drive: _core.Plan) -> bool:
    """Whether members on this drive fail in pairs."""
    return bool(((drive.in_force or [None])[0] or {}).get("two_actuators"))


def _drive(chosen: Chosen) -> _core.Plan:
    """The plan of one of the drives. Raises ScenarioError."""
    overrides = [override for override in chosen.overrides if not override.key.startswith("target.array.")]
    return plan(Source("", f"{_ORIGIN}the drive"), overrides)


def _plan_level(entry: Entry, chosen: Chosen) -> list[ScenarioError]:
    """Plan everything that is to run on a level. Returns the errors of keys that have no effect in some state.

    Such a key, for instance of parity for a level without it, is left out there. If the level itself is impossible,
    that is the entry's reason. Raises ScenarioError for all other errors.
    """
    wanted = [(state, load) for state in chosen.loads.states for load in chosen.loads.documents()]
    if chosen.measures_rebuilds:
        wanted += [("rebuilding", under.REBUILD)]
        wanted += [("rebuilding", under.REBUILD_IDLE)] if chosen.rebuilds_idle else []
    wanted = [("healthy", under.LOAD), *((state, load) for state, load in wanted if not entry.without(state))]
    left_out: dict[str, list[Override]] = {}
    plans: dict[tuple[str, str], _core.Plan] = {}
    errors = []
    try:
        for state in dict(wanted):
            try:
                left_out[state] = []
                plans[state, under.LOAD] = _plan(entry.level, (state, under.LOAD), chosen, [])
            except ScenarioError as error:
                errors.append(error)
                left_out[state] = _of_arrays(chosen, error)
        plans = {
            at: plans.get(at) or _plan(entry.level, at, chosen, left_out[at[0]])
            for at in dict.fromkeys(wanted)
        }
    except ScenarioError as error:
        if any(not problem["origin"].startswith(_ORIGIN) for problem in error.found):
            raise
        entry.reason = error.found[0]["message"]
        return errors
    whole = plans["healthy", under.LOAD]
    entry.capacity_bytes, entry.notes = whole.capacity_bytes(0), whole.notes
    entry.record_bytes = ((whole.in_force or [None])[0] or {}).get("array", {}).get("record_bytes")
    entry.plans = {
        at: found for at, found in plans.items() if at[0] in chosen.loads.states or at[1] in _REBUILDS
    }
    entry.left_out = left_out.get("rebuilding", ())
    entry.unused = [
        override for override in chosen.overrides if all(override in left for left in left_out.values())
    ]
    if chosen.prices is not None:
        entry.cost = chosen.prices.to_dict(chosen.members, entry.capacity_bytes)
    return errors


def _of_arrays(chosen: Chosen, error: ScenarioError) -> list[Override]:
    """The overrides below target.array to which an error refers."""
    origins = {problem["origin"] for problem in error.found}
    return [
        override
        for override in chosen.overrides
        if override.key.startswith("target.array.") and override.origin in origins
    ]


def rebuild_planned(entry: Entry, chosen: Chosen, load: str, way: rebuild.Way) -> _core.Plan:
    """A rebuild of a level, simulated in a given way. Raises as `planned` does."""
    return _plan(entry.level, ("rebuilding", load), chosen, entry.left_out, way)


def _plan(
    level: Level,
    at: tuple[str, str],
    chosen: Chosen,
    left_out: Sequence[Override],
    way: rebuild.Way | None = None,
) -> _core.Plan:
    """One load in one state. Raises ScenarioError, and InputError if the target is a sweep."""
    state, load = at
    documents = chosen.loads.documents()
    array = {**level.scenario(), **under.STATES[state]}
    is_recorded = load == under.REBUILD and chosen.loads.is_recorded
    way = way or rebuild.first_way(is_idle=load == under.REBUILD_IDLE)
    if load in _REBUILDS:
        array |= way.array(is_recorded=is_recorded)
    document = {
        "name": f"{chosen.name}, {level.label}, {state}",
        "target": {"array": array},
        **(chosen.loads.rebuild_document(load, way) if load in _REBUILDS else documents[load]),
    }
    source = Source(toml_text.dumps(document), f"{_ORIGIN}{level.label}, {state}, {load}")
    overrides = [override for override in chosen.overrides if override not in left_out]
    overrides += chosen.loads.overrides(load)
    with chosen.loads.in_its_words():
        found = plan(source, overrides)
    own = {
        **(dict.fromkeys(_REBUILDS, len(array["rebuilt"])) if "rebuilt" in array else {}),
        **dict.fromkeys(under.RANDOM, len(chosen.loads.depths)),
        **dict.fromkeys(under.STREAMS, len(under.STREAM_PLACES)),
    }.get(load, 1)
    if len(found) + len(found.skipped) != own:
        raise _sweep(found, overrides, chosen.loads.file)
    # With the same seed the runs of all places would begin with equal angles between their spindles.
    return found.with_own_seeds() if "rebuilt" in array else found


def _sweep(found: _core.Plan, overrides: Sequence[Override], file: str | None) -> InputError:
    """Which value was given as a list, although a comparison has no column for it."""
    axes = next(iter([*found.axes, *(axes for axes, _ in found.skipped)]), {})
    what = "levels are compared with one value of each key; run once for each value"
    for override in overrides:
        if override.key not in _COLUMNS and any(
            axis == override.key or axis.startswith(f"{override.key}.") for axis in axes
        ):
            return override.refused(what, with_value=True)
    lists = [axis for axis in axes if axis.startswith("workload.")] if file is not None else []
    return InputError(f"{file}: {lists[0]} is a list: {what}" if lists else what)
