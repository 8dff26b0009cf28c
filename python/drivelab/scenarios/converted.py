"""What readers of other tools' jobs have in common: what they hand back, command lines, and all problems as one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from drivelab.errors import InputError, ref

HOST_CACHE = ref("target.host_cache", '{ size = "4GiB" }')
"""What a target needs for I/Os that go through the cache of the operating system."""

_REDIRECTION = re.compile(r"(?:[0-9]++|[&*])?(?:>>|>\||>&|<&|<>|>|<)")
"""What redirects a stream to the word behind it, which is a file or `1`, of sh, cmd and PowerShell."""

_COMMAND_END = re.compile(r"\|\|?|&&?|;")
_BLANKS = re.compile(r"\s*+")

_SHOWN = 20
"""The most problems that one message lists."""


class ShellError(Exception):
    """A command line with more than one command, or that a shell would not take; with what can be done."""


@dataclass
class Converted:
    """A scenario without its target, and notes for the reader."""

    text: str
    """The TOML text."""
    notes: list[str] = field(default_factory=list)
    held: frozenset[str] = frozenset()
    """The given keys that the text has taken over."""


def has_host_cache(given: Mapping[str, str] | None) -> bool:
    """Whether the keys beside the file give the target a cache of the operating system."""
    return any(key.startswith("target.host_cache") for key in given or {})


def told(problems: Sequence[str]) -> InputError:
    """All problems as one error, each on a line of its own; of very many the first ones."""
    left = len(problems) - _SHOWN
    more = [f"and {left} more"] if left > 0 else []
    return InputError("\n".join([*problems[:_SHOWN], *more]))


def drop_given(
    document: dict[str, Any], given: Mapping[str, str], held: frozenset[str] = frozenset()
) -> None:
    """Remove the keys that are given from all jobs, so that the given ones are in force in each."""
    words = {"run.duration": "runtime", "run.warmup": "ramp_time", "run.ios": "number_ios"}
    names = {words.get(key, key.removeprefix("workload.")) for key in given if key not in held}
    if "run.seed" in given:
        document.pop("run", None)
    workloads = document["workload"]
    for workload in workloads if isinstance(workloads, list) else [workloads]:
        for table in (workload, *workload.get("job", {}).values()):
            for name in names:
                table.pop(name, None)
            if "bssplit" in names or "bs" in names:
                table.pop("bssplit", None)
                table.pop("bs", None)
            if "rate_iops" in names:
                table.pop("iodepth", None)
            if "iodepth" in names:
                # A depth is in place of a rate.
                table.pop("rate_iops", None)
                table.pop("rate_process", None)


def command_lines(text: str, goes_on: re.Pattern[str], remark: re.Pattern[str]) -> list[tuple[int, str]]:
    """The lines that are neither empty nor remarks, each with its number; `goes_on` is the end of one that goes on."""
    found, number = [], 1
    for line in goes_on.sub("\0", text).split("\n"):
        whole = line.replace("\0", " ").strip()
        if whole and not remark.match(whole):
            found.append((number, whole))
        number += 1 + line.count("\0")
    return found


def _behind_blanks(line: str, place: int) -> int:
    found = _BLANKS.match(line, place)
    return found.end() if found else place


def shell_words(line: str, word: re.Pattern[str], remark: str = "") -> list[str]:
    """The words of one command as they are written, without redirections, their files, and what it is piped to.

    `word` is what a word of the shell is, with its quotation marks, and `remark` what a remark at the end begins with.
    Raises ShellError.
    """
    found: list[str] = []
    redirection, ended = "", ""
    place = _behind_blanks(line, 0)
    while place < len(line) and not (remark and line.startswith(remark, place)):
        token = _REDIRECTION.match(line, place) or _COMMAND_END.match(line, place)
        is_word = token is None
        token = token or word.match(line, place)
        if token is None:
            raise ShellError("a quotation mark is open: close it")
        if redirection and not is_word:
            break
        if ended not in {"", "|"}:
            raise ShellError(f"{ended}: a second command behind it: give each a file of its own")
        if is_word:
            if not redirection and not ended:
                found.append(token[0])
            redirection = ""
        elif token.re is _REDIRECTION:
            redirection = token[0]
        else:
            ended = token[0]
        place = _behind_blanks(line, token.end())
    if redirection:
        raise ShellError(f"{redirection}: the file behind it is missing")
    return found
