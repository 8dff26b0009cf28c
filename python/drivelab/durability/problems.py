"""Errors in the options of durability: all at once, each with its place and remedy.

An error of a command-line option names the option; one of a file is shown in its line, as for a scenario.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from drivelab import _core
from drivelab.arguments import in_arguments
from drivelab.errors import InputError, OptionError
from drivelab.files import read_text

P = ParamSpec("P")
R = TypeVar("R")

_GIVEN = re.compile(
    r"--(?P<name>[a-z]+(?:-[a-z]+)*) (?P<value>[\w.%-]*[\dA-Z%][\w%]*|simulated|auto|chain|monte-carlo|biasing)"
)
"""An option with a value."""


class SeveralError(InputError):
    """All errors, one line each."""

    def __init__(self, found: Iterable[OptionError]) -> None:
        """Store the errors without duplicates."""
        self.found = list({str(one): one for one in found}.values())
        super().__init__("\n".join(map(str, self.found)))


@dataclass
class Problems:
    """Collects errors while the other options are read."""

    found: list[OptionError] = field(default_factory=list)

    def read(self, default: R, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of a function; its refusal is recorded, and a harmless default returned instead."""
        try:
            return function(*args, **kwargs)
        except SeveralError as error:
            self.found += error.found
        except InputError as error:
            self.found.append(_as_of_option(error))
        return default

    def check(self) -> None:
        """Raises InputError with all errors."""
        if self.found:
            raise SeveralError(self.found)


@dataclass(frozen=True)
class File:
    """A TOML file with the keys of the verb."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> File:
        """Read a file. Raises InputError."""
        return cls(path, read_text(path, what="description of an array"))

    def values(self) -> dict[str, Any]:
        """The values by key. Raises ScenarioError if it is not TOML."""
        return _core.toml_values(self.text, str(self.path))

    def tell(self, error: InputError, typed: Mapping[str, object]) -> None:
        """Raise the errors at their places: in a line of the file, or in one of the options `typed`.

        Raises ScenarioError.
        """
        found = error.found if isinstance(error, SeveralError) else [_as_of_option(error)]
        own = self.values()
        _core.toml_problems(self.text, str(self.path), [_placed(one, typed, own) for one in found])


def _as_of_option(error: InputError) -> OptionError:
    """The error with its option; one of no option in particular, such as a file that cannot be read, stays as it is."""
    return error if isinstance(error, OptionError) else OptionError("", None, str(error), is_named=False)


def _placed(
    one: OptionError, typed: Mapping[str, object], own: Mapping[str, object]
) -> tuple[str, int | None, bool, tuple[str, str] | None, str, str | None]:
    option = "--randseed" if one.key == "seed" else f"--{one.key.replace('_', '-')}"
    given = typed.get(one.key)
    if given is not None:
        return one.key, None, False, (option, str(given)), one.message, one.remedy
    message = one.message if one.key in own or not one.is_named else f"{one.key}: {one.message}"
    return one.key, one.item, one.is_key, None, _as_keys(message), one.remedy and _as_keys(one.remedy)


def _as_keys(text: str) -> str:
    """Options as the keys of a file: `--drive NAME` is `drive = "NAME"` there."""
    return in_arguments(
        _GIVEN.sub(lambda found: f'{found["name"].replace("-", "_")} = "{found["value"]}"', text)
    )
