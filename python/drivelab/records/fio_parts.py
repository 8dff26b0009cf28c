"""What fio printed of the I/Os of one kind (read, write, trim, mixed), in the units of the record, for fio 2.0 to 3.x.

What changed from version to version: times are in us before 3.0; `io_bytes` are KiB before `io_kbytes` came beside
it; `total_ios` came with 2.1.14, and `iops` was a whole number until then; the bins of json+ were numbered until 2.19.
A figure that is not printed, and does not follow from others, is None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_NS_PER_US = 1e3
_MS_PER_S = 1e3
# The largest key of a bin that is a time, not a bound that no I/O has.
_TIME_MAX = 1e18
# `iops_mean` is of samples over time if it is as near to the rate as this; samples of single I/Os are far from it.
_SAMPLES_NEAR = 0.25
_SHARE_DIGITS = 12


@dataclass(frozen=True)
class Times:
    """A distribution of response times, in ns."""

    mean: float | None
    deviation: float
    max: float
    printed: dict[float, float]
    """Percentiles by the share that does not exceed each."""
    bins: list[tuple[float, float]]
    """Times with their counts; empty without json+."""


@dataclass(frozen=True)
class Samples:
    """fio's samples of a rate over time."""

    mean: float
    deviation: float
    count: int


@dataclass(frozen=True)
class Part:
    """The I/Os of one kind of one entry."""

    ios: float | None
    iops: float | None
    rounding: float
    """The possible effect of rounding on `iops`, as a share of it."""
    bytes_per_s: float | None
    io_bytes: float | None
    """The mean size of an I/O."""
    times: dict[str, Times]
    """`lat` from submission to completion, and `clat` from the end of submission."""
    samples: Samples | None
    has_other_samples: bool
    """Whether fio printed samples that do not tell how the rate varied."""

    @property
    def weight(self) -> float:
        """The share of this part in a sum of several, by number of I/Os."""
        return self.ios or self.iops or 0.0


def part_of(table: object, size: float | None) -> Part | None:
    """The I/Os of one kind; None if there were none. `size` is that of each I/O, if all have one."""
    if not isinstance(table, Mapping):
        return None
    times = {name: found for name in ("lat", "clat") if (found := _times(table, name)) is not None}
    bytes_all, runtime_s = _bytes(table), (number(table.get("runtime")) or 0.0) / _MS_PER_S
    total = number(table.get("total_ios"))
    stated = number(table.get("iops"))
    is_idle = not any((bytes_all, stated, times))
    if total == 0 or (total is None and is_idle):
        return None
    if total is None and bytes_all and size:
        total = bytes_all / size
    ios = total if total is not None else stated * runtime_s if stated and runtime_s else None
    iops, rounding = _rate(stated, total, runtime_s, is_whole=isinstance(table.get("iops"), int))
    rate = number(table.get("bw_bytes")) or (bytes_all / runtime_s if bytes_all and runtime_s else None)
    if rate is None and (kib := number(table.get("bw"))):
        rate = 1024 * kib
    each = (
        bytes_all / total if bytes_all and total else rate / iops if rate and iops and not rounding else None
    )
    samples = _samples(table, iops, ios)
    has_others = samples is None and bool(number(table.get("iops_samples")))
    return Part(ios, iops, rounding, rate, each, times, samples, has_others)


def _rate(
    stated: float | None, total: float | None, runtime_s: float, *, is_whole: bool
) -> tuple[float | None, float]:
    """I/Os per second, and the share by which rounding may have changed it."""
    counted = total / runtime_s if total and runtime_s else None
    if stated and not is_whole:
        return stated, 0.0
    if counted is not None and (not stated or stated <= counted < stated + 1):
        # Early versions cut the digits behind the point.
        return counted, 0.0
    return (stated, 1 / stated) if stated else (None, 0.0)


def _bytes(table: Mapping[str, Any]) -> float | None:
    """How many bytes were transferred; None if that is not printed."""
    found = number(table.get("io_bytes"))
    if not found or "io_kbytes" in table:
        return found
    rate, runtime = number(table.get("bw")), number(table.get("runtime"))
    if rate and runtime:
        kib = rate * runtime / _MS_PER_S
        # `bw` is in KiB/s in every version.
        return found if abs(math.log(found / kib / 1024)) < abs(math.log(found / kib)) else 1024 * found
    return 1024 * found


def _times(table: Mapping[str, Any], name: str) -> Times | None:
    """fio's times of one kind; None if they were not measured."""
    forms = ((f"{name}_ns", 1.0), (name, _NS_PER_US), (f"{name}_us", _NS_PER_US))
    found = [(own, factor) for key, factor in forms if isinstance(own := table.get(key), Mapping)]
    if not found:
        return None
    own, factor = found[0]
    mean = number(own.get("mean"))
    printed = own.get("percentile")
    shares = {
        # Rounded, since 99.9 / 100 is not 0.999.
        round(float(share) / 100, _SHARE_DIGITS): value * factor
        for share, value in (printed.items() if isinstance(printed, Mapping) else ())
        # Early versions fill the list with `0.00`.
        if _is_between(share, 0.0, 100.0) and number(value) is not None and float(share) > 0
    }
    bins = _bins(own.get("bins"), factor)
    if not mean and not any(shares.values()) and not bins:
        return None
    return Times(
        mean * factor if mean else None,
        (number(own.get("stddev")) or 0.0) * factor,
        (number(own.get("max")) or 0.0) * factor,
        shares,
        bins,
    )


def _bins(table: object, factor: float) -> list[tuple[float, float]]:
    """The bins of json+ as times with counts."""
    if not isinstance(table, Mapping):
        return []
    bits = number(table.get("FIO_IO_U_PLAT_BITS"))
    found = [
        (float(key), count)
        for key, value in table.items()
        if _is_between(key, 0.0, _TIME_MAX) and (count := number(value))
    ]
    if bits is not None:
        found = [(_of_number(int(key), int(bits)), count) for key, count in found]
    return sorted((key * factor, count) for key, count in found)


def _of_number(at: int, bits: int) -> float:
    """The middle of the bin of a number, as fio lays them out: 2^bits in each power of two."""
    if at < 2 << bits:
        return float(at)
    coarse = (at >> bits) - 1
    return float(2 ** (coarse + bits) + (at % 2**bits + 0.5) * 2**coarse)


def _samples(table: Mapping[str, Any], iops: float | None, ios: float | None) -> Samples | None:
    """fio's samples of IOPS, if they are samples over time.

    With `write_iops_log` and without `log_avg_msec` each is of a single I/O: their mean is 1, whatever the rate.
    """
    mean, deviation, count = (number(table.get(f"iops_{name}")) for name in ("mean", "stddev", "samples"))
    if not iops or not mean or not deviation or not count:
        return None
    is_of_one = ios is not None and count > ios / 2
    return None if is_of_one or abs(mean / iops - 1) > _SAMPLES_NEAR else Samples(mean, deviation, int(count))


def number(value: object) -> float | None:
    """A finite number from 0 on; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _is_between(text: object, low: float, high: float) -> bool:
    try:
        return low <= float(str(text)) <= high
    except ValueError:
        return False
