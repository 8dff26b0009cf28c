"""Options of every verb that runs something and shows it: its picture, its threads, how much it says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli.places import place
from drivelab.errors import InputError
from drivelab.runs.simulation import WORKERS_MAX

Pictures = Annotated[
    list[Path],
    typer.Option(
        "--output",
        "-o",
        help="Draw the picture: .png, .svg, .pdf, .html or .json; repeatable",
        metavar="FILE",
        parser=place,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        help=f"Threads, at most {WORKERS_MAX} and one per point; one per core by default",
        min=1,
        max=WORKERS_MAX,
    ),
]
ELSEWHERE_PANEL = "Where it runs"
Ray = Annotated[
    str | None,
    typer.Option(
        help="Run on a Ray cluster: HOST:PORT of its head, or auto; takes the extra drivelab\\[ray]",
        metavar="ADDRESS",
        rich_help_panel=ELSEWHERE_PANEL,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="Save results as they finish; the same command resumes from them",
        metavar="FILE",
        rich_help_panel=ELSEWHERE_PANEL,
    ),
]


@dataclass(frozen=True)
class Placement:
    """Where points run, and where their results are kept meanwhile."""

    workers: Workers = None
    ray: Ray = None
    checkpoint: Checkpoint = None


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes")]
AsCsv = Annotated[bool, typer.Option("--csv", help="The figures as CSV")]
AsJson = Annotated[bool, typer.Option("--json", help="Everything as JSON")]


@dataclass(frozen=True)
class Form:
    """The form in which results are printed: a table, unless one of these."""

    as_json: AsJson = False
    as_csv: AsCsv = False

    def check(self) -> None:
        """Refuse both at once. Raises InputError."""
        check_form(json=self.as_json, csv=self.as_csv)


def check_form(**chosen: bool) -> None:
    """Refuse two forms of output at once. Raises InputError."""
    if sum(chosen.values()) > 1:
        *others, last = (f"--{name}" for name in chosen)
        raise InputError(f"choose one of {', '.join(others)} and {last}")
