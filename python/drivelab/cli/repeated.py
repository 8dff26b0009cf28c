"""What is refused of a command line before its verb reads it.

An option that is given twice and takes one value: the first would be lost in silence. An option that fio or another
program calls otherwise: the nearest by its letters is seldom the one that is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperGroup, TyperOption

from drivelab.errors import InputError
from drivelab.errors.keys import WORDS

ALIASES = {
    "blocksize": "bs",
    "block-size": "bs",
    "readwrite": "rw",
    "threads": "numjobs",
    "jobs": "numjobs",
    "qd": "iodepth",
    "queue-depth": "iodepth",
    "depth": "iodepth",
    "rate": "rate-iops",
    "duration": "runtime",
    "time": "runtime",
    "warmup": "ramp-time",
    "ios": "number-ios",
    "seed": "randseed",
    "disk": "drive",
    "filename": "drive",
    "raid": "level",
    "drives": "members",
    "chunk": "stripe-unit",
}
"""What other programs call an option, with its name here."""


def verb_of(program: TyperGroup, arguments: Sequence[str]) -> Any:  # noqa: ANN401 - as typer has it
    """The verb that the arguments begin with; of a group, the one inside. None if they begin with none."""
    found: Any = None
    commands: Mapping[str, Any] = program.commands
    for word in arguments:
        # As typer reads a name: see app.py.
        name = word.replace("_", "-")
        if name in commands:
            found = commands[name]
            if not isinstance(found, TyperGroup):
                break
            commands = found.commands
    return found


def options_of(verb: Any) -> set[str]:  # noqa: ANN401 - as typer has it
    """The options of a verb, as they are typed."""
    return {name for option in verb.params for name in option.opts}


def check_known(verb: Any, arguments: Sequence[str]) -> None:  # noqa: ANN401 - as typer has it
    """Refuse `--blocksize` with the name that the option has here. Raises InputError."""
    known = options_of(verb)
    for word in arguments:
        if word == "--":
            return
        name = word.partition("=")[0].lower().replace("_", "-")
        here = f"--{ALIASES.get(name.removeprefix('--'), '')}"
        if name.startswith("--") and name not in known and here in known:
            raise InputError(f"No such option: {name}; here it is {here}")


def check_once(verb: Any, arguments: Sequence[str]) -> None:  # noqa: ANN401 - as typer has it
    """Refuse `--bs 4k --bs 8k` before the verb runs. Raises InputError."""
    options = {
        name.lstrip("-"): option
        for option in verb.params
        if isinstance(option, TyperOption) and not option.is_flag and not option.multiple
        for name in option.opts
    }
    seen: dict[str, tuple[str, str]] = {}
    words = iter(arguments)
    for word in words:
        if word == "--":
            return
        name, equals, value = word.partition("=")
        option = options.get(name.lstrip("-").replace("_", "-")) if name.startswith("-") else None
        if option is None:
            continue
        # A value may look like an option; it is none.
        value = value if equals else next(words, "")
        given = f"{name} {value}"
        first, first_value = seen.setdefault(option.opts[0], (given, value))
        if first is not given:
            remedy = "keep one of the two"
            if option.name in WORDS and option.name != "name":
                remedy += f"; to sweep over both, give one list: {name} {first_value},{value}"
            raise InputError(f"{first} and {given}: {remedy}")
