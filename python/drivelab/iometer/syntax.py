"""Reads a configuration file of Iometer (.icf): its test setup, its access specifications, and its workers.

A line that begins with ' says what follows; with a blank behind the ' it is a heading of columns. The values are on the
lines behind it, with commas. Sections end with a line 'END. Sections for the display are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

_VERSION = re.compile(r"Version\s+[0-9]+\.[0-9]+\.[0-9]+")
_SECTIONS = ("test setup", "results display", "access specifications", "manager list")
_SETUP = {
    "test description", "run time", "default disk workers to spawn", "default network workers to spawn",
    "default workers to spawn", "record results", "worker cycling", "disk cycling", "queue depth cycling", "test type",
}  # fmt: skip
RAMP = "ramp up time"
_SPECIFICATION = "access specification name,default assignment"
_LINES = "size,% of size,% reads,% random,delay,burst,align,reply"
OUTSTANDING = "number of outstanding ios,test connection rate,transactions per connection"
DISK = "disk maximum size,starting sector"
_ENTRIES_MAX = 100_000


@dataclass(frozen=True)
class Value:
    """A line of values, or a name, with its line in the file."""

    line: int
    text: str

    @property
    def parts(self) -> list[str]:
        """The values between commas."""
        return [part.strip() for part in self.text.split(",")]


@dataclass
class Entry:
    """What a line with a ' says, in small letters, and the lines of values behind it."""

    line: int
    key: str
    values: list[Value] = field(default_factory=list)


@dataclass
class Specification:
    """An access specification: its name, and lines that have a share of it each."""

    name: Value
    lines: list[Value] = field(default_factory=list)


@dataclass
class Worker:
    """A worker: what it does, to which targets, with its settings."""

    name: Value
    manager: int
    kind: Value | None = None
    settings: dict[str, Value] = field(default_factory=dict)
    specifications: list[Value] = field(default_factory=list)
    targets: list[Value] = field(default_factory=list)


@dataclass
class Configuration:
    """A whole file, and the problems of its form."""

    setup: dict[str, Value] = field(default_factory=dict)
    specifications: list[Specification] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)


def is_configuration(text: str) -> bool:
    """Whether a text begins with a version and has one of Iometer's sections."""
    lines = [line.strip() for line in text.splitlines()]
    first = next((line for line in lines if line), "")
    return _VERSION.match(first) is not None and any(_section(line) for line in lines)


def configuration_of(text: str) -> Configuration:
    """The parts of a file; what is wrong with its form is in `problems`."""
    found = Configuration()
    entries = list(_entries(text))
    if len(entries) > _ENTRIES_MAX:
        found.problems.append(
            (entries[_ENTRIES_MAX].line, f"more than {_ENTRIES_MAX:,} lines with a ': shorten it")
        )
        return found
    readers: Mapping[str, Callable[[Configuration, Entry], None]] = {
        "test setup": _take_setup,
        "results display": lambda _found, _entry: None,
        "access specifications": _take_specification,
        "manager list": _Managers().take,
    }
    section, begun = "", 0
    for entry in entries:
        name = _section(f"'{entry.key}")
        if entry.key.startswith("end ") and section and entry.key == f"end {section}":
            section = ""
        elif name and not section:
            section, begun = name, entry.line
        elif section:
            readers[section](found, entry)
        elif entry.key != "version":
            found.problems.append((entry.line, f"'{entry.key[:40]}: it is in no section: remove it"))
    if section:
        found.problems.append((begun, f"'{section.upper()}: its 'END {section} is missing: is the file cut?"))
    return found


def _section(line: str) -> str:
    """The section that a line begins; empty if none."""
    bare = line[1:].rstrip("= ").lower() if line.startswith("'") else ""
    return bare if bare in _SECTIONS else ""


def _entries(text: str) -> Iterator[Entry]:
    entry: Entry | None = None
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("'"):
            if bare[1:2].strip():
                if entry is not None:
                    yield entry
                entry = Entry(number, bare[1:].strip().lower())
        elif bare and entry is not None:
            entry.values.append(Value(number, bare))
    if entry is not None:
        yield entry


def _unknown(key: str) -> str:
    return f"'{key[:40]}: not known here, and it might change the result: remove it"


def _take_setup(found: Configuration, entry: Entry) -> None:
    key = RAMP if entry.key.startswith(RAMP) else entry.key
    if key not in _SETUP and key != RAMP:
        found.problems.append((entry.line, _unknown(entry.key)))
    elif entry.values:
        found.setup[key] = entry.values[0]


def _take_specification(found: Configuration, entry: Entry) -> None:
    if entry.key == _SPECIFICATION and entry.values:
        # The assignment to new workers behind the comma is of no use here.
        value = entry.values[0]
        found.specifications.append(
            Specification(Value(value.line, value.text.rpartition(",")[0].strip() or value.text))
        )
    elif entry.key == _LINES and found.specifications:
        found.specifications[-1].lines += entry.values
    else:
        found.problems.append(
            (entry.line, f"'{entry.key[:40]}: no part of an access specification: remove it")
        )


_OF_WORKER = {
    "worker type", "assigned access specs", "target", "target type", "default target settings for worker",
}  # fmt: skip


class _Managers:
    """Takes the workers of all managers, entry by entry."""

    def __init__(self) -> None:
        """Create it before the first manager."""
        self.manager = 0
        self.worker: Worker | None = None

    def take(self, found: Configuration, entry: Entry) -> None:
        """Take over one entry of the section."""
        key, values, worker = entry.key, entry.values, self.worker
        if key == "manager id, manager name":
            self.manager += 1
        elif key == "worker":
            self.worker = Worker(values[0] if values else Value(entry.line, "?"), self.manager)
            found.workers.append(self.worker)
        elif key == "end worker":
            self.worker = None
        elif key in {"manager network address", "target assignments"} or key.startswith("end "):
            return
        elif worker is not None and _is_of_worker(key):
            self._take_own(worker, key, values)
        else:
            found.problems.append((entry.line, _unknown(key)))

    @staticmethod
    def _take_own(worker: Worker, key: str, values: list[Value]) -> None:
        """Take over what is a worker's own."""
        if key == "worker type":
            worker.kind = values[0] if values else None
        elif key == "assigned access specs":
            worker.specifications += values
        elif key == "target":
            worker.targets += values[:1]
        elif key.startswith((OUTSTANDING, DISK)):
            known = OUTSTANDING if key.startswith(OUTSTANDING) else DISK
            if values:
                worker.settings[known] = values[0]


def _is_of_worker(key: str) -> bool:
    """Whether an entry is a worker's own."""
    return key in _OF_WORKER or key.startswith((OUTSTANDING, DISK))
