"""The part of YAML in which the files for CI are written: tables, lists, plain and quoted texts, `|` and `>-`.

Whatever is outside of it is an error, so that nothing is read as something else. Every value is a text, except tables,
lists and the empty value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Value = dict[str, "Value"] | list["Value"] | str | None
_KEY = re.compile(r"([\w./-]+):(?: +(.*))?$")


@dataclass
class _Lines:
    """The lines that are left, as (indent, text)."""

    lines: list[tuple[int, str]]
    at: int = 0

    def next(self) -> tuple[int, str] | None:
        """The next line that is neither empty nor a comment, which stays."""
        while self.at < len(self.lines) and (
            not self.lines[self.at][1] or self.lines[self.at][1].startswith("#")
        ):
            self.at += 1
        return self.lines[self.at] if self.at < len(self.lines) else None


def load(text: str) -> Value:
    """The value of a document. Raises ValueError for what is not in this part of YAML."""
    if "\t" in text:
        raise ValueError("a tab")
    lines = _Lines([(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines()])
    found = _block(lines, 0)
    if (left := lines.next()) is not None:
        raise ValueError(f"not read: {left[1]}")
    return found


def _block(lines: _Lines, indent: int) -> Value:
    first = lines.next()
    if first is None or first[0] < indent:
        return None
    return _list(lines, first[0]) if first[1].startswith("- ") else _table(lines, first[0])


def _table(lines: _Lines, indent: int) -> dict[str, Value]:
    found: dict[str, Value] = {}
    while (line := lines.next()) is not None and line[0] == indent:
        match = _KEY.match(line[1])
        if match is None or match[1] in found:
            raise ValueError(f"no key, or one that is there already: {line[1]}")
        lines.at += 1
        found[match[1]] = _value(lines, match[2] or "", indent)
    return found


def _list(lines: _Lines, indent: int) -> list[Value]:
    found: list[Value] = []
    while (line := lines.next()) is not None and line[0] == indent and line[1].startswith("- "):
        rest = line[1][2:].lstrip()
        if _KEY.match(rest):
            # A table whose first key is beside the dash.
            inner = indent + len(line[1]) - len(rest)
            lines.lines[lines.at] = (inner, rest)
            found.append(_table(lines, inner))
        else:
            lines.at += 1
            found.append(_value(lines, rest, indent))
    return found


def _value(lines: _Lines, text: str, indent: int) -> Value:
    if text == "":
        following = lines.next()
        # A list may stand as far left as its key.
        inner = indent if following is not None and following[1].startswith("- ") else indent + 1
        return _block(lines, inner)
    if text in {"|", ">-"}:
        return _long(lines, text, indent)
    if text.startswith("["):
        if not text.endswith("]"):
            raise ValueError(f"a list over several lines: {text}")
        return [_text(one.strip()) for one in text[1:-1].split(",") if one.strip()]
    return _text(text)


def _long(lines: _Lines, kind: str, indent: int) -> str:
    begin = lines.at
    while lines.at < len(lines.lines) and (lines.lines[lines.at][0] > indent or not lines.lines[lines.at][1]):
        lines.at += 1
    held = lines.lines[begin : lines.at]
    left = min(depth for depth, text in held if text)
    texts = [" " * (depth - left) + text if text else "" for depth, text in held]
    if kind == "|":
        return "\n".join(texts).rstrip("\n") + "\n"
    if any(text.startswith(" ") or not text for text in texts):
        raise ValueError("a folded text with an empty or an indented line")
    return " ".join(texts)


def _text(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1] and "\\" not in text:
        return text[1:-1]
    if text[0] in "\"'{}[]&*!|>%@`?-" or ": " in text or " #" in text or text.endswith(":"):
        raise ValueError(f"not a plain text: {text}")
    return text
