"""A plan: the question, every candidate with its results, the pick, and the changes that would replace it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.arrays.levels import volatile
from drivelab.arrays.levels.compare import failure_texts
from drivelab.arrays.plan import answer, choice, sensitivity, turns
from drivelab.arrays.plan.choice import Binding
from drivelab.arrays.plan.evaluate import Progress, evaluate
from drivelab.arrays.plan.grid import Asked, Candidate, candidates
from drivelab.arrays.plan.load import check
from drivelab.arrays.plan.options import FAILURES, FORMS, asked_of
from drivelab.arrays.plan.sensitivity import Assumption, PriceTurn, Turn
from drivelab.arrays.simulation.measure import Ran
from drivelab.errors import InputError, RunError, ref
from drivelab.report.pictures import drawn
from drivelab.report.plural import counted
from drivelab.report.table import Table
from drivelab.runs.provenance import line, provenance
from drivelab.runs.result import combined_digest
from drivelab.scenarios.scenario import overrides_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair

    from drivelab.scenarios.scenario import Override

KEYS = (
    "capacity", "load", "rw", "pattern", "bs", "iodepth", "rwmixread", "rate_iops", "rate_process", "sync",
    "number_ios", "ramp_time", "precision", "max_latency", "min_iops", "max_loss", "budget", "states", "drive", "level",
    "members", "controller", "copies", "groups", "drive_price", "controller_price", "power_price", "drive_power",
    *FORMS, *FAILURES,
)  # fmt: skip
"""The options of a plan, which are also its arguments."""


@dataclass(repr=False)
class Plan:
    """The answer of a plan, and the data behind it."""

    asked: Asked
    candidates: list[Candidate]
    pick: Candidate | None
    """The pick; None if no candidate meets all limits."""
    bindings: list[Binding]
    """The binding limits, if no candidate meets all limits."""
    assumptions: list[Assumption]
    prices: list[PriceTurn]
    ran: Ran
    capacity: Turn | None = None
    """The pick if more capacity is needed than the pick has; None without a pick."""

    def __repr__(self) -> str:
        """A summary in one line."""
        picked = self.pick.name if self.pick else "nothing holds"
        return f"<Plan {picked}, of {counted(len(self.candidates), 'candidate')}>"

    def lines(self) -> list[str]:
        """The answer in a few lines; the binding limits if no candidate meets all limits."""
        return answer.lines(self)

    def writes_end_early(self) -> bool:
        """Whether the pick answers writes of the load from a volatile cache."""
        loads, one = self.asked.loads, self.pick
        return one is not None and loads.may_write and volatile.answers_early(one.entry, one.chosen)

    def table(self) -> Table:
        """A row for each candidate, the cheapest first."""
        return answer.table(self)

    def assumed(self) -> Table:
        """A row for each assumption, including omitted ones: its value, and the effect of half and twice of it."""
        return turns.table(self)

    def notes(self) -> list[str]:
        """Remarks on the results."""
        return answer.notes(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row of values for each candidate, for programs."""
        return [answer.row(one, self) for one in self.candidates]

    def provenance(self) -> dict[str, Any]:
        """The provenance, by which the plan can be repeated and identified."""
        scenario = hashlib.sha256("".join(self.ran.hashes).encode()).hexdigest()[:32]
        seed = self.ran.seeds[0] if self.ran.seeds else 1
        return provenance(scenario, seed, combined_digest(self.ran.digests))

    def identity(self) -> str:
        """The provenance in one line."""
        return line(self.provenance())

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab plan --json` prints."""
        return answer.to_dict(self)

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """Cost, performance and loss of every candidate; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        return drawn(lambda: charts.pareto(self.to_dict()), path, self.provenance)

    def tornado(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """Each assumption's effect on the pick's chance of loss; written to `path` if there is one.

        Raises ChartError.
        """
        from drivelab import charts  # noqa: PLC0415

        return drawn(lambda: charts.tornado(self.to_dict()), path, self.provenance)


def planned(workers: int | None = None, **options: object) -> Plan:
    """Which array to buy: `plan(capacity="60TB", drive="wd-4tb-7200", level="raid6", drive_price="90USD", ..)`.

    The options are those of the verb; keys with a dot are laid over the target, such as
    `**{"target.array.stripe_unit": "256KiB"}`. Raises InputError, ScenarioError, RunError and KeyboardInterrupt.
    """
    others = overrides_from({key: value for key, value in options.items() if key not in KEYS})
    given = {key: value for key, value in options.items() if key in KEYS and value is not None}
    found = run(given, others, workers)
    if found.ran.interrupted:
        raise KeyboardInterrupt
    if found.ran.failures:
        raise RunError(failure_texts(found.ran.failures)[0])
    return found


def run(
    options: Mapping[str, Any],
    overrides: Sequence[Override] = (),
    workers: int | None = None,
    progress: Progress | None = None,
    *,
    sensitive: bool = True,
) -> Plan:
    """Make a plan from options as typed. Failures of runs and an interruption are recorded in the plan."""
    given = {key: value for key, value in options.items() if value is not None}
    asked = asked_of(given, overrides)
    found = candidates(asked, given)
    possible = [one for one in found if one.entry.reason is None]
    if not possible:
        check(asked.loads, next(iter(asked.drives)))
        reasons = dict.fromkeys(failing.text for one in found for failing in one.failings)
        remedy = f"give other {ref('members')}, {ref('level')} or {ref('controller')}"
        raise InputError(f"no candidate can be made: {'; '.join(reasons)}; {remedy}")
    ran = evaluate(found, asked, workers, progress)
    # A candidate that was not checked yet may be the cheapest.
    picked = None if ran.interrupted else choice.pick(found)
    bindings: list[Binding] = []
    assumptions: list[Assumption] = []
    prices: list[PriceTurn] = []
    capacity: Turn | None = None
    if picked is None and not ran.interrupted and not ran.failures:
        # The nearest candidate is known only when all are evaluated.
        ran.add(evaluate(found, asked, workers, progress, bounded=False))
        bindings = choice.bindings(found, asked)
    elif picked is not None and sensitive and not ran.interrupted:
        assumptions = sensitivity.assumptions(picked, found, asked, ran, workers)
        prices = sensitivity.price_turns(picked, found, asked)
        capacity = sensitivity.capacity_turn(picked, found)
    return Plan(asked, found, picked, bindings, assumptions, prices, ran, capacity)
