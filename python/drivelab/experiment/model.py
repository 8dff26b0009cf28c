"""An experiment as its file states it: published cells, and how each becomes a scenario and a figure of its result.

A cell's fields (a drive, a block size, a column of the table) are looked up in the file. Each field adds its part to
the scenario: a patch for one value of the field, or a template that takes any value. Cells that lead to the same
scenario share one run. A value may name a measurement of `drivelab scan` in place of a workload. Cells of a grid have
no published figure: they are predicted for the claims. Nothing here runs anything.
"""

from __future__ import annotations

import csv
import io
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drivelab.errors import InputError
from drivelab.report import toml_text
from drivelab.scanning import MEASURES, Measure

Patch = Mapping[str, Any]
CALIBRATION, VALIDATION, UNPUBLISHED = "calibration", "validation", "unpublished"
UNITS = {
    "%": 0.01,
    "years": 1,
    "MiB/s": 2**20,
    "MB/s": 10**6,
    "Mbit/s": 125_000,
    "IOPS": 1,
    "ms": 10**6,
    "s": 10**9,
    "": 1,
}
"""The divisor for a figure of the record (bytes/s, I/O per second, nanoseconds, shares)."""

ROOMS = ("simulate", "durability")
"""The room that runs a scenario: the simulator by default."""

PICTURES = ("cells", "blocks", "lines")
"""How an outcome may be drawn; the first by default."""

# Parts of a scenario that name a file of the catalogue.
_FILED = ("drive", "controller")


@dataclass(frozen=True)
class Cell:
    """One figure, published or not. `resolution` is half a unit of the last printed digit."""

    id: str
    fields: dict[str, str]
    published: float | None
    resolution: float
    role: str


@dataclass(frozen=True)
class Value:
    """What one value of a field determines; of several fields that set the metric of a cell, the first counts."""

    scenario: Patch
    metric: str | None
    """The path of the figure in a point of the record, or its name in the measurement."""
    measure: str | None
    unit: str | None


@dataclass(frozen=True)
class Field:
    """What one column of the published cells changes in the scenario."""

    name: str
    values: dict[str, Value]
    template: dict[str, str]

    def patches(self, cell: Cell) -> list[Patch]:
        """The scenario's patches for this field's value. Raises InputError for an unknown value."""
        value = cell.fields[self.name]
        if self.values and value not in self.values:
            known = ", ".join(self.values)
            raise InputError(f"cell {cell.id}: {self.name} {value} is none of {known}")
        filled = (nested(key, _filled(text, cell)) for key, text in self.template.items())
        return [*([self.values[value].scenario] if value in self.values else []), *filled]


@dataclass(frozen=True)
class Variant:
    """The same cells with one change; `only` those whose fields have one of the values given for them."""

    patch: Patch
    only: Mapping[str, list[str]]

    def covers(self, cell: Cell) -> bool:
        """Whether the variant is run for a cell."""
        return all(cell.fields[name] in values for name, values in self.only.items())


@dataclass(frozen=True)
class TableLayout:
    """How cells are shown: one table for each value of `split`, a row for each combination of `rows`.

    `only` leaves out cells whose fields have other values.
    """

    title: str
    split: str
    rows: list[str]
    columns: str
    shown: list[str]
    only: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A published table that can be run again."""

    name: str
    title: str
    source: str
    unit: str
    scenario: Patch
    fields: list[Field]
    cells: list[Cell]
    tables: list[TableLayout]
    variants: dict[str, Variant]
    claims: dict[str, str]
    main: dict[str, float]
    """The most important cells: each named field is at least this."""
    facts: Mapping[str, Any]
    """Published figures that no cell predicts and a claim needs: prices, rates of a bus."""
    not_modelled: dict[str, str]
    """Published rows and findings that are left out, each with the reason."""
    picture: Mapping[str, Any]
    """How the outcome is drawn: `kind` is cells (the default), blocks or lines."""
    room: str = ROOMS[0]
    """The room that runs a scenario; for durability the keys are those of a file of `drivelab durability`."""

    def scenario_of(self, cell: Cell, variant: str | None = None) -> str:
        """The scenario that predicts a cell, as TOML text."""
        patches = [patch for part in self.fields for patch in part.patches(cell)]
        if variant is not None:
            patches.append(self.variants[variant].patch)
        measure = self.measure_of(cell)
        document: Patch = merged(
            {"name": self.name} if self.room == ROOMS[0] else {}, measure.document if measure else {}
        )
        for patch in (self.scenario, *patches):
            document = merged(document, patch)
        return toml_text.dumps(document)

    def cells_of(self, variant: str | None) -> list[Cell]:
        """The cells that are run without a variant, or under this one."""
        return [cell for cell in self.cells if variant is None or self.variants[variant].covers(cell)]

    def metric_of(self, cell: Cell) -> str:
        """The path of the figure in a point of the record, or its name in the measurement."""
        metric = self._first(cell, "metric")
        if metric is None:
            raise InputError(f"cell {cell.id}: no field says which figure of the record it is")
        return metric

    def measure_of(self, cell: Cell) -> Measure | None:
        """The cell's measurement of `drivelab scan`; None if it is one run of its scenario."""
        name = self._first(cell, "measure")
        return None if name is None else MEASURES[name]

    def unit_of(self, cell: Cell) -> str:
        """The unit of a cell's figure."""
        return self._first(cell, "unit") or self.unit

    def _first(self, cell: Cell, key: str) -> str | None:
        """The value of the first field that sets this key."""
        values = (part.values.get(cell.fields[part.name]) for part in self.fields)
        found: str | None = next((word for value in values if value and (word := getattr(value, key))), None)
        return found

    def is_main(self, cell: Cell) -> bool:
        """Whether a cell is among the most important."""
        return all(float(cell.fields[name]) >= least for name, least in self.main.items())


def parse(text: str, origin: str) -> Experiment:
    """An experiment from its TOML text. Raises InputError with what is wrong."""
    try:
        document = toml_text.loads(text)
        return _experiment(document)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin}: {error}") from error
    except KeyError as error:
        raise InputError(f"{origin}: {error.args[0]} is missing") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise InputError(f"{origin}: {error}") from error


def nested(key: str, value: object) -> dict[str, Any]:
    """`{"a": {"b": value}}` for the dotted key `a.b`."""
    head, _, rest = key.partition(".")
    return {head: nested(rest, value) if rest else value}


def merged(base: Patch, patch: Patch) -> dict[str, Any]:
    """`base` updated with the values of `patch`. Tables are merged; anything else is replaced.

    A table merged over the name of a drive or controller changes a copy of it.
    """
    result = dict(base)
    for key, value in patch.items():
        before = result.get(key)
        if key in _FILED and isinstance(before, str):
            before = {"base": before}
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            result[key] = merged(before, value)
        else:
            result[key] = value
    return result


def _experiment(document: dict[str, Any]) -> Experiment:
    fields = [_field(name, table) for name, table in document["field"].items()]
    for unit in (
        document["unit"],
        *(value.unit for part in fields for value in part.values.values() if value.unit),
    ):
        if unit not in UNITS:
            raise InputError(f"unit {unit} is none of {', '.join(filter(None, UNITS))}")
    picture = document.get("picture", {})
    if (kind := picture.get("kind", PICTURES[0])) not in PICTURES:
        raise InputError(f"picture: kind {kind} is none of {', '.join(PICTURES)}")
    room = document.get("room", ROOMS[0])
    if room not in ROOMS:
        raise InputError(f"room {room} is none of {', '.join(ROOMS)}")
    calibration = set(document.get("calibration", []))
    names = [part.name for part in fields]
    published = _cells(document["published"]["cells"], document["cell_id"], names, calibration)
    cells = _with_grids(published, document.get("grid", []), document["cell_id"], names)
    variants = {name: _variant(table) for name, table in document.get("variant", {}).items()}
    for name, variant in variants.items():
        if unknown := variant.only.keys() - set(names):
            raise InputError(f"variant {name}: only names {', '.join(sorted(unknown))}, which is no field")
    if unknown := calibration - {cell.id for cell in cells}:
        raise InputError(f"calibration names cells that do not exist: {', '.join(sorted(unknown))}")
    return Experiment(
        name=document["name"],
        title=document["title"],
        source=document["source"],
        unit=document["unit"],
        scenario=document["scenario"],
        fields=fields,
        cells=cells,
        tables=[TableLayout(**table) for table in document["table"]],
        variants=variants,
        claims={claim["id"]: claim["text"] for claim in document.get("claim", [])},
        main=document.get("main", {}),
        facts=document.get("facts", {}),
        not_modelled={left["what"]: left["why"] for left in document.get("not_modelled", [])},
        picture=picture,
        room=room,
    )


def _variant(table: dict[str, Any]) -> Variant:
    patch = {key: value for key, value in table.items() if key != "only"}
    return Variant(patch, table.get("only", {}))


def _field(name: str, table: dict[str, Any]) -> Field:
    values = {}
    for value, part in table.get("values", {}).items():
        measure = part.get("measure")
        if measure is not None and measure not in MEASURES:
            raise InputError(f"{name} {value}: measure {measure} is none of {', '.join(MEASURES)}")
        values[value] = Value(part.get("scenario", {}), part.get("metric"), measure, part.get("unit"))
    template = table.get("template", {})
    for key, text in template.items():
        if not isinstance(text, str):
            raise InputError(
                f'field {name}: the template of {key} is a text, such as "{{{name}}}", not {text!r}'
            )
    return Field(name, values, template)


def _cells(text: str, cell_id: str, names: list[str], calibration: set[str]) -> list[Cell]:
    rows = csv.DictReader(io.StringIO(text))
    cells = []
    for row in rows:
        fields = {name: row[name] for name in names}
        id_ = cell_id.format_map(fields)
        # A figure that is printed as "about" states its own resolution.
        resolution = row.get("resolution")
        cells.append(
            Cell(
                id=id_,
                fields=fields,
                published=float(row["published"]),
                resolution=float(resolution) if resolution else _resolution(row["published"]),
                role=CALIBRATION if id_ in calibration else VALIDATION,
            )
        )
    return cells


def _with_grids(
    published: list[Cell], grids: list[dict[str, list[str]]], cell_id: str, names: list[str]
) -> list[Cell]:
    """All cells: first those outside all grids, then the grids, with the published cells at their places."""
    found = {}
    for grid in grids:
        for values in itertools.product(*(grid[name] for name in names)):
            fields = dict(zip(names, values, strict=True))
            id_ = cell_id.format_map(fields)
            found[id_] = Cell(id_, fields, None, 0.0, UNPUBLISHED)
    inside = {cell.id: cell for cell in published if cell.id in found}
    outside = [cell for cell in published if cell.id not in found]
    return outside + [inside.get(id_, cell) for id_, cell in found.items()]


def _resolution(printed: str) -> float:
    """Half a unit of the last printed digit."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def _filled(template: str, cell: Cell) -> str | int:
    """A template with the cell's fields filled in; a text of digits becomes an integer."""
    text = template.format_map(cell.fields)
    return int(text) if text.isdecimal() else text
