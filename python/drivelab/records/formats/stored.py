"""The record of another tool's results, from the JSON object in which a library keeps them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from drivelab.errors import InputError
from drivelab.records.formats.shape import RESULTS, RESULTS_VERSION
from drivelab.records.model import DIRECTIONS, FIGURES, LOAD_FIGURES, Figure, Record, RecordPoint, scalars
from drivelab.records.places import axis_value


def is_results(document: Mapping[str, Any]) -> bool:
    """Whether a document holds another tool's results."""
    return RESULTS in document


def of_results(document: Mapping[str, Any], origin: str) -> Record:
    """The record of such a document. Raises InputError if it is not what a reader made."""
    version = document.get("results_version")
    if version != RESULTS_VERSION:
        raise InputError(
            f"{origin}: results_version is {version!r:.40}, and this drivelab knows {RESULTS_VERSION}: read the "
            "tool's own file again"
        )
    points = document.get("points")
    if not isinstance(points, list):
        raise InputError(f"{origin}: points is missing: read the tool's own file again")
    facts = document.get("facts")
    notes = document.get("notes")
    named = scalars(document, ("program",))
    return Record(
        origin=origin,
        kind=str(document.get("kind", "")),
        points=[_point(point, f"{origin}: points[{at}]") for at, point in enumerate(points)],
        target=str(document.get("target", "")),
        facts=named | (scalars(facts, list(facts)) if isinstance(facts, Mapping) else {}),
        notes=[str(note) for note in notes] if isinstance(notes, list) else [],
    )


def _point(point: object, place: str) -> RecordPoint:
    if not isinstance(point, Mapping):
        raise InputError(f"{place} is no object")
    tables = {name: point.get(name, {}) for name in ("axes", "figures", "rounding")}
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise InputError(f"{place}.{name} is no object")
    direction = point.get("direction", "")
    if direction not in {"", *DIRECTIONS}:
        raise InputError(
            f"{place}.direction is {direction!r:.40}; there is {', '.join(DIRECTIONS)}, or nothing"
        )
    figures = {}
    for name, value in tables["figures"].items():
        kind, _, rest = str(name).rpartition(".")
        if rest not in {*FIGURES, *LOAD_FIGURES} or kind not in {"", *DIRECTIONS}:
            raise InputError(f"{place}.figures: there is no figure {name!r:.40}")
        rounding = _number(tables["rounding"].get(name, 0.0), f"{place}.rounding.{name}")
        found = _number(value, f"{place}.figures.{name}")
        # A figure of 0 is less than its rounding: its ratio to another says nothing.
        figures[str(name)] = Figure(found, resolution=rounding / found if found else 0.0)
    axes = {str(name): axis_value(str(name), value) for name, value in tables["axes"].items()}
    return RecordPoint(axes, figures, direction=str(direction))


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InputError(f"{place} is {value!r:.40}; it is a number from 0 on")
    return float(value)
