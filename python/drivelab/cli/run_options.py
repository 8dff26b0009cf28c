"""Options of every verb that runs something and shows it: its picture, its threads, how much it says."""

from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli.places import place

Picture = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Draw the picture: .png, .svg or .html", metavar="FILE", parser=place
    ),
]
Workers = Annotated[int | None, typer.Option(help="Threads; one per core by default", min=1)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks")]
AsJson = Annotated[bool, typer.Option("--json", help="Everything as JSON")]
