"""Iometer's results (CSV): a section for each test, with a line ALL, and lines for managers, workers and disks.

The line ALL is read: I/Os per second, ms, and bytes per second where the column says which MB it has (`MiBps`, `MBps
(Binary)`, `MBps (Decimal)`; the bare `MBps` of early versions does not). What a specification does is in the file
too: if it has one line that is the place, of a mixture of several only the name is. The depth is the sum of the queue
depths of the lines DISK.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.records.formats.shape import (
    MIB,
    NS_PER,
    Format,
    Found,
    Point,
    Results,
    Text,
    Value,
    place_of,
    settled,
)

_HEADER = "'Target Type,Target Name,Access Specification Name"
_SPECIFICATION, _LINES = "'Access specification name", "'size,"
_RATES = (
    ("MiBps (Binary)", MIB),
    ("MBps (Binary)", MIB),
    ("MBps (Decimal)", 1e6),
)
_KINDS = {"": "", "Read ": "read.", "Write ": "write."}
_FIELDS_OF_LINE = 6


@dataclass
class _Test:
    line: int
    row: Mapping[str, str]
    depths: list[float] = field(default_factory=list)


def _fits(text: Text) -> bool:
    return any(line.startswith(_HEADER) for line in text.lines)


def _read(text: Text) -> Found:
    tests: list[_Test] = []
    lines_of: dict[str, list[list[float]]] = {}
    header: list[str] = []
    specification, within = "", ""
    program = ""
    for number, line in text.numbered():
        if line.startswith("'"):
            within = next(
                (one for one in (_HEADER, _SPECIFICATION, _LINES, "'Version") if line.startswith(one)), ""
            )
            header = _fields(text, number, line.removeprefix("'")) if within == _HEADER else []
        elif not line.strip():
            continue
        elif within == "'Version":
            program, within = f"Iometer {line.strip()}", ""
        elif within == _SPECIFICATION:
            specification = line.rpartition(",")[0].strip()
            lines_of[specification] = []
        elif within == _LINES and specification:
            fields = [one for one in line.split(",") if one.strip()]
            own = [text.number(one, number, "access specification") for one in fields[:_FIELDS_OF_LINE]]
            lines_of[specification].append(own)
        elif header:
            _take(text, number, line, header, tests)
    if not tests:
        raise text.cut("the line ALL of every test")
    notes: list[str] = []
    points = [_point(text, test, lines_of, notes) for test in tests]
    notes.append("no interval and no percentiles: Iometer prints averages of one run")
    return Results("iometer", "iometer", points, program, notes=notes).found()


def _fields(text: Text, number: int, line: str) -> list[str]:
    try:
        return [one.strip() for one in next(csv.reader([line]), [])]
    except csv.Error as error:
        raise text.fault(number, f"this is no line of CSV: {error}") from error


def _take(text: Text, number: int, line: str, header: Sequence[str], tests: list[_Test]) -> None:
    fields = _fields(text, number, line)
    row = dict(zip(header, fields, strict=False))
    if fields and fields[0] == "ALL":
        if "Maximum Response Time" not in row:
            raise text.fault(
                number, f"{len(fields)} fields, and the header has {len(header)}: the line is cut"
            )
        tests.append(_Test(number, row))
    elif fields and fields[0] == "DISK" and tests and row.get("Queue Depth"):
        tests[-1].depths.append(text.number(row["Queue Depth"], number, "Queue Depth"))


def _point(
    text: Text, test: _Test, lines_of: Mapping[str, Sequence[Sequence[float]]], notes: list[str]
) -> Point:
    figures: dict[str, Value] = {}

    def take(column: str, figure: str, factor: float = 1.0) -> None:
        if test.row.get(column):
            figures[figure] = text.printed(test.row[column], test.line, column, factor)

    for kind, before in _KINDS.items():
        if before and not _number(text, test, f"{kind}IOps"):
            continue
        take(f"{kind}IOps", f"{before}iops")
        for column, factor in _RATES:
            take(f"{kind}{column}", f"{before}bytes_per_s", factor)
        take(f"Average {kind}Response Time", f"{before}mean", NS_PER["ms"])
        take(f"Maximum {kind}Response Time", f"{before}max", NS_PER["ms"])
    if not figures.get("iops"):
        raise text.fault(test.line, "IOps is empty: the test has no result")
    if "bytes_per_s" not in figures and test.row.get("MBps"):
        notes.append("bytes per second are unknown: the column MBps does not say which MB it has")
    return settled(_axes(test, lines_of, notes), figures)


def _number(text: Text, test: _Test, column: str) -> float:
    given = test.row.get(column, "")
    return text.number(given, test.line, column) if given else 0.0


def _axes(test: _Test, lines_of: Mapping[str, Sequence[Sequence[float]]], notes: list[str]) -> dict[str, Any]:
    name = test.row.get("Access Specification Name", "")
    lines = lines_of.get(name, ())
    axes: dict[str, Any] = {"specification": name} if name else {}
    if len(lines) == 1 and len(lines[0]) == _FIELDS_OF_LINE:
        size, _, reads, random, delay, _ = lines[0]
        kind = {100.0: "read", 0.0: "write"}.get(reads, "rw")
        is_random = None if 0 < random < 100 else random == 100
        mix = round(reads) if kind == "rw" else None
        axes |= place_of(kind, is_random=is_random, bs=int(size) or None, reads_percent=mix)
        if is_random is None:
            axes["percentage_random"] = random
        if delay:
            axes["thinktime"] = f"{delay:g}ms"
    else:
        notes.append(
            "what a specification does is unknown where it is not in the file, or a mixture of several"
        )
    if test.depths and "thinktime" not in axes:
        axes["depth"] = sum(test.depths)
    elif not test.depths:
        notes.append("the depth is unknown: there is no line DISK with a queue depth")
    return axes


FORMATS = (Format("iometer", "Iometer's results", _fits, _read),)
