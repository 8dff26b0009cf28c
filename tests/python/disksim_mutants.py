"""Broken descriptions for DiskSim: one small change of one file, drawn by Hypothesis."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st

# What a slip of the pen, a broken tool or an attacker puts in the place of a number or a word.
_TEXTS = (
    *(
        "0",
        "1",
        "-1",
        "2",
        "0.5",
        "1e3",
        "1e999999999",
        "-1e999999999",
        "1e-999999999",
        "0e999999999",
        "1e15",
    ),
    *(
        "99999999999999999999",
        "4194304",
        "65536",
        "9" * 5_000,
        "1e99999999999999999999999999",
        "NaN",
        "Infinity",
    ),
    *("x", "x" * 100_000, "", "[", "]", "{", "}", ",", "=", "#", "source", "source a.parv", "[ 1, 2, 3 ]"),
    *("\x00", "\x7f", "\u0085", "ß", '"', "'", "\\", "\r"),
)
_TOKEN = re.compile(r"[^\s{}\[\]=,]+|[{}\[\]=,]")


@dataclass(frozen=True)
class Mutant:
    """A file of a description, and its new text."""

    file: str
    text: str
    how: str
    """For people."""


@st.composite
def mutants(draw: st.DrawFn, files: dict[str, str]) -> Mutant:
    """One of the files with one change."""
    file = draw(st.sampled_from(sorted(files)))
    text = files[file]
    tokens = list(_TOKEN.finditer(text))
    token = draw(st.sampled_from(tokens))
    kind = draw(st.sampled_from(["put", "number", "drop", "twice", "swap", "cut", "line twice", "line away"]))
    start, end = token.span()
    match kind:
        case "put":
            new = draw(st.sampled_from(_TEXTS))
            return Mutant(file, text[:start] + new + text[end:], f"{token[0]} becomes {new[:40]!r}")
        case "number":
            numbers = [found for found in tokens if re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", found[0])]
            if numbers:
                start, end = draw(st.sampled_from(numbers)).span()
            new = draw(
                st.sampled_from(_TEXTS) | st.integers(-(10**20), 10**20).map(str) | st.floats().map(str)
            )
            return Mutant(file, text[:start] + new + text[end:], f"{text[start:end]} becomes {new[:40]!r}")
        case "drop":
            return Mutant(file, text[:start] + text[end:], f"without {token[0]} at {start}")
        case "twice":
            return Mutant(file, text[:end] + " " + token[0] + text[end:], f"{token[0]} twice at {start}")
        case "swap":
            other = draw(st.sampled_from(tokens))
            return Mutant(file, text[:start] + other[0] + text[end:], f"{other[0]} for {token[0]} at {start}")
        case "cut":
            return Mutant(file, text[:end], f"cut off at {end}")
    lines = text.splitlines(keepends=True)
    number = draw(st.integers(0, len(lines) - 1))
    copies = 2 if kind == "line twice" else 0
    return Mutant(
        file, "".join(lines[:number] + lines[number : number + 1] * copies + lines[number + 1 :]), kind
    )
