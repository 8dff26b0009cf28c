"""Dates of a record without the time of the day.

In texts the time behind a date is left out. Numbers that count from 1970 under the keys of fio and of others are
moved back together, so that the earliest of a record falls on midnight, UTC: their differences stay, which a reader of
several reports of one run needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_DAY_NS = 86_400 * 10**9
# Nanoseconds in a unit of each key; compared without case, blanks, - and _.
_KEYS = {
    "timestamp": 10**9,
    "timestamps": 10**9,
    "timestampms": 10**6,
    "timestampus": 10**3,
    "timestampns": 1,
    "jobstart": 10**6,
    "starttime": 10**9,
    "endtime": 10**9,
}
# A number under such a key that is before 2001 counts from something else.
_FIRST_NS = 10**18
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AP]M)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[A-Z]{3,4}T|[+-]\d\d:?\d\d)(?![\w:]))?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY_FIRST = re.compile(
    rf"\b(\d{{4}}[-/]\d\d[-/]\d\d|\d{{1,2}} {_MONTH} \d{{4}})(?:[T_]|,? +){_CLOCK}{_ZONE}", re.IGNORECASE
)
_COMPACT = re.compile(r"\b(\d{8})T\d{4,6}Z?\b")
_YEAR_LAST = re.compile(rf"\b({_MONTH} +\d{{1,2}}) +{_CLOCK}{_ZONE} +(\d{{4}})\b", re.IGNORECASE)


def without_times(text: str) -> str:
    """A text whose dates have no time of the day."""
    text = _DAY_FIRST.sub(r"\1", text)
    text = _COMPACT.sub(r"\1", text)
    return _YEAR_LAST.sub(r"\1 \2", text)


class Stamps:
    """The numbers of a record that are times."""

    def __init__(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """Find the earliest of them."""
        self.back_ns = min((ns for one in objects for ns in _found(one)), default=0) % _DAY_NS

    def moved(self, value: Any, key: str = "") -> Any:  # noqa: ANN401 - whatever JSON has
        """The same with its times moved."""
        if isinstance(value, Mapping):
            return {name: self.moved(inner, str(name)) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.moved(inner, key) for inner in value]
        unit = _unit(value, key)
        if unit is None:
            return value
        moved = _ns(value, unit) - self.back_ns
        return moved / unit if isinstance(value, float) else moved // unit


def _found(value: object, key: str = "") -> Iterator[int]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _found(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _found(inner, key)
    elif (unit := _unit(value, key)) is not None and isinstance(value, int | float):
        yield _ns(value, unit)


def _unit(value: object, key: str) -> int | None:
    """Nanoseconds in a unit of a value that is a time; None if it is none."""
    unit = _KEYS.get(re.sub(r"[\s_-]", "", key).lower())
    if unit is None or isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124
        return None
    return unit if _FIRST_NS <= value * unit < 10 * _FIRST_NS else None


def _ns(value: float, unit: int) -> int:
    """Whole units in nanoseconds, exactly where the value is whole."""
    return value * unit if isinstance(value, int) else int(value * unit)
