"""`drivelab fault`: do something to a device while `drivelab emulate` serves it."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit
from drivelab.errors import InputError
from drivelab.runs import control

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


def fault(
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
    lba: Annotated[
        int | None, typer.Option(help="First sector of the member", min=0, show_default=False)
    ] = None,
    sectors: Annotated[int | None, typer.Option(help="Number of sectors", min=1, show_default=False)] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", help="Duration of the fault, by the model's clock", metavar="TIME", show_default=False
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="slow: the delay of each command; 0s ends it", metavar="TIME", show_default=False),
    ] = None,
    factor: Annotated[
        int | None,
        typer.Option(
            help="slow: how many times as long everything takes; 1 ends it", min=1, show_default=False
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(
            help="slow: the delay grows linearly to --by over this time", metavar="TIME", show_default=False
        ),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            help="slow: the share of commands that are delayed, such as 1%",
            metavar="SHARE",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            help="slow: the period of bursts that last --for a time, from start to start",
            metavar="TIME",
            show_default=False,
        ),
    ] = None,
    during_write: Annotated[
        bool,
        typer.Option("--during-write", help="power-cut: at a random instant while a write is under way"),
    ] = False,
) -> int:
    """Inject a fault into a device that is being served, or end it, or start work of its array."""
    if action not in ACTIONS:
        raise InputError(f"{action}: there is no such action; there are {', '.join(ACTIONS)}")
    wish: dict[str, object] = {"action": _SAME.get(action, action), "member": member}
    if lba is not None:
        wish["lba"] = lba
    if sectors is not None:
        wish["sectors"] = sectors
    if factor is not None:
        wish["factor"] = factor
    if during_write:
        wish["during_write"] = True
    spans = (("for", for_), ("by", by), ("over", over), ("every", every))
    for option, name, text in ((f"--{name}", f"{name}_ns", text) for name, text in spans):
        if text is not None:
            try:
                wish[name] = _core.span_ns(text)
            except ValueError as error:
                raise InputError(f"{option} {text}: {error}") from error
    if share is not None:
        wish["share_ppm"] = _parts_per_million(share)
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
