"""The transfer rate over the surface, as HD Tach and HD Tune draw it.

The addresses are divided into N equal shares. At the middle of each the drive reads (or writes) sequentially, one
request outstanding. The start, with the seek to the place and the filling of the buffers, does not count; for the
requests that follow, the rate is their bytes over the sum of their response times. The mean over the places is that
of the tools: of rates, not of times.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.errors import InputError
from drivelab.report.plural import counted
from drivelab.runs.result import Point
from drivelab.scanning import at_once
from drivelab.scanning.fits import Line

PLACES, PLACES_MAX = 100, 1_000
BLOCK = "64KiB"
REQUESTS = {"read": 512, "write": 1024}
"""Requests that count at each place; writes have more, so that no cache can hold them."""
WARM_UP = {"read": "200ms", "write": "2s"}
LOGGED = 1
"""Commands to log at each place: one gives the cylinder."""
LINK_BOUND = 0.9
"""If the link takes this share of the response time everywhere, the rates are the link's, not the platter's."""


def document(
    rw: str = "read", places: int = PLACES, block: str = BLOCK, requests: int | None = None
) -> dict[str, Any]:
    """The workload: a sweep over places. Raises InputError."""
    if not 2 <= places <= PLACES_MAX:
        raise InputError(
            f"{counted(places, 'place', form='d')}: at least 2 and at most {PLACES_MAX:,} make a scan"
        )
    if rw not in REQUESTS:
        raise InputError(f"a surface is scanned by read or write, not by {rw}")
    offsets = [f"{100 * (place + 0.5) / places:.9g}%" for place in range(places)]
    return {
        "workload": {"rw": rw, "bs": block, "iodepth": 1, "offset": offsets},
        "run": {"warmup": WARM_UP[rw], "ios": REQUESTS[rw] if requests is None else requests},
    }


@dataclass(frozen=True)
class Place:
    """The result at one place of the surface."""

    share: float
    """The share of the addresses before it."""
    bytes_per_s: float
    cylinder: int | None


@dataclass(frozen=True)
class Surface:
    """The places from the first address to the last."""

    places: list[Place]

    @classmethod
    def of(cls, points: Sequence[Point]) -> Surface:
        """The surface from the points of its sweep. Raises InputError if nothing was transferred."""
        found = [
            Place(_share(point["axes"]["workload.offset"]), rate_of(point), _cylinder(point))
            for point in points
        ]
        return cls(sorted(found, key=lambda place: place.share))

    @property
    def rates(self) -> list[float]:
        """The rate at each place."""
        return [place.bytes_per_s for place in self.places]

    def seconds_for(self, capacity_bytes: int) -> float:
        """How long the whole surface takes: each place stands for its share of the addresses."""
        return statistics.fmean(1 / rate for rate in self.rates) * capacity_bytes

    def square_over_share(self) -> Line | None:
        """The rate squared over the share of the data.

        At a constant linear and track density the rate is proportional to the radius, and the data outside a radius
        to the difference of squares: so this is a straight line.
        """
        return Line.of([place.share for place in self.places], [rate**2 for rate in self.rates])

    def over_cylinder(self) -> Line | None:
        """The rate over the cylinder, which stands for the radius; None if the target has no cylinders."""
        cylinders = [place.cylinder for place in self.places if place.cylinder is not None]
        if len(cylinders) < len(self.places):
            return None
        return Line.of(cylinders, self.rates)

    def figures(self) -> Mapping[str, float]:
        """The figures for experiments."""
        square, radius = self.square_over_share(), self.over_cylinder()
        return {
            "min_bytes_per_s": min(self.rates),
            "mean_bytes_per_s": statistics.fmean(self.rates),
            "max_bytes_per_s": max(self.rates),
            **({"r2_square_over_share": square.r2} if square and square.r2 is not None else {}),
            **({"r2_over_cylinder": radius.r2} if radius and radius.r2 is not None else {}),
        }

    def to_dict(self) -> dict[str, Any]:
        """The surface as `scan --json` prints it."""
        square, radius = self.square_over_share(), self.over_cylinder()
        return {
            "min_bytes_per_s": min(self.rates, default=None),
            "mean_bytes_per_s": statistics.fmean(self.rates) if self.rates else None,
            "max_bytes_per_s": max(self.rates, default=None),
            "square_over_share": square and vars(square),
            "over_cylinder": radius and vars(radius),
            "places": [
                {"share": place.share, "bytes_per_s": place.bytes_per_s, "cylinder": place.cylinder}
                for place in self.places
            ],
        }


def rate_of(point: Point) -> float:
    """The rate of a point. Raises InputError if nothing finished, or everything took no time.

    With one outstanding, the I/Os took the sum of their response times, and no part of a request is lost at the
    window's edges. With several outstanding the window itself is used.
    """
    latency = point["latency_ns"]
    if not latency["n"]:
        raise InputError(
            "no request finished: the target fails, or takes longer than the scan lasts; see target.faults"
        )
    if point["depth"]["asked"] != 1:
        return float(point["bytes_per_s"])
    if not latency["mean"]:
        raise InputError(f"no request took any time, so there is no rate: {at_once.REMEDY}")
    data = point["read"]["bytes"] + point["write"]["bytes"]
    return float(data / (latency["n"] * latency["mean"]) * 1e9)


def link_share(points: Sequence[Point]) -> float | None:
    """The minimum over all places of the link's share of the response time; None if none is known."""
    splits = [(point["breakdown_ns"], point["latency_ns"]["mean"]) for point in points]
    shares = [split["link"] / mean for split, mean in splits if split and mean]
    return min(shares) if len(shares) == len(points) else None


def _share(offset: object) -> float:
    """`"12.5%"` as a share."""
    return float(str(offset).removesuffix("%")) / 100


def _cylinder(point: Point) -> int | None:
    """The cylinder of the arm."""
    for command in point.get("commands", ()):
        for key in ("first_cylinder", "to_cylinder", "from_cylinder"):
            if command[key] is not None:
                return int(command[key])
    return None
