"""Options of everything that measures a real device: which, how it is reached, what may be destroyed."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli.output import say
from drivelab.errors import InputError
from drivelab.measuring.address import is_address, target_at_address
from drivelab.measuring.device import System, Target, target_at
from drivelab.measuring.guard import check_may_be_written, check_named_twice, described
from drivelab.measuring.run import ENGINES, How

DEVICE_PANEL = "The device"
SYSTEM = System()

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
Write = Annotated[
    bool,
    typer.Option(
        "--write", help="Let the workload write: what is there is destroyed", rich_help_panel=DEVICE_PANEL
    ),
]
YesDestroy = Annotated[
    str | None,
    typer.Option(
        help="The target once more, as a write needs it", metavar="PATH|ADDRESS", rich_help_panel=DEVICE_PANEL
    ),
]
OverwriteData = Annotated[
    bool,
    typer.Option(
        "--overwrite-data",
        help="Also where a file has data, or a device a file system that is not mounted",
        rich_help_panel=DEVICE_PANEL,
    ),
]
OnError = Annotated[
    str,
    typer.Option(help="stop or continue, once a command fails", metavar="WHAT", rich_help_panel=DEVICE_PANEL),
]
UntilSteady = Annotated[
    str | None,
    typer.Option(
        help="Begin the measured time once five rounds of this length agree; at most 60 rounds",
        metavar="TIME",
        rich_help_panel=DEVICE_PANEL,
        show_default=False,
    ),
]
Repeat = Annotated[
    int,
    typer.Option(
        help="Runs of each point, by turns, with confidence intervals",
        metavar="N",
        rich_help_panel=DEVICE_PANEL,
    ),
]
WithHost = Annotated[
    bool,
    typer.Option("--with-host", help="Keep the machine's name in the record", rich_help_panel=DEVICE_PANEL),
]
WithSerial = Annotated[
    bool,
    typer.Option(
        "--with-serial", help="Keep the drive's serial number in the record", rich_help_panel=DEVICE_PANEL
    ),
]

ROUNDS_MAX = 60


@dataclass(frozen=True)
class Destroy:
    """What the user has stated about writing."""

    write: bool = False
    named: str | None = None
    overwrite: bool = False


def find_target(path: str | None) -> Target:
    """The target of an option or argument. Raises InputError."""
    if path is None:
        raise InputError("nothing to measure: name a file, block device or NBD address with --target PATH")
    return target_at_address(path) if is_address(path) else target_at(Path(path), SYSTEM)


def allow(target: Target, destroy: Destroy, *, writes: bool, quiet: bool) -> None:
    """Hold the wish to write to what the guard finds. Raises InputError and RefusedError."""
    if not writes:
        if destroy.write or destroy.named is not None or destroy.overwrite:
            raise InputError(
                "--write changes nothing: the workload only reads; leave it out, or give another --rw"
            )
        return
    name = target.shown if target.server is None else target.server.address
    if not destroy.write:
        raise InputError(
            f"the workload writes, and what is on {name} would be lost: allow it with --write --yes-destroy "
            f"{shlex.quote(name)}"
        )
    named = destroy.named
    if target.path is None or named is None or is_address(named):
        check_named_twice(name, named)
    else:
        check_named_twice(target.path, Path(named))
    given_up = check_may_be_written(target, SYSTEM, overwrite=destroy.overwrite)
    if not quiet:
        say(f"writing to {described(target)}")
        for one in given_up:
            say(f"  {one.where}: {one.what}; it is given up")


def how_of(
    *, engine: str, may_write: bool, direct: bool, on_error: str, until_steady: str | None, repeat: int
) -> How:
    """The options as one value. Raises InputError."""
    if engine not in ENGINES:
        raise InputError(f"--engine {engine}: there are {', '.join(ENGINES[:-1])} and {ENGINES[-1]}")
    if on_error not in {"stop", "continue"}:
        raise InputError(f"--on-error {on_error}: give stop or continue")
    steady = None
    if until_steady is not None:
        try:
            steady = (_core.span_ns(until_steady), ROUNDS_MAX)
        except ValueError as error:
            raise InputError(f"--until-steady {until_steady}: {error}") from error
        if steady[0] <= 0:
            raise InputError(f"--until-steady {until_steady}: a round takes some time, such as 10s")
    return How(
        engine=engine,
        may_write=may_write,
        direct=direct,
        goes_on=on_error == "continue",
        steady=steady,
        repeats=repeat,
    )
