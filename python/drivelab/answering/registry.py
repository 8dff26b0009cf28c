"""Which answers there are: the modules of `drivelab/answers`, each one file, loaded when it is asked for.

A module has `TITLE` (a line for the list), `QUESTION` (as people ask it), `Options` (a frozen dataclass whose fields
are its options, see `option.py`) and `answer`, a function of these options and a `Lab` that returns an `Answer`.
"""

from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, get_args, get_type_hints

from drivelab import answers
from drivelab.answering.lab import Lab
from drivelab.answering.option import Option
from drivelab.answering.result import Answer
from drivelab.errors import InputError


@dataclass(frozen=True)
class Ready:
    """An answer that can be asked for."""

    name: str
    title: str
    question: str
    options: type[Any]
    ask: Callable[[Any, Lab], Answer]

    def described(self) -> dict[str, tuple[Any, Option]]:
        """The options by their names: the type of each, and what is said of it."""
        hints = get_type_hints(self.options, include_extras=True)
        found = {}
        for one in dataclasses.fields(self.options):
            kind, said = get_args(hints[one.name])
            found[one.name] = (kind, said)
        return found


def names() -> list[str]:
    """The answers, in the order of their names."""
    return sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(answers.__path__))


def found(name: str) -> Ready:
    """The answer of this name. Raises InputError, with the nearest name, where there is none."""
    known = names()
    plain = name.strip().lower().replace("_", "-")
    if plain not in known:
        near = get_close_matches(plain, known, n=1, cutoff=0.5)
        remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
        raise InputError(f"{name}: there is no such answer; {remedy}")
    module = import_module(f"drivelab.answers.{plain.replace('-', '_')}")
    return Ready(plain, module.TITLE, module.QUESTION, module.Options, module.answer)


def asked(ready: Ready, given: Mapping[str, Any], lab: Lab) -> Answer:
    """The answer to these options, all given by their names. Raises InputError, ScenarioError and RunError."""
    answered = ready.ask(ready.options(**given), lab)
    return dataclasses.replace(answered, name=ready.name, provenance=lab.provenance())
