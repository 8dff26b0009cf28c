"""fio's output for people ("normal"), of fio 1.5x to 3.x: a block for each job, or for a group with --group_reporting.

A block begins with `name: (groupid=0, jobs=1): err= 0: ..`. Rates are taken from the counts (`issued`) and the run time
in ms, since the printed ones have three digits; bytes from the counts and the block size of the job's header, else from
the printed bandwidth where its unit is plain (KiB/s; the KB of fio 2 is 1024 or 1000 bytes by kb_base, which is not
printed). k and M of times and counts are 1000 and 1000000. The header before the run has the kind of I/O, sizes, engine
and depth; other options are not printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from drivelab.fio import values
from drivelab.records.formats import fio_header
from drivelab.records.formats.fio_header import Header, header_of, shared
from drivelab.records.formats.shape import NS_PER, Format, Found, Text, short
from drivelab.records.model import DIRECTIONS

_ENTRY = re.compile(
    r"(?P<name>\S.*?): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d+)\): err=\s*(?P<error>\d+)\s*"
    r"[:(](?:.*?\bpid=(?P<pid>\d+))?.*"
)
_KIND = re.compile(r"\s+(?P<kind>read|write|trim|mixed)\s*: (?P<rest>(?:IOPS|io)=.*)")
_RUN = re.compile(r"(?:/|runt=\s*)(?P<ms>\d+)\s*msec")
_RATE = re.compile(r"BW=(?P<rate>[\d.]+\s*[KMGT]?i?B)/s")
_TIMES = re.compile(
    r"\s+(?P<name>[sc]?lat) \((?P<unit>nsec|usec|msec)\): min=\s*(?P<min>[\d.]+[kKMG]?)\s*"
    r", max=\s*(?P<max>[\d.]+[kKMG]?)"
    r"\s*, avg=\s*(?P<mean>[\d.]+[kKMG]?)\s*, stdev=\s*(?P<stddev>[\d.]+[kKMG]?)\s*"
)
_PERCENTILES = re.compile(r"\s+(?P<name>c?lat) percentiles \((?P<unit>nsec|usec|msec)\):\s*")
_PERCENTILE = re.compile(r"(?P<share>\d+\.\d+)th=\[\s*>?=?(?P<time>[\d.]+)\]")
_SAMPLES = re.compile(
    r"\s+iops\s*: min=\s*\S+, max=\s*\S+, avg=\s*(?P<mean>[\d.]+), stdev=\s*(?P<stddev>[\d.]+)"
    r", samples=\s*(?P<count>\d+)\s*"
)
# `total=1,2,0,0` of fio 3, `total=r=1/w=2/d=0` of fio 2, `total=1/2` of fio 1.
_ISSUED = re.compile(r"\s+issued\b.*?: total=(?P<counts>[\d,/rwd=]+)[,\s].*")
_FACTOR = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_UNITS = {"nsec": NS_PER["ns"], "usec": NS_PER["us"], "msec": NS_PER["ms"]}
_MS_PER_S = 1e3
_TWO_REPORTS = "a job is there more than once in a run (status reports): the last report counts"
_BYTES_UNKNOWN = (
    "bytes per second are unknown: the block size is not in the text, "
    "and KB of this version is 1024 or 1000 bytes"
)


@dataclass
class _Entry:
    line: int
    name: str
    group: int
    jobs: int
    error: int
    pid: str
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: list[int] | None = None


@dataclass
class _Run:
    """What one start of fio printed."""

    headers: list[Header] = field(default_factory=list)
    entries: list[_Entry] = field(default_factory=list)
    version: str = ""


def fits(text: Text) -> bool:
    """Whether a text has a block of a job."""
    return any(_ENTRY.fullmatch(line) for line in text.lines)


def _read(text: Text) -> Found:
    notes = ["fio's text has the kind, sizes, engine and depth of a job; its other options are unknown"]
    documents = []
    for run in _runs(text):
        # Reports on one job have its process in common; jobs of one name have one each.
        last = {(entry.group, entry.name, entry.pid): entry for entry in run.entries}
        if len(last) < len(run.entries):
            notes.append(_TWO_REPORTS)
        run.entries = [*last.values()]
        _check(text, run)
        if any(header.is_old for header in run.headers):
            notes.append(fio_header.OLD_K)
        jobs = [_job(text, run, entry, notes) for entry in run.entries]
        documents.append({"fio version": run.version, "jobs": jobs})
    return Found(documents, list(dict.fromkeys(notes)))


def _check(text: Text, run: _Run) -> None:
    """Refuse several jobs of a group whose headers are missing: they may be of several runs. Raises InputError."""
    seen: dict[int, _Entry] = {}
    for entry in run.entries:
        if not run.headers and entry.group in seen:
            raise text.fault(
                entry.line,
                f"a second job of group {entry.group}, and no header of a job such as `{entry.name:.20}: (g=0): ..`: "
                "whether they ran together is unknown; take the whole output of fio, or a file for each",
            )
        seen[entry.group] = entry


def _runs(text: Text) -> list[_Run]:
    runs = [_Run()]
    header: Header | None = None
    entry: _Entry | None = None
    kind: dict[str, Any] | None = None
    percentiles: tuple[dict[str, float], float] | None = None
    for number, line in text.numbered():
        if found := header_of(line):
            if runs[-1].entries:
                runs.append(_Run())
            header, entry, kind = found, None, None
            runs[-1].headers.append(found)
        elif line.strip() == "..." and header is not None:
            header.has_more = True
        elif fio_header.VERSION.fullmatch(line.strip()):
            if runs[-1].entries:
                runs.append(_Run())
            runs[-1].version = line.strip()
            header, entry, kind = None, None, None
        elif match := _ENTRY.fullmatch(line):
            group, jobs, error = (
                int(text.number(match[key], number, key)) for key in ("group", "jobs", "error")
            )
            entry = _Entry(number, match["name"], group, jobs, error, match["pid"] or "")
            runs[-1].entries.append(entry)
            kind, percentiles = None, None
        elif entry is not None:
            if match := _KIND.fullmatch(line):
                kind = entry.parts[match["kind"]] = _rates(text, number, match["rest"])
                percentiles = None
            elif match := _ISSUED.fullmatch(line):
                entry.counts = [int(text.number(one, number, "issued")) for one in _counts(match["counts"])]
                kind, percentiles = None, None
            elif kind is not None:
                percentiles = _of_kind(text, number, line, kind, percentiles)
    return [run for run in runs if run.entries]


def _counts(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def _rates(text: Text, number: int, rest: str) -> dict[str, Any]:
    run = _RUN.search(rest)
    if run is None:
        raise text.fault(number, f"{short(rest)} has no run time in msec; is the line cut?")
    found: dict[str, Any] = {"runtime": text.number(run["ms"], number, "run time")}
    if rate := _RATE.search(rest):
        # IEC units have their usual meaning, which is fio's with kb_base=1000; a bare B has no power.
        found["bw_printed"] = _bytes(text, number, rate["rate"].replace(" ", ""))
    return found


def _bytes(text: Text, number: int, printed: str) -> float | None:
    if not (printed.endswith("iB") or re.fullmatch(r"[\d.]+B", printed)):
        return None
    digits = printed.rstrip("KMGTiB")
    whole = text.number(digits, number, "bandwidth")
    return whole * values.size(f"1{printed[len(digits) :]}", kb_base=1000)


def _of_kind(
    text: Text,
    number: int,
    line: str,
    kind: dict[str, Any],
    percentiles: tuple[dict[str, float], float] | None,
) -> tuple[dict[str, float], float] | None:
    """Take a line into the figures of a kind; the percentiles whose lines follow."""
    if match := _TIMES.fullmatch(line):
        table = kind.setdefault(f"{match['name']}_ns", {})
        factor = _UNITS[match["unit"]]
        for key in ("min", "max", "mean", "stddev"):
            table[key] = factor * _suffixed(text, number, match[key], f"{match['name']} {key}")
        return None
    if match := _PERCENTILES.fullmatch(line):
        table = kind.setdefault(f"{match['name']}_ns", {}).setdefault("percentile", {})
        return table, _UNITS[match["unit"]]
    if percentiles is not None and line.lstrip().startswith("|"):
        for match in _PERCENTILE.finditer(line):
            value = text.number(match["time"], number, f"percentile {match['share']}")
            percentiles[0][match["share"]] = value * percentiles[1]
        return percentiles
    if match := _SAMPLES.fullmatch(line):
        for key, name in (("mean", "iops_mean"), ("stddev", "iops_stddev"), ("count", "iops_samples")):
            kind[name] = text.number(match[key], number, f"iops {key}")
    return None


def _suffixed(text: Text, number: int, printed: str, name: str) -> float:
    digits = printed.rstrip("kKMG")
    return text.number(digits, number, name) * _FACTOR[printed[len(digits) :]]


def _job(text: Text, run: _Run, entry: _Entry, notes: list[str]) -> dict[str, Any]:
    """An entry as a job of fio's JSON of version 3."""
    if not entry.parts and not entry.error:
        raise text.fault(
            entry.line, f"job {entry.name:.40} has no line of reads, writes or trims: the text is cut"
        )
    if entry.counts is None and entry.parts:
        raise text.fault(
            entry.line, f"job {entry.name:.40} has no line `issued`, which has its counts: the text is cut"
        )
    options = _options(run, entry, notes)
    counts = dict(zip(DIRECTIONS, entry.counts or (), strict=False))
    counts["mixed"] = sum(entry.counts or ())
    job: dict[str, Any] = {
        "jobname": entry.name,
        "groupid": entry.group,
        "error": entry.error,
        "options shown": options,
    }
    for kind, part in entry.parts.items():
        ios, runtime = counts.get(kind, 0), part["runtime"]
        part["total_ios"] = ios
        part["iops"] = ios / runtime * _MS_PER_S if runtime else 0.0
        size = _size(options, kind)
        printed = part.pop("bw_printed", None)
        if size is not None and runtime:
            part["bw_bytes"] = part["iops"] * size
        elif printed:
            part["bw_bytes"] = printed
        elif ios:
            notes.append(_BYTES_UNKNOWN)
        job[kind] = part
    return job if entry.parts else {**job, "read": {"total_ios": 0, "iops": 0.0, "runtime": 0.0}}


def _size(options: Mapping[str, str], kind: str) -> int | None:
    """The one size of the I/Os of a kind."""
    sizes = options.get("bs", "").split(",")
    if sizes == [""] or kind == "mixed":
        return int(sizes[0]) if len(set(sizes)) == 1 and sizes[0] else None
    at = DIRECTIONS.index(kind)
    return int(sizes[min(at, len(sizes) - 1)])


def _options(run: _Run, entry: _Entry, notes: list[str]) -> dict[str, str]:
    """What is known of an entry's options, and its number of jobs."""
    in_group = [one for one in run.headers if one.group == entry.group]
    named = [one for one in in_group if one.name == entry.name]
    others = {one.name for one in run.entries if one.group == entry.group}
    # With --group_reporting one entry stands for all jobs of its group.
    stands_for = in_group if any(one.name not in others for one in in_group) else named
    found = shared(stands_for)
    if len(stands_for) > 1 and any(one.options != stands_for[0].options for one in stands_for):
        notes.append(
            f"job {entry.name:.40} stands for {len(stands_for)} jobs of its group: only the options that they share "
            "are known"
        )
    if run.headers or entry.jobs > 1:
        own = [one for one in run.entries if (one.group, one.name) == (entry.group, entry.name)]
        found["numjobs"] = str(entry.jobs if entry.jobs > 1 else len(own))
    return found


FORMATS = (Format("fio-text", "fio's text", fits, _read),)
