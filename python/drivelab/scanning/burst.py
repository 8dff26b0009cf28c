"""The burst rate, as HD Tach measures it: the same block read again and again.

A drive with a cache has it there after the first time, so that only the path from the buffer to the host remains:
firmware, link, controller, host, for each request. A rate far below the link's says that requests are short, not that
the link is slow. Reads that the buffer did not serve, because read-ahead data have replaced the block, are left out
of the rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.runs.result import Point
from drivelab.scanning.access import SECTOR_BYTES
from drivelab.scanning.surface import rate_of

BLOCK = "64KiB"
REQUESTS = 1_000
"""All of them are logged: only the log says which reads the buffer served."""


def document(block: str = BLOCK) -> dict[str, Any]:
    """The workload: a range of one block, read from its beginning again each time."""
    return {
        "workload": {"rw": "read", "bs": block, "iodepth": 1, "offset": "50%", "size": block},
        "run": {"warmup": "200ms", "ios": REQUESTS},
    }


@dataclass(frozen=True)
class Burst:
    """The burst rate of a drive, and how many of the reads its buffer served."""

    bytes_per_s: float
    """From the reads that the buffer served; from all if it served none."""
    reads: int
    buffered_reads: int

    @property
    def buffered(self) -> bool:
        """Whether there is a burst rate: the buffer served some of the reads."""
        return self.buffered_reads > 0

    @classmethod
    def of(cls, point: Point) -> Burst:
        """The burst rate from a point with all its commands in its log. Raises InputError if none took any time."""
        served = [
            (command["sectors"], command["completed_ns"] - command["submitted_ns"])
            for command in point.get("commands", ())
            if command["served"] == "buffered" and command["completed_ns"] is not None
        ]
        reads = point["latency_ns"]["n"]
        time_ns = sum(time for _, time in served)
        if not time_ns:
            return cls(rate_of(point), reads, 0)
        return cls(SECTOR_BYTES * sum(sectors for sectors, _ in served) / time_ns * 1e9, reads, len(served))

    def to_dict(self) -> dict[str, Any]:
        """The burst as `scan --json` prints it."""
        return {
            "bytes_per_s": self.bytes_per_s,
            "buffered": self.buffered,
            "reads": self.reads,
            "buffered_reads": self.buffered_reads,
        }


def figures(points: Sequence[Point]) -> Mapping[str, float]:
    """The figures for experiments: the same as in a scan."""
    return {"bytes_per_s": Burst.of(points[0]).bytes_per_s}
