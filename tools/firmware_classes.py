"""The basis of the firmware classes: measured sweeps and access times beside the model's, each with itself left out.

For every drive the values of its class are fitted on the other drives of the class, and its sweep is predicted from
the mechanics of its data sheet. Two spreads remain: that of the access time of one command, of which a data sheet has
the mean seek only, and that of what the queue gains. The range of a further drive follows from both: the interval that
holds it with a probability of 90 %, by Student's distribution over the drives at hand.

`python tools/firmware_classes.py` prints the tables of docs/reference/firmware-classes.md. With `--write` it puts them
there, the two values of the desktop classes into `catalogue/classes`, and the ranges into `class_range.rs` of the
checks. A new sweep is one more entry of `SWEEPS`, a new access time one of `ACCESSES`.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from scipy import stats

import drivelab

Keys = Mapping[str, Any]
ROOT = Path(__file__).resolve().parents[1]
RANGES = ROOT / "crates/scenario/src/check/class_range.rs"
PAGE = ROOT / "docs/reference/firmware-classes.md"
CLASSES = ROOT / "catalogue/classes"
BEGIN, END = "<!-- from here: tools/firmware_classes.py -->\n", "<!-- to here -->\n"
DEPTHS = (2, 4, 8, 16, 32)
# The share of further drives that the range is to hold.
HELD = 0.9
# What the classes fit: the share of age, and the guard as a share of the seek time.
SHARES = (0.05, 0.1, 0.2)
GUARDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
NEARLINE_SHARES = (0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0)
# The share of age of the class sata-nearline: the geometric mean of what its sweep and its two data sheets need each.
NEARLINE = 1.25


def sheet(single: str, average: str, full: str) -> dict[str, str]:
    """The seek times of a data sheet, with the curve of the classes sata-desktop and mobile."""
    return {"single": single, "average": average, "full": full, "form": "root-line", "longer_settle": "10%"}


@dataclass(frozen=True, eq=False)
class Sweep:
    """A drive's measured I/Os per second, or another rate, over its depth, and its mechanics from its data sheet."""

    name: str
    class_name: str
    drive: Keys
    block: str
    measured: Mapping[int, float]
    # The first addresses that were read, where it was not the whole drive.
    size: str = "100%"
    # p99 over the mean at the deepest.
    tail: float | None = None

    def points(self, queue: Keys) -> Sequence[Mapping[str, Any]]:
        """Random reads by the model at the measured depths."""
        scenario = {
            "target": {"drive": self.drive, "queue": dict(queue)},
            "workload": {
                "rw": "randread",
                "bs": self.block,
                "iodepth": list(self.measured),
                "size": self.size,
            },
            "run": {"warmup": "10s", "ios": 10_000},
        }
        return drivelab.simulate(scenario).points

    def errors(self, queue: Keys) -> dict[int, float]:
        """Logarithm of measured over predicted rate, by depth."""
        model = self.points(queue)
        return {
            depth: math.log(rate / point["iops"])
            for (depth, rate), point in zip(self.measured.items(), model, strict=True)
        }


def unnamed(capacity: str, rate: str, seek: Keys, year: int, form_factor: str, link: str) -> Keys:
    """A drive of which no more is known than its size, its maker's seek times, and how it is built in the main."""
    return {
        "rpm": "7200rpm",
        "queue": {"protocol": "ncq", "depth": 32},
        "geometry": {"capacity": capacity, "heads": 4, "outer_rate": rate, "inner_to_outer": "50%"},
        "link": {"rate": link},
        "identity": {"year": year, "form_factor": form_factor},
        "seek": seek,
    }


def based(name: str, seek: Keys) -> Keys:
    """A drive of the catalogue with the seek times of its data sheet."""
    return {"base": name, "seek": seek} if seek else {"base": name}


# Figures of the sources that are named in catalogue/classes.
SWEEPS = (
    Sweep(
        "samsung-f1-1tb",
        "sata-desktop",
        based("samsung-f1-1tb", sheet("1.0ms", "8.9ms", "18ms")),
        "4KiB",
        {1: 72.05, 2: 72.69, 4: 75.44, 8: 86.54, 16: 110.98, 32: 131.01},
        tail=876.6 / 244.19,
    ),
    Sweep(
        "unnamed-500gb",
        "sata-desktop",
        unnamed("500GB", "100MB/s", sheet("0.8ms", "8.9ms", "18ms"), 2008, "3.5in", "300MB/s"),
        "4KiB",
        {1: 69.82, 2: 70.26, 4: 82.05, 8: 93.83, 16: 104.84, 32: 113.64},
        tail=1069.5 / 281.51,
    ),
    Sweep(
        "hitachi-travelstar-7k100-100gb",
        "mobile",
        unnamed("100GB", "55MB/s", sheet("1.0ms", "10ms", "20ms"), 2006, "2.5in", "150MB/s"),
        "4KiB",
        {1: 58.58, 2: 59.83, 4: 64.73, 8: 72.21, 16: 77.38, 32: 82.23},
        tail=1451.2 / 389.05,
    ),
    Sweep(
        "seagate-st3250620as",
        "sata-desktop",
        based("seagate-st3250620as", sheet("1.0ms", "8.5ms", "17.7ms")),
        "128KiB",
        {1: 64.0, 2: 65.6, 4: 69.6},
    ),
    Sweep(
        "maxtor-maxline-iii",
        "sata-desktop",
        based("maxtor-maxline-iii", sheet("1.0ms", "9.3ms", "18.6ms")),
        "4KiB",
        {1: 99.25, 32: 171.25},
        size="32GiB",
    ),
    Sweep(
        "wd-22tb",
        "sata-nearline",
        based("wd-ultrastar-dc-hc580-24tb", {}),
        "128KiB",
        {1: 82.0, 2: 88.0, 4: 97.2, 8: 115.4, 16: 141.0, 32: 165.6},
        tail=323 * 165.6 / 32_000,
    ),
)
# Rates of data sheets at one depth: the errors of the class with the access time.
SHEETS = (
    Sweep(
        "wd-ultrastar-dc-hc580-24tb",
        "sata-nearline",
        based("wd-ultrastar-dc-hc580-24tb", {}),
        "4KiB",
        {32: 212.0},
    ),
    Sweep("seagate-exos-x24-24tb", "sata-nearline", based("seagate-exos-x24-24tb", {}), "4KiB", {16: 168.0}),
)
SCSI = Sweep(
    "seagate-10k-scsi-74gb",
    "scsi",
    based("seagate-10k-scsi-74gb", {}),
    "128KiB",
    {1: 108.8, 2: 124.8, 4: 143.2},
)
# Reads per second of the Toshiba DT01ACA200 with their p50 in ms.
DT = {
    20: 17.15,
    26: 17.15,
    33: 18.51,
    39: 19.69,
    46: 22.26,
    52: 24.4,
    59: 26.35,
    65: 28.89,
    72: 34.73,
    78: 39.87,
    85: 51.75,
    91: 62.21,
    98: 79.51,
    104: 88.53,
}
DT_NAME = "toshiba-dt01aca200"


@dataclass(frozen=True)
class Access:
    """The measured time of one random read at a time in ms, beside the mean seek of the data sheet."""

    name: str
    measured: float
    seek: float
    rpm: float
    # The overhead of the class, and the transfer, in ms.
    rest: float
    source: str

    def error(self) -> float:
        """Logarithm of measured over predicted rate."""
        return math.log((self.seek + 30_000 / self.rpm + self.rest) / self.measured)


HD_TACH = "HD Tach's random access"
ACCESSES = (
    Access("samsung-f1-1tb", 13.85, 8.9, 7200, 0.34, "fio"),
    Access("unnamed-500gb", 14.32, 8.9, 7200, 0.34, "fio"),
    Access("hitachi-travelstar-7k100-100gb", 17.05, 10.0, 7200, 0.38, "fio"),
    Access(
        "seagate-st3250620as", 13.85, 8.5, 7200, 0.3, "the part of a read that does not grow with its size"
    ),
    Access("wd-wd6400aaks", 12.9, 8.9, 7200, 0.3, "HD Tune"),
    Access("wd-wd2500", 13.4, 8.9, 7200, 0.3, HD_TACH),
    Access("samsung-sp2504c", 15.55, 8.9, 7200, 0.3, HD_TACH),
    Access("maxtor-maxline-iii", 13.8, 9.3, 7200, 0.3, "an access time of a review"),
    Access("seagate-barracuda-7200-12", 17.0, 8.5, 7200, 0.3, HD_TACH + ", techreport.com/review/17183"),
    Access("toshiba-mk1652gsx", 17.95, 12.0, 5400, 0.4, "a chain of 500 reads"),
    Access("wd-raptor-74gb", 8.06, 4.5, 10_000, 0.32, "fio"),
    Access("wd-22tb", 12.2, 7.4, 7200, 0.65, "fio, 128 KiB; the seek of the Ultrastar DC HC310"),
    Access(
        "seagate-10k-scsi-74gb", 7.7, 4.7, 10_000, 0.2, "as of the ST3250620AS; the seek of the Cheetah 10K.6"
    ),
)


def desktop(share: float, guard: float) -> dict[str, Any]:
    """The queue of the classes sata-desktop and mobile with these values, without the drive's own values."""
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


@cache
def misses(sweep: Sweep, share: float, guard: float | None) -> tuple[dict[int, float], float | None]:
    """Of a class's values on one drive: the errors of the gain by depth, and of p99 over the mean at the deepest."""
    queue = nearline(share) if guard is None else desktop(share, guard)
    points = sweep.points(queue)
    logs = {
        depth: math.log(rate / point["iops"])
        for (depth, rate), point in zip(sweep.measured.items(), points, strict=True)
    }
    latency = points[-1]["latency_ns"]
    tail = sweep.tail and math.log(sweep.tail / (latency["p99"] / latency["mean"]))
    return {depth: value - logs[1] for depth, value in logs.items() if depth > 1}, tail


@cache
def open_loop(share: float, guard: float) -> dict[int, tuple[float, float]]:
    """For the DT01ACA200 by rate: p50 in ms, and the commands in the drive.

    Its mean seek is fitted to its slowest rates, for its data sheet has none; the curve has the form of its class.
    """
    drive = {"base": DT_NAME, "seek": {"form": "root-line", "longer_settle": "10%"}}
    scenario = {
        "target": {"drive": drive, "queue": desktop(share, guard)},
        "workload": {"rw": "randread", "bs": "512B", "rate_iops": list(DT), "rate_process": "poisson"},
        "run": {"warmup": "10s", "duration": "300s"},
    }
    found = {}
    for rate, point in zip(DT, drivelab.simulate(scenario).points, strict=True):
        p50, inside = point["latency_ns"]["p50"], point["depth"]["in_drives"]
        if p50 is None or inside is None:
            raise SystemExit(f"no median at {rate} reads a second")
        found[rate] = (p50 / 1e6, inside)
    return found


def dt_misses(share: float, guard: float) -> dict[int, float]:
    """The errors of the gain of the DT01ACA200 by depth.

    Its gain is the rate over that at which the model has the same median, at the commands that the model has in the
    drive there. Its tail says nothing of its own: where the model is too slow, p95 is too long as well.
    """
    model = open_loop(share, guard)
    found: dict[int, list[float]] = {}
    for rate, p50 in DT.items():
        for (low, (left, _)), (high, (right, inside)) in pairwise(model.items()):
            if left <= p50 <= right and inside >= math.sqrt(2):
                part = math.log(p50 / left) / math.log(right / left)
                depth = 2 ** round(math.log2(inside))
                found.setdefault(depth, []).append(math.log(rate / (low + part * (high - low))))
    return {depth: max(values, key=abs) for depth, values in found.items() if depth in DEPTHS}


def rms(values: Iterable[float]) -> float:
    """The root mean square."""
    all_ = list(values)
    return math.sqrt(sum(value**2 for value in all_) / len(all_))


def desktop_miss(names: Sequence[str], share: float, guard: float) -> float:
    """The error of these values over several drives: gains of each, and its tail, with the same weight."""
    parts = []
    for sweep in SWEEPS:
        if sweep.name in names and sweep.class_name != "sata-nearline":
            gains, tail = misses(sweep, share, guard)
            parts += [rms(gains.values()), *([tail] if tail is not None else [])]
    if DT_NAME in names:
        parts.append(rms(dt_misses(share, guard).values()))
    return rms(parts)


def fitted(names: Sequence[str]) -> tuple[float, float]:
    """Share and guard with the smallest error on these drives."""
    grid = ((share, guard) for share in SHARES for guard in GUARDS)
    return min(grid, key=lambda both: desktop_miss(names, *both))


def nearline_alone(sweep: Sweep) -> float:
    """The share of age that fits one drive of the class sata-nearline best."""

    def miss(share: float) -> float:
        errors = sweep.errors(nearline(share))
        first = errors.pop(1, 0.0)
        return rms(error - first for error in errors.values())

    return min(NEARLINE_SHARES, key=miss)


@dataclass(frozen=True)
class LeftOut:
    """A drive's gain as predicted by its class from the other drives."""

    class_name: str
    values: str
    errors: Mapping[int, float]


def both(values: tuple[float, float]) -> str:
    """Share of age and guard."""
    return f"{values[0]:g}, {100 * values[1]:.0f} %"


def left_out() -> dict[str, LeftOut]:
    """Every drive with a sweep, by its name."""
    names = [sweep.name for sweep in SWEEPS if sweep.class_name != "sata-nearline"] + [DT_NAME]
    rows = {}
    for sweep in SWEEPS:
        if sweep.class_name == "sata-nearline":
            share = math.exp(sum(math.log(nearline_alone(of)) for of in SHEETS) / len(SHEETS))
            text = f"two data sheets: {share:.2f}"
            rows[sweep.name] = LeftOut(sweep.class_name, text, misses(sweep, share, None)[0])
            continue
        values = fitted([name for name in names if name != sweep.name])
        rows[sweep.name] = LeftOut(sweep.class_name, both(values), misses(sweep, *values)[0])
    values = fitted([name for name in names if name != DT_NAME])
    rows[DT_NAME] = LeftOut("sata-desktop", both(values), dt_misses(*values))
    # Before its sweep was known the class scsi had nothing: the class of the same choice predicts it.
    text = f"sata-nearline: {NEARLINE}"
    rows[SCSI.name] = LeftOut(SCSI.class_name, text, misses(SCSI, NEARLINE, None)[0])
    return rows


@dataclass(frozen=True)
class Spread:
    """A sample of logarithms of errors, for the next one."""

    mean: float
    sd: float
    drives: int

    @staticmethod
    def of(values: Sequence[float], least: float = 0.0) -> Spread:
        """Create it from the errors; its deviation is at least that of a better known one."""
        mean = sum(values) / len(values)
        sd = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
        return Spread(mean, max(sd, least), len(values))


def interval(spreads: Sequence[Spread]) -> tuple[float, float]:
    """The share of the prediction, least and most, between which the next drive is with a probability of 90 %.

    The parts are independent; their degrees of freedom follow from Welch and Satterthwaite.
    """
    parts = [(one.sd**2 * (1 + 1 / one.drives), one.drives - 1) for one in spreads]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / count for part, count in parts)
    half = float(stats.t.ppf((1 + HELD) / 2, freedom)) * math.sqrt(variance)
    middle = sum(one.mean for one in spreads)
    return math.exp(middle - half), math.exp(middle + half)


Errors = Mapping[str, Mapping[int, float]]


def gain_spreads(rows: Errors, without: str = "") -> dict[int, Spread]:
    """By depth, the spread of the gain's errors; the deeper queue is not known better than the shallow one."""
    found: dict[int, Spread] = {}
    least = 0.0
    for depth in DEPTHS:
        values = [row[depth] for name, row in rows.items() if depth in row and name != without]
        found[depth] = Spread.of(values, least)
        least = found[depth].sd
    return found


def access_spread(without: str = "") -> Spread:
    """The spread of the access time's errors."""
    return Spread.of([one.error() for one in ACCESSES if one.name != without])


Range = list[tuple[int, float, float]]


def ranges(rows: Errors, without: Errors) -> dict[str, Range]:
    """The range of each kind of drive, as class_range.rs names them: depth, least and most.

    An order that is not its class's may be as far off as one without a guard, or as the class's.
    """
    access = access_spread()
    seek = (1, *interval([access]))
    found: dict[str, Range] = {"SEEK": [seek]}
    for prefix, of in (("", rows), ("OTHER_", without)):
        gains = gain_spreads(of)
        found[f"{prefix}GAIN"] = [
            (1, 1.0, 1.0),
            *((depth, *interval([one])) for depth, one in gains.items()),
        ]
        found[f"{prefix}BOTH"] = [
            seek,
            *((depth, *interval([access, one])) for depth, one in gains.items()),
        ]
    for name in ("GAIN", "BOTH"):
        found[f"OTHER_{name}"] = [
            (depth, min(low, own_low), max(high, own_high))
            for (depth, low, high), (_, own_low, own_high) in zip(
                found[f"OTHER_{name}"], found[name], strict=True
            )
        ]
    return found


def coverage(rows: Errors) -> str:
    """How many of the sweeps are inside the range that follows from the other drives, and how wide that is."""
    firsts = {one.name: one.error() for one in ACCESSES}
    inside, outside, widths = 0, [], []
    for sweep in SWEEPS:
        access, gains = access_spread(sweep.name), gain_spreads(rows, sweep.name)
        missed = []
        for depth in (1, *rows[sweep.name]):
            low, high = interval([access] if depth == 1 else [access, gains[depth]])
            ratio = math.exp(firsts[sweep.name] + rows[sweep.name].get(depth, 0.0))
            if not low <= ratio <= high:
                missed.append(depth)
            widths.append(2 * (high - low) / (high + low))
        inside += not missed
        if missed:
            outside.append(f"`{sweep.name}` at {', '.join(map(str, missed))}")
    widths.sort()
    return (
        f"Of {len(SWEEPS)} drives whose access time and gain are both known, {inside} are inside at every depth by the "
        f"range that follows from the others; outside is {' and '.join(outside) or 'none'}. The median width of these "
        "ranges is "
        f"{100 * widths[len(widths) // 2]:.0f} % of their middle."
    )


def constants(rows: Errors) -> str:
    """The errors of the gain by the classes, and by one constant for all drives."""
    gains = {
        sweep.name: {depth: rate / sweep.measured[1] for depth, rate in sweep.measured.items() if depth > 1}
        for sweep in (*SWEEPS, SCSI)
    }
    by_class, by_constant = [], []
    for name, own in gains.items():
        for depth, gain in own.items():
            others = [of[depth] for other, of in gains.items() if other != name and depth in of]
            by_class.append(abs(gain / math.exp(rows[name][depth]) - gain))
            by_constant.append(abs(math.exp(sum(map(math.log, others)) / len(others)) - gain))
    count = len(by_class)
    return (
        f"The mean error of the gain is {sum(by_class) / count:.3f} by the classes, and "
        f"{sum(by_constant) / count:.3f} by the geometric mean of the other drives' gains at that depth."
    )


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


def errors_without_guard() -> dict[str, dict[int, float]]:
    """The errors of the gain by an order without a guard."""
    found = {}
    for sweep in (*SWEEPS, SCSI):
        logs = sweep.errors(WITHOUT_GUARD)
        found[sweep.name] = {depth: error - logs[1] for depth, error in logs.items() if depth > 1}
    return found


def row(*cells: str) -> str:
    """A row of a table."""
    return "| " + " | ".join(cells) + " |"


def percents(errors: Mapping[int, float]) -> list[str]:
    """Measured over predicted, less one, by depth."""
    return [f"{100 * math.expm1(errors[depth]):+.1f} %" if depth in errors else "" for depth in DEPTHS]


def page(rows: Mapping[str, LeftOut], errors: Errors, without: Errors, found: Mapping[str, Range]) -> str:
    """The tables of the page."""
    depths = [str(depth) for depth in DEPTHS]
    access = access_spread()
    lines = [
        "Measured gain divided by predicted gain, minus one:",
        "",
        row("drive left out", "class", "predicted by", *depths),
        row(*["---"] * (3 + len(depths))),
        *(row(f"`{name}`", one.class_name, one.values, *percents(one.errors)) for name, one in rows.items()),
        "",
        constants(errors),
        "",
        "The same by `aged-sptf` without a guard, the inferred order of some files:",
        "",
        row("drive", *depths),
        row(*["---"] * (1 + len(depths))),
        *(row(f"`{name}`", *percents(one)) for name, one in without.items()),
        "",
        "Access times, one read at a time: the mean seek of the data sheet, half a turn, and the overhead of the "
        "class, beside what was measured, in ms:",
        "",
        row("drive", "mean seek", "predicted", "measured", "rate, measured over predicted", "measured by"),
        row(*["---"] * 6),
        *(
            row(
                f"`{one.name}`",
                f"{one.seek:g}",
                f"{one.measured * math.exp(one.error()):.2f}",
                f"{one.measured:g}",
                f"{100 * math.expm1(one.error()):+.1f} %",
                one.source,
            )
            for one in ACCESSES
        ),
        "",
        f"A data sheet's rate is {-100 * math.expm1(access.mean):.0f} % too high in the mean, with a standard "
        f"deviation of {100 * access.sd:.0f} % from drive to drive.",
        "",
        "The ranges, in percent of the prediction:",
        "",
        row("unknown", "1", *depths),
        row(*["---"] * (2 + len(depths))),
        *(
            row(what, *(f"{100 * low:.0f} to {100 * high:.0f}" for _, low, high in of))
            for name, what in UNKNOWN.items()
            for of in [found[name] * (1 + len(depths)) if len(found[name]) == 1 else found[name]]
        ),
        "",
        coverage(errors),
    ]
    return "\n".join(lines) + "\n"


UNKNOWN = {
    "SEEK": "the access time, with an order that is known",
    "GAIN": "the gain, with an access time that is known",
    "BOTH": "both: a drive of which a data sheet alone is known",
    "OTHER_GAIN": "the gain, with an inferred order that is not the class's",
    "OTHER_BOTH": "both, with such an order",
}


def rust(found: Mapping[str, Range], counts: tuple[int, int]) -> str:
    """The ranges as the checks of a scenario have them."""
    lines = [
        "//! How far the I/Os per second of a drive that nobody measured may lie from the prediction, by commands in",
        "//! the drive: nine of ten further drives are between. `python tools/firmware_classes.py --write` writes this",
        "//! file.",
        "use super::class::Bounds;",
        "",
        "/// Drives whose access time was measured, and drives whose gain was.",
        f"pub const DRIVES: (usize, usize) = {counts};",
    ]
    for name, points in found.items():
        lines += [
            "",
            f"/// Unknown is {UNKNOWN[name]}.",
            f"pub const {name}: [Bounds; {len(points)}] = [",
        ]
        lines += [
            f"    Bounds {{ depth: {depth}, low: {low:.2f}, high: {high:.2f} }},"
            for depth, low, high in points
        ]
        lines.append("];")
    return "\n".join(lines) + "\n"


def write_all(
    text: str, found: Mapping[str, Range], counts: tuple[int, int], best: tuple[float, float]
) -> None:
    """Put the tables into the page, the values into the classes, and the ranges into the checks."""
    old = PAGE.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + text + END + after, encoding="utf-8")
    for name in ("sata-desktop", "mobile"):
        path = CLASSES / f"{name}.toml"
        queue = path.read_text(encoding="utf-8")
        for key, value in zip(("age_share", "seek_margin"), best, strict=True):
            queue = re.sub(rf"(?m)^({key} = (?:\{{ value = )?)[\d.]+", rf"\g<1>{value:g}", queue)
        path.write_text(queue, encoding="utf-8")
    RANGES.write_text(rust(found, counts), encoding="utf-8")
    subprocess.run(["rustfmt", "--edition", "2024", str(RANGES)], check=True)


def main(*, write: bool) -> None:
    """Print the tables with each drive left out in turn, and write them where they belong if asked."""
    rows = left_out()
    errors = {name: one.errors for name, one in rows.items()}
    without = errors_without_guard()
    found = ranges(errors, without)
    text = page(rows, errors, without, found)
    names = [name for name, one in rows.items() if one.class_name in ("sata-desktop", "mobile")]
    best = fitted(names)
    print(text)
    print(f"best on all of the desktop classes: {both(best)}")
    print(
        f"the share of age of sata-nearline on each alone: {[nearline_alone(of) for of in (SWEEPS[-1], *SHEETS)]}"
    )
    print("data sheets' rates over predicted:")
    for one in SHEETS:
        print(
            f"{one.name:32}", {d: f"{math.expm1(e):+.1%}" for d, e in one.errors(nearline(NEARLINE)).items()}
        )
    if write:
        write_all(text, found, (access_spread().drives, len(rows)), best)
    print("cached writes per second by segments:", {n: f"{rate:.1f}" for n, rate in destaged().items()})


if __name__ == "__main__":
    main(write="--write" in sys.argv[1:])
