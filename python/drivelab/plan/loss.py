"""A candidate's chances of loss, from the durability room."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from drivelab.durability.checks import USED_BY
from drivelab.durability.losses import solve
from drivelab.levels.planning import Chosen, drive_bytes
from drivelab.plan.grid import Asked, Candidate

_NO_REBUILD = "1h"
HISTORIES = 1 << 18
"""Of a candidate at most; fewer where half the interval is 5 % of the chance before."""
VARIED: Mapping[str, Any] = {"histories": 1 << 16, "error": "10%"}
"""What half and twice of an assumption do is told in two digits."""
_NUMBER = r"\d+(?:\.\d*)?(?:e[+-]?\d+)?"
_QUANTITY = re.compile(_NUMBER, re.IGNORECASE)
_TIME_IN_LAW = re.compile(rf"(?<=[:,])({_NUMBER})(?= ?(?:s|min|h|d|w|y)\b)", re.IGNORECASE)


def loss_of(
    one: Candidate, asked: Asked, rebuild: str | None, factors: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """What the durability room finds, `rebuild` in its words; None where nothing is rebuilt.

    `factors` are those of assumptions, by their names: what is assumed of failures times so much. Raises InputError.
    """
    level = one.level
    options: dict[str, Any] = {
        **asked.failures,
        **asked.rates[one.drive],
        "level": level.label,
        "members": level.members,
        **{
            key: given
            for key, given in (("copies", level.copies), ("groups", level.groups))
            if level.name in USED_BY[key]
        },
        "capacity": f"{_bytes_of(one.chosen)}B",
        "rebuild": rebuild or _NO_REBUILD,
        "histories": HISTORIES,
    }
    if asked.varied:
        options |= VARIED
    if factors is not None:
        # The rebuild is the same as that of what it is compared with.
        options["rebuild"] = options["rebuild"].partition("(")[0]
    if "afr" in options:
        # Its interval is told of the pick alone.
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
    """A quantity as it is typed, so many times: `1.5%`, `2d`, `1e-15/bit`; of a law each time, `weibull:2:9y`."""

    def scaled(match: re.Match[str]) -> str:
        return f"{float(f'{float(match[0]) * factor:.{digits}g}'):.{max(digits, 6)}g}"

    pattern, most = (_TIME_IN_LAW, 0) if is_law(text) else (_QUANTITY, 1)
    return pattern.sub(scaled, text.strip(), count=most)


def is_law(text: str) -> bool:
    """Whether it begins with a name, `weibull:2:9y`, and not with its quantity."""
    return text.strip()[:1].isalpha()
