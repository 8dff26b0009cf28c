"""Which drives of the catalogue are meant: by what they store their data on, and by year."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from drivelab.errors import InputError, ref


class Medium(StrEnum):
    """What a drive stores its data on."""

    CMR = "cmr"
    SMR = "smr"
    HOST_MANAGED = "hm-smr"
    FLASH = "flash"


def medium(entry: Mapping[str, Any]) -> Medium:
    """What the drive of this entry of the catalogue stores its data on."""
    sections = {fact["key"].partition(".")[0] for fact in entry["facts"]}
    if "flash" in sections:
        return Medium.FLASH
    if "host_managed" in sections:
        return Medium.HOST_MANAGED
    return Medium.SMR if "smr" in sections else Medium.CMR


def years(text: str) -> tuple[int, int]:
    """The first and the last year of a text such as 2014, 2014..2020, 2014.. or ..2020.

    :raises InputError: if the text is none of these.
    """
    match = re.fullmatch(r"\s*(\d{4})?\s*(\.\.)?\s*(\d{4})?\s*", text)
    first, dots, last = match.groups(default="") if match else ("", "", "")
    if not (first or last) or (first and last and not dots) or (last and not first and not dots):
        raise InputError(
            f"{ref('year', text)} is no range of years: write 2014, 2014..2020, 2014.. or ..2020"
        )
    low, high = int(first or 0), int(last or (9999 if dots else first))
    if low > high:
        raise InputError(f"{ref('year', text)}: the range ends before it begins; exchange the two")
    return low, high


def chosen(
    entries: Sequence[dict[str, Any]], kind: Medium | None = None, year: str | None = None
) -> list[dict[str, Any]]:
    """The entries of this kind and of these years. A drive whose year is not known is of no year."""
    first, last = years(year) if year is not None else (0, 9999)
    found: list[dict[str, Any]] = []
    for entry in entries:
        facts = {fact["key"]: fact["value"] for fact in entry["facts"]}
        of = facts.get("identity.year", "")
        if year is not None and not (str(of).isdigit() and first <= int(str(of)) <= last):
            continue
        if kind is None or medium(entry) == kind:
            found.append(entry)
    return found
