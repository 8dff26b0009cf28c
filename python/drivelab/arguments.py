"""Errors as the caller of a function reads them.

What is refused in common with the command line names options (`--drive-price`): a caller has arguments (`drive_price`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from drivelab.errors import InputError, ScenarioError

P = ParamSpec("P")
R = TypeVar("R")

_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")


def in_arguments(text: str) -> str:
    """The text with arguments in place of options."""
    return _OPTION.sub(lambda found: found[1].replace("-", "_"), text)


def speaks_of_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Raise what `function` raises, in the words of who calls it from Python."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except ScenarioError as error:
            raise _translated(error) from None
        except InputError as error:
            raise type(error)(in_arguments(str(error))) from error.__cause__

    return called


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
