"""The options of one job of fio's, read one by one, and the keys that come of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from drivelab.fio import values
from drivelab.fio.syntax import Job, Option, Problem
from drivelab.fio.values import WrongError

Value = TypeVar("Value")


@dataclass
class Duration:
    """When a job ends in fio."""

    runtime_us: int | None = None
    ramp_us: int | None = None
    time_based: bool = False
    ios: int | None = None
    """After so many I/Os, copies counted; None where the size of the device decides."""


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
    """Each copy of the job begins so much behind the one before: a number and its unit, `B` or `%`."""

    def line_of(self, key: str) -> int | None:
        """The line that a key comes from; None for what no line says."""
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
"""Keys that come from options of other names."""


class Reader:
    """The options of a job, read one by one; what cannot be read is a problem in its line."""

    def __init__(self, job: Job, problems: list[Problem]) -> None:
        """Read from `job`, and collect problems."""
        self.job, self.problems = job, problems
        self.unreadable: set[str] = set()
        self.kb_base = self.read("kb_base", int, 1024)

    def read(self, key: str, parse: Callable[[str], Value], default: Value) -> Value:
        """The value of an option; the default where it is not set, or cannot be read."""
        option = self.job.get(key)
        if option is None:
            return default
        try:
            if option.value is None:
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
        """Bytes of an option."""
        return self.read(key, lambda text: values.size(text, self.kb_base), None)

    def text(self, key: str) -> str | None:
        """An option as it is."""
        return self.read(key, str, None)

    def wrong(self, option: Option | None, text: str) -> None:
        """A problem in the line of an option."""
        line = self.job.line if option is None else option.line
        if option is not None:
            self.unreadable.add(option.key)
        self.problems.append(Problem(line, f"{option}: {text}" if option else text))
