"""HD Tune's text of a benchmark: transfer rates over the drive, and the access time.

What a MB/s or MB/sec is the text does not say, so a name before the path has to: `hdtune-mb` is 1,000,000 bytes,
`hdtune-mib` 1,048,576. Whether it read or wrote is said by HD Tune Pro alone; the size of its requests is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from drivelab.records.formats.shape import MIB, NS_PER, Format, Found, Point, Results, Text, Value, short

_HEAD = re.compile(r"(?P<program>HD Tune(?: Pro)?): (?P<model>.+) Benchmark")
_LINE = re.compile(r"(?P<name>[A-Za-z ]+?)\s*: (?P<value>[\d.]+)\s*(?P<unit>MB/s(?:ec)?|ms|%)")
_KIND = re.compile(r"(?P<kind>Read|Write) transfer rate", re.IGNORECASE)


def _plain(line: str) -> str:
    return line.strip()


def _fits(text: Text) -> bool:
    return any(_HEAD.fullmatch(_plain(line)) for line in text.lines)


def _reader(name: str, factor: float) -> Callable[[Text], Found]:
    def read(text: Text) -> Found:
        points: list[Point] = []
        facts: dict[str, str] = {}
        models: list[str] = []
        program = kind = ""
        for number, raw in text.numbered():
            line = _plain(raw)
            if match := _HEAD.fullmatch(line):
                program, kind = match["program"], ""
                models.append(match["model"])
            elif not models:
                continue
            elif match := _KIND.fullmatch(line):
                kind = match["kind"].lower()
            elif match := _LINE.fullmatch(line):
                axes = {"model": models[-1]} | ({"rw": kind} if kind else {})
                _take(text, number, match, axes, kind, factor, points)
                if "Minimum" in match["name"] or "Maximum" in match["name"]:
                    facts[f"{models[-1]}: {match['name']}"] = f"{match['value']} {match['unit']}"
            elif line.startswith(("Transfer Rate", "Access Time")):
                raise text.fault(
                    number, f"{short(line)} is no line of a result such as `Access Time : 13.6 ms`"
                )
        if models and not points:
            raise text.cut("the average transfer rate or the access time")
        notes = [
            "HD Tune prints no size, depth and number of its requests, and no interval: they are unknown"
        ]
        target = models[0] if len(set(models)) == 1 else ""
        return Results(name, "hdtune", points, program, target, facts, notes).found()

    return read


def _take(
    text: Text,
    number: int,
    match: re.Match[str],
    axes: dict[str, str],
    kind: str,
    factor: float,
    points: list[Point],
) -> None:
    name, unit = match["name"], match["unit"]
    if name == "Transfer Rate Average" and unit.startswith("MB"):
        rate = text.printed(match["value"], number, name, factor)
        points.append(Point({**axes, "test": "transfer rate"}, {"bytes_per_s": rate}, kind))
    elif name == "Access Time" and unit == "ms":
        mean: Value = text.printed(match["value"], number, name, NS_PER["ms"])
        own = {one: value for one, value in axes.items() if one != "rw"}
        points.append(Point({**own, "test": "access time"}, {"mean": mean}, kind))


FORMATS = (
    Format("hdtune-mb", "HD Tune's text, its MB 1,000,000 bytes", _fits, _reader("hdtune-mb", 1e6)),
    Format("hdtune-mib", "HD Tune's text, its MB 1,048,576 bytes", _fits, _reader("hdtune-mib", MIB)),
)
