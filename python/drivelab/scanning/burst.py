"""The burst rate, as HD Tach measures it: the same block read again and again.

A drive with a cache has it there after the first time, so that what is left is the way from the buffer to the
host: firmware, link, controller, host, for each request anew. A rate far below the link's says that requests
are short, not that the link is slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.result import Point
from drivelab.scanning.surface import rate_of

BLOCK = "64KiB"
REQUESTS = 1_000
LOGGED = 1


def document(block: str = BLOCK) -> dict[str, Any]:
    """The workload: a range of one block, read from its beginning again each time."""
    return {
        "workload": {"rw": "read", "bs": block, "iodepth": 1, "offset": "50%", "size": block},
        "run": {"warmup": "200ms", "ios": REQUESTS},
    }


@dataclass(frozen=True)
class Burst:
    """The burst rate of a drive, and whether its buffer gave the data."""

    bytes_per_s: float
    buffered: bool

    @classmethod
    def of(cls, point: Point) -> Burst:
        """The burst rate from a point with a command in its log."""
        commands = point.get("commands", ())
        return cls(rate_of(point), any(command["served"] == "buffered" for command in commands))

    def to_dict(self) -> dict[str, Any]:
        """The burst as `scan --json` prints it."""
        return {"bytes_per_s": self.bytes_per_s, "buffered": self.buffered}


def figures(points: Sequence[Point]) -> Mapping[str, float]:
    """What an experiment may ask for."""
    return {"bytes_per_s": rate_of(points[0])}
