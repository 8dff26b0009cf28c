"""Figures of docs/studies/accuracy.md beside the record of their experiment: the page cannot fall behind the model.

Checked are the tables that print a prediction next to its published value ("published, predicted, error",
"published / predicted", or both in columns of their own) and tables of rates by system.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "accuracy.md"
NUMBER = r"\d[\d.]*"
PAIRS = (
    # Commas between: "78.0, 79.2, +2 %".
    re.compile(rf"(?P<published>{NUMBER}), (?P<predicted>{NUMBER}), \**[+-]?{NUMBER} %"),
    # A stroke between: "173.7 / 170.5 (c)".
    re.compile(rf"(?P<published>{NUMBER}) / (?P<predicted>{NUMBER})"),
    # Columns of their own: "78.0 MiB/s", "78.05", "0.0 %".
    re.compile(rf"\| (?P<published>{NUMBER})(?: [\w/]+)? \| (?P<predicted>{NUMBER}) \| [+-]?{NUMBER} % \|"),
)
RATES = re.compile(r"\| (?:outstanding|I/O per second, as published) \|(?: [PSTAC] \|)+ \|")


def section(name: str) -> str:
    """The section of an experiment, without those below it that have other sources."""
    found = re.search(rf"^## {re.escape(name)}: .*?(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert found, f"docs/studies/accuracy.md has no section on {name}"
    return found[0]


def tables(text: str) -> list[list[str]]:
    """Its tables, each a list of rows."""
    return [found[0].splitlines() for found in re.finditer(r"(?:^\|.*\n?)+", text, re.M)]


def rounds_to(value: float, text: str) -> bool:
    """Whether a value is printed as this text."""
    digits = len(text.partition(".")[2])
    return abs(value - float(text)) <= 0.501 * 10**-digits


def stale(record: dict, name: str) -> list[str]:
    """The figures of a section that the record does not have."""
    cells = [(cell["published"], cell["predicted"]) for cell in record["cells"]]
    found, checked = list[str](), 0
    for table in tables(section(name)):
        for row in table:
            for pair in (pair for pattern in PAIRS for pair in pattern.finditer(row)):
                published, predicted = pair["published"], pair["predicted"]
                checked += 1
                if not any(
                    known is not None and known == float(published) and rounds_to(value, predicted)
                    for known, value in cells
                ):
                    found.append(pair[0])
        if RATES.match(table[0]):
            figures = [text for row in table[2:] for text in re.findall(NUMBER, row.split("|", 2)[2])]
            checked += len(figures)
            found += [text for text in figures if not any(rounds_to(value, text) for _, value in cells)]
    assert checked, f"docs/studies/accuracy.md has no table of {name} that could be checked"
    return found
