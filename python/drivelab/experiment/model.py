"""An experiment as its file states it: published cells, and how each becomes a scenario and a figure of it.

A cell's fields (a drive, a block size, a column of the table) are looked up in the file. Each field adds its
part to the scenario: a patch for one value of the field, or a template that takes any value. Cells that come
to the same scenario share one run. Nothing here runs anything.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drivelab import toml_text
from drivelab.errors import InputError

Patch = Mapping[str, Any]
CALIBRATION, VALIDATION = "calibration", "validation"
UNITS = {"MiB/s": 2**20, "MB/s": 10**6, "IOPS": 1, "ms": 10**6}
"""What a figure of the record (bytes/s, I/O per second, nanoseconds) is divided by."""


@dataclass(frozen=True)
class Cell:
    """One published figure. `resolution` is half a unit of its last printed digit."""

    id: str
    fields: dict[str, str]
    published: float
    resolution: float
    role: str


@dataclass(frozen=True)
class Field:
    """What one column of the published cells does to the scenario."""

    name: str
    values: dict[str, Patch]
    template: dict[str, str]
    metrics: dict[str, str]

    def patches(self, cell: Cell) -> list[Patch]:
        """What this field's value decides of the scenario. Raises InputError for an unknown value."""
        value = cell.fields[self.name]
        if self.values and value not in self.values:
            known = ", ".join(self.values)
            raise InputError(f"cell {cell.id}: {self.name} {value} is none of {known}")
        filled = (nested(key, _filled(text, cell)) for key, text in self.template.items())
        return [self.values.get(value, {}), *filled]


@dataclass(frozen=True)
class TableLayout:
    """How people see cells: one table for each value of `split`, a row for each combination of `rows`."""

    title: str
    split: str
    rows: list[str]
    columns: str
    shown: list[str]


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
    variants: dict[str, Patch]
    claims: dict[str, str]
    main: dict[str, float]
    """The cells that count most: each named field is at least this."""

    def scenario_of(self, cell: Cell, variant: str | None = None) -> str:
        """The scenario that predicts a cell, as TOML text."""
        patches = [patch for field in self.fields for patch in field.patches(cell)]
        if variant is not None:
            patches.append(self.variants[variant])
        document: Patch = {"name": self.name, **self.scenario}
        for patch in patches:
            document = merged(document, patch)
        return toml_text.dumps(document)

    def metric_of(self, cell: Cell) -> str:
        """Where the figure lies in a point of the record, e.g. `read.bytes_per_s`."""
        for field in self.fields:
            if cell.fields[field.name] in field.metrics:
                return field.metrics[cell.fields[field.name]]
        raise InputError(f"cell {cell.id}: no field says which figure of the record it is")

    def is_main(self, cell: Cell) -> bool:
        """Whether a cell is among those that count most."""
        return all(float(cell.fields[name]) >= least for name, least in self.main.items())


def parse(text: str, origin: str) -> Experiment:
    """An experiment from its TOML text. Raises InputError with what is wrong."""
    try:
        document = tomllib.loads(text)
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
    """`base` with the values of `patch` in it. Tables join; anything else is replaced."""
    result = dict(base)
    for key, value in patch.items():
        before = result.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            result[key] = merged(before, value)
        else:
            result[key] = value
    return result


def _experiment(document: dict[str, Any]) -> Experiment:
    if document["unit"] not in UNITS:
        raise InputError(f"unit {document['unit']} is none of {', '.join(UNITS)}")
    fields = [_field(name, table) for name, table in document["field"].items()]
    calibration = set(document.get("calibration", []))
    cells = _cells(document["published"]["cells"], document["cell_id"], [f.name for f in fields], calibration)
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
        variants=document.get("variant", {}),
        claims={claim["id"]: claim["text"] for claim in document.get("claim", [])},
        main=document.get("main", {}),
    )


def _field(name: str, table: dict[str, Any]) -> Field:
    values = table.get("values", {})
    return Field(
        name=name,
        values={value: part.get("scenario", {}) for value, part in values.items()},
        template=table.get("template", {}),
        metrics={value: part["metric"] for value, part in values.items() if "metric" in part},
    )


def _cells(text: str, cell_id: str, names: list[str], calibration: set[str]) -> list[Cell]:
    rows = csv.DictReader(io.StringIO(text))
    cells = []
    for row in rows:
        fields = {name: row[name] for name in names}
        id_ = cell_id.format_map(fields)
        cells.append(
            Cell(
                id=id_,
                fields=fields,
                published=float(row["published"]),
                resolution=_resolution(row["published"]),
                role=CALIBRATION if id_ in calibration else VALIDATION,
            )
        )
    return cells


def _resolution(printed: str) -> float:
    """Half a unit of the last printed digit."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def _filled(template: str, cell: Cell) -> str | int:
    """A template with the cell's fields in it; what comes to a whole number is one."""
    text = template.format_map(cell.fields)
    return int(text) if text.isdecimal() else text
