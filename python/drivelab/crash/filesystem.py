"""File systems on a device or an image, through a loop device: if root and the kernel allow it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from drivelab.crash.leftover import end_users
from drivelab.errors import InputError, RunError, ref
from drivelab.host import kernel

_ATTACHING = threading.Lock()
# For kernels that do not mount two btrfs file systems with the same UUID.
_ONE_AT_A_TIME = threading.Lock()
_TEMPORARY_FSID = Path("/sys/fs/btrfs/features/temp_fsid")
_TIMEOUT_S = 120.0
_MIB = 1 << 20
UNMOUNTABLE = "the file system cannot be mounted"
"""The beginning of the reason of a loss of this kind."""
# No file system has a larger minimum size.
_SMALLEST_MAX = 1 << 30


class UnmountableError(Exception):
    """The kernel refuses to mount the file system; the message is that of mount."""


@dataclass(frozen=True)
class FileSystem:
    """A file system that campaigns support."""

    name: str
    package: str
    """The Debian package that provides the command."""
    make: tuple[str, ...]
    """The command that creates one; the device is appended."""
    options: str = "rw"
    """The mount options."""


KNOWN = {
    one.name: one
    for one in (
        # Work that mkfs would leave to the first mount is done at once, or never.
        FileSystem(
            "ext4",
            "e2fsprogs",
            ("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
        ),
        # Images of several cuts are mounted at the same time, and have the same UUID.
        FileSystem("xfs", "xfsprogs", ("mkfs.xfs", "-q", "-f", "-K"), "nouuid"),
        FileSystem("btrfs", "btrfs-progs", ("mkfs.btrfs", "-q", "-f", "-K")),
    )
}


def find(name: str) -> FileSystem:
    """The file system of this name, if it is available here. Raises InputError."""
    if name not in KNOWN:
        raise InputError(f"{ref('fs', name)}: there are {', '.join(KNOWN)}")
    found = KNOWN[name]
    if kernel.user() != 0:
        raise InputError(
            f"{ref('fs', name)}: mounting takes root; without {ref('fs')} the device itself is written and checked"
        )
    for command, package in ((found.make[0], found.package), ("losetup", "mount"), ("mount", "mount")):
        if shutil.which(command) is None:
            raise InputError(f"{ref('fs', name)}: {command} is not there: install it (Debian: {package})")
    return found


def check_size(system: FileSystem, text: str, size_bytes: int) -> None:
    """Reject a size that is too small for a file system, and name the smallest. Raises InputError."""
    if size_bytes >= _SMALLEST_MAX:
        return
    with tempfile.TemporaryDirectory(prefix="drivelab-fs-") as name:
        image = Path(name) / "image"

        def refusal(size: int) -> str:
            with image.open("wb") as file:
                file.truncate(size)
            done = _done([*system.make, str(image)], system.make[0])
            lines = (done.stderr.strip() or done.stdout.strip() or "it fails").splitlines()
            return lines[0] if done.returncode else ""

        why = refusal(size_bytes)
        if not why:
            return
        low, high = size_bytes // _MIB, _SMALLEST_MAX // _MIB
        if refusal(high * _MIB):
            raise InputError(f"{ref('fs_size', text)}: {system.make[0]}: {why}")
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if refusal(middle * _MIB) else (low, middle)
    raise InputError(
        f"{ref('fs_size', text)}: {system.name} is not made that small here: give {high}MiB or more"
    )


def run(command: list[str], what: str) -> str:
    """The output of a command. Raises RunError with the first line of its error output if it fails."""
    done = _done(command, what)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()
        raise RunError(f"{what}: {lines[0]}")
    return done.stdout


def _done(command: list[str], what: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process group of its own: Ctrl-C of a terminal must not break off a mount, which would look
    like a loss. Raises RunError.
    """
    try:
        while True:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, process_group=0
            )
            # Ctrl-C may end it before it has its own process group, and then it has done nothing.
            if done.returncode != -signal.SIGINT:
                return done
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{what}: it has not ended after {_TIMEOUT_S:g} s") from error


@contextmanager
def attached(image: Path, size_bytes: int, *, direct: bool = False) -> Iterator[str]:
    """Attach an image to a loop device, and yield the device. Raises RunError."""
    options = [f"--sizelimit={size_bytes}", *(["--direct-io=on"] if direct else [])]
    # Two concurrent searches for a free device find the same one.
    with _ATTACHING:
        device = run(["losetup", "--find", "--show", *options, str(image)], f"losetup {image}").strip()
        held = os.open(device, os.O_RDONLY)
    try:
        # The device is released when its last descriptor is closed, even if this process is killed.
        run(["losetup", "--detach", device], f"losetup --detach {device}")
        yield device
    finally:
        os.close(held)


@contextmanager
def mounted(system: FileSystem, device: str, at: Path) -> Iterator[Path]:
    """Mount the file system of a device at a new folder. Raises UnmountableError and RunError."""
    at.mkdir()
    with _turn(system, device):
        command = ["mount", "-t", system.name, "-o", system.options, device, str(at)]
        done = _done(command, f"mount {at}")
        if done.returncode:
            raise UnmountableError(done.stderr.strip() or f"mount ends with status {done.returncode}")
        try:
            yield at
        finally:
            _unmount(at)


@contextmanager
def _turn(system: FileSystem, device: str) -> Iterator[None]:
    """Before Linux 6.7, btrfs cannot distinguish the images of two cuts: one at a time, and each is forgotten
    afterwards.
    """
    if system.name != "btrfs" or _TEMPORARY_FSID.exists():
        yield
        return
    with _ONE_AT_A_TIME:
        try:
            yield
        finally:
            _done(["btrfs", "device", "scan", "--forget", device], f"btrfs device scan {device}")


def _unmount(at: Path) -> None:
    """Unmount it, unless the checker has. Processes that a command has left running there are killed."""
    if not os.path.ismount(at) or not _done(["umount", str(at)], f"umount {at}").returncode:
        return
    end_users(at)
    if _done(["umount", "--recursive", str(at)], f"umount {at}").returncode:
        # Another process uses it: the mount and its loop device are released when that ends.
        run(["umount", "--lazy", str(at)], f"umount {at}")
