"""The verbs of the command line and what they share: each is a function that returns an exit code."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.core import TyperGroup

from drivelab import _core
from drivelab.cli.catalogue import catalogue
from drivelab.cli.check import check
from drivelab.cli.compare_levels import compare_levels
from drivelab.cli.help import help_
from drivelab.cli.import_drive import import_drive
from drivelab.cli.output import emit
from drivelab.cli.reproduce import reproduce
from drivelab.cli.scan import scan
from drivelab.cli.schema import schema
from drivelab.cli.simulate import simulate
from drivelab.cli.validate import validate

app = typer.Typer(
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
for verb in (simulate, scan, compare_levels, check, reproduce, validate, catalogue, schema):
    app.command()(verb)
# A word of the language cannot be a function's name.
app.command("import")(import_drive)
app.command("help")(help_)


def program() -> TyperGroup:
    """The verbs as one program."""
    found = typer.main.get_command(app)
    if not isinstance(found, TyperGroup):
        raise TypeError(found)
    return found


def _print_version(asked: bool) -> None:
    if asked:
        emit(f"drivelab {_core.VERSION}, model {_core.MODEL_VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version")
    ] = False,
) -> None:
    """Options before the verb."""
