"""An access specification of Iometer as keys of a job.

A line is a share of the accesses: a size, percentages of reads and of random places, a pause (delay, in ms) before each
burst, a burst in I/Os, an alignment (0 is a sector), and a reply, which belongs to networks. Several lines are drawn
burst by burst, by their shares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivelab.iometer.syntax import Specification, Value

SECTOR = 512
_FIELDS = ("size", "% of size", "% reads", "% random", "delay", "burst", "align", "reply")
_PERCENT, _MOST = {"% of size", "% reads", "% random"}, 1 << 31


class WrongError(Exception):
    """What cannot be taken over, its line, and what can be done."""

    def __init__(self, line: int, what: str) -> None:
        """Create it with the line and the reason."""
        super().__init__(what)
        self.line = line


@dataclass(frozen=True)
class _Line:
    at: Value
    size: int
    share: int
    reads: int
    random: int
    delay: int
    burst: int
    align: int
    reply: int


def job_of(specification: Specification) -> dict[str, object]:
    """The keys of a job. Raises WrongError."""
    lines = [line for line in map(_line, specification.lines) if line.share]
    name = specification.name
    if sum(line.share for line in lines) != 100:
        raise WrongError(name.line, f"{name.text}: the shares of its lines (% of size) do not add up to 100")
    first = lines[0]
    for line in lines:
        _check(line)
        for what in ("reads", "random", "delay", "align"):
            if getattr(line, what) != getattr(first, what):
                raise WrongError(
                    line.at.line,
                    f"{name.text}: lines with different {what}: a job has sizes by share and all else alike; give all "
                    "lines the same",
                )
        if len(lines) > 1 and line.burst > 1:
            raise WrongError(
                line.at.line, f"{name.text}: bursts of one line among several: give a burst of 1"
            )
    job = _kind(first)
    if len(lines) == 1:
        job["bs"] = f"{first.size}B"
    else:
        job["bssplit"] = ":".join(f"{line.size}B/{line.share}" for line in lines)
    align = first.align or SECTOR
    if first.random and any(line.size != align for line in lines):
        job["blockalign"] = f"{align}B"
    if first.delay:
        job |= {"thinktime": f"{first.delay}ms", "thinktime_blocks": max(1, first.burst)}
    return job


def _line(value: Value) -> _Line:
    numbers = whole_numbers(value, _FIELDS)
    for what, number in zip(_FIELDS, numbers, strict=True):
        if what in _PERCENT and number > 100:
            raise WrongError(value.line, f"{what} {number}: a percentage from 0 to 100 is wanted")
    return _Line(value, *numbers)


def whole_numbers(value: Value, fields: Sequence[str]) -> list[int]:
    """The first values of a line, each a whole number. Raises WrongError."""
    parts = value.parts
    if len(parts) < len(fields):
        raise WrongError(value.line, f"{len(parts)} values, where {','.join(fields)} are wanted")
    for what, part in zip(fields, parts, strict=False):
        if not re.fullmatch("[0-9]{1,19}", part):
            raise WrongError(value.line, f"{what} {part[:20]!r}: a whole number is wanted")
    return [int(part) for part in parts[: len(fields)]]


def _check(line: _Line) -> None:
    """What a drive cannot be asked for. Raises WrongError."""
    if not 0 < line.size < _MOST or line.size % SECTOR:
        raise WrongError(line.at.line, f"size {line.size}: a multiple of {SECTOR} bytes is wanted")
    if line.align % SECTOR or line.align >= _MOST:
        raise WrongError(line.at.line, f"align {line.align}: a multiple of {SECTOR} bytes is wanted, or 0")
    if line.random < 100 and line.align and line.size % line.align:
        raise WrongError(
            line.at.line,
            f"align {line.align}: sequential I/Os of {line.size} bytes would leave gaps; give 0, or a part of the size",
        )
    if line.reply:
        raise WrongError(line.at.line, "reply: a second I/O in the other direction after each: give 0")


def _kind(line: _Line) -> dict[str, object]:
    """`rw`, with its share of reads and of random places."""
    random = "rand" if line.random else ""
    found: dict[str, object] = {"rw": f"{random}{ {0: 'write', 100: 'read'}.get(line.reads, 'rw') }"}
    if 0 < line.reads < 100:
        found["rwmixread"] = line.reads
    if 0 < line.random < 100:
        found["percentage_random"] = f"{line.random}%"
    return found
