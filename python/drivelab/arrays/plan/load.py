"""The load of a plan: fio's options as in `compare-levels`, a scenario's workload, or a recorded trace."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from drivelab.arrays.simulation.loads import Loads, rate_asked
from drivelab.errors import InputError, ref
from drivelab.host.files import read_text
from drivelab.report import toml_text
from drivelab.scenarios.scenario import overrides_from, plan, read_source

WORDS = ("rw", "pattern", "bs", "iodepth", "rwmixread", "rate_iops", "rate_process", "sync")


def load(options: Mapping[str, Any], trace_keys: Mapping[str, Any] | None = None) -> Loads:
    """The load with all states; `trace_keys` are the keys of a recorded trace. Raises InputError."""
    words: dict[str, Any] = {key: options.get(key) for key in WORDS}
    counts = {key: options.get(key) for key in ("number_ios", "ramp_time")}
    common: dict[str, Any] = {**counts, "full": False, "has_tables": False, "trace_option": "load"}
    file = options.get("load")
    if file is None:
        if "," in str(words["iodepth"]):
            raise InputError(f"{ref('iodepth', words['iodepth'])}: a plan has one load; give one number")
        return Loads.chosen(**words, **common)
    if given := [ref(key) for key, value in words.items() if value is not None]:
        raise InputError(
            f"{', '.join(given)} changes nothing with {ref('load')}, which says what is asked for: keep one"
        )
    if not str(file).endswith(".toml"):
        return Loads.chosen(trace=str(file), trace_keys=trace_keys, **common)
    found = replace(Loads.chosen(**common), file=str(file), table=_workload(Path(file)))
    if found.is_recorded and (given := [key for key, value in counts.items() if value is not None]):
        raise InputError(
            f"{ref(given[0])} changes nothing with the trace of {file}, which is replayed whole: leave it out"
        )
    return found


def is_trace(options: Mapping[str, Any]) -> bool:
    """Whether --load names a recorded trace."""
    file = options.get("load")
    return file is not None and not str(file).endswith(".toml")


def _workload(path: Path) -> dict[str, Any]:
    """The workload of a scenario's file. Raises InputError."""
    try:
        found = toml_text.loads(read_text(path)).get("workload")
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{ref('load', path)}: {error}") from error
    if not isinstance(found, dict):
        raise InputError(
            f"{ref('load', path)}: it has no table [workload]; `drivelab help workload` says what is in it"
        )
    trace = found.get("trace")
    if isinstance(trace, str):
        found["trace"] = str(path.parent / trace)
    elif isinstance(trace, dict) and "file" in trace:
        found["trace"] = {**trace, "file": str(path.parent / trace["file"])}
    return found


def check(loads: Loads, drive: str) -> None:
    """Check a file's workload separately, on one drive. Raises ScenarioError, which has the place of the error."""
    if loads.file is None or loads.table is None:
        return
    source = read_source(Path(loads.file))
    with loads.in_its_words():
        if "target" in toml_text.loads(source.text):
            # The target in the file is ignored.
            plan(read_source({"target": {"drive": drive}, "workload": dict(loads.table)}))
        else:
            plan(source, overrides_from({"target.drive": drive}))


def scaled(loads: Loads, factor: float) -> Loads | None:
    """The load with its rate or number of outstanding requests multiplied; None if the load has neither, or they do not
    change.

    The recorded times of a trace are divided by the factor.
    """
    if loads.trace is not None:
        return replace(loads, trace=None, file=loads.trace["file"], table=_scaled_trace(loads.trace, factor))
    if loads.table is not None:
        table = _scaled_table(loads.table, factor)
        return None if table is None else replace(loads, table=table)
    if loads.rate is not None:
        return replace(loads, rate_iops=f"{loads.rate * factor:.6g}")
    if loads.rate_iops is not None:
        return None
    depth = round(int(loads.workload()["iodepth"]) * factor)
    changed = replace(loads, iodepths=(max(depth, 1),))
    return None if changed.workload() == loads.workload() else changed


def _scaled_trace(trace: Mapping[str, Any], factor: float) -> dict[str, Any]:
    return {"trace": {**trace, "scale_time": float(trace.get("scale_time", 1)) / factor}}


def _scaled_table(table: Mapping[str, Any], factor: float) -> dict[str, Any] | None:
    """A workload with each of its rates or depths multiplied, those of its jobs too; None if nothing changes."""
    trace = table.get("trace")
    if trace is not None:
        trace = trace if isinstance(trace, dict) else {"file": trace}
        return {**table, **_scaled_trace(trace, factor)} if trace.get("pace", "open") == "open" else None
    found = _scaled_keys(table, factor)
    if isinstance(jobs := table.get("job"), dict):
        found["job"] = {name: _scaled_keys(job, factor) for name, job in jobs.items()}
    return None if found == table else found


def _scaled_keys(keys: Mapping[str, Any], factor: float) -> dict[str, Any]:
    if (rate := rate_asked({**keys, "numjobs": 1})) is not None:
        return {**keys, "rate_iops": rate * factor}
    depth = keys.get("iodepth")
    return {**keys, "iodepth": max(round(depth * factor), 1)} if isinstance(depth, int) else dict(keys)
