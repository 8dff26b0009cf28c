"""The candidates: every drive with every controller, number of members and level, with its capacity and its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivelab.durability.checks import BARE, check_reads
from drivelab.durability.losses import solve
from drivelab.durability.question import whole
from drivelab.errors import InputError
from drivelab.levels import counted
from drivelab.levels.level import COPIES, GROUPS, Level
from drivelab.levels.loads import Loads, names_of
from drivelab.levels.planning import Chosen, Entry, check_used, checked, laid_out, named
from drivelab.levels.trace_words import PREFIX, split
from drivelab.plan import question as asked
from drivelab.plan.load import is_trace, load
from drivelab.plan.question import CANDIDATES_MAX, Limits, Prices
from drivelab.scenario import Override

FAILURES = (
    "batch",
    "ure",
    "latent",
    "scrub",
    "reads",
    "detection",
    "replacement",
    "attended",
    "spares",
    "common",
    "wrong_drive",
    "outage",
    "life",
)
"""Options that are passed on to the package `durability` as typed."""

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
        drive = Path(self.drive).stem if self.drive.endswith(".toml") else self.drive
        controller = f" behind {self.controller}" if self.controller else ""
        return f"{self.level.label} of {self.level.members} x {drive}{controller}"

    @property
    def holds(self) -> bool:
        """Whether it was checked against every limit, and meets all of them."""
        return self.judged and not self.failings

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
    spares: int
    overrides: Sequence[Override]
    varied: bool = False
    """Whether the question varies an assumption: probabilities of loss are then computed to 10 %, without the interval
    of the rebuild.
    """

    @property
    def knows_failures(self) -> bool:
        """Whether probabilities of loss can be computed."""
        return bool(self.rates)


def asked_of(options: Mapping[str, Any], overrides: Sequence[Override]) -> Asked:
    """Parse the question of a plan from options. Raises InputError."""
    drives = list(dict.fromkeys(names_of(options.get("drive") or "")))
    _check_given({**options, "drive": drives or None}, drives)
    controllers: list[str | None] = [
        None if name == "none" else name
        for name in dict.fromkeys(names_of(options.get("controller") or "none"))
    ]
    others, trace_keys = _of_trace(options, overrides)
    loads = load(options, trace_keys)
    limits = asked.limits(options, loads)
    rates = _rates(options, drives)
    _check_used(options, loads)
    given = {key: options[key] for key in FAILURES if options.get(key) is not None}
    if limits.loss_a_year is not None and not rates:
        raise InputError(
            "--max-loss: nothing says how often a drive fails: add --afr 1.5%, or NAME=1.5% for each"
        )
    if not rates and options.get("power_price") is None and "life" in given:
        raise InputError(
            "--life changes nothing without --afr, --mttf, --drive-life or --power-price: nothing fails, and no power "
            "is counted; leave it out"
        )
    if not rates and (idle := [key for key in given if key not in {"spares", "life"}]):
        name = idle[0].replace("_", "-")
        raise InputError(f"--{name} changes nothing without --afr, --mttf or --drive-life: nothing fails")
    _check_failures(given, rates)
    return Asked(
        loads=loads,
        limits=limits,
        prices=asked.prices(options, drives, controllers),
        drives=drives,
        controllers=controllers,
        failures=given,
        rates=rates,
        spares=whole(options, "spares", 0),
        overrides=others,
    )


def _of_trace(
    options: Mapping[str, Any], overrides: Sequence[Override]
) -> tuple[list[Override], dict[str, Any]]:
    """The overrides of the target, and the keys of a recorded trace. Raises InputError."""
    file = options.get("load")
    if file is not None and not is_trace(options):
        for one in overrides:
            if one.key.startswith(PREFIX):
                raise InputError(f"{one.origin}: {one.key} is said in {file}, whose workload is the load")
    return split(overrides, str(file) if is_trace(options) else None)


def _check_used(options: Mapping[str, Any], loads: Loads) -> None:
    """Reject options without effect. Raises InputError."""
    levels = options.get("level") or asked.LEVELS
    check_used(levels, options.get("copies"), options.get("groups"))
    check_reads(options)
    # An array must sustain the rate and hold its data in the named states.
    is_held = options.get("max_latency") or options.get("min_iops") is not None or loads.rate is not None
    plain = {name.partition(":")[0].lower() for name in names_of(levels)}
    if options.get("states") is not None and not is_held and not plain & BARE:
        raise InputError(
            "--states changes nothing without --max-latency, --min-iops or a rate, which hold in the states that it "
            "names: add one, --max-latency p99=50ms, or leave it out"
        )


def _check_given(options: Mapping[str, Any], drives: Sequence[str]) -> None:
    """Report all missing options at once. Raises InputError."""
    examples = {
        "capacity": "60TB",
        "drive": "seagate-exos-x24-24tb,wd-4tb-7200",
        "drive_price": ",".join(f"{name}=280USD" for name in drives)
        or "seagate-exos-x24-24tb=280USD,wd-4tb-7200=90USD",
    }
    why = {
        "capacity": "how much has to fit",
        "drive": "which drives there are to buy",
        "drive_price": "the pick is the cheapest that holds",
    }
    missing = [key for key in examples if options.get(key) is None]
    if not missing:
        return
    names = [f"--{key.replace('_', '-')}" for key in missing]
    remedy = " ".join(f"{name} {examples[key]}" for name, key in zip(names, missing, strict=True))
    reasons = "; ".join(why[key] for key in missing)
    raise InputError(
        f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing ({reasons}): give {remedy}"
    )


_FORMS = {"afr": "1.5%", "mttf": "500000h", "drive_life": "weibull:1.12:461386h"}
"""The three ways to give the life of a drive, each with an example."""


def _rates(options: Mapping[str, Any], drives: Sequence[str]) -> dict[str, dict[str, str]]:
    given = [key for key in _FORMS if options.get(key) is not None]
    names = [f"--{key.replace('_', '-')}" for key in given]
    if len(given) > 1:
        raise InputError(f"{' and '.join(names)} say the same thing twice; give one of them")
    if not given:
        return {}
    key, text = given[0], str(options[given[0]])
    if key == "drive_life":
        texts_of = asked.laws_by_name(text, drives, names[0], _FORMS[key])
    else:
        texts_of = asked.by_name(text, drives, names[0], _FORMS[key])
    # A survival table is read only once.
    reader = {"afr": counted.afr, "drive_life": counted.life}.get(key)
    return {
        str(name): {key: reader(text, names[0]) if reader and counted.is_counted(text) else text}
        for name, text in texts_of.items()
    }


def _check_failures(given: Mapping[str, Any], rates: Mapping[str, Mapping[str, str]]) -> None:
    """Reject options that the package `durability` would reject, before anything runs. Raises InputError."""
    for rate in rates.values():
        solve({**given, **rate, "level": "raid6", "members": 8, "rebuild": "1h", "histories": 1000})


def candidates(asked_: Asked, options: Mapping[str, Any]) -> list[Candidate]:
    """Generate every candidate, with the limits that it misses as far as they can be checked without simulating a load.

    Raises InputError and ScenarioError.
    """
    members = asked.members(str(options.get("members") or asked.MEMBERS))
    levels = options.get("level") or asked.LEVELS
    copies, groups = options.get("copies") or COPIES, options.get("groups") or GROUPS
    count = len(asked_.drives) * len(asked_.controllers) * len(members) * len(names_of(levels))
    if count > CANDIDATES_MAX:
        raise InputError(
            f"{count:,} candidates: at most {CANDIDATES_MAX:,}; give fewer --drive, --level or --members"
        )
    found = []
    for drive in asked_.drives:
        for controller in asked_.controllers:
            for number in members:
                own = [Override("target.controller", controller, "--controller")] if controller else []
                chosen = Chosen(
                    drive=drive,
                    members=number,
                    levels=named(levels, number, copies, groups),
                    loads=asked_.loads,
                    overrides=checked(drive, [*own, *asked_.overrides], "--level"),
                    rebuilds_idle=False,
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
