"""Times in the life of an array as typed, in hours: `20h`, `5y`."""

from __future__ import annotations

from drivelab import _core
from drivelab.errors import OptionError, TooLargeError

YEAR_HOURS = 8760.0
"""A year has 365 days."""
_HOUR_NS = 3.6e12
_REMEDY = "such as 20h"


def hours(text: str, option: str) -> float:
    """A time in hours. Raises InputError."""
    if text.strip().startswith("-"):
        raise OptionError(option, text, "a time is not below zero", _REMEDY)
    try:
        return _core.lifetime_ns(text.lower()) / _HOUR_NS
    except TooLargeError as error:
        raise OptionError(option, text, "too large a time", _REMEDY) from error
    except ValueError as error:
        raise OptionError(option, text, "a time has its unit, s, min, h, d, w or y", _REMEDY) from error
