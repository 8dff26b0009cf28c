"""The text of a description's files, character by character, with line numbers.

Comments extend from `#` to the end of the line. An error is a DisksimError that begins with `file:line:`.
"""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass
from pathlib import Path

from drivelab.errors import InputError

SIGNS = "{}[]=,"
"""Characters that end a word, as a blank does."""

_COMMENT = re.compile(r"#[^\n]*")
_BLANKS = re.compile(r"\s*")
_WORD = re.compile(rf"[^\s{re.escape(SIGNS)}]*")
# A word of a list, with the comma after it; the last one has none.
_ITEM = re.compile(rf"\s*([^\s{re.escape(SIGNS)}]+)\s*(?:,|(?=\]))")


class DisksimError(InputError):
    """A description cannot be read, or says something that a drive file cannot express."""


class NoTopologyError(DisksimError):
    """A file of a description that is not its .parv."""


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    path: Path
    line: int

    def __str__(self) -> str:
        """The form used in messages."""
        return f"{self.path}:{self.line}"

    def error(self, what: str) -> DisksimError:
        """An error at this place."""
        return DisksimError(f"{self}: {what}")


class Text:
    """A file's text and the current position in it."""

    def __init__(self, path: Path, text: str) -> None:
        """Start at the beginning. Comments are blanked, so that line numbers stay the same."""
        self.path = path
        self._text = _COMMENT.sub("", text)
        self._ends = [match.start() for match in re.finditer("\n", self._text)]
        self._at = 0

    def place(self) -> Place:
        """The place of the next word or sign."""
        self._skip_blanks()
        return Place(self.path, bisect(self._ends, self._at) + 1)

    def _skip_blanks(self) -> None:
        if found := _BLANKS.match(self._text, self._at):
            self._at = found.end()

    def at_end(self) -> bool:
        """Whether only blanks are left."""
        self._skip_blanks()
        return self._at == len(self._text)

    def peek(self) -> str:
        """The next sign, empty at the end."""
        self._skip_blanks()
        return self._text[self._at : self._at + 1]

    def take(self, sign: str) -> bool:
        """Read a sign, if it is the next one."""
        if self.peek() != sign:
            return False
        self._at += 1
        return True

    def take_dots(self) -> bool:
        """Read the dots of a range, if they are next."""
        self._skip_blanks()
        if not self._text.startswith("..", self._at):
            return False
        self._at += 2
        return True

    def expect(self, sign: str, where: str) -> None:
        """Read a required sign."""
        place = self.place()
        if not self.take(sign):
            found = repr(self.peek()) if self.peek() else "the end of the file"
            raise place.error(f"{sign!r} is missing {where}; there is {found}")

    def until(self, signs: str) -> str:
        """All text before the first of these signs, or before the end, with runs of blanks replaced by single ones."""
        self._skip_blanks()
        start = self._at
        found = re.compile(f"[^{re.escape(signs)}]*").match(self._text, start)
        self._at = found.end() if found else start
        return " ".join(self._text[start : self._at].split())

    def item(self) -> tuple[Place, str] | None:
        """The next item of a list with its comma, if it is a single word: the fast path for a long list."""
        found = _ITEM.match(self._text, self._at)
        if found is None or found[1] == "source":
            return None
        self._at = found.end()
        return Place(self.path, bisect(self._ends, found.start(1)) + 1), found[1]

    def word(self) -> str:
        """The next word, up to a blank or a sign; empty where a sign is next, or the end."""
        self._skip_blanks()
        start = self._at
        if found := _WORD.match(self._text, start):
            self._at = found.end()
        return self._text[start : self._at]
