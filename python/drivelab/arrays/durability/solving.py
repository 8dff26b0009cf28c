"""From options to losses: everything that is wrong with them is found before any level is solved."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from drivelab import _core, executors
from drivelab.arrays.durability import checks, simulated, unreadable
from drivelab.arrays.durability import question as asked
from drivelab.arrays.durability.file import File
from drivelab.arrays.durability.losses import Losses
from drivelab.errors import InputError, OptionError
from drivelab.errors.several import Problems
from drivelab.report.chances import in_percent
from drivelab.runs.simulation import default_workers


def solve(
    options: checks.Options, file: File | None = None, typed: Mapping[str, object] | None = None
) -> Losses:
    """Compute the losses of every requested level, with the options of a file and options that override them.

    Raises InputError with all errors, and ScenarioError, which shows the error in the lines of the file.
    """
    given = frozenset(key for key, value in options.items() if value is not None)
    try:
        with_default, assumed = unreadable.with_default(options)
        names = _checked(with_default)
        return replace(_solved(with_default, names), given=given, assumed=assumed)
    except InputError as error:
        if file is None:
            raise
        file.tell(error, typed or {})
        raise


def _checked(options: checks.Options) -> list[str]:
    """The levels, after all options were checked; nothing runs. Raises InputError."""
    problems = Problems()
    problems.read(None, checks.check_keys, options)
    problems.read(None, checks.check_values, options)
    before, wrong = problems.found, {one.name for one in problems.found}
    others = Problems()
    names = _checked_together(checks.with_stand_ins(options, wrong), others, wrong)
    problems.found = before + [one for one in others.found if one.name not in wrong]
    problems.check()
    return names


def _checked_together(options: checks.Options, problems: Problems, wrong: Set[str]) -> list[str]:
    """The levels; what is wrong with the values, and with options beside others, goes to `problems`."""
    names = problems.read([], asked.levels, options)
    if names:
        problems.read(None, checks.check_used, options, names)
    else:
        # The level is invalid; the other options can still be checked.
        asked.question(options, "raid6", problems)
    refused: list[OptionError] = []
    for level in names:
        if "rebuild" not in wrong:
            problems.read(None, simulated.check, options, level)
        question = asked.question(options, level, problems)
        if question["array"]["members"] or options.get("members") in {0, "0"}:
            refused += _option_errors(_core.durability_problems(json.dumps(question)), options)
    # Options that could not be parsed were replaced by defaults, so errors about them are dropped.
    unread = {one.name for one in problems.found}
    problems.found += [one for one in refused if one.name not in unread]
    return names


def _option_errors(found: Iterable[Mapping[str, str]], options: checks.Options) -> list[OptionError]:
    """The errors of a description, with its options."""
    return [
        OptionError(
            asked.drive_option(options) if one["place"] == "drive" else one["place"].replace("-", "_"),
            None,
            one["message"],
            one["remedy"],
        )
        for one in found
    ]


def _solved(options: checks.Options, names: Sequence[str]) -> Losses:
    """The losses of these levels; after an interrupt, of those that were finished, if any were."""
    questions, rebuilds, outcomes = [], [], []
    problems, interrupted = Problems(), False
    try:
        for level in names:
            question, rebuilt, outcome = _of_level(options, level, problems)
            questions.append(question)
            rebuilds.append(rebuilt)
            outcomes.append(outcome)
    except KeyboardInterrupt:
        if not outcomes:
            raise
        interrupted = True
    problems.check()
    return Losses(questions, outcomes, rebuilds, interrupted=interrupted)


def _of_level(
    options: checks.Options, level: str, problems: Problems
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The question of a level, the result of its simulated rebuild, and its outcome. An error that is known only
    when it is solved, such as a chain that is too large, goes to `problems`.
    """
    given, rebuilt = simulated.with_rebuild(options, level)
    one = asked.question(given, level)
    elsewhere = executors.current()
    histories = None if elsewhere is None else elsewhere.histories(default_workers())
    answer = _core.durability(json.dumps(one), histories)
    problems.found += _option_errors(answer.get("problems", []), options)
    found = answer.get("outcome", {})
    over = _over_failures(one, found, asked.ends(options), histories) if found else {}
    return one, rebuilt, in_percent({**found, **over})


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
    found = {} if source is None else asked.of_file(source)
    given = {key: value for key, value in options.items() if value is not None}
    if level is not None:
        given["level"] = level if isinstance(level, str) or not isinstance(level, Iterable) else list(level)
    losses = solve({**found, **given}, source, given)
    if losses.interrupted:
        raise KeyboardInterrupt
    return losses
