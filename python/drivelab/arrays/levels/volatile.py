"""Whether an array answers writes from a volatile cache: then their latency is no figure of a database's commits.

It is asked of the model itself: the same writes, one at a time, with and without FUA. A cache with a battery answers
both alike, and so does a drive without a write cache.
"""

from __future__ import annotations

from functools import cache

from drivelab.arrays.simulation.planning import Chosen, Entry
from drivelab.errors import InputError, ScenarioError
from drivelab.report import toml_text
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.scenario import Override, Source, plan

_WRITES = 12
_SHARE = 0.8
"""Writes that take less of the time of those with FUA are answered sooner."""
TEXT = "writes end in volatile caches (--sync: on the media)"


def answers_early(entry: Entry, chosen: Chosen) -> bool:
    """Whether writes to the healthy array are answered before they are on the media."""
    used = (one for one in chosen.overrides if one not in entry.unused)
    others = tuple(one for one in used if one.key.startswith("target."))
    return _answers_early(toml_text.dumps({"target": {"array": entry.level.scenario()}}), others)


@cache
def _answers_early(target: str, overrides: tuple[Override, ...]) -> bool:
    cached, forced = (_mean_ns(target, overrides, fua=fua) for fua in (False, True))
    return cached is not None and forced is not None and cached < _SHARE * forced


def _mean_ns(target: str, overrides: tuple[Override, ...], *, fua: bool) -> float | None:
    workload = {
        "workload": {"rw": "randwrite", "bs": "4KiB", "iodepth": 1, "fua": fua},
        "run": {"ios": _WRITES},
    }
    try:
        planned = plan(Source(f"{target}\n{toml_text.dumps(workload)}", "a few writes"), overrides)
        return run_plan(planned, 1, log=1).points[0]["latency_ns"]["mean"]
    except (InputError, ScenarioError):
        # Its own loads say what is wrong with it, keys that this level does not use among it.
        return None
