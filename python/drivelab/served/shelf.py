"""The library of records as the page has it: what `drivelab library` lists, shows, tags and compares.

A record is named by its number: the page opens no paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.comparison.choice import chosen
from drivelab.record_library.call import Records
from drivelab.report.json_text import json_text


@dataclass(frozen=True)
class Shelf:
    """A library at a place; it is opened for each question, so that other programs may use it meanwhile.

    All methods raise InputError and OutputError.
    """

    place: str | None = None
    """As `--library` names it; None is the one of the user."""

    def listed(
        self, terms: Sequence[str] = (), kind: str | None = None, tags: Sequence[str] = ()
    ) -> dict[str, Any]:
        """What `library list --json`, or `search --json`, prints."""
        with Records(self.place) as found:
            entries = found.search(*terms, kind=kind, tags=tags)
            return {"library": found.place, "records": [entry.to_dict() for entry in entries]}

    def content(self, number: int) -> str:
        """What `library show` prints."""
        with Records(self.place) as found:
            objects = found.content(str(number))
        return "\n".join(json_text(one).rstrip("\n") for one in objects) + "\n"

    def tagged(self, number: int, tags: Sequence[str], *, remove: bool) -> dict[str, Any]:
        """The entry of a record, with these tags put on it or taken off."""
        with Records(self.place) as found:
            change = found.untag if remove else found.tag
            return change(str(number), *tags).to_dict()

    def compared(self, numbers: Sequence[int], threshold_percent: float | None) -> dict[str, Any]:
        """What `library compare --json` prints."""
        with Records(self.place) as found:
            return found.compared(
                [str(one) for one in numbers], chosen(threshold_percent=threshold_percent)
            ).to_dict()
