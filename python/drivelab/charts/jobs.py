"""Each job of a run by itself: over a sweep one line for each job, of a single run its response times.

A job that starves beside another is not seen in the figures of both together.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from drivelab.charts.curves import depth
from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import NS_PER_MS, Point, Row, number, part, scaled
from drivelab.charts.theme import INK, LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer
from drivelab.charts.ticks import log_axis, log_labels

WIDTH = 620
_ROW_HEIGHT = 44
_MARKS = ("min", "p50", "mean", "p99", "max")
_AXIS = "job"


def has_jobs(points: Sequence[Point]) -> bool:
    """Whether any point has jobs of several kinds."""
    return any(part(point, "jobs") for point in points)


def jobs(
    points: Sequence[Point], title: str | None = None, *, metric: str = "iops", notes: Sequence[str] = ()
) -> alt.TopLevelMixin:
    """The jobs of points, dicts as in `simulate --json`. Raises ChartError where there is nothing to draw."""
    if len(points) == 1:
        return dress(_of_one(points[0], title, notes))
    return depth(by_job(points), title, metric=metric, notes=notes)


def by_job(points: Sequence[Point]) -> list[Point]:
    """A point for each job of a point, with the job as one more axis; a point of one job stays as it is."""
    found: list[Point] = []
    for point in points:
        own = part(point, "jobs")
        axes = part(point, "axes")
        found += [
            {**job, "axes": {**axes, _AXIS: name}, "depth": part(point, "depth")} for name, job in own.items()
        ]
        if not own:
            found.append({**point, "axes": {**axes, _AXIS: "all"}})
    return found


def _of_one(point: Point, title: str | None, notes: Sequence[str]) -> Panel:
    """The response times of each job on one logarithmic axis, from the shortest to the longest."""
    rows = [_row(name, job) for name, job in part(point, "jobs").items()]
    times = [row[mark] for row in rows for mark in _MARKS if row[mark] is not None and row[mark] > 0]
    if not times:
        raise ChartInputError("no job has response times to draw")
    domain, ticks = log_axis(times, WIDTH, across=True)
    x_axis = alt.Axis(**log_labels(ticks))
    scale = alt.Scale(type="log", domain=domain, nice=False)
    names = [row["job"] for row in rows]
    y = alt.Y("job:N", title=None, sort=names, axis=alt.Axis(labelLimit=220, labelFontWeight="bold"))
    base = Chart(inline(rows)).encode(y=y)

    def x(mark: str) -> alt.X:
        return alt.X(f"{mark}:Q", title="Response time, ms", scale=scale, axis=x_axis)

    tooltip = [alt.Tooltip("job:N"), alt.Tooltip("rates:N", title="rate")]
    tooltip += [
        alt.Tooltip(f"{mark}:Q", title=f"{mark}, ms" if mark != "n" else "I/Os", format=",.4~g")
        for mark in ("n", *_MARKS)
    ]
    layers: list[alt.Chart] = [
        base.mark_rule(color=LINE_COLOURS[5], strokeWidth=2).encode(x=x("min"), x2="max:Q"),
        base.mark_rule(color=LINE_COLOURS[0], strokeWidth=7).encode(x=x("p50"), x2="p99:Q"),
        base.mark_point(filled=True, size=70, color=INK, opacity=1).encode(x=x("mean"), tooltip=tooltip),
        base.mark_tick(color=LINE_COLOURS[1], thickness=3, size=18, opacity=1).encode(
            x=x("max"), tooltip=tooltip
        ),
        base.mark_text(align="left", dy=-15, color=SOFT, fontSize=11).encode(
            x=alt.value(4), text=alt.Text("rates:N")
        ),
    ]
    words = "Black: the mean; thick: from the median to p99; thin: from the shortest to the longest (orange)."
    return layer(*layers).properties(
        width=WIDTH,
        height=_ROW_HEIGHT * len(rows) + 10,
        title=heading(title or "Response times of each job", [*notes, words]),
    )


def _row(name: str, job: Point) -> Row:
    latency = part(job, "latency_ns")
    rates = f"{number(job.get('iops')) or 0:,.4g} IOPS, {scaled(job.get('bytes_per_s'), 1e6) or 0:,.4g} MB/s"
    own: Row = {mark: scaled(latency.get(mark), NS_PER_MS) for mark in _MARKS}
    return {"job": name, "rates": rates, "n": number(latency.get("n")), **own}
