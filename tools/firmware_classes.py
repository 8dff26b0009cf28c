"""The basis of the firmware classes: measured sweeps and access times beside the model's, each with itself left out.

For every drive the values of its class are fitted on the other drives of the class, and its sweep is predicted from
the mechanics of its data sheet. Two spreads remain: that of the access time of one command, of which a data sheet has
the mean seek only, and that of what the queue gains. The range of a further drive follows from both: the interval that
holds it with a probability of 90 %, by Student's distribution over the drives at hand.

`python tools/firmware_classes.py` prints the tables of docs/reference/firmware-classes.md. With `--write` it puts them
there, the two values of the desktop classes into `catalogue/classes`, and the ranges into `class_range.rs` of the
checks. A new sweep, or access time, is one more entry of
`firmware_sweeps.py`.
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

import drivelab
from firmware_spread import (
    DEPTHS,
    Errors,
    Range,
    access_spread,
    constants,
    coverage,
    ranges,
)
from firmware_sweeps import ACCESSES, DT, DT_NAME, SCSI, SHEETS, SWEEPS, Keys, Sweep

ROOT = Path(__file__).resolve().parents[1]
RANGES = ROOT / "crates/scenario/src/check/class_range.rs"
PAGE = ROOT / "docs/reference/firmware-classes.md"
CLASSES = ROOT / "catalogue/classes"
BEGIN, END = "<!-- from here: tools/firmware_classes.py -->\n", "<!-- to here -->\n"
# What the classes fit: the share of age, and the guard as a share of the seek time.
SHARES = (0.05, 0.1, 0.2)
GUARDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
NEARLINE_SHARES = (0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0)
# The share of age of the class sata-nearline: the geometric mean of what its sweep and its two data sheets need each.
NEARLINE = 1.25


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
