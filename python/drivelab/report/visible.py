"""Text from files, names and records as it is shown to people: what would steer a terminal is written out.

`visible` is applied where text leaves for a terminal (cli/output.py), and to the cells of a table, which have no lines.
"""

from __future__ import annotations

import re

# Control characters of both sets but the end of a line and the tabulator, what ends a line elsewhere, and what turns
# the direction of writing.
_STEERS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
_IN_TEXT = re.compile(f"[{_STEERS}]")
_IN_CELL = re.compile(f"[{_STEERS}\\t\\n]")


def visible(text: str) -> str:
    r"""The text with each control character as `\u001b`, as JSON and TOML write it in their strings."""
    return _IN_TEXT.sub(_written, text)


def visible_cell(text: str) -> str:
    """The same for text that has one line: ends of lines and tabulators are written out too."""
    return _IN_CELL.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    return {"\n": "\\n", "\t": "\\t"}.get(found[0], f"\\u{ord(found[0]):04x}")
