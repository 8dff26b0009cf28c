"""JSON as programs really print it: text before, between and after documents, repeated keys, `nan`.

fio writes warnings to the same place as its JSON, repeats a key for an option that was given twice, and prints one
document for each status report; runs that are appended to one file make several documents too. Repairs are reported.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from drivelab.errors import InputError
from drivelab.report.document.embedded import is_page
from drivelab.report.plural import counted

# A document starts at the beginning of a line.
_BEGIN = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
_NOT_A_NUMBER = re.compile(r'("\s*:\s*)-?(?:nan|inf(?:inity)?)\b', re.IGNORECASE)
# fio's messages during a run, if its messages and its JSON go to the same place.
_SAID_WITHIN = re.compile(r"^(?:fio: |Jobs: |note: |warning: ).*\n", re.MULTILINE | re.IGNORECASE)
_SHOWN = 60
_KEYS_NAMED_MAX = 3


@dataclass
class Documents:
    """The objects of a text, in their order, and the repairs."""

    found: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Pairs:
    """Builds objects, and records the keys that occurred more than once with different values."""

    twice: dict[str, int] = field(default_factory=dict)

    def made(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for key, value in pairs:
            if key in table and table[key] != value:
                self.twice[key] = self.twice.get(key, 0) + 1
                if key == "filename" and isinstance(value, str):
                    # fio opens all of them.
                    value = f"{table[key]}:{value}"  # noqa: PLW2901
                elif isinstance(value, dict) and isinstance(table[key], dict):
                    value = {**table[key], **value}  # noqa: PLW2901
            table[key] = value
        return table


def documents(text: str, origin: str) -> Documents:
    """Every JSON object of a text. Raises InputError if there is none, or one is broken."""
    if is_page(text):
        raise InputError(
            f"{origin}: it is a web page without a record, as charts are; `simulate --report` and other verbs write "
            "pages that have their record in them"
        )
    result, pairs = Documents(), _Pairs()
    decoder = json.JSONDecoder(object_pairs_hook=pairs.made, parse_constant=lambda _: None)
    outside, rest, line = "", text, 1
    while begin := _BEGIN.search(rest):
        outside += rest[: begin.end()]
        line += rest.count("\n", 0, begin.end())
        rest = rest[begin.end() :]
        try:
            value, end = decoder.raw_decode(rest)
        except (json.JSONDecodeError, RecursionError) as error:
            rest, notes = _mended(rest)
            try:
                value, end = decoder.raw_decode(rest)
            except (json.JSONDecodeError, RecursionError):
                raise InputError(f"{origin}: {_broken(error, line)}") from error
            result.notes += [note for note in notes if note not in result.notes]
        result.found.append(value)
        line += rest.count("\n", 0, end)
        rest = rest[end:]
    if not result.found:
        raise InputError(f"{origin}: {_no_document(text)}")
    if lines := [line for line in (outside + rest).splitlines() if line.strip()]:
        result.notes.insert(0, _left_out(lines))
    if pairs.twice:
        result.notes.append(_note_of_twice(pairs.twice))
    return result


def has_object(text: str) -> bool:
    """Whether a line of the text begins like a JSON object."""
    return _BEGIN.search(text) is not None


def _mended(text: str) -> tuple[str, list[str]]:
    """The text without the parts that programs insert into their JSON, and a description of those."""
    notes = []
    for pattern, replacement, note in (
        (_SAID_WITHIN, "", "messages within the JSON are left out"),
        (_NOT_A_NUMBER, r"\1null", "figures that are no numbers (nan, inf) are missing"),
    ):
        text, count = pattern.subn(replacement, text)
        notes += [note] if count else []
    return text, notes


def _no_document(text: str) -> str:
    if not text.strip():
        return "it is empty; a record is JSON, as `drivelab simulate --json` or `fio --output-format=json` print it"
    if text.lstrip().startswith("["):
        return "it holds a list; a record is a JSON object"
    is_of_fio = re.search(r"^fio-\d|: \(g=\d+\): rw=", text, re.M)
    remedy = (
        "; it has no results of fio either: was the run ended before it had printed any?"
        if is_of_fio
        else ", and it is no result of another tool that is read; `drivelab compare --help` names them"
    )
    return f"there is no JSON object in it; it begins with {_short(text.strip().splitlines()[0])}{remedy}"


def _broken(error: json.JSONDecodeError | RecursionError, line: int) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "the JSON is nested too deeply for a record"
    ends = error.pos >= len(error.doc.rstrip())
    place = f"line {line + error.lineno - 1}, column {error.colno}"
    if ends or error.msg.startswith("Unterminated string"):
        return f"{place}: the JSON ends within an object; was the run ended before it had printed all?"
    return f"{place}: this is no JSON: {error.msg.lower()}"


def _left_out(lines: list[str]) -> str:
    more = f" and {counted(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
    return f"text beside the JSON is left out: {_short(lines[0])}{more}"


def _note_of_twice(twice: dict[str, int]) -> str:
    names = [f"`{name}`" for name in list(twice)[:_KEYS_NAMED_MAX]]
    more = f" and {len(twice) - len(names)} more keys are" if len(twice) > len(names) else " is"
    return f"{', '.join(names)}{more} there more than once: the last one counts, of files all of them"


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return f"`{shown[:_SHOWN]}{'..' if len(shown) > _SHOWN else ''}`"
