"""From measurements to a drive file: the implementation of `drivelab fit`. Start with stages.py.

A start (a drive of the catalogue, an imported file, a data sheet) is adjusted to chains and traces of timed requests,
sweeps over queue depth and rates over the surface, each in a stage of its own; values that they do not determine
remain. What is asked of it, from Python and from a shell, is in asked.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from drivelab.errors import InputError, TraceError, raw, ref
from drivelab.fit.draft import given, start_of
from drivelab.fit.inputs import read_geometry
from drivelab.fit.output import Report, drive_file, report
from drivelab.fit.results import Measured
from drivelab.fit.stages import run
from drivelab.fit.zones import of_geometry

__all__ = ["Measured", "Report", "fit_measured"]


def fit_measured(
    drive: str,
    measured: Measured,
    *,
    known: Sequence[str] = (),
    geometry: Path | None = None,
    workers: int = 1,
    state: Path | None = None,
    tell: Callable[[str, float], object] = lambda _text, _share: None,
) -> tuple[Report, str]:
    """Fit a drive: the report, and the text of the drive file.

    `known` are KEY=VALUE that remain as given; `tell` receives the current step and the completed share. With `state`
    an interrupted fit resumes where it stopped. Raises InputError, ScenarioError and RunError.
    """
    start = start_of(drive)
    values, origins, notes = _given(start.get("identity.model"), known, geometry)
    _check_known(values)
    start = start.having(values) if values else start
    if not (measured.traces or measured.chains or measured.sweeps or measured.surface or geometry):
        raise InputError(
            f"nothing was measured: give {ref('trace')}, {ref('chain')}, {ref('sweep')}, {ref('surface')} or "
            f"{ref('geometry')}"
        )
    start.plan()  # all that is wrong with the start, before anything runs
    _check_room(start.capacity, measured)
    try:
        found = run(replace(measured, known=tuple(values)), start, workers, state, tell)
        found.notes = notes + found.notes
        summary = report(drive, found, measured)
    except TraceError as error:
        raise InputError(raw(error)) from error
    return summary, drive_file(drive, found, origins)


def _given(
    model: object, known: Sequence[str], geometry: Path | None
) -> tuple[dict[str, Any], Mapping[str, str], list[str]]:
    pairs = [given(text) for text in known]
    if len({key for key, _ in pairs}) < len(pairs):
        raise InputError(f"{ref('known')} gives the same key twice: keep one of the two")
    values = dict(pairs)
    origins = dict.fromkeys(values, "given by --known")
    notes: list[str] = []
    if geometry is not None:
        row = read_geometry(geometry, str(values.get("identity.model", model or "")) or None)
        taken, remarks = of_geometry(row)
        # Layouts that are known otherwise need no table.
        notes = [
            note for note in remarks if "the layout" not in note or "geometry.surface_order" not in values
        ]
        for key, value in taken.items():
            if key not in values:
                values[key], origins[key] = value, f"{geometry.name}, {row['model']}"
    return values, origins, notes


def _check_known(values: Mapping[str, Any]) -> None:
    """Check the keys: an unknown key is reported by the check of the drive, a key of a scenario here."""
    for key in values:
        if key.startswith(("target.", "workload.", "run.")):
            raise InputError(
                f"{ref('known', key)}: name the key as a drive file has it, such as rpm or seek.average"
            )


def _check_room(sectors: int, measured: Measured) -> None:
    for one in (*measured.traces, *measured.chains):
        end = int((one.first + one.count).max())
        if end > sectors:
            raise InputError(
                f"{one.name}: a request ends at sector {end:,}, and the start has {sectors:,}: "
                f"another drive, or {ref('known', 'geometry.capacity=...')}"
            )
