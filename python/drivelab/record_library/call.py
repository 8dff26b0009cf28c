"""`drivelab.library`: a library of records as an object, with what the verbs of `drivelab library` do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath, sep
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeAlias, Unpack, runtime_checkable

from drivelab.comparison.beside import Compared, compared
from drivelab.comparison.choice import Choice, Options, chosen
from drivelab.errors import InputError, ref
from drivelab.host.files import write_text
from drivelab.record_library.database import Database
from drivelab.record_library.entry import Entry
from drivelab.record_library.exchange import checked, exported, imported
from drivelab.record_library.shelf import Library, place_of, prepared
from drivelab.records.formats import known
from drivelab.records.opening import STDIN, Document, check_sources, of_parsed, open_document, open_record
from drivelab.report.json_text import json_text

KINDS = ("simulated", "measured", "emulated", "predicted", *known.KINDS)


@runtime_checkable
class Recorded(Protocol):
    """Something that has a record, such as a `Result`."""

    def to_dict(self) -> dict[str, Any]:
        """The record."""


Source: TypeAlias = str | PathLike[str] | Recorded | Mapping[str, Any]
"""A record: the path of a file, a result, or a record as a dictionary."""


class Records:
    """An open library of records; a `with` block closes it.

    A record is named by its number, the begin of its digest, or a tag or name that only it has.
    """

    def __init__(self, place: str | None = None, *, create: bool = False) -> None:
        """Open the library at `place`. Raises InputError, OutputError."""
        self.shelf = Library(Database(place_of(place), create=create))

    @property
    def place(self) -> str:
        """Where it is, without a password."""
        return str(self.shelf.database.shown)

    def __enter__(self) -> Records:
        """Use it in a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the database."""
        self.shelf.database.close()

    def __repr__(self) -> str:
        """A line."""
        return f"<Records at {self.place}: {len(self.shelf.entries())} records>"

    def add(self, record: Source, *, tags: Sequence[str] = (), anonymous: bool = False) -> Entry:
        """Add a record; one that is there already gets the tags as well. `anonymous` leaves out names and addresses.

        Raises InputError where it is no record, OutputError where it cannot be stored.
        """
        (kept,) = self.shelf.put([ready(record, tags=tags, anonymous=anonymous)])
        return kept[0]

    def search(self, *terms: str, kind: str | None = None, tags: Sequence[str] = ()) -> list[Entry]:
        """The entries that fit all terms, in the order in which they were added; all without terms.

        A term is a word anywhere, or NAME=VALUE of a field (kind, target, tag, ..) or an axis (`"bs=4k"`). `kind` is
        simulated, measured, emulated, predicted or fio. Raises InputError.
        """
        if kind is not None and kind not in KINDS:
            raise InputError(f"{ref('kind', kind)}: there is {', '.join(KINDS)}")
        return self.shelf.search(terms, kind=kind, tags=tags)

    def content(self, record: str) -> list[dict[str, Any]]:
        """The JSON of a record: one object, for fio several. Raises InputError."""
        return self.shelf.content(self.shelf.found(record))

    def tag(self, record: str, *tags: str) -> Entry:
        """Put tags on a record. Raises InputError."""
        return self.shelf.tag(self.shelf.found(record), tags)

    def untag(self, record: str, *tags: str) -> Entry:
        """Take tags off a record. Raises InputError where it does not have them."""
        return self.shelf.untag(self.shelf.found(record), tags)

    def remove(self, *records: str) -> list[Entry]:
        """Take records out of the library, all or none of those that are named; their entries. Raises InputError."""
        entries = self._entries(records)
        for entry in entries:
            self.shelf.remove(entry)
        return entries

    def compare(self, *records: str, **options: Unpack[Options]) -> Compared:
        """Compare records with the first of them; options are those of `drivelab.compare`.

        A path or published:NAME may be among them. Raises InputError.
        """
        return self.compared(records, chosen(**options))

    def compared(self, records: Sequence[str], choice: Choice) -> Compared:
        """The same with a choice that is ready. Raises InputError."""
        check_sources(records)
        return compared(
            [
                open_record(record) if _is_outside(record) else self.shelf.record(self.shelf.found(record))
                for record in records
            ],
            choice,
        )

    def exported(self, records: Iterable[str] = (), *, anonymous: bool = False) -> dict[str, Any]:
        """The document of an export, of all records unless some are named. Raises InputError."""
        entries = self._entries(records) or self.shelf.entries()
        return exported(self.shelf, entries, is_anonymous=anonymous)

    def export(self, path: str | PathLike[str], *records: str, anonymous: bool = False) -> int:
        """Write records with their tags and digests into one file; how many. Raises InputError, OutputError."""
        document = self.exported(records, anonymous=anonymous)
        write_text(Path(path), json_text(document))
        return len(document["records"])

    def import_(self, path: str | PathLike[str]) -> tuple[list[Entry], list[Entry]]:
        """Take records from an export; those that are new, and those that were there.

        Raises InputError, OutputError.
        """
        return imported(self.shelf, checked_export(fspath(path)))

    def _entries(self, records: Iterable[str]) -> list[Entry]:
        found = [self.shelf.found(record) for record in records]
        return list({entry.number: entry for entry in found}.values())


def library(place: str | PathLike[str] | None = None, *, create: bool = True) -> Records:
    """Open a library of records: `with drivelab.library("lab.sqlite") as records: records.add(result)`.

    `place` is a file or the URL of a database of PostgreSQL; by default $DRIVELAB_LIBRARY, else one of the user. It is
    made if it is not there, unless `create` is False. Raises InputError, OutputError.
    """
    return Records(None if place is None else fspath(place), create=create)


def ready(record: Source, *, tags: Sequence[str] = (), anonymous: bool = False) -> tuple[Entry, str]:
    """The entry and the content of a record, before anything is opened. Raises InputError."""
    if isinstance(record, Recorded):
        record = record.to_dict()
    if isinstance(record, Mapping):
        return prepared(of_parsed(record, "the record"), tags=tags, is_anonymous=anonymous)
    source = fspath(record)
    return of_file(open_document(source), source, tags=tags, anonymous=anonymous)


def of_file(
    document: Document, source: str, *, tags: Sequence[str] = (), anonymous: bool = False
) -> tuple[Entry, str]:
    """The same of a document that was read from `source`. Raises InputError."""
    place = known.split(source)[1]
    where = "" if place == STDIN else str(Path(place).absolute())
    return prepared(document, source=where, tags=tags, is_anonymous=anonymous)


def checked_export(source: str) -> list[tuple[Entry, str]]:
    """The records of an export, once version, form and digests are checked. Raises InputError."""
    document = open_document(source)
    if len(document.objects) != 1:
        raise InputError(f"{source}: {len(document.objects)} JSON documents in one file; an export is one")
    return checked(document.objects[0], source)


def _is_outside(record: str) -> bool:
    """Whether a record is named that lies outside of the library."""
    has_format = bool(known.split(record)[0])
    return (
        record == STDIN
        or has_format
        or record.startswith("published:")
        or record.endswith(".json")
        or any(mark in record for mark in {"/", sep})
    )
