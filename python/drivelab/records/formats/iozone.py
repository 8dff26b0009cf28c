"""iozone's tables (a line for each file and record size) and its lines of throughput (`-t`).

A number of a table belongs to the column whose title ends nearest to it, since columns of tests that did not run are
blank. A kB is 1024 bytes throughout. I/Os per second are bytes per second over the record size. Depth, and in a table
the number of processes, are not printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from drivelab.records.formats.shape import KIB, Format, Found, Point, Results, Text, Value, place_of, short

_HEADER = re.compile(r"\s*[kK]B\s+reclen\s+write\s+rewrite\s+read\s+reread\b.*")
_TESTS = (
    "write",
    "rewrite",
    "read",
    "reread",
    "random read",
    "random write",
    "backward read",
    "record rewrite",
    "stride read",
    "fwrite",
    "refwrite",
    "fread",
    "refread",
)
_PLACES = {
    "write": ("write", False),
    "rewrite": ("write", False),
    "read": ("read", False),
    "reread": ("read", False),
    "random read": ("read", True),
    "random write": ("write", True),
}
_DIRECTIONS = {"read": "read", "write": "write", "fread": "read", "refread": "read", "reread": "read"}
_NEAR_MAX = 4
_ROW = re.compile(r"\s*\d+(?:\s+\d+)+\s*")
_CHILDREN = re.compile(
    r"\s*Children see throughput for\s+(?P<count>\d+) (?P<test>[\w -]+?)\s*=\s*(?P<rate>[\d.]+) (?P<unit>\S+)\s*"
)
_CHILDREN_TESTS = {
    "initial writers": "write",
    "rewriters": "rewrite",
    "readers": "read",
    "re-readers": "reread",
    "random readers": "random read",
    "random writers": "random write",
    "reverse readers": "backward read",
    "stride readers": "stride read",
    "fwriters": "fwrite",
    "freaders": "fread",
}
_RECORD = re.compile(r"\s*[Rr]ecord [Ss]ize (?P<kib>\d+) [kK]B\s*")
_UNIT = re.compile(r"\s*Output is in (?P<unit>.+?)\s*")
_REVISION = re.compile(r"\s*Version \$Revision: (?P<revision>[\d.]+) \$")


def _fits(text: Text) -> bool:
    return any(_HEADER.fullmatch(line) or _CHILDREN.fullmatch(line) for line in text.lines)


def _read(text: Text) -> Found:
    points: list[Point] = []
    ends: list[int] = []
    unit, program = "", "iozone"
    shared: dict[str, Any] = {}
    record: int | None = None
    for number, line in text.numbered():
        if match := _REVISION.match(line):
            # Another run begins, with its own options.
            program, unit, record, shared, ends = f"iozone {match['revision']}", "", None, {}, []
        elif match := _UNIT.fullmatch(line):
            unit = match["unit"]
        elif line.strip() == "O_DIRECT feature enabled":
            shared["direct"] = 1
        elif line.strip() == "Include fsync in write timing":
            shared["end_fsync"] = 1
        elif match := _RECORD.fullmatch(line):
            record = int(text.number(match["kib"], number, "Record Size") * KIB)
        elif _HEADER.fullmatch(line):
            ends = [match.end() for match in re.finditer(r"\S+", line)]
        elif match := _CHILDREN.fullmatch(line):
            points.append(_of_children(text, number, match, record, shared))
        elif ends and _ROW.fullmatch(line):
            points += _of_row(text, number, line, ends, unit, shared)
        elif ends and line.strip()[:1].isdigit():
            raise text.fault(number, f"{short(line)} is no line of numbers of the table; is it cut?")
    notes = ["iozone prints no depth, no times of single I/Os and no interval: they are unknown"]
    return Results("iozone", "iozone", points, program, notes=notes).found()


def _of_row(
    text: Text, number: int, line: str, ends: Sequence[int], unit: str, shared: dict[str, Any]
) -> list[Point]:
    if unit.lower() not in {"kbytes/sec", "kb/sec"}:
        if unit:
            raise text.fault(
                number, f"the table is in {short(unit)}: only kBytes/sec are read; run it without -O and -N"
            )
        raise text.cut("the line `Output is in kBytes/sec`, which says the unit of the table")
    cells: dict[int, str] = {}
    for match in re.finditer(r"\d+", line):
        at = min(range(len(ends)), key=lambda one: abs(ends[one] - match.end()))
        if abs(ends[at] - match.end()) > _NEAR_MAX or at in cells:
            raise text.fault(
                number, f"{match[0][:20]} stands under no column alone: keep the blanks of the table"
            )
        cells[at] = match[0]
    if 0 not in cells or 1 not in cells:
        raise text.fault(number, "the sizes of the file and of a record are not under kB and reclen")
    file_bytes, record = (int(text.number(cells[at], number, "size") * KIB) for at in (0, 1))
    found = []
    for at, printed in cells.items():
        if at >= 2 and at - 2 < len(_TESTS):
            rate = text.printed(printed, number, _TESTS[at - 2], KIB)
            found.append(_point(_TESTS[at - 2], rate, record, {"size": file_bytes, **shared}))
    return found


def _of_children(
    text: Text, number: int, match: re.Match[str], record: int | None, shared: dict[str, Any]
) -> Point:
    if match["unit"].lower() not in {"kb/sec", "kbytes/sec"}:
        raise text.fault(
            number, f"the throughput is in {short(match['unit'])}: only kB/sec are read; run it without -O"
        )
    test = _CHILDREN_TESTS.get(match["test"], match["test"][:40])
    rate = text.printed(match["rate"], number, test, KIB)
    count = int(text.number(match["count"], number, "processes"))
    return _point(test, rate, record, {"numjobs": count, **shared})


def _point(test: str, rate: Value, record: int | None, more: dict[str, Any]) -> Point:
    kind, is_random = _PLACES.get(test, ("", None))
    axes = {"test": test, **place_of(kind, is_random=is_random, bs=record), **more}
    figures = {"bytes_per_s": rate}
    if record:
        figures["iops"] = Value(rate.value / record, rate.rounding / record)
    return Point(axes, figures, _DIRECTIONS.get(test.rpartition(" ")[2], "write" if "write" in test else ""))


FORMATS = (Format("iozone", "iozone's text", _fits, _read),)
