"""`drivelab fault`: do something to a device while `drivelab emulate` serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit
from drivelab.runs import control
from drivelab.runs.faults import ACTIONS, request


@dataclass(frozen=True)
class Details:
    """What a fault is in detail, each for some of the actions."""

    lba: Annotated[int | None, typer.Option(help="First sector of the member", min=0, show_default=False)] = (
        None
    )
    sectors: Annotated[int | None, typer.Option(help="Number of sectors", min=1, show_default=False)] = None
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", help="Duration of the fault, by the model's clock", metavar="TIME", show_default=False
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(help="slow: the delay of each command; 0s ends it", metavar="TIME", show_default=False),
    ] = None
    factor: Annotated[
        int | None,
        typer.Option(
            help="slow: how many times as long everything takes; 1 ends it", min=1, show_default=False
        ),
    ] = None
    over: Annotated[
        str | None,
        typer.Option(
            help="slow: the delay grows linearly to --by over this time", metavar="TIME", show_default=False
        ),
    ] = None
    share: Annotated[
        str | None,
        typer.Option(
            help="slow: the share of commands that are delayed, such as 1%",
            metavar="SHARE",
            show_default=False,
        ),
    ] = None
    every: Annotated[
        str | None,
        typer.Option(
            help="slow: the period of bursts that last --for a time, from start to start",
            metavar="TIME",
            show_default=False,
        ),
    ] = None
    during_write: Annotated[
        bool,
        typer.Option("--during-write", help="power-cut: at a random instant while a write is under way"),
    ] = False

    def given(self) -> dict[str, object]:
        """What each of them is, by its name."""
        return {name.rstrip("_"): value for name, value in vars(self).items()}


@grouped
def fault(
    *,
    device: Annotated[
        str,
        typer.Argument(
            metavar="SOCKET",
            help="The device's socket, its address (nbd://127.0.0.1:10809), or its control socket ($DRIVELAB_CONTROL)",
            show_default=False,
        ),
    ],
    action: Annotated[
        str,
        typer.Argument(
            metavar="ACTION",
            help="\n\n".join(f"{name}: {what}" for name, what in ACTIONS.items()),
            show_default=False,
        ),
    ],
    member: Annotated[int, typer.Option(help="Number of the drive, from 0", min=0, max=65_535)] = 0,
    details: Details,
) -> int:
    """Inject a fault into a device that is being served, or end it, or start work of its array."""
    emit(control.act(device, request(action, member, details.given())))
    return Exit.OK
