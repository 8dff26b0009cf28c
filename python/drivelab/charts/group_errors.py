"""The error of the mean of each group of requests, with its 95 % interval: a row each, over the allowed band.

For a panel below the distributions of a validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from drivelab.charts.rows import Row
from drivelab.charts.theme import GRID, LINE_COLOURS, SOFT, Chart, Panel, inline, layer

_ROW_HEIGHT = 15
# Errors beyond this many margins are drawn at the edge: one of a small group would flatten all others.
_SHOWN_MARGINS = 8
_COLOURS = {"pass": LINE_COLOURS[2], "undecided": SOFT, "fail": LINE_COLOURS[1]}


def group_errors(errors: Sequence[Mapping[str, Any]], margin_percent: float, width: float) -> Panel | None:
    """The rows of {"name", "error", "low", "high", "verdict", "requests"} that have a verdict; None if there are
    none.
    """
    rows = [_row(group) for group in errors if group["verdict"] in _COLOURS]
    if not rows:
        return None
    widest = max(abs(row[end]) for row in rows for end in ("low", "high"))
    edge = max(2 * margin_percent, min(1.1 * widest, _SHOWN_MARGINS * max(margin_percent, 1)))
    scale = alt.Scale(domain=[-edge, edge], nice=False)
    order = [row["name"] for row in rows]
    name = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=230, grid=False))
    # Explicit colours: the panels above have another scale.
    colour = alt.Color("colour:N", scale=None)
    tooltip = [
        alt.Tooltip("name:N"),
        alt.Tooltip("requests:Q"),
        alt.Tooltip("error:Q", title="error of the mean, %", format="+.2f"),
        alt.Tooltip("low:Q", title="95 % from", format="+.2f"),
        alt.Tooltip("high:Q", title="to", format="+.2f"),
        alt.Tooltip("verdict:N"),
    ]
    band = Chart(inline([{"from": -margin_percent, "to": margin_percent}])).mark_rect(color=GRID)
    title = "Error of the simulated mean, %"
    base = Chart(inline(rows)).encode(y=name, color=colour, tooltip=tooltip)
    return layer(
        band.encode(x=alt.X("from:Q", scale=scale, title=title), x2="to:Q"),
        base.mark_rule(strokeWidth=2, clip=True).encode(
            x=alt.X("low:Q", scale=scale, title=title), x2="high:Q"
        ),
        base.mark_point(filled=True, size=30, clip=True).encode(x=alt.X("error:Q", scale=scale, title=title)),
    ).properties(
        width=width,
        height=_ROW_HEIGHT * len(rows),
        title=alt.TitleParams(
            f"Error of each group's mean with its 95 % interval; allowed: {margin_percent:g} % either way",
            fontSize=12,
            anchor="start",
            offset=6,
        ),
    )


def _row(group: Mapping[str, Any]) -> Row:
    shares = {key: round(100 * float(group[key]), 4) for key in ("error", "low", "high")}
    verdict = group["verdict"]
    name = group["name"] if verdict == "pass" else f"{group['name']}: {verdict}"
    return {
        "name": name,
        "verdict": verdict,
        "colour": _COLOURS[verdict],
        "requests": group["requests"],
        **shares,
    }
