"""What fio finds on a disk made slow by a fixed delay, on the emulated drive, and what the drive itself does.

    python tools/emulate_against_nbdkit.py [--seconds 30] [--depths 1,4,16,32]

Random reads of 128 KiB over a 7 200 rpm SATA drive of 22 TB: as measured on the drive with fio (cdl-tools, Western
Digital; docs/studies/accuracy.md), as `drivelab simulate` has it, as fio finds it on the drive that `drivelab emulate`
serves, and on a disk in memory behind nbdkit's delay filter, whose delay is the drive's own mean with one request
outstanding. Needs Debian's fio and nbdkit, and `drivelab` beside this Python or on PATH. A table in Markdown goes to
stdout.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Requests per second, and p99 in ms.
PUBLISHED = {
    1: (82.0, 20),
    2: (88.0, 40),
    4: (97.2, 65),
    8: (115.4, 110),
    16: (141.0, 185),
    24: (154.3, 255),
    32: (165.6, 323),
}
SOURCES = ["simulated", "emulated", "delay filter"]
DELAY_MS = round(1e3 / PUBLISHED[1][0])
QUEUE = '{ order = "share-aged-sptf", age_share = 1.5, chooses = "after-answer", answer_time = "0.05ms" }'
DRIVE = ["--drive", "wd-ultrastar-dc-hc580-24tb", "--set", f"target.queue={QUEUE}"]
RAMP_S = 1


@dataclass(frozen=True)
class Figures:
    """The figures of one run."""

    iops: float
    p99_ms: float


def asked(command: Sequence[str]) -> str:
    """The output of a command. Raises SystemExit with its error output if it fails."""
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def fio(depth: int, seconds: float) -> str:
    """A shell command that runs fio on the device at `$uri`."""
    return (
        "fio --name=test --ioengine=nbd --uri=$uri --rw=randread --bs=128k --norandommap --time_based "
        f"--iodepth={depth} --runtime={seconds:g} --ramp_time={RAMP_S} --output-format=json"
    )


def of_fio(printed: str) -> Figures:
    """The figures of fio's JSON, which other lines may precede."""
    found = json.loads(printed[printed.index("{\n") :])["jobs"][0]["read"]
    return Figures(found["iops"], found["clat_ns"]["percentile"]["99.000000"] / 1e6)


def simulated(drivelab: str, depth: int, _seconds: float) -> Figures:
    """Ten minutes of the model."""
    words = [
        "--rw",
        "randread",
        "--bs",
        "128KiB",
        "--iodepth",
        str(depth),
        "--runtime",
        "600s",
        "--json",
        "-q",
    ]
    (point,) = json.loads(asked([drivelab, "simulate", *DRIVE, *words]))["points"]
    return Figures(point["iops"], point["latency_ns"]["p99"] / 1e6)


def emulated(drivelab: str, depth: int, seconds: float) -> Figures:
    """fio on the model as a block device."""
    return of_fio(asked([drivelab, "emulate", *DRIVE, "--quiet", "--run", fio(depth, seconds)]))


def delayed(_drivelab: str, depth: int, seconds: float) -> Figures:
    """fio on a disk in memory, with a constant delay for each read."""
    disk = ["nbdkit", "--threads", "64", "--filter=delay", "memory", "size=1T", f"delay-read={DELAY_MS}ms"]
    return of_fio(asked([*disk, "--run", fio(depth, seconds)]))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--depths", default="1,4,16,32")
    chosen = parser.parse_args()
    beside = Path(sys.executable).with_name("drivelab")
    drivelab = str(beside) if beside.exists() else shutil.which("drivelab")
    for command in ("fio", "nbdkit", drivelab or "drivelab"):
        if shutil.which(command) is None:
            raise SystemExit(f"{command} is not there: install it")
    depths = [int(depth) for depth in chosen.depths.split(",")]
    if unknown := [depth for depth in depths if depth not in PUBLISHED]:
        raise SystemExit(f"--depths {unknown[0]}: published are {', '.join(map(str, PUBLISHED))}")
    columns = ["depth", "the drive, I/O/s", *SOURCES, "the drive, p99 ms", *SOURCES]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for depth in depths:
        rows = [Figures(*PUBLISHED[depth])]
        rows += [run(str(drivelab), depth, chosen.seconds) for run in (simulated, emulated, delayed)]
        rates = [f"{one.iops:.1f}" if one.iops < 1e3 else f"{one.iops:.0f}" for one in rows]
        tails = [f"{one.p99_ms:.0f}" for one in rows]
        print(f"| {' | '.join([str(depth), *rates, *tails])} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
