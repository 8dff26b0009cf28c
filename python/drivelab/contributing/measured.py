"""What was measured of a drive, from the records of a bundle: its sweep, chain and surface, and what it said it is.

Only records that `measure` has written count. What cannot be used says why, in one sentence for each record.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.contributing.bundle import Bundle
from drivelab.report import toml_text

DEPTHS_LEAST = 3
"""A sweep has at least so many depths, the first of them 1: with fewer nothing shows what the queue gains."""
_MS = 1e6
_SECTOR = 512


@dataclass(frozen=True)
class Depth:
    """A depth of the sweep."""

    depth: int
    iops: float
    p99_ms: float | None
    requests: int
    """The requests that count."""


@dataclass
class Measurement:
    """The measurements of one drive."""

    models: set[str] = field(default_factory=set)
    """What the drive has called itself, in each record."""
    sizes: set[int] = field(default_factory=set)
    """Its capacity in bytes, in each record."""
    is_rotational: set[bool] = field(default_factory=set)
    sweep: list[Depth] = field(default_factory=list)
    bs: str = ""
    """The size of a request of the sweep."""
    chain: list[tuple[int, int, str, float]] = field(default_factory=list)
    """Byte offset, bytes, r or w, milliseconds."""
    surface: list[tuple[float, float]] = field(default_factory=list)
    """Share of the addresses, bytes per second."""
    unused: list[str] = field(default_factory=list)
    """Why records were not used."""


def measurement(bundle: Bundle) -> Measurement:
    """The measurements of a bundle. Raises InputError where the export is not sound."""
    found = Measurement()
    for place, (entry, text) in enumerate(bundle.export()):
        name = f"records[{place}]"
        try:
            _take(found, name, json.loads(text))
        except (KeyError, TypeError, ValueError, AttributeError, tomllib.TOMLDecodeError):
            found.unused.append(
                f"{name}: {entry.kind or 'a record'} that is not in the form in which measure writes it"
            )
    return found


def _take(found: Measurement, name: str, objects: Sequence[Mapping[str, Any]]) -> None:
    record = objects[0]
    if len(objects) != 1 or record.get("kind") != "measured":
        found.unused.append(f"{name}: {record.get('kind', 'simulated')!r:.20}, not 'measured'")
        return
    device = record["environment"]["device"] or {}
    workload = toml_text.loads(record["scenario"])["workload"]
    points = [point for point in record["points"] if point["ended"] != "interrupted"]
    if any(point["errors"] for point in points):
        found.unused.append(f"{name}: requests have failed in it")
        return
    if not _is_used(found, name, workload, points):
        return
    found.models.add(str(device.get("model") or ""))
    found.sizes.add(int(record["environment"]["target"]["size_bytes"]))
    if isinstance(device.get("rotational"), bool):
        found.is_rotational.add(device["rotational"])


def _is_used(
    found: Measurement, name: str, workload: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> bool:
    """Take what a record has of a sweep, a chain or a surface; False, with the reason, if it has none of them."""
    offsets, depths = workload.get("offset"), workload.get("iodepth")
    if workload["rw"] == "read" and isinstance(offsets, list):
        found.surface = list(_surface(points))
    elif workload["rw"] == "randread" and offsets is None and "size" not in workload:
        if isinstance(depths, list):
            found.sweep = sorted(_sweep(points), key=lambda one: one.depth)
            found.bs = str(workload["bs"])
        elif points and points[0].get("commands") and depths == 1:
            found.chain = list(_chain(points[0]["commands"]))
        else:
            found.unused.append(f"{name}: neither a sweep over depths nor a chain with its log of commands")
            return False
    else:
        found.unused.append(f"{name}: no random reads of the whole drive, and no surface")
        return False
    return True


def _sweep(points: Sequence[Mapping[str, Any]]) -> Iterator[Depth]:
    for point in points:
        latency = point["latency_ns"]
        p99 = None if latency["p99"] is None else latency["p99"] / _MS
        yield Depth(int(point["depth"]["asked"]), float(point["iops"]), p99, int(latency["n"]))


def _chain(commands: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, str, float]]:
    for one in commands:
        took = (one["completed_ns"] - one["intended_ns"]) / _MS
        yield one["first_sector"] * _SECTOR, one["sectors"] * _SECTOR, one["access"][0], took


def _surface(points: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, float]]:
    for point in points:
        yield float(point["axes"]["workload.offset"].removesuffix("%")) / 100, float(point["bytes_per_s"])
