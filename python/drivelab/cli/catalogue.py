"""`drivelab catalogue`: the drives, controllers and workloads that are known, and where each fact comes from."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from drivelab import library
from drivelab.cli import completion
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, emit_table
from drivelab.cli.run_options import Quiet, check_form
from drivelab.csv_text import rows_csv, tables_csv
from drivelab.errors import InputError
from drivelab.table import Cell, Table

# What the list shows of each kind, by the key of the fact.
LISTED = {
    "drives": {
        "maker": "identity.maker",
        "model": "identity.model",
        "year": "identity.year",
        "interface": "identity.interface",
        "rpm": "rpm",
    },
    "controllers": {
        "maker": "identity.maker",
        "model": "identity.model",
        "interface": "interface",
        "ports": "ports",
        "link": "link.standard",
    },
    "workloads": {"what it stands for": "title"},
}
# A longer value, such as a table of zones, is for --json.
VALUE_CHARACTERS_MAX = 60


def catalogue(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A drive, a controller or a workload, or the path of a file of your own; without it, list all",
            autocompletion=completion.everything,
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
        emit(library.catalogue_text(name))
        return Exit.OK
    if name is None:
        kinds = {kind: library.catalogue(kind) for kind in library.catalogue_kinds()}
        if as_json:
            emit_json(kinds)
        elif as_csv:
            emit(tables_csv(_list(kind, entries) for kind, entries in kinds.items()))
        else:
            for number, (kind, entries) in enumerate(kinds.items()):
                if number:
                    emit("")
                emit_table(_list(kind, entries))
        return Exit.OK
    entry = library.catalogue_entry(name)
    if as_json:
        emit_json(entry)
    elif as_csv:
        emit(rows_csv([{**fact, "value": _text(fact["value"])} for fact in entry["facts"]]))
    else:
        bases = "".join(f", based on {base['name']}" for base in entry["bases"])
        emit(f"{entry['name']}, from {entry['path']}{bases}\n")
        emit_table(_facts(entry))
        if sources := _sources(entry):
            emit("\n" + "\n".join(sources))
    return Exit.OK


def _list(kind: str, entries: list[dict[str, Any]]) -> Table:
    listed = LISTED[kind]
    rows = []
    for entry in entries:
        facts = {fact["key"]: fact["value"] for fact in entry["facts"]}
        rows.append([Cell(entry["name"]), *(Cell(str(facts.get(key, "-"))) for key in listed.values())])
    return Table([kind.removesuffix("s"), *listed], rows, left=frozenset(range(len(listed) + 1)))


def _facts(drive: dict[str, Any]) -> Table:
    """The facts; where some are taken over from a base, a column says from which."""
    columns = ["fact", "value", "mark", *(["inherited from"] if drive["bases"] else []), "source"]
    rows = [
        [fact["key"], _value(fact["value"]), fact["mark"] or "-", fact["base"] or "-", fact["source"] or "-"]
        for fact in drive["facts"]
    ]
    rows += [
        [one["key"], _value(one["value"]), "assumed", "-", one["because"]] for one in drive.get("assumed", ())
    ]
    kept = [0, 1, 2, 3, 4] if drive["bases"] else [0, 1, 2, 4]
    return Table(columns, [[Cell(row[i]) for i in kept] for row in rows], left=frozenset(range(len(columns))))


def _sources(entry: dict[str, Any]) -> list[str]:
    """The sources in full; behind those of the file itself those of its bases, each with its name."""
    found = [f"{short}: {full}" for short, full in entry["sources"].items()]
    for base in entry["bases"]:
        named = {fact["source"] for fact in entry["facts"] if fact["base"] == base["name"]} - {None}
        found += [
            f"{short} in {base['name']}: {full}"
            for short, full in base["sources"].items()
            if any(short in source for source in named)
        ]
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(value: object) -> str:
    text = _text(value)
    return text if len(text) <= VALUE_CHARACTERS_MAX else text[: VALUE_CHARACTERS_MAX - 3] + "..."
