"""A drive's surface as reviewers draw it: the transfer rate over the addresses, and below it a dot per access.

The dashed curve is the fit: a straight line through the squares of the rates, which corresponds to constant linear
and track densities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import BYTES_PER_MB, NS_PER_MS, Row, part
from drivelab.charts.theme import INK, LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer

WIDTH = 860
HEIGHT_RATE, HEIGHT_ACCESS = 260, 260
_RATE, _ACCESS, _FIT = LINE_COLOURS[0], LINE_COLOURS[1], LINE_COLOURS[6]
# The fit is drawn as this many straight pieces.
_PIECES = 100
# Room for the labels of y, so that both panels are aligned.
_Y_AXIS = alt.Axis(minExtent=32, tickCount=6)


def surface(scan: Mapping[str, Any], title: str | None = None) -> alt.VConcatChart:
    """Rate (top) and access time (bottom) over the share of the data.

    `scan` is a dict as in `drivelab scan --json`. Raises ChartError if it has no places or no accesses.
    """
    places = [_place(place) for place in part(scan, "surface").get("places") or ()]
    accesses = [
        {"share": 100 * access["first_byte"] / scan["capacity_bytes"], "ms": access["ns"] / NS_PER_MS}
        for access in part(scan, "access").get("accesses") or ()
    ]
    if not places or not accesses:
        raise ChartInputError("the scan has no places, or no accesses, to draw")
    chart = alt.vconcat(
        _rates(places, scan),
        _accesses(accesses, part(scan, "access")),
        spacing=18,
        title=heading(
            title or f"{scan.get('name', 'drive')}: {scan.get('rw', 'read')}s over the surface", _notes(scan)
        ),
    )
    return dress(chart)


def _place(place: Mapping[str, Any]) -> Row:
    return {"share": 100 * place["share"], "mb_per_s": place["bytes_per_s"] / BYTES_PER_MB}


def _notes(scan: Mapping[str, Any]) -> list[str]:
    """The figures, and how to read the picture."""
    rates, access = part(scan, "surface"), part(scan, "access")
    least, mean, most = (rates[f"{name}_bytes_per_s"] / BYTES_PER_MB for name in ("min", "mean", "max"))
    figures = (
        f"Rate {least:.1f} to {most:.1f} MB/s, mean {mean:.1f}; "
        f"access {access['mean_ns'] / NS_PER_MS:.2f} ms, deviation {access['sd_ns'] / NS_PER_MS:.2f}"
    )
    burst = part(scan, "burst")
    if burst.get("buffered"):
        figures += f"; burst {burst['bytes_per_s'] / BYTES_PER_MB:.1f} MB/s"
    fit = part(rates, "square_over_share")
    notes = [figures]
    if fit.get("r2") is not None:
        notes.append(
            f"Dashed: a straight line through the squares of the rates (R² {fit['r2']:.4f}). "
            f"Dots: {access['n']:,} random {scan.get('rw', 'read')}s, one at a time."
        )
    return notes


def _x(*, titled: bool) -> alt.X:
    title = "Share of the data before it, % (0 is the outer edge)" if titled else None
    return alt.X(
        "share:Q",
        title=title,
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=alt.Axis(tickCount=10, labels=titled),
    )


def _rates(places: list[Row], scan: Mapping[str, Any]) -> Panel:
    """The rate at each place, its mean, and the fit."""
    rates = part(scan, "surface")
    top = max(row["mb_per_s"] for row in places) * 1.08
    scale = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y(
        "mb_per_s:Q", title=f"{scan.get('rw', 'read').capitalize()} rate, MB/s", scale=scale, axis=_Y_AXIS
    )
    x = _x(titled=False)
    tooltip = [
        alt.Tooltip("share:Q", title="share, %", format=".1f"),
        alt.Tooltip("mb_per_s:Q", title="MB/s", format=".1f"),
    ]
    base = Chart(inline(places))
    layers: list[Any] = [
        *_mean(rates["mean_bytes_per_s"] / BYTES_PER_MB, y, x, ".1f"),
        base.mark_line(color=_RATE, strokeWidth=1.6, strokeJoin="round").encode(x=x, y=y),
        base.mark_point(filled=True, size=14, opacity=1, color=_RATE).encode(x=x, y=y, tooltip=tooltip),
    ]
    if fit := part(rates, "square_over_share"):
        layers.append(
            Chart(inline(_curve(fit)))
            .mark_line(color=_FIT, strokeWidth=1.1, strokeDash=[5, 4])
            .encode(x=x, y=y)
        )
    return layer(*layers).properties(width=WIDTH, height=HEIGHT_RATE)


def _curve(fit: Mapping[str, float]) -> list[Row]:
    """The square root of the fitted line, where it is positive."""
    shares = [piece / _PIECES for piece in range(_PIECES + 1)]
    squares = [(share, fit["intercept"] + fit["slope"] * share) for share in shares]
    return [
        {"share": 100 * share, "mb_per_s": square**0.5 / BYTES_PER_MB}
        for share, square in squares
        if square > 0
    ]


def _accesses(accesses: list[Row], figures: Mapping[str, Any]) -> Panel:
    """A dot for each access, and their mean."""
    top = max(row["ms"] for row in accesses) * 1.06
    scale = alt.Scale(domain=[0, top], nice=False)
    tooltip = [
        alt.Tooltip("share:Q", title="share, %", format=".2f"),
        alt.Tooltip("ms:Q", title="ms", format=".3f"),
    ]
    x, y = _x(titled=True), alt.Y("ms:Q", title="Access time, ms", scale=scale, axis=_Y_AXIS)
    dots = (
        Chart(inline(accesses))
        .mark_circle(size=11, opacity=0.55, color=_ACCESS)
        .encode(x=x, y=y, tooltip=tooltip)
    )
    mean = _mean(figures["mean_ns"] / NS_PER_MS, y, x, ".2f")
    return layer(dots, *mean).properties(width=WIDTH, height=HEIGHT_ACCESS)


def _mean(value: float, y: alt.Y, x: alt.X, form: str) -> list[alt.Chart]:
    """A thin line at a mean, with its figure at the right edge."""
    field = str(y.shorthand).removesuffix(":Q")
    base = Chart(inline([{field: value, "share": 100, "text": f"mean {value:{form}}"}]))
    rule = base.mark_rule(color=INK, strokeWidth=0.9, opacity=0.8).encode(y=y)
    text = base.mark_text(align="left", dx=6, fontSize=11, color=SOFT).encode(x=x, y=y, text="text:N")
    return [rule, text]
