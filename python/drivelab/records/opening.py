"""Opening a source named by the user: which kind of record a file is, and reading it.

A source is a path, `-` for stdin, or `published:NAME` for a published table; `FORMAT:` before a path or `-` says which
format of other tools it has. For a folder its `record.json` is read, of a report the record in it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from drivelab.errors import InputError
from drivelab.host.files import read_text
from drivelab.records import fio_runs, own, published
from drivelab.records.formats import known, stored
from drivelab.records.model import Record
from drivelab.records.repair import documents, has_object
from drivelab.report.document.embedded import unwrapped

# A log of 100 000 commands is 60 MB of JSON.
SIZE_MAX_BYTES = 512 * 2**20
STDIN = "-"
IN_FOLDER = "record.json"
"""The record in a folder that `--out` wrote."""
LIBRARY_FORMAT = "drivelab library"
"""The identification of a library's export."""
# Other JSON of drivelab, by a key that nothing else has.
_OTHERS = {
    "surface": "scan",
    "demerit_ms": "validate",
    "levels": "compare-levels",
    "states": "durability",
    "parameters": "fit",
    "comparisons": "compare",
    "candidates": "plan",
    "answer": "answer",
}


@dataclass(frozen=True)
class Document:
    """The JSON of a record: one object, for fio several; and the repairs needed to read it.

    Another tool's text has become such objects.
    """

    objects: list[dict[str, Any]]
    origin: str
    notes: list[str] = field(default_factory=list)


def check_sources(sources: Sequence[str]) -> None:
    """Refuse a second use of stdin. Raises InputError."""
    if sum(known.split(source)[1] == STDIN for source in sources) > 1:
        raise InputError(f"{STDIN} is given twice: stdin can be read once")


def open_record(source: str) -> Record:
    """The record that a source names. Raises InputError."""
    if source.startswith(published.PREFIX):
        return published.published(source.removeprefix(published.PREFIX))
    return read(open_document(source))


def open_document(source: str) -> Document:
    """The JSON of a source, before it is interpreted. Raises InputError."""
    name, place = known.split(source)
    if place == STDIN:
        text, origin = sys.stdin.read(), "stdin"
    else:
        text, origin = read_text(_file(Path(place)), SIZE_MAX_BYTES, "record"), place
    text = unwrapped(text, origin)
    if name or not has_object(text):
        of_tool = known.read(text, origin, name)
        if of_tool is not None:
            return Document(of_tool.objects, origin, of_tool.notes)
    found = documents(text, origin)
    return Document(found.found, origin, found.notes)


def _file(path: Path) -> Path:
    """The file of a record; for a folder written by `--out` the record in it. Raises InputError."""
    if not path.is_dir():
        return path
    if not (path / IN_FOLDER).is_file():
        raise InputError(
            f"{path} is a folder without a {IN_FOLDER}; `simulate --out` and `reproduce --out` write one"
        )
    return path / IN_FOLDER


def of_object(table: Mapping[str, Any], origin: str) -> Record:
    """A record in memory: `Result.to_dict()`, or parsed JSON. Raises InputError."""
    return read(of_parsed(table, origin))


def of_parsed(table: Mapping[str, Any], origin: str) -> Document:
    """The same as a document."""
    # Through JSON, so that a log or a tuple in it has the form that a file would have.
    return Document([json.loads(json.dumps(table, default=list))], origin)


def read(document: Document) -> Record:
    """The record of a document, by its kind. Raises InputError."""
    found = _understood(document.objects, document.origin)
    if not found.points:
        raise InputError(f"{document.origin}: the record has no points: nothing was measured in it")
    return replace(found, notes=[*document.notes, *found.notes])


def _understood(objects: Sequence[Mapping[str, Any]], origin: str) -> Record:
    fio = [one for one in objects if fio_runs.is_fio(one)]
    if fio:
        if len(fio) < len(objects):
            raise InputError(f"{origin}: results of fio and other JSON are in one file; take them apart")
        return fio_runs.of_documents(fio, origin)
    if len(objects) > 1:
        raise InputError(
            f"{origin}: {len(objects)} JSON documents in one file, and they are not fio's; a record is one: "
            "take them apart"
        )
    (one,) = objects
    if stored.is_results(one):
        return stored.of_results(one, origin)
    if one.get("kind") == "emulate":
        return own.of_session(one, origin)
    if "experiment" in one and "cells" in one:
        return published.of_outcome(one, origin)
    if "record_version" in one:
        return own.of_runs(one, origin)
    if one.get("format") == LIBRARY_FORMAT:
        raise InputError(
            f"{origin}: this is an export of a library; `drivelab library import` takes it, and then its records can "
            "be compared"
        )
    if "smartctl" in one:
        raise InputError(
            f"{origin}: this is smartctl's output of a drive, which has no results; `drivelab import smartctl` makes a "
            "drive file of it"
        )
    for key, verb in _OTHERS.items():
        if key in one:
            raise InputError(
                f"{origin}: this is the JSON of `drivelab {verb}`; records that can be compared come from "
                "simulate, emulate, measure, reproduce and fio"
            )
    keys = ", ".join(f"{key:.30}" for key in list(one)[:5]) or "none"
    raise InputError(
        f"{origin}: this is no record: it has neither record_version nor fio's `fio version` (its keys: {keys})"
    )
