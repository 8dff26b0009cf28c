"""Published tables: the cells of an experiment, as they were printed or as `drivelab reproduce --json` predicts them.

Cells that lead to the same scenario are figures of one point. A point has the axes of its scenario's workload, its
drive, and those fields of the table that all of its cells share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab import experiment
from drivelab.errors import InputError
from drivelab.experiment.model import UNITS, Cell, Experiment
from drivelab.records.model import FIGURES, OTHER_FIGURE, Figure, Record, RecordPoint, scalars
from drivelab.records.places import axes_of_jobs, axis_name, axis_value
from drivelab.report import toml_text

PREFIX = "published:"
# Half the width of a 95 % interval in standard errors, as in the record.
_STUDENT, _FREEDOM = 2.04, 31.0
# Paths of the record, as cells name them, and figures.
_LATENCY = "latency_ns."
_FIGURE_OF_UNIT = {
    "IOPS": "iops",
    "MiB/s": "bytes_per_s",
    "MB/s": "bytes_per_s",
    "Mbit/s": "bytes_per_s",
    "ms": "mean",
}


def published(name: str) -> Record:
    """The published cells of an experiment of the catalogue, or of the file at a path. Raises InputError."""
    found = experiment.load(name)
    cells = [
        (cell, cell.published, cell.resolution, None) for cell in found.cells if cell.published is not None
    ]
    if not cells:
        raise InputError(f"{PREFIX}{name}: the experiment has no published cell")
    points = _points(found, [(cell, _printed(found, cell)) for cell, *_ in cells])
    return Record(
        origin=f"{PREFIX}{name}",
        kind="published",
        points=points,
        name=found.title,
        target=_drives(points),
        facts={"source": found.source},
    )


def of_outcome(document: Mapping[str, Any], origin: str) -> Record:
    """The predictions of `drivelab reproduce --json`. Raises InputError."""
    known = {name: name for name in experiment.names()}
    name, cells = str(document.get("experiment", "")), document.get("cells")
    if not isinstance(cells, list):
        raise InputError(f"{origin}: cells is missing: this is no record of `reproduce --json`")
    loaded = experiment.load(name) if name in known else None
    by_id = {cell.id: cell for cell in loaded.cells} if loaded else {}
    groups: list[tuple[Cell, Figure]] = []
    points: list[RecordPoint] = []
    for at, cell in enumerate(cells):
        place = f"{origin}: cells[{at}]"
        if not isinstance(cell, Mapping) or not isinstance(cell.get("predicted"), int | float):
            raise InputError(f"{place}.predicted is no number")
        unit = str(cell.get("unit", ""))
        if unit not in UNITS:
            raise InputError(f"{place}: unit {unit} is none of {', '.join(filter(None, UNITS))}")
        half = cell.get("statistical_error")
        figure = Figure(
            cell["predicted"] * UNITS[unit],
            half / _STUDENT if isinstance(half, int | float) else None,
            _FREEDOM,
            basis="batches" if isinstance(half, int | float) else "",
        )
        if loaded and cell.get("id") in by_id:
            groups.append((by_id[cell["id"]], figure))
        else:
            fields = cell.get("fields")
            axes = _fields(fields) if isinstance(fields, Mapping) else {}
            points.append(RecordPoint(axes, {_FIGURE_OF_UNIT.get(unit, OTHER_FIGURE): figure}))
    if loaded:
        points = _points(loaded, groups) + points
    return Record(
        origin=origin,
        kind="predicted",
        points=points,
        name=str(document.get("title", name)),
        target=_drives(points),
        facts=scalars(document, ("version", "model_version", "seed")),
        notes=["the run was interrupted: cells are missing"] if document.get("interrupted") else [],
    )


def _printed(found: Experiment, cell: Cell) -> Figure:
    """A published figure; of its error only the rounding is known."""
    unit = UNITS[found.unit_of(cell)]
    value = (cell.published or 0.0) * unit
    share = cell.resolution * unit / value if value else 0.0
    return Figure(value, 0.0, resolution=share, basis="print")


def _points(found: Experiment, cells: list[tuple[Cell, Figure]]) -> list[RecordPoint]:
    """Cells grouped by their scenario."""
    groups: dict[str, list[tuple[Cell, Figure]]] = {}
    for cell, figure in cells:
        groups.setdefault(found.scenario_of(cell), []).append((cell, figure))
    points = []
    for text, members in groups.items():
        named: dict[str, list[tuple[Cell, Figure]]] = {}
        for cell, figure in members:
            named.setdefault(_figure_name(found.metric_of(cell), found.unit_of(cell)), []).append(
                (cell, figure)
            )
        # Two cells for the same figure of one scenario become separate points.
        for place in range(max(map(len, named.values()))):
            chosen = {name: found_[place] for name, found_ in named.items() if place < len(found_)}
            shared = _shared([cell for cell, _ in chosen.values()])
            axes = {**_fields(shared), **_of_scenario(text)}
            direction = str(axes.get("rw", "")).removeprefix("rand")
            points.append(
                RecordPoint(
                    axes,
                    {name: figure for name, (_, figure) in chosen.items()},
                    direction=direction if direction in {"read", "write"} else "",
                )
            )
    return points


def _shared(cells: list[Cell]) -> dict[str, str]:
    first = cells[0].fields
    return {name: value for name, value in first.items() if all(cell.fields[name] == value for cell in cells)}


def _fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a table as axes. A drive may have another name in print than in the catalogue."""
    return {axis_name(f"workload.{name}"): axis_value(name, value) for name, value in fields.items()}


def _of_scenario(text: str) -> dict[str, Any]:
    document = toml_text.loads(text)
    workload, target = document.get("workload") or {}, document.get("target") or {}
    found: dict[str, Any] = {}
    jobs = workload.get("job")
    plain = {name: value for name, value in workload.items() if not isinstance(value, Mapping | list)}
    if isinstance(jobs, Mapping):
        common = dict(plain)
        named = {name: {**common, **one} for name, one in jobs.items() if isinstance(one, Mapping)}
        found = axes_of_jobs(named) if named else {}
    elif "rw" in plain:
        found = axes_of_jobs({"job": plain})
    drive = target.get("drive")
    base = drive.get("base") if isinstance(drive, Mapping) else drive
    return {**found, "drive": base} if isinstance(base, str) else found


def _figure_name(metric: str, unit: str) -> str:
    """The name of the figure at a path of the record; one that only a scan or an array has is named by its unit."""
    name = metric.replace(_LATENCY, "")
    known = name.removeprefix("read.").removeprefix("write.") in FIGURES
    return name if known else _FIGURE_OF_UNIT.get(unit, OTHER_FIGURE)


def _drives(points: list[RecordPoint]) -> str:
    return ", ".join(dict.fromkeys(str(point.axes["drive"]) for point in points if "drive" in point.axes))
