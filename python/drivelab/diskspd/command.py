"""Converts a command line of DiskSpd to a scenario.

The threads of one target are copies of one job: each has its own outstanding I/Os, and sequential threads begin at the
same place. Options are of three kinds, as those of fio's job files: they mean something, they change nothing, or they
are an error with what can be done in their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from drivelab.errors import InputError, ref
from drivelab.fio.scenario import Converted
from drivelab.report import toml_text

_PROGRAM = r"diskspd(?:64|32)?(?:\.exe)?"
_COMMAND = re.compile(
    rf'^(?:&\s*)?(?:"(?:[^"]*[\\/])?{_PROGRAM}"|(?:[^"\s]*[\\/])?{_PROGRAM})(?=\s)', re.IGNORECASE
)
_REMARK = re.compile(r"^(#|::|(rem|cd|pushd|popd|@echo)\b)", re.IGNORECASE)
# A line that goes on, of cmd and of PowerShell.
_GOES_ON = re.compile(r"[\^`]\s*\n")
_WORD = re.compile(r'(?:[^\s"]|"[^"]*")+')
_SIZE = re.compile(r"(\d+)([KMGTB]?)", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SHOWN = 20
_HOST_CACHE = ref("target.host_cache", '{ size = "4GiB" }')
# What DiskSpd does without an option.
_BLOCK, _OUTSTANDING, _DURATION_S, _WARMUP_S = 64 << 10, 2, 10, 5

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
    "X": "a profile in XML: give its command line",
    "I": f"the priority of I/Os: leave it out, and set {ref('workload.priority')}",
    "N": "memory-mapped I/O does not reach a drive one by one: leave it out",
}


class _WrongError(Exception):
    """An option that cannot be taken over, and what can be done."""


@dataclass
class _Given:
    """What the options say."""

    bs: int | None = None
    outstanding: int = _OUTSTANDING
    threads: int = 1
    writes_percent: int = 0
    is_random: bool = False
    is_sequential: bool = False
    is_interlocked: bool = False
    more: dict[str, object] = field(default_factory=dict)
    """Keys of the workload that an option states as they are."""
    caching: str = ""
    burst: int | None = None
    think_ms: int | None = None
    seed: int | None = None
    file_size: int | None = None
    base: int = 0
    length: int | None = None
    idle: dict[str, None] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)


def is_command(text: str) -> bool:
    """Whether a file has a command line of DiskSpd and nothing else but remarks."""
    lines = _lines(text)
    return bool(lines) and all(_COMMAND.match(line) for _, line in lines)


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of a command line. Raises InputError with all problems, each with its line and option.

    `given` are the keys that are set beside the file: with a cache of the host, writes may go through the system's.
    """
    lines = _lines(text)
    if len(lines) != 1:
        second = lines[1][0]
        raise InputError(
            f"{origin}:{second}: a second command line: give each a file of its own, or sweep with "
            f"{ref('iodepth', '1,4,16')}"
        )
    ((number, line),) = lines
    found, problems = _Given(), []
    for word in _words(line):
        try:
            _take(word, found)
        except _WrongError as wrong:
            problems.append(f"{origin}:{number}: {word}: {wrong}")
    has_cache = any(key.startswith("target.host_cache") for key in given or {})
    try:
        workload = _workload(found, has_host_cache=has_cache)
    except _WrongError as wrong:
        problems.append(f"{origin}:{number}: {wrong}")
        workload = {}
    if problems:
        left = len(problems) - _SHOWN
        more = [f"and {left} more"] if left > 0 else []
        raise InputError("\n".join([*problems[:_SHOWN], *more]))
    notes = []
    if found.idle:
        notes.append(f"without effect on a drive: {', '.join(found.idle)}")
    if "rate_iops" in workload:
        notes.append("-g is an open loop: arrivals do not wait, where DiskSpd holds them back at -o")
    if "size" not in workload:
        notes.append("the target is the whole drive, for neither -c nor -f gives it a size")
    name = found.targets[0] if found.targets else "diskspd"
    document: dict[str, object] = {"name": f"diskspd {name}", "workload": workload}
    if found.seed is not None:
        document["run"] = {"seed": found.seed}
    return Converted(toml_text.dumps(document), notes)


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that are neither empty nor remarks, with their numbers."""
    joined = _GOES_ON.sub(" ", text)
    stripped = ((number, line.strip()) for number, line in enumerate(joined.splitlines(), 1))
    return [(number, line) for number, line in stripped if line and not _REMARK.match(line)]


def _words(line: str) -> list[str]:
    found = _COMMAND.match(line)
    rest = line[found.end() :] if found else line
    words = [word.replace('"', "") for word in _WORD.findall(rest)]
    # What is behind it is the shell's.
    end = next(
        (place for place, word in enumerate(words) if word[:1] in ">|" or word[:2] == "2>"), len(words)
    )
    words = words[:end]
    # Other sizes may be given in blocks, wherever -b stands.
    return sorted(words, key=lambda word: not word.startswith(("-b", "/b")))


def _take(word: str, found: _Given) -> None:
    """Take over one word of the command line. Raises _WrongError."""
    if word[0] not in "-/" or len(word) < 2 or word.startswith("/dev/"):
        found.targets.append(word)
        if len(found.targets) > 1:
            raise _WrongError("a second target: a scenario has one; give each a file of its own")
        return
    letter, value = word[1], word[2:]
    if letter in _IDLE:
        found.idle[word] = None
        return
    if letter == "h" and not value:
        letter, value = "S", "h"
    if letter in _REFUSED:
        raise _WrongError(_REFUSED[letter])
    taken = _TAKEN.get(letter)
    if taken is None:
        raise _WrongError("DiskSpd has no such option")
    if not value and letter not in "rwsSz":
        raise _WrongError(f"a value is missing: it follows without a blank, as in -{letter}8")
    taken(value, found)


def _size(value: str, found: _Given) -> int:
    """A size in bytes, K, M, G and T of 1024, or in blocks."""
    match = _SIZE.fullmatch(value)
    if match is None:
        raise _WrongError("no size: give one such as 4K, or 8b for eight blocks")
    number, unit = int(match[1]), match[2]
    size = number * ((found.bs or _BLOCK) if unit == "b" else _UNITS.get(unit.upper(), 0))
    if unit == "B" or size == 0:
        raise _WrongError("no size: give one such as 4K, or 8b for eight blocks")
    return size


def _number(value: str, least: int = 0, most: int = 1 << 31) -> int:
    if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
        raise _WrongError(f"a whole number from {least} to {most:,} is wanted")
    return int(value)


def _block(value: str, found: _Given) -> None:
    if found.bs is not None:
        raise _WrongError("a second block size: keep one")
    found.bs = _size(value, found)


def _outstanding(value: str, found: _Given) -> None:
    found.outstanding = _number(value, 1)


def _threads(value: str, found: _Given) -> None:
    found.threads = _number(value, 1)


def _writes(value: str, found: _Given) -> None:
    found.writes_percent = _number(value, 0, 100) if value else 0


def _random(value: str, found: _Given) -> None:
    found.is_random = True
    if value.startswith("s"):
        found.more["percentage_random"] = f"{_number(value[1:], 0, 100)}%"
    elif value.startswith("d"):
        found.more["random_distribution"] = _distribution(value[1:])
    elif value:
        found.more["blockalign"] = f"{_size(value, found)}B"


def _distribution(value: str) -> str:
    """`pct60/10:40/90` or `abs60/10G`: shares of the I/Os over places, as fio's `zoned` has them.

    The I/Os that are left go to the rest of the target.
    """
    name, parts = value[:3], value[3:]
    pairs = [part.split("/") for part in parts.split(":")]
    if name not in {"pct", "abs"} or any(len(pair) != 2 or not pair[0].isdigit() for pair in pairs):
        raise _WrongError("a distribution is written -rdpct60/10:40/90 or -rdabs60/10G")
    left = 100 - sum(int(pair[0]) for pair in pairs)
    if left < 0:
        raise _WrongError("the I/Os of a distribution add up to more than 100 %: give less")
    if left and pairs[-1][1]:
        parts += f":{left}/"
    return f"{'zoned' if name == 'pct' else 'zoned_abs'}:{parts}"


def _sequential(value: str, found: _Given) -> None:
    found.is_sequential = True
    if value.startswith("i"):
        found.is_interlocked, value = True, value[1:]
    if value and _size(value, found) != (found.bs or _BLOCK):
        raise _WrongError("a stride that is not the block: leave it out, or give every block")


def _caching(value: str, found: _Given) -> None:
    # Alone it is -Su; r is about files of other machines.
    letters = set(value) - {"r"}
    if not letters <= set("bhuw"):
        found.caching = "u"
        raise _WrongError(
            "there are -Sb, -Su, -Sw, -Suw and -Sh; what is mapped to memory (m) does not reach a drive one by one"
        )
    found.caching = ("u" if not value or letters & set("hu") else "") + ("w" if letters & set("hw") else "")


def _duration(value: str, found: _Given) -> None:
    found.more["runtime"] = f"{_number(value, 1)}s"


def _warmup(value: str, found: _Given) -> None:
    found.more["ramp_time"] = f"{_number(value)}s"


def _file_size(value: str, found: _Given) -> None:
    if value and set(value) <= set("rst"):
        found.idle[f"-f{value}"] = None
        return
    size = _size(value, found)
    if found.file_size not in {None, size}:
        raise _WrongError("a second size of the target: give one of -c and -f")
    found.file_size = size


def _offset(value: str, found: _Given) -> None:
    first, _, length = value.partition(":")
    found.base = _size(first, found)
    if length:
        found.length = _size(length, found)


def _rate(value: str, found: _Given) -> None:
    if value.endswith("i"):
        found.more["rate_iops"] = _number(value[:-1], 1)
        return
    # Bytes a millisecond, for each thread.
    found.more["rate"] = _number(value, 1) * 1000


def _burst(value: str, found: _Given) -> None:
    found.burst = _number(value, 1)


def _think(value: str, found: _Given) -> None:
    found.think_ms = _number(value)


def _seed(value: str, found: _Given) -> None:
    found.seed = _number(value) if value else None


_TAKEN: Mapping[str, Callable[[str, _Given], None]] = {
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
    "f": _file_size,
    "B": _offset,
    "g": _rate,
    "i": _burst,
    "j": _think,
    "z": _seed,
}


def _range(found: _Given) -> dict[str, object]:
    """Where on the target: from its base on, so much or up to its end. Raises _WrongError."""
    length = found.length
    if length is None and found.file_size is not None:
        if found.base >= found.file_size:
            raise _WrongError("-B begins behind the end of the target: give less than its size")
        length = found.file_size - found.base
    offset: dict[str, object] = {"offset": f"{found.base}B"} if found.base else {}
    return offset if length is None else {**offset, "size": f"{length}B"}


def _workload(found: _Given, *, has_host_cache: bool) -> dict[str, object]:
    """The section of the scenario. Raises _WrongError."""
    more = dict(found.more)
    kinds = {0: "read", 100: "write"}
    kind = kinds.get(found.writes_percent, "rw")
    random = "rand" if found.is_random else ""
    bs = found.bs or _BLOCK
    workload: dict[str, object] = {"rw": f"{random}{kind}", "bs": f"{bs}B"}
    if kind == "rw":
        workload["rwmixread"] = 100 - found.writes_percent
    if found.is_random and found.is_sequential:
        raise _WrongError("-s and -r contradict each other: keep one of the two")
    copies, depth = found.threads, found.outstanding
    if found.is_interlocked:
        # The threads take the next block in turn: one stream with all that they have outstanding.
        copies, depth = 1, copies * depth
    workload["iodepth"] = depth
    if copies > 1:
        workload["numjobs"] = copies
    if "u" not in found.caching and not has_host_cache:
        raise _WrongError(f"I/Os go through the system's cache without -Su or -Sh: add one, or {_HOST_CACHE}")
    workload["direct"] = "u" in found.caching
    if "w" in found.caching and kind != "read":
        workload["fua"] = True
    if (found.burst is None) != (found.think_ms is None):
        raise _WrongError("-i and -j belong together: the I/Os of a burst, and the pause behind it in ms")
    if found.burst is not None:
        workload |= {"thinktime": f"{found.think_ms}ms", "thinktime_blocks": found.burst}
    if (rate := more.pop("rate", None)) is not None:
        more["rate_iops"] = max(1, round(int(str(rate)) / bs))
    if "rate_iops" in more:
        if found.burst is not None:
            raise _WrongError("-g and -i contradict each other: a rate issues whatever has finished")
        del workload["iodepth"]
    workload |= {"ramp_time": f"{_WARMUP_S}s", "runtime": f"{_DURATION_S}s", **_range(found)}
    return workload | more
