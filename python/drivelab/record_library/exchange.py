"""The file that libraries exchange: JSON with each record, its entry, and the digest of its content.

A file is imported completely or not at all: before anything is stored, its version, its form, and the digest of every
record are checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from drivelab import _core
from drivelab.errors import InputError
from drivelab.record_library.anonymous import anonymous
from drivelab.record_library.entry import DIGEST_SHOWN, Entry, canonical, checked_tag, digest_of, entry_of
from drivelab.record_library.shelf import Library, entry_from
from drivelab.records.opening import LIBRARY_FORMAT as FORMAT
from drivelab.records.opening import Document

FORMAT_VERSION = 1
"""Version of the file; raised when a key changes its meaning or is removed."""


def exported(library: Library, entries: Sequence[Entry], *, is_anonymous: bool = False) -> dict[str, Any]:
    """The entries with their records, as a document. Raises InputError if one is damaged."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "version": _core.VERSION,
        "records": [_exported(library, entry, is_anonymous=is_anonymous) for entry in entries],
    }


def _exported(library: Library, entry: Entry, *, is_anonymous: bool) -> dict[str, Any]:
    objects = library.content(entry)
    if is_anonymous and not entry.is_anonymous:
        objects = anonymous(objects)
        cleaned = entry_of(Document(objects, "record"), source="", is_anonymous=True, tags=entry.tags)
        entry = replace(cleaned, added=entry.added)
    if is_anonymous:
        # The day, in the form that an import reads.
        entry = replace(entry, added=f"{entry.added[:10]}T00:00:00+00:00")
    table = {key: value for key, value in entry.to_dict().items() if key != "number"}
    return {**table, "content": objects}


def checked(document: Mapping[str, Any], origin: str) -> list[tuple[Entry, str]]:
    """The entries of an export with their contents, after all checks. Raises InputError."""
    return [
        _checked(table, f"{origin}: records[{at}]") for at, table in enumerate(_records(document, origin))
    ]


def imported(library: Library, records: Sequence[tuple[Entry, str]]) -> tuple[list[Entry], list[Entry]]:
    """Add checked records; returns those that are new, and those that existed. Raises OutputError."""
    kept = library.put(records)
    return [entry for entry, is_new in kept if is_new], [entry for entry, is_new in kept if not is_new]


def _records(document: Mapping[str, Any], origin: str) -> Sequence[Any]:
    if document.get("format") != FORMAT:
        remedy = "`drivelab library add` takes records" if "points" in document or "jobs" in document else ""
        raise InputError(
            f"{origin}: this is no export of a library{f'; {remedy}' if remedy else ''}: its format is "
            f"{document.get('format')!r:.40}, not {FORMAT!r}"
        )
    version = document.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(f"{origin}: format_version is {version!r:.40}; it is a whole number from 1 on")
    if version > FORMAT_VERSION:
        raise InputError(
            f"{origin}: format_version is {version}, and this drivelab knows {FORMAT_VERSION}: take a newer drivelab"
        )
    records = document.get("records")
    if not isinstance(records, list):
        raise InputError(f"{origin}: records is missing: an export has a list of them")
    return records


def _checked(table: object, place: str) -> tuple[Entry, str]:
    """A record of a file with its canonical content, after all checks."""
    if not isinstance(table, Mapping):
        raise InputError(f"{place} is no object")
    content = table.get("content")
    if not isinstance(content, list) or not content or not all(isinstance(one, Mapping) for one in content):
        raise InputError(f"{place}.content is no list of objects")
    try:
        text = canonical(content)
    except ValueError as error:
        raise InputError(f"{place}.content has a number that is too large, or none: {error}") from error
    if digest_of(text) != table.get("digest"):
        digest = str(table.get("digest"))[:DIGEST_SHOWN]
        raise InputError(
            f"{place}: its content does not fit its digest {digest}: the file was changed or damaged; export it again"
        )
    # The entry is derived from the record itself; only what the record does not contain is taken from the
    # file.
    known = entry_of(Document(json.loads(text), f"{place}.content"), source="", is_anonymous=False)
    tags = table.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InputError(f"{place}.tags is no list of texts")
    try:
        given = entry_from(dict(table), tags=[checked_tag(tag) for tag in tags])
    except OverflowError as error:
        raise InputError(f"{place}: points is no number") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{place}: {error} is missing or not what it should be") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise InputError(f"{place}: {error}") from error
        raise InputError(f"{place}: points is no number") from error
    return (
        replace(
            known,
            source=given.source,
            added=given.added,
            is_anonymous=given.is_anonymous,
            tags=given.tags,
            notes=given.notes,
        ),
        text,
    )
