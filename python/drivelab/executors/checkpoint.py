"""Results as they came, a line of JSON each: what is there is not run again. In memory is only where each one lies."""

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
        """Read what is there, and begin it where nothing is."""
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
        """Where each result lies. A line that was cut off as its writer died is written over."""
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
        """Put a result away at once. One that JSON does not hold, a long log of commands, is not kept."""
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
        # The key comes first: the result, which may be long, is read when it is asked for.
        key = json.loads(line[: line.index(b",")] + b"}")["key"]
        if isinstance(key, str):
            return key
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"--checkpoint {path}: a line of it is no result: delete the file")
