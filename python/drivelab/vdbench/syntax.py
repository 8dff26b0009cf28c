"""The lines of a parameter file of Vdbench: remarks, lines that go on, and definitions with their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

KINDS = ("sd", "wd", "rd")
"""Storage, workload and run definitions."""

_JOINED = re.compile(r"\s*([,=])\s*")
_INNER = re.compile(r"\([^)]*\)")


@dataclass(frozen=True)
class Parameter:
    """A parameter with its values: several where they stand between parentheses."""

    name: str
    values: tuple[str, ...]
    line: int

    @property
    def text(self) -> str:
        """The values as they are written."""
        return self.values[0] if len(self.values) == 1 else f"({','.join(self.values)})"


@dataclass
class Definition:
    """What a line defines: its kind, its name, and its own parameters behind those of the default."""

    kind: str
    name: str
    line: int
    parameters: dict[str, Parameter] = field(default_factory=dict)


def lines_of(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Each logical line, the number of its first, and what is wrong with it: one that ends in a comma goes on."""
    held, first, wrong = "", 0, None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "*#/":
            continue
        line = _INNER.sub(lambda match: "".join(match[0].split()), _JOINED.sub(r"\1", line))
        # Behind a blank that no comma explains is a remark.
        line, _, remark = line.partition(" ")
        if re.match(r"\w+=", remark.strip()):
            wrong = wrong or f"a comma is missing before {remark.strip().split(',')[0]}"
        held, first = held + line, first or number
        if not held.endswith(","):
            yield first, held, wrong or _unbalanced(held)
            held, first, wrong = "", 0, None
    if held:
        yield first, held.rstrip(","), wrong or _unbalanced(held)


def _unbalanced(line: str) -> str | None:
    return None if line.count("(") == line.count(")") else "a parenthesis is open: close it"


def parameters_of(line: str, number: int) -> list[Parameter]:
    """The parameters of a line in their order."""
    found, depth, part = [], 0, ""
    for letter in f"{line},":
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth <= 0:
            if part:
                name, _, value = part.partition("=")
                inner = value[1:-1] if value.startswith("(") and value.endswith(")") else value
                values = tuple(one for one in inner.split(",") if one)
                found.append(Parameter(name.lower(), values or ("",), number))
            part = ""
        else:
            part += letter
    return found


def definitions_of(text: str) -> tuple[list[Definition], list[Parameter], list[tuple[int, str]]]:
    """The definitions, each with the defaults of its kind; the parameters of lines that define nothing; what is wrong
    with a line, and its number.
    """
    found: list[Definition] = []
    general: list[Parameter] = []
    problems: list[tuple[int, str]] = []
    defaults: dict[str, dict[str, Parameter]] = {}
    for number, line, wrong in lines_of(text):
        if wrong is not None:
            problems.append((number, wrong))
            continue
        parameters = parameters_of(line, number)
        first = parameters[0] if parameters else None
        # Where it runs changes nothing of a drive.
        if first is None or first.name == "hd":
            continue
        if first.name not in KINDS:
            general += parameters
            continue
        own = {one.name: one for one in parameters[1:]}
        if first.text == "default":
            defaults[first.name] = own
            continue
        known = {**defaults.get(first.name, {}), **own}
        found.append(Definition(first.name, first.text, number, known))
    return found, general, problems
