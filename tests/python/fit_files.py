"""A small drive whose fit takes seconds, and files as if it had been measured."""

from __future__ import annotations

import numpy as np

from drivelab import _core, simulate
from drivelab.report import toml_text
from drivelab.scenarios.scenario import Source, plan

TRUTH = {
    "rpm": "7180rpm",
    "write_cache": False,
    "cache": False,
    "geometry": {
        "heads": 2,
        "zones": [
            {"cylinders": 4000, "sectors_per_track": 1200},
            {"cylinders": 4000, "sectors_per_track": 1000},
            {"cylinders": 2000, "sectors_per_track": 600},
        ],
    },
    "skew": {"track": "0.21rev", "cylinder": "0.27rev"},
    "seek": {"single": "1ms", "average": "8ms", "full": "16ms", "form": "lee"},
    "settle": {"head_switch": "0s", "write_settle": "0.5ms", "scatter": "0.05ms"},
    "firmware": {"read_hit": "0s", "read_miss": "0.4ms", "write": "0.3ms"},
    "link": {"rate": "300MB/s"},
    "queue": {"protocol": "ncq", "depth": 32, "order": "sptf", "read_margin": "0.3ms"},
}
SHEET = {
    **TRUTH,
    "rpm": "7200rpm",
    "seek": {"single": "1.2ms", "average": "9ms", "full": "18ms"},
    "settle": {"head_switch": "0s", "write_settle": "0.5ms"},
    "firmware": {"read_hit": "0s", "read_miss": "0.3ms", "write": "0.3ms"},
    "queue": {"protocol": "ncq", "depth": 32, "order": "sptf"},
}
# The same as a data sheet has it.
RATES = {
    **{key: value for key, value in SHEET.items() if key != "skew"},
    "geometry": {"heads": 2, "capacity": "20000000 sectors", "outer_rate": "75MB/s", "inner_to_outer": "50%"},
}


def drive_plan(drive):
    """A plan of it for replays."""
    return plan(Source(toml_text.dumps({"target": {"drive": drive}, "workload": {"bs": "512B"}}), "made up"))


def write_chain(folder, name, drive=TRUTH, reads=300, writes=100, seed=3):
    """A chain at random addresses, as the drive serves it."""
    draw = np.random.default_rng(seed)
    last = drive_plan(drive).capacity_bytes(0) // 4096 - 16
    read = np.sort(draw.permutation(reads + writes) < reads)[::-1]
    pages = draw.integers(0, last, reads + writes)
    trace = folder / "made.trace"
    trace.write_text(
        "".join(f"{'R' if r else 'W'} Hit {8 * p} 8 1 0\n" for r, p in zip(read, pages, strict=True))
    )
    times = np.array(_core.replay(drive_plan(drive), str(trace))["simulated_ns"]) / 1e6
    rows = enumerate(zip(read, pages, times, strict=True))
    lines = [f"{i},{p * 4096},4096,{'r' if r else 'w'},{t:.4f}" for i, (r, p, t) in rows]
    (folder / name).write_text("# made up\ni,byte_offset,bytes,rw,time_ms\n" + "\n".join(lines) + "\n")
    return times


def write_sweep(folder, name, drive=TRUTH, depths=(1, 4, 16), seed=8):
    """A sweep, as the drive serves it."""
    scenario = {
        "target": {"drive": drive},
        "workload": {"rw": "randread", "bs": "4KiB", "iodepth": list(depths)},
        "run": {"duration": "60s", "warmup": "2s", "seed": seed},
    }
    points = simulate(scenario).points
    lines = [
        f"{d},{p['iops']:.2f},{p['latency_ns']['p99'] / 1e6:.2f}" for d, p in zip(depths, points, strict=True)
    ]
    (folder / name).write_text("iodepth,iops,p99_ms\n" + "\n".join(lines) + "\n")


def write_drive(folder, name, drive):
    """A drive file."""
    (folder / name).write_text(toml_text.dumps(drive))
