"""Fitting a chart to a width: narrower or wider panels, in one column, with the legends below, and wrapped titles.

This works on the Vega-Lite specification, so that every picture can use it. The extent of axes and legends is known
only once a picture is drawn: it is drawn, measured, and drawn again with panels that take up the difference.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

from drivelab.charts.ticks import SIZE_LABEL, fitting

Spec = dict[str, Any]
Measure = Callable[[Spec], float]

# Below this width panels are stacked, with the legends below them.
NARROW = 620
# Width of a character in a title and in a note, as a share of the font's size.
_TITLE_CHAR, _NOTE_CHAR = 0.57, 0.49
_TITLE_SIZE, _NOTE_SIZE = 16.0, 11.5
_PANEL_MIN = 120.0
_ROUNDS = 3
_CLOSE = 2.0


def fit(spec: Mapping[str, Any], width: float, measure: Measure) -> Spec:
    """A copy of `spec` that is about `width` points wide; `measure` returns the drawn width of a specification."""
    # The data, which may be many, stay as they are.
    fitted = {key: value if key == "datasets" else copy.deepcopy(value) for key, value in spec.items()}
    # The heading is wrapped first, because an unwrapped one would count towards the picture's width.
    _break_titles(fitted, width)
    if width < NARROW:
        _stack(fitted)
        _legends_below(fitted, width)
        config = fitted.setdefault("config", {})
        config.setdefault("legend", {}).update({"orient": "bottom", "columns": 3 if width >= 400 else 2})
        config.setdefault("axis", {})["labelOverlap"] = "greedy"
    _let_overlapping_labels_go(fitted)
    for _ in range(_ROUNDS):
        missing = width - measure(fitted)
        if abs(missing) <= _CLOSE or not _widen(fitted, missing):
            break
    _thin_ticks(fitted)
    return fitted


def _break_titles(view: Spec, width: float) -> None:
    """Wrap titles and their notes, those of panels too."""
    title = view.get("title")
    if isinstance(title, str):
        title = view["title"] = {"text": title}
    if isinstance(title, dict):
        size = float(title.get("fontSize", _TITLE_SIZE))
        title["text"] = _lines(title.get("text", ""), (width - 30) / (_TITLE_CHAR * size))
        if "subtitle" in title:
            title["subtitle"] = _lines(title["subtitle"], (width - 30) / (_NOTE_CHAR * _NOTE_SIZE))
    for inner in _views(view):
        _break_titles(inner, width)


def _lines(text: str | list[str], characters: float) -> str | list[str]:
    """Text in lines of at most this many characters, broken at blanks."""
    lines: list[str] = []
    for line in [text] if isinstance(text, str) else text:
        words, current = line.split(" "), ""
        for word in words:
            if current and len(current) + 1 + len(word) > characters:
                lines.append(current)
                current = word
            else:
                current = f"{current} {word}" if current else word
        lines.append(current)
    return lines[0] if len(lines) == 1 else lines


def _views(view: Mapping[str, Any]) -> list[Spec]:
    """The views of which a view is composed; the layers of a panel are not views of their own."""
    return [inner for key in ("vconcat", "hconcat", "concat") for inner in view.get(key, ())]


def _stack(view: Spec) -> None:
    """Stack views that were side by side."""
    if "hconcat" in view:
        row = view["vconcat"] = view.pop("hconcat")
        # Flush panels would cover the axes of those above; each gets the width of the row that they were.
        view.pop("bounds", None)
        widths = [inner.get("width") for inner in row]
        if all(isinstance(width, int | float) for width in widths):
            for inner in row:
                inner["width"] = sum(widths)
    if "concat" in view:
        view["columns"] = 1
    for inner in _views(view):
        _stack(inner)
        # A panel beside another has no axis labels of its own; below it, it needs them.
        for axis in _hidden_axes(inner):
            axis.pop("labels"), axis.pop("ticks", None)


def _legends_below(view: Any, width: float) -> None:  # noqa: ANN401 - any part of a specification
    """Move positioned and multi-column legends to the bottom, in as many columns as there is room for."""
    if isinstance(view, dict):
        legend = view.get("legend")
        if isinstance(legend, dict) and ("columns" in legend or "orient" in legend):
            legend.update({"orient": "bottom", "columns": max(1, int(width // 120))})
        for key, inner in view.items():
            if key != "datasets":
                _legends_below(inner, width)
    elif isinstance(view, list):
        for inner in view:
            _legends_below(inner, width)


def _hidden_axes(view: Mapping[str, Any]) -> list[Spec]:
    """The y axes whose labels only a neighbour shows."""
    if _views(view):
        return []
    found = []
    for layer in [view, *view.get("layer", ())]:
        y = layer.get("encoding", {}).get("y", {})
        axis = y.get("axis")
        if isinstance(axis, dict) and axis.get("labels") is False and y.get("title", "") is None:
            found.append(axis)
    return found


def _let_overlapping_labels_go(view: Any) -> None:  # noqa: ANN401 - any part of a specification
    """Let axes with explicit ticks drop labels that overlap."""
    if isinstance(view, dict):
        axis = view.get("axis")
        if isinstance(axis, dict) and axis.get("values") is not None:
            axis.setdefault("labelOverlap", "greedy")
        for key, inner in view.items():
            if key != "datasets":
                _let_overlapping_labels_go(inner)
    elif isinstance(view, list):
        for inner in view:
            _let_overlapping_labels_go(inner)


def _thin_ticks(view: Spec) -> None:
    """Let ticks of x go whose labels have no room at the new width of their panel."""
    width = view.get("width")
    if isinstance(width, int | float):
        for layer in [view, *view.get("layer", ())]:
            x = layer.get("encoding", {}).get("x", {})
            axis, scale = x.get("axis"), x.get("scale")
            if isinstance(axis, dict) and isinstance(scale, dict):
                _thin(axis, scale, width)
    for inner in _views(view):
        _thin_ticks(inner)


def _thin(axis: Spec, scale: Spec, width: float) -> None:
    ticks, domain = axis.get("values"), scale.get("domain")
    if not isinstance(ticks, list) or not isinstance(domain, list) or axis.get("labelAngle"):
        return
    text = str(axis.get("labelExpr", ""))
    form = SIZE_LABEL if text == SIZE_LABEL else ".0e" if ".0e" in text else ",~r"
    axis["values"] = fitting(ticks, domain, width, across=True, form=form, is_log=scale.get("type") == "log")


def _widen(view: Spec, by: float) -> bool:
    """Widen a view by this many points: all its rows, divided among the views within a row. Returns whether it is."""
    before = view.get("width")
    is_wider = False
    if isinstance(before, int | float):
        view["width"] = max(_PANEL_MIN, before + by)
        for panel in [view, *view.get("layer", ())]:
            if isinstance(panel.get("width"), int | float):
                is_wider = is_wider or before != view["width"] or panel["width"] != view["width"]
                panel["width"] = view["width"]
    row, grid = view.get("hconcat", ()), view.get("concat", ())
    columns = min(view.get("columns", len(grid) or 1), len(grid) or 1)
    shares = [(inner, by) for inner in view.get("vconcat", ())]
    shares += [(inner, by / len(row)) for inner in row]
    shares += [(inner, by / columns) for inner in grid]
    shares += [(inner, by) for inner in ([view["spec"]] if "spec" in view else [])]
    for inner, share in shares:
        is_wider = _widen(inner, share) or is_wider
    return is_wider


def drawn_width(drawing: str) -> float:
    """The width of an SVG."""
    found = re.search(r'<svg[^>]* width="([0-9.]+)"', drawing)
    return float(found.group(1)) if found else 0.0


def with_footer(spec: Mapping[str, Any], text: str, width: float) -> Spec:
    """The same picture with a line of text below it, wrapped if it is wider than the picture."""
    outer = {
        key: spec[key] for key in ("$schema", "background", "config", "datasets", "padding") if key in spec
    }
    inner = {key: value for key, value in spec.items() if key not in outer}
    lines = _lines(text, (width - 40) / (0.52 * 9.5))
    footer: Spec = {
        "data": {"values": [{}]},
        "mark": {"type": "text", "align": "left", "baseline": "top", "fontSize": 9.5, "color": "#5f5f5f"},
        "encoding": {"text": {"value": lines}, "x": {"value": 0}, "y": {"value": 0}},
        "height": 12 * (1 if isinstance(lines, str) else len(lines)),
        "view": {"stroke": None},
    }
    footer["mark"]["lineHeight"] = 12
    return {**outer, "vconcat": [inner, footer], "spacing": 8}
