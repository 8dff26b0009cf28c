"""Places of points under common names: a scenario, a job of fio and a published table name the same axis differently.

Sizes are bytes, counts are numbers, kinds of access are fio's shorter words; a workload of several jobs has its axes
under the names of the jobs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drivelab.scenarios.jobs import AXES, MORE
from drivelab.scenarios.sizes import size_of

_KINDS = {"readwrite": "rw", "trimwrite": "trimwrite"}
_PREFIXES = ("workload.", "target.", "run.")
# fio's names, and those of other tools, for an axis.
_ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "threads": "numjobs",
    "job.numjobs": "numjobs",
    "randseed": "seed",
    "protocol": "queue.protocol",
}
_COUNTS = {
    "iodepth",
    "numjobs",
    "rwmixread",
    "rate_iops",
    "percentage_random",
    "fsync",
    "fdatasync",
    "direct",
    "hosts",
    "seed",
    "depth",
}
_MIXED = {"rw", "randrw"}


def axis_name(path: str) -> str:
    """The common name of an axis: `workload.job.readers.bs` is `readers.bs`."""
    name = path
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    name = name.removeprefix("job.") if name.count(".") >= 2 else name
    return _ALIASES.get(name, name)


def axis_value(name: str, value: object) -> Any:  # noqa: ANN401 - a text or a number
    """The common form of a value on an axis."""
    last = name.rpartition(".")[2]
    if last == "bs":
        size = size_of(value)
        return value if size is None else int(size)
    if last == "rw" and isinstance(value, str):
        return _KINDS.get(value.lower(), value.lower())
    if last in _COUNTS and isinstance(value, str) and re.fullmatch(r"\d+", value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        return value["name"]
    return value


def axes_of_record(axes: Mapping[str, Any]) -> dict[str, Any]:
    """The axes of a point of the record."""
    named = {axis_name(path): value for path, value in axes.items()}
    return {name: axis_value(name, value) for name, value in named.items()}


def axes_of_jobs(jobs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The axes of a workload, from all options of its jobs in fio's names."""
    found: dict[str, Any] = {}
    for job, given in jobs.items():
        options = {_ALIASES.get(name, name): str(value) for name, value in given.items()}
        own = {name: options.get(name, default) for name, default in AXES.items()}
        own["rw"] = own["rw"].partition(":")[0]
        own |= {name: options[name] for name in MORE if options.get(name) not in {None, "0"}}
        if axis_value("rw", own["rw"]) in _MIXED:
            own["rwmixread"] = options.get("rwmixread", "50")
        if "rate_iops" in own:
            # With a rate the depth is only an upper limit, and here there is none.
            del own["iodepth"]
        before = f"{job}." if len(jobs) > 1 else ""
        found |= {before + name: value for name, value in axes_of_job(own).items()}
    return found


def axes_of_job(options: Mapping[str, str]) -> dict[str, Any]:
    """The axes of one job from those of its options that are stated."""
    # With a split there is no single size.
    left_out = "bs" if "bssplit" in options else ""
    return {name: axis_value(name, text) for name, text in options.items() if name != left_out}
