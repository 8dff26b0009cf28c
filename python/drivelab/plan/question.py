"""Parses the question of a plan from options: limits, prices by drive, numbers of members."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from drivelab.durability import texts
from drivelab.errors import InputError
from drivelab.levels.cost import Price
from drivelab.levels.level import MEMBERS_MAX
from drivelab.levels.loads import SHARES, STATES, Loads, names_of

MEMBERS, LEVELS = "4..12", "raid10,raid5,raid6"
CANDIDATES_MAX = 2_000
LIFE = "5y"
BEYOND = 10
"""The number of requests that must lie beyond a quantile."""
_LOSS = re.compile(r"(?P<chance>[^/]+?)\s*(?:/\s*(?P<per>year|y|a))?")
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")
_NANOSECONDS = {"us": 1e3, "ms": 1e6, "s": 1e9}
_SPAN = re.compile(r"([+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?) ?(us|ms|s)")
_POWER_PRICE = re.compile(r"(?P<price>.+?)\s*/\s*kWh", re.IGNORECASE)
_POWER = re.compile(r"([+-]?\d+(?:\.\d*)?) ?W")


@dataclass(frozen=True)
class Limits:
    """The limits of a candidate; None if not given."""

    capacity_bytes: float
    latencies_ns: Mapping[str, float]
    """The limits of latencies by their names in the record, such as `p99`."""
    loss_a_year: float | None
    cost: float | None
    iops: float | None
    states: Sequence[str]
    """The states in which the limits of latencies and IOPS apply."""

    def to_dict(self) -> dict[str, Any]:
        """The limits for JSON."""
        return {
            "capacity_bytes": self.capacity_bytes,
            "latencies_ns": dict(self.latencies_ns),
            "loss_in_a_year": self.loss_a_year,
            "cost": self.cost,
            "iops": self.iops,
            "states": list(self.states),
        }


@dataclass(frozen=True)
class Prices:
    """The prices of drives, controllers and power, all in one currency."""

    currency: str
    drives: Mapping[str, float]
    controllers: Mapping[str | None, float]
    watts: Mapping[str, float]
    per_kwh: float
    life_hours: float

    def cost(self, drive: str, controller: str | None, drives: int) -> dict[str, float]:
        """The cost of a number of drives with their controller, and of the drives' power over the life."""
        power = drives * self.watts.get(drive, 0.0) / 1000 * self.life_hours * self.per_kwh
        found = {
            "drives": drives * self.drives[drive],
            "controller": self.controllers[controller],
            "power": power,
        }
        return {**found, "total": sum(found.values())}


def limits(options: Mapping[str, Any], loads: Loads) -> Limits:
    """Parse the limits from options. Raises InputError."""
    states = tuple(dict.fromkeys(names_of(options.get("states") or "healthy")))
    for state in states:
        if state not in STATES:
            raise InputError(f"--states {state}: it is {', '.join(STATES)}")
    budget = options.get("budget")
    iops = options.get("min_iops")
    capacity = texts.size(str(options["capacity"]), "--capacity")
    if not capacity:
        raise InputError("--capacity 0: nothing has to fit; give more than 0")
    return Limits(
        capacity_bytes=capacity,
        # The number of requests of a recorded trace is fixed.
        latencies_ns=latencies(options.get("max_latency"), None if loads.is_recorded else loads.requests),
        loss_a_year=None if options.get("max_loss") is None else chance(str(options["max_loss"])),
        cost=None if budget is None else Price.parse(str(budget), "--budget").amount,
        iops=None if iops is None else _above_zero(texts.number(str(iops), "--min-iops"), "--min-iops"),
        states=states or ("healthy",),
    )


def latencies(text: str | None, requests: int | None) -> dict[str, float]:
    """Parse `p99=50ms,mean=20ms`; `requests` is their number if it is known. Raises InputError."""
    found: dict[str, float] = {}
    for part in names_of(text or ""):
        name, equals, value = (one.strip() for one in part.partition("="))
        key = name.replace(".", "_")
        match = _SPAN.fullmatch(value)
        if key in SHARES and equals and match is not None and float(match[1]) <= 0:
            raise InputError(
                f"--max-latency {part}: the most that a latency may be is above zero: {name}=50ms"
            )
        if key not in SHARES or not equals or match is None:
            known = ", ".join(one.replace("_", ".") for one in SHARES)
            raise InputError(f"--max-latency {part}: a latency is {known}, with the most it may be: p99=50ms")
        share = SHARES[key]
        if share is not None and requests is not None and requests * (1 - share) < BEYOND - 1e-6:
            needed = round(BEYOND / (1 - share))
            raise InputError(f"--max-latency {part}: that takes {needed:,} requests: --number-ios {needed}")
        found[key] = float(match[1]) * _NANOSECONDS[match[2]]
    _check_order(found)
    return found


def _check_order(found: Mapping[str, float]) -> None:
    """Reject a limit that another one makes redundant. Raises InputError."""
    ordered = [(key, found[key]) for key in SHARES if key in found and SHARES[key] is not None]
    for (low, first), (high, second) in pairwise(ordered):
        if first >= second:
            texts_of = [one.replace("_", ".") for one in (low, high)]
            raise InputError(
                f"--max-latency: {texts_of[0]} is never above {texts_of[1]}, and its limit is not below that one's: "
                f"leave {texts_of[0]} out, or lower it"
            )


def chance(text: str) -> float:
    """Parse `1e-4/year`. Raises InputError."""
    match = _LOSS.fullmatch(text.strip())
    found = texts.share(match["chance"], "--max-loss") if match else -1.0
    if not 0 < found < 1:
        raise InputError(f"--max-loss {text}: the chance of a loss within a year, between 0 and 1: 1e-4/year")
    return found


def members(text: str) -> list[int]:
    """Parse `4..12`, or numbers separated by commas. Raises InputError."""
    match = _RANGE.fullmatch(text.strip())
    try:
        found = (
            list(range(int(match[1]), int(match[2]) + 1)) if match else [int(one) for one in names_of(text)]
        )
    except ValueError:
        found = []
    if not found or not 1 <= min(found) <= max(found) <= MEMBERS_MAX:
        remedy = "the lower number comes first: 4..12" if match else "4..12, or 4,6,8"
        raise InputError(f"--members {text}: from 1 to {MEMBERS_MAX:,}; {remedy}")
    return list(dict.fromkeys(found))


def by_name(text: str, names: Sequence[str | None], option: str, example: str) -> dict[str | None, str]:
    """Parse a value for all names, or one for each: `A=280USD,B=300USD`. Raises InputError."""
    parts = names_of(text)
    if len(parts) == 1 and "=" not in parts[0]:
        return dict.fromkeys(names, parts[0])
    found: dict[str | None, str] = {}
    for part in parts:
        name, equals, value = (one.strip() for one in part.rpartition("="))
        key = None if name == "none" else name
        if not equals or key not in names:
            known = ", ".join(one or "none" for one in names)
            raise InputError(
                f"{option} {part}: it is NAME={example} for each of {known}, or {example} for all"
            )
        found[key] = value
    if missing := [name or "none" for name in names if name not in found]:
        raise InputError(f"{option}: nothing for {', '.join(missing)}: add {missing[0]}={example}")
    return found


def laws_by_name(text: str, names: Sequence[str], option: str, example: str) -> dict[str | None, str]:
    """Parse a law for all names, or one for each: `A=survival:1y=98%,5y=89%,B=fixed:5y`. Raises InputError."""
    named = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    # A law may contain commas and equals signs.
    parts = re.split(rf",\s*(?=(?:{named})\s*=)", text.strip())
    if len(parts) == 1 and not re.match(rf"(?:{named})\s*=", parts[0]):
        return dict.fromkeys(names, parts[0])
    found: dict[str | None, str] = {}
    for part in parts:
        name, equals, law = (one.strip() for one in part.partition("="))
        if not equals or name not in names:
            known = ", ".join(names)
            raise InputError(
                f"{option} {part}: it is NAME={example} for each of {known}, or {example} for all"
            )
        found[name] = law
    if missing := [name for name in names if name not in found]:
        raise InputError(f"{option}: nothing for {', '.join(missing)}: add {missing[0]}={example}")
    return found


def prices(options: Mapping[str, Any], drives: Sequence[str], controllers: Sequence[str | None]) -> Prices:
    """Parse the prices from options. Raises InputError, also if a price is missing."""
    option = "--drive-price"
    of_drives = {
        str(name): Price.parse(text, option)
        for name, text in by_name(str(options["drive_price"]), drives, option, "280USD").items()
    }
    option = "--controller-price"
    given, named = options.get("controller_price"), [name for name in controllers if name is not None]
    if named and given is None:
        raise InputError(f"{option} is missing: give {','.join(f'{name}=240USD' for name in named)}, or 0USD")
    if given is not None and not named:
        raise InputError(f"{option} changes nothing without --controller")
    of_controllers = by_name(str(given), named, option, "240USD") if given is not None else {}
    parsed = {name: Price.parse(text, option) for name, text in of_controllers.items()}
    per_kwh, watts = _power(options, drives)
    budget = [] if options.get("budget") is None else [Price.parse(str(options["budget"]), "--budget")]
    all_of = [*of_drives.values(), *parsed.values(), *budget, *([per_kwh] if per_kwh else [])]
    currencies = list(dict.fromkeys(price.currency for price in all_of))
    if len(currencies) > 1:
        raise InputError(f"prices are in {' and '.join(currencies)}: give all in one currency")
    life = texts.hours(str(options.get("life") or LIFE), "--life")
    return Prices(
        currency=currencies[0],
        drives={name: price.amount for name, price in of_drives.items()},
        controllers={None: 0.0, **{name: price.amount for name, price in parsed.items()}},
        watts=watts,
        per_kwh=per_kwh.amount if per_kwh else 0.0,
        life_hours=life,
    )


def _power(options: Mapping[str, Any], drives: Sequence[str]) -> tuple[Price | None, dict[str, float]]:
    price, power = options.get("power_price"), options.get("drive_power")
    if price is None and power is None:
        return None, {}
    if price is None or power is None:
        missing = (
            "--power-price 0.30USD/kWh" if price is None else "--drive-power 7W, or NAME=7W for each drive"
        )
        raise InputError(f"--power-price and --drive-power belong together: add {missing}")
    match = _POWER_PRICE.fullmatch(str(price).strip())
    if match is None:
        raise InputError(f"--power-price {price}: a price for each kilowatt-hour: 0.30USD/kWh")
    found = {}
    for name, text in by_name(str(power), drives, "--drive-power", "7W").items():
        watts = _POWER.fullmatch(text.strip())
        if watts is None or float(watts[1]) < 0:
            what = "it is in watts" if watts is None else "it is not below zero"
            raise InputError(f"--drive-power {text}: {what}: 7W")
        found[str(name)] = float(watts[1])
    return Price.parse(match["price"], "--power-price"), found


def _above_zero(found: float, option: str) -> float:
    if found <= 0:
        raise InputError(f"{option} {found:g}: it is above zero")
    return found
