"""A candidate's probabilities of loss, computed by the package `durability`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from drivelab.arrays.durability.solving import solve
from drivelab.arrays.level import COPIED, GROUPED
from drivelab.arrays.plan.grid import Asked, Candidate
from drivelab.arrays.simulation.planning import Chosen, drive_bytes

_NO_REBUILD = "1h"
HISTORIES = 1 << 18
"""The most histories of a candidate; fewer if half the interval reaches 5 % of the probability before."""
VARIED: Mapping[str, Any] = {"histories": 1 << 16, "error": "10%"}
"""The precision for a varied assumption, whose effect is reported with two digits."""
_NUMBER = r"\d+(?:\.\d*)?(?:e[+-]?\d+)?"
_QUANTITY = re.compile(_NUMBER, re.IGNORECASE)
_TIME_IN_LAW = re.compile(rf"(?<=[:,])({_NUMBER})(?= ?(?:s|min|h|d|w|y)\b)", re.IGNORECASE)


def loss_of(
    one: Candidate, asked: Asked, rebuild: str | None, factors: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """The result of the package `durability`, with `rebuild` in its notation; None if nothing is rebuilt.

    `factors` are those of assumptions, by their names: what is assumed of failures times so much. Raises InputError.
    """
    level = one.level
    options: dict[str, Any] = {
        **asked.failures_of(one.drive),
        "level": level.label,
        "members": level.members,
        **{
            key: given
            for key, given, users in (("copies", level.copies, COPIED), ("groups", level.groups, GROUPED))
            if level.name in users
        },
        "capacity": f"{_bytes_of(one.chosen)}B",
        "rebuild": rebuild or _NO_REBUILD,
        "histories": HISTORIES,
    }
    if asked.varied:
        options |= VARIED
    if factors is not None:
        # The rebuild is that of the candidate it is compared with.
        options["rebuild"] = options["rebuild"].partition("(")[0]
    if "afr" in options:
        # Only the pick's interval is reported.
        options["afr"] = str(options["afr"]).partition("(")[0]
    for name, factor in (factors or {}).items():
        given = options[name]
        options[name] = (
            [times(one, factor) for one in given] if isinstance(given, list) else times(str(given), factor)
        )
    return solve(options).outcomes[0]


@cache
def _drive_bytes(drive: str, overrides: tuple[Any, ...]) -> int:
    return drive_bytes(Chosen(drive, 1, (), None, overrides))  # type: ignore[arg-type]


def _bytes_of(chosen: Chosen) -> int:
    return _drive_bytes(chosen.drive, tuple(chosen.overrides))


def times(text: str, factor: float, digits: int = 9) -> str:
    """A quantity as typed, multiplied by a factor: `1.5%`, `2d`, `1e-15/bit`; each time of a law, `weibull:2:9y`."""

    def scaled(match: re.Match[str]) -> str:
        return f"{float(f'{float(match[0]) * factor:.{digits}g}'):.{max(digits, 6)}g}"

    pattern, most = (_TIME_IN_LAW, 0) if is_law(text) else (_QUANTITY, 1)
    return pattern.sub(scaled, text.strip(), count=most)


def is_law(text: str) -> bool:
    """Whether it is a law with a name, as in `weibull:2:9y`, and not a quantity."""
    return text.strip()[:1].isalpha()
