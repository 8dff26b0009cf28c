"""`drivelab emulate`: the target of a scenario as a real block device, in its time, with its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _core
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_served
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, say
from drivelab.cli.places import check_file, place
from drivelab.cli.run_options import AsJson, Quiet
from drivelab.errors import InputError
from drivelab.host.files import write_text
from drivelab.report.emulation_summary import late_note, lines
from drivelab.report.json_text import json_text
from drivelab.runs import emulation
from drivelab.runs.emulated import (
    check_apart,
    check_failure,
    device_options,
    served_plan,
    session_record,
    sized,
)
from drivelab.runs.emulation import BUDGET
from drivelab.scenarios.firmware import served_note
from drivelab.scenarios.scenario import Source, check_once, read_source

_DEVICE_PANEL = "The device"


def _device(text: str, metavar: str) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(help=text, metavar=metavar, rich_help_panel=_DEVICE_PANEL, show_default=False)


@dataclass(frozen=True)
class Device:
    """How the device is reached, its clock, and where its bytes are."""

    socket: Annotated[
        str | None, _device("Unix socket that clients come to; one in a folder of its own by default", "PATH")
    ] = None
    tcp: Annotated[
        str | None,
        _device(
            "TCP port in place of a socket, 0 for a free one; an address that other machines reach takes TLS",
            "[ADDRESS:]PORT",
        ),
    ] = None
    tls_certificates: Annotated[
        Path | None,
        _device(
            "Serve with TLS, and only clients that show a certificate: the folder has ca-cert.pem, server-cert.pem, "
            "server-key.pem",
            "DIR",
        ),
    ] = None
    control: Annotated[
        str | None,
        _device(
            "Socket for drivelab fault; SOCKET.control by default, and with --tcp one in a folder of its own",
            "PATH",
        ),
    ] = None
    mount: Annotated[
        Path | None, _device("A folder at which the device is a file as well, through FUSE", "DIR")
    ] = None
    clock: Annotated[
        str,
        typer.Option(
            help="real; x10 for ten times as fast; skip, which does not wait; untimed, without the model",
            metavar="real|xN|skip|untimed",
            rich_help_panel=_DEVICE_PANEL,
        ),
    ] = "real"
    store: Annotated[
        str,
        typer.Option(
            help="memory, or a folder with an image for each drive",
            metavar="memory|DIR",
            rich_help_panel=_DEVICE_PANEL,
        ),
    ] = "memory"
    image: Annotated[
        Path | None, _device("Existing image of one drive; writes are kept in memory", "FILE")
    ] = None
    write_image: Annotated[bool, typer.Option(help="Write into the image", rich_help_panel=_DEVICE_PANEL)] = (
        False
    )
    block_size: Annotated[
        int, typer.Option(help="512 or 4096 bytes", metavar="BYTES", rich_help_panel=_DEVICE_PANEL)
    ] = 512


@grouped
def emulate(
    *,
    scenario: Annotated[Path | None, typer.Argument(metavar="[SCENARIO.toml]", show_default=False)] = None,
    drive: words.Drive = None,
    drive_size: Annotated[
        str | None,
        _device("Capacity of each drive, from the outer edge on, in place of all of it: 64MiB, 16TB", "SIZE"),
    ] = None,
    level: words.Level = None,
    members: words.Members = None,
    stripe_unit: words.StripeUnit = None,
    randseed: words.Randseed = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    device: Device,
    run: Annotated[
        str | None,
        typer.Option(
            help="Serve as long as this command of a shell runs, and end with its status; it finds the device at $uri, "
            "and for drivelab fault at $DRIVELAB_CONTROL",
            metavar="COMMAND",
            show_default=False,
        ),
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option(help="Keep the session as a trace", metavar="FILE", parser=place, show_default=False),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Write the record of the session", metavar="FILE", parser=place, show_default=False
        ),
    ] = None,
    lateness_budget: Annotated[
        str, typer.Option(help="Allowed lateness of answers, at p99", metavar="TIME")
    ] = BUDGET,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Serve the target of a scenario as a network block device (NBD).

    Any client finds it at the address that is printed first: fio, qemu, nbdcopy, nbd-client. Ctrl-C ends the session.
    """
    outputs = {"--capture": capture, "--record": record}
    _check_files(outputs)
    check_apart(outputs, None if device.store == "memory" else Path(device.store), device.image)
    options = device_options(**vars(device), capture=capture, lateness_budget=lateness_budget)
    if run is not None and not run.strip():
        raise InputError("--run: the command is empty; leave --run out to serve until Ctrl-C")
    laid_over = {"drive": drive, "level": level, "members": members, "stripe_unit": stripe_unit}
    overrides = words.overrides_of({**laid_over, "randseed": randseed}, settings)
    overrides += sized(drive_size)
    check_once(overrides)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    checked = served_plan(source, overrides)
    if not quiet:
        note_served(checked, source, overrides)
    command = emulation.Command(run, emulation.stderr_number() if as_json else None) if run else None

    def ready(served: emulation.Ready) -> None:
        # What a command is to read is passed to it alone.
        if command is None and not as_json:
            emit(served.uri)
        if not quiet:
            say(f"serving {_device_line(checked, served, device.clock)}")
            if device.clock != "untimed" and (kind := served_note(checked.in_force[0])):
                say(f"range: {kind}")

    session = emulation.serve(checked, options, ready, command)
    found = session_record(checked, session)
    _print_result(found, record, as_json=as_json, quiet=quiet)
    return _code(session)


def _device_line(checked: _core.Plan, device: emulation.Ready, clock: str) -> str:
    """What is served: the size, which caches hold writes, the clock, the address, and for a port the control socket."""
    caches = "" if clock == "untimed" else _core.write_caches(checked)
    parts = [checked.name, _size_text(device.size_bytes), *([caches] if caches else []), f"clock {clock}"]
    line = f"{', '.join(parts)}, at {device.uri}"
    is_at_port = "socket=" not in device.uri
    return f"{line}, control socket {device.control}" if is_at_port and device.control is not None else line


def _size_text(size_bytes: int) -> str:
    """A size in GB, or in MB where it is small."""
    return f"{size_bytes / 1e9:.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:.1f} MB"


def _check_files(wanted: dict[str, Path | None]) -> None:
    """Refuse files that could not be written. Raises InputError and OutputError."""
    for option, path in wanted.items():
        if path is not None:
            check_file(option, path)


def _print_result(found: dict[str, Any], record: Path | None, *, as_json: bool, quiet: bool) -> None:
    """What the session came to: neither a file that cannot be written nor a closed pipe keeps the other away."""
    try:
        if as_json:
            emit_json(found)
        elif not quiet:
            say("\n".join(lines(found)))
        if note := late_note(found):
            say(note)
    finally:
        if record is not None:
            write_text(record, json_text(found))


def _code(session: emulation.Session) -> int:
    check_failure(session.record)
    if session.interrupted:
        return Exit.INTERRUPTED
    return Exit.OK if session.status is None else session.status
