"""The firmware's policy from a sweep over queue depth: order, ageing, guard and time of choice, by simulation.

The rate at each depth has an error of 1 %, its 99th percentile of 6 %. Another order replaces the start's if it
explains the sweep better by more than its additional parameters cost (Akaike's criterion); equally good orders are
reported. Guard (`queue.read_margin`) and scatter trade off: with either, fewer requests are reached in time. The
scatter is that of the chain or the start's, the guard is fitted; their correlation, and the fit with either at zero,
are reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import optimize

from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Numbers, Sweep
from drivelab.fit.parameters import ONE_OF_MANY, Fitted, laid_over, number_of
from drivelab.fit.policy_numbers import AGES, BY_TIME, Candidate, best_numbers, parameters_of
from drivelab.fit.quantities import time_text
from drivelab.fit.sweeping import Sweeps
from drivelab.fit.tracing import Tell

_LINE = 9
_NORMAL = 1.645
_ORDERS = ("fcfs", "c-look", "sstf", *BY_TIME)
_CHOOSES = ("at-media-end", "one-ahead", "after-answer", "at-completion")


@dataclass(frozen=True)
class Policy:
    """The results of the sweep."""

    draft: Draft
    fitted: list[Fitted]
    rows: list[dict[str, Any]]
    """Each depth as measured and as simulated."""
    candidates: list[dict[str, Any]]
    guard_and_scatter: dict[str, float | None] = field(default_factory=dict)
    by_class: str | None = None
    """The class whose firmware explains the sweeps without changes."""


def scaled(draft: Draft, factor: float) -> Draft:
    """The drive with all seek times multiplied by a factor."""
    keys = {"table", "single", "average", "full", "a", "b", "c", "e"}
    values: dict[str, Any] = {}
    for key in sorted(keys):
        value = draft.get(f"seek.{key}")
        if key == "table" and value is not None:
            values["seek.table"] = [[at, time_text(factor * _ms(time))] for at, time in value]
        elif value is not None:
            values[f"seek.{key}"] = time_text(factor * _ms(value))
    if draft.get("seek.limit") is not None:
        values["seek.limit"] = draft.get("seek.limit")
    return draft.having(values)


def _ms(value: object) -> float:
    from drivelab.fit.quantities import time_ms  # noqa: PLC0415 - a short name for this file

    return time_ms(value)


def seek_scale(sweeps: Sweeps, draft: Draft) -> tuple[Draft, float] | None:
    """Scale all seeks so that the rate at the smallest depth matches: the only information of a sweep alone on the
    mechanics.
    """
    sweep = sweeps.sweeps[0]
    one = Sweeps([_first_depth(sweep)], sweeps.workers)

    def off(factor: float) -> float:
        return float(one.residuals(scaled(draft, factor))[0])

    low, high = off(0.4), off(2.5)
    if not low > 0 > high:
        return None
    factor = float(optimize.brentq(off, 0.4, 2.5, xtol=2e-3))
    return scaled(draft, factor), factor


def _first_depth(sweep: Sweep) -> Sweep:
    return Sweep(
        sweep.name,
        sweep.depth[:1],
        sweep.iops[:1],
        sweep.p99[:1],
        sweep.bs,
        sweep.rw,
        sweep.offset,
        sweep.size,
    )


def fit_policy(
    sweeps: Sweeps, start: Draft, known: Sequence[str], tell: Tell, doubts: Mapping[str, float] | None = None
) -> Policy:
    """The order and its parameters that explain the sweeps best; `doubts` are standard deviations of the mechanics."""
    start = _with_queue(sweeps, start, known)
    found = _of_class(sweeps, start, known)
    if start.get("queue.seek_margin") is not None and "queue.seek_margin" not in known:
        # The fitted guard is a time; one that grows with the seek could not be distinguished from it.
        start = start.having({"queue.seek_margin": None})
    before = str(start.get("queue.order", "fcfs"))
    orders = [before] if "queue.order" in known else list(dict.fromkeys([before, *_ORDERS]))
    for place, order in enumerate(orders):
        tell(f"order {order}", 0.6 * place / len(orders))
        found.append(best_numbers(sweeps, _ordered(start, order), order, known))
    best = min((one for one in found if not one.by_class), key=lambda one: one.criterion)
    if "queue.chooses" not in known:
        for place, chooses in enumerate(_CHOOSES):
            tell(f"chooses {chooses}", 0.6 + 0.1 * place)
            if best.draft.get("queue.chooses", "at-media-end") != chooses:
                draft = best.draft.having({"queue.chooses": chooses})
                found.append(best_numbers(sweeps, draft, best.order, known, best.point))
        best = min(found, key=lambda one: one.criterion)
    tell("intervals", 0.9)
    draft = laid_over(best.draft, best.point)
    fitted, correlation = _intervals(sweeps, best, known, doubts or {})
    traded = _traded(sweeps, best, correlation) if best.order in BY_TIME else {}
    ranked = sorted(found, key=lambda one: one.criterion)
    ranking = [
        {
            "order": one.order,
            "chooses": one.chooses,
            "loss": one.loss,
            "as_good": one.criterion - best.criterion < 4,
        }
        for one in ranked
    ]
    by_class = best.order if best.by_class else None
    return Policy(draft, fitted, rows_of(sweeps, draft), ranking, traded, by_class)


def _with_queue(sweeps: Sweeps, start: Draft, known: Sequence[str]) -> Draft:
    """Give a drive without information on queueing NCQ if the sweep gains with depth."""
    in_force = start.plan().in_force[0] or {}
    protocol = in_force.get("protocol", "none")
    gain = max(float(sweep.iops[-1] / sweep.iops[0]) for sweep in sweeps.sweeps)
    if protocol == "none" and gain > 1.05 and "queue.protocol" not in known:
        return start.having({"queue.protocol": "ncq", "queue.depth": 32})
    return start


def _of_class(sweeps: Sweeps, start: Draft, known: Sequence[str]) -> list[Candidate]:
    """Evaluate the firmware of the start's class unchanged, if nothing else specifies the order: no parameter is
    fitted.
    """
    of = next(iter((start.plan().in_force[0] or {}).get("firmware", [])), None)
    if of is None or not of["supplied"] or any(key.startswith("queue.") for key in known):
        return []
    chooses = str(dict(of["supplied"]).get("queue.chooses", "at-media-end"))
    return [Candidate(start, f"class {of['class']}", {}, sweeps.loss(start), chooses, by_class=True)]


def _ordered(start: Draft, order: str) -> Draft:
    ages = {key: None for key, _, _ in AGES.values() if start.get(key) is not None}
    return start.having(ages | {"queue.order": order}) if start.get("queue.order") != order else start


def _slopes(sweeps: Sweeps, draft: Draft, point: Mapping[str, float], steps: Mapping[str, float]) -> Numbers:
    columns = []
    for key, step in steps.items():
        low = max(point[key] - step, 0.0)
        up, down = (
            sweeps.residuals(laid_over(draft, _complete(draft, {**point, key: value})))
            for value in (point[key] + step, low)
        )
        columns.append((up - down) / (point[key] + step - low))
    return np.column_stack(columns)


def _complete(draft: Draft, point: Mapping[str, float]) -> dict[str, float]:
    """Complete the three seek times if one of them is given."""
    form = ("seek.single", "seek.average", "seek.full")
    if not any(key in point for key in form):
        return dict(point)
    return {key: number_of(draft, key) for key in form} | dict(point)


def _intervals(
    sweeps: Sweeps, best: Candidate, known: Sequence[str], doubts: Mapping[str, float]
) -> tuple[list[Fitted], float | None]:
    """The parameters with their intervals, from the slopes of the residuals; the correlation of guard and scatter."""
    parameters = parameters_of(best.draft, best.order, known)
    if not parameters:
        return [], None
    point = {one.key: best.point[one.key] for one in parameters}
    steps = {one.key: max(0.25 * point[one.key], 0.02 * one.high) for one in parameters}
    rest = sweeps.residuals(laid_over(best.draft, point))
    # The uncertainty of the mechanics is included: it varies with the policy's parameters, bounded by its own interval.
    doubted = {key: sd for key, sd in doubts.items() if sd > 0}
    wide_point = {**point, **{key: number_of(best.draft, key) for key in doubted}}
    slopes = _slopes(sweeps, best.draft, wide_point, {**steps, **doubted})
    held = np.array([0.0] * len(point) + [1 / sd**2 for sd in doubted.values()])
    covariance = _covariance(slopes, rest, held)
    found = []
    for place, one in enumerate(parameters):
        half = _NORMAL * float(np.sqrt(covariance[place, place]))
        low, high = max(point[one.key] - half, one.low), min(point[one.key] + half, one.high)
        sure = high - low < 0.5 * (one.high - one.low)
        mark, note = ("fitted", "") if sure else ("undecided", ONE_OF_MANY)
        found.append(Fitted(one.key, point[one.key], low, high, mark, one.unit, note))
    correlation = None
    if "queue.read_margin" in point:
        scatter = max(number_of(best.draft, "settle.scatter"), 0.05)
        with_scatter = {**point, "settle.scatter": scatter}
        both = _slopes(sweeps, best.draft, with_scatter, {**steps, "settle.scatter": 0.5 * scatter})
        wide = _covariance(both, rest)
        at, last = list(point).index("queue.read_margin"), len(point)
        size = float(wide[at, at] * wide[last, last])
        correlation = float(wide[at, last] / np.sqrt(size)) if size > 0 else None
    return found, correlation


def _covariance(slopes: Numbers, rest: Numbers, held: Numbers | None = None) -> Numbers:
    free = max(int((rest != 0).sum()) - slopes.shape[1], 1)
    scale = max(float(rest @ rest) / free, 1.0)
    inside = slopes.T @ slopes / scale
    return np.asarray(np.linalg.pinv(inside if held is None else inside + np.diag(held)))


def _traded(sweeps: Sweeps, best: Candidate, correlation: float | None) -> dict[str, float | None]:
    """The fit of the sweep with the guard, or the scatter, at zero and the other one fitted."""
    draft = laid_over(best.draft, best.point)

    def error(one: Draft) -> float:
        rest = sweeps.residuals(one)
        return float(np.sqrt(np.mean(rest[rest != 0] ** 2))) if (rest != 0).any() else 0.0

    def without(held: str, free: str, most: float) -> tuple[float, float]:
        fixed = draft.having({held: "0ms"})
        line = optimize.minimize_scalar(
            lambda x: sweeps.loss(laid_over(fixed, {free: x})),
            bounds=(0.0, most),
            method="bounded",
            options={"maxiter": _LINE},
        )
        return float(line.x), error(laid_over(fixed, {free: float(line.x)}))

    scatter, no_guard = without("queue.read_margin", "settle.scatter", 0.6)
    guard, no_scatter = without("settle.scatter", "queue.read_margin", 2.0)
    return {
        "correlation": correlation,
        "error": error(draft),
        "error_without_guard": no_guard,
        "scatter_without_guard_ms": scatter,
        "error_without_scatter": no_scatter,
        "guard_without_scatter_ms": guard,
    }


def rows_of(sweeps: Sweeps, draft: Draft) -> list[dict[str, Any]]:
    """Each depth of each sweep: rate and 99th percentile, measured and simulated."""
    found = []
    for sweep, entries in zip(sweeps.sweeps, sweeps.simulated(draft), strict=True):
        for place, entry in enumerate(entries):
            p99 = entry["latency_ns"]["p99"]
            found.append(
                {
                    "sweep": sweep.name,
                    "iodepth": int(sweep.depth[place]),
                    "iops_measured": float(sweep.iops[place]),
                    "iops_simulated": float(entry["iops"]),
                    "iops_error": float(entry["iops"] / sweep.iops[place] - 1),
                    "p99_measured_ms": float(sweep.p99[place]) if np.isfinite(sweep.p99[place]) else None,
                    "p99_simulated_ms": None if p99 is None else p99 / 1e6,
                }
            )
    return found
