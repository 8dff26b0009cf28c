"""Pictures on behalf of a verb. The charts load slowly, so they load here and only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.errors import InputError, OutputError

if TYPE_CHECKING:
    import altair

SUFFIXES = (".png", ".svg", ".html")


def check_suffix(path: Path) -> None:
    """Refuse a picture's name before anything runs. Raises InputError."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"--chart {path}: a picture ends in {', '.join(SUFFIXES)}")


def draw(make: Callable[[], altair.TopLevelMixin], path: Path, provenance: Mapping[str, Any]) -> None:
    """Write the chart that `make` returns to `path`. Raises OutputError."""
    from drivelab import charts  # noqa: PLC0415

    try:
        charts.save(make(), path, provenance)
    except charts.ChartError as error:
        raise OutputError(str(error)) from error
