"""vdbench's flatfile.html: a line of columns for each interval, and one `avg_..` for the whole of each run.

Columns are known by the names in the header. Only `avg_` lines are read: `rate` is I/Os per second, `resp` ms, and the
bytes per second are rate times `bytes/io`. `threads` are kept under that name: whether each target had as many is not
said, so the depth is unknown. A requested rate of 999988 is vdbench's word for the largest that there is, and 999977
for that of a curve; any other is an axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab.records.formats.shape import (
    NS_PER,
    Format,
    Found,
    Point,
    Results,
    Text,
    Value,
    place_of,
    settled,
    short,
)

_NEEDED = ("Run", "Interval", "rate", "bytes/io", "read%", "resp")
_ABSENT = {"n/a", "-", ""}
_NOT_RATES = {999988, 999977}


def _header(line: str) -> list[str]:
    names = line.split()
    return names if set(_NEEDED) <= set(names) and not line.lstrip().startswith("*") else []


def _fits(text: Text) -> bool:
    return any(map(_header, text.lines))


def _read(text: Text) -> Found:
    header: list[str] = []
    points: list[Point] = []
    seen = False
    for number, line in text.numbered():
        if found := _header(line):
            header = found
            continue
        fields = line.split()
        if not header or not fields or line.lstrip().startswith(("*", "<")):
            continue
        seen = True
        if len(fields) < len(header):
            raise text.fault(
                number,
                f"{len(fields)} columns, and the header has {len(header)}: the line is cut; take it whole",
            )
        row = dict(zip(header, fields, strict=False))
        if row["Interval"].startswith("avg"):
            points.append(_point(text, number, row))
    if not points:
        missing = "a line `avg_..`, which is of the whole run," if seen else "every line of results"
        raise text.cut(missing)
    notes = [
        "vdbench's threads may be of each target: the depth is unknown",
        "no interval and no percentiles: the file has averages of whole runs",
    ]
    return Results("vdbench", "vdbench", points, "vdbench", notes=notes).found()


def _point(text: Text, number: int, row: Mapping[str, str]) -> Point:
    def value(name: str) -> float | None:
        return None if row.get(name, "") in _ABSENT else text.number(row[name], number, name)

    rate, size = text.printed(row["rate"], number, "rate"), value("bytes/io")
    reads = value("read%")
    figures: dict[str, Value] = {"iops": rate}
    if size is not None:
        figures["bytes_per_s"] = Value(rate.value * size, rate.rounding * size + rate.value / 2)
    for name, figure in (("resp", "mean"), ("resp_max", "max")):
        if value(name) is not None:
            figures[figure] = text.printed(row[name], number, name, NS_PER["ms"])
    if reads is not None and 0 < reads < 100:
        for kind in ("read", "write"):
            if value(f"{kind}_resp") is not None:
                figures[f"{kind}.mean"] = text.printed(
                    row[f"{kind}_resp"], number, f"{kind}_resp", NS_PER["ms"]
                )
    direction = {100.0: "read", 0.0: "write"}.get(-1.0 if reads is None else reads, "")
    found = settled(_axes(text, number, row), figures)
    return Point(found.axes, found.figures, direction)


def _axes(text: Text, number: int, row: Mapping[str, str]) -> dict[str, Any]:
    def whole(name: str) -> int | None:
        given = row.get(name, "")
        # Another word than a number (of a list, or of sequential seeks) is unknown here.
        return int(text.number(given, number, name)) if given.replace(".", "", 1).isdigit() else None

    reads, seeks, size = whole("rdpct"), whole("seekpct"), whole("xfersize")
    if reads is not None and reads > 100:
        raise text.fault(number, f"rdpct is {short(row['rdpct'])}; it is a percentage")
    kind = "" if reads is None else {100: "read", 0: "write"}.get(reads, "rw")
    axes = place_of(
        kind,
        is_random=None if seeks is None or 0 < seeks < 100 else seeks == 100,
        bs=size or None,
        reads_percent=reads if kind == "rw" else None,
    )
    if seeks is not None and 0 < seeks < 100:
        axes["percentage_random"] = seeks
    rate = whole("reqrate")
    if rate is not None and rate not in _NOT_RATES:
        axes["rate_iops"] = rate
    if (threads := whole("threads")) is not None:
        axes["threads"] = threads
    return {"rd": row["Run"], **axes}


FORMATS = (Format("vdbench", "vdbench's flatfile", _fits, _read),)
