"""Options of `durability`, `plan` and `compare-levels`: what fails beside drives, and what a repair waits for."""

from typing import Annotated

import typer

from drivelab.arrays.durability.question import READS

FAILS, REPAIR = "What fails", "The repair"
"""Panels of the help."""


def option(text: str, metavar: str, panel: str) -> typer.models.OptionInfo:
    """An option of a panel; the default is given in its text."""
    found: typer.models.OptionInfo = typer.Option(
        help=text, metavar=metavar, rich_help_panel=panel, show_default=False
    )
    return found


Batch = Annotated[
    str | None, option("Arrays of a bad batch, and how many times as fast it ages: 5%:8", "SHARE:N", FAILS)
]
Ure = Annotated[
    str | None,
    option(
        "Unreadable sectors for what is read: 1e-15/bit, or none; unasked by the drive's class", "RATE", FAILS
    ),
]
Latent = Annotated[
    str | None,
    option("Latent defects of a drive by the hour: 1.08e-4/h, or a law by its name", "RATE", FAILS),
]
Reads = Annotated[
    str | None, option(f"Read from a drive in a day, for --ure with --scrub [{READS}]", "SIZE", FAILS)
]
Common = Annotated[
    list[str] | None, option("What takes drives together: shelf:20y:30%; more than once", "CAUSE", FAILS)
]
WrongDrive = Annotated[
    str | None, option("Chance that a good drive is pulled for a failed one [0]", "PERCENT", FAILS)
]
Outage = Annotated[
    list[str] | None,
    option("What data cannot be reached without: controller:500000h:8h; more than once", "PART", FAILS),
]
Detection = Annotated[str | None, option("From a failure until it is known [0]", "LAW", REPAIR)]
Replacement = Annotated[
    str | None, option("Until a new drive is there, where no spare is [0]", "LAW", REPAIR)
]
Attended = Annotated[str | None, option("When somebody is there to replace it: 8x5", "HxD", REPAIR)]
Scrub = Annotated[str | None, option("Period of a scrub, or a law from defect to correction", "TIME", REPAIR)]
