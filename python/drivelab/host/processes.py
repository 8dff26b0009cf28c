"""Processes that a command has started: found below it and by a mark in their environment, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from drivelab.host import kernel

_PROC = Path("/proc")
_LOOK_S = 0.01
# Who is killed is gone after that, unless the kernel holds it.
_KILLED_S = 5.0


@dataclass(frozen=True)
class Process:
    """One that lives."""

    pid: int
    parent: int
    began: int
    """In ticks since the machine was started: with it a number is that of no other process. 0 where nobody tells."""


def living() -> list[Process]:
    """All processes but those that have ended and are not waited for."""
    return _of_proc() if _PROC.is_dir() else _of_ps()


def _of_ps() -> list[Process]:
    """The same where there is no /proc, as on macOS: without the time at which each began. Empty without `ps`."""
    columns = [word for name in ("pid", "ppid", "stat") for word in ("-o", f"{name}=")]
    try:
        done = subprocess.run(["ps", "-A", *columns], capture_output=True, encoding="ascii", check=True)
    except (OSError, subprocess.CalledProcessError, UnicodeDecodeError):
        return []
    lines = [line.split() for line in done.stdout.splitlines()]
    return [Process(int(pid), int(parent), 0) for pid, parent, state in lines if not state.startswith("Z")]


def _of_proc() -> list[Process]:
    found = []
    for place in _PROC.iterdir():
        if place.name.isdecimal():
            with suppress(OSError, IndexError):
                # The name of the command, in brackets, may contain anything. See proc(5).
                state, *after = (place / "stat").read_text(errors="replace").rpartition(")")[2].split()
                if state != "Z":
                    found.append(Process(int(place.name), int(after[0]), int(after[18])))
    return found


def below(roots: Iterable[int], among: list[Process]) -> list[Process]:
    """The processes that these have started, and those that they have, without the roots."""
    found, newest = set[int](), set(roots)
    while newest:
        newest = {one.pid for one in among if one.parent in newest} - found
        found |= newest
    return [one for one in among if one.pid in found]


def end(root: int, mark: str, grace_s: float) -> None:
    """End a child, what it has started and all that has this `NAME=value` in its environment.

    They get SIGTERM, and after a grace SIGKILL. The child is not waited for.
    """
    signalled = dict[Process, bool]()
    grace = time.monotonic() + grace_s
    while found := _of(root, mark, signalled):
        is_late = time.monotonic() >= grace
        for one in found:
            if signalled.get(one) != is_late:
                signalled[one] = is_late
                with suppress(ProcessLookupError, PermissionError):
                    if is_late:
                        kernel.kill(one.pid)
                    else:
                        os.kill(one.pid, signal.SIGTERM)
                    # Who is stopped hears nothing else.
                    kernel.go_on(one.pid)
        if time.monotonic() > grace + _KILLED_S:
            return
        time.sleep(_LOOK_S)


def _of(root: int, mark: str, signalled: Iterable[Process]) -> list[Process]:
    among = living()
    tree = {*below([root], among), *signalled}
    return [one for one in among if one.pid == root or one in tree or _has(one.pid, mark)]


def _has(pid: int, mark: str) -> bool:
    with suppress(OSError):
        return mark.encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    return False
