"""The verbs of the command line and what they share: each is a function that returns an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from drivelab.cli.output import emit, version_text

# In the order of the help: each verb, and the function, or the group of verbs, that it is in the module of that name
# below drivelab.cli.
_VERBS = {
    "simulate": "simulate",
    "measure": "measure",
    "emulate": "emulate",
    "fault": "fault",
    "loop": "loop",
    "crashtest": "crashtest",
    "scan": "scan",
    "answer": "answer",
    "compare": "compare",
    "library": "library",
    "compare-levels": "compare_levels",
    "durability": "durability",
    "plan": "plan",
    "check": "check",
    "reproduce": "reproduce",
    "validate": "validate",
    "fit": "fit",
    "trace": "trace",
    "catalogue": "catalogue",
    "schema": "schema",
    # A word of the language cannot be a function's name.
    "import": "import_drive",
    "help": "help_",
}

_SETTINGS = dict[str, Any](
    help="A laboratory for disk drives under command queueing.",
    epilog="Exit codes: 0 ok, 1 the run failed, 2 usage or scenario, 3 a comparison failed, 4 refused, "
    "130 interrupted (Ctrl-C), 143 ended (SIGTERM); what had finished is kept.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={
        # fio's names have underscores, and dashes are easier to type.
        "token_normalize_func": lambda word: word.replace("_", "-"),
        "help_option_names": ["-h", "--help"],
    },
)


def program(arguments: Sequence[str] = ()) -> TyperGroup:
    """The verbs as one program: all, or that alone which the arguments begin with, so that it starts at once."""
    app = typer.Typer(**_SETTINGS)
    app.callback()(options)
    for name in _wanted(arguments):
        function = _VERBS[name]
        module = import_module(f"drivelab.cli.{function.removesuffix('_')}")
        verb = getattr(module, function)
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, name=name)
        else:
            app.command(name)(verb)
    found = typer.main.get_command(app)
    if not isinstance(found, TyperGroup):
        raise TypeError(found)
    return found


def _wanted(arguments: Sequence[str]) -> list[str]:
    """The verbs that have to be known to understand the arguments."""
    if list(arguments) == ["--version"]:
        return []
    first = arguments[0].replace("_", "-") if arguments else ""
    # Help is of all verbs.
    return [first] if first in _VERBS and first != "help" else list(_VERBS)


def _print_version(asked: bool) -> None:
    if asked:
        emit(version_text())
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """Options before the verb."""
