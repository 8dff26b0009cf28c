"""`drivelab compare`: records of any kind side by side, with intervals, a verdict and a threshold."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab.cli.chart_options import ASK_FOR_ONE, Dpi, Look, Provenance, Title, Width, check_look
from drivelab.cli.compare_options import (
    FIGURES_DEFAULT,
    Confidence,
    Figures,
    Ignore,
    Pointwise,
    Split,
    Strict,
    Threshold,
    Where,
    Worse,
    choice_of,
    show,
)
from drivelab.cli.places import check_picture
from drivelab.cli.run_options import AsCsv, AsJson, Pictures, check_form
from drivelab.comparison.beside import compared
from drivelab.records.opening import check_sources, open_record


def compare(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="RECORD..",
            help="JSON of simulate, emulate, measure, reproduce or fio; published:NAME; - for stdin",
            show_default=False,
        ),
    ],
    figures: Figures = FIGURES_DEFAULT,
    confidence: Confidence = 95,
    pointwise: Pointwise = False,
    threshold: Threshold = None,
    worse: Worse = False,
    strict: Strict = False,
    ignore: Ignore = [],  # noqa: B006 - typer wants a list, and nobody changes it
    where: Where = [],  # noqa: B006
    split: Split = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    output: Pictures = [],  # noqa: B006
    title: Title = None,
    width: Width = None,
    dpi: Dpi = None,
    provenance: Provenance = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes")] = False,
) -> int:
    """Set records of any kind side by side: differences with intervals, shifts of percentiles, a verdict.

    The first record is what the others are held to. Points are the same place where their axes agree.
    """
    check_form(json=as_json, csv=as_csv)
    for path in output:
        check_picture("-o", path)
    look = Look(title, width, dpi, provenance)
    check_look(look, pictures=bool(output), remedy=ASK_FOR_ONE)
    choice = choice_of(
        figures=figures,
        confidence=confidence,
        pointwise=pointwise,
        threshold=threshold,
        worse=worse,
        strict=strict,
        ignore=ignore,
        where=where,
        split=split,
    )
    check_sources(sources)
    found = compared([open_record(source) for source in sources], choice)
    return show(found, look, output, as_json=as_json, as_csv=as_csv, quiet=quiet)
