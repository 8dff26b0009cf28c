"""The load of devices over time, from samples of `iostat -x` or `sar -d`: mean, percentiles and maximum of each figure.

A device is as many points, told apart by the axis `over_time`. The mean of rates is over the samples, that of response
times over the I/Os; percentiles and maximum are of the samples of each figure by itself. What is outstanding follows
from Little's law: I/Os per second times their mean response time. Samples are taken as equally long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from drivelab.records.formats.shape import Point, Value
from drivelab.records.model import DIRECTIONS
from drivelab.records.precision import quantile_of_counts

LITTLE = "outstanding I/Os (in_flight) are I/Os per second times their mean response time, by Little's law"
_MEAN, _MAX = "mean", "max"
_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_NS_PER_S = 1e9
_WITH_DIRECTION = ("", *(f"{one}." for one in DIRECTIONS))

Sample = Mapping[str, float]
"""The figures of a device in a sample, under their names: `iops`, `read.mean` (ns), `busy` (a share) and so on."""


def points_of(device: str, samples: Sequence[Sample]) -> list[Point]:
    """The points of a device; none if it had no I/O."""
    full = [_with_derived(one) for one in samples]
    if not any(one.get("iops") or one.get("bytes_per_s") for one in full):
        return []
    names = list(dict.fromkeys(name for one in full for name in one))
    found = [Point({"device": device, "over_time": _MEAN}, _means(full, names))]
    for label, share in _SHARES.items():
        # One sample at least lies beyond it.
        if len(full) * (1 - share) >= 1 - 1e-9:
            found.append(Point({"device": device, "over_time": label}, _quantiles(full, names, share)))
    if len(full) > 1:
        most = {name: Value(max(one[name] for one in full if name in one)) for name in names}
        found.append(Point({"device": device, "over_time": _MAX}, most))
    return found


def _with_derived(sample: Sample) -> dict[str, float]:
    """A sample with what follows from it: sums, size of an I/O, outstanding I/Os; without times of no I/Os."""
    own = dict(sample)
    for name in ("iops", "bytes_per_s"):
        parts = [own[f"{kind}.{name}"] for kind in DIRECTIONS if f"{kind}.{name}" in own]
        # A kind with I/Os whose bytes are unknown leaves the sum unknown.
        is_whole = all(f"{kind}.{name}" in own for kind in DIRECTIONS if own.get(f"{kind}.iops"))
        if name not in own and parts and is_whole:
            own[name] = math.fsum(parts)
    if "mean" not in own and own.get("iops"):
        kinds = [kind for kind in DIRECTIONS if own.get(f"{kind}.iops")]
        if kinds and all(f"{kind}.mean" in own for kind in kinds):
            total = math.fsum(own[f"{kind}.iops"] * own[f"{kind}.mean"] for kind in kinds)
            own["mean"] = total / own["iops"]
    for before in _WITH_DIRECTION:
        rate = own.get(f"{before}iops")
        if rate == 0:
            own.pop(f"{before}mean", None)
        if rate and f"{before}bytes_per_s" in own:
            own[f"{before}request_bytes"] = own[f"{before}bytes_per_s"] / rate
        if rate is not None and (mean := own.get(f"{before}mean")) is not None:
            own[f"{before}in_flight"] = rate * mean / _NS_PER_S
        elif rate == 0:
            own[f"{before}in_flight"] = 0.0
    return own


def _means(samples: Sequence[Sample], names: Sequence[str]) -> dict[str, Value]:
    found = {}
    for name in names:
        there = [one for one in samples if name in one]
        before, _, last = name.rpartition(".")
        rate = f"{before}.iops" if before else "iops"
        if last in {"mean", "request_bytes"}:
            # Of I/Os, not of samples.
            weights = [one.get(rate, 0.0) for one in there]
            if not math.fsum(weights):
                continue
            total = math.fsum(weight * one[name] for weight, one in zip(weights, there, strict=True))
            found[name] = Value(total / math.fsum(weights))
        else:
            found[name] = Value(math.fsum(one[name] for one in there) / len(there))
    return found


def _quantiles(samples: Sequence[Sample], names: Sequence[str], share: float) -> dict[str, Value]:
    found = {}
    for name in names:
        value = quantile_of_counts([(one[name], 1) for one in samples if name in one])(share)
        if value is not None:
            found[name] = Value(value)
    return found
