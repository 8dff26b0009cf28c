"""Pictures on behalf of a verb. The charts load slowly, so they load here and only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.chart_options import Look
from drivelab.errors import OutputError

if TYPE_CHECKING:
    import altair


def draw(
    make: Callable[[], altair.TopLevelMixin],
    path: Path,
    provenance: Mapping[str, Any],
    look: Look,
) -> None:
    """Write the chart that `make` returns to `path`, with this look. Raises OutputError."""
    from drivelab import charts  # noqa: PLC0415

    try:
        charts.save(
            make(),
            path,
            provenance,
            title=look.title,
            width=look.width,
            dpi=look.dpi,
            provenance_shown=look.provenance,
        )
    except charts.ChartError as error:
        raise OutputError(str(error)) from error
