"""`drivelab emulate`: the target of a scenario as a real block device, in its time, with its bytes."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _core, emulation, remains
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_served
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, json_text, say
from drivelab.cli.places import check_file, place
from drivelab.cli.run_options import AsJson, Quiet
from drivelab.emulation import BLOCK_SIZES, BUDGET
from drivelab.emulation_summary import late_note, lines
from drivelab.errors import InputError, RunError
from drivelab.files import write_text
from drivelab.plural import counted
from drivelab.provenance import provenance
from drivelab.result import resolved
from drivelab.scenario import Source, plan, read_source

_DEVICE_PANEL = "The device"
_PORT_MAX = 65_535
_IPV6 = 6


def _device(text: str, metavar: str) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(help=text, metavar=metavar, rich_help_panel=_DEVICE_PANEL, show_default=False)


Socket = Annotated[
    str | None, _device("Unix socket that clients come to; one in a folder of its own by default", "PATH")
]
Clock = Annotated[
    str,
    typer.Option(
        help="real; x10 for ten times as fast; skip, which does not wait; untimed, without the model",
        metavar="real|xN|skip|untimed",
        rich_help_panel=_DEVICE_PANEL,
    ),
]
Store = Annotated[
    str,
    typer.Option(
        help="memory, or a folder with an image for each drive",
        metavar="memory|DIR",
        rich_help_panel=_DEVICE_PANEL,
    ),
]


def emulate(
    scenario: Annotated[Path | None, typer.Argument(metavar="[SCENARIO.toml]", show_default=False)] = None,
    drive: words.Drive = None,
    level: words.Level = None,
    members: words.Members = None,
    stripe_unit: words.StripeUnit = None,
    randseed: words.Randseed = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    socket: Socket = None,
    tcp: Annotated[
        str | None,
        _device(
            "Port in place of a socket, 0 for a free one; at an ADDRESS that other machines reach with TLS alone",
            "[ADDRESS:]PORT",
        ),
    ] = None,
    tls_certificates: Annotated[
        Path | None,
        _device(
            "Serve with TLS, and only clients that show a certificate: the folder has ca-cert.pem, server-cert.pem, "
            "server-key.pem",
            "DIR",
        ),
    ] = None,
    control: Annotated[
        str | None, _device("Socket for drivelab fault; SOCKET.control by default", "PATH")
    ] = None,
    mount: Annotated[
        Path | None, _device("A folder at which the device is a file as well, through FUSE", "DIR")
    ] = None,
    clock: Clock = "real",
    store: Store = "memory",
    image: Annotated[
        Path | None, _device("An image that is there already; what is written is kept in memory", "FILE")
    ] = None,
    write_image: Annotated[
        bool, typer.Option(help="Write into the image", rich_help_panel=_DEVICE_PANEL)
    ] = False,
    block_size: Annotated[
        int, typer.Option(help="512 or 4096 bytes", metavar="BYTES", rich_help_panel=_DEVICE_PANEL)
    ] = 512,
    run: Annotated[
        str | None,
        typer.Option(
            help="Serve as long as this command of a shell runs, and end with its status; it finds the device at $uri",
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
        str, typer.Option(help="What 99 of 100 answers may be late by", metavar="TIME")
    ] = BUDGET,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Serve the target of a scenario as a network block device (NBD).

    Any client finds it at the address that is printed first: fio, qemu, nbdcopy, nbd-client. Ctrl-C ends the session.
    """
    outputs = {"--capture": capture, "--record": record}
    _check_files(outputs)
    _check_apart(outputs, None if store == "memory" else Path(store), image)
    if write_image and image is None:
        raise InputError("--write-image changes nothing without --image; leave it out")
    options = _options(socket, control, clock, store, image, block_size, lateness_budget)
    options |= _network(socket, tcp, tls_certificates)
    if mount is not None and not remains.unmounted(mount):
        raise InputError(
            f"--mount {mount}: what is mounted there has lost its process; unmount it, as with fusermount3 -u"
        )
    if mount is not None and not mount.is_dir():
        raise InputError(f"--mount {mount}: there is no such folder; make it first")
    if mount is not None and any(mount.iterdir()):
        raise InputError(
            f"--mount {mount}: there is something in it, which nobody would see; name an empty folder"
        )
    if run is not None and not run.strip():
        raise InputError("--run: the command is empty; leave --run out to serve until Ctrl-C")
    options |= {"mount": None if mount is None else str(mount.absolute())}
    options |= {"write_image": write_image, "capture": None if capture is None else str(capture)}
    laid_over = {"drive": drive, "level": level, "members": members, "stripe_unit": stripe_unit}
    overrides = words.overrides_of({**laid_over, "randseed": randseed}, settings)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    checked = plan(source, overrides, served=True)
    if len(checked) > 1:
        raise InputError(
            f"one device is served, and this scenario has {len(checked)} points: give each value once"
        )
    if not quiet:
        note_served(checked, source, overrides)
    command = emulation.Command(run, emulation.stderr_number() if as_json else None) if run else None

    def ready(uri: str, size: int) -> None:
        # What a command is to read is passed to it alone.
        if command is None and not as_json:
            emit(uri)
        if not quiet:
            say(f"serving {checked.name}, {size / 1e9:.1f} GB, clock {clock}, at {uri}")

    session = emulation.serve(checked, options, ready, command)
    facts = provenance(checked.scenario_hash, checked.seed, session.record["digest"])
    found = {"kind": "emulate", **facts, "name": checked.name, **resolved(checked), **session.record}
    _print_result(found, record, as_json=as_json, quiet=quiet)
    return _code(session)


def _check_files(wanted: dict[str, Path | None]) -> None:
    """Refuse files that could not be written. Raises InputError and OutputError."""
    for option, path in wanted.items():
        if path is not None:
            check_file(option, path)


def _check_apart(wanted: dict[str, Path | None], store: Path | None, image: Path | None) -> None:
    """Refuse to write over the bytes of the device. Raises InputError."""
    for option, path in wanted.items():
        if path is None:
            continue
        own = None if store is None else emulation.file_of(store, path)
        if own is not None:
            raise InputError(
                f"{option} {path}: this is {own}, which the device of --store has; name another file"
            )
        if image is not None and emulation.is_same(path, image):
            raise InputError(f"{option} {path}: this is the image of the device; name another file")


def _print_result(found: dict[str, Any], record: Path | None, *, as_json: bool, quiet: bool) -> None:
    """What the session came to, wherever it is wanted."""
    if record is not None:
        write_text(record, json_text(found))
    if as_json:
        emit_json(found)
    elif not quiet:
        say("\n".join(lines(found)))
    if note := late_note(found):
        say(note)


def _code(session: emulation.Session) -> int:
    if session.record["failure"] is not None:
        unsaved = session.record["unsaved_sectors"]
        more = f"; {counted(unsaved, 'sector')} answered for could not be kept" if unsaved else ""
        raise RunError(f"the session has ended: {session.record['failure']}{more}")
    if session.interrupted:
        return Exit.INTERRUPTED
    return Exit.OK if session.status is None else session.status


def _options(
    socket: str | None,
    control: str | None,
    clock: str,
    store: str,
    image: Path | None,
    block_size: int,
    budget: str,
) -> dict[str, Any]:
    """What was asked for, checked. Raises InputError."""
    if block_size not in BLOCK_SIZES:
        raise InputError(f"--block-size {block_size}: give 512 or 4096")
    folder = None if store == "memory" else store
    if folder is not None and image is not None:
        raise InputError("--store and --image: the bytes are in one of the two; leave the other out")
    if clock == "untimed" and (folder is not None or image is not None):
        raise InputError(
            "--clock untimed is without the model, and so without its drives: its bytes are in memory; leave --store "
            "and --image out"
        )
    try:
        budget_ns = _core.span_ns(budget)
    except ValueError as error:
        raise InputError(f"--lateness-budget {budget}: {error}") from error
    try:
        _core.check_clock(clock)
    except ValueError as error:
        raise InputError(f"--clock {clock}: {error}") from error
    return emulation.served(
        clock,
        socket=socket,
        control=control,
        folder=folder,
        image=None if image is None else str(image),
        block_size=block_size,
        budget_ns=budget_ns,
    )


def _network(socket: str | None, tcp: str | None, certificates: Path | None) -> dict[str, str | None]:
    """The address of a device that is at a port, and its certificates. Raises InputError."""
    if tcp is None:
        if certificates is not None:
            raise InputError("--tls-certificates changes nothing without --tcp; leave it out")
        return {}
    if socket is not None:
        raise InputError("--socket and --tcp: the device is at one of the two; leave the other out")
    host, _, port = tcp.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        address = ip_address("127.0.0.1" if host in {"", "localhost"} else host)
        number = int(port) if port.isascii() and port.isdigit() else -1
    except ValueError:
        number = -1
    if not 0 <= number <= _PORT_MAX:
        raise InputError(
            f"--tcp {tcp}: give a port of this machine's own, such as 10809, or one of its addresses with a port, such "
            "as 192.0.2.1:10809, 0.0.0.0:10809 or [::]:10809"
        )
    if certificates is None and not address.is_loopback:
        raise InputError(
            f"--tcp {tcp}: other machines reach this address, and the device is served to them with TLS alone: name a "
            f"folder of certificates with --tls-certificates, or give --tcp {port} for clients of this machine"
        )
    at = f"[{address}]:{port}" if address.version == _IPV6 else f"{address}:{port}"
    return {"address": at, "certificates": None if certificates is None else str(certificates)}
