"""A count with its noun: one drive, two drives."""

from __future__ import annotations


def counted(count: float, noun: str, form: str = ",") -> str:
    """`1 drive`, `1,200 drives`, `2 histories`."""
    return f"{count:{form}} {noun_of(count, noun)}"


def noun_of(count: float, noun: str) -> str:
    """The noun of a count without the count."""
    if count == 1:
        return noun
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "sh", "s", "x")) else f"{noun}s"


def are(count: float) -> str:
    """The verb of a count: `1 is`, `2 are`."""
    return "is" if count == 1 else "are"
