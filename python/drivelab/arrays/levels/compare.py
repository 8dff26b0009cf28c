"""Every level of an array side by side: capacity, price and tolerated failures, and performance under equal loads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.arrays.cost import Prices
from drivelab.arrays.level import COPIES, GROUPS, LEVELS
from drivelab.arrays.levels import risk
from drivelab.arrays.levels.trace_keys import split
from drivelab.arrays.levels.verdict import Verdict, judged
from drivelab.arrays.odds import Lifetime, Repair, lifetime_dict, odds
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation import rebuild
from drivelab.arrays.simulation.loads import Loads
from drivelab.arrays.simulation.measure import all_of, measure
from drivelab.arrays.simulation.planning import (
    Chosen,
    Entry,
    check_used,
    checked,
    drive_bytes,
    named,
    planned,
)
from drivelab.errors import OptionError, RunError, ref
from drivelab.report.pictures import drawn
from drivelab.report.plural import counted
from drivelab.report.table import Table
from drivelab.runs.provenance import line, provenance
from drivelab.runs.result import Failure, combined_digest
from drivelab.runs.simulation import Progress
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.scenario import Override, overrides_from

if TYPE_CHECKING:
    import altair

_NS_PER_HOUR = 3600e9


@dataclass(repr=False)
class Comparison:
    """The levels in their order, and what is needed to repeat and recognise the comparison."""

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
        return (
            f"<Comparison {self.chosen.name!r}: {counted(len(self.possible), 'level')}, digest {self.digest}>"
        )

    @property
    def possible(self) -> list[Entry]:
        """The levels that are possible with these members."""
        return [entry for entry in self.entries if entry.reason is None]

    def provenance(self) -> dict[str, Any]:
        """What is needed to repeat and recognise the comparison."""
        return provenance(self.scenario_hash, self.seed, self.digest)

    def identity(self) -> str:
        """The same in one line."""
        return line(self.provenance())

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
            "repair": chosen.repair_text,
            "causes": dict(chosen.failures),
            "assumed": (found := risk.assumed(chosen)) and found.to_dict(),
            "verdict": self.verdict().to_dict(),
            "interrupted": self.interrupted,
            "failures": [failure.to_dict() for failure in self.failures],
            "levels": [entry.to_dict() for entry in self.entries],
        }

    def verdict(self) -> Verdict:
        """For each level its performance under the load, its price, and the failures that it survives."""
        return judged(self.chosen, self.drive_bytes, self.possible)

    def tables(self) -> list[Table]:
        """A table for each topic."""
        from drivelab.arrays.levels.tables import tables  # noqa: PLC0415 - it reads this class

        return tables(self)

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """IOPS and latency by level and depth; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        return drawn(lambda: charts.levels(self.to_dict()), path, self.provenance)


LOAD_WORDS = (
    "rw", "pattern", "trace", "remap", "of", "bs", "iodepth", "rwmixread", "rate_iops", "rate_process", "sync",
    "number_ios", "ramp_time", "states", "full",
)  # fmt: skip
"""The arguments that say what runs."""


@names_checked
def compare_levels(  # noqa: PLR0913 - its parameters are the options of the verb
    drive: str | Path,
    members: int = 4,
    *,
    levels: str | Iterable[str] = LEVELS,
    controller: str | None = None,
    rw: str | None = None,
    pattern: str | None = None,
    bs: str | None = None,
    iodepth: int | str | Iterable[int] | None = None,
    rwmixread: int | None = None,
    rate_iops: float | str | None = None,
    rate_process: str | None = None,
    sync: bool = False,
    trace: str | None = None,
    remap: str | None = None,
    of: str | None = None,
    number_ios: int | None = None,
    ramp_time: str | None = None,
    precision: str | None = None,
    states: str | Iterable[str] = tuple(under.STATES),
    full: bool = True,
    copies: int | None = None,
    groups: int | None = None,
    afr: str | None = None,
    mttf: str | None = None,
    repair: str | None = None,
    batch: str | None = None,
    ure: str | None = None,
    latent: str | None = None,
    reads: str | None = None,
    common: str | Iterable[str] | None = None,
    wrong_drive: str | None = None,
    detection: str | None = None,
    replacement: str | None = None,
    attended: str | None = None,
    scrub: str | None = None,
    spares: int | None = None,
    drive_price: str | None = None,
    controller_price: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **overrides: object,
) -> Comparison:
    """Compare levels over this many drives of one kind: `compare_levels("wd-4tb-7200", 4, afr="2%")`.

    The load is given by fio's options, as on the command line: `rw="randread", bs="8KiB", iodepth=4`. Unless `full`
    is False, other loads and depths run as well, for the tables. What fails beside drives, and how it is repaired, is
    given as to `durability`: `ure="1e-15/bit", scrub="1w"`. `overrides` change the target, such as
    `**{"target.array.stripe_unit": "256KiB"}`, and `run.seed`.

    Raises InputError, ScenarioError, RunError (a point failed) and KeyboardInterrupt.
    """
    given = {key: value for key, value in locals().items() if key not in {"workers", "progress", "overrides"}}
    chosen = chosen_of({**given, "drive": str(drive)}, overrides_from(overrides))
    found = run(chosen, planned(chosen), workers, progress)
    if found.interrupted:
        raise KeyboardInterrupt
    if found.failures:
        raise RunError(failure_texts(found.failures)[0])
    return found


def chosen_of(given: Mapping[str, Any], overrides: Iterable[Override]) -> Chosen:
    """What is compared, from the arguments of `compare_levels` by their names. Raises InputError and ScenarioError."""
    others, keys = split(overrides, given["trace"])
    copies, groups, members = given["copies"], given["groups"], given["members"]
    check_used(given["levels"], copies, groups)
    if given["controller"] is not None:
        others.insert(0, Override("target.controller", given["controller"], ref("controller")))
    lifetime = Lifetime.parse(given["afr"], given["mttf"])
    chosen = Chosen(
        drive=given["drive"],
        members=members,
        levels=named(
            given["levels"],
            members,
            COPIES if copies is None else copies,
            GROUPS if groups is None else groups,
        ),
        loads=Loads.chosen(**{key: given[key] for key in LOAD_WORDS}, trace_keys=keys),
        overrides=checked(given["drive"], others),
        lifetime=lifetime,
        failures=failures_of(lifetime, {key: given[key] for key in ("afr", "mttf", *risk.CAUSES)}),
        repair=Repair.parse(given["repair"], lifetime),
        prices=Prices.parse(given["drive_price"], given["controller_price"]),
        precision=rebuild.Precision.asked(given["precision"]),
    )
    risk.check(chosen)
    return chosen


def failures_of(lifetime: Lifetime | None, given: Mapping[str, object]) -> dict[str, object]:
    """The options on failures that were given. Raises InputError if there are some although nothing fails."""
    found = {key: value for key, value in given.items() if value is not None and value != []}
    if lifetime is None and found:
        name = next(iter(found))
        what = f"{ref(name)} changes nothing without {ref('afr')} or {ref('mttf')}: nothing fails"
        raise OptionError(name, None, what, is_named=False)
    return found


def run(
    chosen: Chosen, entries: list[Entry], workers: int | None = None, progress: Progress | None = None
) -> Comparison:
    """Run what was planned, all of it in parallel, and store the results in their places."""
    ran = measure(all_of(chosen, entries), workers, progress)
    of_drive = drive_bytes(chosen)
    for entry in entries:
        if entry.reason is None:
            entry.odds = odds(entry.level, chosen.lifetime, _repair_hours(entry, chosen))
            entry.loss = None if ran.interrupted else risk.loss_of(entry, chosen, of_drive)
    return Comparison(
        chosen=chosen,
        drive_bytes=of_drive,
        entries=entries,
        seed=ran.seeds[0],
        scenario_hash=hashlib.sha256("".join(ran.hashes).encode()).hexdigest()[:32],
        digest=combined_digest(ran.digests),
        failures=ran.failures,
        interrupted=ran.interrupted,
        points=ran.points,
    )


def _repair_hours(entry: Entry, chosen: Chosen) -> float | None:
    """As given, or the duration of the rebuild under the load; None if that makes no progress."""
    if chosen.repair is None:
        return None
    if chosen.repair.hours is None and entry.rebuild and entry.rebuild["duration_ns"] is not None:
        return float(entry.rebuild["duration_ns"] / _NS_PER_HOUR)
    return chosen.repair.hours


def failure_texts(failures: Iterable[Failure]) -> list[str]:
    """Why points have no result, each reason once, and where."""
    places: dict[str, list[str]] = {}
    for failure in failures:
        at = ", ".join(f"{key} = {value}" for key, value in failure.axes.items())
        places.setdefault(failure.why, []).append(at)
    more = {
        message: f" and {counted(len(at) - 1, 'more point')}" if len(at) > 1 else ""
        for message, at in places.items()
    }
    return [f"{message} (at {at[0]}{more[message]})" for message, at in places.items()]
