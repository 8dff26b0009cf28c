"""fio's terse output (`--minimal`, `--output-format=terse`), versions 3, 4 and 5: a line of `;` for each job.

The line has the version, fio's version, the name, the group and the error, then for reads and writes (4 and 5: and
trims) KiB, KiB/s, whole IOPS and ms, four figures each of slat and clat, 20 percentiles of clat, four figures of lat
and five of the bandwidth, all times in us; 5 adds the number of samples of the bandwidth, and five figures of the
samples of IOPS. What follows (processor, depths, disks) is not read. Options are not in a line, only in the headers of
jobs, if these are in the text too.

Lines of one group may be jobs that ran together, or runs that were appended to one file: the text does not say, so one
of the two names is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from drivelab.records.formats import fio_header, fio_text
from drivelab.records.formats.fio_header import Header, header_of
from drivelab.records.formats.shape import Format, Found, Text, short
from drivelab.report.plural import are, counted

TOGETHER, REPEATS = "fio-terse", "fio-terse-repeats"
_LINE = re.compile(r"(?P<version>\d+);(?P<fio>fio-[^;]*);")
# Version 2 of the format has no version of fio in it.
_TWO = re.compile(r"2;[^;]*;\d+;\d+;\d+;")
_PERCENTILE = re.compile(r"(?P<share>\d+(?:\.\d+)?)%=(?P<time>\d+)")
_VERSIONS = {"3": ("read", "write"), "4": ("read", "write", "trim"), "5": ("read", "write", "trim")}
_OF_TIMES = ("min", "max", "mean", "stddev")
_PERCENTILES, _OF_KIND, _MORE_OF_FIVE, _FIRST = 20, 41, 6, 5


def _fits(text: Text) -> bool:
    # With --output-format=normal,terse the other form has the same results, and more.
    if fio_text.fits(text):
        return False
    return any(_LINE.match(line) or _TWO.match(line) for line in text.lines)


def _is_open(text: Text) -> bool:
    """Whether it is unknown if the lines ran together: several of one group."""
    groups = [line.split(";")[3] for line in text.lines if _LINE.match(line) and line.count(";") > _FIRST]
    return _fits(text) and len(set(groups)) < len(groups)


def _together(text: Text) -> Found:
    jobs, versions, notes = _jobs(text)
    return Found([{"fio version": ", ".join(dict.fromkeys(versions)), "jobs": jobs}], notes)


def _repeats(text: Text) -> Found:
    jobs, versions, notes = _jobs(text)
    documents = [{"fio version": version, "jobs": [job]} for job, version in zip(jobs, versions, strict=True)]
    return Found(documents, notes)


def _jobs(text: Text) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """The lines as jobs of fio's JSON, the version of fio in each, and notes."""
    jobs: list[dict[str, Any]] = []
    versions: list[str] = []
    headers: list[Header] = []
    others: list[str] = []
    for number, line in text.numbered():
        if _TWO.match(line):
            raise text.fault(
                number, "terse version 2 is not read; let fio print version 5: --terse-version=5"
            )
        if match := _LINE.match(line):
            jobs.append(_job(text, number, line, match["version"]))
            versions.append(match["fio"])
        elif header := header_of(line):
            headers.append(header)
        elif line.strip() and line.strip() != "..." and not fio_header.VERSION.fullmatch(line.strip()):
            others.append(line)
    _add_options(jobs, headers)
    notes = [f"fio's terse output has no options of the jobs, and IOPS as whole numbers, {_WHERE}"]
    if others:
        more = f" and {counted(len(others) - 1, 'more line')}" if len(others) > 1 else ""
        notes.append(f"text beside the results {are(1)} left out: {short(others[0])}{more}")
    if any(header.is_old for header in headers):
        notes.append(fio_header.OLD_K)
    return jobs, versions, notes


_WHERE = "and percentiles in whole microseconds"


def _add_options(jobs: Sequence[dict[str, Any]], headers: Sequence[Header]) -> None:
    """The options of headers whose name occurs once, for jobs whose name occurs once."""
    names = [job["jobname"] for job in jobs]
    for job in jobs:
        own = [one for one in headers if one.name == job["jobname"]]
        if len(own) == 1 and names.count(job["jobname"]) == 1:
            job["options shown"] = own[0].options


def _job(text: Text, number: int, line: str, version: str) -> dict[str, Any]:
    if version not in _VERSIONS:
        known = ", ".join(_VERSIONS)
        raise text.fault(
            number, f"terse version {version:.9} is not read, only {known}; let fio print --terse-version=5"
        )
    fields = line.split(";")
    each = _OF_KIND + (_MORE_OF_FIVE if version == "5" else 0)
    needed = _FIRST + each * len(_VERSIONS[version])
    if len(fields) < needed:
        raise text.fault(
            number,
            f"{len(fields)} fields, and version {version} has {needed} at least: the line is cut; take all "
            f"of {text.tool}",
        )
    group, error = (text.number(fields[at], number, name) for at, name in ((3, "group"), (4, "error")))
    job: dict[str, Any] = {"jobname": fields[2], "groupid": int(group), "error": int(error)}
    for at, kind in enumerate(_VERSIONS[version]):
        own = fields[_FIRST + at * each : _FIRST + (at + 1) * each]
        job[kind] = _part(text, number, own, kind)
    return job


def _part(text: Text, number: int, fields: Sequence[str], kind: str) -> dict[str, Any]:
    """The I/Os of one kind, as fio's JSON has them before version 3: times in us."""

    def figure(at: int, name: str) -> float:
        # The bandwidth's share of its group ends with a sign.
        return text.number(fields[at].removesuffix("%"), number, f"{kind} {name}")

    def times(begin: int, name: str) -> dict[str, Any]:
        return {key: figure(begin + at, f"{name} {key}") for at, key in enumerate(_OF_TIMES)}

    kib = figure(0, "KiB")
    found: dict[str, Any] = {
        "io_kbytes": int(kib),
        "io_bytes": int(kib) * 1024,
        "bw": int(figure(1, "bandwidth")),
        "iops": int(figure(2, "IOPS")),
        "runtime": figure(3, "runtime"),
        "slat": times(4, "slat"),
        "clat": times(8, "clat"),
    }
    percentiles = {}
    for field in fields[12 : 12 + _PERCENTILES]:
        match = _PERCENTILE.fullmatch(field)
        if match is None or len(field) > 60:
            raise text.fault(
                number, f"{kind}: {short(field)} is no percentile such as 99.000000%=231; is it fio's line?"
            )
        percentiles[match["share"]] = int(match["time"])
    found["clat"]["percentile"] = percentiles
    begin = 12 + _PERCENTILES
    found["lat"] = times(begin, "lat")
    for at, name in enumerate(("bw_min", "bw_max", "bw_agg", "bw_mean", "bw_dev")):
        found[name] = figure(begin + 4 + at, name)
    if len(fields) > _OF_KIND:
        names = ("bw_samples", "iops_min", "iops_max", "iops_mean", "iops_stddev", "iops_samples")
        for at, name in enumerate(names):
            found[name] = figure(_OF_KIND + at, name)
    return found


FORMATS = (
    Format(TOGETHER, "fio's terse output of jobs that ran together", _fits, _together),
    Format(REPEATS, "fio's terse output of repeated runs", _is_open, _repeats),
)
