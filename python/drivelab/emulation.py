"""A device in real time: what `drivelab emulate` does, and a client of its control socket."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.parse
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import _core, processes, remains, temporary
from drivelab.errors import InputError, RunError

CONTROL_SUFFIX = ".control"
"""What the name of the control socket has behind that of the device's."""

BLOCK_SIZES = (512, 4096)
BUDGET = "500us"
"""Where clients and the device share two cores, 99 of 100 answers are less late than this."""

MOUNTED_FILE = "disk"
"""The device's file in the folder at which it is mounted."""

_ANSWER_MAX_BYTES = 1 << 20
_CONTROL_TIMEOUT_S = 60.0
# A command that is to end gets so long.
_END_S = 5.0
_STATE = "state.json"
# What a folder of images has, or will have.
_OF_FOLDER = re.compile(r"member-\d+\.img|state\.json(\.new)?|reserve")
# In the environment of a command and of all that it starts.
_MARK = "DRIVELAB_COMMAND"
# As a shell has it: a command that a signal ended.
_SIGNALLED = 128


@dataclass
class Session:
    """What a session came to."""

    record: dict[str, Any]
    interrupted: bool
    status: int | None
    """Of the command that ran against the device; None where there was none."""


def in_words(uri: str, mount: str | None = None) -> dict[str, str]:
    """What a command is given about the device, as nbdkit gives it and under names of our own."""
    parts = urllib.parse.urlsplit(uri)
    query = urllib.parse.parse_qs(parts.query)
    where = {"unixsocket": query["socket"][0]} if "socket" in query else {"port": str(parts.port)}
    device = uri if mount is None else str(Path(mount) / MOUNTED_FILE)
    return {"uri": uri, "DRIVELAB_URI": uri, "DRIVELAB_DEVICE": device, "exportname": "", **where}


def with_program() -> dict[str, str]:
    """PATH, extended with the folder of this program if it lacks it: commands may call `drivelab`."""
    if shutil.which("drivelab"):
        return {}
    return {"PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])}


class Command:
    """A command of a shell that runs as long as the device is served."""

    def __init__(self, text: str, stdout: int | None = None) -> None:
        """Keep the command; `stdout` is the descriptor of its own stdout."""
        self.text = text
        self.stdout = stdout
        self.mark = secrets.token_hex()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, words: Mapping[str, str]) -> None:
        """Start it, with these words in its environment."""
        environment = {**os.environ, **with_program(), **words, _MARK: self.mark}
        # In the process group of ours: Ctrl-C of a terminal and its job control are for both.
        self.process = subprocess.Popen(["/bin/sh", "-c", self.text], env=environment, stdout=self.stdout)

    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.process is not None and self.process.poll() is not None

    def end(self) -> int | None:
        """See that it ends, with all that it has started; its status as a shell has it.

        What is left of one that has ended by itself is left alone.
        """
        if self.process is None:
            return None
        if self.process.poll() is None:
            processes.end(self.process.pid, f"{_MARK}={self.mark}", _END_S)
        status = self.process.wait()
        return _SIGNALLED - status if status < 0 else status


def serve(
    plan: _core.Plan,
    options: dict[str, Any],
    on_ready: Callable[[str, int], object],
    command: Command | None = None,
    transcript: _core.Transcript | None = None,
) -> Session:
    """Serve the target of a plan until a signal comes, or its command has ended.

    Without a socket and an address the device gets a socket in a folder of its own, which goes with it. `transcript`
    hears what the command says meanwhile. Raises RunError.
    """
    with ExitStack() as stack:
        if all(options[name] is None for name in ("socket", "listener", "address")):
            remains.sweep()
            private = stack.enter_context(temporary.folder("device"))
            options = {**options, "socket": str(private / "nbd.socket")}
        if options["control"] is None and options["socket"] is not None:
            options = {**options, "control": options["socket"] + CONTROL_SUFFIX}

        def ready(uri: str, size: int) -> None:
            on_ready(uri, size)
            if command is not None:
                command.start(in_words(uri, options["mount"]))

        def look() -> bool:
            return command is not None and command.is_over()

        try:
            record, interrupted = _core.emulate(plan, options, ready, look, transcript)
        finally:
            status = command.end() if command is not None else None
    return Session(record, interrupted, None if interrupted else status)


def served(clock: str, **given: object) -> dict[str, Any]:
    """Options of a device at a socket of its own, its bytes in memory, but for what is given."""
    places = ("socket", "listener", "address", "certificates", "control")
    files = ("folder", "image", "capture", "keep", "mount")
    plain = dict.fromkeys((*places, *files))
    others = {"write_image": False, "block_size": BLOCK_SIZES[0], "budget_ns": _core.span_ns(BUDGET)}
    return {**plain, **others, "clock": clock, **given}


def file_of(folder: Path, path: Path) -> Path | None:
    """The file of a folder of images that this path is of, by whatever links; one that it will have counts too."""
    target = path.resolve()
    if target.parent == folder.resolve() and _OF_FOLDER.fullmatch(target.name):
        return folder / target.name
    try:
        named = set(json.loads((folder / _STATE).read_text())["drives"])
    except (OSError, ValueError, KeyError, TypeError):
        named = set()  # A folder that is new, or that the device refuses.
    files = list(folder.iterdir()) if folder.is_dir() else []
    own = (file for file in files if file.name in named or _OF_FOLDER.fullmatch(file.name))
    return next((file for file in own if is_same(path, file)), None)


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths are of one file, by whatever links. It may not exist yet."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except OSError:
        return False


def control_path(named: str) -> Path:
    """The control socket of a device that is named by its socket, its address, or the control socket itself."""
    if named.startswith(("nbd://", "nbds://", "nbd+unix://")):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(named).query)
        if "socket" not in query:
            raise InputError(
                f"{named}: a device at a port has its control socket where --control has put it: name that"
            )
        named = query["socket"][0]
    path = Path(named)
    return path if named.endswith(CONTROL_SUFFIX) else path.with_name(path.name + CONTROL_SUFFIX)


def act(named: str, action: Mapping[str, Any]) -> str:
    """Have something done to a device that is being served. Returns what it says. Raises InputError and RunError."""
    path = control_path(named)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_CONTROL_TIMEOUT_S)
        try:
            client.connect(os.fspath(path))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise InputError(f"{path}: no device is served there: {why}") from error
        try:
            client.sendall((json.dumps(action) + "\n").encode())
            line = _line(client)
        except OSError as error:
            raise RunError(f"{path}: the device does not answer: {error}") from error
    answer = json.loads(line)
    if not answer["ok"]:
        raise InputError(f"the device refuses: {answer['error']}")
    return str(answer["told"])


def _line(client: socket.socket) -> bytes:
    found = b""
    while not found.endswith(b"\n") and len(found) < _ANSWER_MAX_BYTES:
        more = client.recv(1 << 16)
        if not more:
            raise ConnectionError("it has ended")
        found += more
    return found


def signalled(status: int) -> bool:
    """Whether a status of a command says that Ctrl-C has ended it."""
    return status == _SIGNALLED + signal.SIGINT


def stderr_number() -> int:
    """The descriptor that remarks go to."""
    return sys.stderr.fileno()
