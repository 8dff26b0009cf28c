"""The firmware's policy from a sweep over queue depth: order, ageing, guard and time of choice, by simulation.

The rate at each depth has an error of 1 %, its 99th percentile of 6 %. The rules are those that predict best the depths
that were left out, each in turn (leave_one_out.py); those that do as well within the errors are reported. A guard is a
time or a share of the seek. Guard and scatter trade off: with either, fewer requests are reached in time. The scatter
is that of the chain or the start's, the guard is fitted; their correlation, and the fit with either at zero, are
reported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import optimize

from drivelab.fit.draft import Draft
from drivelab.fit.fitted import Fitted, judged
from drivelab.fit.inputs import Numbers, Sweep
from drivelab.fit.parameters import laid_over, number_of
from drivelab.fit.policy_numbers import (
    AGES,
    BY_TIME,
    MARGINS,
    SEEK_MARGIN,
    SHARE,
    TIME,
    Candidate,
    best_numbers,
    guards_of,
    parameters_of,
    unfitted,
)
from drivelab.fit.quantities import time_ms, time_text
from drivelab.fit.sweeping import Sweeps
from drivelab.fit.tracing import Tell

_LINE = 9
_NORMAL = 1.645
_ORDERS = ("fcfs", "c-look", "sstf", *BY_TIME)
_SHARED = 2
"""So many orders are tried with the other guard."""
_FAR_OFF, _FAR_OFF_LEAST = 4.0, 20.0
_LEAST_BEHIND = 2.0
"""A difference of held-out losses that decides nothing."""
_RANGES = {"queue.read_margin": 2.0, "queue.write_margin": 2.0}
"""Guards in ms are known if their interval is less than half of this wide."""
_CHOOSES = ("at-media-end", "one-ahead", "after-answer", "at-completion")


@dataclass(frozen=True)
class Policy:
    """The results of the sweep."""

    draft: Draft
    fitted: list[Fitted]
    candidates: list[dict[str, Any]]
    guard_and_scatter: dict[str, float | None] = field(default_factory=dict)
    by_class: str | None = None
    """The class whose firmware explains the sweeps without changes."""
    form: str | None = None
    """The form of the seek curve that the sweeps decide."""


def scaled(draft: Draft, factor: float) -> Draft:
    """The drive with all seek times multiplied by a factor."""
    keys = {"table", "single", "average", "full", "a", "b", "c", "e"}
    values: dict[str, Any] = {}
    for key in sorted(keys):
        value = draft.get(f"seek.{key}")
        if key == "table" and value is not None:
            values["seek.table"] = [[at, time_text(factor * time_ms(time))] for at, time in value]
        elif value is not None:
            values[f"seek.{key}"] = time_text(factor * time_ms(value))
    if draft.get("seek.limit") is not None:
        values["seek.limit"] = draft.get("seek.limit")
    return draft.having(values)


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
    sweeps: Sweeps,
    start: Draft,
    known: Sequence[str],
    tell: Tell,
    doubts: Mapping[str, float] | None = None,
    other: Draft | None = None,
) -> Policy:
    """The firmware that predicts the depths best that it was not fitted to; `doubts` are standard deviations of the
    mechanics, and `other` is the drive with the other form of the seek curve, where the sweep may decide that.
    """
    start = _with_queue(sweeps, start, known)
    found = _candidates(sweeps, start, known, tell)
    best = min(found, key=lambda one: one.held_out.loss)
    # No number of a class is fitted: it stays if no order is better beyond the errors.
    best = next((one for one in found if one.by_class and _is_as_good(one, best)), best)
    form = None
    if other is not None:
        best, form = _with_form(sweeps, best, other, known)
        found = [*found, best]
    tell("intervals", 0.9)
    draft = laid_over(best.draft, best.point)
    fitted, correlation = _intervals(sweeps, best, known, doubts or {})
    traded = _traded(sweeps, best, correlation) if best.guard else {}
    others = sorted((one for one in found if one is not best), key=lambda one: one.held_out.loss)
    ranking = [
        {
            "order": one.order,
            "chooses": one.chooses,
            "guard": one.guard,
            "loss": one.loss,
            "held_out_loss": one.held_out.loss,
            "held_out_error": one.held_out.error,
            "as_good": one is best or _is_as_good(one, best),
        }
        for one in (best, *others)
    ]
    by_class = best.order if best.by_class else None
    return Policy(draft, fitted, ranking, traded, by_class, form)


def _with_form(
    sweeps: Sweeps, best: Candidate, other: Draft, known: Sequence[str]
) -> tuple[Candidate, str | None]:
    """The same rules on the other form of the seek curve if they predict better beyond the errors, and the form that is
    decided.
    """
    draft = other.having({key: best.draft.get(key) for key in best.draft.keys_of("queue.")})
    if best.by_class:
        tried = unfitted(sweeps, draft, best.order, None, by_class=True)
    else:
        tried = best_numbers(sweeps, draft, best.order, known, best.guard, best.point)
    if not _is_as_good(best, tried):
        return tried, str(other.get("seek.form"))
    return best, None if _is_as_good(tried, best) else str(best.draft.get("seek.form"))


def _candidates(sweeps: Sweeps, start: Draft, known: Sequence[str], tell: Tell) -> list[Candidate]:
    """The class, all orders, the best of them with a guard in shares of the seek, and other times of choice."""
    found = _of_class(sweeps, start, known)
    before = str(start.get("queue.order", "fcfs"))
    orders = [before] if "queue.order" in known else list(dict.fromkeys([before, *_ORDERS]))
    ordered = []
    for place, order in enumerate(orders):
        tell(f"order {order}", 0.4 * place / len(orders))
        guard = guards_of(order, known)[0]
        ordered.append(best_numbers(sweeps, _ordered(start, order), order, known, guard))
    near = [one for one in sorted(ordered, key=lambda one: one.loss) if one.guard == TIME][:_SHARED]
    for one in near:
        if SHARE in guards_of(one.order, known) and one.loss <= _FAR_OFF * near[0].loss + _FAR_OFF_LEAST:
            tell(f"guard of {one.order}", 0.4)
            ordered.append(best_numbers(sweeps, _ordered(start, one.order), one.order, known, SHARE))
    best = min(ordered, key=lambda one: one.held_out.loss)
    if "queue.chooses" not in known:
        for place, chooses in enumerate(_CHOOSES):
            tell(f"chooses {chooses}", 0.6 + 0.1 * place)
            if best.chooses != chooses:
                draft = best.draft.having({"queue.chooses": chooses})
                ordered.append(best_numbers(sweeps, draft, best.order, known, best.guard, best.point))
    return found + ordered


def _is_as_good(one: Candidate, best: Candidate) -> bool:
    """Whether the held-out deviations of one are no larger than those of the best, within their standard error."""
    behind, error = one.held_out.behind(best.held_out)
    return behind <= max(error, _LEAST_BEHIND)


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
    return [unfitted(sweeps, start, f"class {of['class']}", None, by_class=True)]


def _ordered(start: Draft, order: str) -> Draft:
    ages = {key: None for key, _, _ in AGES.values() if start.get(key) is not None}
    return start.having(ages | {"queue.order": order}) if start.get("queue.order") != order else start


def _slopes(sweeps: Sweeps, draft: Draft, point: Mapping[str, float], steps: Mapping[str, float]) -> Numbers:
    columns = []
    for key, step in steps.items():
        low = max(point[key] - step, 0.0)
        high = min(point[key] + step, 1.0) if key == SEEK_MARGIN else point[key] + step
        up, down = (
            sweeps.residuals(laid_over(draft, _complete(draft, {**point, key: value})))
            for value in (high, low)
        )
        columns.append((up - down) / (high - low))
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
    parameters = parameters_of(sweeps, best.draft, best.order, best.guard, known)
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
        sure = high - low < 0.5 * min(one.high - one.low, _RANGES.get(one.key, math.inf))
        found.append(judged(one, point[one.key], low, high, sure=sure))
    correlation = None
    guards = [key for key in point if key in MARGINS]
    if guards:
        scatter = max(number_of(best.draft, "settle.scatter"), 0.05)
        with_scatter = {**point, "settle.scatter": scatter}
        both = _slopes(sweeps, best.draft, with_scatter, {**steps, "settle.scatter": 0.5 * scatter})
        wide = _covariance(both, rest)
        at, last = list(point).index(guards[0]), len(point)
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

    def without(held: Sequence[str], free: Sequence[str], most: float) -> tuple[float, float]:
        fixed = draft.having({key: 0 if key == SEEK_MARGIN else "0ms" for key in held})

        def at(x: float) -> Draft:
            return laid_over(fixed, dict.fromkeys(free, x))

        line = optimize.minimize_scalar(
            lambda x: sweeps.loss(at(x)), bounds=(0.0, most), method="bounded", options={"maxiter": _LINE}
        )
        return float(line.x), error(at(float(line.x)))

    guards = [key for key in best.point if key in MARGINS]
    if not guards:
        return {}
    scatter, no_guard = without(guards, ["settle.scatter"], 0.6)
    most = 1.0 if best.guard == SHARE else 2.0 + 2 * best.point[guards[0]]
    guard, no_scatter = without(["settle.scatter"], guards, most)
    return {
        "correlation": correlation,
        "error": error(draft),
        "error_without_guard": no_guard,
        "scatter_without_guard_ms": scatter,
        "error_without_scatter": no_scatter,
        "guard_without_scatter_share" if best.guard == SHARE else "guard_without_scatter_ms": guard,
    }


def rows_of(sweeps: Sweeps, draft: Draft, **run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each depth of each sweep: rate and 99th percentile, measured and simulated."""
    found = []
    for sweep, entries in zip(sweeps.sweeps, sweeps.simulated(draft, **run), strict=True):
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
