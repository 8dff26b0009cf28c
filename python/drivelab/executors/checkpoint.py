"""Results in order of completion, one line of JSON each: they are not run again. Memory holds only their places.

Several processes may have the file at once. Each appends whole lines under a lock, so what stands before the end never
changes.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from drivelab.errors import InputError, OutputError, ref
from drivelab.host import kernel

_HEAD = b'{"format": "drivelab checkpoint 1"}\n'


class Checkpoint:
    """A file of results, by the keys of their tasks. Raises InputError and OutputError."""

    def __init__(self, path: Path) -> None:
        """Read the file if it exists, otherwise create it."""
        self.path = path
        self.damaged: list[int] = []
        """The numbers of the lines that are no results: their tasks run again."""
        self._lock = Lock()
        self._places: dict[str, tuple[int, int]] = {}
        with self._telling():
            self._file = kernel.open_to_append(path)
        try:
            with self._telling(), self._alone():
                self._find()
        except BaseException:
            os.close(self._file)
            raise

    def _find(self) -> None:
        """Find the place of each result."""
        is_file = stat.S_ISREG(os.fstat(self._file).st_mode)
        with open(self._file, "rb", closefd=False) as file:
            head = file.readline(len(_HEAD)) if is_file else b"no file"
            if head != _HEAD and not (_HEAD.startswith(head) and not file.read(1)):
                raise InputError(
                    f"{ref('checkpoint', self.path)}: it is no checkpoint of drivelab: give another name, or delete it"
                )
            end = len(_HEAD) if head == _HEAD else 0
            for number, line in enumerate(file, 2):
                if not line.endswith(b"\n"):
                    break
                key = _key(line)
                if key is None:
                    self.damaged.append(number)
                else:
                    self._places[key] = (end, len(line))
                end += len(line)
        # Who writes has the lock: a line without an end was cut off by a crash of its writer.
        os.ftruncate(self._file, end)
        if not end:
            self._append(_HEAD)

    def __contains__(self, key: str) -> bool:
        """Whether it holds the result of a task."""
        return key in self._places

    def get(self, key: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        """The result of a task that it holds."""
        place, length = self._places[key]
        with self._lock, self._telling():
            return json.loads(kernel.read_at(self._file, length, place))["result"]

    def keep(self, key: str, result: Any) -> None:  # noqa: ANN401
        """Store a result at once. One that JSON cannot represent, a long log of commands, is not stored."""
        try:
            line = json.dumps({"key": key, "result": result}, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError):
            return
        with self._lock, self._telling(), self._alone():
            self._places[key] = (self._append(line), len(line))

    def _append(self, line: bytes) -> int:
        """Put a whole line at the end, or nothing. The caller is alone with the file. Returns its place."""
        end = os.fstat(self._file).st_size
        # Another process may have ended within its line.
        before = b"\n" if end and kernel.read_at(self._file, 1, end - 1) != b"\n" else b""
        try:
            rest = before + line
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except BaseException:
            os.ftruncate(self._file, end)
            raise
        return end + len(before)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from writing."""
        kernel.lock(self._file)
        try:
            yield
        finally:
            kernel.unlock(self._file)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Name the file in what the system says."""
        try:
            yield
        except OSError as error:
            raise OutputError(f"{ref('checkpoint', self.path)}: {error.strerror or error}") from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _key(line: bytes) -> str | None:
    """The key of a result; None of a line that is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    is_result = isinstance(found, dict) and isinstance(found.get("key"), str) and "result" in found
    return found["key"] if is_result else None
