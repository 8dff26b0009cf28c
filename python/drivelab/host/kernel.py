"""What differs between the systems' kernels: each call under one name, and what a system has not is told in one error.

Modules above use these in place of `os`, `signal`, `select` and `fcntl` where those have not the same on Linux, macOS
and Windows. Whoever begins something that needs a system asks `need_linux` or `need_unix` first, which name the remedy;
what a call below raises in its stead is for programs.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import NoReturn

from drivelab.errors import InputError

_ELSEWHERE = "run it there; what simulates runs here (docs/reference/platforms.md)"


def need_linux(what: str, why: str, remedy: str = _ELSEWHERE) -> None:
    """Refuse what Linux alone has. Raises InputError."""
    if sys.platform != "linux":
        raise InputError(f"{what} needs Linux: {why}; {remedy}")


def need_unix(what: str, why: str, remedy: str = _ELSEWHERE) -> None:
    """Refuse what Windows has not. Raises InputError."""
    if sys.platform == "win32":
        raise InputError(f"{what} needs Linux or macOS: {why}; {remedy}")


def open_to_append(path: str | os.PathLike[str]) -> int:
    """A descriptor of a file that is made if it is missing: read at any place, written at its end. Raises OSError."""
    binary: int = getattr(os, "O_BINARY", 0)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | binary, 0o666)


def open_at_once(path: str | os.PathLike[str]) -> int:
    """A descriptor for reading, without waiting for a writer. Raises OSError."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))


def _lacks(what: str) -> NoReturn:
    raise OSError(errno.ENOTSUP, f"this system has no {what}")


if sys.platform == "win32":
    import msvcrt

    # Windows locks bytes and not files: one that no file here reaches, and that a lock can name.
    _LOCKED_BYTE = 2**31 - 2
    _LOOK_S = 0.05

    def read_at(opened: int, count: int, offset: int) -> bytes:
        """Bytes from an offset; the place of the descriptor moves. Raises OSError."""
        os.lseek(opened, offset, os.SEEK_SET)
        return os.read(opened, count)

    def lock(opened: int) -> None:
        """Wait until this descriptor alone has the lock of its file. Raises OSError."""
        while not try_lock(opened):
            time.sleep(_LOOK_S)

    def try_lock(opened: int) -> bool:
        """Take the lock of its file, unless another has it, or nobody can."""
        with suppress(OSError):
            _lock_byte(opened, msvcrt.LK_NBLCK)
            return True
        return False

    def unlock(opened: int) -> None:
        """Give the lock back. Raises OSError."""
        _lock_byte(opened, msvcrt.LK_UNLCK)

    def _lock_byte(opened: int, how: int) -> None:
        place = os.lseek(opened, 0, os.SEEK_CUR)
        os.lseek(opened, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(opened, how, 1)
        finally:
            os.lseek(opened, place, os.SEEK_SET)

    def open_folder(path: str | os.PathLike[str]) -> int:
        """A folder cannot be opened. Raises OSError."""
        _lacks(f"descriptor of a folder, such as {os.fspath(path)}")

    def data_from(_opened: int, _offset: int) -> int:
        """Nobody tells what was written. Raises OSError."""
        _lacks("SEEK_DATA")

    def hole_from(_opened: int, _offset: int) -> int:
        """Nobody tells what was written. Raises OSError."""
        _lacks("SEEK_HOLE")

    def control(_opened: int, _request: int, _argument: bytearray) -> None:
        """There is no such request. Raises OSError."""
        _lacks("ioctl")

    def device_of(_found: os.stat_result) -> int:
        """No file stands for a device."""
        return 0

    def number_of(_device: int) -> str:
        """Devices have no numbers."""
        return ""

    def unix_socket() -> socket.socket:
        """Python has no sockets at a path. Raises OSError."""
        _lacks("socket at a path")

    def user() -> int | None:
        """Users have no numbers."""
        return None

    def is_dead(_pid: int) -> bool:
        """Nobody asks: the call that Unix has for it ends a process."""
        return False

    def kill(pid: int) -> None:
        """End a process, which cannot object. Raises OSError."""
        os.kill(pid, signal.SIGTERM)

    def go_on(_pid: int) -> None:
        """No process is stopped."""

    def end_group(_group: int, *, has_grace: bool) -> None:
        """There are no groups. Raises OSError."""
        _lacks("process group to end" if has_grace else "process group to kill")

    def reap(_pid: int) -> None:
        """Nothing is to be taken note of."""

    def readable(_watched: list[int], _wait_ms: int | None = None) -> list[int]:
        """Only sockets can be waited for. Raises OSError."""
        _lacks("poll")

else:
    import fcntl

    def read_at(opened: int, count: int, offset: int) -> bytes:
        """Bytes from an offset. Raises OSError."""
        return os.pread(opened, count, offset)

    def lock(opened: int) -> None:
        """Wait until this descriptor alone has the lock of its file. Raises OSError."""
        fcntl.flock(opened, fcntl.LOCK_EX)

    def try_lock(opened: int) -> bool:
        """Take the lock of its file, unless another has it, or nobody can."""
        with suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def unlock(opened: int) -> None:
        """Give the lock back. Raises OSError."""
        fcntl.flock(opened, fcntl.LOCK_UN)

    def open_folder(path: str | os.PathLike[str]) -> int:
        """A descriptor of a folder, to be locked. Raises OSError."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def data_from(opened: int, offset: int) -> int:
        """Where the next bytes that were written begin. Raises OSError: ENXIO where there are none."""
        return os.lseek(opened, offset, os.SEEK_DATA)

    def hole_from(opened: int, offset: int) -> int:
        """Where they end. Raises OSError."""
        return os.lseek(opened, offset, os.SEEK_HOLE)

    def control(opened: int, request: int, argument: bytearray) -> None:
        """A request to the driver of an open file, which changes the argument. Raises OSError."""
        fcntl.ioctl(opened, request, argument)

    def device_of(found: os.stat_result) -> int:
        """The device that a file stands for."""
        return found.st_rdev

    def number_of(device: int) -> str:
        """A device as the kernel writes it, such as 8:16."""
        return f"{os.major(device)}:{os.minor(device)}"

    def unix_socket() -> socket.socket:
        """A socket that connects to a path. Raises OSError."""
        return socket.socket(socket.AF_UNIX)

    def user() -> int | None:
        """The user in whose name files are made; None where users have no numbers."""
        return os.geteuid()

    def is_dead(pid: int) -> bool:
        """Whether there is no process of this number."""
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except (PermissionError, OverflowError):
            pass
        return False

    def kill(pid: int) -> None:
        """End a process, which cannot object. Raises OSError."""
        os.kill(pid, signal.SIGKILL)

    def go_on(pid: int) -> None:
        """Let a stopped process run, so that it hears of what was sent to it. Raises OSError."""
        os.kill(pid, signal.SIGCONT)

    def end_group(group: int, *, has_grace: bool) -> None:
        """Ask the processes of a group to end, or kill them. None of them may be left."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGTERM if has_grace else signal.SIGKILL)

    def reap(pid: int) -> None:
        """Take note of a child that has ended; does not wait for it. Raises ChildProcessError."""
        os.waitpid(pid, os.WNOHANG)

    def readable(watched: list[int], wait_ms: int | None = None) -> list[int]:
        """Those of the descriptors that can be read, or that have ended, after waiting for one. Raises OSError."""
        poll = select.poll()
        for one in watched:
            poll.register(one, select.POLLIN)
        return [number for number, _ in poll.poll(wait_ms)]


if sys.platform == "linux":

    def watch(pid: int) -> int:
        """A descriptor that becomes readable when a process ends. Raises OSError."""
        return os.pidfd_open(pid)

else:

    def watch(_pid: int) -> int:
        """Processes have no descriptors. Raises OSError."""
        _lacks("descriptor of a process")
