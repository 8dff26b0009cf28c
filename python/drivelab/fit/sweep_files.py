"""Sweeps over queue depth from files: CSV, and every record that `compare` reads (other tools', measured, simulated).

A file, or a folder of files, has one sweep for each size and kind of access in it. Files with one depth each are one
sweep together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drivelab.comparison.matching import pooled
from drivelab.errors import InputError, ref
from drivelab.fit.inputs import Sweep, number, rows
from drivelab.fit.quantities import data_bytes
from drivelab.host.files import read_text
from drivelab.records.formats import known
from drivelab.records.model import RecordPoint
from drivelab.records.opening import IN_FOLDER, SIZE_MAX_BYTES, open_record
from drivelab.report.points_table import axis_text
from drivelab.scenarios.sizes import size_text

_NS_PER_MS = 1e6
_DEFAULT_BS, _DEFAULT_RW = "4k", "randread"
_RANDOM = ("randread", "randwrite")


class Depth(NamedTuple):
    """A depth of a sweep."""

    source: str
    bs: str | None
    """None if the file does not tell."""
    rw: str | None
    depth: int
    iops: float
    p99: float
    """In ms; NaN if unknown."""


def read_sweeps(
    paths: Sequence[Path],
    bs: str | None = None,
    rw: str | None = None,
    offset: str | None = None,
    size: str | None = None,
) -> list[Sweep]:
    """The sweeps of files and folders. Raises InputError."""
    alone: list[Depth] = []
    groups: list[list[Depth]] = []
    for path in paths:
        found = _chosen(path, [depth for file in _files(path) for depth in _depths(file)], bs, rw)
        if len(found) == 1:
            alone += found
        else:
            groups += _by_load(found)
    groups += _by_load(alone)
    return [_sweep(group, bs, rw, offset, size) for group in groups]


def _files(path: Path) -> list[Path]:
    """The files of a folder: the record that `--out` wrote there, else all. Raises InputError."""
    if not path.is_dir() or (path / IN_FOLDER).is_file():
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in {".json", ".csv"} and file.is_file())
    if not found:
        raise InputError(
            f"{path}: there is no .json and no .csv in this folder; a sweep has a file for each depth"
        )
    return found


def _depths(path: Path) -> Iterator[Depth]:
    """The depths of one file."""
    is_read = path.is_dir() or bool(known.split(str(path))[0])
    if not is_read and "{" not in (text := read_text(path, SIZE_MAX_BYTES, "sweep")) and not known.fits(text):
        for depth, iops, p99 in _of_csv(path, text):
            yield Depth(str(path), None, None, depth, iops, p99)
        return
    record = pooled(open_record(str(path)))
    for point in record.points:
        yield _of_point(point, record.origin)


def _of_point(point: RecordPoint, origin: str) -> Depth:
    """A point of a record. Raises InputError if it is none of a sweep."""
    axes = point.axes
    place = (
        f"{origin}: the point {', '.join(f'{k} {axis_text(v)}' for k, v in axes.items()) or 'without axes'}"
    )
    depth, iops, p99 = axes.get("depth", _limit(axes)), point.figure("iops"), point.figure("p99")
    if not isinstance(depth, int | float) or depth < 1 or iops is None or iops.value <= 0:
        lacks = "IOPS" if iops is None or iops.value <= 0 else "queue depth"
        raise InputError(f"{place} has no {lacks}; a sweep has a depth and IOPS at each point")
    rw = axes.get("rw") or {"read": "randread", "write": "randwrite"}.get(point.direction)
    if rw not in _RANDOM:
        raise InputError(f"{place} is of {rw or 'several jobs'}; a sweep is of randread or randwrite")
    bs = axes.get("bs")
    if isinstance(bs, str) or {"bsrange", "bssplit"} & axes.keys():
        raise InputError(f"{place} has several sizes; a sweep has one")
    return Depth(
        origin,
        None if bs is None else size_text(int(bs)),
        None if "rw" not in axes else str(rw),
        int(depth),
        iops.value,
        math.nan if p99 is None else p99.value / _NS_PER_MS,
    )


def _limit(axes: Mapping[str, object]) -> int | None:
    """The depth that a job with a rate may not exceed."""
    depth, jobs = axes.get("iodepth"), axes.get("numjobs", 1)
    return depth * jobs if isinstance(depth, int) and isinstance(jobs, int) else None


def _chosen(path: Path, found: Sequence[Depth], bs: str | None, rw: str | None) -> list[Depth]:
    """The depths of the load that the options name. Raises InputError if there is none."""
    if not found:
        raise InputError(f"{path}: a sweep without a depth; it has a line, or a job of fio, for each")
    left = [one for one in found if _is(one.rw, rw) and _is_size(one.bs, bs)]
    if not left:
        loads = dict.fromkeys(f"{one.rw} {one.bs}" for one in found)
        asked = " ".join(text for text in (rw and f"{ref('rw', rw)}", bs and f"{ref('bs', bs)}") if text)
        raise InputError(f"{path}: {asked}: the file is of {', '.join(loads)}")
    return left


def _is(stated: str | None, asked: str | None) -> bool:
    return stated is None or asked is None or stated == asked


def _is_size(stated: str | None, asked: str | None) -> bool:
    return stated is None or asked is None or data_bytes(stated) == data_bytes(asked)


def _by_load(found: Sequence[Depth]) -> list[list[Depth]]:
    groups: dict[tuple[str | None, str | None], list[Depth]] = {}
    for one in found:
        groups.setdefault((one.bs, one.rw), []).append(one)
    return list(groups.values())


def _sweep(
    group: Sequence[Depth], bs: str | None, rw: str | None, offset: str | None, size: str | None
) -> Sweep:
    name = ", ".join(dict.fromkeys(one.source for one in group))
    twice = sorted({one.depth for one in group if [two.depth for two in group].count(one.depth) > 1})
    if twice:
        raise InputError(f"{name}: a depth stands there twice ({twice[0]}); give one line for each")
    points = sorted(group, key=lambda one: one.depth)
    return Sweep(
        name,
        np.array([one.depth for one in points], dtype=np.int64),
        np.array([one.iops for one in points], dtype=float),
        np.array([one.p99 for one in points], dtype=float),
        bs or points[0].bs or _DEFAULT_BS,
        rw or points[0].rw or _DEFAULT_RW,
        offset,
        size,
    )


def _of_csv(path: Path, text: str) -> list[tuple[int, float, float]]:
    found = []
    for line, row in rows(path, text, ("iodepth", "iops")):
        where = f"{path}:{line}"
        depth, iops = (number(row[key], where, key) for key in ("iodepth", "iops"))
        if depth < 1 or depth != int(depth) or iops <= 0:
            raise InputError(f"{where}: iodepth is a whole number from 1 on, and iops is above zero")
        p99 = number(row["p99_ms"], where, "p99_ms") if row.get("p99_ms") else math.nan
        found.append((int(depth), iops, p99))
    return found
