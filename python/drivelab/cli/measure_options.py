"""Options of everything that measures a real device: which, how it is reached, what may be destroyed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from drivelab.measuring.asked import Destroy

DEVICE_PANEL = "The device"

TargetPath = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="The file, block device or NBD address that is measured",
        metavar="PATH|ADDRESS",
        rich_help_panel=DEVICE_PANEL,
    ),
]
Engine = Annotated[
    str,
    typer.Option(help="auto, io_uring, threads or nbd", metavar="NAME", rich_help_panel=DEVICE_PANEL),
]
Repeat = Annotated[
    int,
    typer.Option(
        help="Runs of each point, interleaved, with confidence intervals",
        metavar="N",
        rich_help_panel=DEVICE_PANEL,
    ),
]


@dataclass(frozen=True)
class Permit:
    """What may be written over."""

    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Allow writes, which destroy the data on the target",
            rich_help_panel=DEVICE_PANEL,
        ),
    ] = False
    yes_destroy: Annotated[
        str | None,
        typer.Option(
            help="The target's name again, to confirm writes",
            metavar="PATH|ADDRESS",
            rich_help_panel=DEVICE_PANEL,
        ),
    ] = None
    overwrite_data: Annotated[
        bool,
        typer.Option(
            "--overwrite-data",
            help="Also if a file has data, or a device has a file system (not mounted)",
            rich_help_panel=DEVICE_PANEL,
        ),
    ] = False

    def destroy(self) -> Destroy:
        """The same for who measures."""
        return Destroy(self.write, self.yes_destroy, self.overwrite_data)


@dataclass(frozen=True)
class Course:
    """How a run goes on: after errors, until it is steady, and again."""

    on_error: Annotated[
        str,
        typer.Option(
            help="After a failed command: stop or continue", metavar="WHAT", rich_help_panel=DEVICE_PANEL
        ),
    ] = "stop"
    until_steady: Annotated[
        str | None,
        typer.Option(
            help="Wait for a steady state: five rounds of this length that agree, of at most 60",
            metavar="TIME",
            rich_help_panel=DEVICE_PANEL,
            show_default=False,
        ),
    ] = None
    repeat: Repeat = 1


@dataclass(frozen=True)
class Names:
    """Names that a record has only where they are asked for."""

    with_host: Annotated[
        bool,
        typer.Option(
            "--with-host", help="Keep the machine's name in the record", rich_help_panel=DEVICE_PANEL
        ),
    ] = False
    with_serial: Annotated[
        bool,
        typer.Option(
            "--with-serial",
            help="Keep the drive's serial number in the record",
            rich_help_panel=DEVICE_PANEL,
        ),
    ] = False
