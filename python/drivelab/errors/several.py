"""Collects the errors of several options, so that all are reported at once, each with its place and remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from drivelab.errors import InputError, OptionError, raw

P = ParamSpec("P")
R = TypeVar("R")


class SeveralError(InputError):
    """All errors, one line each."""

    def __init__(self, found: Iterable[OptionError]) -> None:
        """Store the errors without duplicates."""
        self.found = list({raw(one): one for one in found}.values())
        super().__init__("\n".join(map(raw, self.found)))


def errors_of(error: InputError) -> list[OptionError]:
    """The errors that a refusal holds; one of no option in particular, such as of a file, has no key."""
    if isinstance(error, SeveralError):
        return error.found
    return [error if isinstance(error, OptionError) else OptionError("", None, raw(error), is_named=False)]


@dataclass
class Problems:
    """Collects errors while the other options are read."""

    found: list[OptionError] = field(default_factory=list)

    def read(self, default: R, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of a function; its refusal is recorded, and a harmless default returned instead."""
        try:
            return function(*args, **kwargs)
        except InputError as error:
            self.found += errors_of(error)
        return default

    def check(self) -> None:
        """Raises InputError with all errors."""
        if self.found:
            raise SeveralError(self.found)
