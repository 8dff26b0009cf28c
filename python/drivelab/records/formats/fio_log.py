"""fio's logs (`write_bw_log`, `write_iops_log`, `write_lat_log`): a line for each I/O, or each `log_avg_msec`.

A line is `ms, value, direction, bytes`, with more fields in later versions. The value is KiB/s in a log of the
bandwidth, I/Os per second in one of IOPS, a time in one of latencies: us before fio 3.0, ns since. Nothing in a log
says which it is: fio's own file names do (`NAME_bw.1.log`), and a fifth field of priority that only ns have; else a
name before the path is needed.

A log of single I/Os has the rate and the response times; a log of means over time has the rate of a bandwidth or IOPS
log. The mean of the means of latencies over time is no mean of I/Os, so such a log is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from statistics import median

from drivelab.records.formats.shape import (
    KIB,
    NS_PER,
    Format,
    Found,
    Point,
    Results,
    Text,
    Value,
    percentiles,
    sums,
)
from drivelab.records.model import DIRECTIONS, PERCENTILES
from drivelab.records.precision import quantile_of_counts

_LINE = re.compile(r"\d+, ?\d+, ?[0-2](?:, ?(?:\d+|0x[0-9a-fA-F]+)){1,4}")
_NAMED = re.compile(r".*_(?P<kind>bw|iops|lat|clat|slat)\.\d+\.log")
_LOOKED_AT = 50
_MS_PER_S = 1e3
# Means over time are this regular, and this far apart in ms at least.
_REGULAR, _GAP_MIN_MS = 0.2, 20.0
_FIELDS_MIN, _FIELDS_OF_NS = 4, 6


@dataclass(frozen=True)
class _Sample:
    ms: float
    value: float
    kind: str
    size: int


def _samples(text: Text) -> list[_Sample]:
    found = []
    for number, line in text.numbered():
        if not line.strip():
            continue
        if not _LINE.fullmatch(line.strip()):
            raise text.fault(
                number, f"`{line.strip()[:40]}` is no line of a log such as `1000, 512, 0, 4096`; is it cut?"
            )
        ms, value, kind, size, *_ = [one.strip() for one in line.split(",")]
        at, read = text.number(ms, number, "ms"), text.number(value, number, "value")
        found.append(_Sample(at, read, DIRECTIONS[int(kind)], int(text.number(size, number, "size"))))
    return found


def _is_log(text: Text) -> bool:
    lines = [line.strip() for line in text.lines[:_LOOKED_AT] if line.strip()]
    return bool(lines) and all(map(_LINE.fullmatch, lines))


def _unit(text: Text) -> str:
    """`ns` if the lines have a field that versions with us do not print; else empty."""
    first = next((line for line in text.lines if line.strip()), "")
    fields = [one.strip() for one in first.split(",")]
    is_new = len(fields) >= _FIELDS_OF_NS or (len(fields) > _FIELDS_MIN and fields[-1].startswith("0x"))
    return "ns" if is_new else ""


def _fits(kind: str, unit: str = "") -> Callable[[Text], bool]:
    def fits(text: Text) -> bool:
        if not _is_log(text):
            return False
        named = _NAMED.fullmatch(PurePath(text.origin).name)
        if named is not None and named["kind"].removeprefix("c") != kind and named["kind"] != kind:
            return False
        return not unit or _unit(text) in {"", unit}

    return fits


def _of_rates(name: str, factor: float, what: str) -> Callable[[Text], Found]:
    def read(text: Text) -> Found:
        samples = _samples(text)
        if what == "iops" and all(one.value == 1 for one in samples):
            return _single(text, name, samples, None)
        gaps = _gaps(samples)
        if not gaps:
            raise text.fault(
                None, "two samples of one kind at least are needed: the text is cut, or the run too short"
            )
        middle = median(gaps)
        if middle < _GAP_MIN_MS or any(abs(gap / middle - 1) > _REGULAR for gap in gaps):
            if what == "bytes_per_s" and all(one.size for one in samples):
                return _single(text, name, samples, None)
            raise text.fault(
                None,
                "the samples are neither of single I/Os nor regular in time: their mean is no mean over the run; log "
                f"with log_avg_msec=1000, or take fio's JSON (the gaps are {min(gaps):g} to {max(gaps):g} ms)",
            )
        figures = {}
        for kind in _kinds(samples):
            own = [one.value for one in samples if one.kind == kind]
            figures[f"{kind}.{what}"] = Value(factor * math.fsum(own) / len(own), factor / 2)
        notes = [f"means over {middle:g} ms each; response times are not in such a log"]
        return _point(name, samples, figures, notes)

    return read


def _of_times(name: str, unit: str) -> Callable[[Text], Found]:
    def read(text: Text) -> Found:
        samples = _samples(text)
        gaps = _gaps(samples)
        is_regular = (
            bool(gaps)
            and median(gaps) >= _GAP_MIN_MS
            and all(abs(gap / median(gaps) - 1) <= _REGULAR for gap in gaps)
        )
        if is_regular or not all(one.size for one in samples):
            raise text.fault(
                None,
                "the log has means of latencies over time, and not of how many I/Os each: no figure of all I/Os "
                "follows from them; log without log_avg_msec, or take fio's JSON",
            )
        found = _single(text, name, samples, NS_PER[unit])
        named = _NAMED.fullmatch(PurePath(text.origin).name)
        if named is not None and named["kind"] == "clat":
            found.objects[0]["notes"].append("times are fio's clat, without the time of submission")
        return found

    return read


def _single(text: Text, name: str, samples: Sequence[_Sample], factor: float | None) -> Found:
    """The figures of a log with a line for each I/O."""
    span_ms = max(one.ms for one in samples) - min(one.ms for one in samples) if samples else 0.0
    if span_ms <= 0:
        raise text.fault(None, "all I/Os are within one millisecond: a rate needs a longer run")
    figures = {}
    for kind in _kinds(samples):
        own = [one for one in samples if one.kind == kind]
        # The first completion is where the time begins.
        iops = (len(own) - 1) / span_ms * _MS_PER_S
        figures[f"{kind}.iops"] = Value(iops, iops / span_ms)
        if all(one.size for one in own):
            rate = math.fsum(one.size for one in own) / len(own) * iops
            figures[f"{kind}.bytes_per_s"] = Value(rate, rate / span_ms)
        if factor is not None:
            times = sorted(one.value * factor for one in own)
            figures |= {f"{kind}.{key}": value for key, value in _of_sorted(times, factor).items()}
    notes = ["the log has single I/Os: their rate is from the first to the last that ended"]
    if factor is None:
        notes.append("response times are in a log of latencies (write_lat_log)")
    return _point(name, samples, figures, notes)


def _of_sorted(times: Sequence[float], factor: float) -> dict[str, Value]:
    found = {"mean": Value(math.fsum(times) / len(times)), "max": Value(times[-1], factor / 2)}
    quantile = quantile_of_counts([(value, 1) for value in times])
    there = {key: quantile(share) for key, share in PERCENTILES.items()}
    of_all = {key: Value(value, factor / 2) for key, value in there.items() if value is not None}
    return found | percentiles(of_all, len(times))


def _point(name: str, samples: Sequence[_Sample], figures: dict[str, Value], notes: list[str]) -> Found:
    kinds, sizes = _kinds(samples), {one.size for one in samples}
    axes = {"bs": sizes.pop()} if len(sizes) == 1 and 0 not in sizes else {}
    notes.append("a log has no options of the job: kind of access, depth and number of jobs are unknown")
    direction = kinds[0] if len(kinds) == 1 else ""
    return Results(name, "fio", [Point(axes, sums(figures), direction)], notes=notes).found()


def _kinds(samples: Sequence[_Sample]) -> list[str]:
    return [name for name in DIRECTIONS if any(one.kind == name for one in samples)]


def _gaps(samples: Sequence[_Sample]) -> list[float]:
    found = []
    for kind in _kinds(samples):
        own = [one.ms for one in samples if one.kind == kind]
        found += [after - before for before, after in pairwise(own)]
    return found


FORMATS = (
    Format("fio-log-bw", "fio's log of bandwidth", _fits("bw"), _of_rates("fio-log-bw", KIB, "bytes_per_s")),
    Format("fio-log-iops", "fio's log of IOPS", _fits("iops"), _of_rates("fio-log-iops", 1.0, "iops")),
    Format(
        "fio-log-lat-us",
        "fio's log of latencies in us (before 3.0)",
        _fits("lat", "us"),
        _of_times("fio-log-lat-us", "us"),
    ),
    Format(
        "fio-log-lat-ns",
        "fio's log of latencies in ns",
        _fits("lat", "ns"),
        _of_times("fio-log-lat-ns", "ns"),
    ),
)
