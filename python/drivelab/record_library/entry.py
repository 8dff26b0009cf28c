"""A record as the library knows it: the digest of its content, its subject, its tags."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from drivelab.errors import InputError
from drivelab.records import settings
from drivelab.records.model import Record
from drivelab.records.opening import Document, read
from drivelab.report.points_table import axis_text

DIGEST_SHOWN = 10
TAG_CHARACTERS_MAX = 60
# Maximum number of values of an axis that are kept for the search and the list.
_VALUES_MAX = 200


@dataclass(frozen=True)
class Entry:
    """What is known of a record without reading it."""

    digest: str
    """SHA-256 of its content as canonical JSON, 64 hexadecimal digits."""
    kind: str
    name: str
    target: str
    points: int
    program: str
    record_version: int | None
    axes: dict[str, list[str]]
    """Each axis with its values, as texts."""
    settings: dict[str, list[str]]
    """Each key of the scenario with its values, and what the drive has where nobody set it."""
    label: str
    """What was set of the target."""
    source: str
    """The path from which it was added; empty if it is not recorded."""
    added: str
    """When it was first added, UTC."""
    is_anonymous: bool = False
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    number: int | None = None
    """Its number in the library; None outside."""

    def to_dict(self) -> dict[str, Any]:
        """As `library list --json` prints it."""
        return {
            "number": self.number,
            "digest": self.digest,
            "kind": self.kind,
            "name": self.name,
            "target": self.target,
            "points": self.points,
            "program": self.program,
            "record_version": self.record_version,
            "axes": self.axes,
            "settings": self.settings,
            "label": self.label,
            "source": self.source,
            "added": self.added,
            "anonymous": self.is_anonymous,
            "tags": list(self.tags),
            "notes": list(self.notes),
        }


def canonical(objects: Sequence[Mapping[str, Any]]) -> str:
    """The content of a record as JSON that depends only on the content: keys sorted, no blanks."""
    return json.dumps(
        list(objects), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest_of(text: str) -> str:
    """The digest of canonical JSON."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def entry_of(document: Document, *, source: str, is_anonymous: bool, tags: Sequence[str] = ()) -> Entry:
    """The entry of a document. Raises InputError if it is not a record."""
    record = read(document)
    first = document.objects[0]
    version = first.get("record_version")
    return Entry(
        digest=digest_of(canonical(document.objects)),
        kind=record.kind,
        name=record.name,
        target=record.target,
        points=len(record.points),
        program=_program(record),
        record_version=version if isinstance(version, int) else None,
        axes=_axes(record),
        settings=record.settings.all(),
        label=settings.label(settings.of_target(record.settings)),
        source=source,
        added=datetime.now(UTC).isoformat(timespec="seconds"),
        is_anonymous=is_anonymous,
        tags=tuple(dict.fromkeys(map(checked_tag, tags))),
        notes=tuple(document.notes),
    )


def checked_tag(tag: str) -> str:
    """A tag in the stored form. Raises InputError."""
    found = " ".join(tag.split())
    if not found:
        raise InputError("a tag is empty; write a word, such as baseline")
    if len(found) > TAG_CHARACTERS_MAX or not found.isprintable() or "," in found:
        raise InputError(
            f"tag {found[:TAG_CHARACTERS_MAX]!r}: a tag has at most {TAG_CHARACTERS_MAX} characters that can be "
            "printed, and no comma"
        )
    return found


def _program(record: Record) -> str:
    if "fio version" in record.facts:
        return record.facts["fio version"]
    if "program" in record.facts:
        return record.facts["program"]
    version, model = record.facts.get("version"), record.facts.get("model_version")
    parts = (f"drivelab {version}" if version else "", f"model {model}" if model else "")
    return ", ".join(part for part in parts if part)


def _axes(record: Record) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for point in record.points:
        for name, value in point.axes.items():
            found.setdefault(name, {})[axis_text(value)] = None
    # The order of jobs in a record is not part of its content.
    return {name: list(found[name])[:_VALUES_MAX] for name in sorted(found)}
