"""fio's measurements, from its JSON and json+: a point for each group of jobs that ran together.

Read is what fio 2.0 to 3.x prints, of one host (`jobs`) and of `fio --client` (`client_stats`). fio runs once: the
error of its figures can at best be estimated from its own samples of IOPS. Documents of one run (status reports) count
as the last of them, runs of one job as repeats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from drivelab.errors import InputError
from drivelab.records import fio_figures
from drivelab.records.fio_axes import Options, axes_of, facts_of, has_rate, options_of, with_engine
from drivelab.records.fio_entry import MIXED, Entry
from drivelab.records.fio_parts import number, part_of
from drivelab.records.model import DIRECTIONS, Record, RecordPoint, scalars
from drivelab.report.plural import are, counted

# The name of fio's sum over hosts.
_ALL_CLIENTS = "All clients"
_ROUNDING_MS = 1000


def is_fio(document: Mapping[str, Any]) -> bool:
    """Whether a document is fio's."""
    jobs = _listed(document) or ()
    kinds = {*DIRECTIONS, MIXED}
    return "fio version" in document or any(isinstance(job, Mapping) and kinds & job.keys() for job in jobs)


def of_documents(documents: Sequence[Mapping[str, Any]], origin: str) -> Record:
    """The runs of a file. Raises InputError."""
    last, reports = _without_reports(documents)
    notes = (
        [f"{counted(reports, 'status report')} before the end of a run {are(reports)} left out"]
        if reports
        else []
    )
    entries: list[Entry] = []
    points: list[tuple[RecordPoint, list[Entry]]] = []
    for document in last:
        groups, of_all = _groups(document, origin)
        for group in groups:
            entries += group
            has_ios = any(part is not None for entry in group for part in entry.parts.values())
            point = _point(group, of_all, notes) if has_ios else None
            if point is not None and point.figures:
                points.append((point, group))
            else:
                what = "has no rate and no time" if has_ios else "made no I/O"
                notes.append(f"job {group[0].name} {what}{_why(group)}: it is left out")
    if not points:
        why = f" ({notes[-1]})" if notes else ""
        raise InputError(f"{origin}: no job of fio with results is in it; did fio end with an error?{why}")
    facts = scalars(last[0], ("fio version", "time"))
    facts |= _facts(entries)
    return Record(
        origin=origin,
        kind="fio",
        points=_told_apart(points),
        name=", ".join(dict.fromkeys(entry.name for entry in entries)),
        target=facts.get("filename", ""),
        facts=facts,
        notes=list(dict.fromkeys(notes)),
    )


def _why(group: Sequence[Entry]) -> str:
    error = next((entry.error for entry in group if entry.error), "")
    return f" (error {error})" if error else ""


def _told_apart(points: Sequence[tuple[RecordPoint, list[Entry]]]) -> list[RecordPoint]:
    """Points at one place that differ in the machine's options, or else in the job, get these as axes.

    They are not repeats of each other.
    """
    found = [point for point, _ in points]
    of_machine = [_facts(group) for _, group in points]
    names = dict.fromkeys(name for facts in of_machine for name in facts)
    for name in [*(name for name in names if name != "randseed"), "job"]:
        groups: dict[str, list[int]] = {}
        for at, point in enumerate(found):
            groups.setdefault(repr(point.axes), []).append(at)
        for places in groups.values():
            values = {
                at: points[at][1][0].name if name == "job" else of_machine[at].get(name, "") for at in places
            }
            if len(set(values.values())) > 1:
                for at, value in values.items():
                    own = {**found[at].axes, **({name: value} if value else {})}
                    found[at] = replace(found[at], axes=own)
    return found


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
    if None in map(number, stamps) or _names(before) != _names(after):
        return False
    jobs = [
        [job for job in _listed(document) or () if isinstance(job, Mapping)] for document in (before, after)
    ]
    begins, spans = [], []
    for stamp, found in zip(stamps, jobs, strict=True):
        elapsed = [job.get("elapsed") for job in found]
        runtimes = [(job.get("groupid"), job.get("job_runtime")) for job in found]
        if not found or None in map(number, [*elapsed, *(runtime for _, runtime in runtimes)]):
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


def _listed(document: Mapping[str, Any]) -> list[Any] | None:
    """The entries of a document: of its jobs, or of the clients of `fio --client`."""
    found = document.get("jobs", document.get("client_stats"))
    return found if isinstance(found, list) else None


def _names(document: Mapping[str, Any]) -> list[str]:
    return [str(job.get("jobname", "")) for job in _listed(document) or () if isinstance(job, Mapping)]


def _groups(document: Mapping[str, Any], origin: str) -> tuple[list[list[Entry]], Entry | None]:
    """Jobs that ran together, those that wait for others in a new group; and the sum over all hosts."""
    jobs = _listed(document)
    if jobs is None:
        raise InputError(f"{origin}: jobs is missing: this is no result of `fio --output-format=json`")
    key = "jobs" if "jobs" in document else "client_stats"
    found: dict[Any, list[Entry]] = {}
    of_all = None
    for at, job in enumerate(jobs):
        if not isinstance(job, Mapping):
            raise InputError(f"{origin}: {key}[{at}] is no object")
        _check(job, f"{origin}: {key}[{at}]")
        entry = _entry(job, document)
        if key == "client_stats" and entry.name == _ALL_CLIENTS and len(jobs) > 1:
            of_all = entry
        else:
            found.setdefault(job.get("groupid", at), []).append(entry)
    groups = list(found.values())
    return groups, of_all if len(groups) == 1 else None


def _check(job: Mapping[str, Any], place: str) -> None:
    """Refuse a job without results, and one whose results are no numbers. Raises InputError."""
    names = [name for name in (*DIRECTIONS, MIXED) if isinstance(job.get(name), Mapping)]
    if not names:
        raise InputError(f"{place} has none of {', '.join((*DIRECTIONS, MIXED))}: this is no job of fio")
    for name in names:
        if number(job[name].get("iops")) is None:
            raise InputError(f"{place}.{name}.iops is no number")


def _entry(job: Mapping[str, Any], document: Mapping[str, Any]) -> Entry:
    options = options_of(job, document)
    sizes = {one for one in axes_of(options, {}).items() if one[0] in {"bs", "bsrange", "bssplit"}}
    size = next((size for name, size in sizes if name == "bs" and isinstance(size, int)), None)
    parts = {name: part_of(job.get(name), size) for name in (*DIRECTIONS, MIXED)}
    error = str(job["error"]) if job.get("error") else ""
    host = ":".join(str(job[key]) for key in ("hostname", "port") if key in job)
    return Entry(str(job.get("jobname", "")), options, parts, host, error)


def _point(group: Sequence[Entry], of_all: Entry | None, notes: list[str]) -> RecordPoint:
    engines = [with_engine(entry.options, notes) for entry in group]
    group = [replace(entry, options=options) for entry, options in zip(group, engines, strict=True)]
    hosts = len({entry.host for entry in group})
    jobs = {entry.name: entry for entry in reversed(group)}
    axes: dict[str, Any] = {}
    for name, entry in reversed(jobs.items()):
        axes |= axes_of(entry.options, entry.parts, before=f"{name}." if len(jobs) > 1 else "")
    if hosts > 1:
        axes["hosts"] = hosts
    depths = [_depth(entry.options) for entry in jobs.values()]
    if all(depths):
        axes["depth"] = hosts * sum(depth for depth in depths if depth)
    notes += [
        f"job {entry.name} ended with error {entry.error}: its figures are of a part of the run"
        for entry in group
        if entry.error
    ]
    if any(not entry.options.is_complete and not entry.options.is_of_text for entry in group):
        notes.append(_unknown(group))
    there = [name for name in DIRECTIONS if any(entry.parts[name] for entry in group)]
    direction = there[0] if len(there) == 1 else ""
    is_complete = all(entry.options.is_complete for entry in group)
    figures = fio_figures.figures(group, of_all, notes)
    return RecordPoint(axes, figures, direction=direction, is_complete=is_complete)


def _unknown(group: Sequence[Entry]) -> str:
    if any(entry.options.stated for entry in group):
        return (
            "the options of each job are not printed, only the global ones: what is not among them is unknown"
        )
    return "the options of the run are not printed (fio before 2.15 prints none): its place is unknown"


def _depth(options: Options) -> int | None:
    """How many I/Os a job keeps outstanding; None if that varies, or is unknown."""
    texts = [options.get(name, "1") for name in ("iodepth", "numjobs")]
    if has_rate(options) or not all(text is not None and text.isdigit() for text in texts):
        return None
    return math.prod(int(text or 1) for text in texts)


def _facts(entries: Sequence[Entry]) -> dict[str, str]:
    """Options of the machine that all jobs have in common."""
    found = [facts_of(entry.options) for entry in entries]
    names = dict.fromkeys(name for facts in found for name in facts)
    return {name: found[0][name] for name in names if len({facts.get(name) for facts in found}) == 1}
