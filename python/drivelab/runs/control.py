"""The control socket of a device that is being served: where it is, and what is asked there."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import urllib.parse
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, RunError
from drivelab.host import kernel

CONTROL_SUFFIX = ".control"
"""What the name of the control socket has behind that of the device's."""

_ANSWER_MAX_BYTES = 1 << 20
_TIMEOUT_S = 60.0
# A client of NBD hears this first.
_GREETING = b"NBDMAGIC"
_NBD_PORT = 10_809
# In the private folder of a device: its address and its control socket.
_FACTS = "control.json"
_PRIVATE = "drivelab-device-*"


def note(folder: Path, uri: str, control: str) -> None:
    """Write into the private folder of a device where its control socket is, for who knows the address."""
    (folder / _FACTS).write_text(json.dumps({"uri": uri, "control": control}), encoding="utf-8")


@dataclass(frozen=True)
class Answer:
    """What a device answers."""

    told: str
    figures: dict[str, Any] | None = None
    """Of the session so far, with a status; None from a device of an older drivelab."""


@dataclass(frozen=True)
class Known:
    """A device of this user at a place that `emulate` has chosen: its address and its control socket."""

    uri: str
    control: str


def act(named: str, action: Mapping[str, Any]) -> str:
    """Have something done to a device that is being served. Returns what it says.

    `named` is its socket, its address, or its control socket. Raises InputError and RunError.
    """
    return ask(named, action).told


def ask(named: str, action: Mapping[str, Any], timeout_s: float = _TIMEOUT_S) -> Answer:
    """The same, with the figures of the session where the device tells them. Raises InputError and RunError."""
    kernel.need_unix("`fault`", "a device is served, and told, over sockets as Unix has them")
    request = json.dumps(action)
    if wrong := _core.action_problem(request):
        raise InputError(f"the action is refused: {wrong}")
    why, has_greeted = "", None
    for path in _candidates(named):
        with kernel.unix_socket() as client:
            client.settimeout(timeout_s)
            try:
                client.connect(os.fspath(path))
            except OSError as error:
                # A path that exists says more than one that was only tried.
                if not why or path.exists():
                    why = (error.strerror or str(error)).lower()
                continue
            try:
                client.sendall((request + "\n").encode())
                line = _line(client)
            except OSError as error:
                raise RunError(f"{path}: the device does not answer: {error}") from error
        if line.startswith(_GREETING):
            has_greeted = path
            continue
        return _told(path, line)
    if has_greeted is not None:
        raise InputError(
            f"{has_greeted}: this is the device, and its control socket is at another path: name that "
            "(`emulate --control`)"
        )
    raise InputError(
        f"{named}: no device is served there: {why}; name the socket or the address that emulate has printed, or "
        "its control socket"
    )


def _told(path: Path, line: bytes) -> Answer:
    """What the device's answer says. Raises InputError."""
    try:
        answer = json.loads(line)
        is_done, said = answer["ok"], answer["told"] if answer["ok"] else answer["error"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: what serves there is no device of drivelab: name the control socket that emulate has printed"
        ) from error
    if not is_done:
        raise InputError(f"the device refuses: {said}")
    figures = answer.get("figures")
    return Answer(str(said), figures if isinstance(figures, dict) else None)


def known() -> list[Known]:
    """The devices of this user whose sockets are in private folders; of a session that was killed one may be left."""
    found = []
    for folder in sorted(Path(tempfile.gettempdir()).glob(_PRIVATE)):
        with suppress(OSError, ValueError, KeyError, TypeError):
            # What others have put there is not followed.
            if folder.stat(follow_symlinks=False).st_uid != kernel.user():
                continue
            facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
            found.append(Known(str(facts["uri"]), str(facts["control"])))
    return found


def _candidates(named: str) -> list[Path]:
    """Where the control socket of a device may be. Raises InputError."""
    if named.startswith(("nbd://", "nbds://", "nbd+unix://")):
        parts = urllib.parse.urlsplit(named)
        query = urllib.parse.parse_qs(parts.query)
        if "socket" not in query and parts.scheme != "nbd+unix":
            return _at_port(named, parts)
        if "socket" not in query:
            raise InputError(f"{named}: it names no socket: add ?socket=PATH")
        named = query["socket"][0]
    path = Path(named)
    if not path.name:
        raise InputError(
            f"{named or 'an empty text'}: this is no path of a socket: name the one that emulate has printed"
        )
    behind = path.with_name(path.name + CONTROL_SUFFIX)
    # A device is not disturbed where its control socket is beside it.
    return [path, behind] if named.endswith(CONTROL_SUFFIX) else [behind, path]


def _at_port(named: str, parts: urllib.parse.SplitResult) -> list[Path]:
    """The control sockets of this user's devices at an address. Raises InputError."""
    try:
        host, port = parts.hostname or "localhost", parts.port or _NBD_PORT
    except ValueError as error:
        raise InputError(f"{named}: {error}; give an address such as nbd://127.0.0.1:10809") from error
    found = []
    for device in known():
        # An address that another program has left there.
        with suppress(ValueError):
            own = urllib.parse.urlsplit(device.uri)
            if own.port == port and _is_at(own.hostname or "", host):
                found.append(Path(device.control))
    if not found:
        raise InputError(
            f"{named}: no device of this user is known at that port: name the control socket that emulate has "
            "printed in its line `serving`, or the path that `emulate --control` names"
        )
    return found


def _is_at(own: str, host: str) -> bool:
    """Whether a device that listens at its own address is found at a host; of other machines nothing is known."""
    address, wanted = _address(own), _address(host)
    is_local = host == "localhost" or (wanted is not None and wanted.is_loopback)
    if address is None or wanted is None:
        return own == host or (
            is_local and address is not None and (address.is_loopback or address.is_unspecified)
        )
    return address == wanted or (is_local and address.is_unspecified)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _line(client: socket.socket) -> bytes:
    found = b""
    while not found.endswith(b"\n") and len(found) < _ANSWER_MAX_BYTES:
        more = client.recv(1 << 16)
        if not more:
            raise ConnectionError("it has ended")
        found += more
        if found.startswith(_GREETING):
            break
    return found
