"""What readers of other tools' jobs have in common: what they hand back, command lines, and all problems as one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.errors import InputError, ref

HOST_CACHE = ref("target.host_cache", '{ size = "4GiB" }')
"""What a target needs for I/Os that go through the cache of the operating system."""

_SHOWN = 20
"""The most problems that one message lists."""


@dataclass
class Converted:
    """A scenario without its target, and notes for the reader."""

    text: str
    """The TOML text."""
    notes: list[str] = field(default_factory=list)
    held: frozenset[str] = frozenset()
    """The given keys that the text has taken over."""


def has_host_cache(given: Mapping[str, str] | None) -> bool:
    """Whether the keys beside the file give the target a cache of the operating system."""
    return any(key.startswith("target.host_cache") for key in given or {})


def told(problems: Sequence[str]) -> InputError:
    """All problems as one error, each on a line of its own; of very many the first ones."""
    left = len(problems) - _SHOWN
    more = [f"and {left} more"] if left > 0 else []
    return InputError("\n".join([*problems[:_SHOWN], *more]))


def drop_given(
    document: dict[str, Any], given: Mapping[str, str], held: frozenset[str] = frozenset()
) -> None:
    """Remove the keys that are given from all jobs, so that the given ones are in force in each."""
    words = {"run.duration": "runtime", "run.warmup": "ramp_time", "run.ios": "number_ios"}
    names = {words.get(key, key.removeprefix("workload.")) for key in given if key not in held}
    if "run.seed" in given:
        document.pop("run", None)
    workloads = document["workload"]
    for workload in workloads if isinstance(workloads, list) else [workloads]:
        for table in (workload, *workload.get("job", {}).values()):
            for name in names:
                table.pop(name, None)
            if "bssplit" in names or "bs" in names:
                table.pop("bssplit", None)
                table.pop("bs", None)
            if "rate_iops" in names:
                table.pop("iodepth", None)


def command_lines(text: str, goes_on: re.Pattern[str], remark: re.Pattern[str]) -> list[tuple[int, str]]:
    """The lines that are neither empty nor remarks, each with its number; `goes_on` is the end of one that goes on."""
    found, number = [], 1
    for line in goes_on.sub("\0", text).split("\n"):
        whole = line.replace("\0", " ").strip()
        if whole and not remark.match(whole):
            found.append((number, whole))
        number += 1 + line.count("\0")
    return found
