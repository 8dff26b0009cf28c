"""What was measured of a drive, from the records of a bundle: its sweep, chain and surface, and what it said it is.

Only records that `measure` has written count. What cannot be used says why, in one sentence for each record.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.contributing.bundle import Bundle
from drivelab.report import toml_text

DEPTHS_LEAST = 3
"""A sweep has at least so many depths, the first of them 1: with fewer nothing shows what the queue gains."""
_MS = 1e6
_SECTOR = 512
_WHOLE_MOST = 2**63
_KINDS = {"read": "r", "write": "w"}


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
    taken: dict[str, str] = field(default_factory=dict)
    """The record of each of sweep, chain and surface."""
    repeated: list[str] = field(default_factory=list)
    """What is there twice, with both records."""


class _UnusedError(Exception):
    """Why a record is not used."""


def measurement(bundle: Bundle) -> Measurement:
    """The measurements of a bundle. Raises InputError where the export is not sound."""
    found = Measurement()
    for place, (entry, text) in enumerate(bundle.export()):
        name = f"records[{place}]"
        try:
            _take(found, name, json.loads(text))
        except _UnusedError as error:
            found.unused.append(f"{name}: {error}")
        except (LookupError, ArithmeticError, TypeError, ValueError, AttributeError):
            found.unused.append(
                f"{name}: {entry.kind or 'a record'} that is not in the form in which measure writes it"
            )
    return found


def _take(found: Measurement, name: str, objects: Sequence[Mapping[str, Any]]) -> None:
    """Take all of a record or nothing."""
    record = objects[0]
    if len(objects) != 1 or record.get("kind") != "measured":
        raise _UnusedError(f"{record.get('kind', 'simulated')!r:.20}, not 'measured'")
    device = record["environment"]["device"] or {}
    workload = toml_text.loads(record["scenario"])["workload"]
    points = [point for point in record["points"] if point["ended"] != "interrupted"]
    if any(point["errors"] for point in points):
        raise _UnusedError("requests have failed in it")
    what = _what(workload, points)
    parts: dict[str, Any] = {}
    if what == "surface":
        parts["surface"] = list(_surface(points))
    elif what == "sweep":
        parts["sweep"] = sorted(_sweep(points), key=lambda one: one.depth)
        parts["bs"] = _text(workload["bs"])
    else:
        parts["chain"] = list(_chain(points[0]["commands"]))
    size = _whole(record["environment"]["target"]["size_bytes"], 1)
    model, is_rotational = str(device.get("model") or ""), device.get("rotational")
    if what in found.taken:
        found.repeated.append(f"{found.taken[what]} and {name} both have a {what}: give one of them")
        return
    found.taken[what] = name
    for part, value in parts.items():
        setattr(found, part, value)
    found.models.add(model)
    found.sizes.add(size)
    if isinstance(is_rotational, bool):
        found.is_rotational.add(is_rotational)


def _what(workload: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> str:
    """What a record has: sweep, chain or surface. Raises _UnusedError if it has none of them."""
    offsets, depths = workload.get("offset"), workload.get("iodepth")
    if workload["rw"] == "read" and isinstance(offsets, list):
        return "surface"
    if workload["rw"] != "randread" or offsets is not None or "size" in workload:
        raise _UnusedError("no random reads of the whole drive, and no surface")
    if isinstance(depths, list):
        return "sweep"
    if points and points[0].get("commands") and depths == 1:
        return "chain"
    raise _UnusedError("neither a sweep over depths nor a chain with its log of commands")


def _sweep(points: Sequence[Mapping[str, Any]]) -> Iterator[Depth]:
    for point in points:
        latency = point["latency_ns"]
        p99 = None if latency["p99"] is None else latency["p99"] / _MS
        yield Depth(_whole(point["depth"]["asked"], 1), float(point["iops"]), p99, int(latency["n"]))


def _chain(commands: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, str, float]]:
    for one in commands:
        took = (one["completed_ns"] - one["intended_ns"]) / _MS
        first, count = _whole(one["first_sector"], 0), _whole(one["sectors"], 1)
        yield first * _SECTOR, count * _SECTOR, _KINDS[one["access"]], took


def _surface(points: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, float]]:
    for point in points:
        share = float(point["axes"]["workload.offset"].removesuffix("%")) / 100
        rate = float(point["bytes_per_s"])
        if not (0 <= share <= 1 and 0 <= rate < math.inf):
            raise ValueError
        yield share, rate


def _whole(value: object, least: int) -> int:
    """A whole number. Raises TypeError, ValueError."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    if not least <= value < _WHOLE_MOST:
        raise ValueError
    return value


def _text(value: object) -> str:
    """A text, or the number that stands for it. Raises TypeError."""
    if not isinstance(value, str | int):
        raise TypeError
    return str(value)
