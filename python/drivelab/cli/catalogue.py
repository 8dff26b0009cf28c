"""`drivelab catalogue`: the drives, controllers and workloads that are known, and where each fact comes from."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from drivelab.cli import completion
from drivelab.cli.contribute import contribute
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, emit_table
from drivelab.cli.run_options import Quiet, check_form
from drivelab.errors import InputError
from drivelab.report.csv_text import rows_csv, tables_csv
from drivelab.scenarios import catalogue as known
from drivelab.scenarios.catalogue_choice import Medium, chosen
from drivelab.scenarios.catalogue_tables import facts_table, heading, list_table, source_lines, value_text

SHOW = "show"
"""The verb that is meant where none is named."""


class _Group(TyperGroup):
    """Verbs of the catalogue; what is none of them is a name, or options of the list."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - a class that typer hides
        if not args or args[0] not in {*self.commands, "-h", "--help"}:
            args = [SHOW, *args]
        return super().parse_args(ctx, args)


catalogue = typer.Typer(
    cls=_Group,
    help="List the drives, controllers and workloads that are known, show one with the source of each fact, or check a "
    "drive that a reader contributes.",
)
catalogue.command("contribute")(contribute)


@catalogue.command(SHOW)
def show(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A drive, a controller or a workload, the path of a file of your own, or a kind, such as drives; "
            "without it, list all",
            autocompletion=completion.everything,
        ),
    ] = None,
    kind: Annotated[
        Medium | None,
        typer.Option(
            "--kind",
            help="Only drives of this kind: conventional (cmr), shingled (smr), host-managed (hm-smr), or flash",
        ),
    ] = None,
    year: Annotated[
        str | None,
        typer.Option(
            "--year", help="Only drives of these years: 2014, 2014..2020, 2014.. or ..2020", metavar="YEARS"
        ),
    ] = None,
    as_toml: Annotated[
        bool, typer.Option("--toml", help="The file itself, with sources and comments, to edit")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The facts as JSON")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="The tables as CSV")] = False,
    quiet: Quiet = False,  # noqa: ARG001 - every verb has it; what is printed here is what was asked for
) -> int:
    """List the drives, controllers and workloads that are known, or show one with the source of each fact."""
    check_form(json=as_json, csv=as_csv)
    if as_toml:
        if name is None or as_json or as_csv:
            raise InputError("--toml prints one file: give its name, and leave --json and --csv out")
        emit(known.catalogue_text(name))
        return Exit.OK
    if name is None or name in known.catalogue_kinds():
        _print_lists(_listed(name, kind, year), as_json=as_json, as_csv=as_csv)
        return Exit.OK
    if kind or year:
        raise InputError(f"--kind and --year choose from the list: leave {name} out, or leave them out")
    entry = known.catalogue_entry(name)
    if as_json:
        emit_json(entry)
    elif as_csv:
        emit(rows_csv([{**fact, "value": value_text(fact["value"])} for fact in entry["facts"]]))
    else:
        emit(f"{heading(entry)}\n")
        emit_table(facts_table(entry))
        if sources := source_lines(entry):
            emit("\n" + "\n".join(sources))
    return Exit.OK


def _listed(name: str | None, kind: Medium | None, year: str | None) -> dict[str, list[dict[str, Any]]]:
    """What is listed, by kind of entry."""
    if not kind and not year:
        return {one: known.entries(one) for one in known.catalogue_kinds() if name in (None, one)}
    if name not in (None, "drives"):
        raise InputError("--kind and --year are of drives: leave them out, or list the drives")
    return {"drives": chosen(known.entries("drives"), kind, year)}


def _print_lists(lists: dict[str, list[dict[str, Any]]], *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        emit_json(lists)
        return
    tables = [list_table(kind, entries) for kind, entries in lists.items()]
    if as_csv:
        emit(tables_csv(tables))
        return
    for number, table in enumerate(tables):
        if number:
            emit("")
        emit_table(table)
