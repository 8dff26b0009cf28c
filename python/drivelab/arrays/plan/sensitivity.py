"""The sensitivity to assumptions: the pick's probability of loss at half and twice each assumption, and when the pick
changes.

Failures, unreadable sectors and delays affect only probabilities of loss, which are recomputed with the simulated
rebuilds. The load affects everything: the pick is simulated again. Prices affect only the cost, linearly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivelab.arrays.durability.unreadable import is_none
from drivelab.arrays.plan.choice import order
from drivelab.arrays.plan.evaluate import evaluate, loss_span, loss_value, rebuild_hours
from drivelab.arrays.plan.grid import Asked, Candidate
from drivelab.arrays.plan.load import scaled
from drivelab.arrays.plan.loss import is_law, loss_of, times
from drivelab.arrays.simulation.measure import Ran
from drivelab.arrays.typed import share
from drivelab.errors import InputError

LOW, HIGH = 0.5, 2.0
"""The factors of an assumption at the ends of its bar."""
FAR = 16.0
"""The largest factor that is searched."""
_STEPS = 7
_RIVALS = 4
"""The number of cheaper candidates that are considered, those that miss the limit least."""
LOADS_UP, LOADS_DOWN = (1.25, 1.5, 2.0, 3.0), (0.8, 0.5)
_NAMES = {
    "afr": "annual failure rate",
    "mttf": "mean time to failure",
    "drive_life": "drive life",
    "batch": "share of bad batches",
    "ure": "unreadable sectors",
    "latent": "latent defects",
    "scrub": "time between scrubs",
    "detection": "time to detect",
    "replacement": "time to replace",
    "common": "time between common failures",
    "wrong_drive": "wrong drive pulled",
    "rebuild": "rebuild time",
    "load": "load",
}


@dataclass(frozen=True)
class Turn:
    """The value of an assumption at which another candidate becomes the pick."""

    factor: float
    """The factor of the assumed value."""
    why: str | None
    """The limit that the pick misses there; None if it meets all limits, but so does a cheaper one."""
    then: str | None
    """The pick beyond it, among the candidates that were tried; None if none of them meets the limits."""


@dataclass(frozen=True)
class Figure:
    """The chance of loss in a year for a varied assumption, in percent."""

    value: float
    """The chance, or its upper bound if no loss was observed."""
    low: float
    high: float
    is_told: bool
    """Whether it differs significantly from the pick's: their intervals do not overlap."""

    @classmethod
    def of(cls, span: tuple[float, float], value: float, now: tuple[float, float]) -> Figure:
        """Create it with its own interval and that of the pick."""
        return cls(value, *span, is_told=span[0] > now[1] or span[1] < now[0])


@dataclass(frozen=True)
class Interval:
    """The ends of a given interval, and the chance of loss in a year at each."""

    low: str
    high: str
    loss_percent_low: float | None
    loss_percent_high: float | None


@dataclass(frozen=True)
class Assumption:
    """An assumption, and its effect on the pick's probability of loss."""

    key: str
    value: str
    """The value as given."""
    low: Figure | None
    """The probability of loss in a year at half of it; None if unknown."""
    high: Figure | None
    """The same at twice of it."""
    turns: tuple[Turn, ...]
    interval: Interval | None = None
    """The interval of the failure rate, if one was given."""

    @property
    def name(self) -> str:
        """A description in words."""
        return _NAMES.get(self.key, self.key)

    @property
    def is_told(self) -> bool:
        """Whether half or twice of it has a significant effect."""
        return any(one is not None and one.is_told for one in (self.low, self.high))


def assumptions(
    picked: Candidate, candidates: Sequence[Candidate], asked: Asked, ran: Ran, workers: int | None
) -> list[Assumption]:
    """All assumptions on failures and on the load, those with the largest effect on the probability of loss first."""
    found: list[Assumption] = []
    if asked.knows_failures:
        given = {**asked.failures_of(picked.drive), "rebuild": rebuild_hours(picked) or "1h"}
        for key, text in given.items():
            if key in _NAMES and not (key == "ure" and is_none(text)):
                found.append(_of_failures(key, as_typed(text), picked, candidates, asked))
    if scaled(asked.loads, HIGH) is not None:
        found.append(_of_load(picked, candidates, asked, ran, workers))
    return sorted(found, key=_width, reverse=True)


def _width(one: Assumption) -> tuple[bool, float]:
    """The sort key: significant effects before noise, the widest first."""
    if one.low is None or one.high is None or not one.low.value or not one.high.value:
        return one.is_told, 0.0
    return one.is_told, abs(math.log(one.high.value / one.low.value))


def _of_failures(
    key: str, text: str, picked: Candidate, candidates: Sequence[Candidate], asked: Asked
) -> Assumption:
    def loss(one: Candidate, factor: float) -> float | None:
        return loss_at(one, asked, key, factor)

    def figure(factor: float) -> Figure | None:
        found = year_at(picked, asked, key, factor)
        now = (picked.loss or {})["loss_in_a_year_percent"]
        if found is None:
            return None
        return Figure.of((found["low"], found["high"]), value_of(found), (now["low"], now["high"]))

    turns: list[Turn] = []
    # A longer time to failure is better.
    better = key in {"mttf", "drive_life", "common"} or (key == "latent" and is_law(text))
    if asked.limits.loss_percent is not None:
        turns += list(_turns_up(picked, candidates, asked, loss, better=better))
        turns += list(_turns_down(picked, candidates, asked, loss, better=better))
    value = text if is_law(text) else times(text.partition("(")[0], 1.0, digits=3)
    interval = _interval(text, lambda factor: loss(picked, factor)) if key == "afr" else None
    return Assumption(key, value, figure(LOW), figure(HIGH), tuple(turns), interval)


def as_typed(given: object) -> str:
    """The given value of an assumption, several values separated by commas."""
    return ", ".join(map(str, given)) if isinstance(given, list | tuple) else str(given)


def _interval(text: str, loss: Callable[[float], float | None]) -> Interval | None:
    value, *ends = (share(part, "afr") for part in re.split(r"\(|\.\.|\)", text) if part)
    if not ends:
        return None
    low, high = (f"{100 * end:.3g}%" for end in ends)
    return Interval(low, high, *(loss(end / value) for end in ends))


def loss_at(one: Candidate, asked: Asked, key: str, factor: float) -> float | None:
    """A candidate's probability of loss in a year with an assumption multiplied by a factor; None if that is not
    possible.
    """
    found = year_at(one, asked, key, factor)
    return None if found is None else value_of(found)


def year_at(one: Candidate, asked: Asked, key: str, factor: float) -> dict[str, Any] | None:
    """The same with its interval."""
    try:
        found = loss_of(one, replace(asked, varied=True), rebuild_hours(one) or "1h", {key: factor})
    except InputError:
        return None
    year: dict[str, Any] = found["loss_in_a_year_percent"]
    return year


def value_of(year: Mapping[str, Any]) -> float:
    """A probability, or its upper bound if no loss was observed."""
    return float(year["high"] if year["value"] is None else year["value"])


Loss = Callable[[Candidate, float], float | None]


def _turns_up(
    picked: Candidate, candidates: Sequence[Candidate], asked: Asked, loss: Loss, *, better: bool
) -> Iterator[Turn]:
    """The factor beyond which the pick exceeds the limit of losses."""
    limit = asked.limits.loss_percent or 0.0
    end = 1 / FAR if better else FAR
    worst = loss(picked, end)
    while worst is None and abs(math.log(end)) > 0.1:
        end = math.sqrt(end)
        worst = loss(picked, end)
    if worst is None or worst <= limit:
        return
    factor = _crossing(lambda factor: (loss(picked, factor) or 0.0) > limit, end)
    now = loss_value(picked)
    others = [
        one
        for one in successors(picked, candidates)
        if one.loss and rebuild_hours(one) and loss_value(one) < now
    ]
    then = (one.name for one in others[:_RIVALS] if (loss(one, factor) or math.inf) <= limit)
    yield Turn(factor, "over --max-loss", next(then, None))


def _turns_down(
    picked: Candidate, candidates: Sequence[Candidate], asked: Asked, loss: Loss, *, better: bool
) -> Iterator[Turn]:
    """The factor beyond which a cheaper candidate meets the limit of losses."""
    limit = asked.limits.loss_percent or 0.0
    end = FAR if better else 1 / FAR
    rivals = [
        one
        for one in candidates
        if one.loss and rebuild_hours(one) and {failing.limit for failing in one.failings} == {"loss"}
        if order(one) < order(picked)
    ]
    found = []
    for one in sorted(rivals, key=loss_value)[:_RIVALS]:
        best = loss(one, end)
        if best is not None and best <= limit:
            at = _crossing(lambda factor, own=one: (loss(own, factor) or 0.0) <= limit, end)  # type: ignore[misc]
            found.append(Turn(at, None, one.name))
    if found:
        yield min(found, key=lambda turn: abs(math.log(turn.factor)))


def successors(picked: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The other candidates that meet all limits, the next pick first."""
    return sorted((one for one in candidates if one.holds and one is not picked), key=order)


def _crossing(has_turned: Callable[[float], bool], end: float) -> float:
    """The factor between 1 and `end` from which on a condition holds, to a few percent."""
    near, far = 0.0, math.log(end)
    for _ in range(_STEPS):
        middle = (near + far) / 2
        near, far = (near, middle) if has_turned(math.exp(middle)) else (middle, far)
    return math.exp(far)


def _of_load(
    picked: Candidate, candidates: Sequence[Candidate], asked: Asked, ran: Ran, workers: int | None
) -> Assumption:
    """The pick under other loads; under a smaller load cheaper candidates may meet the limits."""
    losses: dict[float, Figure | None] = {LOW: None, HIGH: None}
    turns: list[Turn] = []
    for factor in LOADS_UP:
        again = _again([picked], asked, factor, ran, workers, whole=factor == HIGH)
        if not again:
            break
        if factor == HIGH:
            losses[factor] = _figure(again[0], picked)
        if not again[0].holds:
            then = _first_that_holds(successors(picked, candidates)[:_RIVALS], asked, factor, ran, workers)
            turns.append(Turn(factor, again[0].failings[0].text, then))
            break
    if asked.knows_failures and losses[HIGH] is None:
        far = _again([picked], asked, HIGH, ran, workers, whole=True)
        losses[HIGH] = _figure(far[0], picked) if far else None
    rivals = [one for one in candidates if one.is_simulated and not one.holds and order_by_cost(one, picked)]
    rivals = sorted(rivals, key=lambda one: one.cost["total"])[:_RIVALS]
    for factor in LOADS_DOWN:
        again = _again([] if _turns_below(turns) else rivals, asked, factor, ran, workers, whole=False)
        if holding := [one for one in again if one.holds]:
            turns.append(Turn(factor, None, min(holding, key=order).name))
    if asked.knows_failures:
        near = _again([picked], asked, LOW, ran, workers, whole=True)
        losses[LOW] = _figure(near[0], picked) if near else None
    return Assumption("load", asked.loads.text(), losses[LOW], losses[HIGH], tuple(turns))


def _first_that_holds(
    others: Sequence[Candidate], asked: Asked, factor: float, ran: Ran, workers: int | None
) -> str | None:
    """The first of these candidates that holds under the load multiplied by a factor; those after it are not run."""
    for other in others:
        again = _again([other], asked, factor, ran, workers, whole=False)
        if again and again[0].holds:
            return again[0].name
    return None


def _figure(again: Candidate, picked: Candidate) -> Figure | None:
    """The probability of loss under another load; its rebuild has its own interval."""
    if again.loss is None or picked.loss is None:
        return None
    return Figure.of(loss_span(again.loss), loss_value(again), loss_span(picked.loss))


def _turns_below(turns: Sequence[Turn]) -> bool:
    return any(turn.factor < 1 for turn in turns)


def order_by_cost(one: Candidate, picked: Candidate) -> bool:
    """Whether it costs less and misses only limits of performance or loss."""
    return one.cost["total"] < picked.cost["total"] and all(
        failing.stage == "simulated" for failing in one.failings
    )


def _again(
    candidates: Sequence[Candidate],
    asked: Asked,
    factor: float,
    ran: Ran,
    workers: int | None,
    *,
    whole: bool,
) -> list[Candidate]:
    """The same candidates under the load multiplied by a factor; empty if the load has no number to multiply.

    `whole`: the rebuild of those too that miss another limit.
    """
    loads = scaled(asked.loads, factor)
    if loads is None or ran.interrupted or not candidates:
        return []
    found = [
        replace(one, chosen=replace(one.chosen, loads=loads), entry=replace(one.entry, states={}, rebuild=None),
                failings=[], loss=None, judged=False)
        for one in candidates
    ]  # fmt: skip
    again = evaluate(found, replace(asked, loads=loads, varied=True), workers, bounded=False, whole=whole)
    ran.add(again)
    return [] if again.interrupted else [one for one in found if one.is_simulated]


def capacity_turn(picked: Candidate, candidates: Sequence[Candidate]) -> Turn:
    """The --capacity above which the pick does not suffice, as a factor of its capacity, and the next pick. Exact."""
    larger = (
        one
        for one in successors(picked, candidates)
        if one.entry.capacity_bytes > picked.entry.capacity_bytes
    )
    then = next(larger, None)
    return Turn(1.0, "it holds no more", then.name if then else None)


@dataclass(frozen=True)
class PriceTurn:
    """The price of a drive at which another candidate becomes cheaper."""

    drive: str
    price: float
    other: str


def price_turns(picked: Candidate, candidates: Sequence[Candidate], asked: Asked) -> list[PriceTurn]:
    """The nearest prices of each drive, above and below, at which another candidate that meets all limits costs less.
    Exact.
    """
    found = []
    holding = [one for one in candidates if one.holds and one is not picked]
    for drive, price in asked.prices.drives.items():
        own, rest = _line(picked, drive, price)
        turns = []
        for one in holding:
            count, other = _line(one, drive, price)
            if count != own:
                at = (rest - other) / (count - own)
                if at > 0 and at != price and (at - price) * (own - count) > 0:
                    turns.append((at, one.name))
        for side in (1, -1):
            if of_side := [turn for turn in turns if (turn[0] - price) * side > 0]:
                at, name = min(of_side, key=lambda turn: abs(turn[0] - price))
                found.append(PriceTurn(drive, at, name))
    return found


def _line(one: Candidate, drive: str, price: float) -> tuple[int, float]:
    """A candidate's cost as a number of these drives and the remaining cost."""
    count = one.level.members + one.spares if one.drive == drive else 0
    return count, one.cost["total"] - count * price
