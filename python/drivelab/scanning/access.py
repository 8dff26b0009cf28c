"""The access time by address: random requests of one sector, one at a time, each with its own dot.

It includes everything that a request takes: the host, the controller, the firmware, the seek, the rotation, the
sector itself.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.errors import InputError
from drivelab.report.plural import counted
from drivelab.runs.result import Point, mean_ns
from drivelab.scanning import at_once

SECTOR_BYTES = 512
BLOCK = "512B"
REQUESTS, REQUESTS_MAX = 2_000, 100_000


def document(rw: str = "read", block: str = BLOCK, requests: int = REQUESTS) -> dict[str, Any]:
    """The workload. Raises InputError."""
    if not 1 <= requests <= REQUESTS_MAX:
        raise InputError(
            f"{counted(requests, 'access', form='d')}: at least 1 and at most {REQUESTS_MAX:,} can be told apart"
        )
    return {
        "workload": {"rw": f"rand{rw}", "bs": block, "iodepth": 1},
        "run": {"ios": requests},
    }


@dataclass(frozen=True)
class Access:
    """Accesses in the order in which they were made: their addresses and times."""

    first_bytes: list[int]
    times_ns: list[int]

    @classmethod
    def of(cls, point: Point) -> Access:
        """The accesses from a point with its log. Raises InputError if none is left."""
        commands = [command for command in point.get("commands", ()) if command["completed_ns"] is not None]
        if not commands:
            raise InputError(f"no access took any time: {at_once.REMEDY}")
        return cls(
            [command["first_sector"] * SECTOR_BYTES for command in commands],
            [command["completed_ns"] - command["submitted_ns"] for command in commands],
        )

    def to_dict(self) -> dict[str, Any]:
        """The accesses as `scan --json` prints them."""
        return {
            "n": len(self.times_ns),
            "mean_ns": statistics.fmean(self.times_ns),
            "sd_ns": statistics.pstdev(self.times_ns),
            "min_ns": min(self.times_ns),
            "median_ns": statistics.median(self.times_ns),
            "max_ns": max(self.times_ns),
            "accesses": [
                {"first_byte": first, "ns": time}
                for first, time in zip(self.first_bytes, self.times_ns, strict=True)
            ],
        }


def figures(points: Sequence[Point]) -> Mapping[str, float]:
    """The figures for experiments: the mean needs no log."""
    return {"mean_ns": mean_ns(points[0])}
