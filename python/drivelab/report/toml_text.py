"""TOML text: read by the standard library, and written for a scenario that was given as a dictionary."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_TOO_DEEP = "arrays or tables lie too deep in each other"
# Maximum number of dots in a line: far more than any key or text has.
_DOTS_MAX = 5_000
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def loads(text: str) -> dict[str, Any]:
    """The document of a text. Raises tomllib.TOMLDecodeError, for nesting that no file of people has too."""
    # The parser's time grows with the square of the parts of a dotted key.
    if any(line.count(".") > _DOTS_MAX for line in text.splitlines()):
        raise tomllib.TOMLDecodeError(_TOO_DEEP)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise tomllib.TOMLDecodeError(_TOO_DEEP) from error


def dumps(document: Mapping[str, object]) -> str:
    """The document as text. Raises TypeError for what TOML cannot say, naming its key."""
    return "\n".join(_table(document, ())) + "\n"


def value_text(value: object, key: str = "value") -> str:
    """One value as TOML writes it: a string in quotes, a list in brackets, a dictionary inline."""
    # A number or an array of numpy's, as a number or a list of Python's.
    if callable(plain := getattr(value, "tolist", None)):
        value = plain()
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value).lower()
        case str():
            return _quoted(value)
        case Mapping():
            inside = ", ".join(f"{_key(name)} = {value_text(item, name)}" for name, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case Sequence():
            return "[" + ", ".join(value_text(item, key) for item in value) + "]"
    raise TypeError(f"{key}: a {type(value).__name__} has no place in a scenario")


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """A table's own values first, then the tables in it: TOML gives what follows a header to that header."""
    below = {key: value for key, value in table.items() if isinstance(value, Mapping) or _is_tables(value)}
    for key, value in table.items():
        if key not in below:
            yield f"{_key(key)} = {value_text(value, '.'.join((*path, key)))}"
    for key, value in below.items():
        header = ".".join(_key(name) for name in (*path, key))
        if isinstance(value, Mapping):
            yield f"[{header}]"
            yield from _table(value, (*path, key))
        else:
            for item in value:
                yield f"[[{header}]]"
                yield from _table(item, (*path, key))


def _is_tables(value: Any) -> bool:  # noqa: ANN401 - whatever a scenario may hold
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return is_list and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    """JSON's escapes are TOML's, but for the one control character that JSON lets through."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
