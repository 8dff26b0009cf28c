"""The catalogue as tables: a list of a kind, the facts of one entry, their sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from drivelab.report.table import Cell, Table
from drivelab.scenarios.catalogue_choice import medium

# What a drive stores its data on: no fact of its file, but what its sections say.
MEDIUM = "medium"
# What the list shows of each kind, by the key of the fact.
LISTED = {
    "drives": {
        "maker": "identity.maker",
        "model": "identity.model",
        "year": "identity.year",
        "interface": "identity.interface",
        "kind": MEDIUM,
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


def list_table(kind: str, entries: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each entry of a kind."""
    listed = LISTED[kind]
    rows = []
    for entry in entries:
        facts = {fact["key"]: fact["value"] for fact in entry["facts"]}
        if kind == "drives":
            facts[MEDIUM] = medium(entry).upper() if medium(entry) != "flash" else "flash"
        rows.append([Cell(entry["name"]), *(Cell(str(facts.get(key, "-"))) for key in listed.values())])
    return Table([kind.removesuffix("s"), *listed], rows, left=frozenset(range(len(listed) + 1)))


def facts_table(drive: Mapping[str, Any]) -> Table:
    """The facts; where some are taken over from a base, a column says from which."""
    columns = ["fact", "value", "mark", *(["inherited from"] if drive["bases"] else []), "source"]
    rows = [
        [
            fact["key"],
            _shortened(fact["value"]),
            fact["mark"] or "-",
            fact["base"] or "-",
            fact["source"] or "-",
        ]
        for fact in drive["facts"]
    ]
    rows += [
        [one["key"], _shortened(one["value"]), "assumed", "-", one["because"]]
        for one in drive.get("assumed", ())
    ]
    kept = [0, 1, 2, 3, 4] if drive["bases"] else [0, 1, 2, 4]
    return Table(columns, [[Cell(row[i]) for i in kept] for row in rows], left=frozenset(range(len(columns))))


def source_lines(entry: Mapping[str, Any]) -> list[str]:
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


def heading(entry: Mapping[str, Any]) -> str:
    """An entry, its file and its bases in one line."""
    bases = "".join(f", based on {base['name']}" for base in entry["bases"])
    return f"{entry['name']}, from {entry['path']}{bases}"


def value_text(value: object) -> str:
    """A value as text: words as they are, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(value: object) -> str:
    text = value_text(value)
    return text if len(text) <= VALUE_CHARACTERS_MAX else text[: VALUE_CHARACTERS_MAX - 3] + "..."
