"""What a report has, before it is HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.report.table import Table


@dataclass(frozen=True)
class Drawing:
    """A chart as SVG, once for each width of a window; the style sheet shows one of them.

    Each is an `svg` with what a screen reader says in its place.
    """

    title: str
    shapes: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Content:
    """The parts of a report, in their order."""

    title: str
    verb: str
    """The verb that wrote it."""
    answer: Sequence[str]
    """The result in sentences."""
    drawings: Sequence[Drawing]
    printed: Sequence[str | Table]
    """Tables, and texts of one or more lines between them."""
    remarks: Sequence[str]
    provenance: Mapping[str, Any]
    command: str
    scenario: str
    """As TOML; empty if there is none."""
    record: object
    captions: Sequence[str] = ()
    """Of the tables that have no title."""
    is_rerun: bool = field(default=False)
    """Whether `drivelab simulate` can run the record again."""
