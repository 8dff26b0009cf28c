"""Reads measurements from files: chains and traces of timed requests, sweeps over queue depth, rates over a surface.

No line is dropped silently: an invalid line is an error with its file, its line and the expected form.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from drivelab.errors import InputError
from drivelab.files import read_text
from drivelab.plural import counted

Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SECTOR = 512
_BYTES_MAX = 2**60
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
    for line, row in _rows(path, read_text(path), wanted):
        where = f"{path}:{line}"
        if row["rw"].lower() not in {"r", "w", "read", "write"}:
            raise InputError(f"{where}: rw is {row['rw']!r}; write r or w")
        offset, size = (_number(row[key], where, key) for key in ("byte_offset", "bytes"))
        took = _number(row["time_ms"], where, "time_ms")
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
        numbers = [_number(field, where, name) for field, name in zip(fields[2:], names, strict=True)]
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


def read_sweep(
    path: Path, bs: str = "4k", rw: str = "randread", offset: str | None = None, size: str | None = None
) -> Sweep:
    """Read a sweep: CSV `iodepth,iops[,p99_ms]`, or the output of `fio --output-format=json`. Raises InputError."""
    text = read_text(path)
    points = _of_fio(path, text) if text.lstrip().startswith("{") else _of_csv(path, text)
    if not points:
        raise InputError(f"{path}: a sweep without a depth; it has a line, or a job of fio, for each")
    if len({depth for depth, _, _ in points}) < len(points):
        raise InputError(f"{path}: a depth stands there twice; give one line for each")
    points.sort()
    return Sweep(
        str(path),
        np.array([depth for depth, _, _ in points], dtype=np.int64),
        np.array([iops for _, iops, _ in points], dtype=float),
        np.array([p99 for _, _, p99 in points], dtype=float),
        bs,
        rw,
        offset,
        size,
    )


def read_surface(path: Path) -> Surface:
    """Read rates over the address: CSV `byte_offset,mb_per_s`. Raises InputError."""
    offsets, rates = [], []
    for line, row in _rows(path, read_text(path), ("byte_offset", "mb_per_s")):
        where = f"{path}:{line}"
        offsets.append(_number(row["byte_offset"], where, "byte_offset"))
        rates.append(1e6 * _number(row["mb_per_s"], where, "mb_per_s"))
        if rates[-1] <= 0:
            raise InputError(f"{where}: mb_per_s is above zero")
    if len(offsets) < 3:
        raise InputError(f"{path}: {counted(len(offsets), 'place')}; a surface needs 3 at least")
    order = np.argsort(offsets)
    return Surface(str(path), np.array(offsets)[order], np.array(rates)[order])


def read_geometry(path: Path, model: str | None) -> dict[str, str]:
    """Read the row of one model of a table of geometries. Raises InputError."""
    numbers = ("rpm", "sector_bytes", "spt_outer", "spt_inner", "surfaces")
    lines = list(_rows(path, read_text(path), ("model", *numbers)))
    rows = [row for _, row in lines]
    found = (
        rows
        if model is None and len(rows) == 1
        else [row for row in rows if model is not None and model.lower() in row["model"].lower()]
    )
    if not found or len({row["model"] for row in found}) > 1:
        names = ", ".join(sorted({row["model"] for row in rows}))
        what = "has several models" if model is None else f"has not one model of the name {model!r}"
        raise InputError(f"{path} {what}: name one of {names} by --known identity.model=NAME")
    line = next(line for line, row in lines if row is found[0])
    for key in numbers:
        if not _number(found[0][key], f"{path}:{line}", key):
            raise InputError(f"{path}:{line}: {key} is above zero")
    if not found[0]["surfaces"].isdecimal():
        raise InputError(f"{path}:{line}: surfaces is {found[0]['surfaces']!r}; it is a whole number")
    return found[0]


def _rows(path: Path, text: str, wanted: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines of a table with these columns, with their line numbers; lines that begin with # are comments."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"{path} is empty; its first line names the columns {','.join(wanted)}")
    header = [name.strip() for name in next(csv.reader([lines[0][1]]))]
    if lacking := [name for name in wanted if name not in header]:
        raise InputError(
            f"{path}:{lines[0][0]}: no column {', '.join(lacking)}; its first line names the columns {','.join(wanted)}"
        )
    for number, line in lines[1:]:
        fields = [field.strip() for field in next(csv.reader([line]))]
        if len(fields) != len(header):
            raise InputError(
                f"{path}:{number}: {counted(len(fields), 'field')} under {counted(len(header), 'column')}"
            )
        yield number, dict(zip(header, fields, strict=True))


def _number(text: str, where: str, what: str) -> float:
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


def _of_csv(path: Path, text: str) -> list[tuple[int, float, float]]:
    found = []
    for line, row in _rows(path, text, ("iodepth", "iops")):
        where = f"{path}:{line}"
        depth, iops = (_number(row[key], where, key) for key in ("iodepth", "iops"))
        if depth < 1 or depth != int(depth) or iops <= 0:
            raise InputError(f"{where}: iodepth is a whole number from 1 on, and iops is above zero")
        p99 = _number(row["p99_ms"], where, "p99_ms") if row.get("p99_ms") else math.nan
        found.append((int(depth), iops, p99))
    return found


def _of_fio(path: Path, text: str) -> list[tuple[int, float, float]]:
    try:
        document = json.loads(text)
        jobs = document["jobs"]
        points = [_fio_point(job, document.get("global options", {})) for job in jobs]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        lacks = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"{path}: not what fio --output-format=json writes, a job for each depth: {lacks}"
        ) from error
    for job, (depth, iops, _) in zip(jobs, points, strict=True):
        if depth < 1 or iops <= 0:
            raise InputError(
                f"{path}: job {job.get('jobname', '')!r} has no iodepth or no IOPS: a sweep has both"
            )
    return points


def _fio_point(job: dict[str, Any], common: dict[str, Any]) -> tuple[int, float, float]:
    options = {**common, **job.get("job options", {})}
    side = max((job["read"], job["write"]), key=lambda found: float(found["iops"]))
    percentiles = side.get("clat_ns", {}).get("percentile", {})
    p99 = next((float(value) / 1e6 for key, value in percentiles.items() if float(key) == 99), math.nan)
    depth = int(options.get("iodepth", 1)) * int(options.get("numjobs", 1))
    return depth, float(side["iops"]), p99
