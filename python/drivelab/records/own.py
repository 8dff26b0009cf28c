"""Records that drivelab writes: of runs (simulated or measured), and of sessions of an emulated device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from drivelab import _core
from drivelab.errors import InputError
from drivelab.records import precision
from drivelab.records.model import PERCENTILES, Figure, Record, RecordPoint, scalars
from drivelab.records.places import axes_of_jobs, axes_of_record
from drivelab.records.settings import settings_of
from drivelab.report.plural import counted
from drivelab.runs import hdr

_DIRECTIONS = ("read", "write")
_FACTS = ("version", "model_version", "seed", "scenario_hash")
_ENVIRONMENT_MAX = 12


def of_runs(document: Mapping[str, Any], origin: str) -> Record:
    """A record of runs, as `drivelab simulate --json` prints it. Raises InputError."""
    check_version(document, origin)
    points = document.get("points")
    if not isinstance(points, list):
        raise InputError(
            f"{origin}: points is missing: a record has a list of them, as `simulate --json` prints"
        )
    kind = document.get("kind")
    notes = []
    if document.get("interrupted"):
        notes.append("the run was interrupted: points are missing")
    for name, word in (("failures", "without a result"), ("skipped", "skipped")):
        if count := len(document.get(name) or ()):
            notes.append(f"{counted(count, 'point')} {word}")
    if any(isinstance(p, Mapping) and isinstance(p.get("repeats"), Mapping) for p in points):
        notes.append(
            "IOPS and mean latency are the means of repeated runs; all else is of the run with the median rate, and "
            "its intervals tell of that run alone"
        )
    notes += [
        f"warning of the measurement: {one['text']}"
        for one in document.get("warnings") or ()
        if isinstance(one, Mapping) and isinstance(one.get("text"), str)
    ]
    ranged = [p for p in points if isinstance(p, Mapping) and p.get("iops_low") is not None]
    if ranged:
        notes.append(
            "seeks, what its queue gains, or how many writes its cache holds were not measured on this drive: the "
            "intervals tell of chance alone, and IOPS may lie anywhere in the range of the record (iops_low to "
            f"iops_high, {_ranges(ranged)})"
        )
    found = [_point(point, f"{origin}: points[{at}]") for at, point in enumerate(points)]
    if isinstance(target := document.get("target"), str) and "," not in target:
        found = [replace(point, axes={"drive": target, **point.axes}) for point in found]
    return Record(
        origin=origin,
        kind={"measure": "measured", None: "simulated"}.get(kind, str(kind)),
        points=found,
        name=str(document.get("name", "")),
        target=_target(document, points),
        facts=scalars(document, _FACTS) | _environment(document),
        notes=notes,
        settings=settings_of(document),
    )


def _ranges(points: Sequence[Mapping[str, Any]]) -> str:
    """The ranges of drives with the firmware of their class, as shares of their IOPS."""
    shares = [
        point[key] / point["iops"] - 1
        for point in points
        for key in ("iops_low", "iops_high")
        if point.get("iops") and isinstance(point.get(key), int | float)
    ]
    return f"{100 * min(shares, default=0):+.0f} % to {100 * max(shares, default=0):+.0f} %"


def check_version(document: Mapping[str, Any], origin: str) -> None:
    """Refuse a record of an unknown version. Raises InputError."""
    version = document.get("record_version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(f"{origin}: record_version is {version!r:.40}; it is a whole number from 1 on")
    if version > _core.RECORD_VERSION:
        raise InputError(
            f"{origin}: record_version is {version}, and this drivelab knows {_core.RECORD_VERSION}: "
            "take the drivelab that wrote it, or a newer one"
        )


def of_session(document: Mapping[str, Any], origin: str) -> Record:
    """The record of `drivelab emulate`: what was served over the whole session. Raises InputError."""
    total: dict[str, float] = {}
    span_s = _required(document, "model_ns", origin) / 1e9
    for kind in ("reads", "writes"):
        part = document.get(kind)
        if not isinstance(part, Mapping):
            raise InputError(f"{origin}: {kind} is missing: this is no record of `emulate --json`")
        for key in ("commands", "bytes"):
            total[f"{kind}.{key}"] = _required(part, key, f"{origin}: {kind}")
    figures = {}
    if span_s > 0:
        for kind, name in (("reads", "read."), ("writes", "write.")):
            figures[f"{name}iops"] = Figure(total[f"{kind}.commands"] / span_s)
            figures[f"{name}bytes_per_s"] = Figure(total[f"{kind}.bytes"] / span_s)
        for name in ("iops", "bytes_per_s"):
            figures[name] = Figure(figures[f"read.{name}"].value + figures[f"write.{name}"].value)
    return Record(
        origin=origin,
        kind="emulated",
        points=[RecordPoint({}, figures, document.get("digest"))],
        name=str(document.get("name", "")),
        facts=scalars(document, (*_FACTS, "clock")),
        notes=[
            "a session counts what it served from its begin to its end, idle time included, and tells no response "
            "times: compare what the client measured, such as fio's JSON"
        ],
        settings=settings_of(document),
    )


def _point(point: object, place: str) -> RecordPoint:
    if not isinstance(point, Mapping):
        raise InputError(f"{place} is no object")
    axes = point.get("axes", {})
    if not isinstance(axes, Mapping):
        raise InputError(f"{place}.axes is no object")
    depth = _table(point, "depth", place)
    found = axes_of_record(axes)
    jobs = point.get("workload")
    if isinstance(jobs, Mapping) and jobs and all(isinstance(job, Mapping) for job in jobs.values()):
        found = {**axes_of_jobs(jobs), **found}
    if _number(depth, "asked", place) is not None:
        found["depth"] = depth["asked"]
    there = [name for name in _DIRECTIONS if _table(point, name, place).get("ios")]
    direction = there[0] if len(there) == 1 else ""
    return RecordPoint(found, _figures(point, place), _text(point.get("digest")), direction)


def _figures(point: Mapping[str, Any], place: str) -> dict[str, Figure]:
    iops = _required(point, "iops", place)
    series = _series(point, place)
    window_ns = _number(point, "window_ns", place)
    rate = precision.of_batches(iops, _number(point, "iops_relative_error", place), series, window_ns)
    figures = {"iops": rate}
    bytes_per_s = _number(point, "bytes_per_s", place)
    if bytes_per_s is not None:
        # For I/Os of one size; with several sizes the byte rate does not vary as the counts do.
        same = _one_size(point)
        figures["bytes_per_s"] = (
            Figure(bytes_per_s, rate.error, rate.freedom, basis=rate.basis) if same else Figure(bytes_per_s)
        )
    counts: dict[str, list[tuple[int, int]]] = {}
    for name in _DIRECTIONS:
        part = _table(point, name, place)
        try:
            counts[name] = hdr.decode(part.get("histogram") or "")
        except (ValueError, TypeError) as error:
            raise InputError(f"{place}.{name}: {error}") from error
    both = [_table(point, name, place) for name in _DIRECTIONS]
    merged = [pair for name in _DIRECTIONS for pair in counts[name]]
    is_mixed = all(part.get("ios") for part in both)
    crowd = (_depth(point, place), is_mixed or not _one_size(point))
    _latencies(figures, "", point, merged, place, crowd, series)
    if is_mixed:
        for name, part in zip(_DIRECTIONS, both, strict=True):
            figures[f"{name}.iops"] = Figure(_required(part, "iops", f"{place}.{name}"))
            figures[f"{name}.bytes_per_s"] = Figure(_required(part, "bytes_per_s", f"{place}.{name}"))
            _latencies(figures, f"{name}.", part, counts[name], f"{place}.{name}", crowd, None)
    return _with_repeats(figures, point, place)


def _latencies(
    figures: dict[str, Figure],
    before: str,
    part: Mapping[str, Any],
    counts: Sequence[tuple[float, float]],
    place: str,
    crowd: tuple[float | None, bool],
    series: Sequence[Mapping[str, Any]] | None,
) -> None:
    """Mean and percentiles. Only all I/Os together have a series: without one the figures have no intervals."""
    latency = _table(part, "latency_ns", place)
    mean = _number(latency, "mean", f"{place}.latency_ns")
    if mean is None:
        return
    figure = precision.of_series(mean, series or ())
    figures[f"{before}mean"] = figure
    deviation = None if series is None else precision.deviation_share(counts)
    n = math.fsum(count for _, count in counts)
    depth, is_mixed = crowd
    effective = (
        None
        if deviation is None
        else precision.independent(n, deviation, figure.error, depth, is_mixed=is_mixed)
    )
    quantile = precision.quantile_of_counts(counts)
    for name in PERCENTILES:
        value = _number(latency, name, f"{place}.latency_ns")
        if value is not None:
            figures[before + name] = precision.of_percentile(
                value, name, quantile, effective, figure.freedom, "histogram"
            )
    most = _number(latency, "max", f"{place}.latency_ns")
    if most is not None:
        figures[f"{before}max"] = Figure(most)


def _with_repeats(figures: dict[str, Figure], point: Mapping[str, Any], place: str) -> dict[str, Figure]:
    """Figures with the means of repeated runs, if the point has them: all others are of one of the runs."""
    repeats = _table(point, "repeats", place)
    for key, name in (("iops", "iops"), ("mean_latency_ns", "mean")):
        values = _table(repeats, key, f"{place}.repeats").get("values")
        if not isinstance(values, list) or len(values) < 2:
            continue
        numbers = [_required({"value": value}, "value", f"{place}.repeats.{key}.values") for value in values]
        if name == "iops" and (rate := figures.get("bytes_per_s")) is not None and figures["iops"].value:
            share = rate.value / figures["iops"].value
            figures["bytes_per_s"] = precision.of_repeats([value * share for value in numbers])
        figures[name] = precision.of_repeats(numbers)
    return figures


def _series(point: Mapping[str, Any], place: str) -> Sequence[Mapping[str, Any]]:
    """The intervals of the run, checked. Raises InputError."""
    found = point.get("series") or ()
    if not isinstance(found, list | tuple):
        raise InputError(f"{place}.series is no list")
    for at, piece in enumerate(found):
        if not isinstance(piece, Mapping):
            raise InputError(f"{place}.series[{at}] is no object")
        for key in ("start_ns", "ios", "mean_latency_ns"):
            _number(piece, key, f"{place}.series[{at}]")
    return found


def _depth(point: Mapping[str, Any], place: str) -> float | None:
    """How many I/Os were outstanding on average."""
    return _number(_table(point, "depth", place), "achieved", f"{place}.depth")


def _one_size(point: Mapping[str, Any]) -> bool:
    """Whether all I/Os seem to have the same size: their mean size is a whole number of sectors."""
    sizes = set()
    for name in _DIRECTIONS:
        part = point.get(name) or {}
        if part.get("ios"):
            sizes.add((part.get("bytes") or 0) / part["ios"])
    return len(sizes) == 1 and sizes.pop() % 512 == 0


def _target(document: Mapping[str, Any], points: Sequence[Any]) -> str:
    """The subject of the record; for a sweep over several drives, all of them."""
    if isinstance(document.get("target"), str):
        return str(document["target"])
    drives = [
        axes_of_record(point.get("axes") or {}).get("drive") for point in points if isinstance(point, Mapping)
    ]
    return ", ".join(dict.fromkeys(str(drive) for drive in drives if drive is not None))


def _environment(document: Mapping[str, Any]) -> dict[str, str]:
    """The short facts of a measured record about the machine."""
    found: dict[str, str] = {}

    def walk(table: Mapping[str, Any], before: str) -> None:
        for key, value in table.items():
            if isinstance(value, Mapping):
                walk(value, f"{before}{key}.")
            elif isinstance(value, str | int | float) and len(found) < _ENVIRONMENT_MAX:
                found[before + key] = str(value)

    environment = document.get("environment")
    if isinstance(environment, Mapping):
        walk(environment, "")
    return found


def _table(table: Mapping[str, Any], key: str, place: str) -> Mapping[str, Any]:
    found = table.get(key)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise InputError(f"{place}.{key} is no object")
    return found


def _number(table: Mapping[str, Any], key: str, place: str) -> float | None:
    found = table.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found) or found < 0:
        raise InputError(f"{place}.{key} is {found!r:.40}; it is a number from 0 on, or null")
    return found


def _required(table: Mapping[str, Any], key: str, place: str) -> float:
    found = _number(table, key, place)
    if found is None:
        raise InputError(f"{place}.{key} is missing")
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
