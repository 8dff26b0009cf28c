"""Errors as the caller of a function reads them.

What is refused in common with the command line names options (`--drive-price`): a caller has arguments (`drive_price`).
A keyword that is neither an argument nor a key of a scenario is refused here, with those that are near.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

from drivelab.errors import InputError, ScenarioError
from drivelab.scenarios.scenario import WORDS

P = ParamSpec("P")
R = TypeVar("R")

# A scenario's tables, which may be given whole.
_TABLES = {"target", "workload", "run"}
_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")


def in_arguments(text: str) -> str:
    """The text with arguments in place of options."""
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), text)


def speaks_of_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Raise what `function` raises, in the words of who calls it from Python."""

    own = [
        name
        for name, one in inspect.signature(function).parameters.items()
        if one.kind is not inspect.Parameter.VAR_KEYWORD
    ]

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        check_names(kwargs, own)
        try:
            return function(*args, **kwargs)
        except ScenarioError as error:
            raise _translated(error) from None
        except InputError as error:
            raise InputError(in_arguments(str(error))) from error.__cause__

    return called


def with_options(function: Callable[P, R]) -> Callable[P, R]:
    """The function of `speaks_of_arguments` as the command line calls it: its errors name options."""
    unwrapped: Callable[P, R] = inspect.unwrap(function)
    return unwrapped


def check_names(given: Iterable[str], own: Iterable[str]) -> None:
    """Refuse a keyword that is no argument, no word of fio's and no key of a scenario. Raises InputError."""
    known = dict.fromkeys([*own, *WORDS])
    for name in given:
        if name in known or name in _TABLES or "." in name:
            continue
        near = get_close_matches(name, known, n=2)
        remedy = (
            f"did you mean {' or '.join(near)}?"
            if near
            else 'a key of a scenario is given by its path, such as **{"workload.iodepth": 4}'
        )
        raise InputError(f"{name} is no argument: {remedy}")


def _translated(error: ScenarioError) -> ScenarioError:
    found = ScenarioError(in_arguments(str(error)))
    found.problems = [
        {
            **problem,
            "origin": in_arguments(problem["origin"]),
            "message": in_arguments(problem["message"]),
            "remedy": problem["remedy"] and in_arguments(problem["remedy"]),
        }
        for problem in error.problems
    ]
    return found
