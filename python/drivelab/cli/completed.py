"""The words before the one that a shell wants completed: they say which verb has to be loaded.

A shell calls the program without arguments and has its line in the environment (see typer's completion classes).
Nothing heavy is loaded here, for this runs at each press of the key.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

_ASKED = "_DRIVELAB_COMPLETE"
_VERBS = ("--help",)
"""What loads of each verb its summary alone."""


def words_to_load(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Sequence[str]:
    """The arguments that decide what is loaded: those of the process, or those of the line that is completed."""
    if arguments or not environment.get(_ASKED, "").startswith("complete_"):
        return arguments
    return _before(environment)[1:] or _VERBS


def _before(environment: Mapping[str, str]) -> list[str]:
    """The complete words of the line, the program first."""
    if "COMP_WORDS" in environment:
        typed = _split(environment["COMP_WORDS"])
        at = environment.get("COMP_CWORD", "")
        return typed[: int(at)] if at.isdecimal() else typed
    line = environment.get("_TYPER_COMPLETE_ARGS", "")
    typed = _split(line)
    return typed if line.endswith(" ") else typed[:-1]


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        # A quotation that is still open.
        return line.split()
