"""What is set beside a job file, on the command line or as arguments, in place of the file's options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from drivelab import _core
from drivelab.fio.syntax import Job, Option, Place


def _amount(text: str) -> str | None:
    """The bytes of an amount of data; without a unit it is in bytes, as fio's are."""
    if re.fullmatch(r"\d+%?", text):
        return text
    try:
        return str(_core.size_bytes(text))
    except ValueError:
        return None


def _time(text: str) -> str | None:
    try:
        span_ns = _core.span_ns(text)
    except ValueError:
        return None
    return None if span_ns % 1000 else f"{span_ns // 1000}us"


def _count(text: str) -> str | None:
    return text if re.fullmatch(r"\d+", text) else None


def _percent(text: str) -> str | None:
    return text.removesuffix("%") if re.fullmatch(r"\d+%?", text) else None


def _word(text: str) -> str | None:
    return text if re.fullmatch(r"[a-z0-9_]+", text) else None


def _switch(text: str) -> str | None:
    return {"true": "1", "1": "1", "false": "0", "0": "0"}.get(text)


def _removed(_text: str) -> str | None:
    """The key itself stays in force, and the options that it replaces go."""
    return None


@dataclass(frozen=True)
class _Replaced:
    """The option that a key is in a job file, the others whose place it takes, and how its value is written there."""

    option: str
    write: Callable[[str], str | None]
    others: tuple[str, ...] = ()


_SIZES = ("bs", "bsrange", "bssplit")
_REPLACED = {
    "workload.rw": _Replaced("rw", _word),
    "workload.bs": _Replaced("bs", _amount, _SIZES),
    "workload.bssplit": _Replaced("bssplit", _removed, _SIZES),
    "workload.blockalign": _Replaced("ba", _amount),
    "workload.iodepth": _Replaced("iodepth", _removed),
    "workload.numjobs": _Replaced("numjobs", _count),
    "workload.rwmixread": _Replaced("rwmixread", _percent, ("rwmixwrite",)),
    "workload.percentage_random": _Replaced("percentage_random", _percent),
    "workload.percentage_random_writes": _Replaced("percentage_random", _removed),
    "workload.random_distribution": _Replaced("random_distribution", _removed),
    "workload.zonemode": _Replaced("zonemode", _word),
    "workload.max_open_zones": _Replaced("max_open_zones", _count, ("job_max_open_zones",)),
    "workload.rate_iops": _Replaced("rate_iops", _removed, ("rate", "rate_process")),
    "workload.rate_process": _Replaced("rate_process", _word),
    "workload.thinktime": _Replaced("thinktime", _time),
    "workload.thinktime_blocks": _Replaced("thinktime_blocks", _count),
    "workload.fsync": _Replaced("fsync", _count, ("fdatasync", "sync")),
    "workload.direct": _Replaced("direct", _switch, ("buffered", "atomic")),
    "workload.size": _Replaced("size", _amount, ("filesize",)),
    "workload.offset": _Replaced("offset", _amount),
    "workload.io_size": _Replaced("io_size", _amount),
    "workload.end_fsync": _Replaced("end_fsync", _switch, ("end_syncfs", "fsync_on_close")),
    "workload.exitall": _Replaced("exitall", _switch),
    "workload.ioengine": _Replaced("ioengine", _word),
    "workload.time_based": _Replaced("time_based", _switch),
    "workload.runtime": _Replaced("runtime", _time),
    "run.duration": _Replaced("runtime", _time),
    "workload.ramp_time": _Replaced("ramp_time", _time),
    "run.warmup": _Replaced("ramp_time", _time),
    "workload.number_ios": _Replaced("number_ios", _removed),
    "run.ios": _Replaced("number_ios", _removed),
    "run.seed": _Replaced("randseed", _removed),
    "workload.trace.file": _Replaced("read_iolog", _removed),
    "workload.trace.pace": _Replaced("replay_no_stall", _removed),
    "workload.trace.scale_time": _Replaced("replay_time_scale", _removed),
}
_KEPT = frozenset({"workload.rw", "workload.ioengine", "workload.trace.file"})
"""Keys whose option decides what the others mean: where several values are given, the file's decides that."""
_LIMITS = ("run.", "workload.runtime", "workload.number_ios", "workload.io_size", "target.faults.power_cut")


def replace_options(jobs: Sequence[Job], given: Mapping[str, str]) -> frozenset[str]:
    """Put what is given in place of the jobs' options; returns the keys that these now hold.

    A key with several values, or whose value a job file cannot hold, stays a key: its options are removed.
    """
    held = set()
    for key, value in given.items():
        replaced = _REPLACED.get(key)
        if replaced is None:
            continue
        text = replaced.write(value.strip().strip('"'))
        if text is None and key in _KEPT:
            continue
        if text is not None:
            held.add(key)
        for job in jobs:
            for option in (replaced.option, *replaced.others):
                job.options.pop(option, None)
            if text is not None:
                place = Place((0,), "command line")
                job.options[replaced.option] = Option(replaced.option, text, place)
    return frozenset(held)


def has_limit(given: Mapping[str, str], held: frozenset[str]) -> bool:
    """Whether a key that no job holds ends the run."""
    return any(
        key.startswith(_LIMITS) and key not in held for key in given if key not in {"run.seed", "run.warmup"}
    )
