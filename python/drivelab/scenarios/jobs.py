"""The jobs of a workload with what tells them apart, from the fio job file that drivelab writes of a point."""

from __future__ import annotations

AXES = {"rw": "read", "bs": "4k", "iodepth": "1", "numjobs": "1"}
"""The axes of a job, with fio's defaults; the share of reads is one where both are mixed."""
MORE = ("bssplit", "rate_iops", "percentage_random", "random_distribution", "fsync")
"""Axes of those jobs alone that have them."""


def jobs_of_text(text: str) -> dict[str, dict[str, str]]:
    """The jobs of a job file written by drivelab, each with its options."""
    jobs: dict[str, dict[str, str]] = {}
    own: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("[") and line.endswith("]"):
            own = {}
            if line != "[global]":
                jobs[line[1:-1]] = own
        elif "=" in line and not line.startswith(";"):
            name, _, value = line.partition("=")
            own[name] = value
    kept = {*AXES, *MORE, "rwmixread"}
    return {job: {name: value for name, value in one.items() if name in kept} for job, one in jobs.items()}
