"""A fitted drive: the error of each group, fitted and held out, and the sweep as measured and as simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.theme import LINE_COLOURS, Chart, dress, heading, inline
from drivelab.charts.ticks import fitting, log_labels

WIDTH = 560
_ROW = 20


def fitted(
    drive: str, groups: Sequence[Mapping[str, Any]], sweep: Sequence[Mapping[str, Any]]
) -> alt.VConcatChart:
    """Groups {"name", "part", "error", "n"}, rows of a sweep {"iodepth", "iops_measured", "iops_simulated"}.

    Raises ChartError if both are empty.
    """
    panels: list[Any] = []
    if groups:
        rows = [{**group, "error": round(100 * group["error"], 4)} for group in groups]
        names = list(dict.fromkeys(row["name"] for row in rows))
        panels.append(
            Chart(inline(rows))
            .mark_point(filled=True, size=60)
            .encode(
                x=alt.X("error:Q", title="error of the simulated mean, %"),
                y=alt.Y("name:N", sort=names, title=None),
                color=_colour("part", ["fitted", "held out"]),
                tooltip=["name:N", "part:N", "n:Q", alt.Tooltip("error:Q", format="+.2f")],
            )
            .properties(width=WIDTH, height=_ROW * len(names))
        )
    if sweep:
        rows = [
            {"iodepth": row["iodepth"], "iops": row[f"iops_{kind}"], "kind": kind}
            for row in sweep
            for kind in ("measured", "simulated")
        ]
        panels.append(
            Chart(inline(rows))
            .mark_line(point=True)
            .encode(
                x=_depths([row["iodepth"] for row in rows]),
                y=alt.Y("iops:Q", title="IOPS"),
                color=_colour("kind", ["measured", "simulated"]),
            )
            .properties(width=WIDTH, height=240)
        )
    if not panels:
        raise ChartInputError("there are neither groups nor a sweep to draw")
    title = heading(f"{drive}: fitted", ["residuals by group; the sweep as measured and as simulated"])
    drawn: alt.VConcatChart = alt.vconcat(*panels, spacing=24, title=title).resolve_scale(color="independent")
    return dress(drawn)


def _depths(depths: Sequence[float]) -> alt.X:
    """Queue depths on a logarithmic axis, a tick at each that has room."""
    values = sorted({float(depth) for depth in depths})
    domain = [values[0] / 1.15, values[-1] * 1.15]
    axis = alt.Axis(**log_labels(fitting(values, domain, WIDTH, across=True)))
    scale = alt.Scale(type="log", base=2, domain=domain, nice=False)
    return alt.X("iodepth:Q", title="Queue depth asked", scale=scale, axis=axis)


def _colour(field: str, names: Sequence[str]) -> alt.Color:
    return alt.Color(
        f"{field}:N", scale=alt.Scale(domain=list(names), range=list(LINE_COLOURS[:2])), title=None
    )
