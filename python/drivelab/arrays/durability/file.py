"""A TOML file of durability: its values, and what is wrong with them in its lines.

An error of an option that is typed over the file names the option.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.arrays import counted
from drivelab.errors import InputError, NoSuchKeyError, OptionError, ref
from drivelab.errors.several import errors_of
from drivelab.host.files import read_text


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

    def options(self) -> dict[str, Any]:
        """The same, unchecked; paths in it are relative to its folder. Raises ScenarioError."""
        found, folder = self.values(), self.path.parent
        for key in ("afr", "drive_life"):
            if isinstance(given := found.get(key), str) and counted.is_counted(given):
                found[key] = str(folder / given)
        if isinstance(drive := found.get("drive"), str) and drive.endswith(".toml"):
            found["drive"] = str(folder / drive)
        return found

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
    given = typed.get(one.name)
    if given is not None:
        return one.name, None, False, (ref(one.name), str(given)), one.message, one.remedy
    message = one.message if one.name in own or not one.is_named else f"{one.name}: {one.message}"
    return one.name, one.item, isinstance(one, NoSuchKeyError), None, message, one.remedy
