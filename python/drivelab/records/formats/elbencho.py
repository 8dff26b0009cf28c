"""elbencho's results file (`--csvfile`): a line for each phase, with the configuration in its first columns.

Columns `[last]` are over the whole phase, until the last thread was done; those `[first]` until the first was. Sizes
are bytes, rates MiB/s, latencies us. Threads are those of each host. Phases that transfer nothing (MKDIRS, SYNC, ..)
are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping

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
    short,
)

_KINDS = {"READ": "read", "WRITE": "write"}
_NEEDED = ("operation", "IOPS [last]", "MiB/s [last]")
_COLUMNS = {"IO lat us [avg]": "mean", "IO lat us [max]": "max"}


def _header(line: str) -> list[str]:
    """The names of the columns; nothing if the line is no header."""
    if not line.startswith("ISO date,"):
        return []
    try:
        names = [one.strip() for one in next(csv.reader([line]), [])]
    except csv.Error:
        return []
    return names if set(_NEEDED) <= set(names) else []


def _fits(text: Text) -> bool:
    return any(map(_header, text.lines))


def _read(text: Text) -> Found:
    points: list[Point] = []
    left_out: dict[str, None] = {}
    notes: list[str] = []
    header: list[str] = []
    for number, line in text.numbered():
        if found := _header(line):
            # A file that was appended to has one for each set of columns.
            header = found
            continue
        if not line.strip() or not header:
            continue
        try:
            fields = next(csv.reader([line], strict=True))
        except csv.Error as error:
            raise text.fault(number, f"this is no line of CSV: {error}") from error
        if len(fields) != len(header):
            raise text.fault(
                number,
                f"{len(fields)} fields, and the header has {len(header)}: is the line cut, or another's?",
            )
        row = {name: one.strip() for name, one in zip(header, fields, strict=True)}
        kind = _KINDS.get(row["operation"])
        if kind is None or not row["IOPS [last]"]:
            left_out[row["operation"][:20]] = None
            continue
        points.append(_point(text, number, row, kind))
    if left_out:
        notes.append(f"phases that are no reads or writes alone are left out: {', '.join(left_out)}")
    notes.append("no interval and no percentiles: elbencho's file has one figure for a phase")
    return Results("elbencho", "elbencho", points, "elbencho", notes=notes).found()


def _point(text: Text, number: int, row: Mapping[str, str], kind: str) -> Point:
    def whole(name: str) -> int | None:
        return int(text.number(row[name], number, name)) if row.get(name) else None

    random, hosts, direct = whole("random"), whole("hosts"), whole("direct IO")
    axes = place_of(
        kind,
        is_random=None if random is None else random == 1,
        bs=whole("block size"),
        iodepth=whole("IO depth"),
        numjobs=whole("threads"),
    )
    if random not in {None, 0, 1}:
        raise text.fault(number, f"random is {short(row['random'])}; it is 0 or 1")
    if hosts is not None and hosts > 1:
        axes["hosts"] = hosts
        if "depth" in axes:
            axes["depth"] *= hosts
    elif hosts is None:
        axes.pop("depth", None)
    if direct is not None:
        axes["direct"] = direct
    if row.get("label"):
        axes["label"] = row["label"]
    figures: dict[str, Value] = {
        f"{kind}.iops": text.printed(row["IOPS [last]"], number, "IOPS [last]"),
        f"{kind}.bytes_per_s": text.printed(row["MiB/s [last]"], number, "MiB/s [last]", MIB),
    }
    for name, figure in _COLUMNS.items():
        if row.get(name):
            figures[f"{kind}.{figure}"] = text.printed(row[name], number, name, NS_PER["us"])
    return settled(axes, figures)


FORMATS = (Format("elbencho", "elbencho's CSV", _fits, _read),)
