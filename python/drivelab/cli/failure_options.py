"""Options of `durability`, `plan` and `compare-levels`: what fails beside drives, and what a repair waits for."""

from dataclasses import dataclass
from typing import Annotated

import typer

from drivelab.arrays.durability.question import READS
from drivelab.cli import completion

FAILS, REPAIR = "What fails", "The repair"
"""Panels of the help."""


def option(
    text: str, metavar: str, panel: str, names: completion.Complete | None = None
) -> typer.models.OptionInfo:
    """An option of a panel; the default is given in its text, in brackets."""
    found: typer.models.OptionInfo = typer.Option(
        # Brackets would be markup.
        help=text.replace("[", "\\["),
        metavar=metavar,
        rich_help_panel=panel,
        show_default=False,
        autocompletion=names,
    )
    return found


Batch = Annotated[
    str | None,
    option(
        "Share of arrays from a bad batch, and how many times as fast its drives age: 5%:8", "SHARE:N", FAILS
    ),
]
Ure = Annotated[
    str | None,
    option(
        "Rate of unreadable sectors per bit or byte read: 1e-15/bit, or none; by default by the drive's class",
        "RATE",
        FAILS,
    ),
]
Latent = Annotated[
    str | None,
    option("Rate of latent defects of a drive: 1.08e-4/h, or a distribution by name", "RATE", FAILS),
]
Reads = Annotated[
    str | None, option(f"Data read from a drive per day, for --ure with --scrub [{READS}]", "SIZE", FAILS)
]
Common = Annotated[
    list[str] | None,
    option(
        "Common cause of failures (name, mean time, share of drives): shelf:20y:30%; repeatable",
        "CAUSE",
        FAILS,
    ),
]
WrongDrive = Annotated[
    str | None,
    option("Probability that a good drive is pulled by mistake at a replacement [0]", "PERCENT", FAILS),
]
Outage = Annotated[
    list[str] | None,
    option(
        "Component without which data are unavailable (name, MTTF, MTTR): controller:500000h:8h; repeatable",
        "PART",
        FAILS,
    ),
]
Detection = Annotated[str | None, option("Time from a failure to its detection [0]", "LAW", REPAIR)]
Replacement = Annotated[
    str | None, option("Time until a new drive arrives, without a spare [0]", "LAW", REPAIR)
]
Attended = Annotated[str | None, option("Attended hours a day x days a week: 8x5", "HxD", REPAIR)]
Scrub = Annotated[
    str | None,
    option("Period of scrubs, or the distribution of the time from defect to correction", "TIME", REPAIR),
]


@dataclass(frozen=True, kw_only=True)
class Causes:
    """What fails beside drives."""

    batch: Batch = None
    ure: Ure = None
    latent: Latent = None
    reads: Reads = None
    common: Common = None
    wrong_drive: WrongDrive = None


@dataclass(frozen=True, kw_only=True)
class Waits:
    """What a repair waits for."""

    detection: Detection = None
    replacement: Replacement = None
    attended: Attended = None
