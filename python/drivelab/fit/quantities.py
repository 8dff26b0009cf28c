"""Parses quantities of a drive file into numbers: times in milliseconds, rates in bytes per second, shares and angles
as fractions.
"""

from __future__ import annotations

import re

from drivelab.errors import InputError

_TIMES = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "d": 8.64e7}
_DATA = {
    "": 1.0,
    "B": 1.0,
    "k": 1024.0,
    "m": 1024.0**2,
    "g": 1024.0**3,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
    "TiB": 1024.0**4,
    "sectors": 512.0,
}
_FORM = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%/]*)\s*")


def time_ms(text: object) -> float:
    """A time of a drive file, such as "8.5ms", in milliseconds. Raises InputError."""
    number, unit = _parts(text)
    if unit not in _TIMES:
        raise InputError(f"{text!r} is no time; write it as 8.5ms")
    return number * _TIMES[unit]


def data_bytes(text: object) -> float:
    """An amount of data in bytes; `k`, `m` and `g` are fio's. Raises InputError."""
    number, unit = _parts(text)
    if unit not in _DATA:
        raise InputError(f"{text!r} is no amount of data; write it as 4KiB")
    return number * _DATA[unit]


def rate_bytes(text: object) -> float:
    """A data rate such as "105MB/s" in bytes per second. Raises InputError."""
    number, unit = _parts(text)
    if not unit.endswith("/s") or unit[:-2] not in _DATA:
        raise InputError(f"{text!r} is no data rate; write it as 105MB/s")
    return number * _DATA[unit[:-2]]


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
