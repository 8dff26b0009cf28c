"""The place of a run of fio: its workload under the common names of axes, from the options that fio prints.

fio lists the options that were given. An option that is absent has fio's default only if the job's own options are
printed; versions before 2.15 print none, and then the axis is unknown. A default of `rw` and `bs` must also agree with
the counts of the run. Options of the output change nothing; those of the machine (engine, file, memory) are facts of
the record, and an axis where points would otherwise be at one place; every other option is an axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivelab.fio import values
from drivelab.records.fio_parts import Part
from drivelab.records.model import DIRECTIONS
from drivelab.records.places import axes_of_job
from drivelab.scenarios.sizes import size_text

_ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "blockalign": "ba",
    "io_limit": "io_size",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "ss": "steadystate",
}
# These change what fio prints, or when the run is over, and no I/O of it.
_OF_OUTPUT = re.compile(
    r"name|description|group_reporting|new_group|unified_rw_reporting|[cs]?lat_percentiles|percentile_list|"
    r"significant_figures|disable_\w+|write_\w+_log|log_\w+|per_job_logs|bwavgtime|iopsavgtime|status_interval|stats|"
    r"error_dump|block_error_percentiles|disk_util|unit_base|kb_base|uniqid|json\w*|output\w*|stonewall|"
    r"wait_for_previous|wait_for|gtod_\w+|clocksource|job_start_clock_id|comm|write_iolog"
)
# These say on what the run was made, and for how long.
_OF_MACHINE = re.compile(
    r"ioengine|filename|filename_format|directory|unique_filename|uri|hostname|port|opendir|file_append|lockfile|"
    r"size|filesize|io_size|number_ios|loops|runtime|time_based|ramp_time|ramp_size|startdelay|fill_device|"
    r"offset|offset_align|offset_increment|nrfiles|openfiles|file_service_type|"
    r"randseed|randrepeat|allrandrepeat|random_generator|use_os_rand|norandommap|softrandommap|"
    r"thread|cpus_allowed\w*|cpumask|numa_\w+|nice|mem|iomem|iomem_align|mem_align|hugepage-size|lockmem|"
    r"userspace_reap|registerfiles|fixedbufs|hipri\w*|sqthread_poll\w*|nonvectored|force_async|io_submit_mode|uncached|"
    r"allow_\w+|create_\w+|fallocate|fadvise_hint|invalidate|pre_read|unlink\w*|exec_prerun|exec_postrun|ioscheduler|"
    r"cgroup\w*|uid|gid|umask|buffer_\w+|refill_buffers|scramble_buffers|zero_buffers|dedupe_\w+|profile|"
    r"continue_on_error|ignore_error|max_latency|cmd_type|xnvme_\w+|libblkio_\w+"
)
# These engines have one I/O outstanding, whatever iodepth says; psync is fio's default.
_SYNCHRONOUS = {"psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"}
# The limit of a rate, with which the number of outstanding I/Os is not constant.
_RATES = ("rate_iops", "rate")
_FIRST = ("rw", "bs", "bsrange", "bssplit", "iodepth", "numjobs", "rwmixread")
_SYNC = {"1": "sync", "true": "sync", "yes": "sync"}
_OFF = {"0", "none", "false", "no", "false ", ""}
_SEQUENTIAL_PARTS = 3


@dataclass(frozen=True)
class Options:
    """The options of an entry, under fio's first names."""

    stated: dict[str, str]
    is_complete: bool
    """Whether all that was given is stated, so that an absent option has its default."""
    is_of_text: bool = False
    """Whether they are from a text of fio, which says itself what it leaves out."""

    def get(self, name: str, default: str | None = None) -> str | None:
        """An option; the default if it is known to be absent, else None."""
        return self.stated.get(name, default if self.is_complete else None)


def options_of(entry: Mapping[str, Any], document: Mapping[str, Any]) -> Options:
    """The options of a job over the global options, of a server its own; of fio's texts those that they show."""
    own, common, shown = entry.get("job options"), document.get("global options"), entry.get("options shown")
    if isinstance(common, list):
        of_host = [one for one in common if isinstance(one, Mapping) and _is_host(one, entry)]
        common = of_host[0] if of_host else None
    found: dict[str, str] = {}
    for table in (common, shown, own):
        for name, value in table.items() if isinstance(table, Mapping) else ():
            # The last of two that contradict each other counts: so it goes to the end.
            name_first = _ALIASES.get(str(name), str(name))
            found.pop(name_first, None)
            found[name_first] = str(value)
    return Options(found, isinstance(own, Mapping), isinstance(shown, Mapping))


def _is_host(options: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    return all(options.get(key) == entry.get(key) for key in ("hostname", "port") if key in options)


def with_engine(options: Options, notes: list[str]) -> Options:
    """The options with the depth that the engine really has."""
    engine, depth = options.get("ioengine", "psync"), options.stated.get("iodepth", "1")
    if engine not in _SYNCHRONOUS or depth == "1":
        return options
    notes.append(f"{engine} has one I/O outstanding: iodepth {depth} counts as 1")
    return replace(options, stated={**options.stated, "iodepth": "1"})


def has_rate(options: Options) -> bool:
    """Whether a rate limits the job."""
    return any(options.stated.get(name, "0") not in _OFF for name in _RATES)


def has_sizes(options: Options) -> bool:
    """Whether the I/Os have several sizes."""
    names = ("bssplit", "bsrange", "bs_unaligned")
    return any(name in options.stated for name in names) or "," in options.stated.get("bs", "")


def axes_of(options: Options, parts: Mapping[str, Part | None], *, before: str = "") -> dict[str, Any]:
    """The axes of a job from its options and from what it did."""
    there = [name for name in DIRECTIONS if parts.get(name) is not None]
    workload = {
        name: value.strip()
        for name, value in options.stated.items()
        if not _OF_OUTPUT.fullmatch(name) and not _OF_MACHINE.fullmatch(name)
    }
    if options.is_complete:
        _add_defaults(workload, parts, there)
    _add_mix(workload, options)
    _add_sizes(workload, there)
    _add_flags(workload, options)
    first = [name for name in _FIRST if name in workload]
    ordered = {name: workload[name] for name in [*first, *sorted(workload.keys() - set(first))]}
    return {before + name: value for name, value in axes_of_job(ordered).items()}


def _add_defaults(workload: dict[str, str], parts: Mapping[str, Part | None], there: Sequence[str]) -> None:
    """fio's defaults, as long as the counts of the run agree with them."""
    if there == ["read"]:
        workload.setdefault("rw", "read")
    has_size = {"bs", "bsrange", "bssplit"} & workload.keys()
    sizes = [part.io_bytes for part in parts.values() if part is not None]
    if not has_size and all(size is None or abs(size / 4096 - 1) < 0.01 for size in sizes):
        workload["bs"] = "4k"
    workload.setdefault("numjobs", "1")
    if not any(name in workload for name in _RATES):
        # With a rate the depth is only an upper limit.
        workload.setdefault("iodepth", "1")


def _add_mix(workload: dict[str, str], options: Options) -> None:
    """The share of reads of a mix; of two that contradict each other the last counts."""
    given = [name for name in workload if name in {"rwmixread", "rwmixwrite"}]
    write = workload.pop("rwmixwrite", None)
    kind = workload.get("rw", "").partition(":")[0].lower()
    if kind not in {"rw", "randrw", "readwrite"}:
        # Without a mix the share has no effect.
        if "rw" in workload:
            workload.pop("rwmixread", None)
        return
    if write is not None and given[-1] == "rwmixwrite" and write.isdigit():
        workload["rwmixread"] = str(100 - int(write))
    elif options.is_complete:
        workload.setdefault("rwmixread", "50")


def _add_sizes(workload: dict[str, str], there: Sequence[str]) -> None:
    """One size if all I/Os have one, else the sizes as fio writes them: `4k,64k` and `4k-64k`."""
    if "bssplit" in workload or "bsrange" in workload:
        workload.pop("bs", None)
    for name in ("bs", "bsrange", "ba"):
        if name not in workload:
            continue
        own = _each(workload[name], "4k")
        used = {own[DIRECTIONS.index(one)] for one in there} or set(own)
        text = used.pop() if len(used) == 1 else ",".join(own[: 3 if "trim" in there else 2])
        workload[name] = text
        low, _, high = text.partition("-")
        if name == "bsrange" and low == high:
            del workload[name]
            workload["bs"] = low


def _each(text: str, default: str) -> list[str]:
    """The values for reads, writes and trims, each in fio's shortest notation."""
    given = [_sizes_text(part.strip()) for part in text.split(",")]
    found: list[str] = []
    for at in range(_SEQUENTIAL_PARTS):
        # An absent value is that of the one before; one that is left empty has the default.
        found.append((given[at] or default) if at < len(given) else found[-1])
    return found


def _sizes_text(text: str) -> str:
    """A size, or a range of sizes, in fio's shortest notation; anything else as it is."""
    try:
        sizes = [values.size(part) for part in text.split("-")] if text else []
    except ValueError:
        return text
    return "-".join(size_text(size) for size in sizes)


def _add_flags(workload: dict[str, str], options: Options) -> None:
    """Flags and opposites under one name each, and without those that are off."""
    buffered, direct = workload.pop("buffered", None), workload.pop("direct", None)
    if sequential := workload.pop("percentage_sequential", None):
        workload.setdefault("percentage_random", str(100 - int(sequential)) if sequential.isdigit() else "")
    if workload.get("percentage_random") == "100":
        del workload["percentage_random"]
    if "sync" in workload:
        workload["sync"] = _SYNC.get(workload["sync"].lower(), workload["sync"])
    if workload.get("random_distribution") == "random":
        del workload["random_distribution"]
    kept = {"rw", "bs", "percentage_random", "rwmixread"}
    for name in [name for name, value in workload.items() if value.lower() in _OFF and name not in kept]:
        del workload[name]
    if buffered is not None or direct is not None or options.is_complete:
        is_direct = buffered.lower() in _OFF if buffered is not None else (direct or "0").lower() not in _OFF
        workload["direct"] = str(int(is_direct))


def facts_of(options: Options) -> dict[str, str]:
    """The options of the machine."""
    return {name: value for name, value in options.stated.items() if _OF_MACHINE.fullmatch(name) and value}
