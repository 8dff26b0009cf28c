"""Messages about a recorded trace, with the options of `simulate` rewritten as the keys that the caller has.

`compare-levels --trace` and `plan --load` take the other keys of `workload.trace` with `--set`; the workload of a file
has them in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from drivelab.errors import OptionError, ScenarioError
from drivelab.scenarios.scenario import Override

if TYPE_CHECKING:
    from collections.abc import Iterator

    from drivelab.arrays.levels.loads import Loads

PREFIX = "workload.trace."
KEYS = ("format", "device", "lenient", "sort", "remap", "of")
"""Of `workload.trace`, what may be set beside the file."""
_FLAGS = {"true": True, "false": False}

_WITH_NAME = re.compile(r"--trace-format (?!if\b)([A-Za-z0-9_-]+)")
_BESIDE = re.compile(r" \(--(?:trace-device|lenient)\)")
_OPTIONS = {
    "--trace-format": ("format", "NAME"),
    "--trace-device": ("device", "NAME"),
    "--lenient": ("lenient", "true"),
    "--sort": ("sort", "true"),
}


def split(overrides: Iterable[Override], trace: str | None) -> tuple[list[Override], dict[str, Any]]:
    """What is laid over the target, and the keys of a trace among it. Raises InputError."""
    others, keys = list[Override](), dict[str, Any]()
    for one in overrides:
        key = one.key.removeprefix(PREFIX)
        if not one.key.startswith(PREFIX) or key not in KEYS:
            others.append(one)
            continue
        if trace is None:
            what = f"{one.key} changes nothing without a recorded trace; leave it out"
            raise OptionError(one.origin, None, what)
        keys[key] = _FLAGS.get(one.value, one.value)
    return others, keys


def translated(text: str, loads: Loads) -> str:
    """A message with what its caller can give."""
    if "--" not in text or not loads.is_recorded:
        return text
    if loads.table is not None:
        text = _WITH_NAME.sub(r'format = "\1"', _BESIDE.sub("", text))
        forms = {option: f"{key} = {value}" for option, (key, value) in _OPTIONS.items()}
    else:
        text = _WITH_NAME.sub(rf"--set {PREFIX}format=\1", text)
        forms = {option: f"--set {PREFIX}{key}={value}" for option, (key, value) in _OPTIONS.items()}
        if loads.trace_option != "--trace":
            forms["--remap;"] = f"--set {PREFIX}remap=wrap;"
    for option, form in forms.items():
        text = re.sub(rf"(?<![\w-]){re.escape(option)}(?![\w-])", form, text)
    return text


@contextmanager
def in_words_of(loads: Loads) -> Iterator[None]:
    """Raise a ScenarioError with its messages translated."""
    try:
        yield
    except ScenarioError as error:
        text = translated(str(error), loads)
        if text == str(error):
            raise
        found = ScenarioError(text)
        found.problems = [
            {
                **problem,
                "message": translated(problem["message"], loads),
                "remedy": problem["remedy"] and translated(problem["remedy"], loads),
            }
            for problem in error.problems
        ]
        raise found from None
