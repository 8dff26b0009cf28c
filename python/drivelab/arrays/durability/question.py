"""Options, or the same keys of a file, as questions. The keys, their values and what goes together are Rust's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab import _core
from drivelab.arrays import counted
from drivelab.arrays.durability import simulated
from drivelab.errors import NoSuchKeyError, OptionError
from drivelab.errors.several import Problems

Options = Mapping[str, Any]

_TABLES = {"afr": (counted.afr, "1%"), "drive_life": (counted.life, "500000h")}
"""What reads a table of counts, and what stands in for one that cannot be read."""


def asked(options: Options) -> dict[str, Any]:
    """The `levels`, the `questions` of each, and the `ends` of the failure rate. Raises InputError with all errors."""
    problems = Problems()
    given = dict(options)
    for key, (read, stand_in) in _TABLES.items():
        if isinstance(text := given.get(key), str) and counted.is_counted(text):
            given[key] = problems.read(stand_in, read, text, key)
    found = _core.durability_asked(given)
    problems.found += errors_in(found)
    if simulated.is_simulated(options):
        problems.read(None, simulated.loads, options)
    problems.check()
    return found


def errors_in(found: Mapping[str, Any]) -> list[OptionError]:
    """The problems of an answer as errors of their options."""
    return [
        (NoSuchKeyError if one["is_key"] else OptionError)(
            one["place"],
            one["given"],
            one["message"],
            one["remedy"] or None,
            item=one["item"],
            is_named=bool(one["place"]),
        )
        for one in found.get("problems", [])
    ]
