"""A chart as SVG inside a page: in two or three widths, without styles and ids that could meet those of the page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import altair as alt

from drivelab.charts import files
from drivelab.charts.errors import ChartInputError
from drivelab.charts.fit import drawn_width
from drivelab.report.document.colours import ON_PAINT
from drivelab.report.document.content import Drawing

NARROW = 340
"""The width for a telephone, in points."""
MIDDLE = 640
"""The width for a tablet and for paper, of a chart that is wider than WIDE."""
WIDE = 900
_TAG = re.compile(r"<[A-Za-z](?:[^<>\"]|\"[^\"]*\")*>")
_SPOKEN = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
"""What screen readers would say of a part: the chart has one text as a whole."""
_STYLE = re.compile(r' style="([^"]*)"')
_DECLARED = re.compile(r"\s*([\w-]+)\s*:\s*([^;]+)")


def inline(chart: alt.TopLevelMixin, number: int) -> Drawing:
    """The chart, the one of this number on its page. Raises ChartError."""
    spec = files.spec_of(chart)
    # The page has a colour of its own; what a screen reader says is one text for the whole chart.
    spec = {
        **spec,
        "background": None,
        "config": {**spec.get("config", {}), "background": None, "aria": False},
    }
    _name_inks(spec, count())
    title, notes = _heading(spec)
    said = ". ".join(part for part in (f"Chart: {title}" if title else "Chart", *notes) if part)
    try:
        broad, narrow = files.svg_of(spec), files.svg_of(spec, NARROW)
        is_wider = drawn_width(broad) > WIDE
        middle = files.svg_of(spec, MIDDLE) if is_wider else ""
    except ValueError as error:
        raise ChartInputError(f"the chart {title!r} cannot be drawn: {error}") from error
    alternative = f"{said}. The tables of this page have its figures."
    shapes = {"wider" if is_wider else "broad": broad, "middle": middle, "narrow": narrow}
    return Drawing(
        title,
        [
            _within(drawing, f"c{number}{kind[0]}", kind, alternative)
            for kind, drawing in shapes.items()
            if drawing
        ],
    )


def _name_inks(view: Any, numbers: Iterator[int]) -> None:  # noqa: ANN401 - any part of a specification
    """Name the marks whose colour was chosen for the paint below them, so that a dark page leaves it."""
    if isinstance(view, dict):
        colour = view.get("encoding", {}).get("color", {}) if isinstance(view.get("encoding"), dict) else {}
        if isinstance(colour, dict) and colour.get("field") == "ink":
            view["name"] = f"{ON_PAINT}{next(numbers)}"
        for key, inner in view.items():
            if key != "datasets":
                _name_inks(inner, numbers)
    elif isinstance(view, list):
        for inner in view:
            _name_inks(inner, numbers)


def _heading(spec: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The title of a chart, and its notes."""
    title = spec.get("title") or {}
    notes = title.get("subtitle", []) if isinstance(title, Mapping) else []
    return files.title_of(spec), [notes] if isinstance(notes, str) else list(notes)


def _within(drawing: str, prefix: str, kind: str, alternative: str) -> str:
    """A drawing as an element of the page."""
    numbers: dict[str, str] = {}

    def own(name: str) -> str:
        # The renderer counts ids through a process; on a page they begin anew.
        return numbers.setdefault(name, f"{prefix}-{len(numbers) + 1}")

    def tag(found: re.Match[str]) -> str:
        text = _SPOKEN.sub("", _STYLE.sub(_attributes, found[0]))
        text = re.sub(r' id="([^"]+)"', lambda one: f' id="{own(one[1])}"', text)
        text = re.sub(r"url\(#([^)]+)\)", lambda one: f"url(#{own(one[1])})", text)
        return re.sub(r'href="#([^"]+)"', lambda one: f'href="#{own(one[1])}"', text)

    inner = _TAG.sub(tag, drawing[drawing.index("<svg") :]).replace(' class="marks"', "", 1)
    return inner.replace("<svg", f'<svg class="{kind}" role="img" aria-label="{html.escape(alternative)}"', 1)


def _attributes(found: re.Match[str]) -> str:
    """A style as attributes: the policy of the page lets no style through that is not its own."""
    declared = _DECLARED.findall(html.unescape(found[1]))
    return "".join(f' {name}="{html.escape(value.strip())}"' for name, value in declared)
