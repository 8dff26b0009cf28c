"""Every level of an array side by side: what it holds, costs and bears, and what it does under the same loads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _core, toml_text
from drivelab.errors import InputError, RunError, ScenarioError
from drivelab.levels import loads as under
from drivelab.levels.cost import Prices
from drivelab.levels.level import COPIES, GROUPS, LEVELS, Level
from drivelab.levels.loads import Loads
from drivelab.levels.odds import Lifetime, lifetime_dict, odds, parse_hours
from drivelab.result import Failure, Result, combined_digest
from drivelab.scenario import Override, Source, overrides_from, plan
from drivelab.simulation import Progress, run_plans
from drivelab.table import Table

if TYPE_CHECKING:
    import altair

# What a caller may set beside the target: the rest is the comparison.
_FREE = ("run.seed", "workload.submit", "workload.max_transfer")
# What error messages call a scenario of the comparison's own.
_ORIGIN = "compare-levels: "
# What makes a level or a state, each with the option that says it.
_OWN = {
    "target.array.level": "--levels",
    "target.array.members": "--members",
    "target.array.drives": "--drive",
    "target.array.copies": "--copies",
    "target.array.groups": "--groups",
    "target.array.layout": "--levels raid10:far",
    "target.array.missing": "--states",
    "target.array.rebuilding": "--states",
    "target.faults": "--states",
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
    repair_hours: float | None = None
    prices: Prices | None = None

    @property
    def name(self) -> str:
        """Members and drive, for people."""
        return f"{self.members} x {Path(self.drive).stem if self.drive.endswith('.toml') else self.drive}"


@dataclass
class Entry:
    """What one level came to."""

    level: Level
    reason: str | None = None
    """Why it cannot be; then it has nothing else."""
    capacity_bytes: int = 0
    odds: Mapping[str, Any] = field(default_factory=dict)
    cost: Mapping[str, Any] | None = None
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By state and load what came out. A state that cannot be is not here."""
    plans: dict[tuple[str, str], _core.Plan] = field(default_factory=dict)
    """By state and load."""
    unused: list[Override] = field(default_factory=list)
    """What was set that this level has no use for."""

    def without(self, state: str) -> str | None:
        """Why there is no such state; None where there is one."""
        return None if state == "healthy" else self.level.bears_none()

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
            "cost": self.cost,
            "states": self.states,
            "states_that_cannot_be": reasons,
        }


@dataclass(repr=False)
class Comparison:
    """The levels in their order, and from what the comparison can be repeated and recognised."""

    chosen: Chosen
    drive_bytes: int
    entries: list[Entry]
    seed: int
    scenario_hash: str
    digest: str
    failures: list[Failure]
    interrupted: bool
    points: int
    """How many of the runs finished."""

    def __repr__(self) -> str:
        """A line, however many levels there are."""
        return f"<Comparison {self.chosen.name!r}: {len(self.possible)} levels, digest {self.digest}>"

    @property
    def possible(self) -> list[Entry]:
        """The levels that these members can make."""
        return [entry for entry in self.entries if entry.reason is None]

    def provenance(self) -> dict[str, Any]:
        """From what the comparison can be repeated and recognised."""
        return {
            "version": _core.VERSION,
            "model_version": _core.MODEL_VERSION,
            "scenario_hash": self.scenario_hash,
            "seed": self.seed,
            "digest": self.digest,
        }

    def identity(self) -> str:
        """The same in one line."""
        facts = self.provenance()
        return (
            f"drivelab {facts['version']}, model {facts['model_version']}, seed {facts['seed']}, "
            f"scenario {facts['scenario_hash']}, digest {facts['digest']}"
        )

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab compare-levels --json` prints."""
        chosen = self.chosen
        return {
            "name": chosen.name,
            **self.provenance(),
            "drive": chosen.drive,
            "drive_bytes": self.drive_bytes,
            "members": chosen.members,
            "settings": {override.key: override.value for override in chosen.overrides},
            "method": chosen.loads.documents(),
            "states": {state: under.STATES[state] for state in chosen.loads.states},
            "lifetime": chosen.lifetime and lifetime_dict(chosen.lifetime),
            "interrupted": self.interrupted,
            "failures": [{"axes": failure.axes, "message": failure.message} for failure in self.failures],
            "levels": [entry.to_dict() for entry in self.entries],
        }

    def tables(self) -> list[Table]:
        """A table for each topic."""
        from drivelab.levels.tables import tables  # noqa: PLC0415 - it reads this class

        return tables(self)

    def chart(self) -> altair.TopLevelMixin:
        """IOPS and latency by level and depth; a notebook shows it. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        return charts.levels(self.to_dict())


def compare_levels(  # noqa: PLR0913 - its parameters are the options of the verb
    drive: str | Path,
    members: int = 4,
    *,
    levels: Iterable[str] = LEVELS,
    controller: str | None = None,
    loads: Loads | None = None,
    copies: int = COPIES,
    groups: int = GROUPS,
    afr: str | None = None,
    mttf: str | None = None,
    repair: str | None = None,
    drive_price: str | None = None,
    controller_price: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **overrides: object,
) -> Comparison:
    """Compare levels over so many drives of one kind: `compare_levels("wd-4tb-7200", 4, afr="2%")`.

    `overrides` change the target, such as `**{"target.array.stripe_unit": "256KiB"}`, and `run.seed`. Raises
    InputError, ScenarioError, RunError (a point failed) and KeyboardInterrupt.
    """
    others = overrides_from(overrides)
    if controller is not None:
        others.insert(0, Override("target.controller", controller, "controller"))
    lifetime = Lifetime.parse(afr, mttf)
    chosen = Chosen(
        drive=str(drive),
        members=members,
        levels=named(levels, members, copies, groups),
        loads=loads or Loads(),
        overrides=checked(str(drive), others),
        lifetime=lifetime,
        repair_hours=repair_of(repair, lifetime),
        prices=Prices.parse(drive_price, controller_price),
    )
    found = run(chosen, planned(chosen), workers, progress)
    if found.interrupted:
        raise KeyboardInterrupt
    if found.failures:
        raise RunError(failure_texts(found.failures)[0])
    return found


def named(
    levels: Iterable[str],
    members: int,
    copies: int = COPIES,
    groups: int = GROUPS,
) -> list[Level]:
    """The levels by their names, each once. Raises InputError."""
    if members < 1:
        raise InputError(f"--members {members}: an array has at least one")
    found = [Level.named(name, members, copies, groups) for name in levels if name.strip()]
    if not found:
        raise InputError(f"--levels: which? There are {', '.join(LEVELS)}")
    return list(dict.fromkeys(found))


def checked(drive: str, others: Iterable[Override]) -> list[Override]:
    """The target from overrides that touch neither levels nor loads. Raises InputError."""
    found = [Override("target.drive", drive, "--drive")]
    for override in others:
        for key, option in _OWN.items():
            if override.key == key or override.key.startswith(f"{key}."):
                raise InputError(f"{override.origin}: {key} is what is compared; see {option}")
        if not override.key.startswith(("target.", *_FREE)):
            raise InputError(
                f"{override.origin}: a comparison sets {override.key} itself; "
                f"free are the keys under target, and {', '.join(_FREE)}"
            )
        found.append(override)
    return found


def repair_of(repair: str | None, lifetime: Lifetime | None) -> float | None:
    """The time of a repair in hours. Raises InputError."""
    if repair is not None and lifetime is None:
        raise InputError("--repair changes nothing without --afr or --mttf: nothing fails")
    return None if repair is None else parse_hours(repair, "--repair")


def run(
    chosen: Chosen, entries: list[Entry], workers: int | None = None, progress: Progress | None = None
) -> Comparison:
    """Run what was planned, all of it side by side, and put what came out in its place."""
    order = [(entry, key) for entry in entries for key in entry.plans]
    results = run_plans([entry.plans[key] for entry, key in order], workers, progress)
    failures: list[Failure] = []
    for (entry, (state, load)), result in zip(order, results, strict=True):
        failures += [
            Failure(
                {"level": entry.level.label, "state": state, "load": load, **failure.axes}, failure.message
            )
            for failure in result.failures
        ]
        figures = under.stream_figures if load in under.STREAMS else under.random_figures
        if result.points and (came_to := figures(result.points)):
            entry.states.setdefault(state, {})[load] = came_to
    return Comparison(
        chosen=chosen,
        drive_bytes=drive_bytes(chosen),
        entries=entries,
        seed=results[0].seed,
        scenario_hash=_hash(results),
        digest=combined_digest([point["digest"] for result in results for point in result.points]),
        failures=failures,
        interrupted=any(result.interrupted for result in results),
        points=sum(len(result.points) for result in results),
    )


def planned(chosen: Chosen) -> list[Entry]:
    """Every level with its plans, or with the reason why it has none.

    Raises the ScenarioError of a key that no level takes, and InputError where no level is possible.
    """
    entries = [Entry(level, level.rule()) for level in chosen.levels]
    errors = [error for entry in entries if not entry.reason and (error := _plan_level(entry, chosen))]
    possible = [entry for entry in entries if entry.reason is None]
    if not possible:
        reasons = "; ".join(f"{entry.level.label}: {entry.reason}" for entry in entries)
        raise InputError(f"{chosen.members} members make none of these levels: {reasons}")
    for override in chosen.overrides:
        if all(override in entry.unused for entry in possible):
            raise next(error for error in errors if override in _of_arrays(chosen, error))
    return entries


def _plan_level(entry: Entry, chosen: Chosen) -> ScenarioError | None:
    """Plan the loads in each state that the level has. Returns the error of keys that it has no use for, if any.

    Such a key, say of parity for a level without, is left out. Where the level itself cannot be, that is the entry's
    reason. Raises ScenarioError for what is wrong with everything else.
    """
    error = None
    try:
        try:
            _plan(entry, "healthy", "randread", chosen)
        except ScenarioError as found:
            error, entry.unused = found, _of_arrays(chosen, found)
        healthy = _plan(entry, "healthy", "randread", chosen)
    except ScenarioError as found:
        if any(not problem["origin"].startswith(_ORIGIN) for problem in found.problems):
            raise
        entry.reason = found.problems[0]["message"]
        return error
    entry.plans = {
        (state, load): _plan(entry, state, load, chosen)
        for state in chosen.loads.states
        if entry.without(state) is None
        for load in chosen.loads.documents()
    }
    entry.capacity_bytes = healthy.capacity_bytes(0)
    entry.odds = odds(entry.level, chosen.lifetime, chosen.repair_hours)
    if chosen.prices is not None:
        entry.cost = chosen.prices.to_dict(chosen.members, entry.capacity_bytes)
    return error


def _of_arrays(chosen: Chosen, error: ScenarioError) -> list[Override]:
    """The overrides below target.array that an error speaks of."""
    origins = {problem["origin"] for problem in error.problems}
    return [
        override
        for override in chosen.overrides
        if override.key.startswith("target.array.") and override.origin in origins
    ]


def _plan(entry: Entry, state: str, load: str, chosen: Chosen) -> _core.Plan:
    """One load in one state. Raises ScenarioError, and InputError where the target is a sweep."""
    name, array = entry.level.label, {**entry.level.scenario(), **under.STATES[state]}
    document = {
        "name": f"{chosen.name}, {name}, {state}",
        "target": {"array": array},
        **chosen.loads.documents()[load],
    }
    source = Source(toml_text.dumps(document), f"{_ORIGIN}{name}, {state}, {load}")
    overrides = [override for override in chosen.overrides if override not in entry.unused]
    found = plan(source, [*overrides, *chosen.loads.overrides(load)])
    own = len(under.STREAM_PLACES) if load in under.STREAMS else len(chosen.loads.iodepths)
    if len(found) + len(found.skipped) != own:
        raise InputError(
            "a sweep of targets cannot be compared by level; give each key one value, and compare once for each"
        )
    return found


def drive_bytes(chosen: Chosen) -> int:
    """What one of the drives holds. Raises ScenarioError."""
    overrides = [override for override in chosen.overrides if not override.key.startswith("target.array.")]
    return plan(Source("", f"{_ORIGIN}the drive"), overrides).capacity_bytes(0)


def failure_texts(failures: Iterable[Failure]) -> list[str]:
    """Why points have no result, each reason once, and where."""
    places: dict[str, list[str]] = {}
    for failure in failures:
        at = ", ".join(f"{key} = {value}" for key, value in failure.axes.items())
        places.setdefault(failure.message, []).append(at)
    more = {
        message: f" and {len(at) - 1} more points" if len(at) > 1 else "" for message, at in places.items()
    }
    return [f"{message} (at {at[0]}{more[message]})" for message, at in places.items()]


def _hash(results: Sequence[Result]) -> str:
    return hashlib.sha256("".join(result.scenario_hash for result in results).encode()).hexdigest()[:32]
