"""The options on failures: how often drives fail, how long a repair takes, and the consequences for a level."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from drivelab.arrays import counted
from drivelab.arrays.level import Level
from drivelab.arrays.typed import hours
from drivelab.errors import OptionError, ref

YEAR_HOURS = 8760.0
"""A year has 365 days."""
_NUMBER = r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?)"
_PERCENT = re.compile(_NUMBER + r" ?%")


@dataclass(frozen=True)
class Lifetime:
    """How often a drive fails."""

    per_year: float
    """The rate: failures per drive and year."""

    @property
    def chance(self) -> float:
        """The probability that a drive fails within a year."""
        return chance_of_rate(self.per_year)

    @classmethod
    def parse(cls, afr: str | None, mttf: str | None) -> Lifetime | None:
        """From an annual failure rate in percent, or a mean time to failure; None without. Raises InputError."""
        if afr is not None and mttf is not None:
            what = f"{ref('afr')} and {ref('mttf')} say the same thing twice; give one of them"
            raise OptionError("mttf", None, what, is_named=False)
        if afr is not None and counted.is_counted(afr):
            return cls(counted.counted(afr, "afr").rates()[0])
        if afr is not None:
            # An interval after it is for the chance of loss.
            match = _PERCENT.fullmatch(afr.strip().lower().partition("(")[0])
            percent = float(match[1]) if match else -1.0
            if not 0 < percent < 100:
                raise OptionError(
                    "afr", afr, "the share of drives that fail in a year, between 0 and 100", "5%"
                )
            return cls(rate_of_chance(percent / 100))
        return None if mttf is None else cls(rate_of_mttf(parse_hours(mttf, "mttf")))


@dataclass(frozen=True)
class Repair:
    """The time from a failure until the new drive has its data."""

    hours: float | None
    """None if it is to be measured: the rebuild alone, under the load."""

    @classmethod
    def parse(cls, text: str | None, lifetime: Lifetime | None) -> Repair | None:
        """A time, or `measured`, the default if drives fail. Raises InputError."""
        if text is None:
            return cls(None) if lifetime is not None else None
        if lifetime is None:
            what = f"{ref('repair')} changes nothing without {ref('afr')} or {ref('mttf')}: nothing fails"
            raise OptionError("repair", None, what, is_named=False)
        return cls(None if text.strip() == "measured" else parse_hours(text, "repair"))


def parse_hours(text: str, option: str) -> float:
    """A time as typed, in hours. Raises InputError."""
    found = hours(text, option)
    if not found:
        raise OptionError(option, text, "a time above zero", "such as 12h")
    return found


def odds(level: Level, lifetime: Lifetime | None, repair_hours: float | None) -> dict[str, Any]:
    """The failures that a level tolerates, and its chances of data loss by failed drives alone, as JSON has them: in
    percent.
    """
    sets, of_all = level.failed_sets(), level.failed_sets_of_all()
    found: dict[str, Any] = {"bears_worst": sets.bears_worst, "bears_best": sets.bears_best}
    if lifetime is None:
        return found
    found["none_replaced"] = {
        "loss_in_a_year_percent": 100 * sets.loss(lifetime.chance),
        "loss_of_all_in_a_year_percent": 100 * of_all.loss(lifetime.chance),
        "loss_in_a_year_after_one_percent": 100 * sets.loss_after_one(lifetime.chance),
    }
    if repair_hours is not None:
        meanwhile = chance_of_rate(lifetime.per_year, repair_hours / YEAR_HOURS)
        found["repair_hours"] = repair_hours
        found["others_fail_during_a_repair_percent"] = 100 * sets.loss_after_one(meanwhile)
    return found


def lifetime_dict(lifetime: Lifetime) -> dict[str, float]:
    """How often a drive fails, in each of three forms."""
    return {
        "failures_per_year": lifetime.per_year,
        "annual_failure_percent": 100 * lifetime.chance,
        "mttf_hours": mttf_of_rate(lifetime.per_year),
    }


def rate_of_chance(chance: float) -> float:
    """Failures per year of a drive that fails within a year with this probability: exponential lifetimes."""
    return -math.log1p(-chance)


def chance_of_rate(per_year: float, years: float = 1.0) -> float:
    """The probability that a drive with this failure rate per year fails within some years."""
    return -math.expm1(-per_year * years)


def rate_of_mttf(hours: float) -> float:
    """Failures per year of a drive with this mean time to failure."""
    return YEAR_HOURS / hours


def mttf_of_rate(per_year: float) -> float:
    """The mean time to failure in hours; infinite if nothing fails."""
    return YEAR_HOURS / per_year if per_year else math.inf
