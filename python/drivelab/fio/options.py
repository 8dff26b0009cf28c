"""fio's options by their treatment here: supported, without effect, or unsupported."""

from __future__ import annotations

from difflib import get_close_matches

from drivelab.errors import ref
from drivelab.fio.idle import matters_not

MEANT = frozenset(
    {
        "rw", "bs", "bsrange", "bssplit", "ba", "size", "io_size", "offset", "offset_increment", "number_ios",
        "iodepth", "numjobs", "rwmixread", "rwmixwrite", "percentage_random", "random_distribution", "rate_iops",
        "rate", "rate_process", "thinktime", "thinktime_blocks", "fsync", "fdatasync", "sync", "direct", "buffered",
        "runtime", "ramp_time", "time_based", "randseed", "stonewall", "ioengine", "kb_base", "name", "read_iolog",
        "replay_no_stall", "replay_time_scale", "loops", "startdelay", "norandommap", "nrfiles", "filesize",
        "thinktime_blocks_type", "filename", "directory", "filename_format", "uri", "file_service_type", "openfiles",
        "end_fsync", "end_syncfs", "fsync_on_close", "exitall", "exit_what", "new_group", "replay_redirect", "atomic",
        "cmdprio_percentage", "cmdprio_class", "cmdprio", "cmdprio_hint", "priohint",
        "zonemode", "zonesize", "max_open_zones", "job_max_open_zones", "read_beyond_wp",
        "ignore_zone_limits",
    }
)  # fmt: skip
"""Options that have a meaning here."""

REFUSED = {
    "verify": "reads that check what was written are not made here; leave it out "
    f"({ref('check_data')} holds every read to what was written)",
    "do_verify": "reads that check what was written are not made here; leave it out",
    "experimental_verify": "reads that check what was written are not made here; leave it out",
    "iodepth_batch": "I/Os go out one by one here, as soon as one may; leave it out",
    "iodepth_batch_submit": "I/Os go out one by one here, as soon as one may; leave it out",
    "iodepth_batch_complete": "completions are taken one by one here; leave it out",
    "iodepth_batch_complete_min": "completions are taken one by one here; leave it out",
    "iodepth_batch_complete_max": "completions are taken one by one here; leave it out",
    "iodepth_low": "a queue is filled again as soon as one is done; leave it out",
    "latency_target": f"no depth is searched for here; give iodepth and compare: {ref('workload.iodepth', '1,2,4,8')}",
    "latency_window": "no depth is searched for here; leave it out",
    "latency_percentile": "no depth is searched for here; leave it out",
    "max_latency": "no run ends at a slow I/O; leave it out and read max_ms",
    "zonerange": "strides are not drawn here; leave it out",
    "zoneskip": "strides are not drawn here; leave it out",
    "zonecapacity": "all of a zone is written here; leave it out",
    "rw_sequencer": "sequences with gaps are not drawn here; leave it out, or replay them as a trace (read_iolog)",
    "flow": "jobs do not wait for each other's progress here; leave it out",
    "flow_id": "jobs do not wait for each other's progress here; leave it out",
    "wait_for": "a job begins with its group or, with stonewall, after it; use stonewall",
    "ioscheduler": "the scheduler is part of the target: leave it out and add "
    f"{ref('target.elevator', 'deadline')}, say",
    "thinktime_iotime": "a job stops to think after a number of I/Os here; use thinktime_blocks",
    "steadystate": "a run ends after its time here; leave it out (the steadiness of each run is printed)",
    "rate_min": "no run ends because a rate was missed; leave it out and read the rate",
    "rate_iops_min": "no run ends because a rate was missed; leave it out and read the rate",
    "sync_file_range": "parts of a file are not flushed one by one; use fsync",
    "write_barrier": "barriers are not sent here; use fsync",
    "bs_unaligned": "places are multiples of blockalign here; leave it out",
    "bs_is_seq_rand": "sizes do not depend on the place here; make two jobs of it",
    "trim_percentage": "discards are not modelled; leave it out",
    "trim_backlog": "discards are not modelled; leave it out",
    "cmdprio_bssplit": "priorities do not depend on the size here; take cmdprio_percentage, or for several "
    f"{ref('workload.prioritysplit', 'limit-2/10:limit-4/20')}",
    "merge_blktrace_file": "traces are merged by `drivelab trace convert --merge`",
    "merge_blktrace_iters": "traces are merged by `drivelab trace convert --merge`",
    "merge_blktrace_scalars": "traces are merged by `drivelab trace convert --merge`; it has --scale-time too",
    "replay_scale": "addresses are moved by `drivelab trace convert --remap scale`",
    "replay_align": "addresses are replayed as they stand in the trace; leave it out",
    "replay_skip": "all requests of a trace are replayed; leave it out",
    "uncached": "reads and writes that leave the page cache at once are not modelled; take direct=1",
    "readfua": "forced access to the media is a key of the scenario: leave it out and add "
    f"{ref('workload.fua', 'true')}",
    "writefua": "forced access to the media is a key of the scenario: leave it out and add "
    f"{ref('workload.fua', 'true')}",
    "sg_write_mode": "only plain writes are modelled; leave it out",
    "ramp_size": "a warm-up has a time here; give ramp_time",
    "sprandom": "the state of a flash drive is not modelled; leave it out",
    "random_sequence_stride": "each place is drawn by itself here; leave it out",
    "pre_read": "no file is read into the page cache before the run; leave it out (ramp_time warms up)",
    "create_only": "a job that only makes its files has no I/O to simulate; leave the section out",
    "opendir": "files of unknown sizes are not modelled; give filename or nrfiles, and size",
    "profile": "the workload of a profile is not made here; write its jobs",
    "stats": "the figures are those of all jobs of a point; leave it out",
    "lockfile": "jobs do not lock files here; leave it out",
    "flow_sleep": "jobs do not wait for each other's progress here; leave it out",
    "fill_device": "a device has no end that is waited for; give size",
    "offset_align": "a percentage is rounded to a block here; give offset in bytes",
    "serialize_overlap": "requests that overlap are kept in order by the host's scheduler; leave it out and add "
    f"{ref('target.elevator', 'noop')}, say",
    "rate_ignore_thinktime": "a job has a rate or stops to think here; leave it out",
}
"""Unsupported options that would change the result, with alternatives."""

ASYNCHRONOUS = frozenset(
    {
        "libaio",
        "io_uring",
        "io_uring_cmd",
        "posixaio",
        "windowsaio",
        "solarisaio",
        "sg",
        "nbd",
        "libblkio",
        "xnvme",
    }
)
SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"})
"""Engines that have one I/O outstanding, regardless of iodepth."""
WAITS_IF_BUFFERED = frozenset({"libaio"})
"""Engines that have one I/O outstanding where they go through the page cache."""
_OFF = frozenset({"0", "none", "false", "no"})
_DEFAULTS: dict[str, set[str | None]] = {"stats": {None, "1", "true", "yes"}, "sg_write_mode": {"write"}}
"""fio's defaults, where they are not off."""


def is_default(key: str, value: str | None) -> bool:
    """Whether an option is off or has fio's default value: then it is allowed even if unsupported."""
    if key in _DEFAULTS:
        return value in _DEFAULTS[key]
    return value in _OFF or (value == "1" and key.startswith("iodepth_batch"))


def refusal(key: str, value: str | None = None) -> str | None:
    """The reason for which an option is unsupported; None if it is supported or without effect."""
    if key in MEANT or matters_not(key) or (key in REFUSED and is_default(key, value)):
        return None
    if found := REFUSED.get(key):
        return found
    for prefix in ("verify_", "trim_", "zone", "steadystate_", "latency_"):
        if key.startswith(prefix):
            return "it is not modelled, and would change the result; leave it out"
    near = get_close_matches(key, [*MEANT, *REFUSED], n=1)
    hint = f"did you mean {near[0]}?" if near else "leave it out if it changes nothing"
    return f"no option of fio that is known here; {hint}"
