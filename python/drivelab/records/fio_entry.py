"""A job of fio's output: its name, its options, and what it did."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.records.fio_axes import Options
from drivelab.records.fio_parts import Part

MIXED = "mixed"
"""The kind under which `unified_rw_reporting` puts all I/Os together."""


@dataclass(frozen=True)
class Entry:
    """A job of fio's output, or what --group_reporting made of several."""

    name: str
    options: Options
    parts: dict[str, Part | None]
    """By kind of I/O, `mixed` among them."""
    host: str = ""
    error: str = ""
