"""Temporary folders that say whose they are: a process that is killed leaves them behind, and another can tell."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from drivelab.host import kernel

_NAME = re.compile(r"drivelab-(?:cut|crash-device|device)-(\d{1,9})-")


@contextmanager
def folder(kind: str, place: str | None = None) -> Iterator[Path]:
    """A folder of this process, which goes with it; while it lives it is locked.

    `kind` is one of `cut`, `crash-device` and `device`.
    """
    with tempfile.TemporaryDirectory(prefix=f"drivelab-{kind}-{os.getpid()}-", dir=place) as name:
        lock = locked(Path(name))
        try:
            yield Path(name)
        finally:
            if lock is not None:
                os.close(lock)


def owner(place: Path) -> int | None:
    """The number of the process whose folder it is, or was; None for any other folder."""
    found = _NAME.match(place.name)
    return None if found is None else int(found[1])


def locked(place: Path) -> int | None:
    """A descriptor with the lock of a folder; None where another process has it, or nobody can."""
    with suppress(OSError):
        lock = kernel.open_folder(place)
        if kernel.try_lock(lock):
            return lock
        os.close(lock)
    return None
