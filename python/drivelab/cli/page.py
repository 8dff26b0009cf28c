"""`drivelab page`: the page for browsers, on this machine with its library and its sessions, or as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drivelab.cli.exits import Exit
from drivelab.cli.library import Where_
from drivelab.cli.output import emit, say
from drivelab.cli.places import place
from drivelab.errors import InputError
from drivelab.report.plural import counted
from drivelab.served import serving, site


def page(
    port: Annotated[
        str,
        typer.Option(help="Port of this machine, 0 for a free one", metavar="[ADDRESS:]PORT"),
    ] = str(serving.PORT),
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser")] = False,
    session: Annotated[
        list[str],
        typer.Option(
            help="A device that emulate serves at a socket of its own, as fault names it; repeatable. Others are "
            "found",
            metavar="SOCKET",
            show_default=False,
        ),
    ] = [],  # noqa: B006 - typer wants a list, and nobody changes it
    where: Where_ = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write the page into a folder for any static host, and serve nothing",
            metavar="FOLDER",
            parser=place,
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes")] = False,
) -> int:
    """Serve the page to this machine, with the library of records and the sessions of emulate; Ctrl-C ends it.

    The address is printed first. It has a token: who knows it may read the library, tag its records, and inject faults.
    Takes the extra drivelab\\[page]; --export does not.
    """
    if export is not None:
        if open_ or session or where is not None or port != str(serving.PORT):
            raise InputError(
                "--export writes a folder and serves nothing: leave out --port, --open, --session, --library"
            )
        count = site.export(export)
        if not quiet:
            say(f"wrote {export}: {counted(count, 'file')}; any static host serves them")
        return Exit.OK
    host, number = serving.address_of(port)

    def ready(address: str) -> None:
        emit(address)
        if not quiet:
            say("serving the page to this machine; Ctrl-C ends it")

    serving.serve(host, number, where, session, ready, opens=open_)
    return Exit.OK
