"""CrystalDiskMark's text, of versions 3 to 9; KDiskMark's has the same lines.

Early versions name each line (`Random Read 4KiB (Q= 32,T= 1) : 281.610 MB/s [ 68752.4 IOPS]`), later ones have a
section for reads, writes and a mix, and the mean latency: `RND 4KiB (Q= 32, T=16): 4094.649 MB/s [ 999670.2 IOPS]
< 494.56 us>`. The text itself says that MB/s is 1,000,000 bytes/s, and KiB 1024 bytes. The KB of version 3 is the one
of 1000 and 1024 bytes that rate and IOPS agree with. Early versions do not print the size of their sequential requests.
What is printed is the best of several runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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
from drivelab.scenarios.sizes import size_of

_UNIT = re.compile(r"\*\s*MB/s = 1,000,000 bytes?/s")
_SECTION = re.compile(r"\[(?P<name>Read|Write|Mix)\](?: Read (?P<reads>\d+)%/Write (?P<writes>\d+)%)?")
_LINE = re.compile(
    r"(?P<access>Sequential|Random|SEQ|RND) ?(?P<kind>Read|Write)?\s*(?P<size>\d{1,9} ?[KMG]i?B)?\s*"
    r"(?:\((?P<load>[QDT=, \d]+)\))?\s*:\s*(?P<rate>[\d.]+) (?P<unit>[MG]B)/s"
    r"(?:\s*\[\s*(?P<iops>[\d.]+) IOPS\])?(?:\s*<\s*(?P<us>[\d.]+) us>)?"
)
_LOAD = re.compile(r"(?P<name>QD?|T)\s*=\s*(?P<count>\d+)")
_RATES = {"MB": 1e6, "GB": 1e9}
_VERSION = re.compile(r"CrystalDiskMark \d+\.\d[\w.]*")
_TEST = re.compile(r"Test\s*:\s*(?P<test>.*)")
# By so much a rate may differ from size times IOPS, beyond rounding.
_NEAR = 0.002


def has_version(text: Text, version: re.Pattern[str]) -> bool:
    """Whether a line begins with the program and its version."""
    return any(version.match(_plain(line)) for line in text.lines)


def _plain(line: str) -> str:
    return line.strip().lstrip(">").strip()


def read_as(name: str, version: re.Pattern[str]) -> Callable[[Text], Found]:
    """A reader of such a text for a program whose line with its version is given."""

    def read(text: Text) -> Found:
        points: list[Point] = []
        section: re.Match[str] | None = None
        notes: list[str] = []
        facts: dict[str, str] = {}
        program = ""
        if not any(_UNIT.match(_plain(line)) for line in text.lines):
            raise text.cut("the line that says what MB/s is (`* MB/s = 1,000,000 bytes/s`)")
        for number, raw in text.numbered():
            line = _plain(raw)
            if match := version.match(line):
                if program and points:
                    raise text.fault(number, "a second result begins here: take a file for each")
                program = match[0].strip()
            elif match := _SECTION.match(line):
                section = match
            elif match := _LINE.fullmatch(line):
                points.append(_point(text, number, match, section, notes))
            elif match := _TEST.match(line):
                facts["test"] = match["test"]
            elif "MB/s" in line and not line.startswith("*"):
                raise text.fault(number, f"{short(line)} is no line of a result that is known; is it cut?")
        notes.append("each figure is the best of several runs, without an interval")
        return Results(name, name, points, program, facts=facts, notes=notes).found()

    return read


def _point(
    text: Text, number: int, match: re.Match[str], section: re.Match[str] | None, notes: list[str]
) -> Point:
    load = {found["name"][0]: found["count"] for found in _LOAD.finditer(match["load"] or "")}
    kind, reads = (match["kind"] or "").lower(), None
    if not kind and section is not None:
        kind = {"Read": "read", "Write": "write", "Mix": "rw"}[section["name"]]
        reads = None if section["reads"] is None else int(text.number(section["reads"], number, "share"))
    if not kind:
        raise text.fault(number, f"{short(match[0])} stands before [Read] or [Write]: its kind is unknown")
    rate = text.printed(match["rate"], number, "MB/s", _RATES[match["unit"]])
    iops = text.printed(match["iops"], number, "IOPS") if match["iops"] else None
    size = _size(match["size"], rate, iops)
    if size is None:
        notes.append("the size of a request is unknown where the text does not print it")
    counts = {key: int(text.number(value, number, key)) for key, value in load.items()}
    axes = place_of(
        kind,
        is_random=match["access"] in {"Random", "RND"},
        bs=size,
        iodepth=counts.get("Q"),
        numjobs=counts.get("T"),
        reads_percent=reads,
    )
    if set(counts) != {"Q", "T"}:
        notes.append("depth and threads are unknown where the text does not print them")
    before = "" if kind == "rw" else f"{kind}."
    figures: dict[str, Value] = {}
    if iops is None or size is None or _agree(rate, iops, size):
        figures[f"{before}bytes_per_s"] = rate
    else:
        notes.append("MB/s do not agree with IOPS times the size of a request: bytes per second are left out")
    if iops is not None:
        figures[f"{before}iops"] = iops
    if match["us"]:
        figures[f"{before}mean"] = text.printed(match["us"], number, "us", NS_PER["us"])
    return settled(axes, figures)


def _size(printed: str | None, rate: Value, iops: Value | None) -> int | None:
    """The size of a request in bytes; a KB is the one that rate and IOPS agree with."""
    if printed is None:
        return None
    text = printed.replace(" ", "")
    if text.endswith("iB"):
        return int(size_of(text) or 0) or None
    fitting = [
        size
        for unit in ("iB", "B")
        if iops is not None and (size := int(size_of(text[:-1] + unit) or 0)) and _agree(rate, iops, size)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _agree(rate: Value, iops: Value, size: int) -> bool:
    return abs(rate.value - size * iops.value) <= rate.rounding + size * iops.rounding + _NEAR * rate.value


FORMATS = (
    Format(
        "crystaldiskmark",
        "CrystalDiskMark's text",
        lambda text: has_version(text, _VERSION),
        read_as("crystaldiskmark", _VERSION),
    ),
)
