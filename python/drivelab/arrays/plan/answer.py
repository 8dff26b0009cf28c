"""The output of a plan for people and programs: a few lines, a table, rows, JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from drivelab.arrays.levels import volatile
from drivelab.arrays.plan import choice, ranges, turns
from drivelab.arrays.plan.choice import front
from drivelab.arrays.plan.evaluate import loss_span
from drivelab.arrays.plan.grid import Candidate, milliseconds, money, terabytes
from drivelab.arrays.plan.sensitivity import Figure
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation.rebuild import FINE
from drivelab.report.chances import percent_figure, percent_text, span_text
from drivelab.report.plural import counted
from drivelab.report.table import SCREEN, Cell, Table
from drivelab.scenarios.firmware import shares_note

if TYPE_CHECKING:
    from drivelab.arrays.plan.planned import Plan

NONE = "-"
_MS, _HOUR_NS = 1e6, 3600e9
_NUMBERS = {1: "one drive", 2: "two drives", 3: "three drives"}
_WORDS = {"degraded": "with a drive missing", "rebuilding": "while it is rebuilt"}


def lines(found: Plan) -> list[str]:
    """The answer."""
    if found.pick is None:
        return _nothing(found)
    return [
        _pick(found, found.pick),
        f"gives: {_gives(found, found.pick)}",
        f"costs: {_costs(found, found.pick)}",
        f"survives: {_survives(found, found.pick)}",
        *_assumes(found),
        f"would change the pick: {turns.changes(found)}",
    ]


def _nothing(found: Plan) -> list[str]:
    count = len(found.candidates)
    if found.ran.interrupted:
        known = sum(one.judged or bool(one.failings) for one in found.candidates)
        return [f"no pick: interrupted with {known} of {counted(count, 'candidate')} known"]
    first = f"nothing holds, of {counted(count, 'candidate')}"
    return [first, *choice.lines(found.bindings), *_assumes(found)]


def _assumes(found: Plan) -> list[str]:
    """The assumptions that nobody gave and that move the figures most."""
    drive = found.pick.drive if found.pick else found.asked.drives[0]
    sectors = found.asked.unreadable.get(drive)
    parts = [found.asked.loads.arrivals(), sectors and sectors.text()]
    return [f"assumes: {'; '.join(given)}"] if (given := [part for part in parts if part]) else []


def _pick(found: Plan, one: Candidate) -> str:
    holding = sum(other.holds for other in found.candidates)
    early = f"; {volatile.TEXT}" if found.writes_end_early() else ""
    among = f"the cheapest of {holding} that hold" if holding > 1 else "the only one that holds"
    return (
        f"pick: {one.name}, {terabytes(one.entry.capacity_bytes)} usable: {among}, of "
        f"{counted(len(found.candidates), 'candidate')}{early}"
    )


def _names(found: Plan) -> list[str]:
    """The latencies to report: those that have a limit, otherwise mean and p99."""
    return list(found.asked.limits.latencies_ns) or ["mean", "p99"]


def _latencies(figures: Mapping[str, Any], names: list[str], *, spans: bool) -> str:
    parts = []
    for name in names:
        value, span = figures["latency_ns"][name], figures["latency_interval_ns"].get(name)
        text = "unknown" if value is None else milliseconds(value)
        if spans and span:
            text += f" ({span[0] / _MS:.3g} to {span[1] / _MS:.3g})"
        parts.append(f"{name.replace('_', '.')} {text}")
    return ", ".join(parts)


def _gives(found: Plan, one: Candidate) -> str:
    figures = one.figures()
    assert figures is not None  # noqa: S101 - the pick is simulated
    error = figures["iops_relative_error"]
    iops = f"{figures['iops']:,.4g} IOPS" + (f" ± {error:.1%}" if error else "")
    if "iops_low" in figures:
        iops += f" (range {figures['iops_low']:,.4g} to {figures['iops_high']:,.4g})"
    names = _names(found)
    parts = [f"{_latencies(figures, names, spans=True)}, {iops}"]
    for state, words in _WORDS.items():
        if others := one.figures(state):
            rate = "" if one.chosen.loads.rate else f", {others['iops']:,.4g} IOPS"
            parts.append(f"{words} {_latencies(others, names, spans=True)}{rate}")
    return "; ".join(parts)


def _costs(found: Plan, one: Candidate) -> str:
    prices = found.asked.prices
    drives = one.level.members + one.spares
    parts = [f"{counted(drives, 'drive')} {money(one.cost['drives'], prices.currency)}"]
    if one.controller is not None:
        parts.append(f"controller {money(one.cost['controller'], prices.currency)}")
    if one.cost["power"]:
        life = counted(prices.life_hours / 8760, "year", form="g")
        parts.append(f"power of {life} {money(one.cost['power'], prices.currency)}")
    each = one.cost["total"] / (one.entry.capacity_bytes / 1e12)
    total = money(one.cost["total"], prices.currency)
    return f"{total} ({', '.join(parts)}), {money(each, prices.currency)} for a usable TB; exact"


def _survives(found: Plan, one: Candidate) -> str:
    bears = _bears(one)
    parts = ["the failure of no drive" if not bears else f"the failure of any {_NUMBERS.get(bears, bears)}"]
    if rebuild := _rebuild(one):
        parts.append(f"rebuilt in {rebuild} beside this load")
    if one.loss is not None:
        life = counted(found.asked.prices.life_hours / 8760, "year", form="g")
        low, high = loss_span(one.loss)
        parts.append(
            f"data lost within a year with a chance of {percent_text(one.loss['loss_in_a_year_percent'])} "
            f"({_interval(low, high)}), {percent_text(one.loss['loss_in_life_percent'])} in {life}"
        )
        if found.asked.failures.get("outage"):
            parts.append(f"not available {one.loss['unavailability'] * 8760:.3g} h a year by outages")
    else:
        parts.append("chance of loss unknown: nothing says how often a drive fails (--afr)")
    return "; ".join(parts)


def _interval(low: float, high: float) -> str:
    return "exact" if low == high else span_text(low, high)


def _bears(one: Candidate) -> int:
    return one.level.failed_sets().bears_worst


def _rebuild(one: Candidate) -> str:
    rebuilt = one.entry.rebuild
    if rebuilt is None:
        return ""
    if rebuilt["duration_ns"] is None:
        return f"more than {rebuilt['at_least_ns'] / _HOUR_NS:,.3g} h"
    hours, error = rebuilt["duration_ns"] / _HOUR_NS, rebuilt["relative_error"]
    return f"{hours:,.3g} h" + (f" ± {error:.1%}" if error is not None else ", error unknown")


def notes(found: Plan) -> list[str]:
    """Remarks on the answer, the most important first; then how the results were obtained."""
    return [*_of_pick(found), *_obtained(found)]


def _of_pick(found: Plan) -> list[str]:
    """What may turn the pick, and what it rests on."""
    remarks = list(found.pick.entry.notes) if found.pick else []
    if found.pick and (near := _near(found, found.pick)):
        remarks.append(
            f"the limit lies within the interval of the pick's {near}: another seed may turn the pick"
        )
    remarks += ranges.remarks(found)
    remarks += _equals(found, found.pick) if found.pick else []
    remarks += [
        f"over the interval of the {one.name}, {one.interval.low} to {one.interval.high}, the pick loses data within a "
        f"year with a chance of {span_text(one.interval.loss_percent_low, one.interval.loss_percent_high)}"
        for one in found.assumptions
        if one.interval and one.interval.loss_percent_low and one.interval.loss_percent_high
    ]
    if found.asked.knows_failures and (left := turns.left_out(found)):
        remarks.append(
            f"assumed for the chance of loss: {', '.join(f'{name} {value}' for name, value in left)}"
        )
    if found.assumptions and found.assumptions[0].is_told:
        remarks.append(f"the chance of loss depends most on: {found.assumptions[0].name}")
    if found.pick and not any(one.key == "load" for one in found.assumptions):
        remarks.append("the load was not varied: no rate or depth in it is a number")
    return remarks


def _obtained(found: Plan) -> list[str]:
    """How the results were obtained."""
    stages = dict.fromkeys(("rule", "bound", "simulated"), 0)
    for one in found.candidates:
        if one.failings:
            stages[one.failings[0].stage] += 1
    remarks = [
        f"{counted(len(found.candidates), 'candidate')}: {stages['rule']} out by rules, capacity or price, "
        f"{stages['bound']} by closed forms, {stages['simulated']} once simulated",
        f"load: {found.asked.loads.text()}; limits apply {', '.join(found.asked.limits.states)}; "
        f"intervals are of 95 %; prices and capacities are exact",
        *_of_trace(found),
    ]
    if found.pick and (ranged := shares_note([found.pick.figures() or {}])):
        remarks.insert(0, ranged)
    if any(one.entry.rebuild for one in found.candidates):
        wanted = found.asked.precision.error
        finer = (
            f", or to {FINE.error:.0%} where --max-loss lies within its interval"
            if FINE.error < wanted
            else ""
        )
        remarks.append(
            f"a rebuild is simulated until its duration is known to {wanted:.0%} (--precision){finer}; the error that "
            "it has in the end is its own ±"
        )
    if unresolved := [one.name for one in found.assumptions if one.high is not None and not one.is_told]:
        remarks.append(
            f"~: half and twice of {', '.join(unresolved)} change the chance by less than its interval shows"
        )
    return remarks


def _equals(found: Plan, one: Candidate) -> list[str]:
    """Why other candidates that meet all limits at the pick's price are not the pick."""
    names: dict[str, list[str]] = {}
    for other in found.candidates:
        if other.holds and other is not one and choice.order(other)[0] == choice.order(one)[0]:
            names.setdefault(_before(one, other), []).append(other.name)
    return [
        f"{', '.join(equals)} cost{'s' if len(equals) == 1 else ''} the same: the pick {why}"
        for why, equals in names.items()
    ]


def _before(one: Candidate, other: Candidate) -> str:
    """Why one candidate ranks before another of the same price."""
    (_, loss, mean), (_, other_loss, other_mean) = choice.order(one), choice.order(other)
    if one.loss is not None and other.loss is not None and loss != other_loss:
        (_, high), (low, _) = loss_span(one.loss), loss_span(other.loss)
        return "loses data less often" + ("" if high < low else ", by less than the intervals show")
    also = " and loses data as often" if one.loss is not None else ""
    return f"{'answers faster' if mean < other_mean else 'was tried first'}{also}"


def _of_trace(found: Plan) -> list[str]:
    """The part of a recorded load during which a rebuild is simulated."""
    loads, rebuilt = found.asked.loads, (found.pick and found.pick.entry.rebuild) or {}
    is_recorded = loads.trace is not None or "trace" in (loads.table or {})
    if not is_recorded or not rebuilt.get("parts"):
        return []
    seconds = rebuilt["simulated_s"] / len(rebuilt["parts"])
    return [f"the rebuild is simulated beside the first {seconds:g} s of the trace, at each place anew"]


def _near(found: Plan, one: Candidate) -> str:
    """Which of the pick's values may exceed their limits within their intervals."""
    near = []
    limits = found.asked.limits
    for state in limits.states:
        figures = one.figures(state)
        for name, most in limits.latencies_ns.items():
            span = figures and figures["latency_interval_ns"].get(name)
            if span and span[1] > most:
                near.append(name.replace("_", "."))
    if limits.loss_percent is not None and one.loss and loss_span(one.loss)[1] > limits.loss_percent:
        near.append("chance of loss")
    return ", ".join(dict.fromkeys(near))


def table(found: Plan) -> Table:
    """A row for each candidate, the cheapest first, those that miss a limit last; the limits that it misses are in the
    last column.
    """
    names = _names(found)
    parts = {one.parts for one in found.candidates}
    # What all of them are built from is named once.
    first = f"candidate of {next(iter(parts))}" if len(parts) == 1 else "candidate"
    columns = [
        first, "usable TB", found.asked.prices.currency, *(f"{name.replace('_', '.')} ms" for name in names),
        "IOPS", "may fail", "rebuild", "loss/year %", "out for",
    ]  # fmt: skip
    ordered = sorted(found.candidates, key=lambda one: (one.entry.reason is not None, one.cost["total"]))
    labels = [one.array if len(parts) == 1 else one.name for one in ordered]
    rows = [_cells(label, one, names, found) for label, one in zip(labels, ordered, strict=True)]
    return Table(columns, rows, left=frozenset({0, len(columns) - 1}), width=SCREEN)


def _cells(label: str, one: Candidate, names: list[str], found: Plan) -> list[Cell]:
    figures = one.figures()
    latencies = [
        f"{figures['latency_ns'][name] / _MS:.3g}" if figures and figures["latency_ns"][name] else NONE
        for name in names
    ]
    is_bound = any(failing.stage == "bound" and failing.limit == "loss" for failing in one.failings)
    loss = NONE
    if one.loss is not None:
        loss = f"{'>' if is_bound else ''}{percent_figure(one.loss['loss_in_a_year_percent'])}"
    out = "; ".join(failing.text for failing in one.failings)
    texts = [
        label,
        NONE if one.entry.reason is not None else f"{one.entry.capacity_bytes / 1e12:,.4g}",
        f"{one.cost['total']:,.2f}",
        *latencies,
        f"{figures['iops']:,.4g}" if figures else NONE,
        NONE if one.entry.reason is not None else str(_bears(one)),
        _rebuild(one) or NONE,
        loss,
        out or ("the pick" if one is found.pick else ""),
    ]
    return [Cell(text) for text in texts]


def row(one: Candidate, found: Plan) -> dict[str, Any]:
    """A candidate's values by the column names of CSV and JSON."""
    row: dict[str, Any] = {
        "candidate": one.name,
        "drive": one.drive,
        "controller": one.controller,
        "level": one.level.label,
        "members": one.level.members,
        "spares": one.spares,
        "usable_bytes": one.entry.capacity_bytes or None,
        "cost": one.cost["total"],
        "bears_any": _bears(one) if one.entry.reason is None else None,
    }
    for state in under.STATES:
        figures = one.figures(state) or {}
        row[f"iops_{state}"] = figures.get("iops")
        row[f"iops_relative_error_{state}"] = figures.get("iops_relative_error")
        for name in dict.fromkeys(["mean", "p99", *found.asked.limits.latencies_ns]):
            row[f"{name}_ns_{state}"] = (figures.get("latency_ns") or {}).get(name)
            low, high = (figures.get("latency_interval_ns") or {}).get(name) or (None, None)
            row[f"{name}_ns_{state}_low"], row[f"{name}_ns_{state}_high"] = low, high
    rebuilt = one.entry.rebuild or {}
    hours = rebuilt.get("duration_ns")
    row["rebuild_h"] = hours and hours / _HOUR_NS
    row["rebuild_relative_error"] = rebuilt.get("relative_error")
    year = (one.loss or {}).get("loss_in_a_year_percent") or {}
    low, high = loss_span(one.loss) if one.loss else (None, None)
    row["loss_in_a_year_percent"] = year.get("value")
    row["loss_in_a_year_percent_low"], row["loss_in_a_year_percent_high"] = low, high
    row["unavailability"] = one.loss and one.loss["unavailability"]
    row["is_loss_a_bound"] = any(
        failing.limit == "loss" and failing.stage == "bound" for failing in one.failings
    )
    row["holds"] = one.holds
    row["out_for"] = "; ".join(failing.text for failing in one.failings) or None
    return row


def _ends(name: str, figure: Figure | None) -> dict[str, Any]:
    """A varied chance in percent with its interval."""
    value, low, high = (None, None, None) if figure is None else (figure.value, figure.low, figure.high)
    is_told = figure is not None and figure.is_told
    percent = f"{name}_percent"
    return {percent: value, f"{percent}_low": low, f"{percent}_high": high, f"is_{name}_told": is_told}


def to_dict(found: Plan) -> dict[str, Any]:
    """The plan for JSON."""
    asked = found.asked
    best = front(found.candidates)
    return {
        **found.provenance(),
        "load": asked.loads.text(),
        "workload": asked.loads.workload(),
        "limits": asked.limits.to_dict(),
        "currency": asked.prices.currency,
        "lines": lines(found),
        "notes": notes(found),
        "pick": found.pick and found.pick.name,
        "front": [one.name for one in best],
        "bindings": [
            {"limit": one.limit, "nearest": one.nearest.name, "alone": one.alone, "text": one.line()}
            for one in found.bindings
        ],
        "assumptions": [
            {
                "key": one.key,
                "name": one.name,
                "value": one.value,
                **_ends("loss_at_half", one.low),
                **_ends("loss_at_twice", one.high),
                "is_told": one.is_told,
                "interval": one.interval and asdict(one.interval),
                "turns": [{"factor": turn.factor, "why": turn.why, "then": turn.then} for turn in one.turns],
            }
            for one in found.assumptions
        ],
        "assumed_unreadable": {drive: assumed.to_dict() for drive, assumed in found.asked.unreadable.items()},
        "left_out": [
            {"name": name, "value": value} for name, value in turns.left_out(found) if asked.knows_failures
        ],
        "above_capacity": found.capacity and found.capacity.then,
        "prices": [{"drive": one.drive, "price": one.price, "other": one.other} for one in found.prices],
        "interrupted": found.ran.interrupted,
        "failures": [failure.to_dict() for failure in found.ran.failures],
        "candidates": [
            {
                **row(one, found),
                "cost_parts": dict(one.cost),
                "failings": [
                    {"limit": failing.limit, "text": failing.text, "stage": failing.stage}
                    for failing in one.failings
                ],
                "loss": one.loss,
                "states": one.entry.states,
                "rebuild": one.entry.rebuild,
            }
            for one in found.candidates
        ],
    }
