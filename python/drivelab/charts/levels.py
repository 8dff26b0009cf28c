"""The levels of an array side by side on one screen: the performance of each under the named load, its capacity, how
long a rebuild takes, and how likely data loss is.

The levels are in the same rows of every panel, so that their names are read once. If other loads ran as well
(`--full`), IOPS by depth are below, a panel for each load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Row
from drivelab.charts.theme import LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer
from drivelab.charts.ticks import log_axis, log_labels

# All panels of a line, with the names of the levels, are less than 1200 wide.
LINE_WIDTH = 1030
_STEP = 17
_LOADS = {"randread": "reads", "randwrite": "writes", "randrw": "reads and writes"}
_RAMP = ("#9ecae1", "#4292c6", "#08519c", "#08306b")
_STATES = ("healthy", "degraded", "rebuilding")
_OWN_COLOURS = alt.Resolve(scale=alt.ScaleResolveMap(color="independent"))
_REBUILDS = {"rebuild_idle": "array idle", "rebuild": "under the load"}


@dataclass(frozen=True)
class _Marks:
    """A panel: rows with `level`, `value` and `series`, and the labels of its axis."""

    title: str
    rows: Sequence[Row]
    form: str = ",~r"


def levels(comparison: Mapping[str, Any]) -> alt.VConcatChart:
    """The verdict by level; below it IOPS by depth if several loads ran.

    `comparison` is a dict as in `drivelab compare-levels --json`. Raises ChartError where no level has a figure.
    """
    verdict = comparison.get("verdict") or {}
    rows = verdict.get("levels") or []
    names = [row["level"] for row in rows]
    given = [marks for marks in _given(verdict, rows) if marks.rows]
    depths = [marks for marks in _depths(comparison) if marks.rows]
    if not given and not depths:
        raise ChartInputError("no level has a rate or a latency to draw")
    lines: list[alt.HConcatChart] = []
    if given:
        others = [marks for marks in (_rebuilds(rows), _losses(comparison, rows)) if marks.rows]
        width = (LINE_WIDTH - 110) // (len(given) + len(others))
        panels: list[Any] = [
            _panel(
                marks,
                names,
                width,
                # One legend for both.
                _colour("State", _STATES, LINE_COLOURS, shown=marks is given[0]),
                first=marks is given[0],
            )
            for marks in given
        ]
        panels.append(_space(rows, names))
        for marks in others:
            series = list(dict.fromkeys(row["series"] for row in marks.rows))
            colour = _colour("Rebuild", series, LINE_COLOURS[3:]) if len(series) > 1 else None
            panels.append(_panel(marks, names, width, colour, first=False))
        lines.append(alt.hconcat(*panels, spacing=10, bounds="flush", resolve=_OWN_COLOURS))
    if depths:
        asked = sorted({row["series"] for marks in depths for row in marks.rows})
        colour = _colour("Depth", asked, _shades(len(asked)))
        width = LINE_WIDTH // len(depths)
        lines.append(
            alt.hconcat(
                *(_panel(marks, names, width, colour, first=marks is depths[0]) for marks in depths),
                spacing=10,
                bounds="flush",
            )
        )
    text = f"{comparison.get('name', 'levels')}: {verdict.get('load', 'levels side by side')}"
    chart = alt.vconcat(*lines, spacing=18, title=heading(text, _notes(comparison)), resolve=_OWN_COLOURS)
    return dress(chart)


def _given(verdict: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[_Marks]:
    """The performance under the load, by state."""
    is_stream = (verdict.get("workload") or {}).get("rw") in {"read", "write", "rw"}
    rate = ("bytes_per_s", 1e6, "MB/s") if is_stream else ("iops", 1.0, "IOPS")
    found = []
    # The latency of a level that falls behind the requested rate is that of a growing queue.
    for key, scale, title in (rate, ("mean_latency_ns", NS_PER_MS, "Mean latency, ms")):
        is_latency = key == "mean_latency_ns"
        found.append(
            _Marks(
                title,
                [
                    {"level": row["level"], "value": row[f"{key}_{state}"] / scale, "series": state}
                    for row in rows
                    for state in _STATES
                    if row.get(f"{key}_{state}")
                    and not (is_latency and row.get(f"keeps_up_{state}") is False)
                ],
            )
        )
    return found


def _rebuilds(rows: Sequence[Mapping[str, Any]]) -> _Marks:
    """Hours of a rebuild, with their errors."""
    found = []
    for row in rows:
        for key, series in _REBUILDS.items():
            if hours := row.get(f"{key}_h"):
                error = row.get(f"{key}_relative_error") or 0.0
                ends = {"low": hours * max(1 - error, 0.01), "high": hours * (1 + error)}
                found.append({"level": row["level"], "value": hours, "series": series, **ends})
    return _Marks("Rebuild, h", found)


def _losses(comparison: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> _Marks:
    if comparison.get("lifetime") is None:
        return _Marks("", [])
    found = [
        {"level": row["level"], "value": row["loss_in_a_year_percent"], "series": "lost"}
        for row in rows
        if row.get("loss_in_a_year_percent")
    ]
    return _Marks("Data lost within a year, %", found, form=".0e")


def _depths(comparison: Mapping[str, Any]) -> list[_Marks]:
    """IOPS of whole arrays by depth, for each of the random loads."""
    found = []
    for load, text in _LOADS.items():
        points = (
            (level["label"], point)
            for level in comparison.get("levels") or ()
            for point in ((level.get("states") or {}).get("healthy") or {}).get(load, ())
        )
        found.append(
            _Marks(
                f"IOPS, random {text}, healthy",
                [
                    {"level": label, "value": point["iops"], "series": point["iodepth"]}
                    for label, point in points
                    if point["iops"]
                ],
            )
        )
    return found


def _y(names: Sequence[str], *, first: bool) -> alt.Y:
    axis = alt.Axis(labels=first, ticks=first, grid=True, minExtent=60 if first else 0)
    return alt.Y("level:N", title=None, sort=list(names), scale=alt.Scale(domain=list(names)), axis=axis)


def _panel(
    marks: _Marks, names: Sequence[str], width: int, colour: alt.Color | None, *, first: bool
) -> Panel:
    """A mark for each series on a logarithmic axis, joined by a thin line; errors as thick ones."""
    values = [value for row in marks.rows for key in ("value", "low", "high") if (value := row.get(key))]
    domain, ticks = log_axis(values, width, across=True, form=marks.form)
    x = alt.X(
        "value:Q",
        title=marks.title,
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(**log_labels(ticks, marks.form)),
    )
    y = _y(names, first=first)
    base = Chart(inline(marks.rows))
    tooltip = [alt.Tooltip("level:N"), alt.Tooltip("series:N"), alt.Tooltip("value:Q", format=",.4~g")]
    shown = alt.value(LINE_COLOURS[0]) if colour is None else colour
    layers: list[alt.Chart] = [
        base.mark_line(stroke=SOFT, strokeWidth=0.8).encode(x=x, y=y, detail="level:N")
    ]
    if any("low" in row for row in marks.rows):
        ends = alt.X("low:Q", scale=alt.Scale(type="log", domain=domain, nice=False), title=marks.title)
        layers.append(base.mark_rule(strokeWidth=2.5).encode(x=ends, x2="high:Q", y=y, color=shown))
    layers.append(
        base.mark_point(filled=True, size=48, opacity=1).encode(x=x, y=y, color=shown, tooltip=tooltip)
    )
    return layer(*layers).properties(width=width, height=alt.Step(_STEP))


def _space(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Panel:
    """How much of the drives is data."""
    data = [{"level": row["level"], "value": 100 * row["usable_share"]} for row in rows]
    x = alt.X(
        "value:Q", title="Usable, %", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(values=[0, 50, 100])
    )
    bar = Chart(inline(data)).mark_bar(size=9, color="#9aa7b1")
    return layer(bar.encode(x=x, y=_y(names, first=False))).properties(width=90, height=alt.Step(_STEP))


def _colour(title: str, series: Iterable[Any], colours: Sequence[str], *, shown: bool = True) -> alt.Color:
    known = list(series)
    legend = (
        alt.Legend(orient="top", symbolType="circle", columns=len(known), titleOrient="left")
        if shown
        else None
    )
    scale = alt.Scale(domain=known, range=list(colours[: len(known)]))
    return alt.Color("series:N", title=title, sort=known, scale=scale, legend=legend)


def _shades(count: int) -> list[str]:
    """Shades of one colour, from light for shallow to dark for deep queues."""
    if count == 1:
        return [_RAMP[1]]
    return [_RAMP[round(place * (len(_RAMP) - 1) / (count - 1))] for place in range(count)]


def _notes(comparison: Mapping[str, Any]) -> list[str]:
    """What a mark says of the rebuild and of losses, and which levels are not in the picture."""
    notes = [
        "Rebuild hours: extrapolated from parts, short ones simulated whole; lines are 95 % confidence intervals"
    ]
    if comparison.get("repair"):
        notes.append(f"Data lost: a repair takes {comparison['repair']}")
    missing = [level["label"] for level in comparison.get("levels") or () if level["reason"] is not None]
    if missing:
        notes.append(f"Not possible: {', '.join(missing)}")
    return notes
