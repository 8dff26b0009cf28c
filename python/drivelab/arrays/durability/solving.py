"""From options to losses: everything that is wrong with them is found before any level is solved."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from drivelab import _core, executors
from drivelab.arrays.durability import simulated, unreadable
from drivelab.arrays.durability.file import File
from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.question import Options, asked, errors_in
from drivelab.errors import InputError
from drivelab.errors.several import Problems
from drivelab.report.chances import in_percent
from drivelab.runs.simulation import default_workers


def solve(options: Options, file: File | None = None, typed: Mapping[str, object] | None = None) -> Losses:
    """Compute the losses of every requested level, with the options of a file and options that override them.

    Raises InputError with all errors, and ScenarioError, which shows the error in the lines of the file.
    """
    given = frozenset(key for key, value in options.items() if value is not None)
    try:
        with_default, assumed = unreadable.with_default(options)
        levels = asked(with_default)["levels"]
        return replace(_solved(with_default, levels), given=given, assumed=assumed)
    except InputError as error:
        if file is None:
            raise
        file.tell(error, typed or {})
        raise


def _solved(options: Options, levels: Sequence[str]) -> Losses:
    """The losses of these levels; after an interrupt, of those that were finished, if any were."""
    problems = Problems()
    found = Losses([], [], [])
    try:
        for place in range(len(levels)):
            problems.read(None, _of_level, options, levels, place, found)
    except KeyboardInterrupt:
        if not found.outcomes:
            raise
        found.interrupted = True
    problems.check()
    return found


def _of_level(options: Options, levels: Sequence[str], place: int, losses: Losses) -> None:
    """Add the question of a level, the result of its simulated rebuild, and its outcome. Raises InputError where that
    is known only now, such as of a chain that is too large.
    """
    given, rebuilt = simulated.with_rebuild(options, levels[place])
    found = asked(given)
    one = found["questions"][place]
    elsewhere = executors.current()
    histories = None if elsewhere is None else elsewhere.histories(default_workers())
    answer = _core.durability(json.dumps(one), histories)
    problems = Problems(errors_in(answer))
    problems.check()
    over = _over_failures(one, answer["outcome"], found["ends"], histories)
    losses.questions.append(one)
    losses.rebuilds.append(rebuilt)
    losses.outcomes.append(in_percent({**answer["outcome"], **over}))


def _over_failures(
    one: dict[str, Any],
    found: dict[str, Any],
    ends: Sequence[dict[str, Any]],
    histories: Callable[[str, int, int], list[list[int]]] | None,
) -> dict[str, Any]:
    """The probability within a year over the interval of the drives' failure rate, if it has one."""
    years = [found["loss_in_a_year"]]
    for drive in ends:
        question = {**one, "array": {**one["array"], "drive": drive}}
        years.append(_core.durability(json.dumps(question), histories)["outcome"]["loss_in_a_year"])
    lows, highs = ([year[end] for year in years] for end in ("low", "high"))
    over = {"low": min(lows), "high": max(highs)} if ends else None
    return {"loss_in_a_year_over_failures": over}


def loss(
    level: str | Iterable[str] | None = None, *, file: str | Path | None = None, **options: object
) -> Losses:
    """How likely an array loses data: `loss("raid6", members=8, capacity="16TB", afr="1.5%", rebuild="20h")`.

    The options are those of the verb, and of a TOML file: `file` names one, and options change it. Raises InputError,
    ScenarioError for what is wrong with a file, and KeyboardInterrupt.
    """
    source = None if file is None else File.read(Path(file))
    found = {} if source is None else source.options()
    given = {key: value for key, value in options.items() if value is not None}
    if level is not None:
        given["level"] = level if isinstance(level, str) or not isinstance(level, Iterable) else list(level)
    losses = solve({**found, **given}, source, given)
    if losses.interrupted:
        raise KeyboardInterrupt
    return losses
