"""Records side by side: how far each figure of the others deviates from the first's, and the shift of percentiles.

A row for each place, a panel for each figure; a line is the interval of the difference, a ring a difference without
one. Below, the shift of each percentile, a line for each place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import Row, label, shown
from drivelab.charts.theme import (
    DASHES,
    INK,
    LINE_COLOURS,
    Chart,
    Panel,
    colours,
    dress,
    heading,
    inline,
    layer,
)

WIDTH = 760
SHIFT_HEIGHT = 220
_STEP = 20
_NAMES = 120
_BAND = "#eef3f7"
_TITLES = {"iops": "IOPS", "bytes_per_s": "MB/s", "mean": "Mean latency", "max": "Max latency"}
_PERCENTILES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99")
# More lines than this cannot be distinguished; each is then thin and grey.
_LINES_MAX = 16


def differences(comparison: Mapping[str, Any]) -> alt.VConcatChart:
    """Differences by figure and place with their intervals, and the shift of percentiles.

    `comparison` is a dict as in `drivelab compare --json`. Raises ChartError where there is no difference to draw.
    """
    besides = comparison.get("comparisons") or []
    rows = [row for beside in besides for row in _rows(beside, "differences", beside)]
    if not rows:
        raise ChartInputError("the comparison has no difference to draw")
    figures = list(dict.fromkeys(row["figure"] for row in rows))
    places = list(dict.fromkeys(row["place"] for row in rows))
    others = list(dict.fromkeys(row["other"] for row in rows))
    width = max((WIDTH - _NAMES) // len(figures) - 20, 140)
    threshold = comparison.get("threshold")
    panels = [
        _panel(
            [row for row in rows if row["figure"] == figure],
            (places, others),
            width,
            None if threshold is None else 100 * threshold,
            first=figure == figures[0],
        )
        for figure in figures
    ]
    lines: list[Any] = [alt.hconcat(*panels, spacing=12, bounds="flush")]
    shifts = [row for beside in besides for row in _rows(beside, "percentiles", beside)]
    if shifts:
        lines.append(_shift(shifts))
    records = comparison.get("records") or []
    notes = [f"{record['letter']}: {_named(record)}" for record in records]
    together = "" if comparison.get("pointwise") or len(rows) == 1 else ", all at once"
    notes.append(
        f"Lines: {100 * comparison.get('confidence', 0.95):g} % intervals{together}. Rings: no interval is known."
    )
    first = records[0]["letter"] if records else "A"
    text = f"{', '.join(others)} against {first}"
    own_colours = alt.Resolve(scale=alt.ScaleResolveMap(color="independent"))
    return dress(alt.vconcat(*lines, spacing=24, title=heading(text, notes), resolve=own_colours))


def _named(record: Mapping[str, Any]) -> str:
    parts = (record.get("origin"), record.get("kind"), record.get("target"), record.get("label"))
    return ", ".join(str(part) for part in parts if part)


def _rows(beside: Mapping[str, Any], key: str, names: Mapping[str, Any]) -> list[Row]:
    """The differences of a pair of records that have a number."""
    found = [one for one in beside.get(key) or () if one.get("difference") is not None]
    axes = _varying([one["place"] for one in found])
    rows = []
    for one in found:
        place = " · ".join(f"{axis} {shown(axis, one['place'].get(axis))}" for axis in axes) or "all"
        row: Row = {
            "place": place,
            "figure": one["figure"],
            "other": names["other"],
            "percent": 100 * one["difference"],
        }
        if one.get("low") is not None:
            row |= {"low": 100 * one["low"], "high": 100 * one["high"]}
        rows.append(row)
    return rows


def _varying(places: Sequence[Mapping[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for place in places for name in place)
    found = [name for name in names if len({label(place.get(name)) for place in places}) > 1]
    return [name for name in found if name != "depth" or "iodepth" not in found]


def _panel(
    rows: Sequence[Row],
    names: tuple[Sequence[str], Sequence[str]],
    width: int,
    threshold: float | None,
    *,
    first: bool,
) -> Panel:
    """One figure: a mark for each place and record, over its interval."""
    places, others = names
    ends = [row[key] for row in rows for key in ("percent", "low", "high") if key in row]
    least, most = min(0.0, *ends), max(0.0, *ends)
    margin = 0.06 * (most - least) or 1.0
    scale = alt.Scale(domain=[least - margin, most + margin], nice=False)
    title = f"{_title(rows[0]['figure'])}, %"
    x = alt.X("percent:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5, labelOverlap="greedy"))
    axis = alt.Axis(labels=first, ticks=first, labelLimit=260)
    y = alt.Y("place:N", title=None, sort=list(places), scale=alt.Scale(domain=list(places)), axis=axis)
    offset = alt.YOffset("other:N", sort=list(others))
    colour = alt.Color(
        "other:N",
        title="Record",
        scale=alt.Scale(domain=list(others), range=colours(len(others))),
        legend=alt.Legend(orient="top") if first and len(others) > 1 else None,
    )
    layers: list[alt.Chart] = []
    if threshold:
        band = {"from": max(-threshold, least - margin), "to": min(threshold, most + margin)}
        layers.append(
            Chart(inline([band])).mark_rect(fill=_BAND).encode(x=alt.X("from:Q", scale=scale), x2="to:Q")
        )
    zero = Chart(inline([{"zero": 0}])).mark_rule(color=INK, strokeWidth=0.8)
    layers.append(zero.encode(x=alt.X("zero:Q", scale=scale)))
    known = [row for row in rows if "low" in row]
    tooltip = [
        alt.Tooltip("place:N"),
        alt.Tooltip("other:N", title="record"),
        alt.Tooltip("percent:Q", title="difference, %", format="+.2f"),
    ]
    if known:
        base = Chart(inline(known))
        layers.append(
            base.mark_rule(strokeWidth=2.5).encode(
                x=alt.X("low:Q", scale=scale, title=title), x2="high:Q", y=y, yOffset=offset, color=colour
            )
        )
        layers.append(
            base.mark_point(filled=True, size=45, opacity=1).encode(
                x=x, y=y, yOffset=offset, color=colour, tooltip=tooltip
            )
        )
    if unknown := [row for row in rows if "low" not in row]:
        layers.append(
            Chart(inline(unknown))
            .mark_point(filled=False, size=55, opacity=1)
            .encode(x=x, y=y, yOffset=offset, color=colour, tooltip=tooltip)
        )
    step = _STEP if len(others) == 1 else _STEP * 0.6 * len(others) + 6
    return layer(*layers).properties(width=width, height=round(step * len(places)))


def _shift(rows: Sequence[Row]) -> Panel:
    """How far each percentile has shifted, a line for each place and record: of several records each has its colour."""
    several = len({row["other"] for row in rows}) > 1
    data = [
        {
            **row,
            "line": f"{row['other']} · {row['place']}" if several else row["place"],
            "at": _title(row["figure"]),
        }
        for row in rows
    ]
    order = [_title(name) for name in _PERCENTILES if any(row["figure"] == name for row in rows)]
    key = "other" if several else "place"
    names = list(dict.fromkeys(row[key] for row in data))
    # The panels above have the legend of the records.
    legend = alt.Legend(title=None) if not several and 1 < len(names) <= _LINES_MAX else None
    shades = colours(len(names)) if len(names) <= _LINES_MAX else [LINE_COLOURS[-1]] * len(names)
    scale = alt.Scale(domain=names, range=shades)
    places = list(dict.fromkeys(row["place"] for row in data))
    line: dict[str, Any] = {"detail": "line:N"}
    if several and 1 < len(places) <= len(DASHES):
        dashes = alt.Scale(domain=places, range=[list(dash) for dash in DASHES[: len(places)]])
        stroke = alt.Legend(title="Place", symbolType="stroke", symbolSize=500, symbolStrokeWidth=2)
        line["strokeDash"] = alt.StrokeDash("place:N", scale=dashes, legend=stroke)
    channels: dict[str, Any] = {
        "x": alt.X("at:N", title="Percentile of the response time", sort=order, axis=alt.Axis(labelAngle=0)),
        "y": alt.Y("percent:Q", title="Shift, %", scale=alt.Scale(zero=True)),
        "color": alt.Color(f"{key}:N", scale=scale, legend=legend),
        "tooltip": [
            alt.Tooltip("line:N", title="place"),
            alt.Tooltip("at:N", title="percentile"),
            alt.Tooltip("percent:Q", title="shift, %", format="+.2f"),
        ],
    }
    zero = Chart(inline([{"zero": 0}])).mark_rule(color=INK, strokeWidth=0.8).encode(y="zero:Q")
    layers: list[alt.Chart] = [zero]
    layers.append(Chart(inline(data)).mark_line(strokeWidth=1.8).encode(**channels, **line))
    if known := [row for row in data if "low" in row]:
        dots = Chart(inline(known)).mark_point(filled=True, size=40, opacity=1)
        layers.append(dots.encode(**channels))
    if unknown := [row for row in data if "low" not in row]:
        rings = Chart(inline(unknown)).mark_point(filled=False, fill="white", size=45, opacity=1)
        layers.append(rings.encode(**channels))
    return layer(*layers).properties(width=WIDTH - _NAMES, height=SHIFT_HEIGHT)


def _title(figure: str) -> str:
    before, _, last = figure.rpartition(".")
    text = _TITLES.get(last, last.replace("_", "."))
    return f"{before}s: {text}" if before else text
