"""The operations of a library: adding, finding, tagging and removing records."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from drivelab.errors import InputError, ref
from drivelab.record_library.anonymous import anonymous
from drivelab.record_library.database import Database
from drivelab.record_library.entry import DIGEST_SHOWN, Entry, canonical, checked_tag, digest_of, entry_of
from drivelab.records.model import Record
from drivelab.records.opening import Document, read
from drivelab.records.places import axis_name, axis_value
from drivelab.records.settings import is_same

VARIABLE = "DRIVELAB_LIBRARY"
_DIGEST = re.compile(r"[0-9a-f]{4,64}")
# The fields of an entry that a search may use, besides its axes.
_FIELDS = ("kind", "name", "target", "program", "source", "tag", "digest")


def default_place() -> str:
    """The default place of a library."""
    if named := os.environ.get(VARIABLE):
        return named
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return str(Path(base) / "drivelab" / "library.sqlite")


def place_of(where: str | None) -> str:
    """The place of a library that is named, or the default one. Raises InputError."""
    if where is not None and not where.strip():
        raise InputError(f"{ref('place')} is empty: name a file, or a database of PostgreSQL")
    return default_place() if where is None else where


@contextmanager
def opened(where: str | None, *, create: bool = False) -> Iterator[Library]:
    """A library, closed again afterwards. Raises InputError, OutputError."""
    database = Database(place_of(where), create=create)
    try:
        yield Library(database)
    finally:
        database.close()


def prepared(
    document: Document, *, source: str = "", tags: Sequence[str] = (), is_anonymous: bool = False
) -> tuple[Entry, str]:
    """The entry of a document and its content, to be added to a library. Raises InputError if it is not a record."""
    if is_anonymous:
        document = replace(document, objects=anonymous(document.objects), origin="record", notes=[])
        source = ""
    entry = entry_of(document, source=source, is_anonymous=is_anonymous, tags=tags)
    return entry, canonical(document.objects)


class Library:
    """An open library."""

    def __init__(self, database: Database) -> None:
        """Use this database."""
        self.database = database

    def put(self, records: Sequence[tuple[Entry, str]]) -> list[tuple[Entry, bool]]:
        """Add entries with their contents, all or none: each entry, and whether it is new.

        An existing record gets the tags as well. Raises OutputError if they cannot be stored.
        """
        with self.database.change():
            return [self._put(entry, content) for entry, content in records]

    def _put(self, entry: Entry, content: str) -> tuple[Entry, bool]:
        there = self.database.run(
            "SELECT entry, content FROM drivelab_records WHERE digest = ?", entry.digest
        )
        table = {key: value for key, value in entry.to_dict().items() if key not in {"number", "tags"}}
        kept = (json.dumps(table), _storable(content), entry.digest)
        if not there:
            # Another program may have added it since.
            self.database.run(
                "INSERT INTO drivelab_records (entry, content, digest, kind) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (digest) DO NOTHING",
                *kept,
                entry.kind,
            )
        elif there[0][1] != kept[1] or not _is_sound(str(there[0][0])):
            # This repairs damaged content.
            self.database.run("UPDATE drivelab_records SET entry = ?, content = ? WHERE digest = ?", *kept)
        number = int(
            self.database.run("SELECT number FROM drivelab_records WHERE digest = ?", entry.digest)[0][0]
        )
        self._tag_within(number, entry.tags)
        return replace(entry, number=number, tags=self._tags(number)), not there

    def entries(self) -> list[Entry]:
        """All entries in the order in which they were added."""
        tags: dict[int, list[str]] = {}
        for number, tag in self.database.run("SELECT number, tag FROM drivelab_tags ORDER BY tag"):
            tags.setdefault(int(number), []).append(str(tag))
        rows = self.database.run("SELECT number, entry FROM drivelab_records ORDER BY number")
        return [self._entry(int(number), str(text), tags.get(int(number), ())) for number, text in rows]

    def _entry(self, number: int, text: str, tags: Sequence[str]) -> Entry:
        try:
            return entry_from(json.loads(text), tags=tags, number=number)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"library {self.database.shown}: what is known of record {number} is damaged; add it again, or "
                "import it again from an export"
            ) from error

    def found(self, named: str) -> Entry:
        """The entry of a name: its number, the beginning of its digest, or a unique tag or name.

        Raises InputError.
        """
        entries = self.entries()
        by = [entry for entry in entries if named == str(entry.number)]
        by = by or [one for one in entries if _DIGEST.fullmatch(named) and one.digest.startswith(named)]
        by = by or [one for one in entries if named in one.tags]
        by = by or [one for one in entries if named and named in {one.name, one.source}]
        if len(by) == 1:
            return by[0]
        if by:
            numbers = ", ".join(str(entry.number) for entry in by[:10])
            raise InputError(f"{named} is not one record but {len(by)}: name one by its number ({numbers})")
        known = ", ".join(str(entry.number) for entry in entries[:10])
        more = ", .." if len(entries) > 10 else ""
        remedy = f"there is {known}{more}; `drivelab library list` shows them" if entries else "it is empty"
        raise InputError(f"the library has no record {named:.80}: {remedy}")

    def search(
        self, terms: Sequence[str], *, kind: str | None = None, tags: Sequence[str] = ()
    ) -> list[Entry]:
        """Entries that match all terms: a word anywhere, or FIELD=VALUE for a field, an axis or a scenario's key."""
        return [
            entry
            for entry in self.entries()
            if (kind is None or entry.kind == kind)
            and all(tag in entry.tags for tag in tags)
            and all(_fits(entry, term) for term in terms)
        ]

    def content(self, entry: Entry) -> list[dict[str, Any]]:
        """The JSON of a record, checked against its digest. Raises InputError if it is not what was added."""
        rows = self.database.run("SELECT content FROM drivelab_records WHERE digest = ?", entry.digest)
        text = ""
        # Unreadable content does not match its digest either.
        with suppress(ValueError):
            text = str(json.loads(rows[0][0])) if rows else ""
        if digest_of(text) != entry.digest:
            raise InputError(
                f"library {self.database.shown}: record {entry.number} is not what was added: its content does not "
                "fit its digest; add it again, or import it again from an export"
            )
        found: list[dict[str, Any]] = json.loads(text)
        return found

    def record(self, entry: Entry) -> Record:
        """A record for a comparison. Raises InputError."""
        origin = f"library {entry.number}"
        return read(Document(self.content(entry), origin, list(entry.notes)))

    def tag(self, entry: Entry, tags: Sequence[str]) -> Entry:
        """Add tags to a record. Raises InputError."""
        with self.database.change():
            self._tag_within(entry.number or 0, [checked_tag(tag) for tag in tags])
        return replace(entry, tags=self._tags(entry.number or 0))

    def untag(self, entry: Entry, tags: Sequence[str]) -> Entry:
        """Remove tags from a record. Raises InputError if it does not have all of them."""
        missing = [tag for tag in tags if tag not in entry.tags]
        if missing:
            there = ", ".join(entry.tags) or "none"
            raise InputError(f"record {entry.number} has no tag {', '.join(missing)}; it has {there}")
        with self.database.change():
            for tag in tags:
                self.database.run("DELETE FROM drivelab_tags WHERE number = ? AND tag = ?", entry.number, tag)
        return replace(entry, tags=self._tags(entry.number or 0))

    def remove(self, entry: Entry) -> None:
        """Remove a record."""
        with self.database.change():
            self.database.run("DELETE FROM drivelab_tags WHERE number = ?", entry.number)
            self.database.run("DELETE FROM drivelab_records WHERE number = ?", entry.number)

    def _tag_within(self, number: int, tags: Sequence[str]) -> None:
        for tag in tags:
            self.database.run(
                "INSERT INTO drivelab_tags (number, tag) VALUES (?, ?) ON CONFLICT (number, tag) DO NOTHING",
                number,
                tag,
            )

    def _tags(self, number: int) -> tuple[str, ...]:
        rows = self.database.run("SELECT tag FROM drivelab_tags WHERE number = ? ORDER BY tag", number)
        return tuple(str(tag) for (tag,) in rows)


def shown(entry: Entry) -> str:
    """An entry in one line."""
    about = ", ".join(part for part in (entry.kind, entry.target or entry.name, entry.label) if part)
    points = f"{entry.points} {'point' if entry.points == 1 else 'points'}"
    return f"{entry.number}: {about}, {points}, digest {entry.digest[:DIGEST_SHOWN]}"


def _storable(text: str) -> str:
    """PostgreSQL has no NUL in a text, and neither database lone surrogates: as JSON escapes both can store them."""
    return json.dumps(text)


def _is_sound(text: str) -> bool:
    try:
        entry_from(json.loads(text), tags=())
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def entry_from(table: dict[str, Any], *, tags: Sequence[str], number: int | None = None) -> Entry:
    """An entry from its stored form. Raises KeyError, TypeError if something is missing."""
    return Entry(
        digest=str(table["digest"]),
        kind=str(table["kind"]),
        name=str(table["name"]),
        target=str(table["target"]),
        points=int(table["points"]),
        program=str(table["program"]),
        record_version=table["record_version"],
        axes={str(name): [str(value) for value in values] for name, values in table["axes"].items()},
        # An entry of an earlier version has neither.
        settings={
            str(name): [str(value) for value in values] for name, values in table.get("settings", {}).items()
        },
        label=str(table.get("label", "")),
        source=str(table["source"]),
        added=str(table["added"]),
        is_anonymous=bool(table["anonymous"]),
        tags=tuple(tags),
        notes=tuple(str(note) for note in table["notes"]),
        number=number,
    )


def _fits(entry: Entry, term: str) -> bool:
    name, equals, value = term.partition("=")
    if equals and value:
        if name in _FIELDS:
            found = entry.tags if name == "tag" else (str(entry.to_dict()[name]),)
            return any(value.lower() in text.lower() for text in found)
        if any(is_same(value, text) for text in entry.settings.get(name, ())):
            return True
        axis = axis_name(name)
        wanted = str(axis_value(axis, value)).lower()
        return any(str(axis_value(axis, text)).lower() == wanted for text in entry.axes.get(axis, ()))
    words = (entry.kind, entry.name, entry.target, entry.label, entry.program, entry.source, *entry.tags)
    axes = [text for values in entry.axes.values() for text in values]
    return any(term.lower() in text.lower() for text in (*words, *axes))
