"""Two distributions of response times in one plot, measured and simulated: all requests, and below each kind.

The demerit figure is the root mean square of the horizontal distance between the two curves of a panel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from drivelab.charts.errors import ChartInputError
from drivelab.charts.group_errors import group_errors
from drivelab.charts.rows import Row
from drivelab.charts.theme import LINE_COLOURS, SOFT, Chart, Panel, dress, heading, inline, layer
from drivelab.report.plural import counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    # numpy loads where it computes: the other pictures of this folder do without.
    Samples = npt.NDArray[np.float64]

WIDTH = 700
HEIGHT = 320
SMALL_HEIGHT = 170
GAP = 22
_KINDS = ("measured", "simulated")
# Width of the axes between two small panels.
_AXIS = 70
# Width of the names of groups.
_NAMES = 110
# Number of points of a curve; the two outermost are the smallest and the largest sample.
_POINTS = 400
# The axis ends where this share of both samples lies: a few slow requests would flatten all others.
_SHOWN = 0.999


@dataclass(frozen=True)
class _Panel:
    """What one panel shows."""

    text: str
    measured: Samples
    simulated: Samples

    @property
    def edge(self) -> float:
        """The largest response time shown."""
        import numpy as np  # noqa: PLC0415

        return 1.05 * max(float(np.quantile(samples, _SHOWN)) for samples in (self.measured, self.simulated))


def distributions(
    drive: str,
    groups: Sequence[Mapping[str, Any]],
    errors: Sequence[Mapping[str, Any]] = (),
    margin_percent: float = 5,
) -> alt.VConcatChart:
    """The first group in a large panel, the others in two columns below, then the errors of the means.

    A group is {"name", "measured_ms": [..], "simulated_ms": [..], "demerit_ms", "demerit_share"}, with at least
    one request; an error is what `group_errors` takes. Raises ChartError without any group.
    """
    panels = [_group(group) for group in groups]
    if not panels:
        raise ChartInputError("there are no requests to draw")
    first, *others = panels
    rows: list[Any] = [_draw(first, WIDTH, HEIGHT, labelled=True)]
    if others:
        small = [_draw(panel, (WIDTH - _AXIS) / 2, SMALL_HEIGHT, labelled=False) for panel in others]
        rows.append(alt.concat(*small, columns=2, spacing=GAP))
    if below := group_errors(errors, margin_percent, WIDTH - _NAMES):
        rows.append(below)
    notes = [
        f"{counted(len(first.measured), 'request')}; the demerit is the root mean square of the distance between the "
        "curves",
        *_beyond(first),
    ]
    title = heading(f"{drive}: response times as measured and as simulated", notes)
    return dress(alt.vconcat(*rows, spacing=GAP, title=title))


def _group(group: Mapping[str, Any]) -> _Panel:
    import numpy as np  # noqa: PLC0415

    measured, simulated = (np.asarray(group[f"{kind}_ms"], dtype=float) for kind in _KINDS)
    if not (measured.size and simulated.size):
        raise ChartInputError(f"there are no requests in {group['name']}")
    share = "" if group["demerit_share"] is None else f", {100 * group['demerit_share']:.1f} %"
    text = (
        f"{group['name']}: mean {measured.mean():.2f} ms measured, {simulated.mean():.2f} simulated; "
        f"demerit {group['demerit_ms']:.2f} ms{share}"
    )
    return _Panel(text, measured, simulated)


def _beyond(panel: _Panel) -> list[str]:
    """How many requests lie beyond the end of the axis."""
    counts = [int((samples > panel.edge).sum()) for samples in (panel.measured, panel.simulated)]
    if not any(counts):
        return []
    return [f"beyond the edge: {counts[0]} measured and {counted(counts[1], 'simulated request')}"]


def _curve(samples: Samples, kind: str) -> list[Row]:
    """A cumulative distribution, sampled at points."""
    import numpy as np  # noqa: PLC0415

    ordered = np.sort(samples)
    ranks = np.unique(np.linspace(0, len(ordered) - 1, min(_POINTS, len(ordered))).round().astype(int))
    shares = 100 * (ranks + 1) / len(ordered)
    return [
        {"kind": kind, "ms": round(float(ms), 6), "percent": round(float(share), 4)}
        for ms, share in zip(ordered[ranks], shares, strict=True)
    ]


def _draw(panel: _Panel, width: float, height: float, *, labelled: bool) -> Panel:
    """Both curves of one group."""
    samples = (panel.measured, panel.simulated)
    rows = [row for kind, times in zip(_KINDS, samples, strict=True) for row in _curve(times, kind)]
    legend = alt.Legend(orient="top", title=None, symbolStrokeWidth=3, symbolSize=300)

    def axis(field: str, title: str, most: float) -> dict[str, Any]:
        scale = alt.Scale(domain=[0, most], nice=False)
        return {
            "shorthand": field,
            "title": title,
            "scale": scale,
            "axis": alt.Axis(titleFontWeight="normal"),
        }

    colour = alt.Scale(domain=list(_KINDS), range=[SOFT, LINE_COLOURS[1]])
    dash = alt.Scale(domain=list(_KINDS), range=[[1, 0], [5, 2]])
    lines = (
        Chart(inline(rows))
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            x=alt.X(**axis("ms:Q", "Response time, ms", panel.edge)),
            y=alt.Y(**axis("percent:Q", "Requests, %", 100)),
            color=alt.Color("kind:N", scale=colour, legend=legend),
            strokeDash=alt.StrokeDash("kind:N", scale=dash, legend=legend),
            order="percent:Q",
            tooltip=[
                alt.Tooltip("kind:N"),
                alt.Tooltip("ms:Q", title="response time, ms", format=".3f"),
                alt.Tooltip("percent:Q", title="requests, %", format=".2f"),
            ],
        )
    )
    title = alt.TitleParams(panel.text, fontSize=12 if labelled else 9.5, anchor="start", offset=6)
    return layer(lines).properties(width=width, height=height, title=title)
