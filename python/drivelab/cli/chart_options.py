"""Pictures of a sweep as options: which there are, and how they look; refused here before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from drivelab.errors import InputError
from drivelab.report.pictures import METRICS, check_metric

PICTURE_PANEL = "Pictures"
WIDTH_MIN, WIDTH_MAX = 300, 4_000
DPI_MIN, DPI_MAX = 36, 1_200
ASK_FOR_ONE = "add one with -o FILE"
"""The remedy of a verb whose picture is its output."""

Metric = Annotated[
    str | None,
    typer.Option(
        help=f"What --chart shows: {', '.join(METRICS)}; by default iops, of a sequential workload mbps",
        metavar="NAME",
        rich_help_panel=PICTURE_PANEL,
        show_default=False,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(help="Title of the pictures", rich_help_panel=PICTURE_PANEL),
]
Width = Annotated[
    int | None,
    typer.Option(
        help="Width of a picture in points (most text is 11 points high); HTML adapts to its window",
        min=WIDTH_MIN,
        max=WIDTH_MAX,
        rich_help_panel=PICTURE_PANEL,
        show_default=False,
    ),
]
Dpi = Annotated[
    int | None,
    typer.Option(
        help="Pixels per inch of a PNG; 96 is one pixel per point [192]",
        min=DPI_MIN,
        max=DPI_MAX,
        rich_help_panel=PICTURE_PANEL,
        show_default=False,
    ),
]
Provenance = Annotated[
    bool,
    typer.Option(
        "--provenance",
        help="Print version, model, seed, scenario and digest below the picture",
        rich_help_panel=PICTURE_PANEL,
    ),
]


@dataclass(frozen=True)
class Look:
    """How pictures are to look; None is what the picture has of itself."""

    title: Title = None
    width: Width = None
    dpi: Dpi = None
    provenance: Provenance = False


def check_shown(metric: str | None, *, pictures: bool, remedy: str = "add --chart FILE") -> None:
    """Refuse a metric that there is not, or that no picture shows. Raises InputError."""
    if metric is None:
        return
    check_metric(metric)
    if not pictures:
        raise InputError(f"--metric changes nothing without a picture of rates and latency; {remedy}")


def check_look(look: Look, *, pictures: bool, remedy: str = "add one, such as --chart FILE") -> None:
    """Refuse options of pictures where there is none; `remedy` asks for one. Raises InputError."""
    given = {
        "--title": look.title is not None,
        "--width": look.width is not None,
        "--dpi": look.dpi is not None,
        "--provenance": look.provenance,
    }
    for option, is_given in given.items():
        if is_given and not pictures:
            raise InputError(f"{option} changes nothing without a picture; {remedy}")
