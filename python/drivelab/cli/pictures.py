"""Pictures on behalf of a verb. The charts load slowly, so they load here and only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.cli.chart_options import ASK_FOR_ONE, Look, check_look
from drivelab.cli.output import say
from drivelab.cli.places import check_picture
from drivelab.cli.run_options import Pictures
from drivelab.errors import OutputError, raw

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The pictures of a verb whose picture is its output, and how they look."""

    output: Pictures = field(default_factory=list)
    look: Look

    def check(self, option: str = "--output") -> None:
        """Refuse what could not be drawn, or changes nothing. Raises InputError and OutputError."""
        for path in self.output:
            check_picture(option, path)
        check_look(self.look, pictures=bool(self.output), remedy=ASK_FOR_ONE)

    def draw(
        self, make: Callable[[], altair.TopLevelMixin], provenance: Mapping[str, Any], *, quiet: bool
    ) -> None:
        """Write the chart that `make` returns to each of its files. Raises OutputError."""
        made = cache(make)
        for path in self.output:
            draw(made, path, provenance, self.look)
            if not quiet:
                say(f"wrote {path}")


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
        raise OutputError(raw(error)) from error
