"""Seek time over distance: DiskSim's forms as the keys of a drive file's section `seek`.

`extracted` is a file of measured points, `curve` Lee's form through three figures, `hpl` the form of the HP
Laboratories (C. Ruemmler, J. Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994) and
`hplplus10` the same with ten measured times for the shortest distances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from drivelab.disksim.parameters import Parameters, as_number
from drivelab.disksim.text import Place
from drivelab.errors import InputError
from drivelab.host.files import read_text

Point = tuple[int, Decimal]
"""A distance in cylinders, and milliseconds."""

_HEADING = "Seek distances measured:"
# Maximum error of the line between two points at which a form is sampled.
_MISS_MS = 0.0002
_MEASURED_MAX = 10
# A nanosecond: less would be written as zero.
_LEAST_MS = Decimal("1e-6")
# The limit of a drive file.
_DISTANCE_MAX = 2**22
# No seek takes longer.
_LONGER_MAX = 1000
_DIGITS_MAX = 16


@dataclass(frozen=True)
class Curve:
    """A mechanism's seek curve."""

    points: list[Point] | dict[str, Decimal]
    """Measured ones, or `single`, `average` and `full`."""
    files: list[Path] = field(default_factory=list)
    """The files that define it."""
    write_longer: Decimal = Decimal(0)
    """By how many milliseconds every seek before a write is longer than one before a read."""
    left_out: list[str] = field(default_factory=list)
    """What its files say and a drive file cannot express."""


def curve(mech: Parameters, cylinders: int) -> Curve:
    """The seek curve of a mechanism with this many cylinders."""
    unused = {
        "Full seek curve",
        "Single cylinder seek time",
        "Average seek time",
        "Full strobe seek time",
        "HPL seek equation values",
        "First ten seek times",
    }
    mech.ignore(*unused)
    match mech.word("Seek type"):
        case "extracted":
            path = mech.place("Full seek curve").path.parent / mech.word("Full seek curve")
            try:
                text = read_text(path)
            except InputError as error:
                raise mech.place("Full seek curve").error(str(error)) from error
            return _with_columns(path, text)
        case "curve":
            figures = {"single": "Single cylinder", "average": "Average", "full": "Full strobe"}
            return Curve({key: mech.time(f"{name} seek time") for key, name in figures.items()})
        case "hpl" | "hplplus10" as form:
            return Curve(_hpl(mech, cylinders, plus_ten=form == "hplplus10"))
    raise mech.wrong("Seek type", "extracted, curve, hpl and hplplus10 can be imported")


def _with_columns(path: Path, text: str) -> Curve:
    """A file's curve, with its optional third column (the spread) and fourth (the time before a write)."""
    found = measured(path, text)
    further = [(_column(fields, 2), _column(fields, 3)) for _, fields in _lines(text)]
    spreads = [spread for spread, _ in further if spread is not None and spread > 0]
    left_out = []
    if spreads:
        between = " to ".join(f"{spread:f}" for spread in sorted({min(spreads), max(spreads)})) + " ms"
        left_out.append(f"{path.name}: the spread of the seeks, a standard deviation of {between}")
    writes = [write for _, write in further]
    longer = {write - ms for (_, ms), write in zip(found, writes, strict=True) if write is not None}
    if None not in writes and len(longer) == 1 and -_LONGER_MAX <= max(longer) <= _LONGER_MAX:
        return Curve(found, [path], longer.pop(), left_out)
    if longer:
        what = "not by one time at all distances, which is all that a drive file holds"
        left_out.append(f"{path.name}: seeks before writes, which differ from those before reads, but {what}")
    return Curve(found, [path], left_out=left_out)


def _column(fields: Sequence[str], number: int) -> Decimal | None:
    """A figure after the first two; None if there is none."""
    try:
        found = Decimal(fields[number])
    except (IndexError, InvalidOperation):
        return None
    # The exponent is checked first: any arithmetic with an exponent of nine digits overflows.
    has_size = found.is_finite() and abs(found.adjusted()) < _DIGITS_MAX
    return found if has_size and abs(found) <= _LONGER_MAX else None


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines with points, each with its number."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not (number == 1 and line.startswith(_HEADING)):
            yield number, line.replace(",", " ").split()


def measured(path: Path, text: str) -> list[Point]:
    """The points of a file: `distance, time` in each line, followed by anything."""
    found: list[Point] = []
    for number, fields in _lines(text):
        place = Place(path, number)
        line = " ".join(fields)
        try:
            distance, ms = int(fields[0]), Decimal(fields[1])
        except (IndexError, ValueError, InvalidOperation):
            raise place.error(f"{line.strip()[:40]!r} is not `distance, time`") from None
        if not (ms.is_finite() and _LEAST_MS <= ms <= 1000):
            raise place.error(f"a seek of {fields[1][:40]} ms")
        if distance > _DISTANCE_MAX:
            raise place.error(
                f"a seek over {fields[0][:40]} cylinders: no drive has more than {_DISTANCE_MAX}"
            )
        if distance <= (found[-1][0] if found else 0):
            raise place.error(f"the distance {distance} is not above the one before it")
        found.append((distance, ms))
    if len(found) < 2:
        raise Place(path, 1).error("a seek curve needs two points or more")
    return found


def _hpl(mech: Parameters, cylinders: int, *, plus_ten: bool) -> list[Point]:
    """The form's points: each of the shortest distances, then as many as linear interpolation needs."""
    key = "HPL seek equation values"
    values = mech.items(key)
    if len(values) != 6:
        raise mech.wrong(key, "six values are wanted")
    limit, a, b, c, e, one = (float(as_number(value)) for value in values)
    ten: list[Decimal] = []
    if plus_ten:
        ten = [as_number(value) for value in mech.items("First ten seek times")]
        if len(ten) != _MEASURED_MAX:
            raise mech.wrong("First ten seek times", "ten times are wanted")
    elif one >= 0:
        ten = [Decimal(repr(one))]

    def time(distance: int) -> float:
        return a + b * math.sqrt(distance) if distance < limit else c + e * distance

    last = max(cylinders - 1, 2)
    found: list[Point] = []

    def add(distance: int, ms: Decimal) -> None:
        # Checked one by one: a form without bounds could have endlessly many points.
        if not _LEAST_MS <= ms <= 1000:
            raise mech.wrong(key, f"a seek over {distance} cylinders would take {ms} ms")
        found.append((distance, ms))

    for distance, ms in enumerate(ten[:last], 1):
        add(distance, ms)
    for distance in _distances(b, math.ceil(limit), len(found) + 1, last):
        add(distance, Decimal(f"{time(distance):.6f}"))
    return found


def _distances(b: float, limit: int, first: int, last: int) -> Iterator[int]:
    """Distances from `first` to `last` at which the form needs a point.

    Over a step of h cylinders, linear interpolation of b sqrt(d) is off by at most b h^2 / (32 d^1.5).
    """
    bend = min(limit - 1, last)
    distance = first
    while distance < bend:
        yield distance
        step = math.sqrt(32 * _MISS_MS * distance**1.5 / abs(b)) if b else bend
        distance += max(1, int(step))
    yield from sorted({at for at in (bend, bend + 1, last) if first <= at <= last})
