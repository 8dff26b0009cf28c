"""File systems on a device or an image, through a loop device: where root and the kernel allow."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from drivelab.errors import InputError, RunError

_ATTACHING = threading.Lock()
_TIMEOUT_S = 120.0


class UnmountableError(Exception):
    """The kernel refuses to mount what is there; the message is its own."""


@dataclass(frozen=True)
class FileSystem:
    """One that campaigns know."""

    name: str
    make: tuple[str, ...]
    """The command that makes one; the device follows."""
    options: str = "rw"
    """Of its mount."""


KNOWN = {
    one.name: one
    for one in (
        # Everything that mkfs would leave to the first mount is done at once, or never.
        FileSystem(
            "ext4", ("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0")
        ),
        # Images of several cuts are mounted side by side, and have the same name.
        FileSystem("xfs", ("mkfs.xfs", "-q", "-f", "-K"), "nouuid"),
        FileSystem("btrfs", ("mkfs.btrfs", "-q", "-f", "-K")),
    )
}


def find(name: str) -> FileSystem:
    """The file system of this name, if it can be had here. Raises InputError."""
    if name not in KNOWN:
        raise InputError(f"--fs {name}: there are {', '.join(KNOWN)}")
    found = KNOWN[name]
    if os.geteuid() != 0:
        raise InputError(
            f"--fs {name}: mounting takes root; without --fs the device itself is written and checked"
        )
    for command in (found.make[0], "losetup", "mount"):
        if shutil.which(command) is None:
            raise InputError(f"--fs {name}: {command} is not there: install it")
    return found


def run(command: list[str], what: str) -> str:
    """What a command prints. Raises RunError with the first line of what it says when it fails."""
    done = _done(command, what)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()
        raise RunError(f"{what}: {said[0]}")
    return done.stdout


def _done(command: list[str], what: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{what}: it has not ended after {_TIMEOUT_S:g} s") from error


@contextmanager
def attached(image: Path, size_bytes: int, *, direct: bool = False) -> Iterator[str]:
    """The loop device that an image is. Raises RunError."""
    options = [f"--sizelimit={size_bytes}", *(["--direct-io=on"] if direct else [])]
    # Two that look for a free device at once find the same one.
    with _ATTACHING:
        device = run(["losetup", "--find", "--show", *options, str(image)], f"losetup {image}").strip()
    try:
        yield device
    finally:
        run(["losetup", "--detach", device], f"losetup --detach {device}")


@contextmanager
def mounted(system: FileSystem, device: str, at: Path) -> Iterator[Path]:
    """The file system on a device, mounted at a new folder. Raises UnmountableError and RunError."""
    at.mkdir()
    command = ["mount", "-t", system.name, "-o", system.options, device, str(at)]
    done = _done(command, f"mount {at}")
    if done.returncode:
        raise UnmountableError(done.stderr.strip() or f"mount ends with status {done.returncode}")
    try:
        yield at
    finally:
        _unmount(at)


def _unmount(at: Path) -> None:
    """Unmount it, unless the checker has; what a command has left running there loses it all the same."""
    if not at.is_mount():
        return
    if _done(["umount", str(at)], f"umount {at}").returncode:
        run(["umount", "--lazy", str(at)], f"umount {at}")
