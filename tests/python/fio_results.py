"""Results of fio as its versions print them, of made-up runs: what tests of reading them change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SHARES = (50.0, 90.0, 95.0, 99.0, 99.9)


def times(mean_ns: float, factor: float, **more: object) -> dict[str, Any]:
    """Response times of a kind; `factor` is the version's unit in ns."""
    mean = mean_ns / factor
    return {"min": round(mean / 4), "max": round(mean * 9), "mean": mean, "stddev": mean / 3, **more}


def percentiles(mean_ns: float, factor: float) -> dict[str, float]:
    """Printed percentiles, from the median at the mean up."""
    return {f"{share:.6f}": round(mean_ns / factor * (1 + share / 100 - 0.5)) for share in SHARES}


def part_2_1(ios: int, seconds: int, bs: int, mean_ns: float) -> dict[str, Any]:
    """fio 2.0 to 2.1.13: whole IOPS, KiB, microseconds, no number of I/Os."""
    us = 1e3
    filled = {**percentiles(mean_ns, us), "0.00": 0}
    return {
        "io_bytes": ios * bs // 1024,
        "bw": ios * bs // seconds // 1024,
        "iops": ios // seconds,
        "runtime": 1000 * seconds,
        "slat": times(100.0, us),
        "clat": times(mean_ns, us, percentile=filled),
        "lat": times(mean_ns, us),
        "bw_mean": ios * bs / seconds / 1024,
    }


def part_2_16(ios: int, seconds: int, bs: int, mean_ns: float) -> dict[str, Any]:
    """fio 2.16 with json+: IOPS with digits, still KiB and microseconds, numbered bins."""
    us = 1e3
    found = part_2_1(ios, seconds, bs, mean_ns)
    # 2^6 bins in each power of two: this one spans 1024 us to 1040 us.
    bins = {str(at): 0 for at in range(400)} | {"320": ios}
    bins |= {"FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_VAL": 64, "FIO_IO_U_PLAT_NR": 1216}
    clat = {**times(mean_ns, us, percentile=percentiles(mean_ns, us)), "bins": bins}
    return {**found, "iops": ios / seconds, "total_ios": ios, "short_ios": 0, "drop_ios": 0, "clat": clat}


def part_3(ios: int, seconds: int, bs: int, mean_ns: float, **more: object) -> dict[str, Any]:
    """fio 3.x: nanoseconds, bytes, samples of IOPS."""
    return {
        "io_bytes": ios * bs,
        "io_kbytes": ios * bs // 1024,
        "bw_bytes": ios * bs // max(seconds, 1),
        "bw": ios * bs // max(seconds, 1) // 1024,
        "iops": ios / max(seconds, 1),
        "runtime": 1000 * seconds,
        "total_ios": ios,
        "slat_ns": times(100.0, 1.0, N=ios),
        "clat_ns": times(mean_ns, 1.0, N=ios, percentile=percentiles(mean_ns, 1.0)),
        "lat_ns": times(mean_ns, 1.0, N=ios),
        "iops_mean": ios / max(seconds, 1),
        "iops_stddev": ios / max(seconds, 1) / 20,
        "iops_samples": 2 * seconds,
        **more,
    }


def idle(part: Mapping[str, Any]) -> dict[str, Any]:
    """The same keys for a kind of I/O that did not occur."""
    return {key: idle(value) if isinstance(value, Mapping) else 0 for key, value in part.items()}


def job(options: Mapping[str, str] | None, name: str = "j", **parts: Mapping[str, Any]) -> dict[str, Any]:
    """A job with its kinds of I/O; `options` None prints none."""
    first = next(iter(parts.values()))
    own = {} if options is None else {"job options": {"name": name, **options}}
    rest = {} if "mixed" in parts and len(parts) == 1 else {k: idle(first) for k in ("read", "write", "trim")}
    return {"jobname": name, "groupid": 0, "error": 0, **own, **rest, **parts}


def document(*jobs: Mapping[str, Any], version: str = "fio-3.33", **more: object) -> dict[str, Any]:
    """A document of fio."""
    return {"fio version": version, **more, "jobs": list(jobs)}
