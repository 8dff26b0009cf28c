"""A count with its noun: one drive, two drives."""

from __future__ import annotations


def count_of(count: float, noun: str, nouns: str | None = None, form: str = ",") -> str:
    """`1 drive`, `2 drives`; `nouns` is the plural where it does not end in s alone."""
    return f"{count:{form}} {noun_of(count, noun, nouns)}"


def noun_of(count: float, noun: str, nouns: str | None = None) -> str:
    """The noun of a count without the count."""
    return noun if count == 1 else nouns or f"{noun}s"
