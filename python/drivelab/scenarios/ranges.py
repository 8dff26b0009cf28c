"""Ranges in the value of an option: `2..4` stands for 2, 3 and 4, as a list would.

Of depths, jobs and sizes a range has each doubling, and its end: `--iodepth 1..32` is 1,2,4,8,16,32, and `--bs 4k..64k`
is 4k,8k,16k,32k,64k. Of all else it has each whole number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from drivelab.errors import InputError
from drivelab.scenarios.sizes import size_of, size_text

_RANGE = re.compile(r"\s*(\d+)\s*([a-zA-Z]*)\s*\.\.\s*(\d+)\s*([a-zA-Z]*)\s*")
_COUNTS_DOUBLED = frozenset({"iodepth", "numjobs"})
_SIZES_DOUBLED = frozenset({"bs", "stripe_unit"})
VALUES_MAX = 1000
"""Maximum number of values of a range: a sweep of more is a slip."""


def listed(key: str, text: str) -> str:
    """The value of a key with each range in it written as a list; any other text as it is. Raises InputError."""
    parts = text.strip().removeprefix("[").removesuffix("]").split(",")
    if not any(_RANGE.fullmatch(part) for part in parts):
        return text
    found = ",".join(value for part in parts for value in _values(key, part))
    return f"[{found}]" if text.strip().startswith("[") else found


def _values(key: str, part: str) -> Iterator[str]:
    match = _RANGE.fullmatch(part)
    if match is None:
        yield part.strip()
        return
    name = key.rpartition(".")[2]
    is_size = name in _SIZES_DOUBLED
    if not is_size and (match[2] or match[4]):
        raise InputError(
            f"{part.strip()}: a range of {name} has whole numbers, such as 1..8; write the values as a list"
        )
    low, high = (
        _end(part, number, unit, is_size=is_size) for number, unit in (match.group(1, 2), match.group(3, 4))
    )
    is_doubled = is_size or name in _COUNTS_DOUBLED
    if is_doubled and min(low, high) == 0:
        raise InputError(f"{part.strip()}: a range of {name} doubles; begin it above 0")
    if low > high:
        raise InputError(f"{part.strip()}: a range goes up: write {match[3]}{match[4]}..{match[1]}{match[2]}")
    if not is_doubled and high - low >= VALUES_MAX:
        raise InputError(
            f"{part.strip()}: a range has at most {VALUES_MAX} values; write those that are meant as a list"
        )
    while low < high:
        yield _text(low, is_size=is_size)
        low = 2 * low if is_doubled else low + 1
    yield _text(high, is_size=is_size)


def _end(part: str, number: str, unit: str, *, is_size: bool) -> int:
    size = size_of(f"{number}{unit}") if is_size else float(number)
    if size is None or len(number) > 15:
        raise InputError(f"{part.strip()}: {number}{unit} is no size; write one such as 4k")
    return int(size)


def _text(value: int, *, is_size: bool) -> str:
    return f'"{size_text(value)}"' if is_size else str(value)
