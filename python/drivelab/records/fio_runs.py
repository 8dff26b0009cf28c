"""fio's measurements, from its JSON and json+: a point for each group of jobs that ran together.

A response time is fio's `lat`, from submission to completion, as in drivelab's record; its percentiles are those of
`lat` if fio has them, else of `clat`, with a note. fio runs once: the error of its figures can at best be estimated
from its own samples of IOPS. Documents of one run (status reports) count as the last of them, runs of one job as
repeats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from drivelab.errors import InputError
from drivelab.plural import are, counted
from drivelab.records import precision
from drivelab.records.model import PERCENTILES, Figure, Record, RecordPoint, scalars
from drivelab.records.places import axes_of_jobs, fio_size

_DIRECTIONS = ("read", "write")
# Options on where and how fio ran that are not axes.
_FACTS = ("ioengine", "direct", "filename", "runtime", "size", "ramp_time")
_ROUNDING_MS = 1000
_NS_PER_US = 1e3
# These engines have one I/O outstanding, whatever iodepth says; psync is fio's default.
_SYNCHRONOUS = {"psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"}
# With these the number of outstanding I/Os is not constant, and rate and mean response time are independent.
_OPEN = ("rate_iops", "rate", "thinktime", "rate_process")
# With these I/Os have several sizes.
_SIZES = ("bssplit", "bsrange", "blocksize_range", "bs_unaligned")
# fio's samples are of one thread; those of several do not add up to samples of the whole.
_NO_SAMPLES = "no interval: fio samples each job alone, and several ran together"
_FEW_SAMPLES = f"no interval: fewer than {precision.SAMPLES_MIN} samples of fio; a run of 10 s has about 20"


def is_fio(document: Mapping[str, Any]) -> bool:
    """Whether a document is fio's."""
    return "fio version" in document or ("jobs" in document and "global options" in document)


def of_documents(documents: Sequence[Mapping[str, Any]], origin: str) -> Record:
    """The runs of a file. Raises InputError."""
    last, reports = _without_reports(documents)
    notes = (
        [f"{counted(reports, 'status report')} before the end of a run {are(reports)} left out"]
        if reports
        else []
    )
    groups = [(group, document) for document in last for group in _groups(document, origin)]
    points = _told_apart(
        [(_point(group, document, notes), str(group[0].get("jobname"))) for group, document in groups]
    )
    if not points:
        raise InputError(f"{origin}: no job of fio is in it; did fio end with an error?")
    facts = scalars(last[0], ("fio version", "time"))
    facts |= _facts(last)
    return Record(
        origin=origin,
        kind="fio",
        points=points,
        name=_names(last),
        target=facts.get("filename", ""),
        facts=facts,
        notes=list(dict.fromkeys(notes)),
    )


def _told_apart(points: Sequence[tuple[RecordPoint, str]]) -> list[RecordPoint]:
    """Points at one place from different jobs get the job as an axis: they are not repeats of each other."""
    jobs: dict[str, set[str]] = {}
    for point, job in points:
        jobs.setdefault(repr(point.axes), set()).add(job)
    return [
        replace(point, axes={**point.axes, "job": job}) if len(jobs[repr(point.axes)]) > 1 else point
        for point, job in points
    ]


def _without_reports(documents: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
    """The documents without reports on a run that the next one reports on too."""
    kept: list[Mapping[str, Any]] = []
    for document in documents:
        if kept and _goes_on(kept[-1], document):
            kept[-1] = document
        else:
            kept.append(document)
    return kept, len(documents) - len(kept)


def _goes_on(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two documents are of one run: the same start time, and run time that grew with the elapsed time."""
    stamps = [document.get("timestamp_ms") for document in (before, after)]
    if not all(map(_is_number, stamps)) or _names([before]) != _names([after]):
        return False
    jobs = [
        [job for job in document.get("jobs") or () if isinstance(job, Mapping)]
        for document in (before, after)
    ]
    begins, spans = [], []
    for stamp, found in zip(stamps, jobs, strict=True):
        elapsed = [job.get("elapsed") for job in found]
        runtimes = [(job.get("groupid"), job.get("job_runtime")) for job in found]
        if not found or not all(
            _is_number(value) for value in [*elapsed, *(runtime for _, runtime in runtimes)]
        ):
            return False
        begins.append(float(stamp or 0) - 1e3 * max(float(value or 0) for value in elapsed))
        groups: dict[Any, float] = {}
        for group, runtime in runtimes:
            groups[group] = max(groups.get(group, 0.0), float(runtime or 0))
        spans.append(sum(groups.values()))
    passed, run = float(stamps[1] or 0) - float(stamps[0] or 0), spans[1] - spans[0]
    # fio counts whole seconds from its start.
    is_same_begin = abs(begins[1] - begins[0]) <= _ROUNDING_MS
    return is_same_begin and passed / 2 <= run <= passed + _ROUNDING_MS / 2


def _names(documents: Iterable[Mapping[str, Any]]) -> str:
    names = [
        str(job.get("jobname", ""))
        for document in documents
        for job in document.get("jobs") or ()
        if isinstance(job, Mapping)
    ]
    return ", ".join(dict.fromkeys(names))


def _groups(document: Mapping[str, Any], origin: str) -> list[list[Mapping[str, Any]]]:
    """Jobs that ran together; those that wait for others begin a new group."""
    jobs = document.get("jobs")
    if not isinstance(jobs, list):
        raise InputError(f"{origin}: jobs is missing: this is no result of fio's --output-format=json")
    found: dict[Any, list[Mapping[str, Any]]] = {}
    for at, job in enumerate(jobs):
        if not isinstance(job, Mapping):
            raise InputError(f"{origin}: jobs[{at}] is no object")
        for name in _DIRECTIONS:
            part = job.get(name)
            if not isinstance(part, Mapping) or not _is_number(part.get("iops")):
                raise InputError(f"{origin}: jobs[{at}].{name}.iops is no number")
        if job.get("jobname") == "All clients":
            # fio's sum over hosts: its parts are listed separately.
            continue
        found.setdefault(job.get("groupid", at), []).append(job)
    return list(found.values())


def _point(group: Sequence[Mapping[str, Any]], document: Mapping[str, Any], notes: list[str]) -> RecordPoint:
    options = [_options(job, document) for job in group]
    for own in options:
        if own.get("ioengine", "psync") in _SYNCHRONOUS and str(own.get("iodepth", 1)) != "1":
            notes.append(
                f"{own.get('ioengine', 'psync')} has one I/O outstanding: iodepth {own['iodepth']} counts as 1"
            )
            own["iodepth"] = "1"
    named = {
        str(job.get("jobname", at)): own for at, (job, own) in enumerate(zip(group, options, strict=True))
    }
    axes = axes_of_jobs(named, fio_size)
    axes["depth"] = (
        sum(int(own.get("iodepth", 1)) * _jobs_of(own, len(group), len(named)) for own in named.values())
        if all("rate_iops" not in own and str(own.get("iodepth", 1)).isdigit() for own in named.values())
        else None
    )
    axes = {name: value for name, value in axes.items() if value is not None}
    notes += [
        f"job {job.get('jobname')} ended with error {job['error']}: its figures are of a part of the run"
        for job in group
        if job.get("error")
    ]
    there = [name for name in _DIRECTIONS if any(job[name].get("total_ios") for job in group)]
    direction = there[0] if len(there) == 1 else ""
    return RecordPoint(axes, _figures(group, options, notes), direction=direction)


def _jobs_of(options: Mapping[str, Any], entries: int, names: int) -> int:
    """How many threads a job had."""
    text = str(options.get("numjobs", 1))
    return int(text) if text.isdigit() else max(entries // names, 1)


def _depth_of(options: Mapping[str, Any]) -> int:
    """How many I/Os an entry keeps outstanding; with --group_reporting it stands for all threads of its job."""
    texts = [str(options.get(name, 1)) for name in ("iodepth", "numjobs")]
    return math.prod(int(text) if text.isdigit() else 1 for text in texts)


def _options(job: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a job over the global options."""
    common, own = document.get("global options"), job.get("job options")
    return {
        **(common if isinstance(common, Mapping) else {}),
        **(own if isinstance(own, Mapping) else {}),
    }


def _figures(
    group: Sequence[Mapping[str, Any]], options: Sequence[Mapping[str, Any]], notes: list[str]
) -> dict[str, Figure]:
    parts = {name: [job[name] for job in group if job[name].get("total_ios")] for name in _DIRECTIONS}
    there = {name: found for name, found in parts.items() if found}
    is_single = len(group) == 1 and str(options[0].get("numjobs", 1)) == "1"
    is_open = any(name in own for own in options for name in _OPEN)
    depth = sum(_depth_of(own) for own in options)
    crowd = (depth, len(there) > 1 or any(name in own for own in options for name in _SIZES))
    figures: dict[str, Figure] = {}
    for name, found in there.items():
        before = "" if len(there) == 1 else f"{name}."
        of_direction = _direction(found, before, crowd, is_single=is_single, is_open=is_open, notes=notes)
        figures.update(of_direction)
    if len(there) == 2:
        for name in ("iops", "bytes_per_s"):
            figures[name] = Figure(sum(figures[f"{one}.{name}"].value for one in there))
        ios = {one: sum(part["total_ios"] for part in found) for one, found in there.items()}
        if all(f"{one}.mean" in figures for one in there):
            total = sum(figures[f"{one}.mean"].value * ios[one] for one in there)
            figures["mean"] = Figure(total / sum(ios.values()))
            figures["max"] = Figure(max(figures[f"{one}.max"].value for one in there))
    if not there:
        figures = {"iops": Figure(0.0), "bytes_per_s": Figure(0.0)}
    return figures


def _direction(
    parts: Sequence[Mapping[str, Any]],
    before: str,
    crowd: tuple[float, bool],
    *,
    is_single: bool,
    is_open: bool,
    notes: list[str],
) -> dict[str, Figure]:
    """Reads, or writes, of jobs that ran together."""
    first = parts[0]
    iops = math.fsum(part["iops"] for part in parts)
    rate = Figure(iops)
    if is_single:
        rate = precision.of_samples(
            iops,
            first.get("iops_mean") or 0.0,
            first.get("iops_stddev") or 0.0,
            int(first.get("iops_samples") or 0),
        )
    if rate.error is None:
        notes.append(_FEW_SAMPLES if is_single else _NO_SAMPLES)
    of_bytes = math.fsum(part.get("bw_bytes") or (part.get("bw") or 0) * 1024 for part in parts)
    figures = {
        f"{before}iops": rate,
        f"{before}bytes_per_s": Figure(of_bytes, rate.error, rate.freedom, basis=rate.basis),
    }
    ios = math.fsum(part["total_ios"] for part in parts)
    times = [(_times(part, "lat"), part["total_ios"]) for part in parts]
    means = [(table["mean"] * factor, n) for (table, factor), n in times if _is_number(table.get("mean"))]
    if len(means) != len(parts) or not any(mean for mean, _ in means):
        return figures
    mean = math.fsum(value * n for value, n in means) / ios
    # In a closed loop mean and rate are each other's inverse, and so are their errors.
    known = Figure(mean) if is_open else Figure(mean, rate.error, rate.freedom, basis=rate.basis)
    figures[f"{before}mean"] = known
    figures[f"{before}max"] = Figure(max((table.get("max") or 0) * factor for (table, factor), _ in times))
    if len(parts) == 1:
        figures.update(_percentiles(first, before, known, crowd, notes))
    else:
        notes.append(
            "no percentiles: fio prints those of each job alone; with --group_reporting it adds them up"
        )
    return figures


def _percentiles(
    part: Mapping[str, Any], before: str, mean: Figure, crowd: tuple[float, bool], notes: list[str]
) -> dict[str, Figure]:
    """The printed percentiles, or those of the bins, if at least ten I/Os lie beyond."""
    for name in ("lat", "clat"):
        table, factor = _times(part, name)
        printed = table.get("percentile")
        if not isinstance(printed, Mapping) or not printed:
            continue
        if name == "clat":
            notes.append(
                "percentiles are of fio's clat, from submission on; --lat_percentiles=1 has those of lat"
            )
        shares = {
            float(share) / 100: value * factor
            for share, value in printed.items()
            if _is_share(share) and _is_number(value)
        }
        bins = table.get("bins")
        counts = (
            [(float(value) * factor, float(count)) for value, count in bins.items() if _is_share(value, 1e18)]
            if isinstance(bins, Mapping)
            else []
        )
        quantile = precision.quantile_of_counts(counts) if counts else precision.quantile_of_print(shares)
        n, (depth, is_mixed) = part["total_ios"], crowd
        own_mean, own_deviation = table.get("mean") or 0.0, table.get("stddev") or 0.0
        effective = (
            precision.independent(n, own_deviation / own_mean, mean.error, depth, is_mixed=is_mixed)
            if own_mean > 0 and mean.basis
            else None
        )
        found = {}
        for key, share in PERCENTILES.items():
            value = shares.get(share) if not counts else quantile(share)
            if value and n * (1 - share) >= 10 - 1e-6:
                found[before + key] = precision.of_percentile(
                    value, key, quantile, effective, mean.freedom, mean.basis
                )
        return found
    return {}


def _times(part: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], float]:
    """fio's times of one kind, and the factor to nanoseconds; fio before 3.0 has microseconds."""
    for key, factor in ((f"{name}_ns", 1.0), (name, _NS_PER_US), (f"{name}_us", _NS_PER_US)):
        table = part.get(key)
        if isinstance(table, Mapping):
            return table, factor
    return {}, 1.0


def _facts(documents: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Options that all jobs have in common and that are not axes."""
    found: dict[str, dict[str, None]] = {}
    for document in documents:
        for job in document.get("jobs") or ():
            options = _options(job, document)
            for name in _FACTS:
                found.setdefault(name, {})[str(options.get(name, ""))] = None
    return {
        name: next(iter(values)) for name, values in found.items() if len(values) == 1 and next(iter(values))
    }


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    )


def _is_share(text: object, most: float = 100.0) -> bool:
    try:
        return 0 <= float(str(text)) <= most
    except ValueError:
        return False
