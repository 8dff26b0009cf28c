"""The basis of the firmware classes: measured sweeps beside the model's, each also with itself left out.

For every drive the values of its class are fitted on the others, and its sweep is predicted from its data sheet's
mechanics. The remaining error is the range that `crates/scenario/src/check/class.rs` gives drives without a measured
sweep; that of an order without a guard is the range of inferred orders that are not their class's. The writes that a
drive's cache holds have the table of `cached_writes.rs` beside it. `python tools/firmware_classes.py` prints the tables
of docs/reference/firmware-classes.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import drivelab

Keys = Mapping[str, Any]

# Figures of the sources named in catalogue/classes.
F1 = {1: 72.05, 2: 72.69, 4: 75.44, 8: 86.54, 16: 110.98, 32: 131.01}
F1_TAIL = 876.6 / 244.19
WD22 = {1: 82.0, 2: 88.0, 4: 97.2, 8: 115.4, 16: 141.0, 32: 165.6}
ST3250 = {1: 8.0, 2: 8.2, 4: 8.7}
SCSI = {1: 13.6, 2: 15.6, 4: 17.9}
# Reads per second of the Toshiba DT01ACA200 with their p50 and p95 in ms.
DT = {
    20: (17.15, 34.73),
    26: (17.15, 38.66),
    33: (18.51, 43.05),
    39: (19.69, 50.96),
    46: (22.26, 61.26),
    52: (24.4, 67.17),
    59: (26.35, 75.94),
    65: (28.89, 84.55),
    72: (34.73, 103.21),
    78: (39.87, 118.49),
    85: (51.75, 163.53),
    91: (62.21, 193.59),
    98: (79.51, 229.18),
    104: (88.53, 263.11),
}
DEPTHS = (2, 4, 8, 16, 32)
# What the classes fit: the share of age, and the guard margin as a share of the seek time.
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3)
GUARDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
# The values of the nearline class fitted on each drive alone.
NEARLINE = {"wd-22tb": 1.5, "hc580": 1.0, "x24": 0.9}
CLASS_SHARE = 1.25
# The order that some files have from the figures of other drives.
WITHOUT_GUARD: Keys = {
    "order": "aged-sptf",
    "age_weight": 0.006,
    "seek_margin": 0,
    "read_margin": "0s",
    "write_margin": "0s",
    "chooses": "at-media-end",
    "coalesces": 1,
}
SEGMENTS = (1, 2, 4, 8, 11, 16, 32, 64, 128, 256, 512, 1024, 2304)


@dataclass(frozen=True)
class Sweep:
    """One drive's measured I/Os per second, or another rate, over its depth."""

    name: str
    target: Keys
    block: str
    measured: Mapping[int, float]
    # The seek curve of its data sheet, if that of its file was fitted.
    sheet: Keys = field(default_factory=dict)

    def rates(self, queue: Keys, *, sheet: bool = False) -> dict[int, float]:
        """I/Os per second of the model at the measured depths."""
        points = simulated(self.target, queue, self.sheet if sheet else {}, self.block, list(self.measured))
        return {depth: point["iops"] for depth, point in zip(self.measured, points, strict=True)}


SWEEPS = {
    "f1": Sweep("samsung-f1-1tb", {"drive": "samsung-f1-1tb"}, "4KiB", F1, {"average": "8.9ms"}),
    "st3250": Sweep(
        "seagate-st3250620as", {"drive": "seagate-st3250620as"}, "128KiB", ST3250, {"average": "8.5ms"}
    ),
    "wd22": Sweep("wd-22tb", {"drive": "wd-ultrastar-dc-hc580-24tb"}, "128KiB", WD22),
    "scsi": Sweep("seagate-10k-scsi-74gb", {"drive": "seagate-10k-scsi-74gb"}, "128KiB", SCSI),
}


def desktop(share: float, guard: float) -> dict[str, Any]:
    """The queue of the class sata-desktop with these values, without the drive's own values."""
    return {
        "order": "share-aged-sptf",
        "age_share": share,
        "seek_margin": guard,
        "read_margin": "0s",
        "chooses": "one-ahead",
        "coalesces": 1,
    }


def nearline(share: float) -> dict[str, Any]:
    """The same for the class sata-nearline."""
    return {
        "order": "share-aged-sptf",
        "age_share": share,
        "chooses": "after-answer",
        "answer_time": "0.05ms",
        "coalesces": 1,
    }


def simulated(
    target: Keys, queue: Keys, seek: Keys, block: str, depths: Sequence[int]
) -> Sequence[Mapping[str, Any]]:
    """Random reads over the whole drive at these depths."""
    drive = {"base": target["drive"], **({"seek": dict(seek)} if seek else {})}
    scenario = {
        "target": {"drive": drive, "queue": dict(queue)},
        "workload": {"rw": "randread", "bs": block, "iodepth": list(depths)},
        "run": {"warmup": "10s", "ios": 10_000},
    }
    return drivelab.simulate(scenario).points


def open_loop(queue: Keys) -> dict[int, tuple[float, float, float]]:
    """For the DT01ACA200 by rate: p50 and p95 in ms, and the commands in the drive."""
    scenario = {
        "target": {"drive": "toshiba-dt01aca200", "queue": dict(queue)},
        "workload": {"rw": "randread", "bs": "512B", "rate_iops": list(DT), "rate_process": "poisson"},
        "run": {"warmup": "10s", "duration": "300s"},
    }
    found = {}
    for rate, point in zip(DT, drivelab.simulate(scenario).points, strict=True):
        latency = point["latency_ns"]
        p50, p95, inside = latency["p50"], latency["p95"], point["depth"]["in_drives"]
        if p50 is None or p95 is None or inside is None:
            raise SystemExit(f"no percentiles at {rate} reads a second")
        found[rate] = (p50 / 1e6, p95 / 1e6, inside)
    return found


def dt_error(queue: Keys) -> tuple[float, float]:
    """Root mean square of the logarithm of model over measured: p50, p95."""
    model = open_loop(queue)
    logs = [[math.log(model[rate][at] / DT[rate][at]) for rate in DT] for at in (0, 1)]
    p50, p95 = (math.sqrt(sum(x * x for x in one) / len(one)) for one in logs)
    return p50, p95


def f1_error(queue: Keys) -> float:
    """Root mean square of the logarithms of the rates at 8 to 32 outstanding and of p99 over the mean at 32."""
    points = simulated(SWEEPS["f1"].target, queue, {}, "4KiB", [8, 16, 32])
    logs = [math.log(point["iops"] / F1[depth]) for depth, point in zip((8, 16, 32), points, strict=True)]
    latency = points[-1]["latency_ns"]
    logs.append(math.log(latency["p99"] / latency["mean"] / F1_TAIL))
    return math.sqrt(sum(x * x for x in logs) / len(logs))


# Each is asked for by a fit on its drive alone and by that on both.
@cache
def f1_miss(share: float, guard: float) -> float:
    """The error of the class with these values on the F1."""
    return f1_error(desktop(share, guard))


@cache
def dt_miss(share: float, guard: float) -> tuple[float, float]:
    """The same on the DT01ACA200."""
    return dt_error(desktop(share, guard))


def fitted(*, f1: bool, dt: bool) -> tuple[float, float]:
    """Share and guard with the smallest error on these drives."""

    def miss(share: float, guard: float) -> float:
        parts = [f1_miss(share, guard)] if f1 else []
        return math.hypot(*parts, *(dt_miss(share, guard) if dt else ()))

    return min(((share, guard) for share in SHARES for guard in GUARDS), key=lambda both: miss(*both))


def errors(name: str, queue: Keys) -> dict[int, float]:
    """Relative error of the predicted gain over depth 1: measured over predicted, less one."""
    sweep = SWEEPS[name]
    rates = sweep.rates(queue)
    return {
        depth: sweep.measured[depth] / sweep.measured[1] / (rates[depth] / rates[1]) - 1
        for depth in sweep.measured
        if depth > 1
    }


def dt_gains(queue: Keys) -> dict[int, float]:
    """For the DT01ACA200, by depth: measured rate over the predicted rate with the same median, less one."""
    model = open_loop(queue)
    found: dict[int, list[float]] = {}
    for rate, (p50, _) in DT.items():
        for (low, (left, *_)), (high, (right, _, inside)) in pairwise(model.items()):
            if left <= p50 <= right and inside >= math.sqrt(2):
                share = math.log(p50 / left) / math.log(right / left)
                depth = 2 ** round(math.log2(inside))
                found.setdefault(depth, []).append(rate / (low + share * (high - low)) - 1)
    return {depth: max(values, key=abs) for depth, values in found.items()}


def constants(name: str) -> dict[int, float]:
    """The same with the gain predicted by the geometric mean of the other sweeps' gains at that depth."""
    gains = {
        other: {depth: rate / sweep.measured[1] for depth, rate in sweep.measured.items()}
        for other, sweep in SWEEPS.items()
    }
    own = gains.pop(name)
    others = {
        depth: [found[depth] for found in gains.values() if depth in found] for depth in own if depth > 1
    }
    return {depth: own[depth] / math.prod(all_) ** (1 / len(all_)) - 1 for depth, all_ in others.items()}


def rms(rows: Iterable[Mapping[int, float]]) -> float:
    """The root mean square of all errors."""
    values = [value for row in rows for value in row.values()]
    return math.sqrt(sum(value**2 for value in values) / len(values))


def first_rates() -> dict[str, float]:
    """Measured over predicted rate at depth 1 from the data sheet's seek time, less one."""
    found = {}
    for name in ("f1", "wd22"):
        sweep = SWEEPS[name]
        found[name] = sweep.measured[1] / sweep.rates(desktop(0.1, 0.4), sheet=True)[1] - 1
    return found


def destaged() -> dict[int, float]:
    """Cached random writes per second of the Exos X24 at depth 1, by the segments that hold them."""
    scenario = {
        "target": {
            "drive": "seagate-exos-x24-24tb",
            "write_cache": True,
            "cache": {"segments": list(SEGMENTS)},
        },
        "workload": {"rw": "randwrite", "bs": "4KiB", "iodepth": 1},
        "run": {"warmup": "60s", "ios": 6_000},
    }
    points = drivelab.simulate(scenario).points
    return {count: point["iops"] for count, point in zip(SEGMENTS, points, strict=True)}


def main() -> None:
    """Print the results with each drive left out in turn, and the range."""
    both, f1_alone, dt_alone = fitted(f1=True, dt=True), fitted(f1=True, dt=False), fitted(f1=False, dt=True)
    print(f"desktop: on both {both}, on the F1 alone {f1_alone}, on the DT01ACA200 alone {dt_alone}")
    others = math.sqrt(NEARLINE["hc580"] * NEARLINE["x24"])
    rows = {
        "samsung-f1-1tb": errors("f1", desktop(*dt_alone)),
        "toshiba-dt01aca200": dt_gains(desktop(*f1_alone)),
        "seagate-st3250620as": errors("st3250", desktop(*both)),
        "wd-22tb": errors("wd22", nearline(others)),
        "seagate-10k-scsi-74gb": errors("scsi", nearline(CLASS_SHARE)),
    }
    for name, row in rows.items():
        print(f"{name:24}", *(f"{row[depth]:+8.1%}" if depth in row else " " * 8 for depth in DEPTHS))
    compared = {sweep.name: constants(name) for name, sweep in SWEEPS.items()}
    print("the same by the mean gain of the other sweeps:")
    for name, row in compared.items():
        print(f"{name:24}", *(f"{row[depth]:+8.1%}" if depth in row else " " * 8 for depth in DEPTHS))
    of_classes = rms(rows[name] for name in compared)
    print(
        f"rms of these sweeps: {of_classes:.1%} by the classes, {rms(compared.values()):.1%} by the mean gain"
    )
    firsts = first_rates()
    print("depth 1 from the data sheet:", {name: f"{value:+.1%}" for name, value in firsts.items()})
    most = 0.0
    for depth in DEPTHS:
        # A deeper queue is not known better than a shallow one.
        most = max(most, *(abs(row[depth]) for row in rows.values() if depth in row))
        low, high = (
            (1 - most) * (1 + min(0.0, *firsts.values())),
            (1 + most) * (1 + max(0.0, *firsts.values())),
        )
        print(f"{depth:3} largest {most:.1%}: {low:.3f} to {high:.3f}")
    print("measured over predicted by aged-sptf without a guard, less one:")
    for name, sweep in SWEEPS.items():
        row = errors(name, WITHOUT_GUARD)
        print(f"{sweep.name:24}", *(f"{row[depth]:+8.1%}" if depth in row else " " * 8 for depth in DEPTHS))
    print(
        "cached writes per second by segments:", {count: f"{rate:.1f}" for count, rate in destaged().items()}
    )


if __name__ == "__main__":
    main()
