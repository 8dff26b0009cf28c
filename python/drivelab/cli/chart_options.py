"""Pictures of a sweep as options: which there are, and how they look; refused here before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli.places import check_picture, place
from drivelab.errors import InputError
from drivelab.report.pictures import METRICS, check_metric

PICTURE_PANEL = "Pictures"
WIDTH_MIN, WIDTH_MAX = 300, 4_000
DPI_MIN, DPI_MAX = 36, 1_200
ASK_FOR_ONE = "add one with -o FILE"
"""The remedy of a verb whose picture is its output."""

BreakdownWish = Annotated[
    bool,
    typer.Option(
        "--breakdown",
        help="A second table: where the mean response time of each point went",
    ),
]
BreakdownChart = Annotated[
    list[Path],
    typer.Option(
        help="Draw where the response time went, a stacked bar for each point: .png, .svg, .pdf, .html or .json; "
        "give it again for another file",
        metavar="FILE",
        parser=place,
        rich_help_panel=PICTURE_PANEL,
    ),
]
OverTime = Annotated[
    list[Path],
    typer.Option(
        help="Draw IOPS, latency and depth over the measured time: .png, .svg, .pdf, .html or .json; give it again "
        "for another file",
        metavar="FILE",
        parser=place,
        rich_help_panel=PICTURE_PANEL,
    ),
]
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
    typer.Option(help="Title of the pictures, in place of their own", rich_help_panel=PICTURE_PANEL),
]
Width = Annotated[
    int | None,
    typer.Option(
        help="Width of a picture in points, of which most text is 11 high; HTML adapts to its window",
        min=WIDTH_MIN,
        max=WIDTH_MAX,
        rich_help_panel=PICTURE_PANEL,
        show_default=False,
    ),
]
Dpi = Annotated[
    int | None,
    typer.Option(
        help="Pixels per inch of a PNG, where 96 is one for each point; 192 unless said otherwise",
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
        help="Put version, model, seed, scenario and digest below the picture",
        rich_help_panel=PICTURE_PANEL,
    ),
]


@dataclass(frozen=True)
class Look:
    """How pictures are to look; None is what the picture has of itself."""

    title: str | None = None
    width: int | None = None
    dpi: int | None = None
    provenance: bool = False


def check_charts(breakdown: Sequence[Path], over_time: Sequence[Path], checked: _core.Plan) -> None:
    """Refuse pictures that could not be drawn, before anything runs. Raises InputError and OutputError."""
    for path in breakdown:
        check_picture("--breakdown-chart", path)
    for path in over_time:
        check_picture("--over-time", path)
    if not over_time:
        return
    from drivelab import charts  # noqa: PLC0415 - it loads slowly

    if len(checked) > charts.OVER_TIME_POINTS_MAX:
        raise InputError(
            f"--over-time {over_time[0]}: a picture compares at most {charts.OVER_TIME_POINTS_MAX} points, and this "
            f"sweep has {len(checked)}; give fewer values"
        )


def check_shown(metric: str | None, *, pictures: bool, remedy: str = "add --chart FILE") -> None:
    """Refuse a metric that there is not, or that no picture shows. Raises InputError."""
    if metric is None:
        return
    check_metric(metric, "--metric")
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
