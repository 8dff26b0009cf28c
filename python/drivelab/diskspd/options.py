"""The options of DiskSpd: what each says of a job, which change nothing, and which cannot be taken over.

Options are of three kinds, as those of fio's job files: they mean something, they change nothing, or they are an error
with what can be done in their place. An element of a profile is taken as the option that it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from drivelab.diskspd.meaning import BLOCK, Given, WrongError
from drivelab.errors import ref

_SIZE = re.compile(r"([0-9]{1,19})([KMGTB]?)", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE_MAX = 1 << 60
_NORMAL_PRIORITY = "3"

# What changes nothing of a drive: output, processors, the bytes that are written.
_IDLE = {
    "L": "latencies are always there",
    "D": "figures over time are always there",
    "R": "the form of the results",
    "v": "the form of the results",
    "P": "progress",
    "n": "processors",
    "a": "processors",
    "x": "how completions are received",
    "Z": "the bytes that are written",
    "l": "the machine's memory",
    "y": "events of the machine",
    "e": "events of the machine",
    "C": "the time after the measured one",
}
_REFUSED = {
    "p": "several I/Os at the same offset at once: leave it out",
    "T": "threads that begin at different places: leave it out, or give a job for each in a scenario",
    "X": "a profile in XML: give that file in place of this one",
    "N": "memory-mapped I/O does not reach a drive one by one: leave it out",
}


def take(word: str, found: Given) -> None:
    """Take over one word of the command line. Raises WrongError."""
    if not word:
        raise WrongError("an empty word: leave it out")
    if word[0] not in "-/" or len(word) < 2 or word.startswith("/dev/"):
        found.targets.append(word)
        if len(found.targets) > 1:
            raise WrongError("a second target: a scenario has one; give each a file of its own")
        return
    letter, value = word[1], word[2:]
    if letter in _IDLE or word[1:] == f"I{_NORMAL_PRIORITY}":
        found.idle[word] = None
        return
    if letter == "h" and not value:
        letter, value = "S", "h"
    if letter == "I":
        raise WrongError(f"the priority of I/Os: leave it out, and set {ref('workload.priority')}")
    if letter in _REFUSED:
        raise WrongError(_REFUSED[letter])
    taken = _TAKEN.get(letter)
    if taken is None:
        raise WrongError("DiskSpd has no such option")
    if not value and letter not in "rwsSz":
        raise WrongError(f"a value is missing: it follows without a blank, as in -{letter}8")
    taken(value, found)


def _size(value: str, found: Given) -> int:
    """A size in bytes, K, M, G and T of 1024, or in blocks."""
    match = _SIZE.fullmatch(value)
    if match is None:
        raise WrongError("no size: give one such as 4K, or 8b for eight blocks")
    number, unit = int(match[1]), match[2]
    size = number * ((found.bs or BLOCK) if unit == "b" else _UNITS.get(unit.upper(), 0))
    if unit == "B" or not 0 < size <= _SIZE_MAX:
        raise WrongError("no size: give one such as 4K, or 8b for eight blocks")
    return size


def _number(value: str, least: int = 0, most: int = 1 << 31) -> int:
    if not re.fullmatch("[0-9]{1,19}", value) or not least <= int(value) <= most:
        raise WrongError(f"a whole number from {least} to {most:,} is wanted")
    return int(value)


def _block(value: str, found: Given) -> None:
    if found.bs is not None:
        raise WrongError("a second block size: keep one")
    found.bs = _size(value, found)


def _outstanding(value: str, found: Given) -> None:
    found.outstanding = _number(value, 1)


def _threads(value: str, found: Given) -> None:
    found.threads = _number(value, 1)


def _writes(value: str, found: Given) -> None:
    found.writes_percent = _number(value, 0, 100) if value else 0


def _random(value: str, found: Given) -> None:
    found.is_random = True
    if value.startswith("s"):
        found.more["percentage_random"] = f"{_number(value[1:], 0, 100)}%"
    elif value.startswith("d"):
        found.more["random_distribution"] = _distribution(value[1:], found)
    elif value:
        found.align = _size(value, found)


def _distribution(value: str, found: Given) -> str:
    """`pct60/10:40/90` or `abs60/10G`: shares of the I/Os over places, as fio's `zoned` has them.

    The I/Os that are left go to the rest of the target.
    """
    name, parts = value[:3], value[3:]
    pairs = [part.split("/") for part in parts.split(":")]
    if name not in {"pct", "abs"} or any(len(pair) != 2 or not pair[0].isdigit() for pair in pairs):
        raise WrongError("a distribution is written -rdpct60/10:40/90 or -rdabs60/10G")
    shares = [_number(share, 0, 100) for share, _ in pairs]
    left = 100 - sum(shares)
    if left < 0:
        raise WrongError("the I/Os of a distribution add up to more than 100 %: give less")
    zones = [
        (share, zone and _zone(name, zone, found)) for share, (_, zone) in zip(shares, pairs, strict=True)
    ]
    is_open = any(not zone for _, zone in zones)
    reach = sum(int(zone) for _, zone in zones if zone) if name == "pct" else 0
    if reach > 100 or (reach == 100 and (left or is_open)):
        raise WrongError("the places of a distribution add up to more than 100 % of the target: give less")
    if left and not zones[-1][1]:
        raise WrongError(
            "the I/Os of a distribution add up to less than 100 %: give more, or leave the last place out"
        )
    if left or (0 < reach < 100 and not is_open):
        zones.append((left, ""))
    return (
        f"{'zoned' if name == 'pct' else 'zoned_abs'}:{':'.join(f'{share}/{zone}' for share, zone in zones)}"
    )


def _zone(name: str, zone: str, found: Given) -> str:
    """How far a place of a distribution reaches: in percent of the target, or in bytes."""
    return str(_number(zone, 1, 100)) if name == "pct" else f"{_size(zone, found)}B"


def _sequential(value: str, found: Given) -> None:
    found.is_sequential = True
    if value.startswith("i"):
        found.is_interlocked, value = True, value[1:]
    if value and _size(value, found) != (found.bs or BLOCK):
        raise WrongError("a stride that is not the block: leave it out, or give every block")


def _caching(value: str, found: Given) -> None:
    # Alone it is -Su; r is about files of other machines. All that the line says of it adds up.
    letters = set(value or "u") - {"r"}
    if not letters <= set("bhuw"):
        found.caching = "u"
        raise WrongError(
            "there are -Sb, -Su, -Sw, -Suw and -Sh; what is mapped to memory (m) does not reach a drive one by one"
        )
    if "h" in letters:
        letters = letters - {"h"} | set("uw")
    letters |= set(found.caching)
    if {"b", "u"} <= letters:
        raise WrongError("-Sb and -Su contradict each other: keep one of the two")
    found.caching = "".join(sorted(letters))


def _duration(value: str, found: Given) -> None:
    found.more["runtime"] = f"{_number(value, 1)}s"


def _warmup(value: str, found: Given) -> None:
    found.more["ramp_time"] = f"{_number(value)}s"


def _file_size(value: str, found: Given) -> None:
    if found.file_size is not None:
        raise WrongError("a second size of the target: keep one")
    found.file_size = _size(value, found)


def _limit(value: str, found: Given) -> None:
    if value and set(value) <= set("rst"):
        found.idle[f"-f{value}"] = None
        return
    _end(_size(value, found), found)


def _offset(value: str, found: Given) -> None:
    first, _, length = value.partition(":")
    found.base = 0 if first == "0" else _size(first, found)
    if length:
        _end(found.base + _size(length, found), found)


def _end(end: int, found: Given) -> None:
    if found.end not in {None, end}:
        raise WrongError("a second end of the target: keep one of -f and the length of -B")
    found.end = end


def _rate(value: str, found: Given) -> None:
    if value.endswith("i"):
        found.more["rate_iops"] = _number(value[:-1], 1)
        return
    # Bytes a millisecond, for each thread.
    found.more["rate"] = _number(value, 1) * 1000


def _burst(value: str, found: Given) -> None:
    found.burst = _number(value, 1)


def _think(value: str, found: Given) -> None:
    found.think_ms = _number(value)


def _seed(value: str, found: Given) -> None:
    found.seed = _number(value) if value else None


_TAKEN: Mapping[str, Callable[[str, Given], None]] = {
    "b": _block,
    "o": _outstanding,
    "O": _outstanding,
    "t": _threads,
    "F": _threads,
    "w": _writes,
    "r": _random,
    "s": _sequential,
    "S": _caching,
    "d": _duration,
    "W": _warmup,
    "c": _file_size,
    "f": _limit,
    "B": _offset,
    "g": _rate,
    "i": _burst,
    "j": _think,
    "z": _seed,
}
