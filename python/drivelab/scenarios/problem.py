"""What is wrong with a scenario, as programs read it."""

from __future__ import annotations

from typing import TypedDict


class Problem(TypedDict):
    """One thing that is wrong with a scenario, and what to do about it."""

    origin: str
    """The file, or the option, that the text came from."""
    line: int
    column: int
    """Both from 1; the column counts characters."""
    text: str
    """What is wrong, as it was written; its begin, where it is long."""
    line_text: str
    """The line that it stands in; the part around it, where that is long."""
    message: str
    remedy: str | None
    """What to write instead, where that is known."""
