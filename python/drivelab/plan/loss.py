"""A candidate's chances of loss, from the durability room."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from drivelab.durability.losses import solve
from drivelab.levels.planning import Chosen, drive_bytes
from drivelab.plan.grid import Asked, Candidate

_NO_REBUILD = "1h"
HISTORIES = 1 << 18
"""Of a candidate at most; fewer where half the interval is 5 % of the chance before."""
VARIED: Mapping[str, Any] = {"histories": 1 << 16, "error": "10%"}
"""What half and twice of an assumption do is told in two digits."""
_QUANTITY = re.compile(r"\d+(?:\.\d*)?(?:e[+-]?\d+)?", re.IGNORECASE)


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
        "copies": level.copies,
        "groups": level.groups,
        "capacity": f"{_bytes_of(one.chosen)}B",
        "rebuild": rebuild or _NO_REBUILD,
        "histories": HISTORIES,
    }
    if asked.varied:
        options |= {**VARIED, "rebuild": options["rebuild"].partition("(")[0]}
    if "afr" in options:
        # Its interval is told of the pick alone.
        options["afr"] = str(options["afr"]).partition("(")[0]
    for name, factor in (factors or {}).items():
        options[name] = times(str(options[name]), factor)
    return solve(options).outcomes[0]


@cache
def _drive_bytes(drive: str, overrides: tuple[Any, ...]) -> int:
    return drive_bytes(Chosen(drive, 1, (), None, overrides))  # type: ignore[arg-type]


def _bytes_of(chosen: Chosen) -> int:
    return _drive_bytes(chosen.drive, tuple(chosen.overrides))


def times(text: str, factor: float, digits: int = 9) -> str:
    """A quantity as it is typed, so many times: `1.5%`, `2d`, `1e-15/bit`."""
    match = _QUANTITY.match(text.strip())
    if match is None:
        raise ValueError(text)
    rounded = float(f"{float(match[0]) * factor:.{digits}g}")
    return f"{rounded:.{max(digits, 6)}g}{text.strip()[match.end() :]}"


def is_scaled(text: str) -> bool:
    """Whether a quantity is a number with its unit, and no law."""
    return ":" not in text and "=" not in text
