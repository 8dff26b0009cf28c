"""`drivelab compare`: records of any kind side by side, with intervals, a verdict and a threshold."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab.cli.compare_options import Judgement, show
from drivelab.cli.groups import grouped
from drivelab.cli.pictures import Drawn
from drivelab.cli.reports import Reports, check_reports
from drivelab.cli.run_options import Form
from drivelab.comparison.beside import compared
from drivelab.records.formats.known import OTHERS
from drivelab.records.opening import check_sources, open_record


@grouped
def compare(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="RECORD..",
            help=f"JSON of simulate, emulate, measure, reproduce or fio; {OTHERS}; published:NAME; - for stdin",
            show_default=False,
        ),
    ],
    judgement: Judgement,
    form: Form,
    drawn: Drawn,
    report: Reports = [],  # noqa: B006 - typer wants a list, and nobody changes it
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes")] = False,
) -> int:
    """Set records of any kind side by side: differences with intervals, shifts of percentiles, a verdict.

    The first record is what the others are held to. Points are the same place where their axes agree.
    """
    form.check()
    drawn.check("-o")
    check_reports(report)
    choice = judgement.choice()
    check_sources(sources)
    found = compared([open_record(source) for source in sources], choice)
    return show(found, form, drawn, report, quiet=quiet)
