"""Parses quantities and laws as typed: `20h`, `16TB`, `1.5%`, `1e-15/bit`, `weibull:1.12:461386h`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

from drivelab import _core
from drivelab.arrays.times import YEAR_HOURS, hours
from drivelab.errors import OptionError
from drivelab.errors.several import Problems

Law = dict[str, Any]
Found = TypeVar("Found")

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
_SHARE = re.compile(_NUMBER + r" ?(%?)", re.IGNORECASE)
_RATE = re.compile(_NUMBER + r" ?/ ?(bit|byte|B|h|y)")
_INTERVAL = re.compile(r"(?P<law>.*)\((?P<low>[^()]*)\.\.(?P<high>[^()]*)\)")
_NAMED_LAWS = "fixed:20h, weibull:SHAPE:SCALE:LOCATION, uniform:LOW:HIGH or survival:AGE=SHARE,.."
LAWS = f"20h, {_NAMED_LAWS}"


def _hours_or_none(text: str, option: str) -> float | None:
    try:
        return hours(text, option)
    except OptionError:
        return None


def share(text: str, option: str) -> float:
    """A probability from a percentage or a number. Raises InputError."""
    match, remedy = _SHARE.fullmatch(text.strip()), "such as 1.5%"
    if match is None:
        raise OptionError(option, text, "a chance is a percentage or a number from 0 to 1", remedy)
    return _sound(float(match[1]) / (100 if match[2] else 1), text, option, "a chance", remedy)


def _sound(found: float, text: str, option: str, what: str, remedy: str) -> float:
    """A finite number, not below zero."""
    if not math.isfinite(found):
        raise OptionError(option, text, "out of the range of numbers", "give one from 1e-300 to 1e300")
    if found < 0:
        raise OptionError(option, text, f"{what} is not below zero", remedy)
    return found


def number(text: str, option: str) -> float:
    """A plain number. Raises InputError."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise OptionError(option, text, "it is a number", "such as 2")
    return found


def size(text: str, option: str) -> float:
    """The bytes of a capacity. Raises InputError."""
    remedy = "such as 16TB or 14.5TiB"
    if text.strip().startswith("-"):
        raise OptionError(option, text, "a capacity is not below zero", remedy)
    # The bare letters of a block size, 16T, are powers of 1024: nobody means that of a drive.
    if not text.rstrip().endswith("B"):
        raise OptionError(option, text, "a capacity has its unit", remedy)
    try:
        return float(_core.size_bytes(text))
    except ValueError as error:
        raise OptionError(option, text, str(error), remedy) from error


def per_byte(text: str, option: str) -> float:
    """Unreadable sectors per byte read. Raises InputError."""
    match, remedy = _RATE.fullmatch(text.strip()), "such as 1e-15/bit"
    if match is None or match[2] in {"h", "y"}:
        raise OptionError(option, text, "it is a rate for each bit or byte read, or none", remedy)
    return _sound(float(match[1]) * (8 if match[2] == "bit" else 1), text, option, "a rate", remedy)


def law(text: str, option: str) -> Law:
    """The distribution of a time; a plain time is the mean of an exponential law. Raises InputError."""
    name, colon, rest = text.strip().partition(":")
    if not colon:
        mean = hours(text, option)
        return {"law": "exponential", "mean_hours": mean} if mean else {"law": "fixed", "hours": 0.0}
    parts = rest.split(":")
    reader = _LAWS.get(name.lower())
    if reader is None or not reader[0] <= len(parts) <= reader[1]:
        raise OptionError(option, text, "this is no law", f"it is {LAWS}")
    return {"law": name.lower(), **reader[2](parts, option)}


def corrected(text: str, option: str) -> Law:
    """The time from a defect to its correction by a scrub: with a period it is uniform between zero and the period.
    Raises InputError.
    """
    if ":" in text:
        return law(text, option)
    period = hours(text, option)
    if not period:
        raise OptionError(option, text, "the period of a scrub is above zero", "such as 1w")
    return {"law": "uniform", "low_hours": 0.0, "high_hours": period}


def arrival(text: str, option: str) -> Law:
    """Latent defects: a rate per hour or year, or a law with its name. Raises InputError.

    A bare time would be the inverse of the rate that the option asks for, so it is rejected.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None and ":" in text:
        return law(text, option)
    remedy = f"such as 1.08e-4/h, or exponential:9259h, {_NAMED_LAWS}"
    if match is None:
        if mean := _hours_or_none(text, option):
            what = "a bare time is no rate"
            remedy = f"a defect in {text.strip()} is {1 / mean:.3g}/h, or exponential:{text.strip()} as a law"
            raise OptionError(option, text, what, remedy)
        raise OptionError(option, text, "it is a rate for each hour or year, or a law", remedy)
    if match[2] not in {"h", "y"} or not float(match[1]):
        raise OptionError(option, text, "it is a rate above zero for each hour or year", remedy)
    rate = _sound(float(match[1]), text, option, "a rate", remedy)
    return {
        "law": "exponential",
        "mean_hours": _sound((YEAR_HOURS if match[2] == "y" else 1.0) / rate, text, option, "a time", remedy),
    }


def rebuild(text: str, option: str) -> dict[str, Any]:
    """A rebuild time, optionally with an interval of its mean: `20h(18h..23h)`. Raises InputError."""
    match = _INTERVAL.fullmatch(text.strip())
    if match is None:
        return {"time": law(text, option)}
    low, high, time = all_of(
        (hours, match["low"], option), (hours, match["high"], option), (law, match["law"], option)
    )
    return {"time": time, "low_hours": low, "high_hours": high}


def all_of(*wanted: tuple[Callable[[str, str], Any], str, str]) -> list[Any]:
    """What each reader makes of its text and option. Raises InputError with all errors."""
    problems = Problems()
    found = [problems.read(None, read, text, option) for read, text, option in wanted]
    problems.check()
    return found


def parted(text: str, option: str, form: str, readers: list[Callable[[str, str], Found]]) -> list[Found]:
    """Values separated by colons. Raises InputError."""
    parts = text.split(":")
    if len(parts) != len(readers):
        raise OptionError(option, text, f"it is {form}")
    return all_of(*((read, part, option) for read, part in zip(readers, parts, strict=True)))


def _exponential(parts: list[str], option: str) -> Law:
    return {"mean_hours": hours(parts[0], option)}


def _fixed(parts: list[str], option: str) -> Law:
    return {"hours": hours(parts[0], option)}


def _weibull(parts: list[str], option: str) -> Law:
    readers = (number, hours, hours)
    shape, scale, location = all_of(*zip(readers, (*parts, "0h")[:3], [option] * 3, strict=True))
    return {"shape": shape, "scale_hours": scale, "location_hours": location}


def _uniform(parts: list[str], option: str) -> Law:
    low, high = all_of((hours, parts[0], option), (hours, parts[1], option))
    return {"low_hours": low, "high_hours": high}


def _survival(parts: list[str], option: str) -> Law:
    return {"points": all_of(*((_survival_row, part, option) for part in parts[0].split(",")))}


def _survival_row(text: str, option: str) -> list[float]:
    age, equals, left = text.partition("=")
    if not equals:
        raise OptionError(option, text, "a row of a survival table is AGE=SHARE", "such as 5y=97.9%")
    return all_of((hours, age, option), (share, left, option))


_LAWS: dict[str, tuple[int, int, Callable[[list[str], str], Law]]] = {
    "exponential": (1, 1, _exponential),
    "fixed": (1, 1, _fixed),
    "weibull": (2, 3, _weibull),
    "uniform": (2, 2, _uniform),
    "survival": (1, 1, _survival),
}
