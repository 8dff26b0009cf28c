"""JSON as it is printed and written to files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator

from drivelab.report.commands import Commands


def json_text(value: object) -> str:
    """A JSON document as it is printed and written to files. A log of commands in it is a list there."""
    # Of a log each row is text before the next one is made; until then a mark that no text has stands in its place.
    mark, logs = os.urandom(16).hex(), list[Commands]()

    def marked(found: object) -> str:
        if not isinstance(found, Commands):
            raise TypeError(f"{type(found).__name__} is not JSON")
        logs.append(found)
        return mark

    parts = _indented(value, marked).split(f'"{mark}"')
    texts = [parts[0]]
    for log, part in zip(logs, parts[1:], strict=True):
        line = texts[-1].rpartition("\n")[2]
        texts += [*_list_text(log, line[: len(line) - len(line.lstrip())]), part]
    return "".join(texts) + "\n"


def _indented(value: object, default: Callable[[object], object] | None = None) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=default)


def _list_text(log: Commands, margin: str) -> Iterator[str]:
    """The text of a list in a line with this margin, in pieces."""
    before = "["
    for row in log:
        inner = f"\n{margin}  "
        yield before + inner + _indented(row).replace("\n", inner)
        before = ","
    yield f"\n{margin}]" if len(log) else "[]"
