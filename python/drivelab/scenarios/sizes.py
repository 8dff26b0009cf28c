"""Amounts of data: as scenarios and command lines write them (4k, 4KiB, 4096), and as people read them (4 KiB)."""

from __future__ import annotations

import re

_KIB = 1024
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*$")
_UNITS = (
    {"": 1, "b": 1}
    | {
        name: 1024**power
        for power, names in enumerate(("k kib", "m mib", "g gib", "t tib"), 1)
        for name in names.split()
    }
    | {f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}
)


def size_of(value: object) -> float | None:
    """An amount of data in bytes, as a scenario or a command line has it: 4k, 4KiB, 4096. None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    found = _SIZE.match(value) if isinstance(value, str) else None
    factor = _UNITS.get(found.group(2).lower()) if found else None
    return float(found.group(1)) * factor if found and factor else None


def size_text(size: int) -> str:
    """An amount of data in fio's shortest notation: 4k, 1m, 4608."""
    for power, unit in ((30, "g"), (20, "m"), (10, "k")):
        if size and size % 2**power == 0:
            return f"{size >> power}{unit}"
    return str(size)


def size_with_unit(size: float) -> str:
    """An amount of data in the largest unit of 1024 that it fills."""
    for unit, factor in (("TiB", _KIB**4), ("GiB", _KIB**3), ("MiB", _KIB**2), ("KiB", _KIB)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:g} B"
