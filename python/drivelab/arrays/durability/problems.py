"""A TOML file of durability: its values, and what is wrong with them in its lines.

An error of an option that is typed over the file names the option.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.arguments import in_arguments
from drivelab.errors import InputError, OptionError
from drivelab.host.files import read_text
from drivelab.refusals import errors_of

_GIVEN = re.compile(
    r"--(?P<name>[a-z]+(?:-[a-z]+)*) (?P<value>[\w.%-]*[\dA-Z%][\w%]*|simulated|auto|chain|monte-carlo|biasing)"
)
"""An option with a value."""


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
        own = self.values()
        found = [_placed(one, typed, own) for one in errors_of(error)]
        _core.toml_problems(self.text, str(self.path), found)


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
