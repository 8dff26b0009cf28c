"""Times and amounts of data as options have them; what is none is refused in the option's name."""

from __future__ import annotations

from collections.abc import Callable

from drivelab import _core
from drivelab.errors import InputError


def span_ns(option: str, text: str) -> int:
    """A time in ns. Raises InputError."""
    return _read(_core.span_ns, option, text)


def size_bytes(option: str, text: str) -> int:
    """An amount of data in bytes. Raises InputError."""
    return _read(_core.size_bytes, option, text)


def _read(parse: Callable[[str], int], option: str, text: str) -> int:
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from error
