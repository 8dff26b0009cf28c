"""A device in real time: what `drivelab emulate` does."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import sysconfig
import urllib.parse
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.host import processes, remains, temporary
from drivelab.runs import control
from drivelab.runs.control import CONTROL_SUFFIX

BLOCK_SIZES = (512, 4096)
BUDGET = "500us"
"""Where clients and the device share two cores, 99 of 100 answers are less late than this."""

MOUNTED_FILE = "disk"
"""The device's file in the folder at which it is mounted."""

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


@dataclass(frozen=True)
class Ready:
    """A device that clients may connect to."""

    uri: str
    size_bytes: int
    control: str | None = None
    """The absolute path of its control socket."""
    mount: str | None = None
    """The folder at which it is a file too."""

    @property
    def environment(self) -> dict[str, str]:
        """What a command is given about it."""
        return in_words(self.uri, self.mount, self.control)


def in_words(uri: str, mount: str | None = None, control: str | None = None) -> dict[str, str]:
    """What a command is given about the device, as nbdkit gives it and under names of our own."""
    parts = urllib.parse.urlsplit(uri)
    query = urllib.parse.parse_qs(parts.query)
    where = {"unixsocket": query["socket"][0]} if "socket" in query else {"port": str(parts.port)}
    device = uri if mount is None else str(Path(mount) / MOUNTED_FILE)
    own = {"DRIVELAB_URI": uri, "DRIVELAB_DEVICE": device}
    if control is not None:
        own["DRIVELAB_CONTROL"] = control
    return {"uri": uri, "exportname": "", **own, **where}


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
        environment = {**os.environ, **with_program(), **words, **self.own_words()}
        # In the process group of ours: Ctrl-C of a terminal and its job control are for both.
        self.process = subprocess.Popen(["/bin/sh", "-c", self.text], env=environment, stdout=self.stdout)

    def own_words(self) -> dict[str, str]:
        """What is in the environment of it and of all that it starts."""
        return {_MARK: self.mark}

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
    on_ready: Callable[[Ready], object],
    command: Command | None = None,
    transcript: _core.Transcript | None = None,
) -> Session:
    """Serve the target of a plan until a signal comes, or its command has ended.

    Without a socket and an address the device gets a socket in a folder of its own, which goes with it; so does the
    control socket of a device at a port. `transcript` hears what the command says meanwhile. Raises RunError.
    """
    with ExitStack() as stack:
        private, options = _placed(options, stack)

        def ready(uri: str, size: int) -> None:
            path = options["control"]
            device = Ready(uri, size, path and str(Path(path).absolute()), options["mount"])
            if private is not None and device.control is not None:
                control.note(private, uri, device.control)
            on_ready(device)
            if command is not None:
                command.start(device.environment)

        def look() -> bool:
            return command is not None and command.is_over()

        try:
            record, interrupted = _core.emulate(plan, options, ready, look, transcript)
        finally:
            status = command.end() if command is not None else None
    return Session(record, interrupted, None if interrupted else status)


def _placed(options: dict[str, Any], stack: ExitStack) -> tuple[Path | None, dict[str, Any]]:
    """The options with a place for each socket, and the device's private folder where it has one."""
    is_at_port = options["address"] is not None
    private = None
    if is_at_port or (options["socket"] is None and options["listener"] is None):
        remains.sweep()
        private = stack.enter_context(temporary.folder("device"))
        name = "control" if is_at_port else "socket"
        if options[name] is None:
            options = {**options, name: str(private / f"nbd.{name}")}
    if options["control"] is None and options["socket"] is not None:
        options = {**options, "control": options["socket"] + CONTROL_SUFFIX}
    return private, options


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
        named = set(json.loads((folder / _STATE).read_text(encoding="utf-8"))["drives"])
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


def signalled(status: int) -> bool:
    """Whether a status of a command says that Ctrl-C has ended it."""
    return status == _SIGNALLED + signal.SIGINT


def stderr_number() -> int:
    """The descriptor that remarks go to."""
    return sys.stderr.fileno()
