"""Several drives scanned by the same measurement: their figures side by side, their surfaces in one plot."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.errors import InputError
from drivelab.report import toml_text
from drivelab.report.pictures import drawn
from drivelab.report.plural import counted
from drivelab.report.points_table import rate_text
from drivelab.report.table import Cell, Table
from drivelab.runs.provenance import line, provenance
from drivelab.runs.result import combined_digest
from drivelab.runs.simulation import Progress
from drivelab.scanning import access, surface
from drivelab.scanning.scan import Scan, Target, further, scan_target, target_of
from drivelab.scenarios.scenario import overrides_from

if TYPE_CHECKING:
    import altair

DRIVES_MAX = 6
"""More lines than this in one picture are hard to follow."""
_MB, _MS = 1e6, 1e6


@dataclass(frozen=True, repr=False)
class Scans:
    """The scans of several drives, in the order in which they were named."""

    scans: list[Scan]

    def __repr__(self) -> str:
        """A line, however many places there are."""
        return f"<Scans {', '.join(found.run.name for found in self.scans)}>"

    def provenance(self) -> dict[str, Any]:
        """What is needed to repeat and recognise the scans: the hashes combined, the digests combined."""
        runs = [found.run for found in self.scans]
        return provenance(
            " ".join(run.scenario_hash for run in runs),
            runs[0].seed,
            combined_digest([r.digest for r in runs]),
        )

    def identity(self) -> str:
        """The same in one line."""
        return line(self.provenance())

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab scan --json` prints for several drives: the scan of each under `scans`."""
        return {"scans": [found.to_dict() for found in self.scans]}

    def rows(self) -> list[dict[str, Any]]:
        """What `scan --csv` prints for several drives: the rows of each, with its name first."""
        return [{"drive": found.run.name, **row} for found in self.scans for row in found.rows()]

    def table(self) -> Table:
        """A row for each figure, a column for each drive; for two drives also the relative difference of the second."""
        figures = [_figures(found) for found in self.scans]
        columns = ["", *(found.run.name for found in self.scans)]
        if len(figures) == 2:
            columns.append("second to first")
        rows = []
        for name, text in _ROWS.items():
            values = [found.get(name) for found in figures]
            if all(value is None for value in values):
                continue
            cells = [name, *("-" if value is None else text(value) for value in values)]
            if len(values) == 2:
                first, second = values
                cells.append(f"{second / first - 1:+.1%}" if first and second is not None else "-")
            rows.append([Cell(cell) for cell in cells])
        return Table(columns, rows, title=f"By {self.scans[0].rw}", left=frozenset({0}))

    def chart(self, path: str | Path | None = None, *, title: str | None = None) -> altair.TopLevelMixin:
        """The surfaces in one plot, and the accesses; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        return drawn(
            lambda: charts.surfaces([found.to_dict() for found in self.scans], title), path, self.provenance
        )


def scan_drives(
    drives: str | Sequence[str | Path],
    *,
    controller: str | Mapping[str, object] | None = None,
    rw: str = "read",
    places: int = surface.PLACES,
    accesses: int = access.REQUESTS,
    access_size: str = access.BLOCK,
    workers: int | None = None,
    progress: Progress | None = None,
    **overrides: object,
) -> Scans:
    """Scan several drives in the same way: names in a list, or in one text separated by commas.

    The other parameters and the errors are those of `scan`.
    """
    if isinstance(drives, str):
        drives = [name.strip() for name in drives.split(",") if name.strip()]
    check_drives(drives)
    text = toml_text.value_text(controller) if isinstance(controller, Mapping) else controller
    targets = [target_of(str(drive), text, overrides_from(overrides)) for drive in drives]
    return scan_targets(targets, rw, places, (accesses, access_size), workers, progress)


def scan_targets(
    targets: Sequence[Target],
    rw: str,
    places: int,
    accesses: tuple[int, str],
    workers: int | None = None,
    progress: Progress | None = None,
) -> Scans:
    """The scans of some targets, one after the other."""
    found: list[Scan] = []
    for target in targets:
        done = len(found) * (places + 2)
        step = progress and partial(further, progress, done)
        found.append(scan_target(target, rw, places, accesses, workers, step))
    return Scans(found)


def check_drives(drives: Sequence[str | Path]) -> None:
    """Refuse a list that is not a comparison. Raises InputError."""
    if not 2 <= len(drives) <= DRIVES_MAX:
        raise InputError(f"{counted(len(drives), 'drive')}: a comparison of scans takes 2 to {DRIVES_MAX}")
    if not all(str(drive).strip() for drive in drives):
        raise InputError("a name is missing: write NAME,NAME without a comma at either end")
    twice = [str(drive) for at, drive in enumerate(drives) if drive in drives[:at]]
    if twice:
        raise InputError(f"{twice[0]} is there twice; name each drive once")


def _figures(found: Scan) -> dict[str, float | None]:
    rates = [rate / _MB for rate in found.surface.rates]
    times = [time / _MS for time in found.access.times_ns]
    burst = found.burst.bytes_per_s / _MB if found.burst is not None and found.burst.buffered else None
    return {
        "capacity, GB": found.run.capacity_bytes / 1e9,
        "slowest place, MB/s": min(rates),
        "mean rate, MB/s": statistics.fmean(rates),
        "fastest place, MB/s": max(rates),
        "mean access, ms": statistics.fmean(times),
        "longest access, ms": max(times),
        "burst rate, MB/s": burst,
        "whole surface, min": found.surface.seconds_for(found.run.capacity_bytes) / 60,
    }


_ROWS: dict[str, Callable[[float], str]] = {
    "capacity, GB": lambda value: f"{value:,.1f}",
    "slowest place, MB/s": rate_text,
    "mean rate, MB/s": rate_text,
    "fastest place, MB/s": rate_text,
    "mean access, ms": lambda value: f"{value:.2f}",
    "longest access, ms": lambda value: f"{value:.2f}",
    "burst rate, MB/s": rate_text,
    "whole surface, min": lambda value: f"{value:,.0f}",
}
