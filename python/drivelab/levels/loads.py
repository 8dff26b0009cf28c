"""What every level is put under: random reads, writes and both at several depths; a stream of reads and of writes.

A state of the array is not a load: the same loads run on it whole, with member 0 missing, and with a new drive in
its place that is being filled.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.errors import InputError
from drivelab.result import Point
from drivelab.scanning.surface import rate_of
from drivelab.scenario import Override

STATES: Mapping[str, Mapping[str, Any]] = {
    "healthy": {},
    "degraded": {"missing": [0]},
    "rebuilding": {"missing": [0], "rebuilding": True},
}
"""What each state adds to target.array."""

RANDOM = {"randread": "random reads", "randwrite": "random writes", "randrw": "random reads and writes"}
STREAMS = {"read": "sequential reads", "write": "sequential writes"}

STREAM_BLOCK = "16MiB"
"""One outstanding. Smaller ones leave members idle; several at once are put into another order by drives that queue,
and lose turns."""
STREAM_PLACES = ("10%", "30%", "50%", "70%", "90%")
"""Middles of five equal shares of the addresses: outer zones are faster than inner ones."""
STREAM_REQUESTS, STREAM_WARM_UP = 16, "2s"


REBUILD = "rebuild"
"""Not a load: a rebuild while next to nothing is asked of the array."""


@dataclass(frozen=True)
class Loads:
    """The loads as they were chosen."""

    iodepths: Sequence[int] = (1, 4, 16, 64)
    bs: str = "4KiB"
    rwmixread: int = 70
    requests: int = 4_000
    warm_up: str = "10s"
    states: Sequence[str] = field(default_factory=lambda: tuple(STATES))

    def __post_init__(self) -> None:
        """Refuse what nothing could be said about. Raises InputError."""
        if not self.iodepths or min(self.iodepths) < 1 or len(set(self.iodepths)) < len(self.iodepths):
            raise InputError("--iodepth: commands outstanding, each number once and at least 1: 1,4,16,64")
        if not 1 <= self.rwmixread <= 99:
            raise InputError(
                f"--rwmixread {self.rwmixread}: between 1 and 99; reads and writes alone run anyway"
            )
        if not self.states:
            raise InputError(f"--states: which? There are {', '.join(STATES)}")
        for state in self.states:
            if state not in STATES:
                raise InputError(f"--states {state}: it is {', '.join(STATES)}")

    def documents(self) -> dict[str, dict[str, Any]]:
        """Each load as a scenario without its target."""
        found = {rw: self._random(rw) for rw in RANDOM}
        for rw in STREAMS:
            found[rw] = {
                "workload": {
                    "rw": rw,
                    "bs": STREAM_BLOCK,
                    "iodepth": 1,
                    "offset": list(STREAM_PLACES),
                },
                "run": {"warmup": STREAM_WARM_UP, "ios": STREAM_REQUESTS},
            }
        return found

    def _random(self, rw: str) -> dict[str, Any]:
        mix = {"rwmixread": self.rwmixread} if rw == "randrw" else {}
        return {
            "workload": {"rw": rw, **mix, "bs": self.bs, "iodepth": list(self.iodepths)},
            "run": {"warmup": self.warm_up, "ios": self.requests},
        }

    def overrides(self, load: str) -> list[Override]:
        """What was typed of a load, once more under the name of its option: what is wrong with it is said of that."""
        if load not in RANDOM:
            return []
        return [
            Override("workload.bs", self.bs, "--bs"),
            Override("workload.iodepth", str(list(self.iodepths)), "--iodepth"),
            Override("run.ios", str(self.requests), "--number-ios"),
            Override("run.warmup", self.warm_up, "--ramp-time"),
        ]


def rebuild_document(drive_bytes: int) -> dict[str, Any]:
    """A rebuild with a read every thousand seconds beside it, for as long as 1 MB/s would take."""
    return {
        "workload": {"rw": "randread", "bs": "4KiB", "rate_iops": 0.001},
        "run": {"duration": f"{max(drive_bytes // 10**6, 1)}s"},
    }


def rebuild_figures(points: Sequence[Point]) -> dict[str, Any] | None:
    """How long the rebuild took; where members of several groups are filled, the longest. None where it did not end."""
    syncs = [sync for sync in points[0].get("array", {}).get("syncs", ()) if sync["kind"] == REBUILD]
    if not syncs or any(sync["ended_ns"] is None or sync["given_up"] for sync in syncs):
        return None
    longest = max(syncs, key=lambda sync: sync["duration_ns"])
    return {
        "duration_ns": longest["duration_ns"],
        "member_bytes_per_s": longest["member_bytes_per_s"],
    }


def random_figures(points: Sequence[Point]) -> list[dict[str, Any]]:
    """A load's points as JSON has them, one for each depth."""
    return [
        {
            "iodepth": point["depth"]["asked"],
            "iops": point["iops"],
            "iops_relative_error": point["iops_relative_error"],
            "bytes_per_s": point["bytes_per_s"],
            "latency_ns": {name: point["latency_ns"][name] for name in ("n", "mean", "p50", "p99", "max")},
            "errors": point["errors"],
        }
        for point in points
    ]


def stream_figures(points: Sequence[Point]) -> dict[str, Any] | None:
    """A stream's rate: each place stands for a fifth of the addresses. None where no request took any time."""
    if not all(point["latency_ns"]["mean"] for point in points):
        return None
    rates = [rate_of(point) for point in points]
    places = [point["axes"]["workload.offset"] for point in points]
    return {
        "mean_bytes_per_s": statistics.fmean(rates),
        "min_bytes_per_s": min(rates),
        "max_bytes_per_s": max(rates),
        "places": [
            {"offset": offset, "bytes_per_s": rate} for offset, rate in zip(places, rates, strict=True)
        ],
        "errors": sum(point["errors"] for point in points),
    }
