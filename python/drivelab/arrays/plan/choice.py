"""The pick, the Pareto front of the candidates, and, if none meets all limits, the binding limits and the nearest
candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.arrays.plan.evaluate import loss_value
from drivelab.arrays.plan.grid import Asked, Candidate
from drivelab.arrays.simulation import loads as under

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
    """The cheapest candidate that meets all limits; at equal prices the one with the fewest losses, then the fastest.
    None if there is none.
    """
    return min((one for one in candidates if one.holds), key=order, default=None)


def order(one: Candidate) -> tuple[float, float, float]:
    """The order by price, probability of loss, and latency."""
    figures = one.entry.states["healthy"][under.LOAD]
    return (
        round(one.cost["total"], 6),
        # Equal probabilities differ by rounding.
        float(f"{loss_value(one):.9g}") if one.loss else 0.0,
        figures["latency_ns"]["mean"] or 0.0,
    )


def front(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that no other dominates in price, latency (of an open load) or IOPS, and probability of loss."""
    known = [one for one in candidates if one.holds]
    scores = [score(one) for one in known]
    return [
        one for one, own in zip(known, scores, strict=True) if not any(_beats(other, own) for other in scores)
    ]


def score(one: Candidate) -> tuple[float, float, float]:
    """Price, speed and probability of loss: less is better."""
    figures = one.entry.states["healthy"][under.LOAD]
    is_open = one.chosen.loads.rate_iops is not None or one.chosen.loads.rate is not None
    speed = figures["latency_ns"]["mean"] or 0.0 if is_open else -figures["iops"]
    return one.cost["total"], speed, loss_value(one) if one.loss else 0.0


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Binding:
    """A binding limit."""

    limit: str
    nearest: Candidate
    """Of the candidates that meet all other limits the one that misses this one least; of all candidates, if none meets
    the others.
    """
    alone: bool
    """Whether a candidate would meet all limits without this one."""
    is_loss_asked: bool = False

    def line(self) -> str:
        """A description in words."""
        text, option = self._missed(), OPTIONS[self.limit]
        if not self.alone:
            return f"{option} binds, and not alone: nearest is {self.nearest.name}; {text}"
        # During a load that it cannot sustain nothing is rebuilt.
        unknown = ""
        if self.limit == "load" and self.is_loss_asked and self.nearest.loss is None:
            unknown = ", as far as is known without its chance of loss"
        return f"{option} binds: without it {self.nearest.name} holds{unknown}; {text}"

    def _missed(self) -> str:
        return "; ".join(one.text for one in self.nearest.failings if one.limit == self.limit)


def lines(found: Sequence[Binding]) -> list[str]:
    """A line for each limit that binds alone; one line for limits that bind together."""
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
    """Each limit that alone excludes all candidates; if there is none, the limits of the candidate that misses the
    fewest, by the least.
    """
    possible = [one for one in candidates if one.entry.reason is None]
    if not possible:
        return []
    found = []
    for limit in LIMITS:
        others = [one for one in possible if {failing.limit for failing in one.failings} == {limit}]
        known = [one for one in others if one.is_simulated or limit in {"load", "latency", "iops"}]
        if known:
            nearest = min(known, key=lambda one: miss(one, limit, asked))
            is_loss_asked = asked.limits.loss_percent is not None
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
    """The factor by which a candidate misses a limit; price breaks ties."""
    limits = asked.limits
    by: Mapping[str, Any] = {
        "capacity": lambda: limits.capacity_bytes / max(one.entry.capacity_bytes, 1),
        "budget": lambda: one.cost["total"] / (limits.cost or 1),
        "states": lambda: 1.0,
        "load": lambda: _load_miss(one, asked),
        "latency": lambda: _latency_miss(one, asked),
        "iops": lambda: (limits.iops or 0) / max(_iops(one, asked), 1e-9),
        "loss": lambda: loss_value(one) / (limits.loss_percent or 1) if one.loss else float("inf"),
    }
    return float(by[limit]())


def _iops(one: Candidate, asked: Asked) -> float:
    """The IOPS of the worst state in which limits apply."""
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
