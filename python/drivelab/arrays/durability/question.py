"""Converts options, or the same keys of a TOML file, to a description of an array and the settings of the method."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from drivelab.arrays import counted
from drivelab.arrays.durability import simulated, texts, unreadable
from drivelab.arrays.durability.checks import BARE, LIVES, Options
from drivelab.arrays.durability.file import File
from drivelab.arrays.times import YEAR_HOURS, hours
from drivelab.errors import InputError, OptionError, ref
from drivelab.errors.several import Problems, errors_of

METHODS = ("auto", "chain", "monte-carlo", "biasing", "splitting")
HISTORIES = 1_000_000
RELATIVE = "5%"
LIFE = "5y"
NO_REBUILD = "1h"
"""A placeholder for a value that has no effect, or is not known yet."""
READS = "270GB"
"""Bytes read from a drive per day, from Elerath's 2.7e11 bytes (CACM 52(6), 2009)."""

_INTERVAL = re.compile(r"([^()]*)\(([^()]*)\.\.([^()]*)\)")


def of_file(file: File) -> dict[str, Any]:
    """The keys of a file, unchecked; its paths are relative to its folder. Raises ScenarioError."""
    found, folder = file.values(), file.path.parent
    for key in ("afr", "drive_life"):
        if isinstance(given := found.get(key), str) and counted.is_counted(given):
            found[key] = str(folder / given)
    if isinstance(drive := found.get("drive"), str) and drive.endswith(".toml"):
        found["drive"] = str(folder / drive)
    return found


def levels(options: Options) -> list[str]:
    """The requested levels. Raises InputError."""
    given = options.get("level")
    names = ",".join(map(str, given)) if isinstance(given, list | tuple) else str(given or "")
    found = list(dict.fromkeys(name.strip().lower() for name in names.split(",") if name.strip()))
    if not found:
        what, remedy = f"{ref('level')} is missing", "give one, raid6, or several, raid5,raid6"
        raise OptionError("level", None, what, remedy, is_named=False)
    return found


def question(options: Options, level: str, problems: Problems | None = None) -> dict[str, Any]:
    """The question for the Rust code about one level.

    Errors go to `problems`, and harmless defaults replace the values; without `problems` it raises InputError with all
    errors.
    """
    name, _, layout = level.partition(":")
    found = Problems()
    read = found.read
    alone: texts.Law = {"law": "exponential", "mean_hours": 1e6}
    array: dict[str, Any] = {
        "level": name,
        "layout": layout or options.get("layout"),
        "members": read(0, whole, options, "members", None),
        "capacity_bytes": read(1e12, texts.size, _text(options, "capacity", "1TB"), "capacity"),
        "life_hours": read(43800.0, hours, _text(options, "life", LIFE), "life"),
        "drive": read(alone, drive, options),
        "repair": repair(options, found, is_bare=name in BARE),
        "latent": read(None, latent, options),
        "batch": read(None, batch, options),
        "common": _each(common, options, "common", found),
        "outages": _each(outage, options, "outage", found),
        "wrong_drive": read(0.0, texts.share, _text(options, "wrong_drive", "0"), "wrong_drive"),
    }
    for key in ("copies", "groups", "parity", "width", "spares"):
        if options.get(key) is not None:
            array[key] = read(2, whole, options, key, None)
    if options.get("stripes") is not None:
        array["stripes"] = read(1e6, texts.number, str(options["stripes"]), "stripes")
    asked = {"array": array, "settings": settings(options, found)}
    if problems is None:
        found.check()
    else:
        problems.found += found.found
    return asked


def settings(options: Options, problems: Problems) -> dict[str, Any]:
    """The settings of the method."""
    method = _text(options, "method", "auto")
    if method not in METHODS:
        problems.found.append(
            OptionError("method", method, "there is no such method", f"it is {', '.join(METHODS)}")
        )
        method = "auto"
    read = problems.read
    return {
        "method": method,
        "seed": read(1, whole, options, "seed", 1),
        "histories": read(HISTORIES, whole, options, "histories", HISTORIES),
        "relative": read(0.05, texts.share, _text(options, "error", RELATIVE), "error"),
        "every_loss": bool(options.get("every_loss")),
    }


def drive(options: Options) -> texts.Law:
    """The life of a drive, given in one of three ways. Raises InputError."""
    given = [key for key in LIVES if options.get(key) is not None]
    names = ", ".join(ref(key) for key in given)
    if len(given) != 1:
        what = f"{names} say the same thing twice" if given else "nothing says how often a drive fails"
        remedy = f"give one of {ref('afr', '1.5%')}, {ref('mttf', '500000h')} and {ref('drive_life', 'LAW')}"
        raise OptionError(given[-1] if given else "", None, what, remedy, is_named=False)
    name, text = given[0], str(options[given[0]])
    if name == "drive_life":
        return texts.law(counted.life(text, name) if counted.is_counted(text) else text, name)
    if name == "mttf":
        return {"law": "exponential", "mean_hours": hours(text, name)}
    return yearly(rates(text)[0])


def drive_option(options: Options) -> str:
    """The option that gives the life of a drive."""
    return next(key for key in LIVES if options.get(key) is not None)


def rates(text: str) -> list[float]:
    """The annual failure rate, then the ends of its interval, if it has one. Raises InputError."""
    if counted.is_counted(text):
        text = counted.afr(text, "afr")
    match = _INTERVAL.fullmatch(text.strip())
    found = [texts.share(part, "afr") for part in (match.groups() if match else (text,))]
    for chance in found:
        if not 0 < chance < 1:
            remedy = (
                f"such as 1.5%, with an interval 1.5%(1.2%..1.9%), or {counted.FORM} for a table of counts"
            )
            what = "the share of drives that fail in a year is between 0 and 100 %"
            raise OptionError("afr", text, what, remedy)
    if match and not found[1] <= found[0] <= found[2]:
        what = "the interval does not hold the rate"
        raise OptionError("afr", text, what, "give the low end first, then the high one")
    return found


def yearly(chance: float) -> texts.Law:
    """The life of drives with this annual failure rate, at a constant hazard."""
    return {"law": "exponential", "mean_hours": -YEAR_HOURS / math.log1p(-chance)}


def ends(options: Options) -> list[texts.Law]:
    """The life of a drive at the ends of the interval of its failure rate; empty without one. Raises InputError."""
    given = options.get("afr")
    return [] if given is None else [yearly(chance) for chance in rates(str(given))[1:]]


def repair(options: Options, problems: Problems, *, is_bare: bool = False) -> dict[str, Any]:
    """Detection, replacement and rebuild."""
    steps = _rebuilds(options, problems, is_bare=is_bare)
    found: dict[str, Any] = {"rebuild": steps, "serial": bool(options.get("serial"))}
    for key in ("detection", "replacement"):
        if options.get(key) is not None:
            law = problems.read(None, texts.law, str(options[key]), key)
            found |= {} if law is None else {key: law}
    if options.get("attended") is not None:
        attended = problems.read(None, _attended, str(options["attended"]))
        found |= {} if attended is None else {"attended": attended}
    return found


def _rebuilds(options: Options, problems: Problems, *, is_bare: bool) -> list[dict[str, Any]]:
    """The rebuilds by number of missing members; none for levels that lose data with their first failure."""
    given = options.get("rebuild")
    if given is None and not is_bare:
        remedy = "give how long one takes, 20h, by missing members, 20h,35h, or simulated, beside a load"
        problems.found.append(
            OptionError("rebuild", None, f"{ref('rebuild')} is missing", remedy, is_named=False)
        )
    given = NO_REBUILD if given is None or str(given).strip() == simulated.SIMULATED else given
    steps = given if isinstance(given, list | tuple) else str(given).split(",")
    return _read(lambda text: texts.rebuild(text, "rebuild"), [str(step) for step in steps], problems) or [
        texts.rebuild(NO_REBUILD, "rebuild")
    ]


def _each(
    read: Callable[[str], dict[str, Any]], options: Options, key: str, problems: Problems
) -> list[dict[str, Any]]:
    return _read(read, _list(options, key), problems)


def _read(
    read: Callable[[str], dict[str, Any]], given: Sequence[str], problems: Problems
) -> list[dict[str, Any]]:
    """Parse each of several values; an error records the index of the value."""
    found = []
    for place, text in enumerate(given):
        try:
            found.append(read(text))
        except InputError as error:
            for one in errors_of(error):
                one.item = place
                problems.found.append(one)
    return found


def _attended(text: str) -> dict[str, Any]:
    form = "hours a day x days a week: 8x5"
    a_day, days = texts.parted(text.replace("x", ":"), "attended", form, [texts.number, texts.number])
    if days != int(days):
        raise OptionError("attended", text, "whole days of a week", "such as 8x5")
    return {"hours_per_day": a_day, "days_per_week": int(days)}


def latent(options: Options) -> dict[str, Any] | None:
    """Unreadable sectors. Raises InputError with all errors."""
    found: dict[str, Any] = {}
    has = {key: options.get(key) is not None for key in ("ure", "latent", "scrub")}
    has["ure"] = has["ure"] and not unreadable.is_none(options["ure"])
    problems = Problems()
    read = problems.read
    reads = read(None, texts.size, _text(options, "reads", READS), "reads")
    per_byte = read(None, texts.per_byte, str(options["ure"]), "ure") if has["ure"] else None
    if has["ure"] and (has["latent"] or not has["scrub"]):
        found["per_byte"] = per_byte
    elif per_byte is not None and reads is not None:
        # A scrub can only find defects that exist before a rebuild reads them: defects arise with the reads of each
        # day.
        if per_hour := per_byte * reads / 24:
            found["arrival"] = {"law": "exponential", "mean_hours": 1 / per_hour}
        else:
            problems.found.append(_no_defects())
    if has["scrub"] and not has["ure"] and not has["latent"]:
        problems.found.append(_no_defects())
    if has["latent"]:
        found["arrival"] = read(None, texts.arrival, str(options["latent"]), "latent")
    if has["scrub"] and (has["ure"] or has["latent"]):
        found["scrub"] = read(None, texts.corrected, str(options["scrub"]), "scrub")
    problems.check()
    return found or None


def _no_defects() -> OptionError:
    what = f"it corrects nothing where {ref('ure')} is none, or {ref('ure')} or {ref('reads')} zero"
    return OptionError("scrub", None, what, "leave it out")


def batch(options: Options) -> dict[str, float] | None:
    """A share of arrays whose drives age faster. Raises InputError."""
    if options.get("batch") is None:
        return None
    form = "the share of arrays and how many times as fast they age: 5%:8"
    part, factor = texts.parted(str(options["batch"]), "batch", form, [texts.share, texts.number])
    return {"share": part, "factor": factor}


def common(text: str) -> dict[str, Any]:
    """A common cause that may take several drives. Raises InputError."""
    form = "a name, the mean time between events and the share of drives that each takes: shelf:20y:30%"
    name, mean, part = texts.parted(text, "common", form, [_name, hours, texts.share])
    return {"name": name, "mean_hours": mean, "share": part}


def outage(text: str) -> dict[str, Any]:
    """A component without which data are unavailable. Raises InputError."""
    form = "a name, its mean time to failure and that to its repair: controller:500000h:8h"
    name, mttf, mttr = texts.parted(text, "outage", form, [_name, hours, hours])
    return {"name": name, "mttf_hours": mttf, "mttr_hours": mttr}


def whole(options: Options, key: str, default: int | None) -> int:
    """A nonnegative whole number. Raises InputError."""
    given = options.get(key, default)
    given = default if given is None else given
    if given is None:
        raise OptionError(
            key, None, f"{ref(key)} is missing", f"give a number, {ref(key, 8)}", is_named=False
        )
    try:
        found = int(given) if not isinstance(given, float | bool) else -1
    except (TypeError, ValueError):
        found = -1
    if not 0 <= found < 2**32:
        raise OptionError(key, given, f"it is a whole number in digits, from 0 to {2**32 - 1}", "such as 8")
    return found


def _name(text: str, option: str) -> str:
    if not text.strip():
        raise OptionError(option, None, "a name is missing", "it comes first: shelf:20y:30%")
    return text.strip()


def _text(options: Options, key: str, default: str) -> str:
    given = options.get(key)
    return default if given is None else str(given)


def _list(options: Options, key: str) -> list[str]:
    given = options.get(key) or []
    return [str(one) for one in given] if isinstance(given, list | tuple) else [str(given)]
