"""Loop devices and mounts for a test, and a kernel that refuses io_uring.

A test is skipped by name where the machine has none to give; what was made is gone afterwards whatever happens.

Where something is mounted lies outside of pytest's folders: what a killed run leaves behind is in nobody's way.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def loop_device(over: Path | str) -> Iterator[str]:
    """The path of a loop device over a file."""
    if shutil.which("losetup") is None:
        pytest.skip("a loop device takes losetup (util-linux)")
    if os.geteuid() != 0:
        pytest.skip("a loop device takes root")
    made = subprocess.run(["losetup", "--find", "--show", over], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device is to be had here: {made.stderr.strip()}")
    name = made.stdout.strip()
    try:
        yield name
    finally:
        subprocess.run(["losetup", "--detach", name], check=False, capture_output=True)


@contextmanager
def mounted(words: Sequence[str]) -> Iterator[Path]:
    """The folder at which `mount WORDS` has put something."""
    if shutil.which("mount") is None:
        pytest.skip("mounting takes mount (util-linux)")
    if os.geteuid() != 0:
        pytest.skip("mounting takes root")
    at = Path(tempfile.mkdtemp(prefix="drivelab-mounted-"))
    try:
        done = subprocess.run(["mount", *words, at], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"may not mount here: {done.stderr.strip()}")
        try:
            yield at
        finally:
            # Lazily: gone from the tree at once, whoever still has a file of it open.
            subprocess.run(["umount", "--lazy", at], check=False, capture_output=True)
    finally:
        at.rmdir()


# Of linux/prctl.h, linux/seccomp.h and linux/filter.h; a system call's number is the same on all machines since 5.1.
_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _EPERM = 0x7FFF0000, 0x00050001
_IO_URING_SETUP = 425


def refuse_io_uring() -> None:
    """From now on io_uring_setup fails with EPERM in this process and its children, as in a container."""
    steps = [
        (_LOAD, 0, 0, 0),
        (_IF_EQUAL, 0, 1, _IO_URING_SETUP),
        (_RETURN, 0, 0, _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(_SECCOMP, _FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls is to be had")
