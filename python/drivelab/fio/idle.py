"""fio's options that change nothing here, each with the reason. A test runs a job with and without each of them."""

from __future__ import annotations

import re

_GROUPS = {
    "it is about how results are shown, logged or grouped": (
        "group_reporting unified_rw_reporting description clat_percentiles lat_percentiles "
        "slat_percentiles percentile_list significant_figures disable_lat disable_clat disable_slat disable_bw "
        "disable_bw_measurement write_bw_log write_lat_log write_iops_log write_hist_log write_iolog log_entries "
        "log_avg_msec log_hist_msec log_hist_coarseness log_window_value log_max_value log_offset log_prio "
        "log_issue_time log_compression log_compression_cpus log_store_compressed log_unix_epoch "
        "log_alternate_epoch log_alternate_epoch_clock_id per_job_logs bwavgtime iopsavgtime status_interval "
        "block_error_percentiles disk_util unit_base error_dump uniqid json output output-format"
    ),
    "it decides what follows an error, and the drive has none; where target.faults lets it have some, every run goes "
    "on and counts them": "exitall_on_error continue_on_error ignore_error",
    "it decides which processor, memory or process of the host does the work, and the host costs no time "
    "(workload.submit)": (
        "thread cpus_allowed cpus_allowed_policy cpumask numa_cpu_nodes numa_mem_policy nice iomem mem iomem_align "
        "mem_align memory hugepage-size lockmem clocksource gtod_reduce gtod_cpu io_submit_mode userspace_reap "
        "registerfiles fixedbufs hipri hipri_percentage sqthread_poll sqthread_poll_cpu nonvectored force_async "
        "thinktime_spin exec_prerun exec_postrun uid gid umask"
    ),
    "no elevator here weighs processes, and a drive learns of a priority only where Linux was told to pass it on "
    "(ncq_prio_enable): workload.priority": "prio prioclass cgroup cgroup_weight cgroup_nodelete",
    "it prepares or removes files, before or after the measured time": (
        "allow_mounted_write allow_file_create create_serialize create_fsync create_on_open fallocate overwrite "
        "unlink unlink_each_loop invalidate fadvise_hint file_append unique_filename"
    ),
    "a drive transfers all bytes alike": (
        "zero_buffers refill_buffers scramble_buffers buffer_pattern buffer_compress_percentage "
        "buffer_compress_chunk dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global write_hint"
    ),
    "random numbers are drawn by another generator here, the same ones in each run (randseed)": (
        "random_generator randrepeat allrandrepeat use_os_rand softrandommap"
    ),
    "it is about the connection to the device, or about how a log is read": "cmd_type read_iolog_chunked",
    "it is an average over which only rate_min, which is refused, is judged": "rate_cycle",
}
REASONS = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
"""The reason for each name."""
_OF_ENGINES = re.compile(r"xnvme_\w+|libblkio_\w+")
"""Options of engines whose connections are not modelled."""


def matters_not(key: str) -> bool:
    """Whether an option affects nothing that is modelled."""
    return key in REASONS or _OF_ENGINES.fullmatch(key) is not None
