"""`drivelab catalogue`: the drives that are known, and where each of their facts comes from."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from drivelab import library
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, emit_table
from drivelab.table import Cell, Table

# What the list shows of each drive, by the key of the fact.
LISTED = {
    "maker": "identity.maker",
    "model": "identity.model",
    "year": "identity.year",
    "interface": "identity.interface",
    "rpm": "rpm",
}
# A longer value, such as a table of zones, is for --json.
VALUE_CHARACTERS_MAX = 60


def catalogue(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One drive; without it, list all")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The facts as JSON")] = False,
) -> int:
    """List the drives that are known, or show one with the source of each fact."""
    if name is None:
        drives = library.catalogue()
        if as_json:
            emit_json({"drives": drives})
        else:
            emit_table(_list(drives))
        return Exit.OK
    drive = library.catalogue_entry(name)
    if as_json:
        emit_json(drive)
    else:
        emit(f"{drive['name']}, from {drive['path']}\n")
        emit_table(_facts(drive))
        emit("\n" + "\n".join(f"{short}: {full}" for short, full in drive["sources"].items()))
    return Exit.OK


def _list(drives: list[dict[str, Any]]) -> Table:
    rows = []
    for drive in drives:
        facts = {fact["key"]: fact["value"] for fact in drive["facts"]}
        rows.append([Cell(drive["name"]), *(Cell(str(facts.get(key, "-"))) for key in LISTED.values())])
    return Table(["drive", *LISTED], rows, left=frozenset(range(len(LISTED) + 1)))


def _facts(drive: dict[str, Any]) -> Table:
    rows = [
        [
            Cell(fact["key"]),
            Cell(_value(fact["value"])),
            Cell(fact["mark"] or "-"),
            Cell(fact["source"] or "-"),
        ]
        for fact in drive["facts"]
    ]
    return Table(["fact", "value", "mark", "source"], rows, left=frozenset(range(4)))


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_CHARACTERS_MAX else text[: VALUE_CHARACTERS_MAX - 3] + "..."
