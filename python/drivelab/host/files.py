"""Reading and writing files so that a reader never sees half a file, and a failure says what to do.

Every failure is an InputError or an OutputError whose message names the file.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from drivelab.errors import InputError, OutputError

Written = TypeVar("Written")

_SIZE_MAX_BYTES = 16 * 2**20


def read_text(path: Path, most_bytes: int = _SIZE_MAX_BYTES, what: str = "scenario") -> str:
    """The text of a UTF-8 file (at most 16 MiB by default), or of what is piped in. Raises InputError."""
    try:
        check_kind(path)
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {path}: {_reason(error)}") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {str(path)!r}: {error}") from error
    if len(data) > most_bytes:
        raise InputError(f"cannot read {path}: larger than {most_bytes // 2**20} MiB, so it is no {what}")
    try:
        # PowerShell's `>` writes UTF-16 with a mark.
        return data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"cannot read {path}: line {line} is not UTF-8 text") from error


def check_kind(path: Path) -> None:
    """Refuse what is no file: a pipe waits for a writer, and a device may never end. Raises InputError, OSError.

    What a shell has opened already, /dev/stdin and <(a command), has its writer.
    """
    kind = path.stat().st_mode
    # A folder has its own message as it is opened.
    if (
        stat.S_ISREG(kind)
        or stat.S_ISDIR(kind)
        or str(path).startswith(("/dev/stdin", "/dev/fd/", "/proc/self/fd/"))
    ):
        return
    raise InputError(f"cannot read {path}: it is a pipe or a device, not a file")


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises OutputError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {path}: {_reason(error)}") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Put `data` at `path`: all of it, or what was there before. Raises OutputError.

    A device or pipe is written to as it is; anything else by way of a temporary file beside it. A link stays, and what
    it leads to is written; a file that is there keeps its mode.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            with _taking_its_place(path) as temporary:
                temporary.write_bytes(data)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}") from error


def write_text(path: Path, text: str) -> None:
    """The same for text, in UTF-8."""
    write_bytes(path, text.encode())


def write_whole(path: Path, write: Callable[[Path], Written], keep: Callable[[Written], bool]) -> Written:
    """Have `write` fill a file beside `path`, which takes its name if what comes back is kept. Raises OutputError."""
    try:
        with _taking_its_place(path) as temporary:
            written = write(temporary)
            if not keep(written):
                temporary.unlink()
    except OSError as error:
        raise OutputError(f"cannot write {path}: {_reason(error)}") from error
    return written


@contextmanager
def _taking_its_place(path: Path) -> Iterator[Path]:
    """A file beside what `path` leads to, which takes the place of that at the end unless it is gone by then."""
    place = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".tmp", dir=place.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if temporary.exists():
            _reach_the_disk(temporary)
            temporary.chmod(_mode_for(place))
            temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def _reach_the_disk(path: Path) -> None:
    # Windows asks for the right to write.
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _mode_for(path: Path) -> int:
    """The mode of a file that is there, or of a new one."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """The mask that new files get; reading it means setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _reason(error: OSError) -> str:
    """Why, as a person says it."""
    return (error.strerror or str(error)).lower()
