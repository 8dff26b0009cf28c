"""drivelab measure beside fio on the same file: rate, median latency and processor time of a command, in pairs.

    python tools/measure_against_fio.py FILE [--pairs 10] [--seconds 2] [--registered] [--depth 256]

Each pair runs both, the one that goes first by turns, so that what else the machine does hits both alike. Figures are
medians of the pairs' ratios, with the interval that holds the median of such pairs with at least 95 % (order
statistics). fio's latency is its `lat`, from when it took up an I/O. FILE is only read; it should be written, and
larger than caches.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drivelab.measuring.device import target_at
from drivelab.measuring.run import How, measure_plan, plan_on
from drivelab.scenarios.scenario import Source, overrides_from

CASES = [
    *(("randread", "4k", depth) for depth in (1, 4, 16, 32, 64, 256)),
    ("read", "128k", 1),
    ("read", "128k", 32),
]
RAMP_S = 0.5


@dataclass(frozen=True)
class Figures:
    """The figures of one run."""

    iops: float
    p50_ns: float
    cpu_ns: float


def by_fio(path: Path, case: tuple[str, str, int], seconds: float, *, registered: bool) -> Figures:
    """One run of fio."""
    rw, bs, depth = case
    command = [
        "fio",
        "--name=pair",
        f"--filename={path}",
        "--readonly",
        f"--rw={rw}",
        f"--bs={bs}",
        f"--iodepth={depth}",
        "--ioengine=io_uring",
        "--direct=1",
        "--norandommap",
        "--time_based",
        f"--runtime={seconds}",
        f"--ramp_time={RAMP_S}",
        "--lat_percentiles=1",
        "--clat_percentiles=0",
        "--output-format=json",
        *(["--registerfiles=1", "--fixedbufs=1"] if registered else []),
    ]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    read = job["read"]
    busy = (job["usr_cpu"] + job["sys_cpu"]) / 100 * read["runtime"] * 1e6
    return Figures(read["iops"], read["lat_ns"]["percentile"]["50.000000"], busy / read["total_ios"])


def by_drivelab(path: Path, case: tuple[str, str, int], seconds: float) -> Figures:
    """One run of drivelab."""
    rw, bs, depth = case
    target = target_at(path)
    words = {"rw": rw, "bs": bs, "iodepth": str(depth), "runtime": f"{seconds}s", "ramp_time": f"{RAMP_S}s"}
    plan = plan_on(Source("", "command line"), overrides_from(words), target)
    point = measure_plan(plan, target, How()).records[0]
    return Figures(point["iops"], point["latency_ns"]["p50"], point["measured"]["cpu_ns_per_io"])


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median, and order statistics that contain the true one with at least 95 %, if there are enough values."""
    ranked, count = sorted(values), len(values)
    beyond, drop = 0.0, 0
    while True:
        beyond += 2 * math.comb(count, drop) / 2**count
        if beyond > 0.05 or drop + 1 > (count - 1) // 2:
            break
        drop += 1
    low = ranked[max(drop - 1, 0)]
    return statistics.median(ranked), low, ranked[count - 1 - max(drop - 1, 0)]


def main() -> int:
    """Run all pairs and print a line for each case. Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--registered", action="store_true", help="fio with registered file and buffers, too")
    parser.add_argument("--depth", type=int, help="only the cases of this depth")
    options = parser.parse_args()
    print(
        "case                     ours IOPS    IOPS ratio           p50 ratio            CPU ratio      ours, fio us"
    )
    for case in CASES:
        if options.depth not in {None, case[2]}:
            continue
        pairs: list[tuple[Figures, Figures]] = []
        for number in range(options.pairs):
            runs = [
                lambda: by_drivelab(options.file, case, options.seconds),  # noqa: B023 - called in this turn
                lambda: by_fio(options.file, case, options.seconds, registered=options.registered),  # noqa: B023
            ]
            found = [None, None]
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                found[which] = runs[which]()  # type: ignore[call-overload]
            pairs.append((found[0], found[1]))  # type: ignore[arg-type]
        ratios = [
            median_interval([getattr(ours, name) / getattr(fio, name) for ours, fio in pairs])
            for name in ("iops", "p50_ns", "cpu_ns")
        ]
        shown = "  ".join(f"{middle:.3f} ({low:.3f}-{high:.3f})" for middle, low, high in ratios)
        rate = statistics.median(ours.iops for ours, _ in pairs)
        cpu = [statistics.median(pair[which].cpu_ns for pair in pairs) / 1e3 for which in (0, 1)]
        name = f"{case[0]} {case[1]} depth {case[2]}"
        print(f"{name:<24} {rate:>9,.0f}  {shown}  {cpu[0]:.2f}, {cpu[1]:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
