"""Times and amounts of data as options have them; what is none is refused with the name of its key."""

from __future__ import annotations

from collections.abc import Callable

from drivelab import _core
from drivelab.errors import InputError, ref


def span_ns(name: str, text: str) -> int:
    """A time in ns. Raises InputError."""
    return _read(_core.span_ns, name, text)


def size_bytes(name: str, text: str) -> int:
    """An amount of data in bytes. Raises InputError."""
    return _read(_core.size_bytes, name, text)


def _read(parse: Callable[[str], int], name: str, text: str) -> int:
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"{ref(name, text)}: {error}") from error
