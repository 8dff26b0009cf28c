"""A plan as two pictures: every candidate by cost, capacity, performance and loss; and which assumption decides.

A filled mark holds, a hollow one does not; a thin ring has what no other candidate beats in price, speed and loss at
once, a thick one the pick. Limits are dashed. A chance of which a bound alone is known is a triangle that points where
it may lie. What a candidate is, and what is against it, is shown on hover.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Row
from drivelab.charts.theme import (
    INK,
    LINE_COLOURS,
    SOFT,
    Chart,
    Panel,
    colours,
    dress,
    heading,
    inline,
    layer,
)
from drivelab.charts.ticks import log_axis, log_labels
from drivelab.report.plural import counted

WIDTH, HEIGHT = 300, 300
_TORNADO_WIDTH, _STEP = 620, 30
_HOLDS, _OUT = "holds", "does not"
_KNOWN, _AT_LEAST, _AT_MOST = "circle", "triangle-up", "triangle-down"
"""What is known of a figure, by its mark."""
_NAME_MAX = 44
"""Characters of an assumption and its value beside its bar; of a longer one the name alone, the pointer shows both."""
_CHANCE = "~g"
"""How a chance is written on an axis."""
_LINE_MAX = 100
"""Characters of a line below the title."""
_ANSWER_MAX = 150
"""The same below the wider picture of all candidates."""


@dataclass(frozen=True)
class _Axis:
    """The quantity that a panel shows over cost."""

    key: str
    title: str
    form: str
    limit: float | None
    scale: float = 1.0


def pareto(plan: Mapping[str, Any]) -> alt.HConcatChart:
    """Capacity, speed and chance of loss over cost; `plan` is a dict as in `drivelab plan --json`.

    Raises ChartError if no candidate is possible.
    """
    known = [one for one in plan["candidates"] if one["usable_bytes"]]
    if not known:
        raise ChartInputError("no candidate can be made, so there is nothing to draw")
    levels = list(dict.fromkeys(one["level"] for one in known))
    axes = [_Axis("usable_bytes", "Usable, TB", ",~r", plan["limits"]["capacity_bytes"], 1e12), _speed(plan)]
    if any(_value(one, "loss_in_a_year_percent") for one in known):
        limit = plan["limits"]["loss_in_a_year_percent"]
        axes.append(_Axis("loss_in_a_year_percent", "Chance of data loss in a year, %", _CHANCE, limit))
    panels = [_panel(plan, known, axis, levels, is_first=axis is axes[0]) for axis in axes]
    picked = f"the pick is {plan['pick']}" if plan["pick"] else "nothing holds"
    title = heading(f"{plan['load']}: {picked}", [*_answer(plan), *_notes(plan)])
    return dress(alt.hconcat(*panels, spacing=24, title=title, resolve=alt.Resolve(
        legend=alt.LegendResolveMap(color="independent")
    )))  # fmt: skip


def _answer(plan: Mapping[str, Any]) -> list[str]:
    """The answer's lines, as they are printed."""
    return [part for line in plan["lines"] for part in textwrap.wrap(line, _ANSWER_MAX)]


def _speed(plan: Mapping[str, Any]) -> _Axis:
    """The latency for an open load, else IOPS."""
    limits = plan["limits"]
    if limits["latencies_ns"]:
        name, most = next(iter(limits["latencies_ns"].items()))
        return _Axis(f"{name}_ns_healthy", f"{name.replace('_', '.')}, ms", ",~r", most, NS_PER_MS)
    if "rate_iops" in plan["workload"] or "trace" in plan["workload"]:
        return _Axis("mean_ns_healthy", "Mean latency, ms", ",~r", None, NS_PER_MS)
    return _Axis("iops_healthy", "IOPS", ",~r", limits["iops"])


def _rows(plan: Mapping[str, Any], known: Sequence[Mapping[str, Any]], axis: _Axis) -> list[Row]:
    rows = []
    for one in known:
        value = _value(one, axis.key)
        if not value:
            continue
        mark = _mark(one) if axis.key == "loss_in_a_year_percent" else _KNOWN
        row: Row = {
            "candidate": one["candidate"],
            "level": one["level"],
            "cost": one["cost"],
            "value": value / axis.scale,
            "mark": mark,
            "holds": _HOLDS if one["holds"] else _OUT,
            "out for": one["out_for"] or "nothing",
            "usable TB": one["usable_bytes"] / 1e12,
            "pick": one["candidate"] == plan["pick"],
            "front": one["candidate"] in plan["front"],
        }
        for key, scale, name in _HOVERED:
            row[name] = one[key] / scale if one.get(key) else None
        low, high = one.get(f"{axis.key}_low"), one.get(f"{axis.key}_high")
        if low and high and mark == _KNOWN:
            row |= {"low": low / axis.scale, "high": high / axis.scale}
        rows.append(row)
    return rows


def _value(one: Mapping[str, Any], key: str) -> float | None:
    """A figure; of a chance of which nothing was seen the bound."""
    value: float | None = one[key]
    if key == "loss_in_a_year_percent" and value is None:
        return one["loss_in_a_year_percent_high"]  # type: ignore[no-any-return]
    return value


def _mark(one: Mapping[str, Any]) -> str:
    """Whether the chance of loss is known, or how far it is at least or at most."""
    if one["is_loss_a_bound"]:
        return _AT_LEAST
    return _AT_MOST if one["loss_in_a_year_percent"] is None else _KNOWN


_HOVERED = (
    ("mean_ns_healthy", NS_PER_MS, "mean ms"),
    ("p99_ns_healthy", NS_PER_MS, "p99 ms"),
    ("iops_healthy", 1.0, "IOPS"),
    ("rebuild_h", 1.0, "rebuild h"),
    ("loss_in_a_year_percent", 1.0, "loss a year, %"),
)


def _panel(
    plan: Mapping[str, Any],
    known: Sequence[Mapping[str, Any]],
    axis: _Axis,
    levels: Sequence[str],
    *,
    is_first: bool,
) -> Panel:
    rows = _rows(plan, known, axis)
    if not rows:
        raise ChartInputError(f"no candidate has a figure for {axis.title}")
    limits = [axis.limit / axis.scale] if axis.limit else []
    ends = [end for row in rows for key in ("value", "low", "high") if (end := row.get(key))]
    domain, ticks = log_axis([*ends, *limits], HEIGHT, form=axis.form)
    x = alt.X("cost:Q", title=f"Cost, {plan['currency']}", scale=alt.Scale(zero=False, nice=True, padding=12))
    y = alt.Y(
        "value:Q",
        title=axis.title,
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(**log_labels(ticks, axis.form)),
    )
    legend = alt.Legend(orient="top", columns=6) if is_first else None
    colour = alt.Color(
        "level:N",
        title="Level",
        sort=list(levels),
        scale=alt.Scale(domain=list(levels), range=colours(len(levels))),
        legend=legend,
    )
    tooltip = [
        alt.Tooltip("candidate:N"),
        alt.Tooltip("cost:Q", format=",.2f"),
        *(
            alt.Tooltip(f"{name}:Q", format=",.3~g")
            for name in ("usable TB", *(name for _, _, name in _HOVERED))
        ),
        alt.Tooltip("out for:N"),
    ]
    base = Chart(inline(rows)).encode(x=x, y=y)
    layers: list[alt.Chart] = []
    if limits:
        mark = Chart(inline([{"value": limits[0]}])).mark_rule(stroke=INK, strokeDash=[4, 4])
        layers.append(mark.encode(y=y))
    edge = base.transform_filter("datum.front").mark_point(size=120, stroke=SOFT, strokeWidth=1, fill=None)
    layers.append(edge)
    if any("low" in row for row in rows):
        spans = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5, opacity=0.6)
        low = alt.Y("low:Q", title=axis.title, scale=alt.Scale(type="log", domain=domain, nice=False))
        layers.append(spans.encode(y=low, y2="high:Q", color=colour))
    fill = alt.condition(f"datum.holds == '{_HOLDS}'", colour, alt.value("white"))
    points = base.mark_point(size=55, opacity=1, strokeWidth=1.4)
    shape = alt.Shape("mark:N", scale=None, legend=None)
    layers.append(points.encode(stroke=colour, fill=fill, shape=shape, tooltip=tooltip))
    ring = base.transform_filter("datum.pick").mark_point(size=220, stroke=INK, strokeWidth=1.6, fill=None)
    layers.append(ring.encode(tooltip=tooltip))
    return layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _notes(plan: Mapping[str, Any]) -> list[str]:
    notes = [
        "Filled: holds; hollow: does not; thick ring: the pick; thin ring: beaten by no other; dashed: the limit"
    ]
    words = {_AT_LEAST: "up: at least so likely, however fast it is rebuilt", _AT_MOST: "down: at most"}
    marks = {
        _mark(one)
        for one in plan["candidates"]
        if one["usable_bytes"] and _value(one, "loss_in_a_year_percent")
    }
    if meanings := [words[mark] for mark in words if mark in marks]:
        notes.append(f"Triangle {'; '.join(meanings)}")
    missing = sum(1 for one in plan["candidates"] if one["usable_bytes"] and not one["iops_healthy"])
    if missing:
        notes.append(f"{counted(missing, 'candidate')} ruled out before the load ran: the speed is not known")
    return notes


def tornado(plan: Mapping[str, Any]) -> Panel:
    """The pick's chance of loss with each assumption halved and doubled, the widest bar first.

    What changes it by less than the intervals show has no bar, and is named. Raises ChartError without a known chance.
    """
    picked = next((one for one in plan["candidates"] if one["candidate"] == plan["pick"]), None)
    known = [
        one for one in plan["assumptions"] if one["loss_at_half_percent"] and one["loss_at_twice_percent"]
    ]
    rows = [row for one in known if one["is_told"] for row in _bars(one)]
    if not rows or picked is None:
        raise ChartInputError("no assumption changes a chance of loss that is known")
    now, limit = _value(picked, "loss_in_a_year_percent"), plan["limits"]["loss_in_a_year_percent"]
    for row in rows:
        row["now"] = now
    ends = [row[key] for row in rows for key in ("value", "low", "high") if row[key]]
    domain, ticks = log_axis(
        [*ends, *(end for end in (now, limit) if end)], _TORNADO_WIDTH, across=True, form=_CHANCE
    )
    scale = alt.Scale(type="log", domain=domain, nice=False)
    title = "Chance of data loss in a year, %"
    x = alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(**log_labels(ticks, _CHANCE)))
    low = alt.X("low:Q", title=title, scale=scale)
    names = list(dict.fromkeys(row["name"] for row in rows))
    layers = _tornado_layers(
        rows, (x, low), alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=0))
    )
    notes = ["Solid: as assumed; thin: intervals of 95 %" + ("; dashed: --max-loss" if limit else "")]
    for value, dash in ((now, [1, 0]), (limit, [4, 4])):
        if value:
            rule = Chart(inline([{"value": value}])).mark_rule(stroke=INK, strokeDash=dash)
            layers.append(rule.encode(x=x))
    if unresolved := [one["name"] for one in known if not one["is_told"]]:
        text = f"Half and twice of these change less than the intervals show: {', '.join(unresolved)}"
        notes += textwrap.wrap(text, _LINE_MAX)
    return dress(
        layer(*layers).properties(
            width=_TORNADO_WIDTH,
            height=alt.Step(_STEP),
            title=heading(f"Which assumption decides: {plan['pick']}", notes),
        )
    )


_SIDES = {"loss_at_half": "half as much", "loss_at_twice": "twice as much"}


def _bars(one: Mapping[str, Any]) -> list[Row]:
    """Both ends of an assumption's bar; one that is no more than noise has none."""
    full = f"{one['name']}, {one['value']}" if one["key"] != "load" else "load"
    turns = "; ".join(
        f"x{turn['factor']:.3g}: {turn['then'] or 'nothing that was tried holds'}" for turn in one["turns"]
    )
    return [
        {
            "name": full if len(full) <= _NAME_MAX else one["name"],
            "assumption": full,
            "side": side,
            "value": one[f"{key}_percent"],
            "low": one[f"{key}_percent_low"] or one[f"{key}_percent"],
            "high": one[f"{key}_percent_high"],
            "turns": turns or "not found",
        }
        for key, side in _SIDES.items()
        if one[f"is_{key}_told"]
    ]


def _tornado_layers(rows: Sequence[Row], places: tuple[alt.X, alt.X], y: alt.Y) -> list[alt.Chart]:
    x, low = places
    colour = alt.Color(
        "side:N",
        title=None,
        scale=alt.Scale(domain=list(_SIDES.values()), range=[LINE_COLOURS[0], LINE_COLOURS[1]]),
        legend=alt.Legend(orient="top"),
    )
    tooltip = [
        alt.Tooltip("assumption:N"),
        alt.Tooltip("side:N"),
        alt.Tooltip("value:Q", title="chance in a year, %", format=".3~g"),
        alt.Tooltip("turns:N", title="the pick turns"),
    ]
    base = Chart(inline(list(rows))).encode(y=y)
    bars = base.mark_bar(size=16).encode(x=x, x2="now:Q", color=colour, tooltip=tooltip)
    return [bars, base.mark_rule(stroke=INK, strokeWidth=1.2).encode(x=low, x2="high:Q")]
