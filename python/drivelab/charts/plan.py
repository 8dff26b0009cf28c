"""A plan as two pictures: every candidate by cost, capacity, performance and loss; and which assumption decides.

A filled mark meets all limits, a hollow one does not; a thin ring marks a candidate that no other beats in price,
speed and loss at once, a thick one the pick. Limits are dashed. A candidate and the objections to it are shown on
hover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Row
from drivelab.charts.theme import INK, LINE_COLOURS, SOFT, Panel, colours, dress, heading, inline, log_axis

WIDTH, HEIGHT = 300, 300
_TORNADO_WIDTH, _STEP = 620, 30
_HOLDS, _OUT = "holds", "does not"


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
    if any(one["loss_in_a_year"] for one in known):
        limit = plan["limits"]["loss_in_a_year"]
        axes.append(_Axis("loss_in_a_year", "Chance of data loss in a year", ".0e", limit))
    panels = [_panel(plan, known, axis, levels, is_first=axis is axes[0]) for axis in axes]
    picked = f"the pick is {plan['pick']}" if plan["pick"] else "nothing holds"
    title = heading(f"{plan['load']}: {picked}", _notes(plan))
    return dress(alt.hconcat(*panels, spacing=24, title=title, resolve=alt.Resolve(
        legend=alt.LegendResolveMap(color="independent")
    )))  # fmt: skip


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
        value = one[axis.key]
        if not value:
            continue
        row: Row = {
            "candidate": one["candidate"],
            "level": one["level"],
            "cost": one["cost"],
            "value": value / axis.scale,
            "holds": _HOLDS if one["holds"] else _OUT,
            "out for": one["out_for"] or "nothing",
            "usable TB": one["usable_bytes"] / 1e12,
            "pick": one["candidate"] == plan["pick"],
            "front": one["candidate"] in plan["front"],
        }
        for key, scale, name in _HOVERED:
            row[name] = one[key] / scale if one.get(key) else None
        low, high = one.get(f"{axis.key}_low"), one.get(f"{axis.key}_high")
        if low and high:
            row |= {"low": low / axis.scale, "high": high / axis.scale}
        rows.append(row)
    return rows


_HOVERED = (
    ("mean_ns_healthy", NS_PER_MS, "mean ms"),
    ("p99_ns_healthy", NS_PER_MS, "p99 ms"),
    ("iops_healthy", 1.0, "IOPS"),
    ("rebuild_h", 1.0, "rebuild h"),
    ("loss_in_a_year", 1.0, "loss a year"),
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
    domain, ticks = log_axis([*ends, *limits], HEIGHT)
    x = alt.X("cost:Q", title=f"Cost, {plan['currency']}", scale=alt.Scale(zero=False, nice=True, padding=12))
    y = alt.Y(
        "value:Q",
        title=axis.title,
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(values=ticks, format=axis.form),
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
    base = alt.Chart(inline(rows)).encode(x=x, y=y)
    layers: list[alt.Chart] = []
    if limits:
        mark = alt.Chart(inline([{"value": limits[0]}])).mark_rule(stroke=INK, strokeDash=[4, 4])
        layers.append(mark.encode(y=y))
    edge = base.transform_filter("datum.front").mark_point(size=120, stroke=SOFT, strokeWidth=1, fill=None)
    layers.append(edge)
    if any("low" in row for row in rows):
        spans = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5, opacity=0.6)
        low = alt.Y("low:Q", title=axis.title, scale=alt.Scale(type="log", domain=domain, nice=False))
        layers.append(spans.encode(y=low, y2="high:Q", color=colour))
    fill = alt.condition(f"datum.holds == '{_HOLDS}'", colour, alt.value("white"))
    points = base.mark_point(size=55, opacity=1, strokeWidth=1.4)
    layers.append(points.encode(stroke=colour, fill=fill, tooltip=tooltip))
    ring = base.transform_filter("datum.pick").mark_point(size=220, stroke=INK, strokeWidth=1.6, fill=None)
    layers.append(ring.encode(tooltip=tooltip))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)


def _notes(plan: Mapping[str, Any]) -> list[str]:
    notes = [
        "Filled: holds; hollow: does not; thick ring: the pick; thin ring: beaten by no other; dashed: the limit"
    ]
    missing = sum(1 for one in plan["candidates"] if one["usable_bytes"] and not one["iops_healthy"])
    if missing:
        notes.append(
            f"{missing} candidates were ruled out before their load ran, so their speed is not known"
        )
    return notes


def tornado(plan: Mapping[str, Any]) -> Panel:
    """The pick's chance of loss with each assumption halved and doubled, the widest bar first.

    Raises ChartError if no chance is known.
    """
    rows = [
        {
            "name": f"{one['name']}, {one['value']}" if one["key"] != "load" else "load",
            "low": one["loss_at_half"],
            "high": one["loss_at_twice"],
            "turns": "; ".join(
                f"x{turn['factor']:.3g}: {turn['then'] or 'nothing that was tried holds'}"
                for turn in one["turns"]
            )
            or "not found",
        }
        for one in plan["assumptions"]
        if one["loss_at_half"] and one["loss_at_twice"]
    ]
    picked = next((one for one in plan["candidates"] if one["candidate"] == plan["pick"]), None)
    if not rows or picked is None:
        raise ChartInputError("no assumption changes a chance of loss that is known")
    now, limit = picked["loss_in_a_year"], plan["limits"]["loss_in_a_year"]
    ends = [row[key] for row in rows for key in ("low", "high")]
    domain, ticks = log_axis([*ends, *(end for end in (now, limit) if end)], _TORNADO_WIDTH)
    scale = alt.Scale(type="log", domain=domain, nice=False)
    axis = alt.Axis(values=ticks, format=".0e")
    x = alt.X("value:Q", title="Chance of data loss in a year", scale=scale, axis=axis)
    y = alt.Y("name:N", title=None, sort=[row["name"] for row in rows], axis=alt.Axis(labelLimit=320))
    parts = [
        {**row, "value": row[end], "other": now, "side": side}
        for row in rows
        for end, side in (("low", "half as much"), ("high", "twice as much"))
    ]
    colour = alt.Color(
        "side:N",
        title=None,
        scale=alt.Scale(domain=["half as much", "twice as much"], range=[LINE_COLOURS[0], LINE_COLOURS[1]]),
        legend=alt.Legend(orient="top"),
    )
    tooltip = [
        alt.Tooltip("name:N"),
        alt.Tooltip("side:N"),
        alt.Tooltip("value:Q", title="chance in a year", format=".3~g"),
        alt.Tooltip("turns:N", title="the pick turns"),
    ]
    bars = (
        alt.Chart(inline(parts))
        .mark_bar(size=16)
        .encode(x=x, x2="other:Q", y=y, color=colour, tooltip=tooltip)
    )
    layers = [bars, alt.Chart(inline([{"value": now}])).mark_rule(stroke=INK).encode(x=x)]
    notes = ["Solid: as assumed"]
    if limit:
        layers.append(
            alt.Chart(inline([{"value": limit}])).mark_rule(stroke=INK, strokeDash=[4, 4]).encode(x=x)
        )
        notes = ["Solid: as assumed; dashed: --max-loss"]
    chart = alt.layer(*layers).properties(
        width=_TORNADO_WIDTH,
        height=alt.Step(_STEP),
        title=heading(f"Which assumption decides: {plan['pick']}", notes),
    )
    return dress(chart)
