"""`drivelab.answer`: an answer by its name, with its options as keyword arguments."""

from __future__ import annotations

import dataclasses
from difflib import get_close_matches
from typing import Any

from drivelab.answering import registry
from drivelab.answering.lab import Lab
from drivelab.answering.result import Answer
from drivelab.errors import InputError, ref
from drivelab.report.toml_text import value_text
from drivelab.scenarios.scenario import overrides_from


def answer(name: str, *, workers: int | None = None, **options: object) -> Answer:
    """Answer a question by simulation: `answer("concurrency", drive="wd-4tb-7200", level="raid5", members=4)`.

    The options are those of `drivelab answer NAME --help`; other keys of the target are given by their path, such as
    `**{"target.write_cache": False}`. The result has the sentence, `rows` with units in their keys, `assumptions`, the
    `scenario` behind the decisive row, `table()` and `chart()`.

    Raises InputError (no such answer, a wrong option), ScenarioError and RunError.
    """
    ready = registry.found(name)
    own = [one.name for one in dataclasses.fields(ready.options)]
    given: dict[str, Any] = {}
    keys: dict[str, object] = {}
    for key, value in options.items():
        if "." in key:
            keys[key] = value
        elif key in own:
            given[key] = value if isinstance(value, str | bool | None) else value_text(value, key)
        else:
            near = get_close_matches(key, own, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(own)}"
            raise InputError(f"{key} is no option of {ready.name}: {remedy}")
    for one in dataclasses.fields(ready.options):
        if one.default is dataclasses.MISSING and given.get(one.name) is None:
            raise InputError(f"{ref(one.name)} is missing: {ready.name} is asked of one")
    return registry.asked(ready, given, Lab(ready.name, overrides_from(keys), workers))
