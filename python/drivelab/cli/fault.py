"""`drivelab fault`: do something to a device while `drivelab emulate` serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit
from drivelab.errors import InputError
from drivelab.runs import control
from drivelab.scenarios.quantities import span_ns

ACTIONS = {
    "media": "sectors of a member (--lba, --sectors) cannot be read until they are written",
    "corrupt": "the contents of these sectors (--lba, --sectors) on a member's media change without an error",
    "slow": "a member starts each command later by --by, or everything takes it --factor times as long",
    "hang": "a member does not answer, for good or --for a time",
    "reset": "the link to a member is reset: unanswered commands are sent again",
    "lie": "a member answers FLUSH at once, whatever its cache holds; --for ends it",
    "honest": "a member answers FLUSH when its cache is written",
    "fail": "a member fails for good; with --for an empty drive takes its place after that time",
    "dead": "the same as fail",
    "replace": "an empty drive takes the place of a member that has failed",
    "power-cut": "the power is cut, now or --during-write, and returns at once, or after --for",
    "scrub": "the array begins a scrub: it reads and compares all members",
    "rebuild": "the array begins to rebuild a missing member",
    "start": "an array that was not started after a power cut, being dirty and degraded, is started",
    "status": "reports the state of the device, and changes nothing",
}
_SAME = {"dead": "fail"}


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

    def wish(self) -> dict[str, object]:
        """What was given, as the device reads it. Raises InputError."""
        plain = {"lba": self.lba, "sectors": self.sectors, "factor": self.factor}
        spans = {"for": self.for_, "by": self.by, "over": self.over, "every": self.every}
        found: dict[str, object] = {name: number for name, number in plain.items() if number is not None}
        if self.during_write:
            found["during_write"] = True
        for name, text in spans.items():
            if text is not None:
                found[f"{name}_ns"] = span_ns(name, text)
        if self.share is not None:
            found["share_ppm"] = _parts_per_million(self.share)
        return found


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
    if action not in ACTIONS:
        raise InputError(f"{action}: there is no such action; there are {', '.join(ACTIONS)}")
    wish = {"action": _SAME.get(action, action), "member": member, **details.wish()}
    emit(control.act(device, wish))
    return Exit.OK


def _parts_per_million(share: str) -> int:
    """Of a share such as 1%. Raises InputError."""
    number = share.removesuffix("%")
    try:
        found = float(number) * (1e4 if share.endswith("%") else 1e6)
    except ValueError:
        found = -1.0
    if not 0 < found <= 1e6:
        raise InputError(f"--share {share}: give a share such as 1% or 0.01")
    return max(round(found), 1)
