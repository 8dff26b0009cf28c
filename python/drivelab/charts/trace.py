"""A recorded trace: rates and depth over time, below them the sizes of requests and the distances between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import BYTES_PER_MB, Row, part
from drivelab.charts.theme import LINE_COLOURS, Chart, Panel, dress, heading, inline, layer
from drivelab.report.plural import counted

WIDTH = 860
HEIGHT_RATE, HEIGHT_DEPTH, HEIGHT_BARS = 220, 130, 180
_GAP = 70
_READ, _WRITE, _DEPTH, _JUMP = LINE_COLOURS[0], LINE_COLOURS[1], LINE_COLOURS[2], LINE_COLOURS[3]
_KINDS = ("read", "write")
_Y_AXIS = alt.Axis(minExtent=40, tickCount=5)
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def trace(info: Mapping[str, Any]) -> alt.VConcatChart:
    """Requests per second and depth over time, sizes and distances.

    `info` is a dict as in `drivelab trace info --json`. Raises ChartError if it has no requests.
    """
    series = part(info, "over_time")
    if not info.get("requests") or not series.get("reads"):
        raise ChartInputError("the trace has no requests to draw")
    panels: list[Any] = [_rates(series)]
    if any(series["mean_depth"]):
        panels.append(_depths(series))
    panels.append(alt.hconcat(_sizes(part(info, "sizes")), _jumps(part(info, "locality")), spacing=_GAP))
    title = heading(f"{info.get('name', 'trace')}: {counted(info['requests'], 'request')}", _notes(info))
    return dress(alt.vconcat(*panels, spacing=18, title=title))


def _notes(info: Mapping[str, Any]) -> list[str]:
    working, locality = part(info, "working_set"), part(info, "locality")
    share = locality.get("sequential_share")
    sequential = "" if share is None else f", {100 * share:.1f} % sequential"
    read, written = (info[f"bytes_{name}"] / BYTES_PER_MB for name in ("read", "written"))
    return [
        f"{read:,.0f} MB read, {written:,.0f} MB written{sequential}; "
        f"working set {working['bytes'] / BYTES_PER_MB:,.0f} MB ({working['method']})",
        f"A bin is {part(info, 'over_time')['width_ns'] / 1e6:,.0f} ms wide.",
    ]


def _times(series: Mapping[str, Any]) -> list[float]:
    """The start of each bin in seconds since the first one."""
    width = series["width_ns"] / 1e9
    return [at * width for at in range(len(series["reads"]))]


def _x(series: Mapping[str, Any], *, titled: bool) -> alt.X:
    last = len(series["reads"]) * series["width_ns"] / 1e9
    return alt.X(
        "s:Q",
        title="Time, s" if titled else None,
        scale=alt.Scale(domain=[0, last], nice=False),
        axis=alt.Axis(tickCount=10, labels=titled),
    )


def _rates(series: Mapping[str, Any]) -> Panel:
    """Reads and writes per second, a step for each bin."""
    per_s = 1e9 / series["width_ns"]
    rows: list[Row] = [
        {"s": s, "kind": kind, "rate": count * per_s}
        for kind in _KINDS
        for s, count in zip(_times(series), series[f"{kind}s"], strict=True)
    ]
    colour = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=list(_KINDS), range=[_READ, _WRITE]),
        legend=alt.Legend(orient="top"),
    )
    lines = (
        Chart(inline(rows))
        .mark_line(interpolate="step-after", strokeWidth=1.3)
        .encode(
            x=_x(series, titled=not any(series["mean_depth"])),
            y=alt.Y("rate:Q", title="Requests/s", axis=_Y_AXIS),
            color=colour,
            tooltip=[
                alt.Tooltip("s:Q", title="s", format=",.3f"),
                alt.Tooltip("kind:N"),
                alt.Tooltip("rate:Q", title="requests/s", format=",.1f"),
            ],
        )
    )
    return layer(lines).properties(width=WIDTH, height=HEIGHT_RATE)


def _depths(series: Mapping[str, Any]) -> Panel:
    """Requests in the system, the mean of each bin."""
    rows: list[Row] = [
        {"s": s, "depth": depth} for s, depth in zip(_times(series), series["mean_depth"], strict=True)
    ]
    area = (
        Chart(inline(rows))
        .mark_area(
            interpolate="step-after", color=_DEPTH, opacity=0.45, line={"color": _DEPTH, "strokeWidth": 1.2}
        )
        .encode(
            x=_x(series, titled=True),
            y=alt.Y("depth:Q", title="Mean depth", axis=_Y_AXIS),
            tooltip=[
                alt.Tooltip("s:Q", title="s", format=",.3f"),
                alt.Tooltip("depth:Q", title="mean depth", format=",.2f"),
            ],
        )
    )
    return layer(area).properties(width=WIDTH, height=HEIGHT_DEPTH)


def _amount(power: int) -> str:
    """Two to this power, as an amount of bytes."""
    return f"{2 ** (power % 10)} {_UNITS[power // 10]}"


def _bars(rows: Sequence[Row], order: Sequence[str], x: str, colour: alt.Color | alt.ColorValue) -> Panel:
    width = (WIDTH - _GAP) / 2
    bars = (
        Chart(inline(rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "text:N",
                sort=list(order),
                scale=alt.Scale(domain=list(order)),
                title=x,
                axis=alt.Axis(labelAngle=-45, labelOverlap=True),
            ),
            y=alt.Y("requests:Q", title="Requests", axis=_Y_AXIS),
            color=colour,
            tooltip=[alt.Tooltip("text:N", title=x), alt.Tooltip("requests:Q", format=",")],
        )
    )
    return layer(bars).properties(width=width, height=HEIGHT_BARS)


def _sizes(sizes: Mapping[str, Any]) -> Panel:
    """Requests by size, in bins up to each power of two."""
    found = [
        (max(0, (one["bytes"] - 1).bit_length()), kind, one["requests"])
        for kind in _KINDS
        for one in part(sizes, kind).get("histogram") or ()
    ]
    powers = [power for power, _, _ in found]
    order = [_amount(power) for power in range(min(powers, default=9), max(powers, default=9) + 1)]
    rows = [{"text": _amount(power), "kind": kind, "requests": count} for power, kind, count in found]
    scale = alt.Scale(domain=list(_KINDS), range=[_READ, _WRITE])
    return _bars(rows, order, "Size up to", alt.Color("kind:N", scale=scale, legend=None))


def _jumps(locality: Mapping[str, Any]) -> Panel:
    """Requests that do not start at the end of the previous one, by the distance to it."""
    found = [(one["below_power"], one["requests"]) for one in locality.get("distances") or ()]
    powers = [power for power, _ in found]
    order = [_amount(power) for power in range(min(powers, default=9), max(powers, default=9) + 1)]
    rows = [{"text": _amount(power), "requests": count} for power, count in found]
    return _bars(rows, order, "Jump below", alt.ColorValue(_JUMP))
