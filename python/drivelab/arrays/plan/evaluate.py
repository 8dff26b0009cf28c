"""The evaluation of the candidates: loads and rebuilds are simulated in parallel, losses come from the package
`durability`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from drivelab.arrays.plan.bounds import hold_to_loss, rule_out
from drivelab.arrays.plan.grid import LAID_OUT, Asked, Candidate, milliseconds
from drivelab.arrays.plan.loss import loss_of
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation.measure import Ran, Wanted, measure
from drivelab.arrays.simulation.planning import laid_out
from drivelab.arrays.simulation.rebuild import FINE, hours_with_interval, way_of
from drivelab.report.chances import figure
from drivelab.runs.simulation import default_workers

_WORDS = {"healthy": "", "degraded": " with a drive missing", "rebuilding": " while it is rebuilt"}
Progress = Callable[[float], object]
"""Called with the completed share."""
_LOADS_SHARE, _REBUILDS_SHARE = 0.2, 0.9


def evaluate(
    candidates: Sequence[Candidate],
    asked: Asked,
    workers: int | None = None,
    progress: Progress | None = None,
    *,
    bounded: bool = True,
    whole: bool | None = None,
) -> Ran:
    """Exclude candidates by bounds, simulate the others, and record the limits that each misses.

    Without bounds the load of every candidate that can be is simulated. `whole` says whether rebuilds and losses are
    found for those too that miss another limit; by default where there are no bounds: brute force.
    """
    ran = Ran()
    left = [one for one in candidates if one.entry.reason is None]
    if bounded:
        rule_out(left, asked)
        left = [one for one in left if not one.failings]
    for one in left:
        one.failings = [failing for failing in one.failings if failing.limit in LAID_OUT]
    simulate_loads([one for one in left if not one.is_simulated], ran, workers, progress)
    left = [one for one in left if one.is_simulated]
    for one in left:
        judge_load(one, asked)
    if bounded if whole is None else not whole:
        left = [one for one in left if not one.failings]
    # If queues already grow without bound, a rebuild tells nothing.
    carrying = [one for one in left if not any(failing.limit == "load" for failing in one.failings)]
    simulate_rebuilds([one for one in carrying if one.entry.rebuild is None], ran, workers, progress)
    if not ran.interrupted:
        _judge_losses(left, asked, ran, workers, progress)
        _judge_finer(left, asked, ran, workers)
    return ran


def _judge_finer(left: Sequence[Candidate], asked: Asked, ran: Ran, workers: int | None) -> None:
    """Where the limit of losses lies within the interval that the rebuild's error leaves, simulate it for longer, and
    judge again.
    """
    limit = asked.limits.loss_percent
    if limit is None or asked.varied or FINE.error >= asked.precision.error:
        return
    wanted = {
        one.name: again for one in left if is_undecided(one, limit) if (again := _finer(one)) is not None
    }
    if not wanted or ran.interrupted:
        return
    ran.add(measure(list(wanted.values()), workers))
    open_ones = [one for one in left if one.name in wanted]
    for one in open_ones:
        one.failings = [failing for failing in one.failings if failing.limit != "loss"]
    if not ran.interrupted:
        _judge_losses(open_ones, asked, ran, workers, None)


def _finer(one: Candidate) -> Wanted | None:
    """Its rebuild for longer; None if that would not make it better known."""
    found = one.entry.rebuild
    if found is None:
        return None
    chosen = replace(one.chosen, precision=FINE)
    return Wanted(chosen, one.entry, "rebuilding", under.REBUILD, way_of(found)).again(found)


def is_undecided(one: Candidate, limit: float) -> bool:
    """Whether a better known rebuild could turn the verdict on the chance of loss."""
    if one.loss is None or rebuild_hours(one) is None:
        return False
    low, high = loss_span(one.loss)
    return low <= limit <= high


def _judge_losses(
    left: Sequence[Candidate], asked: Asked, ran: Ran, workers: int | None, progress: Progress | None
) -> None:
    """Rebuilds and losses, several candidates in parallel: the Rust code of `durability` runs without the GIL."""
    for one in left:
        judge_rebuild(one)
    with ThreadPoolExecutor(workers or default_workers()) as pool:
        try:
            for place, one in enumerate(pool.map(partial(judge_loss, asked=asked), left)):
                one.judged = True
                if progress is not None:
                    progress(_REBUILDS_SHARE + (1 - _REBUILDS_SHARE) * (place + 1) / len(left))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            ran.interrupted = True


def simulate_loads(
    left: Sequence[Candidate], ran: Ran, workers: int | None = None, progress: Progress | None = None
) -> None:
    """Simulate the load in every state."""
    for one in left:
        one.entry = laid_out(replace(one.chosen, levels=[one.level]))[0][0]
    wanted = _wanted(left, under.LOAD)
    if wanted:
        ran.add(measure(wanted, workers, _shared(progress, 0.0, _LOADS_SHARE, len(wanted))))


def simulate_rebuilds(
    left: Sequence[Candidate], ran: Ran, workers: int | None = None, progress: Progress | None = None
) -> None:
    """Simulate the rebuild during the load."""
    wanted = _wanted(left, under.REBUILD)
    if wanted and not ran.interrupted:
        points = sum(len(one.entry.plans[one.state, one.load]) for one in wanted)
        ran.add(measure(wanted, workers, _shared(progress, _LOADS_SHARE, _REBUILDS_SHARE, points)))


def _wanted(left: Iterable[Candidate], load: str) -> list[Wanted]:
    return [Wanted(one.chosen, one.entry, *at) for one in left for at in one.entry.plans if at[1] == load]


def _shared(progress: Progress | None, begin: float, end: float, points: int) -> Progress | None:
    if progress is None or not points:
        return None
    return lambda done: progress(begin + (end - begin) * done / points)


def judge_load(one: Candidate, asked: Asked) -> None:
    """Check the simulated load against the limits."""
    limits, loads = asked.limits, one.chosen.loads
    for state in dict.fromkeys(["healthy", *limits.states]):
        figures = one.entry.states.get(state, {}).get(under.LOAD)
        if figures is None:
            if state != "healthy":
                one.fails("states", f"loses data{_WORDS[state]}", "rule")
            continue
        if loads.keeps_up(figures) is False:
            text = f"does {figures['iops']:,.4g} of {loads.rate:,.4g} IOPS{_WORDS[state]}"
            one.fails("load", text, "simulated")
        if state in limits.states:
            _judge_figures(one, figures, asked, _WORDS[state])


def _judge_figures(one: Candidate, figures: Mapping[str, Any], asked: Asked, where: str) -> None:
    limits = asked.limits
    for name, most in limits.latencies_ns.items():
        found = figures["latency_ns"][name]
        if found is None or found > most:
            text = "unknown, for too few requests finished" if found is None else milliseconds(found)
            one.fails("latency", f"{name.replace('_', '.')} {text}{where}", "simulated")
    if limits.iops is not None and figures["iops"] < limits.iops:
        one.fails("iops", f"{figures['iops']:,.4g} IOPS{where}", "simulated")


def judge_rebuild(one: Candidate) -> None:
    """Exclude an array whose rebuild does not end, or during which queues grow without bound."""
    rebuilt = one.entry.rebuild
    if rebuilt is None:
        return
    if rebuilt["duration_ns"] is None:
        one.fails("load", "hosts leave nothing to a rebuild", "simulated")
    elif not rebuilt["kept_up"]:
        one.fails("load", "requests wait longer and longer while it is rebuilt", "simulated")


def judge_loss(one: Candidate, asked: Asked) -> Candidate:
    """Compute a candidate's probabilities of loss with its own rebuild, and check them against the limit. Returns the
    candidate.
    """
    hours = rebuild_hours(one)
    if not asked.knows_failures:
        return one
    if hours is None and not one.entry.without("rebuilding"):
        # It is not shorter than the closed form's bound.
        if asked.limits.loss_percent is not None:
            hold_to_loss(one, asked)
        return one
    one.loss = loss_of(one, asked, hours)
    limit = asked.limits.loss_percent
    if limit is not None and loss_value(one) > limit:
        is_bound = one.loss["loss_in_a_year_percent"]["value"] is None
        text = f"{'not known to be below ' if is_bound else ''}{figure(loss_value(one))} % a year"
        one.fails("loss", text, "simulated")
    return one


def rebuild_hours(one: Candidate) -> str | None:
    """The rebuild in the notation of the package `durability`; None if nothing is rebuilt, or it is unknown."""
    rebuilt = one.entry.rebuild
    if rebuilt is None or rebuilt["duration_ns"] is None or rebuilt["relative_error"] is None:
        return None
    return hours_with_interval(rebuilt)


def loss_value(one: Candidate) -> float:
    """The chance of loss in a year in percent, or its upper bound if no loss was observed."""
    year = (one.loss or {})["loss_in_a_year_percent"]
    return float(year["high"] if year["value"] is None else year["value"])


def loss_span(loss: Mapping[str, Any]) -> tuple[float, float]:
    """The interval of the chance in a year in percent, including the interval of the rebuild."""
    year, over = loss["loss_in_a_year_percent"], loss["loss_in_a_year_over_rebuilds_percent"]
    parts = [year, over] if over else [year]
    return min(part["low"] for part in parts), max(part["high"] for part in parts)
