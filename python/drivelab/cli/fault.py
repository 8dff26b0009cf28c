"""`drivelab fault`: do something to a device while `drivelab emulate` serves it."""

from __future__ import annotations

from typing import Annotated

import typer

from drivelab import _core, emulation
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit
from drivelab.errors import InputError

ACTIONS = {
    "media": "sectors of a member (--lba, --sectors) cannot be read before they are written",
    "corrupt": "what is on a member's media there (--lba, --sectors) changes, and nobody is told",
    "slow": "a member takes up each command later by --by, or everything takes it --factor times as long",
    "hang": "a member says nothing, for good or --for a time",
    "reset": "the link to a member is reset: what it has not answered goes again",
    "lie": "a member answers FLUSH at once, whatever waits in its cache; --for ends it",
    "honest": "it no longer does",
    "fail": "a member fails for good; with --for another drive takes its place then",
    "dead": "the same as fail",
    "replace": "an empty drive takes the place of a member that has failed",
    "power-cut": "the power goes, now or --during-write, and is back at once, or after --for",
    "scrub": "the array begins to compare all that its members have",
    "rebuild": "the array begins to rebuild what a missing member had",
    "start": "an array that was not started after a power cut, being dirty and degraded, is started",
    "status": "nothing; how things stand is told",
}
_SAME = {"dead": "fail"}


def fault(
    device: Annotated[
        str,
        typer.Argument(
            metavar="SOCKET",
            help="The device's socket, its address, or its control socket",
            show_default=False,
        ),
    ],
    action: Annotated[str, typer.Argument(metavar="ACTION", help=", ".join(ACTIONS), show_default=False)],
    member: Annotated[int, typer.Option(help="Which drive, from 0", min=0, max=65_535)] = 0,
    lba: Annotated[
        int | None, typer.Option(help="First sector of the member", min=0, show_default=False)
    ] = None,
    sectors: Annotated[int | None, typer.Option(help="How many", min=1, show_default=False)] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", help="How long it lasts, by the model's clock", metavar="TIME", show_default=False
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="How much later a slow member takes up a command", metavar="TIME", show_default=False
        ),
    ] = None,
    factor: Annotated[
        int | None,
        typer.Option(
            help="How many times as long everything takes a slow member; 1 ends it", min=1, show_default=False
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(help="It becomes so evenly over this time", metavar="TIME", show_default=False),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(help="So many of its commands are late: 1%", metavar="SHARE", show_default=False),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            help="It is slow in bursts: one --for a time, and again so long after its beginning",
            metavar="TIME",
            show_default=False,
        ),
    ] = None,
    during_write: Annotated[
        bool,
        typer.Option(
            "--during-write", help="power-cut waits for a write, and comes at a random instant of it"
        ),
    ] = False,
) -> int:
    """Have something go wrong with a device that is being served, or right again."""
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
    emit(emulation.act(device, wish))
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
