"""The log of commands: a list of rows to whoever reads it, columns in memory.

A row is a dictionary, made when it is asked for; a change to it changes nothing in the log. What a row costs is what
its integers take: a hundred bytes in place of a few thousand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import eq
from typing import Any, Literal, SupportsIndex, cast, overload

Row = dict[str, Any]
Column = tuple[Any, ...]
"""The name of its kind and what that kind has: see `crates/py/src/columns.rs`."""
Read = Callable[[int, int], list[Any]]
"""The values of a column from one row to before another."""

LOGS = ("commands", "member_commands")
"""The keys of a point that are logs."""

_AT_A_TIME = 512
_SHOWN = 3
_CODES: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Commands(Sequence[Row]):
    """The logged commands of a point, a row each: `commands[0]["begun_ns"]`, `for command in commands`."""

    __slots__ = ("_read", "_rows")

    def __init__(self, rows: list[Row] | tuple[int, Column]) -> None:
        """Take over what `_core` has: a list where it is short, else how many rows, and the column of their keys."""
        self._rows = rows
        self._read = _from_list(rows) if isinstance(rows, list) else _from_column(rows[1])

    def __len__(self) -> int:
        """How many commands."""
        return len(self._rows) if isinstance(self._rows, list) else self._rows[0]

    @overload
    def __getitem__(self, place: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Row | list[Row]:
        """A row, or a list of some."""
        found = range(len(self))[place]
        if isinstance(found, int):
            return cast("Row", self._read(found, found + 1)[0])
        return [self[at] for at in found]

    def __iter__(self) -> Iterator[Row]:
        """Each row, made a few at a time."""
        for first in range(0, len(self), _AT_A_TIME):
            yield from self._read(first, min(first + _AT_A_TIME, len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether another log, or a list, has the same rows."""
        if not isinstance(other, Commands | list):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment] # as a list has none

    def __repr__(self) -> str:
        """The list, of a long one its beginning."""
        if len(self) <= _SHOWN:
            return repr(list(self))
        rows = ", ".join(map(repr, islice(self, _SHOWN)))
        return f"[{rows}, ... {len(self) - _SHOWN:,} more]"

    def __reduce__(self) -> tuple[type[Commands], tuple[list[Row] | tuple[int, Column]]]:
        """What a copy and a pickle are made of."""
        return Commands, (self._rows,)


def _from_list(rows: list[Row]) -> Read:
    return lambda first, end: rows[first:end]


def _from_column(column: Column) -> Read:
    """How the values of a column are read."""
    kind, *rest = column
    if kind == "nothing":
        return lambda first, end: [None] * (end - first)
    numbers = _numbers(*rest[0])
    if kind == "integers":
        return numbers
    if kind == "flags":
        return lambda first, end: [None if flag is None else bool(flag) for flag in numbers(first, end)]
    if kind == "words":
        words = rest[1]
        return lambda first, end: [None if at is None else words[at] for at in numbers(first, end)]
    return _table(numbers, rest[1])


def _numbers(base: int, has_none: bool, width: int, packed: bytes) -> Read:
    if width == 0:
        value = None if has_none else base
        return lambda first, end: [value] * (end - first)
    numbers = memoryview(packed).cast(_CODES[width])
    if has_none:
        return lambda first, end: [base + number if number else None for number in numbers[first:end]]
    return lambda first, end: [base + number for number in numbers[first:end]]


def _table(numbers: Read, fields: Sequence[tuple[str, Column]]) -> Read:
    """A dictionary for each row; None where the numbers have none."""
    names = [name for name, _ in fields]
    readers = [_from_column(column) for _, column in fields]

    def read(first: int, end: int) -> list[Row | None]:
        values = zip(*(reader(first, end) for reader in readers), strict=True)
        return [
            None if there is None else dict(zip(names, row, strict=True))
            for there, row in zip(numbers(first, end), values, strict=True)
        ]

    return read
