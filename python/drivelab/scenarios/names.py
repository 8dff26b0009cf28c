"""Keywords of a function that are neither arguments nor keys of a scenario are refused, with those that are near."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

from drivelab.errors import InputError
from drivelab.errors.keys import WORDS

P = ParamSpec("P")
R = TypeVar("R")

# A scenario's tables, which may be given whole.
_TABLES = {"target", "workload", "run"}


def names_checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose keywords are checked before it is called."""
    own = [
        name
        for name, one in inspect.signature(function).parameters.items()
        if one.kind is not inspect.Parameter.VAR_KEYWORD
    ]

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        check_names(kwargs, own)
        return function(*args, **kwargs)

    return called


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
