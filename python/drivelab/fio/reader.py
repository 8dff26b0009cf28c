"""Reads the options of one fio job one by one, and collects the resulting keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from drivelab.fio import values
from drivelab.fio.syntax import Job, Option, Problem
from drivelab.fio.values import Value, WrongError


@dataclass
class Duration:
    """The condition that ends a job in fio."""

    runtime_us: int | None = None
    ramp_us: int | None = None
    time_based: bool = False
    ios: int | None = None
    """The number of I/Os, of all copies; None if the size of the device decides."""


@dataclass
class Built:
    """A job as keys."""

    name: str
    line: int
    keys: dict[str, Any] = field(default_factory=dict)
    duration: Duration = field(default_factory=Duration)
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each option."""
    seed: int | None = None
    unreadable: set[str] = field(default_factory=set)
    """Options whose values are wrong."""
    step: tuple[int, str] | None = None
    """The offset of each copy from the previous one: a number and its unit, `B` or `%`."""

    def line_of(self, key: str) -> int | None:
        """The line of a key's option; None for a key without a line."""
        for option in _OPTIONS.get(key, (key,)):
            if option in self.lines:
                return self.lines[option]
        return None


_OPTIONS = {
    "bssplit": ("bssplit", "bsrange"),
    "blockalign": ("ba",),
    "rwmixread": ("rwmixread", "rwmixwrite"),
    "fsync": ("fsync", "fdatasync", "sync"),
    "rate_iops": ("rate_iops", "rate"),
    "direct": ("direct", "buffered"),
    "number_ios": ("number_ios", "io_size", "size", "filesize"),
    "size": ("filesize", "size"),
    "offset": ("offset", "offset_increment"),
    "file": ("read_iolog",),
    "pace": ("replay_no_stall",),
    "scale_time": ("replay_time_scale",),
}
"""Keys whose options have other names."""

_MAY_BE_EMPTY = frozenset({"name", "filename", "file_service_type"})
"""Options whose empty value is the default."""


class Reader:
    """Reads the options of a job one by one; an invalid value is a problem in its line."""

    def __init__(self, job: Job, problems: list[Problem]) -> None:
        """Read from `job`, and collect problems."""
        self.job, self.problems = job, problems
        self.unreadable: set[str] = set()
        self.kb_base = self.read("kb_base", int, 1024)

    def read(self, key: str, parse: Callable[[str], Value], default: Value) -> Value:
        """The value of an option; the default if it is not set or invalid."""
        option = self.job.get(key)
        if option is None:
            return default
        try:
            if option.value is None or (not option.value and key not in _MAY_BE_EMPTY):
                raise WrongError("the value is missing")
            return parse(option.value)
        except (WrongError, ValueError) as wrong:
            self.wrong(option, str(wrong) if isinstance(wrong, WrongError) else "not a number")
            return default

    def flag(self, key: str) -> bool:
        """Whether a yes-or-no option is on."""
        option = self.job.get(key)
        if option is None:
            return False
        try:
            return values.flag(option.value)
        except WrongError as wrong:
            self.wrong(option, str(wrong))
            return False

    def size(self, key: str) -> int | None:
        """An option as bytes."""
        return self.read(key, lambda text: values.size(text, self.kb_base), None)

    def text(self, key: str) -> str | None:
        """An option as text."""
        return self.read(key, str, None)

    def wrong(self, option: Option | None, text: str) -> None:
        """Record a problem in the line of an option."""
        line = self.job.line if option is None else option.line
        if option is not None:
            self.unreadable.add(option.key)
        self.problems.append(Problem(line, f"{option}: {text}" if option else text))
