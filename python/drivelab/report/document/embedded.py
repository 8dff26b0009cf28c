"""The record inside a report: written into it as a block of data, and taken out of it by whatever reads records."""

from __future__ import annotations

import json
import re

from drivelab.errors import InputError
from drivelab.report.json_text import json_text

SUFFIXES = (".html", ".htm")
"""The names of reports end in one of these."""
_OPENING = '<script type="application/json" id="drivelab-record">'
_CLOSING = "</script>"
_IS_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)


def block(record: object) -> str:
    """The element that holds a record. NaN and infinity are not JSON, and raise ValueError."""
    # A log becomes a list in `json_text`; the text is compact, because nobody reads it there.
    parsed = json.loads(json_text(record))
    text = json.dumps(parsed, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # `<` occurs in strings only. Without it the text cannot end its element.
    return f"{_OPENING}{text.replace('<', chr(92) + 'u003c')}{_CLOSING}"


def unwrapped(text: str, origin: str) -> str:
    """The text of the record in a report; any other text as it is. Raises InputError for a damaged report."""
    if not _IS_PAGE.match(text):
        return text
    begin = text.find(_OPENING)
    if begin < 0:
        return text
    begin += len(_OPENING)
    end = text.find(_CLOSING, begin)
    if end < 0:
        raise InputError(f"{origin}: the report ends within its record; was it copied whole?")
    return text[begin:end]


def is_page(text: str) -> bool:
    """Whether a text is a page of HTML."""
    return _IS_PAGE.match(text) is not None
