"""Converts a parameter file of Vdbench for raw devices to a scenario.

A storage definition (sd) is the target, a workload definition (wd) the job, and a run definition (rd) how long and how
fast. A thread has one I/O outstanding, so the threads of a storage definition are `iodepth`. A rate is an open loop:
its I/Os are scheduled whether or not earlier ones have finished. Lists of a run (`forthreads` and the like) are the
values of a sweep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

from drivelab.errors import ref
from drivelab.report import toml_text
from drivelab.scenarios.converted import HOST_CACHE, Converted, drop_given, has_host_cache, told
from drivelab.vdbench.syntax import KINDS, Definition, Parameter, definitions_of

_SIZE = re.compile(r"([0-9]{1,15})([kmgt]?)", re.IGNORECASE)
_WHOLE = re.compile("[0-9]{1,15}")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
# What Vdbench does without a parameter.
_XFERSIZE, _THREADS = "4k", "8"

# What changes nothing of a drive.
_IDLE = {
    "interval", "messagescan", "report", "report_run_totals", "dedupratio", "dedupunit", "compratio", "pattern",
    "patterns", "host", "hd", "monitor", "histogram", "debug", "fwd_thread_adjust", "loop", "pause", "hitarea",
}  # fmt: skip
_KNOWN = {
    "sd": {"lun", "size", "threads", "openflags", "range", "offset", "align"},
    "wd": {"sd", "xfersize", "rdpct", "readpct", "seekpct", "range", "rhpct", "whpct", "skew", "threads", "iorate"},
    "rd": {
        "wd", "sd", "iorate", "elapsed", "warmup", "threads", "forthreads", "forxfersize", "forrdpct", "forseekpct",
        "foriorate", "xfersize", "rdpct", "seekpct", "distribution", "openflags",
    },
}  # fmt: skip
_REFUSED = {
    "validate": "checking data is `--check-data` here: leave it out",
    "journal": "checking data is `--check-data` here: leave it out",
    "data_errors": "checking data is `--check-data` here: leave it out",
    "fsd": "file systems are not simulated: give the load of the device",
    "fwd": "file systems are not simulated: give the load of the device",
    "stride": "a stride: leave it out",
    "streams": "several streams: give a job for each in a scenario",
    "replay": "a recorded trace is `workload.trace` here (docs/how-to/traces.md)",
    "include": "put the text of the other file in its place",
    "curve": "a curve over the rate: give foriorate=(..)",
}


_DIRECT, _FORCED = {"o_direct", "directio"}, {"o_sync", "o_dsync"}
# What names a device, which is opened past the system's cache: of Linux and of Windows.
_DEVICES = ("/dev/", "\\\\.\\")
_OPEN = "a rate is an open loop: its I/Os do not wait for a free thread, where Vdbench is held back by its threads"


class _WrongError(Exception):
    """A parameter that cannot be taken over, and what can be done."""

    def __init__(self, at: Parameter | Definition, why: str) -> None:
        super().__init__(why)
        self.at = at


@dataclass
class _Found:
    """What the file says."""

    problems: list[str] = field(default_factory=list)
    idle: dict[str, None] = field(default_factory=dict)


def is_parameter_file(text: str) -> bool:
    """Whether a text has a storage and a run definition of Vdbench."""
    definitions, _, _ = definitions_of(text)
    return {"sd", "rd"} <= {one.kind for one in definitions}


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of a parameter file. Raises InputError with all problems, each with its line.

    `given` are the keys that are set beside the file: with a cache of the host, I/Os may go through the system's.
    """
    definitions, general, problems = definitions_of(text)
    has_cache = has_host_cache(given)
    found = _Found()

    def wrong(line: int, why: str) -> None:
        found.problems.append(f"{origin}:{line}: {why}")

    for line, why in problems:
        wrong(line, why)
    for one in general:
        _check_name(one, set(), found, wrong)
    for definition in definitions:
        for one in definition.parameters.values():
            _check_name(one, _KNOWN[definition.kind], found, wrong)
    chosen = {kind: [one for one in definitions if one.kind == kind] for kind in KINDS}
    for kind, what in (("sd", "a device"), ("wd", "a workload"), ("rd", "a run")):
        for more in chosen[kind][1:]:
            wrong(
                more.line, f"{kind}={more.name}: {what} more: a scenario has one; give each a file of its own"
            )
        if not chosen[kind]:
            line = chosen["rd"][0].line if chosen["rd"] else 1
            wrong(line, f"no {kind}: a file has a storage, a workload and a run definition")
    document: dict[str, Any] = {}
    if not found.problems:
        try:
            sd, wd, rd = (chosen[kind][0] for kind in KINDS)
            _check_named(wd, sd)
            _check_named(rd, wd)
            document = _document(sd, wd, rd, has_host_cache=has_cache)
        except _WrongError as error:
            name = error.at.name if isinstance(error.at, Parameter) else f"{error.at.kind}={error.at.name}"
            wrong(error.at.line, f"{name}: {error}")
    if found.problems:
        raise told(found.problems)
    drop_given(document, given or {})
    text_of = toml_text.dumps(document)
    idle = [f"without effect on a drive: {', '.join(found.idle)}"] if found.idle else []
    rate = [_OPEN] if "rate_iops" in text_of else []
    return Converted(text_of, [*idle, *rate])


def _check_named(user: Definition, used: Definition) -> None:
    """What a definition names must be there. Raises _WrongError."""
    at = user.parameters.get(used.kind)
    for name in at.values if at else ():
        if not fnmatch(used.name, name):
            raise _WrongError(at or user, f"{name} is not defined: there is {used.kind}={used.name}")


def _check_name(one: Parameter, known: set[str], found: _Found, wrong: object) -> None:
    """Sort a parameter: known, without effect, or an error."""
    if one.name in known:
        return
    if one.name in _IDLE:
        found.idle[one.name] = None
        return
    why = _REFUSED.get(one.name, "not known here, and it might change the result: leave it out")
    wrong(one.line, f"{one.name}: {why}")  # type: ignore[operator]


def _document(sd: Definition, wd: Definition, rd: Definition, *, has_host_cache: bool) -> dict[str, object]:
    """The scenario. Raises _WrongError."""
    if "iorate" in wd.parameters:
        raise _WrongError(
            wd.parameters["iorate"], "the rate of one workload among others: give it in the run (rd)"
        )
    settled = {**sd.parameters, **wd.parameters, **rd.parameters}
    workload: dict[str, object] = {}
    workload |= _kind(settled)
    workload |= _sizes(settled)
    rate = settled.get("foriorate") or settled.get("iorate")
    if rate is None:
        raise _WrongError(rd, "no iorate: give iorate=max, or a rate")
    if rate.text.lower() == "max":
        threads = settled.get("forthreads") or settled.get("threads")
        workload["iodepth"] = _listed(threads, _THREADS, 1, 1 << 16)
    elif "forthreads" in settled:
        raise _WrongError(
            settled["forthreads"], "with a rate the threads change nothing: leave it out, or iorate=max"
        )
    elif rate.text.lower() == "curve":
        raise _WrongError(rate, "a curve over the rate: give the rates, such as foriorate=(100,200,300)")
    else:
        workload["rate_iops"] = _listed(rate, "", 1, 1 << 31)
        workload["rate_process"] = _process(settled.get("distribution"))
    workload |= _place(sd, wd)
    workload |= _flags(settled.get("openflags"), sd.parameters.get("lun"), has_host_cache=has_host_cache)
    elapsed = rd.parameters.get("elapsed")
    workload["runtime"] = _seconds(elapsed, "30")
    workload["ramp_time"] = _seconds(rd.parameters.get("warmup"), "0")
    return {"name": f"vdbench {rd.name}", "workload": workload}


def _flags(at: Parameter | None, lun: Parameter | None, *, has_host_cache: bool) -> dict[str, object]:
    """How the device or the file is opened. Raises _WrongError."""
    is_device = lun is None or lun.text.startswith(_DEVICES)
    flags = {one.lower() for one in at.values} if at else {"o_direct"} if is_device else set()
    unknown = flags - _DIRECT - _FORCED - {"o_rsync"}
    if at is not None and unknown:
        raise _WrongError(
            at, f"{', '.join(sorted(unknown))}: there are o_direct, directio, o_sync and o_dsync"
        )
    direct = bool(flags & _DIRECT)
    if not direct and not has_host_cache:
        raise _WrongError(
            _at(at or lun),
            f"I/Os go through the system's cache: add {'o_direct' if at else 'openflags=o_direct'}, or {HOST_CACHE}",
        )
    return {"direct": direct, **({"fua": True} if flags & _FORCED else {})}


def _kind(settled: Mapping[str, Parameter]) -> dict[str, object]:
    """`rw` with its share of reads and of random places."""
    reads = settled.get("forrdpct") or settled.get("rdpct") or settled.get("readpct")
    seeks = settled.get("forseekpct") or settled.get("seekpct")
    for hits in ("rhpct", "whpct"):
        if hits in settled and settled[hits].values != ("0",):
            raise _WrongError(settled[hits], "hits of a cache by share: leave it out, the cache decides")
    words = {"random": "100", "rand": "100", "sequential": "0", "seq": "0"}
    seek_values = [words.get(one.lower(), one) for one in (seeks.values if seeks else ("100",))]
    if seeks is not None and "eof" in seek_values:
        raise _WrongError(
            seeks, "reading to the end of the device ends no simulated run: give seekpct=0 and elapsed"
        )
    percents = _percents(seeks, seek_values)
    found: dict[str, object] = {}
    if len(percents) > 1 or percents[0] not in {0, 100}:
        random, found["percentage_random"] = "rand", _one([f"{one}%" for one in percents])
    else:
        random = "rand" if percents[0] == 100 else ""
    shares = _percents(reads, list(reads.values) if reads else ["100"])
    if len(shares) > 1 or shares[0] not in {0, 100}:
        return {"rw": f"{random}rw", "rwmixread": _one(shares), **found}
    return {"rw": f"{random}{'read' if shares[0] else 'write'}", **found}


def _percents(at: Parameter | None, values: Sequence[str]) -> list[int]:
    found = []
    for value in values:
        if not _WHOLE.fullmatch(value) or int(value) > 100:
            raise _WrongError(_at(at), f"{value}: a whole number from 0 to 100 is wanted")
        found.append(int(value))
    return found


def _sizes(settled: Mapping[str, Parameter]) -> dict[str, object]:
    """`bs`, or `bssplit` where sizes have shares."""
    several = settled.get("forxfersize")
    if several is not None:
        return {"bs": _one([f"{_bytes(several, value)}B" for value in several.values])}
    one = settled.get("xfersize")
    values = one.values if one else (_XFERSIZE,)
    if len(values) == 1:
        return {"bs": f"{_bytes(_at(one), values[0])}B"}
    if len(values) % 2:
        raise _WrongError(_at(one), "sizes with their shares come in pairs: xfersize=(4k,70,64k,30)")
    pairs = zip(values[::2], values[1::2], strict=True)
    return {"bssplit": ":".join(f"{_bytes(_at(one), size)}B/{share}" for size, share in pairs)}


def _place(sd: Definition, wd: Definition) -> dict[str, object]:
    """Where on the device: an offset and a size in bytes or in percent of it."""
    found: dict[str, object] = {}
    size, offset = sd.parameters.get("size"), sd.parameters.get("offset")
    if size is not None:
        found["size"] = f"{_bytes(size, size.text)}B"
    if offset is not None:
        found["offset"] = f"{_bytes(offset, offset.text)}B"
    place = wd.parameters.get("range") or sd.parameters.get("range")
    if place is not None:
        if size is not None or offset is not None or len(place.values) != 2:
            raise _WrongError(
                place, "a range is (from,to) in percent of the whole device: leave size and offset out"
            )
        low, high = _percents(place, list(place.values))
        if low >= high:
            raise _WrongError(place, "an empty range: give (from,to) in percent")
        found |= {"offset": f"{low}%", "size": f"{high - low}%"}
    align = sd.parameters.get("align")
    if align is not None:
        found["blockalign"] = f"{_bytes(align, align.text)}B"
    return found


def _process(at: Parameter | None) -> str:
    """How I/Os at a rate arrive: exponentially distributed gaps unless the file says otherwise."""
    name = at.values[0].lower() if at else "exponential"
    known = {"exponential": "poisson", "e": "poisson", "deterministic": "linear", "d": "linear"}
    if name not in known:
        raise _WrongError(_at(at), "arrivals are exponential or deterministic")
    return known[name]


def _listed(at: Parameter | None, default: str, least: int, most: int) -> object:
    found = []
    for value in at.values if at else (default,):
        if not _WHOLE.fullmatch(value) or not least <= int(value) <= most:
            raise _WrongError(
                _at(at), f"{value}: whole numbers from {least} to {most:,} are wanted, such as (1,2,4)"
            )
        found.append(int(value))
    return _one(found)


def _one(values: Sequence[object]) -> object:
    """The value, or all of a sweep."""
    return values[0] if len(values) == 1 else list(values)


def _bytes(at: Parameter, value: str) -> int:
    match = _SIZE.fullmatch(value)
    if match is None or int(match[1]) == 0:
        raise _WrongError(at, f"{value}: no size; give one such as 4k")
    return int(match[1]) * _UNITS[match[2].lower()]


def _seconds(at: Parameter | None, default: str) -> str:
    """A time: seconds, or minutes and hours with m and h."""
    value = at.text if at else default
    match = re.fullmatch(r"([0-9]{1,9})([smh]?)", value)
    if match is None:
        raise _WrongError(_at(at), f"{value}: no time; give seconds, such as 60")
    return f"{int(match[1]) * {'': 1, 's': 1, 'm': 60, 'h': 3600}[match[2]]}s"


def _at(at: Parameter | None) -> Parameter:
    return at or Parameter(ref("workload"), ("",), 1)
