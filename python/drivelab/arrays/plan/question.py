"""Parses the question of a plan from options: limits, prices by drive, numbers of members."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from drivelab import _core
from drivelab.arrays import typed
from drivelab.arrays.cost import Price
from drivelab.arrays.level import MEMBERS_MAX
from drivelab.arrays.simulation.loads import SHARES, STATES, Loads, names_of
from drivelab.errors import OptionError, ref
from drivelab.errors.several import Problems

Value = TypeVar("Value")

MEMBERS, LEVELS = "4..12", "raid10,raid5,raid6"
CANDIDATES_MAX = 2_000
LIFE = "5y"
BEYOND = 10
"""The number of requests that must lie beyond a quantile."""
_LOSS = re.compile(r"(?P<chance>[^/]+?)\s*(?:/\s*(?P<per>year|y|a))?")
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")
_POWER_PRICE = re.compile(r"(?P<price>.+?)\s*/\s*kWh", re.IGNORECASE)
_POWER = re.compile(r"([+-]?\d+(?:\.\d*)?) ?W")


@dataclass(frozen=True)
class Limits:
    """The limits of a candidate; None if not given."""

    capacity_bytes: float
    latencies_ns: Mapping[str, float]
    """The limits of latencies by their names in the record, such as `p99`."""
    loss_percent: float | None
    """The chance of data loss in a year."""
    cost: float | None
    iops: float | None
    states: Sequence[str]
    """The states in which the limits of latencies and IOPS apply."""

    def to_dict(self) -> dict[str, Any]:
        """The limits for JSON."""
        return {
            "capacity_bytes": self.capacity_bytes,
            "latencies_ns": dict(self.latencies_ns),
            "loss_in_a_year_percent": self.loss_percent,
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


def limits(options: Mapping[str, Any], loads: Loads | None) -> Limits:
    """Parse the limits from options; `loads` is None if the load is invalid. Raises InputError with all errors."""
    problems = Problems()
    read = problems.read
    states = tuple(dict.fromkeys(names_of(options.get("states") or "healthy")))
    problems.found += [
        OptionError("states", state, f"it is {', '.join(STATES)}") for state in states if state not in STATES
    ]

    def of(key: str, parse: Callable[[str], float]) -> float | None:
        given = options.get(key)
        return None if given is None else read(None, parse, str(given))

    # The number of requests of a recorded trace is fixed.
    requests = None if loads is None or loads.is_recorded else loads.requests
    found = Limits(
        capacity_bytes=of("capacity", capacity) or 0.0,
        latencies_ns=read({}, latencies, options.get("max_latency"), requests),
        loss_percent=of("max_loss", chance),
        cost=of("budget", lambda text: Price.parse(text, "budget").amount),
        iops=of("min_iops", iops),
        states=states or ("healthy",),
    )
    problems.check()
    return found


def capacity(text: str) -> float:
    """Parse a capacity above zero. Raises InputError."""
    found = typed.capacity(text, "capacity")
    if not found:
        raise OptionError("capacity", 0, "nothing has to fit; give more than 0")
    return found


def iops(text: str) -> float:
    """Parse a rate above zero. Raises InputError."""
    found = typed.number(text, "min_iops")
    if found <= 0:
        raise OptionError("min_iops", f"{found:g}", "it is above zero")
    return found


def latencies(text: str | None, requests: int | None) -> dict[str, float]:
    """Parse `p99=50ms,mean=20ms`; `requests` is their number if it is known. Raises InputError with all errors."""
    problems = Problems()
    parts = [problems.read(None, _latency, part, requests) for part in names_of(text or "")]
    problems.check()
    found = dict(part for part in parts if part is not None)
    _check_order(found)
    return found


def _latency(part: str, requests: int | None) -> tuple[str, float]:
    name, equals, value = (one.strip() for one in part.partition("="))
    key = name.replace(".", "_")
    most = _most(value)
    if key in SHARES and equals and most is not None and most <= 0:
        what = "the most that a latency may be is above zero"
        raise OptionError("max_latency", part, what, f"{name}=50ms")
    if key not in SHARES or not equals or most is None:
        known = ", ".join(one.replace("_", ".") for one in SHARES)
        what = f"a latency is {known}, with the most it may be"
        raise OptionError("max_latency", part, what, "p99=50ms")
    share = SHARES[key]
    if share is not None and requests is not None and requests * (1 - share) < BEYOND - 1e-6:
        needed = round(BEYOND / (1 - share))
        what = f"that takes {needed:,} requests"
        raise OptionError("max_latency", part, what, f"{ref('number_ios', needed)}")
    return key, float(most)


def _most(text: str) -> int | None:
    """The nanoseconds of a limit; 0 or less where it is below zero, None where it is no time."""
    try:
        return _core.span_ns(text.removeprefix("-")) * (-1 if text.startswith("-") else 1)
    except ValueError:
        return None


def _check_order(found: Mapping[str, float]) -> None:
    """Reject a limit that another one makes redundant. Raises InputError."""
    ordered = [(key, found[key]) for key in SHARES if key in found and SHARES[key] is not None]
    for (low, first), (high, second) in pairwise(ordered):
        if first >= second:
            texts_of = [one.replace("_", ".") for one in (low, high)]
            what = f"{texts_of[0]} is never above {texts_of[1]}, and its limit is not below that one's"
            raise OptionError("max_latency", None, what, f"leave {texts_of[0]} out, or lower it")


def chance(text: str) -> float:
    """The percent of `1e-4/year` or `0.01%/year`. Raises InputError."""
    match = _LOSS.fullmatch(text.strip())
    found = typed.share(match["chance"], "max_loss") if match else -1.0
    if not 0 < found < 1:
        what = "the chance of a loss within a year, between 0 and 100 %"
        raise OptionError("max_loss", text, what, "0.01%/year, or 1e-4/year")
    return 100 * found


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
        raise OptionError("members", text, f"from 1 to {MEMBERS_MAX:,}; {remedy}")
    return list(dict.fromkeys(found))


def by_name(
    text: str, names: Sequence[str | None], parse: Callable[[str], Value], option: str, example: str
) -> dict[str | None, Value]:
    """Parse a value for all names, or one for each: `A=280USD,B=300USD`. Raises InputError with all errors."""
    parts = names_of(text)
    if len(parts) == 1 and "=" not in parts[0]:
        return dict.fromkeys(names, parse(parts[0]))
    pairs = []
    for part in parts:
        name, equals, value = (one.strip() for one in part.rpartition("="))
        pairs.append((part, (None if name == "none" else name) if equals else "", value))
    return _by_name(pairs, names, parse, option, example)


def _by_name(
    pairs: Sequence[tuple[str, str | None, str]],
    names: Sequence[str | None],
    parse: Callable[[str], Value],
    option: str,
    example: str,
) -> dict[str | None, Value]:
    """Values by name, from each part of a text with its name and its value. Raises InputError with all errors."""
    problems, found = Problems(), dict[str | None, Value | None]()
    known = ", ".join(one or "none" for one in names)
    for part, name, value in pairs:
        if name in names:
            found[name] = problems.read(None, parse, value)
        else:
            what = f"it is NAME={example} for each of {known}, or {example} for all"
            problems.found.append(OptionError(option, part, what))
    missing = [name or "none" for name in names if name not in found]
    # A wrong name stands for one that is missing.
    if missing and all(name in names for _, name, _ in pairs):
        what = f"nothing for {', '.join(missing)}"
        problems.found.append(OptionError(option, None, what, f"add {missing[0]}={example}"))
    problems.check()
    return {name: value for name, value in found.items() if value is not None}


def laws_by_name(
    text: str, names: Sequence[str], parse: Callable[[str], Value], option: str, example: str
) -> dict[str | None, Value]:
    """Parse a law for all names, or one for each: `A=survival:1y=98%,5y=89%,B=fixed:5y`.

    Raises InputError with all errors.
    """
    named = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    # A law may contain commas and equals signs.
    parts = re.split(rf",\s*(?=(?:{named})\s*=)", text.strip())
    if len(parts) == 1 and not re.match(rf"(?:{named})\s*=", parts[0]):
        return dict.fromkeys(names, parse(parts[0]))
    pairs = []
    for part in parts:
        name, equals, law = (one.strip() for one in part.partition("="))
        pairs.append((part, name if equals else "", law))
    return _by_name(pairs, names, parse, option, example)


def prices(
    options: Mapping[str, Any],
    drives: Sequence[str],
    controllers: Sequence[str | None],
    unknown: Set[str] = frozenset(),
) -> Prices:
    """Parse the prices from options; those of drives may be missing, and those of `unknown` controllers.

    Raises InputError with all errors.
    """
    problems = Problems()
    read = problems.read
    of_drives = read({}, _of_drives, options, drives)
    named = [name for name in controllers if name is not None]
    of_controllers = read({}, _of_controllers, options, named, unknown)
    per_kwh, watts = read((None, {}), _power, options, drives)
    budget = options.get("budget")
    most = None if budget is None else read(None, Price.parse, str(budget), "budget")
    all_of = [*of_drives.values(), *of_controllers.values(), *(price for price in (most, per_kwh) if price)]
    currencies = list(dict.fromkeys(price.currency for price in all_of))
    if len(currencies) > 1:
        what = f"prices are in {' and '.join(currencies)}: give all in one currency"
        problems.found.append(OptionError("", None, what, is_named=False))
    life = read(0.0, typed.hours, str(options.get("life") or LIFE), "life")
    problems.check()
    return Prices(
        currency=currencies[0] if currencies else "",
        drives={str(name): price.amount for name, price in of_drives.items()},
        controllers={None: 0.0, **{name: price.amount for name, price in of_controllers.items()}},
        watts=watts,
        per_kwh=per_kwh.amount if per_kwh else 0.0,
        life_hours=life,
    )


def _of_drives(options: Mapping[str, Any], drives: Sequence[str]) -> dict[str | None, Price]:
    given = options.get("drive_price")
    if given is None or not drives:
        return {}
    return _prices_by_name(str(given), drives, "drive_price", "280USD")


def _of_controllers(
    options: Mapping[str, Any], names: Sequence[str], unknown: Set[str]
) -> dict[str | None, Price]:
    option, given = "controller_price", options.get("controller_price")
    if given is None and (unpriced := [name for name in names if name not in unknown]):
        remedy = f"give {','.join(f'{name}=240USD' for name in unpriced)}, or 0USD"
        raise OptionError(option, None, f"{ref(option)} is missing: {remedy}", is_named=False)
    if given is not None and not names:
        raise OptionError(
            option, None, f"{ref(option)} changes nothing without {ref('controller')}", is_named=False
        )
    return {} if given is None else _prices_by_name(str(given), names, option, "240USD")


def _prices_by_name(text: str, names: Sequence[str], option: str, example: str) -> dict[str | None, Price]:
    """The price of each name. Raises InputError with all errors."""
    return by_name(text, names, lambda one: Price.parse(one, option), option, example)


def _power(options: Mapping[str, Any], drives: Sequence[str]) -> tuple[Price | None, dict[str, float]]:
    price, power = options.get("power_price"), options.get("drive_power")
    if price is None and power is None:
        return None, {}
    if price is None or power is None:
        add = (
            f"{ref('power_price', '0.30USD/kWh')}"
            if price is None
            else f"{ref('drive_power', '7W')}, or NAME=7W for each drive"
        )
        what = f"{ref('power_price')} and {ref('drive_power')} belong together: add {add}"
        raise OptionError("power_price", None, what, is_named=False)
    problems = Problems()
    per_kwh = problems.read(None, _power_price, str(price))
    # by_name has no type of its own where it is passed on.
    watts: dict[str | None, float] = (
        problems.read({}, lambda: by_name(str(power), drives, _watts, "drive_power", "7W")) if drives else {}
    )
    problems.check()
    return per_kwh, {str(name): value for name, value in watts.items()}


def _power_price(text: str) -> Price:
    match = _POWER_PRICE.fullmatch(text.strip())
    if match is None:
        raise OptionError("power_price", text, "a price for each kilowatt-hour", "0.30USD/kWh")
    return Price.parse(match["price"], "power_price")


def _watts(text: str) -> float:
    match = _POWER.fullmatch(text.strip())
    if match is None or float(match[1]) < 0:
        what = "it is in watts" if match is None else "it is not below zero"
        raise OptionError("drive_power", text, what, "7W")
    return float(match[1])
