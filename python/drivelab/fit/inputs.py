"""Reads measurements from files: chains and traces of timed requests, rates over a surface; sweep_files.py has sweeps.

No line is dropped silently: an invalid line is an error with its file, its line and the expected form.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from drivelab.errors import InputError, ref
from drivelab.host.files import read_text
from drivelab.report.plural import counted

Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SECTOR = 512
_BYTES_MAX = 2**60
# Maximum number of characters of a text in a message.
_SHOWN_MAX = 100
LEAST = 20
"""The smallest useful number of requests of a chain or trace."""


@dataclass(frozen=True)
class Requests:
    """Sequential requests with their response times; times in milliseconds."""

    name: str
    kind: str
    """`chain` or `trace`."""
    read: Flags
    first: Whole
    """The first sector."""
    count: Whole
    """The number of sectors."""
    time: Numbers
    gap: Numbers
    """The time from a completion to the next request."""

    def __len__(self) -> int:
        """The number of requests."""
        return len(self.time)

    def text(self) -> str:
        """The requests as a validation trace, which the simulator replays."""
        rows = zip(self.read, self.first, self.count, self.time, self.gap, strict=True)
        return "".join(
            f"{'R' if read else 'W'} Hit {first} {count} {1e3 * time:.6f} {1e3 * gap:.6f}\n"
            for read, first, count, time, gap in rows
        )


@dataclass(frozen=True)
class Sweep:
    """Random requests at several queue depths."""

    name: str
    depth: Whole
    iops: Numbers
    p99: Numbers
    """The 99th percentile in ms; NaN if unknown."""
    bs: str
    rw: str
    offset: str | None = None
    size: str | None = None


@dataclass(frozen=True)
class Surface:
    """The rate of sequential reads over the address."""

    name: str
    offset: Numbers
    """The address in bytes."""
    rate: Numbers
    """The rate in bytes per second."""


def read_chain(path: Path) -> Requests:
    """Read a chain: `i,byte_offset,bytes,rw,time_ms`. Raises InputError."""
    wanted = ("i", "byte_offset", "bytes", "rw", "time_ms")
    read, first, count, time = [], [], [], []
    for line, row in rows(path, read_text(path), wanted):
        where = f"{path}:{line}"
        if row["rw"].lower() not in {"r", "w", "read", "write"}:
            raise InputError(f"{where}: rw is {row['rw']!r}; write r or w")
        offset, size = (number(row[key], where, key) for key in ("byte_offset", "bytes"))
        took = number(row["time_ms"], where, "time_ms")
        if size <= 0 or took <= 0:
            raise InputError(f"{where}: bytes and time_ms are above zero")
        _check_address(offset + size, where)
        read.append(row["rw"].lower().startswith("r"))
        begin = int(offset) // SECTOR
        first.append(begin)
        count.append(-(-int(offset + size) // SECTOR) - begin)
        time.append(took)
    if len(time) < LEAST:
        raise InputError(f"{path}: {counted(len(time), 'request')}; a chain needs {LEAST} at least")
    return Requests(
        str(path),
        "chain",
        np.array(read, dtype=bool),
        np.array(first, dtype=np.int64),
        np.array(count, dtype=np.int64),
        np.array(time, dtype=float),
        np.zeros(len(time)),
    )


def read_trace(path: Path) -> Requests:
    """Read a validation trace: `R|W tag LBN sectors measured think`, times in microseconds. Raises InputError."""
    found = []
    for line, text in enumerate(read_text(path).splitlines(), 1):
        fields = text.split()
        if not fields:
            continue
        where = f"{path}:{line}"
        if len(fields) != 6 or fields[0] not in {"R", "W"}:
            raise InputError(
                f"{where}: expected R or W, a tag, LBN, sectors, measured us and pause us, found {text[:60]!r}"
            )
        names = ("LBN", "sectors", "the measured time", "the pause")
        numbers = [number(field, where, name) for field, name in zip(fields[2:], names, strict=True)]
        if numbers[1] < 1 or numbers[2] <= 0:
            raise InputError(f"{where}: a request has a sector at least, and took time")
        _check_address(SECTOR * (numbers[0] + numbers[1]), where)
        found.append((fields[0] == "R", *numbers))
    if len(found) < LEAST:
        raise InputError(f"{path}: {counted(len(found), 'request')}; a trace needs {LEAST} at least")
    columns = list(zip(*found, strict=True))
    return Requests(
        str(path),
        "trace",
        np.array(columns[0], dtype=bool),
        np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.int64),
        np.array(columns[3], dtype=float) / 1e3,
        np.array(columns[4], dtype=float) / 1e3,
    )


def read_surface(path: Path) -> Surface:
    """Read rates over the address: CSV `byte_offset,mb_per_s`. Raises InputError."""
    offsets, rates = [], []
    for line, row in rows(path, read_text(path), ("byte_offset", "mb_per_s")):
        where = f"{path}:{line}"
        offsets.append(number(row["byte_offset"], where, "byte_offset"))
        rates.append(1e6 * number(row["mb_per_s"], where, "mb_per_s"))
        if rates[-1] <= 0:
            raise InputError(f"{where}: mb_per_s is above zero")
    if len(offsets) < 3:
        raise InputError(f"{path}: {counted(len(offsets), 'place')}; a surface needs 3 at least")
    order = np.argsort(offsets)
    return Surface(str(path), np.array(offsets)[order], np.array(rates)[order])


def read_geometry(path: Path, model: str | None) -> dict[str, str]:
    """Read the row of one model of a table of geometries. Raises InputError."""
    numbers = ("rpm", "sector_bytes", "spt_outer", "spt_inner", "surfaces")
    lines = list(rows(path, read_text(path), ("model", *numbers)))
    models = [row for _, row in lines]
    found = (
        models
        if model is None and len(models) == 1
        else [row for row in models if model is not None and model.lower() in row["model"].lower()]
    )
    if not found or len({row["model"] for row in found}) > 1:
        names = ", ".join(sorted({row["model"] for row in models}))
        what = "has several models" if model is None else f"has not one model of the name {model!r}"
        one = ref("known", "identity.model=NAME")
        raise InputError(f"{path} {what}: name one of {names} by {one}")
    line = next(line for line, row in lines if row is found[0])
    for key in numbers:
        if not number(found[0][key], f"{path}:{line}", key):
            raise InputError(f"{path}:{line}: {key} is above zero")
    if not found[0]["surfaces"].isdecimal():
        raise InputError(f"{path}:{line}: surfaces is {found[0]['surfaces']!r}; it is a whole number")
    return found[0]


def rows(path: Path, text: str, wanted: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a table with these columns, with their line numbers; lines that begin with # are comments."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"{path} is empty; its first line names the columns {','.join(wanted)}")
    header = _fields(path, *lines[0])
    if lacking := [name for name in wanted if name not in header]:
        raise InputError(
            f"{path}:{lines[0][0]}: no column {', '.join(lacking)}; its first line names the columns "
            f"{','.join(wanted)}, and here {_shortened(','.join(header))}"
        )
    for number, line in lines[1:]:
        fields = _fields(path, number, line)
        if len(fields) != len(header):
            raise InputError(
                f"{path}:{number}: {counted(len(fields), 'field')} under {counted(len(header), 'column')}"
            )
        yield number, dict(zip(header, fields, strict=True))


def _fields(path: Path, number: int, line: str) -> list[str]:
    """The fields of a line of CSV. Raises InputError."""
    try:
        return [field.strip() for field in next(csv.reader([line]))]
    except csv.Error as error:
        raise InputError(f"{path}:{number}: {error}: this is no line of a table") from error


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + ".."


def number(text: str, where: str, what: str) -> float:
    """A number from 0 on. Raises InputError."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or found < 0:
        raise InputError(f"{where}: {what} is {text!r}, which is no number from 0 on")
    return found


def _check_address(end: float, where: str) -> None:
    """Check that addresses are below the size of any drive; a larger one has another unit, or is no address."""
    if end > _BYTES_MAX:
        raise InputError(f"{where}: the request ends at byte {end:.3g}, beyond any drive")
