"""The parts of the mean response time: a stacked bar for each point, its parts in the order of a command's path.

Bars are horizontal, because the names of points are long and a sweep has many of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Point, Row, Sweep, part, scaled, sweep
from drivelab.charts.theme import (
    INK,
    PART_COLOURS,
    SPARE_PART_COLOURS,
    Chart,
    Panel,
    dress,
    heading,
    inline,
    layer,
)
from drivelab.report.plural import are, counted

WIDTH = 680
# Width of a character of a title.
_TITLE_CHAR = 7.0
# Height of one bar with its gap, in points, up to each number of bars.
_STEPS = ((40, 22), (120, 15), (100_000, 11))


def breakdown(
    points: Sequence[Point], title: str | None = None, notes: Sequence[str] = ()
) -> alt.VConcatChart:
    """Mean response time in ms of each point, split into its parts, with the sum at the end of the bar.

    `points` are dicts as in `simulate --json`; the parts are the means in `breakdown_ns`: queue, overhead,
    seek, rotation, transfer, link, wait, in that order, then any other. Points without a breakdown are left
    out, and counted in a note. Raises ChartError where no point has one.
    """
    plan = sweep(points)
    splits = {row["at"]: _split(points[row["at"]]) for row in plan.rows}
    bars = [row for row in plan.rows if splits[row["at"]]]
    if not bars:
        raise ChartInputError("no point has a breakdown of its response time")
    found = {name for split in splits.values() for name in split}
    order = [name for name in PART_COLOURS if name in found] + sorted(found - PART_COLOURS.keys())
    missing = len(plan.rows) - len(bars)
    left_out = [f"{counted(missing, 'point')} without a breakdown {are(missing)} left out"] if missing else []
    top = max(sum(splits[row["at"]].values()) for row in bars) or 1.0
    step = next(step for limit, step in _STEPS if len(bars) <= limit)

    groups = [[row for row in bars if row["series"] == name] for name in plan.series]
    groups = [group for group in groups if group]
    # A title of the bars that is longer than its panel would reach into the next one.
    titled = all(_TITLE_CHAR * len(plan.x_title) <= step * len(group) for group in groups)
    told = [] if titled else [f"A bar for each {plan.x_title.lower()}"]
    panels = [
        _group(plan, group, splits, order, _x(top, labelled=group is groups[-1]), step=step, titled=titled)
        for group in groups
    ]
    text = "Where the mean response time goes" if title is None else title
    return dress(
        alt.vconcat(*panels, spacing=8, title=heading(text, [*notes, *plan.notes(), *told, *left_out]))
    )


def _x(top: float, *, labelled: bool) -> alt.X:
    """Milliseconds from zero, with room for the sum after the longest bar. Only the last panel has labels."""
    return alt.X(
        "start:Q",
        title="Mean response time, ms" if labelled else None,
        scale=alt.Scale(domain=[0, top * 1.1], nice=False),
        axis=alt.Axis(labels=labelled, ticks=labelled, tickCount=8),
    )


def _split(point: Point) -> dict[str, float]:
    """The known parts of one point's mean response time in ms."""
    split = {name: scaled(value, NS_PER_MS) for name, value in part(point, "breakdown_ns").items()}
    return {name: value for name, value in split.items() if value is not None}


def _group(
    plan: Sweep,
    rows: list[Row],
    splits: dict[int, dict[str, float]],
    order: list[str],
    x: alt.X,
    *,
    step: int,
    titled: bool,
) -> Panel:
    """The bars of one combination of the other axes, stacked vertically in the order of x."""
    segments: list[Row] = []
    totals: list[Row] = []
    for row in rows:
        split = splits[row["at"]]
        total = sum(split.values())
        start = 0.0
        place = {"x": plan.x_text(row["x"]), "series": row["series"]}
        for name in order:
            if name in split:
                span = {"ms": split[name], "start": start, "end": start + split[name]}
                segments.append(
                    {**place, **span, "part": name, "share": split[name] / total if total else 0.0}
                )
                start += split[name]
        totals.append({**place, "total": total, "text": f"{total:,.2f}"})
    others = [name for name in order if name not in PART_COLOURS]
    colour_of = PART_COLOURS | dict(zip(others, cycle(SPARE_PART_COLOURS), strict=False))
    present = {plan.x_text(row["x"]) for row in rows}
    names = [name for name in map(plan.x_text, plan.x_values) if name in present]
    y = alt.Y(
        "x:N",
        sort=names,
        title=plan.x_title if titled else None,
        scale=alt.Scale(paddingInner=0.18, paddingOuter=0.18),
        axis=alt.Axis(
            labelLimit=200, labelFontSize=min(11, step - 2), ticks=False, labelOverlap=False, minExtent=60
        ),
    )
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(domain=order, range=[colour_of[name] for name in order]),
        legend=alt.Legend(orient="top", columns=len(order), symbolType="square", columnPadding=14),
    )
    bars = (
        Chart(inline(segments))
        .mark_bar()
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            color=colour,
            tooltip=[
                alt.Tooltip("x:N", title=plan.x_title),
                *([alt.Tooltip("series:N", title=plan.series_title)] if plan.line_axes else []),
                alt.Tooltip("part:N"),
                alt.Tooltip("ms:Q", title="mean, ms", format=",.3f"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
    )
    sums = (
        Chart(inline(totals))
        .mark_text(align="left", dx=5, fontSize=min(11, step - 2), color=INK)
        .encode(x="total:Q", y=alt.Y("x:N", sort=names), text="text:N")
    )
    layered = layer(bars, sums).properties(width=WIDTH, height=alt.Step(step))
    if not plan.line_axes:
        return layered
    text = f"{plan.series_title}: {rows[0]['series']}"
    return layered.properties(title=alt.TitleParams(text, fontSize=12, anchor="start", offset=4))
