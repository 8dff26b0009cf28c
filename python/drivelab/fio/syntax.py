"""Parses the text of a job file: sections of options, each with its place; those of [global] apply to later jobs.

`include FILE` stands for the lines of another file, as part of the section that it is in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from drivelab.errors import InputError, raw
from drivelab.fio.idle import matters_not
from drivelab.host.files import read_text

_SECTION = re.compile(r"\[(?P<name>[^\]]+)\]")
_VARIABLE = re.compile(r"\$\{(?P<name>[^}]*)\}")
_INCLUDE = re.compile(r"include(?:\s+(?P<file>.*))?")
_WORDS_OF_FIO = {"rw", "readwrite", "ioengine", "filename", "read_iolog"}
"""Options whose values are quoted in TOML."""
_NAMES = frozenset({"filename", "directory", "filename_format", "uri"})
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


@dataclass(frozen=True, order=True)
class Place:
    """A line of a job file or of a file that it includes: the lines of the `include`s on the way to it, and its own."""

    lines: tuple[int, ...]
    file: str
    """The file of the last of the lines."""

    @property
    def line(self) -> int:
        """The line within its file."""
        return self.lines[-1]

    def __str__(self) -> str:
        """As error messages name it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Option:
    """The option of a line; one without a value has the value of a bare option in fio."""

    key: str
    value: str | None
    place: Place

    def __str__(self) -> str:
        """The option as written."""
        return self.key if self.value is None else f"{self.key}={self.value}"


@dataclass(frozen=True)
class Problem:
    """The error of a line, and its remedy."""

    place: Place
    text: str


@dataclass
class Job:
    """A job with its options, including those of [global]; the later of two applies."""

    name: str
    place: Place
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


def jobs_of(text: str, origin: str) -> tuple[list[Job], list[Problem]]:
    """The jobs in the order of the text, and the errors of its lines; `origin` is the path of the file."""
    jobs: list[Job] = []
    problems: list[Problem] = []
    shared: dict[str, Option] = {}
    into: dict[str, Option] | None = None
    for place, line in _lines(text, Path(origin), origin, problems):
        if match := _SECTION.fullmatch(line):
            # As in fio, each name that begins so is one.
            if match["name"].startswith("global"):
                into = shared
            else:
                jobs.append(Job(match["name"], place, dict(shared)))
                into = jobs[-1].options
        elif into is None:
            problems.append(
                Problem(place, f"`{line}` stands before any section; begin with [global] or [NAME]")
            )
        else:
            option = _option(place, line, problems)
            into[option.key] = option
    if not jobs and not problems:
        problems.append(
            Problem(Place((1,), origin), "there is no job in it; add a section such as [readers]")
        )
    return jobs, problems


def _lines(
    text: str, path: Path, origin: str, problems: list[Problem], outer: tuple[tuple[int, Path], ...] = ()
) -> Iterator[tuple[Place, str]]:
    """The lines of a file, with those of included files in their places."""
    for number, line in enumerate(text.splitlines(), start=1):
        bare = _bare(line)
        place = Place((*(at for at, _ in outer), number), origin)
        if match := _INCLUDE.fullmatch(bare):
            yield from _included(match["file"] or "", path, place, problems, (*outer, (number, path)))
        elif bare and outer and _SECTION.fullmatch(bare):
            problems.append(Problem(place, f"`{bare}`: an included file has no sections; leave the line out"))
        elif bare:
            yield place, bare


def _included(
    name: str, path: Path, place: Place, problems: list[Problem], outer: tuple[tuple[int, Path], ...]
) -> Iterator[tuple[Place, str]]:
    """The lines of an included file; its name is relative to the including one, or else to the working directory."""
    if not name:
        problems.append(Problem(place, "`include`: the name of the file is missing"))
        return
    beside = path.parent / name
    found = beside if beside.exists() or not Path(name).exists() else Path(name)
    if any(found.resolve() == file.resolve() for _, file in outer):
        problems.append(Problem(place, f"`include {name}`: the file includes itself; leave the line out"))
        return
    try:
        text = read_text(found)
    except InputError as error:
        problems.append(Problem(place, f"`include {name}`: {raw(error)}"))
        return
    yield from _lines(text, found, str(found), problems, outer)


def _option(place: Place, line: str, problems: list[Problem]) -> Option:
    key, equals, value = line.partition("=")
    key = key.strip().lower()
    key = _SYNONYMS.get(key, key)
    if not equals:
        return Option(key, None, place)
    # Options without effect may have any value, and of names only matters which are the same.
    unset = [] if matters_not(key) or key in _NAMES else problems
    return Option(key, _expanded(key, place, value.strip(), unset), place)


def _expanded(key: str, place: Place, value: str, problems: list[Problem]) -> str:
    """The value with ${NAME} replaced from the environment, as fio does it."""

    def of_environment(match: re.Match[str]) -> str:
        found = os.environ.get(match["name"])
        if found is None:
            problems.append(Problem(place, f"${{{match['name']}}} is not set in the environment"))
        return match[0] if found is None and key in _NAMES else found or "0"

    return _VARIABLE.sub(of_environment, value)
