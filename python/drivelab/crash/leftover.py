"""Processes that a command has left running: found by the mounted folder that they still use, and killed."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from drivelab.host import kernel, processes

# See prctl(2).
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
_GONE_S = 5.0
_LOOK_S = 0.01


@contextmanager
def adopting() -> Iterator[None]:
    """Within this context, orphaned processes become children of this one, so a daemon of a checker remains a
    descendant.
    """
    system = ctypes.CDLL(None)
    before = ctypes.c_int(0)
    system.prctl(_GET_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    system.prctl(_SET_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        system.prctl(_SET_SUBREAPER, before.value, 0, 0, 0)


def end_users(folder: Path) -> None:
    """Kill the descendants of this process that use a folder, and wait until they are gone.

    Other processes that use it are not touched.
    """
    end = time.monotonic() + _GONE_S
    while users := [pid for pid in _ours() if _uses(pid, str(folder))]:
        for pid in users:
            with suppress(ProcessLookupError, PermissionError):
                kernel.kill(pid)
        if time.monotonic() > end:
            return
        time.sleep(_LOOK_S)
        for pid in users:
            # Only adopted processes can be reaped here.
            with suppress(ChildProcessError):
                kernel.reap(pid)


def _ours() -> list[int]:
    return [one.pid for one in processes.below([os.getpid()], processes.living())]


def _uses(pid: int, folder: str) -> bool:
    """Whether a process has its working directory in a folder, or has a file of it open or mapped."""
    place = Path("/proc") / str(pid)

    def is_within(name: str) -> bool:
        return name == folder or name.startswith(folder + "/")

    with suppress(OSError):
        links = [place / "cwd", place / "root", place / "exe", *(place / "fd").iterdir()]
        for link in links:
            with suppress(OSError):
                if is_within(str(link.readlink())):
                    return True
        for line in (place / "maps").read_text(errors="replace").splitlines():
            # The fields: address, permissions, offset, device, inode, path.
            if is_within(line.split(maxsplit=5)[-1]):
                return True
    return False
