"""What the transport of an emulated device can do without the model, beside nbdkit's memory, by turns.

    python tools/transport_against_nbdkit.py [--turns 10] [--seconds 2] [--depths 1,32] [--drivelab PATH] [--loop]

`drivelab emulate --clock untimed` and `nbdkit memory` serve a gibibyte each at a Unix socket, and fio's nbd engine
reads and writes 4 KiB at random places, one after the other in each turn and in the opposite order in the next. The
ratios are of ours to theirs, turn by turn: their median, and the least and the most. Processor time is the server's,
for a request. With --loop (root) it is a loop device over the file that `--mount` shows, beside nothing: what FUSE and
the loop cost.
Needs Debian's fio and nbdkit, and `drivelab` beside this Python or on PATH. A table in Markdown goes to stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

DRIVE = "wd-4tb-7200"
SIZE = 1 << 30
KINDS = ["randread", "randwrite"]
TICKS = os.sysconf("SC_CLK_TCK")
START_S = 20.0


@dataclass(frozen=True)
class Figures:
    """What one run came to."""

    iops: float
    p50_us: float
    cpu_us: float
    """Of the server, a request."""


def cpu_s(pid: int) -> float:
    """The processor time that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def serving(command: Sequence[str], ready: Path) -> Iterator[int]:
    """A server, until the block ends."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + START_S
            while not ready.exists():
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"{command[0]} does not serve")
                time.sleep(0.02)
            time.sleep(0.2)
            yield process.pid
        finally:
            process.terminate()


def fio(pid: int, kind: str, depth: int, seconds: float, where: Sequence[str]) -> Figures:
    """One run of fio against a server."""
    words = ["fio", "--name=t", f"--rw={kind}", "--bs=4k", "--norandommap", "--time_based", f"--size={SIZE}"]
    words += [
        f"--iodepth={depth}",
        f"--runtime={round(1e3 * seconds)}ms",
        "--output-format=json",
    ]
    before = cpu_s(pid)
    done = subprocess.run([*words, *where], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"fio ended with status {done.returncode}: {done.stderr.strip()}")
    used = cpu_s(pid) - before
    job = json.loads(done.stdout[done.stdout.index("{\n") :])["jobs"][0]
    found = job[kind.removeprefix("rand")]
    p50_us = found["clat_ns"]["percentile"]["50.000000"] / 1e3
    return Figures(found["iops"], p50_us, 1e6 * used / found["total_ios"])


def ours(drivelab: str, folder: Path, kind: str, depth: int, seconds: float) -> Figures:
    """fio on our own server."""
    socket = folder / "ours.sock"
    with serving(
        [drivelab, "emulate", "--drive", DRIVE, "--clock", "untimed", "--socket", str(socket)], socket
    ) as pid:
        return fio(pid, kind, depth, seconds, ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}"])


def theirs(_drivelab: str, folder: Path, kind: str, depth: int, seconds: float) -> Figures:
    """fio on nbdkit's memory."""
    socket = folder / "theirs.sock"
    socket.unlink(missing_ok=True)
    with serving(["nbdkit", "--foreground", "--unix", str(socket), "memory", str(SIZE)], socket) as pid:
        return fio(pid, kind, depth, seconds, ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}"])


def looped(drivelab: str, folder: Path, kind: str, depth: int, seconds: float) -> Figures:
    """fio on a loop device over our file."""
    socket, at = folder / "ours.sock", folder / "at"
    at.mkdir(exist_ok=True)
    words = ["--clock", "untimed", "--socket", str(socket), "--mount", str(at)]
    with serving([drivelab, "emulate", "--drive", DRIVE, *words], at / "disk") as pid:
        attach = ["losetup", "--find", "--show", "--direct-io=on", f"--sizelimit={SIZE}", str(at / "disk")]
        device = subprocess.run(attach, capture_output=True, encoding="utf-8", check=True).stdout.strip()
        try:
            engine = ["--ioengine=libaio", "--direct=1", "--invalidate=0", f"--filename={device}"]
            return fio(pid, kind, depth, seconds, engine)
        finally:
            subprocess.run(["losetup", "--detach", device], check=False)


def spread(values: Sequence[float]) -> str:
    """The median, and between what the values lie."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def compared(drivelab: str, folder: Path, kind: str, depth: int, turns: int, seconds: float) -> list[str]:
    """A row: ours against theirs."""
    pairs = []
    for turn in range(turns):
        order = [ours, theirs] if turn % 2 == 0 else [theirs, ours]
        found = {run: run(drivelab, folder, kind, depth, seconds) for run in order}
        pairs.append((found[ours], found[theirs]))
    own, other = ([pair[place] for pair in pairs] for place in (0, 1))
    ratios = (
        [one.iops / two.iops for one, two in pairs],
        [one.p50_us / two.p50_us for one, two in pairs],
        [one.cpu_us / two.cpu_us for one, two in pairs],
    )
    medians = (statistics.median(one.iops for one in own), statistics.median(one.iops for one in other))
    return [kind, str(depth), *(f"{iops:,.0f}" for iops in medians), *(spread(ratio) for ratio in ratios)]


def alone(drivelab: str, folder: Path, kind: str, depth: int, turns: int, seconds: float) -> list[str]:
    """A row: the loop device."""
    found = [looped(drivelab, folder, kind, depth, seconds) for _ in range(turns)]
    columns = ([one.iops for one in found], [one.p50_us for one in found], [one.cpu_us for one in found])
    return [kind, str(depth), *(spread(column) for column in columns)]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--depths", default="1,32")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--drivelab")
    parser.add_argument("--loop", action="store_true")
    chosen = parser.parse_args()
    beside = Path(sys.executable).with_name("drivelab")
    drivelab = chosen.drivelab or (str(beside) if beside.exists() else "drivelab")
    for command in ("fio", "losetup" if chosen.loop else "nbdkit", drivelab):
        if shutil.which(command) is None:
            raise SystemExit(f"{command} is not there: install it")
    ratios = ["IOPS, ours to theirs", "p50", "processor time a request"]
    columns = ["", "depth", "ours, IOPS", "nbdkit, IOPS", *ratios]
    if chosen.loop:
        columns = ["", "depth", "IOPS", "p50 us", "processor us a request, server alone"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    row = alone if chosen.loop else compared
    with tempfile.TemporaryDirectory(prefix="transport-") as folder:
        for kind in chosen.kinds.split(","):
            for depth in map(int, chosen.depths.split(",")):
                found = row(drivelab, Path(folder), kind, depth, chosen.turns, chosen.seconds)
                print(f"| {' | '.join(found)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
