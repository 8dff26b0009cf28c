"""Where experiments are found: those of the package, and the user's own files."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from drivelab import _core
from drivelab.errors import InputError
from drivelab.experiment.model import Experiment, parse
from drivelab.host.files import read_text


def names() -> list[str]:
    """The experiments of the package."""
    return sorted(_core.experiments())


def load(name: str) -> Experiment:
    """An experiment by its name, or by the path of its file (it ends in .toml). Raises InputError."""
    if name.endswith(".toml"):
        return parse(read_text(Path(name)), name)
    files = _core.experiments()
    if name not in files:
        raise InputError(f"no experiment is called {name}: {_suggestion(name)}")
    return parse(files[name], f"catalogue/experiments/{name}.toml")


def _suggestion(name: str) -> str:
    known = names()
    close = get_close_matches(name, known)
    return f"did you mean {' or '.join(close)}?" if close else f"there is {', '.join(known) or 'none'}"
