"""Random reads and writes of growing size, against the first-order model: time = latency + size / rate.

The model is that of the study "Storage, RAID, and Intel's ICHxR" (2008). It is fitted to all sizes of one direction;
its residuals are the purpose of the measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.errors import InputError
from drivelab.runs.result import Point, mean_ns
from drivelab.scanning import at_once
from drivelab.scanning.fits import FirstOrder

SMALLEST, LARGEST = 512, 512 * 2**20
REQUESTS = 1_000
# 65536 sectors: the maximum of ATA commands, and of the usual SCSI ones.
MAX_TRANSFER = "32MiB"
WARM_UP = "60s"
DIRECTIONS = ("read", "write")


def document(directions: Sequence[str] = DIRECTIONS, requests: int = REQUESTS) -> dict[str, Any]:
    """The workload: a grid of direction and size, each size twice the previous one."""
    count = (LARGEST // SMALLEST).bit_length()
    return {
        "workload": {
            "rw": [f"rand{direction}" for direction in directions],
            "bs": [size_text(SMALLEST << step) for step in range(count)],
            "iodepth": 1,
            "max_transfer": MAX_TRANSFER,
        },
        "run": {"warmup": WARM_UP, "ios": requests},
    }


def size_text(size: int) -> str:
    """A size as in a scenario: the largest unit of which it is a whole multiple."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"


@dataclass(frozen=True)
class Sizes:
    """One direction: the time of a request of each size, and the model."""

    direction: str
    sizes_bytes: list[int]
    times_ns: list[float]
    model: FirstOrder

    @classmethod
    def of(cls, direction: str, points: Sequence[Point]) -> Sizes:
        """The sizes of one direction from the points of the grid. Raises InputError."""
        found = sorted(
            (moved["bytes"] // moved["ios"], mean_ns(point))
            for point in points
            if (moved := point["read"] if direction == "read" else point["write"])["ios"]
        )
        if not found:
            raise InputError(f"no {direction} finished at any size")
        sizes, times = [size for size, _ in found], [time for _, time in found]
        if not all(times):
            raise InputError(f"a {direction} took no time, so there is no model to fit: {at_once.REMEDY}")
        return cls(direction, sizes, times, FirstOrder.of(sizes, times))

    def to_dict(self) -> dict[str, Any]:
        """The sizes as `scan --sizes --json` prints them."""
        misses = zip(self.sizes_bytes, self.times_ns, self.model.misses, strict=True)
        return {
            "direction": self.direction,
            "latency_ns": self.model.latency_ns,
            "bytes_per_s": self.model.bytes_per_s,
            "sizes": [
                {"size_bytes": size, "mean_ns": time, "model_ns": time / (1 + miss), "miss": miss}
                for size, time, miss in misses
            ],
        }
