"""Values that are asked with an array, as typed: `20h`, `1.5%`, `16TB`, read as those of durability are."""

from __future__ import annotations

from functools import partial
from typing import Literal

from drivelab import _core
from drivelab.errors import OptionError

Kind = Literal["hours", "share", "capacity", "number", "whole"]


def typed(kind: Kind, given: object, option: str) -> float:
    """The value of an option. Raises InputError."""
    try:
        return _core.durability_value(kind, str(given))
    except ValueError as error:
        raise OptionError(option, given, *error.args) from error


hours, share, capacity, number = (partial(typed, kind) for kind in ("hours", "share", "capacity", "number"))


def whole(given: object, option: str) -> int:
    """A whole number, not below zero. Raises InputError."""
    return int(typed("whole", given, option))
