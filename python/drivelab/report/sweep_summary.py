"""The points of a sweep in a sentence: the most IOPS and the least latency, and where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text, rate_text


def sentence(points: Sequence[Mapping[str, Any]]) -> str:
    """The sentence; empty where no I/O finished."""
    timed = [point for point in points if point["latency_ns"]["n"] and point["iops"]]
    if not timed:
        return ""
    fastest = max(timed, key=lambda point: point["iops"])
    soonest = min(timed, key=lambda point: point["latency_ns"]["mean"])
    if len(points) == 1:
        return f"{_rate(fastest)}, {_latency(fastest)}."
    if fastest is soonest:
        return (
            f"Of {counted(len(points), 'point')}, {_at(fastest)} has the most IOPS and the lowest mean latency: "
            + (f"{_rate(fastest)}, {_latency(fastest)}.")
        )
    return (
        f"Of {counted(len(points), 'point')}, the most IOPS are at {_at(fastest)}: {_rate(fastest)}, "
        f"{_latency(fastest)}. The lowest mean latency is at {_at(soonest)}: {_rate(soonest)}, {_latency(soonest)}."
    )


def _rate(point: Mapping[str, Any]) -> str:
    return f"{rate_text(point['iops'])} IOPS"


def _latency(point: Mapping[str, Any]) -> str:
    found = point["latency_ns"]
    p99 = f", p99 {_time(found['p99'])}" if found.get("p99") is not None else ""
    return f"mean latency {_time(found['mean'])}{p99}"


def _time(ns: float) -> str:
    return f"{ns / 1e6:.4g} ms" if ns >= 1e6 else f"{ns / 1e3:.4g} us"


def _at(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{key.rpartition('.')[2]} {axis_text(value)}" for key, value in point["axes"].items())
