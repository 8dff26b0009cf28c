"""Results in order of completion, one line of JSON each: they are not run again. Memory holds only their offsets."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

from drivelab.errors import InputError, OutputError

_HEAD = b'{"format": "drivelab checkpoint 1"}\n'


class Checkpoint:
    """A file of results, by the keys of their tasks. Raises InputError and OutputError."""

    def __init__(self, path: Path) -> None:
        """Read the file if it exists, otherwise create it."""
        self.path = path
        self._lock = Lock()
        self._places: dict[str, int] = {}
        try:
            path.touch()
            self._file: BinaryIO = path.open("r+b")
            try:
                self._find()
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise OutputError(f"--checkpoint {path}: {error.strerror or error}") from error

    def _find(self) -> None:
        """Find the offset of each result. A line cut off by a crash of its writer is overwritten."""
        head = self._file.readline()
        if head not in {b"", _HEAD}:
            raise InputError(
                f"--checkpoint {self.path}: it is no checkpoint of drivelab: give another name, or delete it"
            )
        if not head:
            self._file.write(_HEAD)
            self._file.flush()
        end = self._file.tell()
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            self._places[_key(line, self.path)] = end
            end += len(line)
        self._file.seek(end)
        self._file.truncate()

    def __contains__(self, key: str) -> bool:
        """Whether it holds the result of a task."""
        return key in self._places

    def get(self, key: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        """The result of a task that it holds."""
        with self._lock:
            self._file.seek(self._places[key])
            line = self._file.readline()
        return json.loads(line)["result"]

    def keep(self, key: str, result: Any) -> None:  # noqa: ANN401
        """Store a result at once. One that JSON cannot represent, a long log of commands, is not stored."""
        try:
            line = json.dumps({"key": key, "result": result}, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError):
            return
        with self._lock:
            place = self._file.seek(0, 2)
            self._file.write(line)
            self._file.flush()
            self._places[key] = place

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _key(line: bytes, path: Path) -> str:
    try:
        # The key comes first: the result, which may be long, is read on request.
        key = json.loads(line[: line.index(b",")] + b"}")["key"]
        if isinstance(key, str):
            return key
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"--checkpoint {path}: a line of it is no result: delete the file")
