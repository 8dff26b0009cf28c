"""Options of `durability`, `plan` and `compare-levels`: what fails beside drives, and what a repair waits for.

Their help is what the table of the keys says of them.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli import completion
from drivelab.scenarios import reference

FAILS, REPAIR = "What fails", "The repair"
"""Panels of the help."""


def option(
    text: str, metavar: str, panel: str, names: completion.Complete | None = None
) -> typer.models.OptionInfo:
    """An option of a panel; the default is given in its text, in brackets."""
    found: typer.models.OptionInfo = typer.Option(
        # Brackets would be markup.
        help=text.replace("[", "\\["),
        metavar=metavar,
        rich_help_panel=panel,
        show_default=False,
        autocompletion=names,
    )
    return found


def of_key(name: str, metavar: str, panel: str) -> typer.models.OptionInfo:
    """The option of a key of durability."""
    return option(help_of(name), metavar, panel)


def flag(name: str, panel: str) -> typer.models.OptionInfo:
    """The option of a key that is true or false."""
    found: typer.models.OptionInfo = typer.Option(
        f"--{name.replace('_', '-')}", help=help_of(name), rich_help_panel=panel
    )
    return found


def help_of(name: str) -> str:
    """What a key means, with its default in brackets; other keys in it are options."""
    key = _keys()[name]
    text = re.sub(r"`(\w+)`", lambda other: f"--{other[1].replace('_', '-')}", key.meaning)
    return f"{text} [{key.default}]" if key.default not in {"", "false"} else text


@cache
def _keys() -> dict[str, reference.Key]:
    return reference.sections(_core.reference("durability"))[""].keys


Outage = Annotated[list[str] | None, of_key("outage", "PART", FAILS)]
Scrub = Annotated[str | None, of_key("scrub", "TIME", REPAIR)]


@dataclass(frozen=True, kw_only=True)
class Causes:
    """What fails beside drives."""

    batch: Annotated[str | None, of_key("batch", "SHARE:N", FAILS)] = None
    ure: Annotated[str | None, of_key("ure", "RATE", FAILS)] = None
    latent: Annotated[str | None, of_key("latent", "RATE", FAILS)] = None
    reads: Annotated[str | None, of_key("reads", "SIZE", FAILS)] = None
    common: Annotated[list[str] | None, of_key("common", "CAUSE", FAILS)] = None
    wrong_drive: Annotated[str | None, of_key("wrong_drive", "PERCENT", FAILS)] = None


@dataclass(frozen=True, kw_only=True)
class Waits:
    """What a repair waits for."""

    detection: Annotated[str | None, of_key("detection", "LAW", REPAIR)] = None
    replacement: Annotated[str | None, of_key("replacement", "LAW", REPAIR)] = None
    attended: Annotated[str | None, of_key("attended", "HxD", REPAIR)] = None
