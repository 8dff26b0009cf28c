"""Fits a trace: the simulator replays it, and a bounded search alternates between the numbers and the cache's rules.

The numbers are searched along one direction at a time (M. J. D. Powell, "An efficient method for finding the minimum of
a function of several variables without calculating derivatives", Computer Journal 7(2), 1964), each line by Brent's
method as implemented in scipy; a rule is changed if the loss decreases by more than `_WORTH`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy import optimize

from drivelab.fit.draft import Draft
from drivelab.fit.fitted import Parameter
from drivelab.fit.parameters import laid_over, trace_parameters
from drivelab.fit.replaying import Replays, losses

Tell = Callable[[str, float], object]

_WORTH = 0.99
_NOTHING = 1.003
_BELIEF = 0.001
_ROUNDS = 3
_EVALUATIONS = 14

RULES: dict[str, tuple[object, ...]] = {
    "cache.read_ahead": ("none", "limit", "track", "cylinder", "next-track"),
    "cache.read_ahead_on_hit": (False, True),
    "cache.read_ahead_when_sequential": (False, True),
    "cache.covers_front": (False, True),
    "cache.ends_sector": (False, True),
    "cache.keeps_passing": (False, True),
    "cache.keeps_written": (False, True),
    "cache.hits_while_busy": (False, True),
    "cache.takes_writes_while_busy": (False, True),
    "cache.destage": ("at-once", "when-idle"),
    "cache.separate_writes": (False, True),
    "cache.send_from": ("0%", "25%", "50%", "75%", "100%"),
    "cache.write_from": ("0%", "25%", "50%", "75%", "100%"),
    "cache.segments": (1, 2, 3, 4, 6, 8, 12, 16),
    "cache.write_segments": (1, 2, 4, 8, 16),
    "cache.read_ahead_limit": (
        "16 sectors",
        "32 sectors",
        "64 sectors",
        "128 sectors",
        "256 sectors",
        "512 sectors",
    ),
    "cache.read_ahead_least": ("0B", "8 sectors", "32 sectors", "128 sectors"),
    "settle.read_on_arrival": (False, True),
    "settle.write_on_arrival": (False, True),
    "link.write_data": ("before-positioning", "while-positioning"),
    "queue.chooses": ("at-media-end", "at-completion"),
}
"""Rules that a trace may determine, and the possible values of each."""


def fit_trace(
    replays: Replays, start: Draft, known: Sequence[str], workers: int, tell: Tell
) -> tuple[Draft, dict[str, float], dict[str, Any]]:
    """The fitted drive, its numbers, and the changed rules."""
    parameters = trace_parameters(start, known)
    belief = _BELIEF * replays.loss(start)
    point = {one.key: one.start for one in parameters}
    base, changed = start, dict[str, Any]()
    with ThreadPoolExecutor(workers) as pool:
        for turn in range(_ROUNDS):
            tell(f"numbers, round {turn + 1} of {_ROUNDS}", 2 * turn / (2 * _ROUNDS))
            point = _lines(replays, base, parameters, point, (turn, belief))
            tell(f"rules, round {turn + 1} of {_ROUNDS}", (2 * turn + 1) / (2 * _ROUNDS))
            found = _rules(replays, base, point, known, pool)
            if not found and turn:
                break
            base, changed = base.having(found), changed | found
    tell("what the data do not decide", 0.97)
    point = _left(replays, base, parameters, point)
    return laid_over(base, point), point, changed


def _left(
    replays: Replays, base: Draft, parameters: Sequence[Parameter], point: Mapping[str, float]
) -> dict[str, float]:
    """Return each number to its start value if that hardly increases the loss."""
    found = dict(point)
    best = replays.loss(laid_over(base, found))
    for one in parameters:
        back = {**found, one.key: one.start}
        if found[one.key] != one.start and replays.loss(laid_over(base, back)) <= _NOTHING * best:
            found = back
    return found


def _lines(
    replays: Replays,
    base: Draft,
    parameters: Sequence[Parameter],
    point: Mapping[str, float],
    turn_and_belief: tuple[int, float],
) -> dict[str, float]:
    """Minimise the loss along one number after the other, with a range that narrows from round to round.

    A deviation from the start by one spread costs `belief`.
    """
    found, (turn, belief) = dict(point), turn_and_belief

    def cost(tried: Mapping[str, float]) -> float:
        off = sum(((tried[one.key] - one.start) / one.spread) ** 2 for one in parameters)
        return replays.loss(laid_over(base, tried)) + belief * off

    best = cost(found)
    for _ in range(1 if turn else 2):
        for one in parameters:

            def along(number: float, key: str = one.key) -> float:
                return cost({**found, key: number})

            reach = 3 * one.spread / (1 + 2 * turn)
            low, high = max(one.low, found[one.key] - reach), min(one.high, found[one.key] + reach)
            line = optimize.minimize_scalar(
                along,
                bounds=(low, high),
                method="bounded",
                options={"maxiter": _EVALUATIONS, "xatol": 0.003 * one.spread},
            )
            if line.fun < best:
                best, found[one.key] = float(line.fun), float(line.x)
    return found


def _rules(
    replays: Replays, base: Draft, point: Mapping[str, float], known: Sequence[str], pool: ThreadPoolExecutor
) -> dict[str, Any]:
    """Change the rules that reduce the loss enough, the best first, until none does."""
    changed: dict[str, Any] = {}
    best = replays.loss(laid_over(base, point))
    while True:
        draft = base.having(changed)
        tries = [
            {key: choice}
            for key, choices in RULES.items()
            if key not in known and (not key.startswith("cache.") or draft.get("cache.segments") is not None)
            for choice in choices
            if draft.get(key) != choice and changed.get(key) != choice
        ]
        found = losses(replays, [laid_over(draft.having(one), point) for one in tries], pool)
        if not found or not np.nanmin(found) < _WORTH * best:
            return changed
        place = int(np.nanargmin(found))
        best, changed = found[place], changed | tries[place]
