"""The pick, the front of what is worth its price, and where nothing holds: which limit binds, and what is nearest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.levels import loads as under
from drivelab.plan.evaluate import loss_value
from drivelab.plan.grid import Asked, Candidate

LIMITS = ("capacity", "budget", "states", "load", "latency", "iops", "loss")
OPTIONS = {
    "capacity": "--capacity",
    "budget": "--budget",
    "states": "--states",
    "load": "the load",
    "latency": "--max-latency",
    "iops": "--min-iops",
    "loss": "--max-loss",
}


def pick(candidates: Sequence[Candidate]) -> Candidate | None:
    """The cheapest that holds; of equal prices the one that loses least, then the fastest. None where nothing holds."""
    return min((one for one in candidates if one.holds), key=order, default=None)


def order(one: Candidate) -> tuple[float, float, float]:
    """By price, chance of loss, and latency."""
    figures = one.entry.states["healthy"][under.LOAD]
    return (
        round(one.cost["total"], 6),
        # Chances that are the same differ by rounding.
        float(f"{loss_value(one):.9g}") if one.loss else 0.0,
        figures["latency_ns"]["mean"] or 0.0,
    )


def front(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that no other one beats in price, latency (of an open load) or IOPS, and chance of loss, all at once."""
    known = [one for one in candidates if one.holds]
    scores = [score(one) for one in known]
    return [
        one for one, own in zip(known, scores, strict=True) if not any(_beats(other, own) for other in scores)
    ]


def score(one: Candidate) -> tuple[float, float, float]:
    """Price, speed and chance of loss: the less the better."""
    figures = one.entry.states["healthy"][under.LOAD]
    is_open = one.chosen.loads.rate_iops is not None or one.chosen.loads.rate is not None
    speed = figures["latency_ns"]["mean"] or 0.0 if is_open else -figures["iops"]
    return one.cost["total"], speed, loss_value(one) if one.loss else 0.0


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Binding:
    """A limit that stands in the way."""

    limit: str
    nearest: Candidate
    """Of those that hold everything else the one that misses it least; of all, where nothing else holds."""
    alone: bool
    """Whether without it something would hold."""
    is_loss_asked: bool = False

    def line(self) -> str:
        """In words."""
        text, option = self._missed(), OPTIONS[self.limit]
        if not self.alone:
            return f"{option} binds, and not alone: nearest is {self.nearest.name}; {text}"
        # Beside a load that it does not carry nothing is rebuilt.
        unknown = ""
        if self.limit == "load" and self.is_loss_asked and self.nearest.loss is None:
            unknown = ", as far as is known without its chance of loss"
        return f"{option} binds: without it {self.nearest.name} holds{unknown}; {text}"

    def _missed(self) -> str:
        return "; ".join(one.text for one in self.nearest.failings if one.limit == self.limit)


def lines(found: Sequence[Binding]) -> list[str]:
    """Each limit that binds alone in a line; those that bind together in one."""
    together = [one for one in found if not one.alone]
    if not together:
        return [one.line() for one in found]
    nearest = together[0].nearest
    options = [OPTIONS[one.limit] for one in together]
    names = (
        f"{', '.join(options[:-1])} and {options[-1]} bind together"
        if len(options) > 1
        else f"{options[0]} binds"
    )
    missed = "; ".join(one.text for limit in LIMITS for one in nearest.failings if one.limit == limit)
    return [f"{names}: nearest is {nearest.name}; {missed}"]


def bindings(candidates: Sequence[Candidate], asked: Asked) -> list[Binding]:
    """Each limit that alone stands in the way; where none does, the candidate that misses the fewest, by the least."""
    possible = [one for one in candidates if one.entry.reason is None]
    if not possible:
        return []
    found = []
    for limit in LIMITS:
        others = [one for one in possible if {failing.limit for failing in one.failings} == {limit}]
        known = [one for one in others if one.is_simulated or limit in {"load", "latency", "iops"}]
        if known:
            nearest = min(known, key=lambda one: miss(one, limit, asked))
            is_loss_asked = asked.limits.loss_a_year is not None
            found.append(Binding(limit, nearest, alone=True, is_loss_asked=is_loss_asked))
    if found:
        return found
    nearest = min(possible, key=lambda one: _misses(one, asked))
    return [Binding(limit, nearest, alone=False) for limit in LIMITS if _fails(nearest, limit)]


def _misses(one: Candidate, asked: Asked) -> tuple[int, float]:
    limits = {failing.limit for failing in one.failings}
    return len(limits), max(miss(one, limit, asked) for limit in limits)


def _fails(one: Candidate, limit: str) -> bool:
    return any(failing.limit == limit for failing in one.failings)


def miss(one: Candidate, limit: str, asked: Asked) -> float:
    """How many times over or under a limit a candidate is; price decides between equals."""
    limits = asked.limits
    by: Mapping[str, Any] = {
        "capacity": lambda: limits.capacity_bytes / max(one.entry.capacity_bytes, 1),
        "budget": lambda: one.cost["total"] / (limits.cost or 1),
        "states": lambda: 1.0,
        "load": lambda: _load_miss(one, asked),
        "latency": lambda: _latency_miss(one, asked),
        "iops": lambda: (limits.iops or 0) / max(_iops(one, asked), 1e-9),
        "loss": lambda: loss_value(one) / (limits.loss_a_year or 1) if one.loss else float("inf"),
    }
    return float(by[limit]())


def _iops(one: Candidate, asked: Asked) -> float:
    """In the state that has least, of those in which limits hold."""
    states = [one.entry.states.get(state, {}).get(under.LOAD) or {} for state in asked.limits.states]
    return min((float(figures.get("iops") or 0.0) for figures in states), default=0.0)


def _load_miss(one: Candidate, asked: Asked) -> float:
    rate = one.chosen.loads.rate
    return (rate or 1.0) / max(_iops(one, asked), 1e-9)


def _latency_miss(one: Candidate, asked: Asked) -> float:
    ratios = [0.0]
    for state in asked.limits.states:
        figures = one.entry.states.get(state, {}).get(under.LOAD)
        for name, most in asked.limits.latencies_ns.items():
            found = figures["latency_ns"][name] if figures else None
            ratios.append(float("inf") if found is None else found / most)
    return max(ratios)
