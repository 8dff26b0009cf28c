"""The verbs of the command line and what they share: each is a function that returns an exit code."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
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
    "page": "page",
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

# Arguments that ask for the list of verbs.
_LISTS = (["--help"], ["-h"])

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
    # The list of verbs needs of each what it does, and not its module with all that this loads.
    is_list = list(arguments) in _LISTS
    for name in _wanted(arguments):
        if is_list and (summary := _summary(_VERBS[name])) is not None:
            app.command(name, help=summary)(_listed)
            continue
        verb = getattr(import_module(_module(_VERBS[name])), _VERBS[name])
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, name=name)
        else:
            app.command(name)(verb)
    found = typer.main.get_command(app)
    if not isinstance(found, TyperGroup):
        raise TypeError(found)
    return found


def _module(function: str) -> str:
    return f"drivelab.cli.{function.removesuffix('_')}"


def _listed() -> None:
    """A verb of which the list alone is asked for."""


def _summary(function: str) -> str | None:
    """What a verb does, read from the text of its module: the docstring of the function, or the help of the group.

    None where there is no such text.
    """
    found = find_spec(_module(function))
    if found is None or found.origin is None or (path := Path(found.origin)).suffix != ".py":
        return None
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return ast.get_docstring(node)
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == function
            and isinstance(node.value, ast.Call)
        ):
            texts = [word.value for word in node.value.keywords if word.arg == "help"]
            return str(texts[0].value) if texts and isinstance(texts[0], ast.Constant) else None
    return None


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
