"""A measurement for people: the parts of the response time, failures, and reasons for doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.measuring.run import MeasuredResult
from drivelab.measuring.silence import never_answered, unanswered
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text
from drivelab.report.table import Cell, Table

# Maximum number of failed places, and of errors, that are named.
PLACES_NAMED_MAX = 4
_CACHE = {"True": "write cache on", "False": "write cache off"}
_ENDED = {
    "interrupted": "interrupted; the figures are those until then",
    "error": "ended at the first command that failed; --on-error continue goes on",
    "device-gone": "ended because the device does not answer any more",
    "disk-full": "ended because the file system is full",
}


def costs_table(points: Sequence[Mapping[str, Any]]) -> Table:
    """The parts of the mean response time, and the processor time per command."""
    axes = list(points[0]["axes"]) if points else []
    repeated = any("repeats" in point for point in points)
    columns = [
        *(key.rpartition(".")[2] for key in axes),
        "submission us",
        "device us",
        "CPU us per I/O",
        "CPU",
        *(["runs", "IOPS mean", "95 % interval"] if repeated else []),
    ]
    return Table(
        columns,
        [[Cell(text) for text in _costs(point, axes, repeated=repeated)] for point in points],
        left=frozenset(range(len(axes))),
    )


def _costs(point: Mapping[str, Any], axes: Sequence[str], *, repeated: bool) -> Iterator[str]:
    measured = point["measured"]
    yield from (axis_text(point["axes"][key]) for key in axes)
    for key in ("submission_ns", "device_ns"):
        yield _us(measured[key]["mean"])
    yield _us(measured["cpu_ns_per_io"])
    share = measured["cpu_share"]
    yield "-" if share is None else f"{100 * share:.0f} %"
    if repeated:
        iops = point["repeats"]["iops"]
        yield str(point["repeats"]["count"])
        yield f"{iops['mean']:,.4g}" if iops["mean"] < 10_000 else f"{iops['mean']:,.0f}"
        yield "-" if iops["low"] is None else f"+-{100 * (iops['high'] / iops['mean'] - 1):.1f} %"


def _us(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / 1e3:,.2f}"


def notes(result: MeasuredResult) -> Iterator[str]:
    """Errors, followed by reasons to doubt the figures."""
    for point in result.records:
        where = ", ".join(
            f"{key.rpartition('.')[2]} {axis_text(value)}" for key, value in point["axes"].items()
        )
        at = f"{where}: " if where else ""
        if (why := _ENDED.get(point["ended"])) is not None:
            lost = point["measured"].get("lost")
            yield f"note: {at}{why}{f': {lost}' if lost else ''}"
        failures = point["measured"]["failures"]
        if failures["count"]:
            yield f"error: {at}{_failed(failures)}"
        if never_answered(point):
            yield f"error: {at}{unanswered(point)}"
        steady = point["measured"]["steady"]
        if steady is not None and not steady["reached"]:
            yield f"warning: {at}not steady after {counted(len(steady['rounds_iops']), 'round')}: {steady['criterion']}"
    if result.interrupted and all(point["ended"] != "interrupted" for point in result.records):
        yield "note: interrupted; the figures are those of what had finished"
    for failure in result.failures:
        yield f"error: {failure.why}"
    is_reported = any(map(never_answered, result.records))
    for warning in result.warnings:
        if is_reported and warning["code"] == "unanswered":
            continue
        yield f"warning: {warning['text']}"


def _failed(failures: Mapping[str, Any]) -> str:
    errors = ", ".join(f"{count} x {name}" for name, count in failures["by_error"].items())
    places = [f"{place['access']} at byte {place['offset_bytes']}" for place in failures["places"]]
    more = " and others" if len(places) > PLACES_NAMED_MAX else ""
    return f"{counted(failures['count'], 'command')} failed ({errors}): {', '.join(places[:PLACES_NAMED_MAX])}{more}"


def condition(result: MeasuredResult) -> str:
    """One line: what was measured, and how."""
    environment = result.environment
    device = environment["device"] or {}
    facts = [
        environment["kernel"],
        device.get("model") or device.get("name"),
        f"scheduler {device['scheduler']}" if device.get("scheduler") else None,
        _CACHE.get(str(device.get("write_cache"))),
        device.get("link"),
    ]
    engines = sorted({point["measured"]["engine"] for point in result.records})
    return ", ".join(str(fact) for fact in [*engines, *facts] if fact)
