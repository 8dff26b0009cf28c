"""The candidates: every drive with every controller, number of members and level, with its capacity and its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivelab.arrays.durability.unreadable import Assumed
from drivelab.arrays.level import COPIES, GROUPS, Level
from drivelab.arrays.plan import question as asked
from drivelab.arrays.plan.question import Limits, Prices
from drivelab.arrays.simulation.loads import LOAD, Loads
from drivelab.arrays.simulation.planning import Chosen, Entry, checked, laid_out, named
from drivelab.arrays.simulation.rebuild import DEFAULT, Precision
from drivelab.arrays.typed import whole
from drivelab.errors import ref
from drivelab.scenarios.scenario import Override

LAID_OUT = ("level", "capacity", "budget")
"""Limits that are checked when a candidate is generated."""


@dataclass(frozen=True)
class Failing:
    """A limit that a candidate misses."""

    limit: str
    """`level`, `capacity`, `budget`, `states`, `load`, `latency`, `iops` or `loss`."""
    text: str
    stage: str
    """`rule` (exact and cheap), `bound` (a closed form) or `simulated`."""


@dataclass
class Candidate:
    """An array that could be bought."""

    drive: str
    controller: str | None
    level: Level
    chosen: Chosen
    entry: Entry
    cost: Mapping[str, float]
    spares: int
    failings: list[Failing] = field(default_factory=list)
    loss: Mapping[str, Any] | None = None
    """The result of the package `durability` with the simulated rebuild, or with the shortest possible one."""
    judged: bool = False
    """Whether it was checked against every limit; not if the plan was interrupted before."""

    @property
    def name(self) -> str:
        """A description in words."""
        return f"{self.array} x {self.parts}"

    @property
    def array(self) -> str:
        """The level and the number of its members."""
        return f"{self.level.label} of {self.level.members}"

    @property
    def parts(self) -> str:
        """The drive, and the controller if there is one."""
        drive = Path(self.drive).stem if self.drive.endswith(".toml") else self.drive
        return f"{drive} behind {self.controller}" if self.controller else drive

    @property
    def holds(self) -> bool:
        """Whether it was checked against every limit, and meets all of them."""
        return self.judged and not self.failings

    def figures(self, state: str = "healthy") -> Mapping[str, Any] | None:
        """What it gives under the load in this state; None where that was not simulated."""
        return self.entry.states.get(state, {}).get(LOAD)

    @property
    def is_simulated(self) -> bool:
        """Whether its load was simulated."""
        return "healthy" in self.entry.states

    def fails(self, limit: str, text: str, stage: str) -> None:
        """Record a limit that it misses."""
        self.failings.append(Failing(limit, text, stage))


@dataclass(frozen=True)
class Asked:
    """The question of a plan."""

    loads: Loads
    limits: Limits
    prices: Prices
    drives: Sequence[str]
    controllers: Sequence[str | None]
    failures: Mapping[str, Any]
    """Options of the package `durability` that apply to all drives."""
    rates: Mapping[str, Mapping[str, str]]
    """`afr`, `mttf` or `drive_life` by drive, as typed; empty if none is given."""
    unreadable: Mapping[str, Assumed]
    """What is assumed of the unreadable sectors of each drive; empty if an option says it, or nothing fails."""
    spares: int
    overrides: Sequence[Override]
    precision: Precision = DEFAULT
    """How well the durations of rebuilds are to be known."""
    varied: bool = False
    """Whether the question varies an assumption: probabilities of loss are then computed to 10 %, without the interval
    of the rebuild.
    """

    def failures_of(self, drive: str) -> dict[str, Any]:
        """The options of the package `durability` for arrays of a drive."""
        assumed = {"ure": self.unreadable[drive].rate} if drive in self.unreadable else {}
        return {**self.failures, **assumed, **self.rates[drive]}

    @property
    def knows_failures(self) -> bool:
        """Whether probabilities of loss can be computed."""
        return bool(self.rates)


def candidates(asked_: Asked, options: Mapping[str, Any]) -> list[Candidate]:
    """Generate every candidate, with the limits that it misses as far as they can be checked without simulating a load.

    Raises InputError and ScenarioError.
    """
    members = asked.members(str(options.get("members") or asked.MEMBERS))
    levels = options.get("level") or asked.LEVELS
    copies, groups = (
        whole(default if options.get(key) is None else options[key], key)
        for key, default in (("copies", COPIES), ("groups", GROUPS))
    )
    found = []
    for drive in asked_.drives:
        for controller in asked_.controllers:
            for number in members:
                own = [Override("target.controller", controller, ref("controller"))] if controller else []
                chosen = Chosen(
                    drive=drive,
                    members=number,
                    levels=named(levels, number, copies, groups, "level"),
                    loads=asked_.loads,
                    overrides=checked(drive, [*own, *asked_.overrides], "level"),
                    rebuilds_idle=False,
                    precision=asked_.precision,
                )
                found += _of(chosen, controller, asked_)
    return found


def _of(chosen: Chosen, controller: str | None, asked_: Asked) -> list[Candidate]:
    """The levels with this number of members of one drive."""
    spares = asked_.spares
    cost = asked_.prices.cost(chosen.drive, controller, chosen.members + spares)
    entries, errors = laid_out(chosen.healthy_alone())
    possible = [entry for entry in entries if entry.reason is None]
    for override in chosen.overrides:
        if possible and all(override in entry.unused for entry in possible):
            raise next(error for error in errors)
    found = []
    for entry in entries:
        one = Candidate(chosen.drive, controller, entry.level, chosen, entry, cost, spares)
        if entry.reason is not None:
            one.fails("level", entry.reason, "rule")
        elif entry.capacity_bytes < asked_.limits.capacity_bytes:
            one.fails("capacity", f"holds {terabytes(entry.capacity_bytes)}", "rule")
        if entry.reason is None and asked_.limits.cost is not None and cost["total"] > asked_.limits.cost:
            one.fails("budget", f"costs {money(cost['total'], asked_.prices.currency)}", "rule")
        found.append(one)
    return found


def terabytes(count: float) -> str:
    """A capacity as text."""
    return f"{count / 1e12:,.4g} TB" if count >= 1e12 else f"{count / 1e9:,.4g} GB"


def milliseconds(count_ns: float) -> str:
    """A latency as text."""
    found = count_ns / 1e6
    return f"{found:,.0f} ms" if found >= 1000 else f"{found:.3g} ms"


def money(amount: float, currency: str) -> str:
    """A price as text."""
    return f"{amount:,.2f} {currency}".replace(".00 ", " ")
