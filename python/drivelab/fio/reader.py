"""Reads the options of one fio job one by one, and collects the resulting keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from drivelab.fio import values
from drivelab.fio.syntax import Job, Option, Place, Problem
from drivelab.fio.values import Value, WrongError


@dataclass
class Duration:
    """The condition that ends a job in fio."""

    runtime_us: int | None = None
    ramp_us: int | None = None
    delay_us: int = 0
    time_based: bool = False
    amount_bytes: int | None = None
    """What each copy transfers before it ends; None if the size of the device decides."""


@dataclass(frozen=True)
class Files:
    """The files of a job, or of one of its copies."""

    names: tuple[str, ...]
    """With directories; of files that each copy has for itself, with `{copy}` in place of its number."""
    is_device: bool = False

    @property
    def is_own(self) -> bool:
        """Whether each copy of the job has its own."""
        return any("{copy}" in name for name in self.names)

    def of_copy(self, number: int) -> Files:
        """Those of one copy."""
        return replace(self, names=tuple(name.replace("{copy}", str(number)) for name in self.names))


@dataclass
class Built:
    """A job as keys."""

    name: str
    place: Place
    keys: dict[str, Any] = field(default_factory=dict)
    duration: Duration = field(default_factory=Duration)
    lines: dict[str, Place] = field(default_factory=dict)
    """The place of each option."""
    seed: int | None = None
    unreadable: set[str] = field(default_factory=set)
    """Options whose values are wrong."""
    step: tuple[int, str] | None = None
    """The offset of each copy from the previous one: a number and its unit, `B` or `%`."""
    files: Files = field(default_factory=lambda: Files(("",)))
    """What it reads and writes."""
    group: int = 0
    """Its reporting group, as new_group divides them."""

    def line_of(self, key: str) -> Place | None:
        """The place of a key's option; None for a key without one."""
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
    "io_size": ("number_ios", "io_size", "size", "filesize"),
    "end_fsync": ("end_fsync", "end_syncfs", "fsync_on_close"),
    "priority": ("priohint",),
    "prioritysplit": ("cmdprio_percentage", "cmdprio_hint", "cmdprio_class"),
    "member": ("filename",),
    "size": ("filesize", "size"),
    "offset": ("offset", "offset_increment"),
    "file": ("read_iolog",),
    "pace": ("replay_no_stall",),
    "scale_time": ("replay_time_scale",),
}
"""Keys whose options have other names."""

_MAY_BE_EMPTY = frozenset({"name", "filename", "directory", "file_service_type"})
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
            if word := values.machine_word(option.value):
                raise WrongError(
                    f"{word} depends on the machine that fio runs on; write a number in its place"
                )
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
        place = self.job.place if option is None else option.place
        if option is not None:
            self.unreadable.add(option.key)
        self.problems.append(Problem(place, f"{option}: {text}" if option else text))
