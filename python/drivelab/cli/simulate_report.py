"""The report of `drivelab simulate`: its tables, its remarks, and the charts that `--out` would draw."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from drivelab.cli.reports import Make, Reported
from drivelab.cli.simulate_options import Shown, points_in_a_rebuild, points_in_a_timeline
from drivelab.report.array_summary import is_eventful
from drivelab.report.sweep_summary import sentence
from drivelab.runs.result import Result

if TYPE_CHECKING:
    from drivelab.runs.point import Point


def reported(result: Result, shown: Shown, prints: Callable[[], object]) -> Reported:
    """What there is to report of a simulation."""
    return Reported(
        title=result.headline(),
        verb="simulate",
        prints=prints,
        charts=_charts(result, shown),
        provenance=result.provenance(),
        identity=result.identity(),
        captions=("Points",),
        record=result.document(),
        scenario=str(result.scenario().get("scenario", "")),
        answer=list(filter(None, [sentence(result.records)])),
        is_rerun=True,
    )


def _charts(result: Result, shown: Shown) -> list[Make]:
    """The charts that have something to show."""
    points: list[Point] = result.points
    if not any(point["latency_ns"]["n"] for point in points):
        return []
    found: list[Make] = [partial(result.chart, metric=shown.metric), result.breakdown_chart]
    if shown.over_time:
        found.append(result.over_time_chart)
    if any(map(is_eventful, result.records)) and len(points) <= points_in_a_rebuild():
        found.append(result.rebuild_chart)
    alike = len({"array" in point for point in points}) == 1
    if any(point.get("commands") for point in points) and alike and len(points) <= points_in_a_timeline():
        found.append(result.timeline_chart)
    return found
