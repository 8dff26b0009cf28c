"""The firmware's policy from a sweep over queue depth: order, ageing, guard and when it chooses, by simulation.

The rate at each depth counts with 1 %, its 99th percentile with 6 %. An order is taken where it explains the
sweep better
than the start's by more than its additional numbers are worth (Akaike's criterion); which others explain it as
well is told.
Guard (`queue.read_margin`) and scatter trade off: with either, fewer requests arrive in time. The scatter is
what the chain
tells or the start's, the guard is fitted; their correlation, and what remains with either at zero, is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import optimize

from drivelab import _core
from drivelab.errors import RunError, ScenarioError
from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Numbers, Sweep
from drivelab.fit.parameters import Fitted, Parameter, laid_over, number_of
from drivelab.fit.quantities import time_text
from drivelab.fit.tracing import Tell

RATE_ERROR = 0.01
TAIL_ERROR = 0.06
_RUN = {"warmup": "5s", "duration": "100s", "seed": 1}
_LINE = 9
_POLISH = 45
_CORNERS = np.array([[-0.5, 0.4], [0.6, 0.3]])
_NORMAL = 1.645
_BAD = 1e3
_AGES = {"aged-sptf": ("queue.age_weight", 0.006, 1.5), "share-aged-sptf": ("queue.age_share", 1.5, 8.0)}
_BY_TIME = ("sptf", "aged-sptf", "share-aged-sptf")
_ORDERS = ("fcfs", "c-look", "sstf", *_BY_TIME)
_CHOOSES = ("at-media-end", "one-ahead", "after-answer", "at-completion")


@dataclass(frozen=True)
class Candidate:
    """An order with its numbers, and how well it explains the sweep."""

    draft: Draft
    order: str
    point: Mapping[str, float]
    loss: float

    @property
    def criterion(self) -> float:
        """The loss with two for each number."""
        return self.loss + 2 * len(self.point)


@dataclass(frozen=True)
class Policy:
    """What the sweep told."""

    draft: Draft
    fitted: list[Fitted]
    rows: list[dict[str, Any]]
    """Each depth as measured and as simulated."""
    candidates: list[dict[str, Any]]
    guard_and_scatter: dict[str, float | None] = field(default_factory=dict)


class Sweeps:
    """Sweeps, and the same simulated on drafts."""

    def __init__(self, sweeps: Sequence[Sweep], workers: int) -> None:
        """Simulated on so many threads."""
        self.sweeps = sweeps
        self.workers = workers

    def simulated(self, draft: Draft) -> list[list[dict[str, Any]]]:
        """The points of each sweep. Raises ScenarioError, RunError."""
        plans = [draft.plan(_workload(sweep), _RUN) for sweep in self.sweeps]
        found = _core.run(plans, self.workers)
        for entries in found:
            for entry in entries:
                if isinstance(entry, Exception):
                    raise entry
        return found  # type: ignore[return-value]

    def residuals(self, draft: Draft) -> Numbers:
        """Logarithms of simulated over measured, in their errors; of each sweep rates, then percentiles."""
        try:
            points = self.simulated(draft)
        except (ScenarioError, RunError, _core.ScenarioError, _core.RunError):
            return np.array([_BAD])
        found = []
        for sweep, entries in zip(self.sweeps, points, strict=True):
            rates = np.array([entry["iops"] for entry in entries])
            tails = np.array([(entry["latency_ns"]["p99"] or np.nan) / 1e6 for entry in entries])
            found.append(np.log(rates / sweep.iops) / RATE_ERROR)
            told = np.isfinite(sweep.p99) & np.isfinite(tails)
            found.append(np.where(told, np.log(tails / np.where(told, sweep.p99, 1)), 0.0) / TAIL_ERROR)
        return np.concatenate(found)

    def loss(self, draft: Draft) -> float:
        """The sum of the squares, with single points that nothing explains held down (Huber's loss)."""
        size = np.abs(self.residuals(draft))
        return float(np.sum(np.where(size < 4, size**2, 8 * size - 16)))


def _workload(sweep: Sweep) -> dict[str, Any]:
    found: dict[str, Any] = {"rw": sweep.rw, "bs": _iec(sweep.bs), "iodepth": sweep.depth.tolist()}
    if sweep.offset is not None:
        found["offset"] = _iec(sweep.offset)
    if sweep.size is not None:
        found["size"] = _iec(sweep.size)
    return found


def _iec(text: str) -> str:
    """fio's 4k as a scenario writes it."""
    units = {"k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB"}
    return text[:-1] + units[text[-1].lower()] if text[-1:].lower() in units else text


def scaled(draft: Draft, factor: float) -> Draft:
    """The drive with all seeks longer by a factor."""
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
    """All seeks scaled so that the rate at the least depth is right: what a sweep alone tells of the mechanics."""
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
    """The order and its numbers that explain the sweeps best; `doubts` are standard deviations of the mechanics."""
    start = _with_queue(sweeps, start, known)
    if start.get("queue.seek_margin") is not None and "queue.seek_margin" not in known:
        # The guard that is fitted is a time; one that grows with the seek beside it could not be told from it.
        start = start.having({"queue.seek_margin": None})
    before = str(start.get("queue.order", "fcfs"))
    orders = [before] if "queue.order" in known else list(dict.fromkeys([before, *_ORDERS]))
    found = []
    for place, order in enumerate(orders):
        tell(f"order {order}", 0.6 * place / len(orders))
        found.append(_numbers(sweeps, _ordered(start, order), order, known))
    best = min(found, key=lambda one: one.criterion)
    if "queue.chooses" not in known:
        for place, chooses in enumerate(_CHOOSES):
            tell(f"chooses {chooses}", 0.6 + 0.1 * place)
            if best.draft.get("queue.chooses", "at-media-end") != chooses:
                draft = best.draft.having({"queue.chooses": chooses})
                found.append(_numbers(sweeps, draft, best.order, known, best.point))
        best = min(found, key=lambda one: one.criterion)
    best = _polished(sweeps, best, known)
    tell("intervals", 0.9)
    draft = laid_over(best.draft, best.point)
    fitted, correlation = _intervals(sweeps, best, known, doubts or {})
    traded = _traded(sweeps, best, correlation) if best.order in _BY_TIME else {}
    ranked = sorted(found, key=lambda one: one.criterion)
    told = [
        {
            "order": one.order,
            "chooses": one.draft.get("queue.chooses", "at-media-end"),
            "loss": one.loss,
            "as_good": one.criterion - best.criterion < 4,
        }
        for one in ranked
    ]
    return Policy(draft, fitted, rows_of(sweeps, draft), told, traded)


def _with_queue(sweeps: Sweeps, start: Draft, known: Sequence[str]) -> Draft:
    """A drive of which nothing says that it queues gets NCQ where the sweep gains by depth."""
    in_force = start.plan().in_force[0] or {}
    protocol = in_force.get("protocol", "none")
    gain = max(float(sweep.iops[-1] / sweep.iops[0]) for sweep in sweeps.sweeps)
    if protocol == "none" and gain > 1.05 and "queue.protocol" not in known:
        return start.having({"queue.protocol": "ncq", "queue.depth": 32})
    return start


def _ordered(start: Draft, order: str) -> Draft:
    ages = {key: None for key, _, _ in _AGES.values() if start.get(key) is not None}
    return start.having(ages | {"queue.order": order}) if start.get("queue.order") != order else start


def parameters_of(draft: Draft, order: str, known: Sequence[str]) -> list[Parameter]:
    """The numbers of an order."""
    found = []
    if order in _BY_TIME:
        start = number_of(draft, "queue.read_margin")
        found.append(Parameter("queue.read_margin", start, 0.3 + start, 0.0, 2.0))
    if order in _AGES:
        key, usual, most = _AGES[order]
        start = number_of(draft, key, usual)
        found.append(Parameter(key, start, start, 0.0, most, ""))
    return [one for one in found if one.key not in known]


def _numbers(
    sweeps: Sweeps, draft: Draft, order: str, known: Sequence[str], begin: Mapping[str, float] | None = None
) -> Candidate:
    """The best numbers of one order: by turns, each by a coarse look and a line search around its best."""
    parameters = parameters_of(draft, order, known)
    point = {one.key: one.start for one in parameters} | dict(begin or {})
    best = sweeps.loss(laid_over(draft, point))
    for turn in range(2 if len(parameters) > 1 else 1):
        for one in parameters:
            shares = np.array([0.0, 0.02, 0.08, 0.2, 0.45]) * one.high
            tried = [point[one.key], *(shares.tolist() if not turn and begin is None else [])]
            with ThreadPoolExecutor(1) as pool:
                costs = list(
                    pool.map(lambda x, key=one.key: sweeps.loss(laid_over(draft, {**point, key: x})), tried)
                )
            centre = tried[int(np.argmin(costs))]
            reach = max(0.7 * centre, 0.04 * one.high)
            line = optimize.minimize_scalar(
                lambda x, key=one.key: sweeps.loss(laid_over(draft, {**point, key: x})),
                bounds=(max(one.low, centre - reach), min(one.high, centre + reach)),
                method="bounded",
                options={"maxiter": _LINE, "xatol": 0.002 * one.high},
            )
            for value, cost in ((centre, min(costs)), (float(line.x), float(line.fun))):
                if cost < best:
                    best, point[one.key] = cost, value
    return Candidate(draft, order, point, best)


def _polished(sweeps: Sweeps, best: Candidate, known: Sequence[str]) -> Candidate:
    """Guard and ageing trade off along a ridge that turns do not follow: both together."""
    parameters = parameters_of(best.draft, best.order, known)
    if len(parameters) < 2:
        return best
    scale = np.array([max(best.point[one.key], 0.05 * one.high) for one in parameters])
    low, high = (np.array([getattr(one, name) for one in parameters]) / scale for name in ("low", "high"))

    def at(scaled: Numbers) -> dict[str, float]:
        values = np.clip(scaled, low, high) * scale
        return dict(zip((one.key for one in parameters), values.tolist(), strict=True))

    begin = np.array([best.point[one.key] for one in parameters]) / scale
    corners = np.vstack([begin, *(begin + _CORNERS[place] for place in range(2))])
    found = optimize.minimize(
        lambda scaled: sweeps.loss(laid_over(best.draft, at(scaled))),
        begin,
        method="Nelder-Mead",
        options={"maxfev": _POLISH, "initial_simplex": corners, "xatol": 0.01, "fatol": 0.05},
    )
    return Candidate(best.draft, best.order, at(found.x), float(found.fun)) if found.fun < best.loss else best


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
    """With all three figures of a seek curve where one is there."""
    form = ("seek.single", "seek.average", "seek.full")
    if not any(key in point for key in form):
        return dict(point)
    return {key: number_of(draft, key) for key in form} | dict(point)


def _intervals(
    sweeps: Sweeps, best: Candidate, known: Sequence[str], doubts: Mapping[str, float]
) -> tuple[list[Fitted], float | None]:
    """The numbers with their intervals, by the slopes of the residuals; the correlation of guard and scatter."""
    parameters = parameters_of(best.draft, best.order, known)
    if not parameters:
        return [], None
    point = {one.key: best.point[one.key] for one in parameters}
    steps = {one.key: max(0.25 * point[one.key], 0.02 * one.high) for one in parameters}
    rest = sweeps.residuals(laid_over(best.draft, point))
    # What the mechanics leave open counts too: it moves with the policy's numbers, held by its own interval.
    doubted = {key: sd for key, sd in doubts.items() if sd > 0}
    wide_point = {**point, **{key: number_of(best.draft, key) for key in doubted}}
    slopes = _slopes(sweeps, best.draft, wide_point, {**steps, **doubted})
    held = np.array([0.0] * len(point) + [1 / sd**2 for sd in doubted.values()])
    covariance = _covariance(slopes, rest, held)
    found = []
    for place, one in enumerate(parameters):
        half = _NORMAL * float(np.sqrt(covariance[place, place]))
        low, high = max(point[one.key] - half, one.low), min(point[one.key] + half, one.high)
        sure = high - low < 0.8 * (one.high - one.low)
        found.append(Fitted(one.key, point[one.key], low, high, "fitted" if sure else "undecided", one.unit))
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
    """How well the sweep is explained with the guard, or the scatter, at zero and the other one fitted."""
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
