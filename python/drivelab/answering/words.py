"""Figures of a record in words: each with the range that it has, and whether two of them differ beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from drivelab.errors import InputError, raw, ref
from drivelab.scenarios.catalogue import catalogue_entry
from drivelab.scenarios.catalogue_choice import Medium, medium
from drivelab.scenarios.sizes import size_of, size_with_unit

MS, MB = 1e6, 1e6
"""Nanoseconds in a millisecond; bytes in a megabyte."""


def number(value: float) -> str:
    """Three digits: 1,230; 123; 12.3; 0.123."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def span(low: float, high: float) -> str:
    """`131 to 205`."""
    return f"{number(low)} to {number(high)}"


def figure(row: Mapping[str, Any], key: str = "iops", unit: str = "IOPS") -> str:
    """A figure of a row with its range, or the interval of chance where it has no other: `168 IOPS (131 to 205)`."""
    text = f"{number(row[key])} {unit}".rstrip()
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    return text if low is None or high is None else f"{text} ({span(low, high)})"


def rate_of(point: Mapping[str, Any], *, per: float = 1.0, key: str = "iops") -> dict[str, float | None]:
    """The rate of a point with its ends, divided by `per`, under `key`, `key_low`, `key_high`.

    The ends are the range of drives of its kind where the record has one, else the interval of chance at 95 %; None
    where neither is known.
    """
    ends = {name: point[name] for name in ("iops_low", "iops_high") if name in point}
    error = point["iops_relative_error"]
    if not ends and error is not None and error < 1:
        ends = {"iops_low": point["iops"] * (1 - error), "iops_high": point["iops"] * (1 + error)}
    return {
        key: point["iops"] / per,
        f"{key}_low": ends["iops_low"] / per if ends else None,
        f"{key}_high": ends["iops_high"] / per if ends else None,
    }


def refuse_shingled_writes(drive: str) -> None:
    """Refuse random writes to a shingled drive, which has no one rate of them. Raises InputError."""
    kind = medium_of(drive)
    if kind is Medium.HOST_MANAGED:
        raise InputError(
            f"{ref('drive', drive)}: a host-managed drive takes writes in zones of its own, and no others; name a "
            "conventional drive, or see docs/how-to/host-managed.md"
        )
    if kind is Medium.SMR:
        raise InputError(
            f"{ref('drive', drive)}: random writes to a shingled drive are fast until its media cache is full, and an "
            "order of magnitude slower behind that; name a conventional drive, or see docs/how-to/shingled.md"
        )


def inside(value: float, row: Mapping[str, Any], key: str = "iops") -> bool:
    """Whether a value lies in the range of a figure."""
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    return low is not None and high is not None and bool(low <= value <= high)


def medium_of(drive: str) -> Medium:
    """What a drive stores its data on. Raises InputError where there is no such drive."""
    try:
        return medium(catalogue_entry(drive, "drives"))
    except InputError as error:
        raise InputError(f"{ref('drive', drive)}: {raw(error)}") from error


def listed(texts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def target_named(drive: str, level: str | None, members: str | None) -> str:
    """A drive, or an array of it, as titles and sentences name it."""
    name = Path(drive).stem if drive.endswith(".toml") else drive
    return name if level is None else f"{level} of {members or '?'} x {name}"


def of_parity(level: str | None) -> list[str]:
    """What writes to an array with parity have to be read with."""
    plain = (level or "").partition(":")[0].lower()
    if plain not in {"raid4", "raid5", "raid6", "raid50", "raid60"}:
        return []
    return [
        "the array has no stripe cache, which md has: sequential writes smaller than a row of stripes are slower than "
        "md's (docs/reference/arrays.md)"
    ]


def size_named(text: str) -> str:
    """A size as sentences have it: 4 KiB for 4k; what is none as it is."""
    size = size_of(text)
    return text if size is None else size_with_unit(size)
