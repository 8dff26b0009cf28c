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


def _verb(program: TyperGroup, arguments: Sequence[str]) -> Any:  # noqa: ANN401 - as typer has it
    """The verb that the arguments begin with; of a group, the one inside."""
    found: Any = None
    commands: Mapping[str, Any] = program.commands
    for word in arguments:
        if word in commands:
            found = commands[word]
            if not isinstance(found, TyperGroup):
                break
            commands = found.commands
    return found


def check_known(program: TyperGroup, arguments: Sequence[str]) -> None:
    """Refuse `--blocksize` with the name that the option has here. Raises InputError."""
    verb = _verb(program, arguments)
    if verb is None:
        return
    known = {name for option in verb.params for name in option.opts}
    for word in arguments:
        if word == "--":
            return
        name = word.partition("=")[0].lower().replace("_", "-")
        here = f"--{ALIASES.get(name.removeprefix('--'), '')}"
        if name.startswith("--") and name not in known and here in known:
            raise InputError(f"No such option: {name}; here it is {here}")


def check_once(program: TyperGroup, arguments: Sequence[str]) -> None:
    """Refuse `--bs 4k --bs 8k` before the verb runs. Raises InputError."""
    verb = _verb(program, arguments)
    if verb is None:
        return
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
