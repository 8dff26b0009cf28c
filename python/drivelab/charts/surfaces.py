"""The surfaces of several drives in one plot: transfer rate on top, and below it a dot for each access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import BYTES_PER_MB, NS_PER_MS, Row, part
from drivelab.charts.theme import LINE_COLOURS, Chart, Panel, dress, heading, inline, layer

WIDTH = 760
HEIGHT_RATE, HEIGHT_ACCESS = 270, 230
# Maximum number of accesses shown per drive: more are overlapping clouds.
_DOTS_MAX = 600


def surfaces(scans: Sequence[Mapping[str, Any]], title: str | None = None) -> alt.VConcatChart:
    """Rate (top) and access time (bottom) over the share of the data, a colour for each drive.

    `scans` are dicts as in `drivelab scan --json`. Raises ChartError if one has no places or no accesses.
    """
    names = [str(scan.get("name", "drive")) for scan in scans]
    rates = [row for scan, name in zip(scans, names, strict=True) for row in _rates(scan, name)]
    dots = [row for scan, name in zip(scans, names, strict=True) for row in _accesses(scan, name)]
    if not rates or not dots:
        raise ChartInputError("the scans have no places, or no accesses, to draw")
    colour = alt.Color(
        "drive:N",
        title=None,
        scale=alt.Scale(domain=names, range=list(LINE_COLOURS[: len(names)])),
        legend=alt.Legend(orient="bottom", columns=3, symbolType="circle"),
    )
    kind = scans[0].get("rw", "read")
    upper = _panel(rates, "mb_per_s", f"{str(kind).capitalize()} rate, MB/s", colour, is_line=True)
    lower = _panel(dots, "ms", "Access time, ms", colour, is_line=False)
    text = f"{' and '.join(names)}: {kind}s over the surface" if title is None else title
    notes = [_note(scan, name) for scan, name in zip(scans, names, strict=True)]
    return dress(alt.vconcat(upper, lower, spacing=16, title=heading(text, notes)))


def _rates(scan: Mapping[str, Any], name: str) -> list[Row]:
    return [
        {"drive": name, "share": 100 * place["share"], "mb_per_s": place["bytes_per_s"] / BYTES_PER_MB}
        for place in part(scan, "surface").get("places") or ()
    ]


def _accesses(scan: Mapping[str, Any], name: str) -> list[Row]:
    found = part(scan, "access").get("accesses") or ()
    return [
        {
            "drive": name,
            "share": 100 * each["first_byte"] / scan["capacity_bytes"],
            "ms": each["ns"] / NS_PER_MS,
        }
        for each in found[:_DOTS_MAX]
    ]


def _note(scan: Mapping[str, Any], name: str) -> str:
    rates, access = part(scan, "surface"), part(scan, "access")
    least, mean, most = (rates[f"{which}_bytes_per_s"] / BYTES_PER_MB for which in ("min", "mean", "max"))
    return f"{name}: {least:.1f} to {most:.1f} MB/s, mean {mean:.1f}; access {access['mean_ns'] / NS_PER_MS:.2f} ms"


def _panel(rows: Sequence[Row], field: str, title: str, colour: alt.Color, *, is_line: bool) -> Panel:
    scale = alt.Scale(domain=[0, max(row[field] for row in rows) * 1.08], nice=False)
    x = alt.X(
        "share:Q",
        title=None if is_line else "Share of the data before it, % (0 is the outer edge)",
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(tickCount=10, labels=not is_line),
    )
    y = alt.Y(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(minExtent=32, tickCount=6))
    tooltip = [
        alt.Tooltip("drive:N"),
        alt.Tooltip("share:Q", title="share, %", format=".1f"),
        alt.Tooltip(f"{field}:Q", title=title, format=",.2f"),
    ]
    base = Chart(inline(rows))
    marks = (
        base.mark_line(strokeWidth=1.8, strokeJoin="round")
        if is_line
        else base.mark_circle(size=12, opacity=0.5)
    )
    layers = layer(marks.encode(x=x, y=y, color=colour, tooltip=tooltip))
    return layers.properties(width=WIDTH, height=HEIGHT_RATE if is_line else HEIGHT_ACCESS)
