"""From options, or the same keys of a TOML file, to a description of an array and how its losses are to be found."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from drivelab.durability import simulated, texts
from drivelab.errors import InputError
from drivelab.files import read_text
from drivelab.levels import counted

METHODS = ("auto", "chain", "monte-carlo", "biasing", "splitting")
HISTORIES = 1_000_000
RELATIVE = "5%"
LIFE = "5y"
READS = "270GB"
"""Read from a drive in a day, as Elerath found of 2.7e11 bytes (CACM 52(6), 2009)."""

_INTERVAL = re.compile(r"([^()]*)\(([^()]*)\.\.([^()]*)\)")

KEYS = (
    "level",
    "members",
    "layout",
    "copies",
    "groups",
    "parity",
    "width",
    "stripes",
    "capacity",
    "life",
    "afr",
    "mttf",
    "drive_life",
    "batch",
    "ure",
    "latent",
    "scrub",
    "reads",
    "detection",
    "replacement",
    "rebuild",
    "serial",
    "attended",
    "spares",
    "wrong_drive",
    "common",
    "outage",
    "method",
    "seed",
    "histories",
    "error",
    "every_loss",
    *simulated.KEYS,
)
"""What may be said of an array, as arguments and as keys of a file."""

USED_BY: Mapping[str, frozenset[str]] = {
    "layout": frozenset({"raid10"}),
    "copies": frozenset({"raid01", "raid10"}),
    "groups": frozenset({"raid30", "raid50", "raid60", "lrc"}),
    "parity": frozenset({"draid", "lrc"}),
    "width": frozenset({"draid"}),
    "stripes": frozenset({"draid"}),
}
"""What only some levels have, and which."""

Options = Mapping[str, Any]


def from_file(path: Path) -> dict[str, Any]:
    """The keys of a TOML file. Raises InputError."""
    try:
        found = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from error
    check_keys(found, f"{path}: ")
    return found


def check_keys(names: Iterable[str], where: str = "") -> None:
    """Refuse what is no key. Raises InputError."""
    for name in names:
        if name not in KEYS:
            near = get_close_matches(name, KEYS, n=2)
            remedy = f"did you mean {' or '.join(near)}?" if near else f"it is one of {', '.join(KEYS)}"
            raise InputError(f"{where}{name} is no key: {remedy}")


def levels(options: Options) -> list[str]:
    """The levels that are asked for. Raises InputError."""
    given = options.get("level")
    if given is None:
        raise InputError("--level is missing: give one, raid6, or several, raid5,raid6")
    names = given if isinstance(given, list) else str(given).split(",")
    found = [str(name).strip() for name in names]
    plain = {name.partition(":")[0] for name in found}
    for key, users in USED_BY.items():
        if options.get(key) is not None and not plain & users:
            raise InputError(
                f"--{key} changes nothing with {', '.join(found)}: it is of {', '.join(sorted(users))}; leave it out"
            )
    return found


def question(options: Options, level: str) -> dict[str, Any]:
    """What the Rust side is asked of one level. Raises InputError."""
    name, _, layout = level.partition(":")
    array: dict[str, Any] = {
        "level": name,
        "layout": layout or options.get("layout"),
        "members": whole(options, "members", None),
        "capacity_bytes": texts.size(_text(options, "capacity", "1TB"), "--capacity"),
        "life_hours": texts.hours(_text(options, "life", LIFE), "--life"),
        "drive": drive(options),
        "repair": repair(options),
        "latent": latent(options),
        "batch": batch(options),
        "common": [common(text) for text in _list(options, "common")],
        "outages": [outage(text) for text in _list(options, "outage")],
        "wrong_drive": texts.share(_text(options, "wrong_drive", "0"), "--wrong-drive"),
    }
    for key in ("copies", "groups", "parity", "width", "spares"):
        if options.get(key) is not None:
            array[key] = whole(options, key, None)
    if options.get("stripes") is not None:
        array["stripes"] = texts.number(str(options["stripes"]), "--stripes")
    return {"array": array, "settings": settings(options)}


def settings(options: Options) -> dict[str, Any]:
    """How the losses are found. Raises InputError."""
    method = _text(options, "method", "auto")
    if method not in METHODS:
        raise InputError(f"--method {method}: it is {', '.join(METHODS)}")
    return {
        "method": method,
        "seed": whole(options, "seed", 1),
        "histories": whole(options, "histories", HISTORIES),
        "relative": texts.share(_text(options, "error", RELATIVE), "--error"),
        "every_loss": bool(options.get("every_loss")),
    }


def drive(options: Options) -> texts.Law:
    """How long a drive lives: said in one of three ways. Raises InputError."""
    given = [key for key in ("afr", "mttf", "drive_life") if options.get(key) is not None]
    names = ", ".join(f"--{key.replace('_', '-')}" for key in given)
    if len(given) != 1:
        what = f"{names} say the same thing twice" if given else "nothing says how often a drive fails"
        raise InputError(f"{what}: give one of --afr 1.5%, --mttf 500000h and --drive-life LAW")
    text = str(options[given[0]])
    if given[0] == "drive_life":
        return texts.law(counted.life(text, names) if counted.is_counted(text) else text, names)
    if given[0] == "mttf":
        return {"law": "exponential", "mean_hours": texts.hours(text, names)}
    return yearly(rates(text)[0])


def drive_option(options: Options) -> str:
    """The option that says how long a drive lives."""
    return next(
        key.replace("_", "-") for key in ("afr", "mttf", "drive_life") if options.get(key) is not None
    )


def rates(text: str) -> list[float]:
    """The share of drives that fail in a year, then the ends of its interval, where it has one. Raises InputError."""
    if counted.is_counted(text):
        text = counted.afr(text, "--afr")
    match = _INTERVAL.fullmatch(text.strip())
    found = [texts.share(part, "--afr") for part in (match.groups() if match else (text,))]
    for chance in found:
        if not 0 < chance < 1:
            raise InputError(
                f"--afr {text}: the share of drives that fail in a year, between 0 and 100 %: 1.5%, with an interval "
                f"1.5%(1.2%..1.9%), or {counted.FORM} for a table of counts"
            )
    if match and not found[1] <= found[0] <= found[2]:
        raise InputError(
            f"--afr {text}: the interval does not hold the rate: give the low end first, then the high one"
        )
    return found


def yearly(chance: float) -> texts.Law:
    """The life of drives of which this share fails within a year, at a constant rate."""
    return {"law": "exponential", "mean_hours": -texts.HOURS["y"] / math.log1p(-chance)}


def ends(options: Options) -> list[texts.Law]:
    """How long a drive lives at the ends of the interval of its rate; nothing without one. Raises InputError."""
    given = options.get("afr")
    return [] if given is None else [yearly(chance) for chance in rates(str(given))[1:]]


def repair(options: Options) -> dict[str, Any]:
    """Detection, replacement and rebuild. Raises InputError."""
    given = options.get("rebuild")
    if given is None:
        raise InputError(
            "--rebuild is missing: give how long one takes, 20h, by missing members, 20h,35h, "
            "or simulated, beside a load"
        )
    steps = given if isinstance(given, list) else str(given).split(",")
    found: dict[str, Any] = {
        "rebuild": [texts.rebuild(str(step), "--rebuild") for step in steps],
        "serial": bool(options.get("serial")),
    }
    for key in ("detection", "replacement"):
        if options.get(key) is not None:
            found[key] = texts.law(str(options[key]), f"--{key}")
    if options.get("attended") is not None:
        text = str(options["attended"])
        a_day, days = texts.parted(
            text.replace("x", ":"),
            "--attended",
            "hours a day x days a week: 8x5",
            [texts.number, texts.number],
        )
        if days != int(days):
            raise InputError(f"--attended {text}: whole days of a week: 8x5")
        found["attended"] = {"hours_per_day": a_day, "days_per_week": int(days)}
    return found


def latent(options: Options) -> dict[str, Any] | None:
    """Sectors that cannot be read. Raises InputError."""
    found: dict[str, Any] = {}
    ure = options.get("ure")
    reads = texts.size(_text(options, "reads", READS), "--reads")
    if ure is not None and (options.get("scrub") is None or options.get("latent") is not None):
        found["per_byte"] = texts.per_byte(str(ure), "--ure")
    elif ure is not None:
        # A scrub can only find what is there before a rebuild reads it: defects come with what is read each day.
        per_hour = texts.per_byte(str(ure), "--ure") * reads / 24
        if not per_hour:
            raise InputError("--scrub corrects nothing where --ure or --reads is zero: leave it out")
        found["arrival"] = {"law": "exponential", "mean_hours": 1 / per_hour}
    if options.get("latent") is not None:
        found["arrival"] = texts.arrival(str(options["latent"]), "--latent")
    if options.get("scrub") is not None:
        found["scrub"] = texts.corrected(str(options["scrub"]), "--scrub")
    return found or None


def batch(options: Options) -> dict[str, float] | None:
    """A share of arrays of drives that age faster. Raises InputError."""
    if options.get("batch") is None:
        return None
    form = "the share of arrays and how many times as fast they age: 5%:8"
    part, factor = texts.parted(str(options["batch"]), "--batch", form, [texts.share, texts.number])
    return {"share": part, "factor": factor}


def common(text: str) -> dict[str, Any]:
    """An event that may take several drives. Raises InputError."""
    form = "a name, the mean time between events and the share of drives that each takes: shelf:20y:30%"
    name, mean, part = texts.parted(text, "--common", form, [_name, texts.hours, texts.share])
    return {"name": name, "mean_hours": mean, "share": part}


def outage(text: str) -> dict[str, Any]:
    """A part that data cannot be reached without. Raises InputError."""
    form = "a name, its mean time to failure and that to its repair: controller:500000h:8h"
    name, mttf, mttr = texts.parted(text, "--outage", form, [_name, texts.hours, texts.hours])
    return {"name": name, "mttf_hours": mttf, "mttr_hours": mttr}


def whole(options: Options, key: str, default: int | None) -> int:
    """A whole number, not below zero. Raises InputError."""
    given = options.get(key, default)
    given = default if given is None else given
    option = f"--{key.replace('_', '-')}"
    if given is None:
        raise InputError(f"{option} is missing: give a number, {option} 8")
    try:
        found = int(given) if not isinstance(given, float) else -1
    except ValueError:
        found = -1
    if not 0 <= found < 2**32:
        raise InputError(f"{option} {given}: it is a whole number from 0 on, such as 8")
    return found


def _name(text: str, option: str) -> str:
    if not text.strip():
        raise InputError(f"{option}: a name is missing")
    return text.strip()


def _text(options: Options, key: str, default: str) -> str:
    given = options.get(key)
    return default if given is None else str(given)


def _list(options: Options, key: str) -> list[str]:
    given = options.get(key) or []
    return [str(one) for one in given] if isinstance(given, list | tuple) else [str(given)]
