"""What is asked of a device in real time, checked; and `drivelab.emulate`, a device that a program of Python uses."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, RunError, ref
from drivelab.host import kernel, remains
from drivelab.report.plural import counted
from drivelab.runs import control, emulation
from drivelab.runs.emulation import BLOCK_SIZES, BUDGET
from drivelab.runs.provenance import provenance
from drivelab.runs.result import resolved
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.quantities import span_ns
from drivelab.scenarios.scenario import (
    Override,
    Scenario,
    Source,
    check_once,
    overrides_from,
    plan,
    read_source,
)

_PORT_MAX = 65_535
_IPV6 = 6
_START_S = 60.0


def device_options(  # noqa: PLR0913 - its parameters are the options of the verb
    *,
    socket: str | None = None,
    tcp: str | None = None,
    tls_certificates: Path | None = None,
    control: str | None = None,
    mount: Path | None = None,
    clock: str = "real",
    store: str = "memory",
    image: Path | None = None,
    write_image: bool = False,
    block_size: int = BLOCK_SIZES[0],
    capture: Path | None = None,
    lateness_budget: str = BUDGET,
) -> dict[str, Any]:
    """The options of a device, all of them checked. Raises InputError."""
    kernel.need_unix("`emulate`", "it serves over sockets as Unix has them")
    if mount is not None:
        remedy = f"leave {ref('mount')} out, and connect to the device over NBD"
        kernel.need_linux(ref("mount", mount), "the device is a file by Linux's FUSE", remedy)
    check_apart({"capture": capture}, None if store == "memory" else Path(store), image)
    if write_image and image is None:
        raise InputError(f"{ref('write_image')} changes nothing without {ref('image')}; leave it out")
    options = _options(socket, control, clock, store, image, block_size, lateness_budget)
    options |= _network(socket, tcp, tls_certificates)
    if control is not None and socket is not None and Path(control).absolute() == Path(socket).absolute():
        raise InputError(
            f"{ref('control', control)}: it is the path of the device's own socket; give another one"
        )
    if mount is not None and not remains.unmounted(mount):
        raise InputError(
            f"{ref('mount', mount)}: what is mounted there has lost its process; unmount it, as with fusermount3 -u"
        )
    if mount is not None and not mount.is_dir():
        what = "it is no folder; name one" if mount.exists() else "there is no such folder; make it first"
        raise InputError(f"{ref('mount', mount)}: {what}")
    if mount is not None and any(mount.iterdir()):
        raise InputError(
            f"{ref('mount', mount)}: there is something in it, which nobody would see; name an empty folder"
        )
    options |= {"mount": None if mount is None else str(mount.absolute())}
    return options | {"write_image": write_image, "capture": None if capture is None else str(capture)}


def sized(drive_size: str | int | None) -> list[Override]:
    """The capacity of each drive, where one is asked for: a text such as "64MiB", or bytes."""
    if drive_size is None:
        return []
    text = f"{drive_size}B" if isinstance(drive_size, int) else drive_size
    return [Override("target.drive.geometry.accessible", text, ref("drive_size"))]


def served_plan(source: Source, overrides: list[Override]) -> _core.Plan:
    """The device of a scenario: one point. Raises InputError and ScenarioError."""
    checked = plan(source, overrides, served=True)
    if len(checked) > 1:
        raise InputError(
            f"one device is served, and this scenario has {len(checked)} points: give each value once"
        )
    return checked


def session_record(checked: _core.Plan, session: emulation.Session) -> dict[str, Any]:
    """The record of a session, as `emulate --json` prints it."""
    facts = provenance(checked.scenario_hash, checked.seed, session.record["digest"])
    return {"kind": "emulate", **facts, "name": checked.name, **resolved(checked), **session.record}


def check_failure(record: Mapping[str, Any]) -> None:
    """Raise RunError if a session has ended with a failure."""
    if record["failure"] is not None:
        unsaved = record["unsaved_sectors"]
        more = f"; {counted(unsaved, 'sector')} answered for could not be kept" if unsaved else ""
        raise RunError(f"the session has ended: {record['failure']}{more}")


def check_apart(wanted: dict[str, Path | None], store: Path | None, image: Path | None) -> None:
    """Refuse to write over the bytes of the device. Raises InputError."""
    for option, path in wanted.items():
        if path is None:
            continue
        own = None if store is None else emulation.file_of(store, path)
        if own is not None:
            raise InputError(
                f"{ref(option, path)}: this is {own}, which the device of {ref('store')} has; name another file"
            )
        if image is not None and emulation.is_same(path, image):
            raise InputError(f"{option} {path}: this is the image of the device; name another file")


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
        raise InputError(f"{ref('block_size', block_size)}: give 512 or 4096")
    folder = None if store == "memory" else store
    if folder is not None and image is not None:
        raise InputError(
            f"{ref('store')} and {ref('image')}: the bytes are in one of the two; leave the other out"
        )
    if clock == "untimed" and (folder is not None or image is not None):
        raise InputError(
            f"{ref('clock', 'untimed')} is without the model, and so without its drives: its bytes are in memory; "
            f"leave {ref('store')} and {ref('image')} out"
        )
    budget_ns = span_ns("lateness_budget", budget)
    try:
        _core.check_clock(clock)
    except ValueError as error:
        raise InputError(f"{ref('clock', clock)}: {error}") from error
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
            raise InputError(f"{ref('tls_certificates')} changes nothing without {ref('tcp')}; leave it out")
        return {}
    if socket is not None:
        raise InputError(
            f"{ref('socket')} and {ref('tcp')}: the device is at one of the two; leave the other out"
        )
    host, _, port = tcp.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        address = ip_address("127.0.0.1" if host in {"", "localhost"} else host)
        number = int(port) if port.isascii() and port.isdigit() else -1
    except ValueError:
        number = -1
    if not 0 <= number <= _PORT_MAX:
        raise InputError(
            f"{ref('tcp', tcp)}: give a port of this machine's own, such as 10809, or one of its addresses with a "
            "port, such as 192.0.2.1:10809, 0.0.0.0:10809 or [::]:10809"
        )
    if certificates is None and not address.is_loopback:
        raise InputError(
            f"{ref('tcp', tcp)}: other machines reach this address, and the device is served to them with TLS alone: "
            f"name a folder of certificates with {ref('tls_certificates')}, or give {ref('tcp', port)} for clients "
            "of this machine"
        )
    at = f"[{address}]:{port}" if address.version == _IPV6 else f"{address}:{port}"
    return {"address": at, "certificates": None if certificates is None else str(certificates)}


class _Ending(emulation.Command):
    """Stands for a command: the session ends when it is told to."""

    def __init__(self) -> None:
        """Nothing has been told yet."""
        super().__init__("")
        self.told = threading.Event()

    def start(self, words: Mapping[str, str]) -> None:
        """Nothing runs."""

    def is_over(self) -> bool:
        """Whether it was told to end."""
        return self.told.is_set()

    def end(self) -> int | None:
        """It has no status."""
        return None


class Device:
    """A device that is being served, until its `with` block ends.

    `uri` is its address for clients of NBD, `environment` what a command needs to find it (with its control socket,
    DRIVELAB_CONTROL), `size_bytes` its size, and `record`, once it has ended, the record of the session.
    """

    def __init__(self, checked: _core.Plan, options: dict[str, Any]) -> None:
        """Keep what is to be served."""
        self.uri = ""
        self.size_bytes = 0
        self.environment: dict[str, str] = {}
        self.record: dict[str, Any] | None = None
        self._plan, self._options = checked, options
        self._control: str | None = None
        self._ending, self._ready = _Ending(), threading.Event()
        self._raised: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="drivelab device", daemon=True)

    def __repr__(self) -> str:
        """A line."""
        return f"<Device {self._plan.name!r} at {self.uri or 'no address'}, {self.size_bytes / 1e9:.1f} GB>"

    def __enter__(self) -> Device:
        """Serve it. Raises RunError where it cannot be served."""
        self._thread.start()
        self._ready.wait(_START_S)
        if self._raised is not None:
            raise self._raised
        if not self.uri:
            raise RunError("the device was not there within a minute")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session, as Ctrl-C does in a shell. Raises RunError if it has failed."""
        self._ending.told.set()
        self._thread.join()
        if error is None and self._raised is not None:
            raise self._raised
        if error is None and self.record is not None:
            check_failure(self.record)

    def act(self, action: str, **values: object) -> str:
        """Have something done to the device, as `drivelab fault` does; what it says.

        `act("power-cut")`, `act("fail", member=1)`; times in it are nanoseconds, by the model's clock. Raises
        InputError where the device refuses.
        """
        return control.act(self._control or self.uri, {"action": action, "member": 0, **values})

    def _serve(self) -> None:
        def ready(device: emulation.Ready) -> None:
            self.uri, self.size_bytes, self._control = device.uri, device.size_bytes, device.control
            self.environment = device.environment
            self._ready.set()

        try:
            session = emulation.serve(self._plan, self._options, ready, self._ending)
            self.record = session_record(self._plan, session)
        except BaseException as error:  # noqa: BLE001 - it is raised where the block is
            self._raised = error
        finally:
            self._ready.set()


@names_checked
def emulate(  # noqa: PLR0913 - its parameters are the options of the verb
    scenario: Scenario = "",
    *,
    socket: str | None = None,
    tcp: str | int | None = None,
    tls_certificates: str | os.PathLike[str] | None = None,
    control: str | None = None,
    mount: str | os.PathLike[str] | None = None,
    clock: str = "real",
    store: str | os.PathLike[str] = "memory",
    image: str | os.PathLike[str] | None = None,
    write_image: bool = False,
    block_size: int = BLOCK_SIZES[0],
    capture: str | os.PathLike[str] | None = None,
    lateness_budget: str = BUDGET,
    drive_size: str | int | None = None,
    **overrides: object,
) -> Device:
    """The target of a scenario as a network block device: `with emulate(drive="wd-4tb-7200") as device: ..`.

    Within the block clients of NBD find it at `device.uri`; it ends with the block, and `device.record` is then the
    record of the session, times in nanoseconds. `scenario` and `overrides` describe the target as for `simulate`.
    `socket` is the path of a Unix socket, by default one in a folder of its own; `tcp` a port, or "ADDRESS:PORT" with
    `tls_certificates`; `mount` an empty folder at which it is a file too. `clock` is "real", "x10", "skip" or
    "untimed"; `store` "memory", or a folder with an image for each drive; `image` a file in place of it, which is
    written to only with `write_image`. `block_size` is 512 or 4096 bytes, `capture` a file for the session as a trace,
    `lateness_budget` what 99 of 100 answers may be late by, such as "500us". `drive_size` is the capacity of each drive
    ("64MiB", or bytes), from the outer edge on, in place of all of it.

    Raises InputError, ScenarioError; the block raises RunError where the device cannot be served, or has failed.
    """
    options = device_options(
        socket=socket,
        tcp=None if tcp is None else str(tcp),
        tls_certificates=_path(tls_certificates),
        control=control,
        mount=_path(mount),
        clock=clock,
        store=os.fspath(store),
        image=_path(image),
        write_image=write_image,
        block_size=block_size,
        capture=_path(capture),
        lateness_budget=lateness_budget,
    )
    found = [*overrides_from(overrides), *sized(drive_size)]
    check_once(found)
    return Device(served_plan(read_source(scenario, found), found), options)


def _path(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)
