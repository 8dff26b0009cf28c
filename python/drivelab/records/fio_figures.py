"""The figures of jobs of fio that ran together, with their errors as far as fio's samples and percentiles tell them.

A response time is fio's `lat`; its percentiles are those of `lat` if fio has them, else of `clat`, with a note. What
one of the jobs does not tell is unknown of all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from drivelab.records import precision
from drivelab.records.fio_axes import has_rate, has_sizes
from drivelab.records.fio_entry import MIXED, Entry
from drivelab.records.fio_parts import Part, Times
from drivelab.records.model import DIRECTIONS, PERCENTILES, Figure

# With these the number of outstanding I/Os is not constant, and rate and mean response time are independent.
_OPEN = ("thinktime", "rate_process")
# fio's samples are of one thread; those of several do not add up to samples of the whole.
_NO_SAMPLES = "no interval: fio samples each job alone, and several ran together, or their number is unknown"
_FEW_SAMPLES = f"no interval: fewer than {precision.SAMPLES_MIN} samples of fio; a run of 10 s has about 20"
_OTHER_SAMPLES = (
    "no interval: fio's samples do not tell how the rate varied: they are of single I/Os (write_iops_log without "
    "log_avg_msec), or all alike"
)
_EACH_ALONE = (
    "no percentiles: fio prints those of each job alone; with --group_reporting, or json+, they "
    "can be added up"
)
_OF_CLAT = "percentiles are of fio's clat, from submission on; --lat_percentiles=1 has those of lat"
_NO_RATE = "IOPS are unknown: fio printed 0 for a run that made I/Os"


@dataclass(frozen=True)
class _Crowd:
    """What the errors of the figures depend on."""

    depth: float
    is_mixed: bool
    is_single: bool
    """Whether one thread alone ran, as the samples are of one."""
    is_open: bool


def figures(group: Sequence[Entry], of_all: Entry | None, notes: list[str]) -> dict[str, Figure]:
    """The figures of jobs that ran together; `of_all` is fio's own sum over several hosts."""
    parts = {name: _present(group, name) for name in (*DIRECTIONS, MIXED)}
    there = {name: parts[name] for name in DIRECTIONS if parts[name]}
    options = [entry.options for entry in group]
    crowd = _Crowd(
        depth=sum(_depth(entry) for entry in group),
        is_mixed=len(there) > 1 or bool(parts[MIXED]) or any(map(has_sizes, options)),
        is_single=len(group) == 1 and _is_one_thread(group[0]),
        is_open=any(has_rate(own) or any(name in own.stated for name in _OPEN) for own in options),
    )
    sums = {} if of_all is None else of_all.parts
    found: dict[str, Figure] = {}
    for name, own in there.items():
        before = "" if len(there) == 1 and not parts[MIXED] else f"{name}."
        found |= _of_kind(own, before, crowd, sums.get(name), notes)
    if parts[MIXED]:
        found |= _of_kind(parts[MIXED], "", crowd, sums.get(MIXED), notes)
    elif len(there) > 1:
        found |= _sums(there, found)
    return found


def _is_one_thread(entry: Entry) -> bool:
    """Whether one thread ran; if the options do not tell, samples are taken as those of several."""
    threads = entry.options.get("numjobs", "1")
    has_samples = any(part is not None and part.samples is not None for part in entry.parts.values())
    return threads == "1" or (threads is None and not has_samples)


def _present(group: Sequence[Entry], name: str) -> list[Part]:
    return [part for entry in group if (part := entry.parts.get(name)) is not None]


def _depth(entry: Entry) -> int:
    """How many I/Os an entry keeps outstanding; with --group_reporting it stands for all threads of its job."""
    texts = [entry.options.stated.get(name, "1") for name in ("iodepth", "numjobs")]
    return math.prod(int(text) if text.isdigit() else 1 for text in texts)


def _sums(there: Mapping[str, Sequence[Part]], found: Mapping[str, Figure]) -> dict[str, Figure]:
    """The figures of all I/Os from those of reads, writes and trims."""
    sums: dict[str, Figure] = {}
    for name in ("iops", "bytes_per_s"):
        own = [found.get(f"{kind}.{name}") for kind in there]
        if all(own):
            sums[name] = Figure(sum(figure.value for figure in own if figure))
    weights = {kind: math.fsum(part.weight for part in own) for kind, own in there.items()}
    if all(f"{kind}.mean" in found for kind in there) and all(weights.values()):
        total = math.fsum(found[f"{kind}.mean"].value * weight for kind, weight in weights.items())
        sums["mean"] = Figure(total / math.fsum(weights.values()))
    if all(f"{kind}.max" in found for kind in there):
        sums["max"] = Figure(max(found[f"{kind}.max"].value for kind in there))
    return sums


def _of_kind(
    parts: Sequence[Part], before: str, crowd: _Crowd, of_all: Part | None, notes: list[str]
) -> dict[str, Figure]:
    """Reads, writes, trims or all I/Os of jobs that ran together."""
    found: dict[str, Figure] = {}
    rate = _rate(parts, crowd, notes)
    if rate is not None:
        found[f"{before}iops"] = rate
    known = replace(rate or Figure(0.0), resolution=0.0)
    of_bytes = [part.bytes_per_s for part in parts]
    if all(value is not None for value in of_bytes):
        found[f"{before}bytes_per_s"] = replace(known, value=math.fsum(value or 0.0 for value in of_bytes))
    # In a closed loop mean and rate are each other's inverse, and so are their errors.
    error = Figure(0.0) if crowd.is_open else known
    times = [part.times["lat"] for part in parts if "lat" in part.times]
    if len(times) == len(parts):
        if (value := _mean(times, [part.weight for part in parts])) is not None:
            found[f"{before}mean"] = replace(error, value=value)
        if all(one.max for one in times):
            found[f"{before}max"] = Figure(max(one.max for one in times))
    whole = parts[0] if len(parts) == 1 else of_all
    if len(parts) > 1 and (whole is None or not _has_percentiles(whole)):
        whole = _merged(parts)
    if whole is None:
        notes.append(_EACH_ALONE)
    else:
        found |= _percentiles(whole, before, error, crowd, notes)
    return found


def _mean(times: Sequence[Times], weights: Sequence[float]) -> float | None:
    """The mean of all I/Os; None if one of the means, or of the numbers of I/Os, is unknown."""
    means = [one.mean for one in times]
    if len(means) == 1 or None in means:
        return means[0] if len(means) == 1 else None
    if not all(weights):
        return None
    return math.fsum((mean or 0.0) * n for mean, n in zip(means, weights, strict=True)) / math.fsum(weights)


def _has_percentiles(part: Part) -> bool:
    return any(times.printed or times.bins for times in part.times.values())


def _merged(parts: Sequence[Part]) -> Part | None:
    """The I/Os of several jobs with the bins of json+ added up; None without the bins of all."""
    times: dict[str, Times] = {}
    for name in ("lat", "clat"):
        own = [part.times[name] for part in parts if name in part.times and part.times[name].bins]
        if len(own) < len(parts):
            continue
        bins = sorted(pair for one in own for pair in one.bins)
        count = math.fsum(n for _, n in bins)
        mean = math.fsum(value * n for value, n in bins) / count
        square = math.fsum(n * (value - mean) ** 2 for value, n in bins) / count
        times[name] = Times(mean, math.sqrt(square), max(one.max for one in own), {}, bins)
    ios = [part.ios for part in parts]
    if not times or None in ios:
        return None
    return replace(parts[0], ios=math.fsum(one or 0.0 for one in ios), times=times)


def _rate(parts: Sequence[Part], crowd: _Crowd, notes: list[str]) -> Figure | None:
    """I/Os per second, with an error if fio's samples tell one."""
    rates = [part.iops for part in parts]
    if any(rate is None for rate in rates):
        notes.append(_NO_RATE)
        return None
    iops = math.fsum(rate or 0.0 for rate in rates)
    rounding = math.fsum(part.rounding * (part.iops or 0.0) for part in parts) / iops if iops else 0.0
    samples = parts[0].samples
    is_open = crowd.is_single and parts[0].has_other_samples
    if not crowd.is_single:
        notes.append(_NO_SAMPLES)
    elif is_open:
        notes.append(_OTHER_SAMPLES)
    elif samples is not None and samples.count >= precision.SAMPLES_MIN:
        return precision.of_samples(iops, samples.mean, samples.deviation, samples.count)
    else:
        notes.append(_FEW_SAMPLES)
    return Figure(iops, resolution=rounding, is_open=is_open)


def _percentiles(
    part: Part, before: str, error: Figure, crowd: _Crowd, notes: list[str]
) -> dict[str, Figure]:
    """The printed percentiles, or those of the bins, unless fewer than ten I/Os lie beyond."""
    for name in ("lat", "clat"):
        times = part.times.get(name)
        if times is None or not (times.printed or times.bins):
            continue
        if name == "clat":
            notes.append(_OF_CLAT)
        counts = times.bins
        quantile = (
            precision.quantile_of_counts(counts) if counts else precision.quantile_of_print(times.printed)
        )
        n = part.ios
        effective = (
            precision.independent(
                n, times.deviation / times.mean, error.error, crowd.depth, is_mixed=crowd.is_mixed
            )
            if error.basis and n is not None and times.mean
            else None
        )
        found = {}
        for key, share in PERCENTILES.items():
            value = quantile(share) if counts else times.printed.get(share)
            if value and (n is None or n * (1 - share) >= 10 - 1e-6):
                figure = precision.of_percentile(value, key, quantile, effective, error.freedom, error.basis)
                found[before + key] = replace(figure, is_open=error.is_open)
        return found
    return {}
