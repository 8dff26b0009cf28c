"""Parses quantities of a drive file into numbers: times in milliseconds, rates in bytes per second, shares and angles
as fractions.
"""

from __future__ import annotations

import re

from drivelab import _core
from drivelab.errors import InputError

_SECTOR = 512.0
_FORM = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%/]*)\s*")


def time_ms(text: object) -> float:
    """A time of a drive file, such as "8.5ms" or, of a write settle, "-0.5ms", in milliseconds. Raises InputError."""
    size = str(text).removeprefix("-")
    try:
        return _core.span_ns(size) / (1e6 if size == str(text) else -1e6)
    except ValueError as error:
        raise InputError(f"{text!r} is no time; write it as 8.5ms") from error


def data_bytes(text: object) -> float:
    """An amount of data in bytes, with its unit or without; `k`, `m` and `g` are fio's. Raises InputError."""
    number, unit = _parts(text)
    if unit in {"", "sectors"}:
        return number * (_SECTOR if unit else 1.0)
    try:
        return float(_core.size_bytes(str(text)))
    except ValueError as error:
        raise InputError(f"{text!r} is no amount of data; write it as 4KiB") from error


def rate_bytes(text: object) -> float:
    """A data rate such as "105MB/s" in bytes per second. Raises InputError."""
    try:
        return float(_core.rate_bytes_per_s(str(text)))
    except ValueError as error:
        raise InputError(f"{text!r} is no data rate; write it as 105MB/s") from error


def spindle_rpm(text: object) -> float:
    """A spindle speed such as "7200rpm". Raises InputError."""
    number, unit = _parts(text)
    if unit not in {"", "rpm"}:
        raise InputError(f"{text!r} is no spindle speed; write it as 7200rpm")
    return number


def share(text: object) -> float:
    """A share such as "48%" as a fraction. Raises InputError."""
    number, unit = _parts(text)
    if unit not in {"", "%"}:
        raise InputError(f"{text!r} is no share; write it as 48%")
    return number / 100


def time_text(ms: float) -> str:
    """A time in the notation of a drive file, to the nanosecond."""
    return f"{round(ms, 6):.6f}".rstrip("0").rstrip(".") + "ms"


def _parts(text: object) -> tuple[float, str]:
    found = _FORM.fullmatch(str(text))
    try:
        if found:
            return float(found[1]), found[2]
    except ValueError:
        pass
    raise InputError(f"{text!r} is no quantity: a number with its unit")
