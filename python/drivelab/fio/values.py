"""Parses values in fio's notation: sizes whose k is 1024, times with a default unit per option, and bare options."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

_NUMBER = re.compile(r"(?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)\s*(?P<unit>[a-zA-Z]*)")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+):(\d+)")
"""A time as [[dd:]hh:]mm:ss."""
_CLOCK_US = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
_OF_THE_MACHINE = re.compile(r"\$(?:ncpus|pagesize|mb_memory)")
"""fio's keywords for figures of the machine that it runs on."""
_TIMES_US = {
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "sec": 1_000_000,
    "ms": 1_000,
    "msec": 1_000,
    "us": 1,
    "usec": 1,
}


Value = TypeVar("Value")


class WrongError(ValueError):
    """An invalid value: the expected form."""


def _split(text: str, example: str) -> tuple[Fraction, str]:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        if "(" in text:
            raise WrongError(f"expressions are not computed here; write what it comes to, {example}")
        raise WrongError(f"no number; write {example}")
    number = match["number"]
    is_hex = number[:2].lower() == "0x"
    return Fraction(int(number, 16)) if is_hex else Fraction(number), match["unit"].lower()


def size(text: str, kb_base: int = 1024) -> int:
    """A size in bytes. With kb_base=1024, fio's default, 4k, 4kb and 4ki are 4096, and 4kib is 4000; with 1000 it is
    the other way round.
    """
    number, unit = _split(text, "a size such as 64k")
    # fio knows the other units by three letters.
    is_other = has_other_unit(text)
    power = _POWERS.get(unit.removesuffix("b").removesuffix("i"))
    if power is None:
        raise WrongError(f"no unit `{unit}`; write k, m, g, t or p, such as 64k")
    base = (1000 if kb_base == 1024 else 1024) if is_other else kb_base
    found = number * base**power
    if found.denominator != 1:
        raise WrongError("no whole number of bytes")
    return int(found)


def has_other_unit(text: str) -> bool:
    """Whether a size has one of the units, such as KiB, whose meaning fio turns round unless kb_base=1000."""
    return re.fullmatch(r".*\d\s*[kmgtp]ib", text.strip().lower()) is not None


def machine_word(text: str | None) -> str | None:
    """fio's keyword for a figure of the machine that it runs on, if the value has one."""
    match = _OF_THE_MACHINE.search(text or "")
    return match[0] if match else None


def is_clock(text: str) -> bool:
    """Whether a time is written as [[dd:]hh:]mm:ss."""
    return _CLOCK.fullmatch(text.strip()) is not None


def time_us(text: str, unit: str) -> int:
    """A time in microseconds; a bare number is in `unit`, and mm:ss, hh:mm:ss or dd:hh:mm:ss is one too."""
    if match := _CLOCK.fullmatch(text.strip()):
        return sum(int(part or 0) * us for part, us in zip(match.groups(), _CLOCK_US, strict=True))
    number, own = _split(text, f"a time such as 10{unit}")
    factor = _TIMES_US.get(own or unit)
    if factor is None:
        raise WrongError(f"no unit `{own}`; write d, h, m, s, ms or us")
    return round(number * factor)


def flag(text: str | None) -> bool:
    """Yes or no; a bare option means yes."""
    if text is None or text in {"1", "true", "yes"}:
        return True
    if text in {"0", "false", "no"}:
        return False
    raise WrongError("write 0 or 1")


def whole(text: str | None) -> int:
    """A whole number, also as 0x10 or 4k."""
    return size(text or "")


def percent(text: str) -> int:
    """A whole percentage, with its sign or without."""
    plain = text.strip().removesuffix("%")
    try:
        found = whole(plain)
    except WrongError:
        found = -1
    if not 0 <= found <= 100:
        raise WrongError(f"{text.strip()} is no whole percentage from 0 to 100; write one such as 70")
    return found


def zones(text: str) -> None:
    """Check the percentages of a zoned distribution; other distributions have none."""
    for part in pair(text):
        name, _, shares = part.partition(":")
        for share in re.split("[:/]", shares) if name == "zoned" else ():
            if share:
                percent(share)


def pair(text: str) -> list[str]:
    """The values for reads and writes; a single one applies to both, and that of trims is ignored."""
    parts = [part.strip() for part in text.split(",")][:2]
    return parts if len(parts) == 2 else parts * 2


def of_one(text: str, key: str, rw: str, parse: Callable[[str], Value]) -> Value:
    """What reads or writes have, of a value for each of them; that of the others is checked too, where it is given."""
    reads, writes = pair(text)
    if rw in {"rw", "readwrite", "randrw"} and reads != writes:
        raise WrongError(f"reads and writes of one job have one {key} here; make two jobs of it")
    own, other = (writes, reads) if rw.endswith("write") else (reads, writes)
    if other:
        parse(other)
    return parse(own)
