"""sysbench's text of a fileio test, of 0.4 to 1.1.

0.4 prints counts and the time, 1.0 rates, 1.1 both rates in one line. Kb, Mb, Gb of 0.4 are KiB, MiB, GiB of later
ones. Times are of all events, which are fsyncs too from 1.0 on: where there are more events than reads and writes, they
are left out. Bytes per second are I/Os per second times the block size.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
)
from drivelab.scenarios.sizes import size_of

_VERSION = re.compile(r"sysbench \d[\w.-]*")
_BEGIN = "Running the test with following options"
_TESTS = {
    "random r/w": ("rw", True),
    "random read": ("read", True),
    "random write": ("write", True),
    "sequential read": ("read", False),
    "sequential write (creation)": ("write", False),
    "sequential rewrite": ("write", False),
}
_TEST = re.compile(r"Doing (?P<test>.+) test")
_BLOCK = re.compile(r"Block size (?P<size>\d+)\s?(?P<unit>[KMG]?)i?[bB]?")
_OLD_COUNTS = re.compile(r"Operations performed:\s+(?P<read>\d+) [Rr]eads?, (?P<write>\d+) [Ww]rites?, .*")
_RATES = {
    "read": re.compile(r"reads/s:\s*(?P<rate>[\d.]+)|read:\s*IOPS=\s*(?P<iops>[\d.]+) .*"),
    "write": re.compile(r"writes/s:\s*(?P<rate>[\d.]+)|write:\s*IOPS=\s*(?P<iops>[\d.]+) .*"),
}
_TIMES = re.compile(
    r"(?P<name>avg|max|(?:approx\.\s*)?95(?:th)? percentile):\s*(?P<value>[\d.]+)\s*(?P<unit>ms|s)?"
)
_LABELS = re.compile(r"(?P<name>[A-Za-z/() ]+):\s*(?P<value>.*)")
# Rates have two digits, so counts from them are not exact.
_NEAR = 1.01


class _Run:
    """The lines of a run."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.axes: dict[str, Any] = {}
        self.place: dict[str, Any] = {}
        self.kind = ""
        self.counts: dict[str, float] = {}
        self.rates: dict[str, Value] = {}
        self.times: dict[str, Value] = {}
        self.seconds: float | None = None
        self.events: float | None = None
        self.in_milliseconds = False

    def take(self, number: int, line: str) -> None:
        """A line. Raises InputError."""
        text = self.text
        if match := _TEST.fullmatch(line):
            self.kind, is_random = _TESTS.get(match["test"], ("", None))
            self.place["is_random"] = is_random
        elif match := _BLOCK.fullmatch(line):
            self.place["bs"] = int(size_of(f"{match['size'][:12]}{match['unit']}") or 0) or None
        elif match := _OLD_COUNTS.fullmatch(line):
            self.counts = {kind: text.number(match[kind], number, f"{kind}s") for kind in ("read", "write")}
        elif line.startswith("Latency (ms)"):
            self.in_milliseconds = True
        elif match := _TIMES.fullmatch(line):
            self._time(number, match)
        elif line == "Using synchronous I/O mode":
            self.place["iodepth"] = 1
        elif line.startswith(("reads/s:", "writes/s:", "read:", "write:")):
            for kind, pattern in _RATES.items():
                if match := pattern.fullmatch(line):
                    self.rates[kind] = text.printed(match["rate"] or match["iops"], number, f"{kind}s/s")
        else:
            self._label(number, line)

    def _time(self, number: int, match: re.Match[str]) -> None:
        unit = match["unit"] or ("ms" if self.in_milliseconds else "")
        if not unit:
            raise self.text.fault(
                number, f"{match['name']} has no unit, and no line `Latency (ms)` is before it"
            )
        name = {"avg": "mean", "max": "max"}.get(match["name"], "p95")
        found = self.text.printed(match["value"], number, match["name"], NS_PER[unit])
        if found.value:
            self.times[name] = found

    def _label(self, number: int, line: str) -> None:
        match = _LABELS.fullmatch(line)
        if match is None:
            if line.startswith("Periodic FSYNC enabled"):
                self.axes["fsync_each"] = "".join(one for one in line if one.isdigit())[:12]
            return
        name, value = match["name"].strip(), match["value"].strip()
        if name == "Number of threads":
            self.place["numjobs"] = int(self.text.number(value, number, name))
        elif name == "Extra file open flags" and ("direct" in value or value in {"0", "(none)"}):
            self.axes["direct"] = int("direct" in value)
        elif name.startswith("Read/Write ratio"):
            ratio = self.text.number(value, number, name)
            self.axes["reads"] = round(100 * ratio / (1 + ratio))
        elif name == "total time":
            self.seconds = self.text.number(value.removesuffix("s"), number, name)
        elif name == "total number of events":
            self.events = self.text.number(value, number, name)

    def point(self, notes: list[str]) -> Point:
        """Its point. Raises InputError if the results are missing."""
        figures = self._figures()
        total = sum(one.value for name, one in figures.items() if name.endswith("iops"))
        if not total:
            raise self.text.cut("the number of reads and writes (`reads/s`, or `Operations performed`)")
        size = self.place.get("bs")
        if size:
            for name in [name for name in figures if name.endswith("iops")]:
                one = figures[name]
                figures[name.replace("iops", "bytes_per_s")] = Value(one.value * size, one.rounding * size)
        is_whole = self.events is not None and self.seconds and self.events <= total * self.seconds * _NEAR
        if is_whole:
            figures |= self.times
        elif self.times:
            notes.append("times are of all events, fsyncs too, or their number is unknown: they are left out")
        reads = self.axes.pop("reads", None)
        mix = reads if self.kind == "rw" else None
        axes = place_of(self.kind, reads_percent=mix, **self.place) | self.axes
        return settled(axes, figures)

    def _figures(self) -> dict[str, Value]:
        if self.counts:
            if not self.seconds:
                raise self.text.cut("the total time")
            per_s = {kind: Value(count / self.seconds) for kind, count in self.counts.items()}
        else:
            per_s = self.rates
        return {f"{kind}.iops": rate for kind, rate in per_s.items() if rate.value}


def _fits(text: Text) -> bool:
    return (
        any(line.strip().startswith("Extra file open flags") for line in text.lines) and _BEGIN in text.text
    )


def _read(text: Text) -> Found:
    runs: list[_Run] = []
    program = ""
    for number, raw in text.numbered():
        line = raw.strip()
        if match := _VERSION.match(line):
            program = match[0]
        if line.startswith(_BEGIN):
            runs.append(_Run(text))
        elif runs:
            runs[-1].take(number, line)
    notes: list[str] = []
    points = _points(runs, notes)
    notes.append("no interval: sysbench prints one run")
    return Results("sysbench", "sysbench", points, program, notes=notes).found()


def _points(runs: Sequence[_Run], notes: list[str]) -> list[Point]:
    return [run.point(notes) for run in runs]


FORMATS = (Format("sysbench", "sysbench's text of fileio", _fits, _read),)
