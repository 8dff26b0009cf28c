"""The small common shape of what readers return, and the text that they read, which knows how to tell a fault.

Units are those of the record: I/Os per second, bytes per second, nanoseconds, bytes. A name that is absent is unknown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from drivelab.errors import InputError
from drivelab.records.model import DIRECTIONS, PERCENTILES

RESULTS = "results_of"
"""The key that marks an object as the results of another tool; its value is the name of the format."""
RESULTS_VERSION = 1
NS_PER = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
"""Nanoseconds of the units of time that tools print."""
KIB, MIB = 2.0**10, 2.0**20
BEYOND_MIN = 10
"""A percentile beyond which fewer I/Os lie is left out."""

_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+")
# Of a line that is not what it should be, so much is shown.
_SHOWN = 60


@dataclass(frozen=True)
class Text:
    """A text to be read, with its origin for messages."""

    text: str
    origin: str
    tool: str
    """What it is, for messages: fio's text, DiskSpd's XML."""

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, without their ends."""
        return self.text.splitlines()

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Its lines with their numbers, from 1 on."""
        return enumerate(self.lines, 1)

    def fault(self, line: int | None, what: str) -> InputError:
        """The error that something is wrong in a line, or in the whole."""
        return InputError(f"{self.origin}: {'' if line is None else f'line {line}: '}{what}")

    def cut(self, missing: str) -> InputError:
        """The error that the end is missing."""
        return self.fault(None, f"{missing} is missing: the text is cut; take all of {self.tool}")

    def number(self, text: str, line: int, name: str) -> float:
        """A number from 0 on. Raises InputError."""
        stripped = text.strip()
        # Long enough for any number that a tool prints; more would overflow.
        if _NUMBER.fullmatch(stripped) and len(stripped) <= 40 and math.isfinite(found := float(stripped)):
            return found
        raise self.fault(
            line, f"{name} is {short(text)}, no number from 0 on; take {self.tool} as it was printed"
        )

    def printed(self, text: str, line: int, name: str, factor: float = 1.0) -> Value:
        """A printed number times a factor, with half a unit of its last digit as its resolution. Raises InputError."""
        return Value(self.number(text, line, name) * factor, half_digit(text) * factor)


def short(text: str) -> str:
    """A piece of a text for a message."""
    shown = " ".join(text.split())
    return f"`{shown[:_SHOWN]}{'..' if len(shown) > _SHOWN else ''}`"


def half_digit(text: str) -> float:
    """Half a unit of the last digit of a printed number."""
    _, _, digits = text.strip().partition(".")
    return 0.5 * 10.0 ** -min(len(digits), 18)


@dataclass(frozen=True)
class Value:
    """A figure with the possible effect of rounding on it, in the same unit."""

    value: float
    rounding: float = 0.0


@dataclass(frozen=True)
class Point:
    """A point: its place, and its figures by the names of the record."""

    axes: dict[str, Any]
    figures: dict[str, Value]
    direction: str = ""
    """`read`, `write` or `trim` if all I/Os are known to be of one kind."""


@dataclass
class Found:
    """What a reader returns: JSON objects that a record is made of, and notes on what was left out."""

    objects: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)


@dataclass
class Results:
    """The results of a tool."""

    format: str
    kind: str
    """The tool, as the kind of the record."""
    points: list[Point]
    program: str = ""
    """The tool with its version, if the file says it."""
    target: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def found(self) -> Found:
        """As a JSON object: what a library keeps of them."""
        places = [repr(sorted(point.axes.items(), key=str)) for point in self.points]
        points = [
            {
                # Points at one place are runs of their own.
                "axes": {
                    **point.axes,
                    **({"run": places[:at].count(place) + 1} if places.count(place) > 1 else {}),
                },
                "figures": {name: value.value for name, value in point.figures.items()},
                "rounding": {name: value.rounding for name, value in point.figures.items() if value.rounding},
                "direction": point.direction,
            }
            for at, (point, place) in enumerate(zip(self.points, places, strict=True))
        ]
        return Found(
            [
                {
                    RESULTS: self.format,
                    "results_version": RESULTS_VERSION,
                    "kind": self.kind,
                    "program": self.program,
                    "target": self.target,
                    "facts": dict(self.facts),
                    "notes": list(dict.fromkeys(self.notes)),
                    "points": points,
                }
            ]
        )


@dataclass(frozen=True)
class Format:
    """A format: its name before a path (`iozone:result.txt`), how it is recognised, and its reader."""

    name: str
    tool: str
    fits: Callable[[Text], bool]
    read: Callable[[Text], Found]


def sums(figures: dict[str, Value]) -> dict[str, Value]:
    """Figures with those of all I/Os added: sums of rates, the mean weighted by the rates, the largest maximum."""
    there = [one for one in DIRECTIONS if any(name.startswith(f"{one}.") for name in figures)]
    found = dict(figures)
    for name in ("iops", "bytes_per_s"):
        own = [figures.get(f"{one}.{name}") for one in there]
        if name not in found and own and all(own):
            found[name] = add(one for one in own if one)
    rates = [figures.get(f"{one}.iops") for one in there]
    means = [figures.get(f"{one}.mean") for one in there]
    if "mean" not in found and rates and all(rates) and all(means):
        total = math.fsum(rate.value for rate in rates if rate)
        both = zip(rates, means, strict=True)
        if total > 0:
            found["mean"] = Value(math.fsum(r.value * m.value for r, m in both if r and m) / total)
    most = [figures.get(f"{one}.max") for one in there]
    if "max" not in found and most and all(most):
        found["max"] = max((one for one in most if one), key=lambda one: one.value)
    return found


def add(values: Iterable[Value]) -> Value:
    """The sum of figures."""
    listed = list(values)
    return Value(math.fsum(one.value for one in listed), math.fsum(one.rounding for one in listed))


def settled(axes: Mapping[str, Any], figures: Mapping[str, Value]) -> Point:
    """A point from figures of reads, writes and trims, and of all I/Os where they are known.

    Of one kind alone the figures stand without its name; of several those of all I/Os are added.
    """
    there = [one for one in DIRECTIONS if any(name.startswith(f"{one}.") for name in figures)]
    if len(there) != 1:
        return Point(dict(axes), sums(dict(figures)))
    (kind,) = there
    own = {name.removeprefix(f"{kind}."): value for name, value in figures.items() if name.startswith(kind)}
    return Point(dict(axes), {**own, **{name: one for name, one in figures.items() if "." not in name}}, kind)


def place_of(
    kind: str,
    *,
    is_random: bool | None = None,
    bs: int | None = None,
    iodepth: int | None = None,
    numjobs: int | None = None,
    reads_percent: int | None = None,
) -> dict[str, Any]:
    """The axes of a point; what is None is unknown. `kind` is read, write, rw, or empty if unknown.

    Sizes are bytes. The depth of all jobs follows where both numbers are known.
    """
    axes: dict[str, Any] = {}
    if kind and is_random is not None:
        axes["rw"] = f"rand{kind}" if is_random else kind
    known = {"bs": bs, "iodepth": iodepth, "numjobs": numjobs, "rwmixread": reads_percent}
    axes |= {name: value for name, value in known.items() if value is not None}
    if iodepth is not None and numjobs is not None:
        axes["depth"] = iodepth * numjobs
    return axes


def percentiles(times: Mapping[str, Value], ios: float | None, before: str = "") -> dict[str, Value]:
    """Percentiles beyond which ten I/Os lie at least; all of them if their number is unknown."""
    return {
        f"{before}{name}": times[name]
        for name, share in PERCENTILES.items()
        if name in times and (ios is None or ios * (1 - share) >= BEYOND_MIN - 1e-6)
    }
