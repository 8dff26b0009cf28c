"""What a load came to, from its points, as JSON has it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from drivelab.arrays.simulation.loads import LATENCIES, SHARES
from drivelab.runs.hdr import latency_interval
from drivelab.runs.result import Point
from drivelab.scanning.surface import rate_of


def load_figures(points: Sequence[Point]) -> dict[str, Any] | None:
    """What the load came to."""
    found = {key: value for key, value in random_figures(points)[0].items() if key != "iodepth"}
    intervals = {
        name: latency_interval(points[0], share)
        for name, share in SHARES.items()
        if found["latency_ns"][name]
    }
    return {**found, "latency_interval_ns": {name: ends and list(ends) for name, ends in intervals.items()}}


def random_figures(points: Sequence[Point]) -> list[dict[str, Any]]:
    """A load's points as JSON has them, one for each depth."""
    return [
        {
            "iodepth": point["depth"]["asked"],
            "iops": point["iops"],
            "iops_relative_error": point["iops_relative_error"],
            **{key: point[key] for key in ("iops_low", "iops_high") if key in point},
            "bytes_per_s": point["bytes_per_s"],
            "latency_ns": {name: dict(point["latency_ns"])[name] for name in LATENCIES},
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
