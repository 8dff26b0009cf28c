"""Parses the text of a job file: sections of options, each with its line; those of [global] apply to later jobs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from drivelab.fio.options import matters_not

_SECTION = re.compile(r"\[(?P<name>[^\]]+)\]")
_VARIABLE = re.compile(r"\$\{(?P<name>[^}]*)\}")
_WORDS_OF_FIO = {"rw", "readwrite", "ioengine", "filename", "read_iolog"}
"""Options whose values are quoted in TOML."""
_SYNONYMS = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blockalign": "ba",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "io_limit": "io_size",
    "fileoffset": "offset",
    "io_scheduler": "ioscheduler",
    "threads": "thread",
    "nr_files": "nrfiles",
    "ratemin": "rate_min",
    "blocksize_unaligned": "bs_unaligned",
    "fill_fs": "fill_device",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
}


@dataclass(frozen=True)
class Option:
    """The option of a line; one without a value has the value of a bare option in fio."""

    key: str
    value: str | None
    line: int

    def __str__(self) -> str:
        """The option as written."""
        return self.key if self.value is None else f"{self.key}={self.value}"


@dataclass(frozen=True)
class Problem:
    """The error of a line, and its remedy."""

    line: int
    text: str


@dataclass
class Job:
    """A job with its options, including those of [global]; the later of two applies."""

    name: str
    line: int
    options: dict[str, Option] = field(default_factory=dict)

    def get(self, key: str) -> Option | None:
        """The option, if it is set."""
        return self.options.get(key)


def is_job_file(text: str) -> bool:
    """Whether this is a job file: sections with options of fio, their values without quotation marks."""
    lines = [line.strip() for line in text.splitlines()]
    if not any(_SECTION.fullmatch(_bare(line)) for line in lines):
        return False
    pairs = (_bare(line).partition("=") for line in lines if not line.startswith("["))
    return any(
        key.strip().lower() in _WORDS_OF_FIO and equals and value.strip()[:1] not in {'"', "'", "[", "{", ""}
        for key, equals, value in pairs
    )


def _bare(line: str) -> str:
    """A line without its comment: as in fio, the text after a ; or a # is not part of the value."""
    return re.split("[;#]", line, maxsplit=1)[0].strip()


def jobs_of(text: str) -> tuple[list[Job], list[Problem]]:
    """The jobs in the order of the text, and the errors of its lines."""
    jobs: list[Job] = []
    problems: list[Problem] = []
    shared: dict[str, Option] = {}
    into: dict[str, Option] | None = None
    for number, line in _lines(text):
        if match := _SECTION.fullmatch(line):
            if match["name"] == "global":
                into = shared
            else:
                jobs.append(Job(match["name"], number, dict(shared)))
                into = jobs[-1].options
        elif line.startswith("include ") or line == "include":
            problems.append(
                Problem(number, f"`{line}`: job files are read one by one; put its lines in here")
            )
        elif into is None:
            problems.append(
                Problem(number, f"`{line}` stands before any section; begin with [global] or [NAME]")
            )
        else:
            option = _option(number, line, problems)
            into[option.key] = option
    if not jobs and not problems:
        problems.append(Problem(1, "there is no job in it; add a section such as [readers]"))
    return jobs, problems


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if bare := _bare(line):
            yield number, bare


def _option(number: int, line: str, problems: list[Problem]) -> Option:
    key, equals, value = line.partition("=")
    key = key.strip().lower()
    key = _SYNONYMS.get(key, key)
    # Options without effect may have any value.
    unset = [] if matters_not(key) else problems
    return Option(key, _expanded(number, value.strip(), unset) if equals else None, number)


def _expanded(number: int, value: str, problems: list[Problem]) -> str:
    """The value with ${NAME} replaced from the environment, as fio does it."""

    def of_environment(match: re.Match[str]) -> str:
        found = os.environ.get(match["name"])
        if found is None:
            problems.append(Problem(number, f"${{{match['name']}}} is not set in the environment"))
        return found or "0"

    return _VARIABLE.sub(of_environment, value)
