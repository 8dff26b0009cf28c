"""Converts a command line of elbencho (3.1) for a block device or a file to a scenario.

Each thread has a part of the target, one behind the other, and its own I/Os outstanding: it goes through its part once,
or at random places of it until it has transferred its share of `--randamount`. What is left out is what elbencho does:
one thread with one I/O outstanding, blocks of 1 MiB, through the system's cache, without a time limit.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from drivelab.elbencho import options
from drivelab.errors import InputError, ref
from drivelab.report import toml_text
from drivelab.scenarios.converted import (
    HOST_CACHE,
    Converted,
    ShellError,
    command_lines,
    drop_given,
    has_host_cache,
    shell_words,
    told,
)

_COMMAND = re.compile(r"^(?:sudo\s+)?(?:[^\s=]*/)?elbencho(?=\s|$)(?!\s*=)")
_GOES_ON, _REMARK = re.compile(r"\\\r?\n"), re.compile("#")
_WORD = re.compile(r"""(?:\\.|'[^']*'|"(?:\\.|[^"\\])*+"|[^\s|&;<>'"\\])++""")
_SIZE = re.compile(r"([0-9]{1,19})([kmgtpe]?)", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_SIZE_MAX, _THREADS_MAX, _DEPTH_MAX, _SECTOR = 1 << 60, 256, 1 << 16, 512
_SECONDS_MAX = 10_000_000
# What elbencho does without an option.
_BLOCK, _THREADS, _DEPTH = 1 << 20, 1, 1
_LIMITS = {"workload.runtime", "run.duration", "workload.number_ios", "run.ios", "workload.io_size"}


class _WrongError(Exception):
    """An option that cannot be taken over, and what can be done."""


@dataclass
class _Given:
    """What the options say, by their long names."""

    values: dict[str, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    idle: dict[str, None] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)


def is_command(text: str) -> bool:
    """Whether a file has a command line of elbencho and nothing else but remarks."""
    lines = command_lines(text, _GOES_ON, _REMARK)
    return bool(lines) and all(_COMMAND.match(line) for _, line in lines)


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of a command line. Raises InputError with all problems, each with its line and option.

    `given` are the keys that are set beside the file: with a cache of the host, I/Os may go through the system's, and
    with a limit the command line needs none.
    """
    lines = command_lines(text, _GOES_ON, _REMARK)
    if len(lines) != 1:
        raise InputError(
            f"{origin}:{lines[1][0]}: a second command line: give each a file of its own, or sweep with "
            f"{ref('iodepth', '1,4,16')}"
        )
    ((number, line),) = lines
    found = _Given()
    problems: list[str] = []
    try:
        _take(_words(line), found, problems)
    except _WrongError as wrong:
        problems.append(str(wrong))
    result = Converted("")
    if not problems:
        try:
            result = _converted(found, given or {})
        except _WrongError as wrong:
            problems.append(str(wrong))
    if problems:
        raise told([f"{origin}:{number}: {problem}" for problem in problems])
    return result


def _words(line: str) -> list[str]:
    """What is behind the program and is not the shell's. Raises _WrongError."""
    found = _COMMAND.match(line)
    try:
        words = shell_words(line[found.end() :] if found else line, _WORD, remark="#")
    except ShellError as error:
        raise _WrongError(str(error)) from error
    return [part for word in words for part in shlex.split(word)]


def _take(words: list[str], found: _Given, problems: list[str]) -> None:
    """Sort the words: options with their values, and paths."""
    left = list(words)
    while left:
        word = left.pop(0)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            _take_option(f"--{name}", name, value if equals else None, left, found, problems)
        elif word.startswith("-") and len(word) > 1:
            # Letters without a value may be put together: -rwt 4.
            letter, rest = word[1], word[2:]
            name = options.SHORT.get(letter, "")
            if name in options.ALL_FLAGS and rest:
                left.insert(0, f"-{rest}")
                rest = ""
            _take_option(f"-{letter}", name, rest.removeprefix("=") or None, left, found, problems)
        elif word:
            found.paths.append(word)
        else:
            problems.append('"": an empty path: leave it out')


def _take_option(
    shown: str, name: str, value: str | None, left: list[str], found: _Given, problems: list[str]
) -> None:
    """Take over one option, and the word behind it if it is its value."""
    if name.startswith("s3"):
        problems.append(f"{shown}: {options.OBJECTS}")
        return
    if name in options.ALL_FLAGS:
        if value is not None:
            problems.append(f"{shown}: it has no value: give it alone, or leave it out")
        elif name in options.REFUSED_FLAGS:
            problems.append(f"{shown}: {options.REFUSED_FLAGS[name]}")
        elif name in options.IDLE_FLAGS:
            found.idle[shown] = None
        found.flags.add(name)
        return
    if name not in options.ALL_VALUES:
        problems.append(f"{shown}: elbencho has no such option: give its whole name")
        return
    if value is None:
        if not left or (left[0].startswith("-") and len(left[0]) > 1):
            problems.append(f"{shown}: a value is missing")
            return
        value = left.pop(0)
    if name in options.REFUSED_VALUES:
        problems.append(f"{shown}: {options.REFUSED_VALUES[name]}")
    elif name in options.IDLE_VALUES:
        found.idle[shown] = None
    elif name in found.values:
        problems.append(f"{shown}: there is a second one: keep one")
    else:
        found.values[name] = value


def _converted(found: _Given, given: Mapping[str, str]) -> Converted:
    """The scenario of what the options say. Raises _WrongError."""
    if len(found.paths) != 1:
        raise _WrongError(
            "several paths: a scenario has one target; give each a file of its own"
            if found.paths
            else "no path: give the block device or the file behind the options"
        )
    if found.paths[0].endswith("/"):
        raise _WrongError(f"{found.paths[0]}: a directory: give the load of a block device or of one file")
    if "[" in found.paths[0] and "nopathexp" not in found.flags:
        raise _WrongError(f"{found.paths[0]}: several paths in brackets: give one of them")
    for name in ("limitread", "limitwrite"):
        if _size(found, name, 0):
            raise _WrongError(f"--{name}: {options.RATE}")
    if _number(found, "iterations", 1, 0, 1 << 31) > 1:
        raise _WrongError("--iterations: a repeated run: leave it out, and give another seed with each run")
    if "norandalign" in found.flags:
        _check_alignment(found)
        found.idle["--norandalign"] = None
    notes = [f"without effect on a drive: {', '.join(found.idle)}"] if found.idle else []
    workload = _kind(found, notes)
    workload["iodepth"] = _number(found, "iodepth", _DEPTH, 1, _DEPTH_MAX)
    if "direct" not in found.flags and not has_host_cache(given):
        raise _WrongError(f"I/Os go through the system's cache without --direct: add it, or {HOST_CACHE}")
    workload["direct"] = "direct" in found.flags
    workload |= _parts(found, str(workload["rw"]), notes, has_limit=bool(_LIMITS & set(given)))
    document = {"name": f"elbencho {found.paths[0]}", "workload": workload}
    drop_given(document, given)
    return Converted(toml_text.dumps(document), notes)


def _check_alignment(found: _Given) -> None:
    """Places that begin at any byte, which direct I/O does not have unless its check is off. Raises _WrongError."""
    if "rand" in found.flags and ("direct" not in found.flags or "--nodiocheck" in found.idle):
        raise _WrongError("--norandalign: I/Os that begin at any byte: leave it out")


def _kind(found: _Given, notes: list[str]) -> dict[str, object]:
    """Reads or writes, at which places, with a share of reads among writes. Raises _WrongError."""
    phases = {"read", "write"} & found.flags
    if len(phases) != 1:
        raise _WrongError(
            "-w and -r are two runs, one after the other: keep one of them, and give the other a file of its own"
            if phases
            else "neither -r nor -w: give one of them"
        )
    random = "rand" if "rand" in found.flags else ""
    reads = _number(found, "rwmixpct", 0, 0, 100)
    if phases == {"read"}:
        if reads:
            raise _WrongError("--rwmixpct: it is the share of reads among writes: give -w in place of -r")
        return {"rw": f"{random}read"}
    if random and "--randalgo" not in found.idle:
        notes.append(
            "elbencho's random writes reach each block once before any again; here each place is drawn by itself"
        )
    if 0 < reads < 100:
        notes.append(
            f"--rwmixpct {reads}: each I/O is drawn by itself, where elbencho has {reads} reads in a row and then "
            f"{100 - reads} writes"
        )
        return {"rw": f"{random}rw", "rwmixread": reads}
    return {"rw": f"{random}{'read' if reads else 'write'}"}


def _parts(found: _Given, rw: str, notes: list[str], *, has_limit: bool) -> dict[str, object]:
    """The block, the part of the target that each thread has, and when it ends. Raises _WrongError."""
    block, total = _size(found, "block", _BLOCK), _size(found, "size", 0)
    threads = _number(found, "threads", _THREADS, 1, _THREADS_MAX)
    is_random = rw.startswith("rand")
    if total:
        # elbencho shortens the block to the file.
        block = min(block, total)
    if not block or block % _SECTOR:
        raise _WrongError(f"--block: {block} bytes are no whole number of sectors: give a multiple of 512")
    seconds = _number(found, "timelimit", 0, 0, _SECONDS_MAX)
    ends: dict[str, object] = {"runtime": f"{seconds}s"} if seconds else {}
    if (
        not seconds
        and not has_limit
        and ("infloop" in found.flags or not (total or "randamount" in found.values))
    ):
        raise _WrongError("the run has no end: give --timelimit, or -s without --infloop")
    blocks = total // block
    if total and blocks < threads:
        raise _WrongError(
            f"-s: {blocks} blocks are fewer than {threads} threads: give more, or fewer threads"
        )
    each, shared = _each(found, block, blocks, threads, is_random=is_random), {"bs": f"{block}B", **ends}
    if not each and "infloop" not in found.flags:
        notes.append("a thread that has done its part of the target goes on here until the time is over")
    if not total:
        notes.append("the target is the whole drive, for -s gives it no size")
    if threads == 1:
        return {**shared, **({"size": f"{blocks * block}B"} if total else {}), **_until(each, 0)}
    jobs = {}
    for rank in range(threads):
        place = (
            _bytes_of(rank, blocks, block, threads, is_random=is_random)
            if total
            else _share_of(rank, threads)
        )
        jobs[f"thread-{rank + 1}"] = {**place, **_until(each, rank)}
    return {**shared, "job": jobs}


def _each(found: _Given, block: int, blocks: int, threads: int, *, is_random: bool) -> list[int]:
    """The bytes after which each thread ends; nothing where only time ends it."""
    if "infloop" in found.flags:
        return []
    if is_random:
        amount = _size(found, "randamount", blocks * block)
        if amount and amount < block * threads:
            raise _WrongError("--randamount: less than a block for each thread: give more")
        return [amount // (block * threads) * block] * threads if amount else []
    if not blocks:
        return []
    standard = blocks // threads
    return [*[standard * block] * (threads - 1), (blocks - standard * (threads - 1)) * block]


def _until(each: list[int], rank: int) -> dict[str, object]:
    return {"io_size": f"{each[rank]}B"} if each else {}


def _bytes_of(rank: int, blocks: int, block: int, threads: int, *, is_random: bool) -> dict[str, object]:
    """The part of a thread; of sequential ones the last has the blocks that are left."""
    standard = blocks // threads
    length = blocks - standard * rank if rank == threads - 1 and not is_random else standard
    return {"offset": f"{rank * standard * block}B", "size": f"{length * block}B"}


def _share_of(rank: int, threads: int) -> dict[str, object]:
    """The same of a target whose size is not known, in percent."""
    share = 100_000_000 // threads
    offset, size = (
        f"{millionths / 1_000_000:.6f}".rstrip("0").rstrip(".") for millionths in (rank * share, share)
    )
    return {"offset": f"{offset}%", "size": f"{size}%"}


def _size(found: _Given, name: str, default: int) -> int:
    """A size in bytes; k, m, g, t, p and e are of 1024. Raises _WrongError."""
    text = found.values.get(name)
    if text is None:
        return default
    match = _SIZE.fullmatch(text)
    size = int(match[1]) << (10 * _POWERS[match[2].lower()]) if match else -1
    if not 0 <= size <= _SIZE_MAX:
        raise _WrongError(f"--{name} {text[:20]}: no size: give one such as 4K")
    return size


def _number(found: _Given, name: str, default: int, least: int, most: int) -> int:
    text = found.values.get(name)
    if text is None:
        return default
    if not re.fullmatch("[0-9]{1,19}", text) or not least <= int(text) <= most:
        raise _WrongError(f"--{name} {text[:20]}: a whole number from {least} to {most:,} is wanted")
    return int(text)
