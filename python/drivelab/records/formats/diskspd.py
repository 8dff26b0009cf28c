"""DiskSpd's text: a table of all I/Os, of reads and of writes for each time span, and its latencies (`-L`).

Sizes are bytes or KiB, MiB, GiB, a bare K, M, G of early versions 1024 too; rates MiB/s, times ms. The targets of a
time span are stated before the results: what they do not share is unknown. Depth is the outstanding I/Os of a thread,
times its threads; with `-F` each thread works on every target.
"""

from __future__ import annotations

import re
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
    half_digit,
    percentiles,
    place_of,
    settled,
    short,
)
from drivelab.scenarios.sizes import size_of

_SPAN = re.compile(r"timespan:\s*(?P<number>\d+)")
_RESULTS = re.compile(r"Results for timespan (?P<number>\d+):")
_TABLE = re.compile(r"(?P<kind>Total|Read|Write) IO")
_KINDS = {"Total": "", "Read": "read.", "Write": "write."}
_PERCENTILES = {
    "50th": "p50",
    "90th": "p90",
    "95th": "p95",
    "99th": "p99",
    "3-nines": "p99_9",
    "4-nines": "p99_99",
    "max": "max",
}
_MIX = re.compile(r"performing mix test \((?P<first>read|write)/\w+ ratio: (?P<share>\d+)/(?P<other>\d+)\)")
_COLUMNS_MIN = 4
_LATENCIES = "latencies"
# No size is longer; a longer one would overflow.
_SIZE_LONG = 20


@dataclass
class Target:
    """What a target of a time span is given."""

    path: str = ""
    kind: str = ""
    reads_percent: int | None = None
    is_random: bool | None = None
    bs: int | None = None
    outstanding: int | None = None
    threads: int | None = None
    """Of its own; None if the threads work on every target."""
    more: dict[str, Any] = field(default_factory=dict)
    """Axes that hold as they are."""


@dataclass
class _Span:
    targets: list[Target] = field(default_factory=list)
    threads: int | None = None
    has_results: bool = False
    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    """By kind, the columns of the row of all threads."""
    lines: dict[str, int] = field(default_factory=dict)
    latencies: dict[str, dict[str, Value]] = field(default_factory=dict)
    table: str = ""
    """The kind of the table that is being read."""
    header: tuple[str, ...] = ()


def _fits(text: Text) -> bool:
    return any(_RESULTS.match(line.strip()) for line in text.lines)


def _read(text: Text) -> Found:
    points: list[Point] = []
    notes: list[str] = []
    target = ""
    for number, span in _spans(text).items():
        if not span.has_results:
            continue
        if "Total" not in span.tables:
            raise text.cut(f"the row `total:` of the table `Total IO` of time span {number}")
        figures = _figures(text, span)
        if not any("mean" in name for name in figures):
            notes.append("no response times: DiskSpd measures them with -L")
        points.append(settled(axes_of(span.targets, span.threads, notes), figures))
        target = target or ", ".join(one.path for one in span.targets)
    notes.append("no interval: DiskSpd prints one run")
    return Results("diskspd", "diskspd", points, "", target, notes=notes).found()


def axes_of(targets: Sequence[Target], threads: int | None, notes: list[str]) -> dict[str, Any]:
    """The axes that all targets share; `threads` is the number of all of them."""
    if not targets:
        notes.append("the parameters are not in the file: kind of access, size and depth are unknown")
        return {}
    first = targets[0]

    def shared(name: str) -> Any:  # noqa: ANN401 - a field of a target
        values = {getattr(one, name) for one in targets}
        return values.pop() if len(values) == 1 else None

    outstanding, own = shared("outstanding"), shared("threads")
    jobs = threads if threads is not None else own * len(targets) if own is not None else None
    axes = place_of(
        shared("kind") or "",
        is_random=shared("is_random"),
        bs=shared("bs"),
        iodepth=outstanding,
        numjobs=jobs,
        reads_percent=shared("reads_percent"),
    )
    if "depth" in axes and all(one.threads is None for one in targets):
        axes["depth"] *= len(targets)
    if all(one.more == first.more for one in targets):
        axes |= first.more
    if "rate" in axes or "thinktime" in axes:
        # The depth is only an upper limit.
        axes.pop("depth", None)
    if len(targets) > 1:
        notes.append(f"{len(targets)} targets: what they do not share is unknown")
    return axes


def _spans(text: Text) -> dict[str, _Span]:
    spans: dict[str, _Span] = {}
    span = _Span()
    for number, raw in text.numbered():
        line = raw.strip()
        begin = _RESULTS.match(line)
        if match := begin or _SPAN.fullmatch(line):
            span = spans.setdefault(match["number"], _Span())
            if span.has_results or (span.targets and not begin):
                raise text.fault(
                    number, f"time span {match['number']} is there twice: take a file for each run"
                )
            span.has_results = bool(begin)
        elif span.has_results:
            _take_result(text, number, line, span)
        else:
            _take(text, number, line, span)
    return spans


def _take_result(text: Text, number: int, line: str, span: _Span) -> None:
    """A line of the results."""
    if match := _TABLE.fullmatch(line):
        span.table, span.header = match["kind"], ()
    elif line.startswith("%-ile"):
        span.table, span.header = _LATENCIES, tuple(one.strip() for one in line.split("|"))
    elif line.startswith("thread count:"):
        span.threads = int(text.number(line.partition(":")[2], number, "thread count"))
    elif "|" not in line:
        return
    elif line.startswith("thread"):
        span.header = tuple(one.strip() for one in line.split("|"))
    elif span.table == _LATENCIES:
        _percentile(text, number, line, span.header, span)
    elif line.startswith("total:") and span.table and span.header:
        fields = [one.strip() for one in line.removeprefix("total:").split("|")]
        if len(fields) < _COLUMNS_MIN:
            raise text.fault(number, f"{short(line)} has {len(fields)} fields: the line is cut")
        span.tables[span.table] = dict(zip(span.header[1:], fields, strict=False))
        span.lines[span.table] = number


def _percentile(text: Text, number: int, line: str, header: Sequence[str], span: _Span) -> None:
    name, *fields = [one.strip() for one in line.split("|")]
    key = _PERCENTILES.get(name)
    if key is None:
        return
    for column, field_ in zip(header[1:], fields, strict=False):
        kind = column.partition(" ")[0]
        if field_ == "N/A" or kind not in _KINDS:
            continue
        if not column.endswith("(ms)"):
            raise text.fault(number, f"the column {short(column)} is not in ms: which unit it has is unknown")
        span.latencies.setdefault(kind, {})[key] = text.printed(field_, number, name, NS_PER["ms"])


def _take(text: Text, number: int, line: str, span: _Span) -> None:
    """A line of the parameters."""
    name, _, value = (one.strip() for one in line.partition(":"))
    if name == "path":
        span.targets.append(Target(value.strip("'")))
    if not span.targets:
        return
    own = span.targets[-1]
    if name == "block size":
        size = size_of(value)
        if size is None or len(value) > _SIZE_LONG:
            raise text.fault(number, f"block size is {short(value)}, no size such as 4KiB")
        own.bs = int(size)
    elif name.startswith("number of outstanding I/O operations"):
        own.outstanding = int(text.number(value, number, name))
    elif name == "threads per file":
        own.threads = int(text.number(value, number, name))
    elif match := _MIX.match(line):
        share = int(text.number(match["share"], number, "ratio"))
        own.kind, own.reads_percent = "rw", share if match["first"] == "read" else 100 - share
    elif name == "think time" and value not in {"0ms", "0us"}:
        own.more["thinktime"] = value
    else:
        _take_words(line, own)


def _take_words(line: str, own: Target) -> None:
    """What is said without a value."""
    own.kind = {"performing read test": "read", "performing write test": "write"}.get(line, own.kind)
    if line.startswith(("using random I/O", "using sequential I/O")):
        own.is_random = line.startswith("using random")
    if line in {"software cache disabled", "using software cache"}:
        own.more["direct"] = int(line == "software cache disabled")
    if line.startswith("throughput rate"):
        own.more["rate"] = line


def _figures(text: Text, span: _Span) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for kind, row in span.tables.items():
        line, before = span.lines[kind], _KINDS[kind]
        ios = text.number(row.get("I/Os", ""), line, "I/Os")
        if not ios:
            continue
        found[f"{before}iops"] = text.printed(row.get("I/O per s", ""), line, "I/O per s")
        found[f"{before}bytes_per_s"] = text.printed(row.get("MiB/s", ""), line, "MiB/s", MIB)
        found |= _times(text, row, line, before, ios, span.latencies.get(kind, {}))
    return found


def _times(
    text: Text, row: Mapping[str, str], line: int, before: str, ios: float, latencies: Mapping[str, Value]
) -> dict[str, Value]:
    found = percentiles(latencies, ios, before)
    mean = row.get("AvgLat", "")
    if mean and mean != "N/A":
        value = text.number(mean, line, "AvgLat") * NS_PER["ms"]
        found[f"{before}mean"] = Value(value, half_digit(mean) * NS_PER["ms"])
    if "max" in latencies:
        found[f"{before}max"] = latencies["max"]
    return found


FORMATS = (Format("diskspd", "DiskSpd's text", _fits, _read),)
