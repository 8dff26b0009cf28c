"""What every level is put under: the load that was named; beside it random reads, writes and both at several depths,
and a stream of reads and of writes.

A state of the array is not a load: the same loads run on it whole, with member 0 missing, and with a new drive in
its place that is being filled.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.errors import InputError
from drivelab.levels import rebuild
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


LOAD = "load"
"""The one that was named: the verdict is about it."""
REBUILD, REBUILD_IDLE = "rebuild", "rebuild-idle"
"""Windows of a rebuild (rebuild.py), under the load that was named and with the array idle."""

DEPTHS, DEPTH = (1, 4, 16, 64), 16
"""Outstanding unasked: in the tables, and of the load."""
KINDS = {
    "read": "sequential reads",
    "write": "sequential writes",
    "rw": "sequential reads and writes",
    **RANDOM,
}
"""Of the load, by fio's words."""


@dataclass(frozen=True)
class Loads:
    """The loads as they were chosen."""

    iodepths: Sequence[int] | None = None
    """Of the load the first; in the tables all."""
    bs: str = "4KiB"
    rwmixread: int = 70
    requests: int = 4_000
    warm_up: str = "10s"
    states: Sequence[str] = field(default_factory=lambda: tuple(STATES))
    rw: str = "randrw"
    """What the load asks for, in fio's words."""
    rate_iops: str | None = None
    """So many requests a second are asked of it, whatever has finished, in place of so many outstanding."""
    pattern: str | None = None
    """A workload of the catalogue is the load, in place of `rw`, `bs` and `rwmixread`."""
    full: bool = True
    """Whether anything but the load runs."""

    def __post_init__(self) -> None:
        """Refuse what nothing could be said about. Raises InputError."""
        if self.rw not in KINDS:
            raise InputError(f"--rw {self.rw}: it is {', '.join(KINDS)}")
        depths = self.depths
        if not depths or min(depths) < 1 or len(set(depths)) < len(depths):
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

    @property
    def depths(self) -> Sequence[int]:
        """The columns of the tables."""
        return DEPTHS if self.iodepths is None else self.iodepths

    @property
    def is_stream(self) -> bool:
        """Whether the load goes from address to address: its rate says more than its IOPS."""
        return self.pattern is None and self.rw not in RANDOM

    def workload(self) -> dict[str, Any]:
        """The load that was named."""
        kind: dict[str, Any] = {"pattern": self.pattern} if self.pattern else {"rw": self.rw, "bs": self.bs}
        if self.pattern is None and self.rw in {"rw", "randrw"}:
            kind["rwmixread"] = self.rwmixread
        if self.rate_iops is not None:
            return {**kind, "rate_iops": self.rate_iops}
        return {**kind, "iodepth": DEPTH if self.iodepths is None else self.iodepths[0]}

    def text(self) -> str:
        """The load in words."""
        mix = f" ({self.rwmixread} % reads)" if self.rw in {"rw", "randrw"} else ""
        what = self.pattern or f"{KINDS[self.rw]} of {self.bs}{mix}"
        if self.rate_iops is not None:
            return f"{what}, {self.rate_iops} a second"
        return f"{what}, {self.workload()['iodepth']} outstanding"

    def documents(self) -> dict[str, dict[str, Any]]:
        """Each load as a scenario without its target."""
        run = {"warmup": self.warm_up, "ios": self.requests}
        found: dict[str, dict[str, Any]] = {LOAD: {"workload": self.workload(), "run": run}}
        if not self.full:
            return found
        found |= {rw: self._random(rw) for rw in RANDOM}
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
            "workload": {"rw": rw, **mix, "bs": self.bs, "iodepth": list(self.depths)},
            "run": {"warmup": self.warm_up, "ios": self.requests},
        }

    def rebuild_document(self, load: str) -> dict[str, Any]:
        """The windows of a rebuild under the load, or with the array idle."""
        workload = self.workload() if load == REBUILD else dict(rebuild.IDLE)
        return {"workload": workload, "run": rebuild.run_document()}

    def overrides(self, load: str) -> list[Override]:
        """What was typed of a load, once more under the name of its option: what is wrong with it is said of that."""
        if load not in {LOAD, REBUILD, *RANDOM}:
            return []
        found = []
        if load != REBUILD:
            found += [
                Override("run.ios", str(self.requests), "--number-ios"),
                Override("run.warmup", self.warm_up, "--ramp-time"),
            ]
        if load in RANDOM:
            return [
                *found,
                Override("workload.bs", self.bs, "--bs"),
                Override("workload.iodepth", str(list(self.depths)), "--iodepth"),
            ]
        workload = self.workload()
        options = {
            "bs": "--bs", "iodepth": "--iodepth", "rate_iops": "--rate-iops", "pattern": "--pattern",
        }  # fmt: skip
        return found + [
            Override(f"workload.{key}", str(workload[key]), option)
            for key, option in options.items()
            if key in workload
        ]


def load_figures(points: Sequence[Point]) -> dict[str, Any] | None:
    """What the load came to."""
    return {key: value for key, value in random_figures(points)[0].items() if key != "iodepth"}


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
