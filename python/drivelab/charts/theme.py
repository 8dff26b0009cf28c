"""How every drivelab picture looks: fonts, colours that colour-blind readers can tell apart, axes, titles.

The pictures themselves are in the other files of this folder. Nothing here registers a global theme: a chart carries
its own configuration, so that importing this package changes nothing in a user's notebook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias, TypeVar

import altair as alt

# Three fonts of the same metrics come first, so that a label measured on one system fits on another.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

INK = "#222222"
SOFT = "#5f5f5f"
GRID = "#e6e6e6"

# Okabe and Ito 2008, "Color Universal Design", without its yellow, which is invisible on white in thin lines.
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")

# The dashes of lines that a second axis distinguishes.
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 1])

# The parts of a response time in the order in which a command passes them; neighbours differ in lightness
# too.
PART_COLOURS = {
    "queue": "#B8B8B8",
    "overhead": "#D55E00",
    "seek": "#0072B2",
    "rotation": "#56B4E9",
    "transfer": "#009E73",
    "link": "#F0E442",
    "wait": "#CC79A7",
}
SPARE_PART_COLOURS = ("#E69F00", "#000000", "#7F3C8D", "#6B4C12")

# Viridis without its last, nearly white, fifth: for more lines than there are named colours.
_RAMP = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#a0da39")

# The types of layered charts in altair.
Panel: TypeAlias = alt.LayerChart | alt.FacetChart

_AnyChart = TypeVar("_AnyChart", bound=alt.TopLevelMixin)


def colours(count: int) -> list[str]:
    """`count` colours: named ones if there are enough, else steps of one ramp from dark to light."""
    if count <= len(LINE_COLOURS):
        return list(LINE_COLOURS[:count])
    return [_blend(index / (count - 1)) for index in range(count)]


def _blend(share: float) -> str:
    """The ramp's colour at `share` of its length, 0 to 1."""
    place = share * (len(_RAMP) - 1)
    left = min(int(place), len(_RAMP) - 2)
    ends = [[int(ramp[at : at + 2], 16) for at in (1, 3, 5)] for ramp in _RAMP[left : left + 2]]
    return "#" + "".join(f"{round(a + (b - a) * (place - left)):02x}" for a, b in zip(*ends, strict=True))


class Chart(alt.Chart):
    """A chart whose parts nobody changes: its copies share them.

    altair copies each chart a few times, with all below it, each time it is layered or set beside others. That took
    longer than many a simulation.
    """

    def __deepcopy__(self, _: object) -> Self:
        """Another chart of the same parts."""
        return self.copy(deep=False)

    def encode(self, *args: Any, **channels: Any) -> Self:  # noqa: ANN401 - as in altair
        """Set the channels; altair would compare a text or a value with all its classes to find that of the channel."""
        return super().encode(*args, **{name: _channel(name, given) for name, given in channels.items()})


def _channel(name: str, given: Any) -> Any:  # noqa: ANN401 - what altair takes for a channel
    """A text or a value as the channel of this name; anything else as it is."""
    kind = name[0].upper() + name[1:]
    if isinstance(given, str):
        return getattr(alt, kind)(given)
    if isinstance(given, dict) and given.keys() == {"value"}:
        return getattr(alt, f"{kind}Value")(given["value"])
    return given


class _Layers(alt.LayerChart):
    """Layers that nobody changes either."""

    def __deepcopy__(self, _: object) -> Self:
        return self.copy(deep=False)


def layer(*charts: alt.Chart | Panel) -> alt.LayerChart:
    """The charts over each other in one panel, as `alt.layer` has them."""
    return _Layers(layer=charts)


class _Inline(alt.InlineData):
    """Rows that nobody changes: the copies that altair makes of a chart share them."""

    # Rows of our own making need no look at each of them.
    _class_is_valid_at_instantiation = False

    def __deepcopy__(self, _: object) -> _Inline:
        return _Inline(**self._kwds)


def inline(rows: Sequence[Mapping[str, Any]]) -> alt.InlineData:
    """Rows as inline data of the chart, however many: a saved chart needs no other file."""
    return _Inline(values=[dict(row) for row in rows])


def heading(text: str, notes: Sequence[str] = ()) -> alt.TitleParams:
    """A chart's title, with one smaller line below it for each note."""
    return alt.TitleParams(text=text, subtitle=list(notes)) if notes else alt.TitleParams(text=text)


def dress(chart: _AnyChart) -> _AnyChart:
    """The same top-level chart with the house style: white background, grey grid, dark text."""
    text: dict[str, Any] = {"labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 12}
    return chart.properties(
        background="white",
        padding=14,
        config=alt.Config(
            font=FONT,
            view=alt.ViewConfig(stroke="#bdbdbd"),
            title=alt.TitleConfig(
                anchor="start",
                color=INK,
                fontSize=16,
                fontWeight="bold",
                subtitleColor=SOFT,
                subtitleFontSize=11.5,
                subtitlePadding=5,
                offset=12,
            ),
            axis=alt.AxisConfig(
                **text,
                titleFontWeight="bold",
                domainColor="#8a8a8a",
                tickColor="#8a8a8a",
                gridColor=GRID,
                titlePadding=8,
            ),
            legend=alt.LegendConfig(
                **text,
                padding=6,
                titleFontWeight="bold",
                titleLimit=320,
                labelLimit=320,
                symbolSize=90,
                rowPadding=4,
            ),
            header=alt.HeaderConfig(**text, titleFontWeight="bold", labelFontWeight="bold"),
        ),
    )
