"""The parameters of one queue order, guard and ageing, that explain sweeps best.

They trade off along a narrow ridge: a coarse search over the ageing, then least squares on both at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Numbers
from drivelab.fit.parameters import Parameter, laid_over, number_of
from drivelab.fit.sweeping import ALONE, Sweeps, loss_of

AGES = {"aged-sptf": ("queue.age_weight", 0.006, 1.5), "share-aged-sptf": ("queue.age_share", 1.5, 8.0)}
"""Each order with ageing, with its key, the usual value and the maximum."""
BY_TIME = ("sptf", "aged-sptf", "share-aged-sptf")
MARGIN = "queue.read_margin"
_LOOKS = {
    "queue.age_weight": (0.003, 0.01, 0.03, 0.1, 0.3),
    "queue.age_share": (0.1, 0.4, 1.0, 2.0, 3.5, 5.5),
}
_GUARDS = (0.1, 0.6)
_TURNS = 7
_ENOUGH = 0.02
_GUARD_STEP, _AGE_STEP = 0.08, 0.1
_GUARD_UNIT = 0.2


@dataclass(frozen=True)
class Candidate:
    """An order with its parameters, and the quality of its fit."""

    draft: Draft
    order: str
    point: Mapping[str, float]
    loss: float
    chooses: str
    by_class: bool = False
    """Whether the firmware's class determines the order without parameters of its own."""

    @property
    def criterion(self) -> float:
        """Akaike's criterion: the loss plus two for each parameter."""
        return self.loss + 2 * len(self.point)


def parameters_of(draft: Draft, order: str, known: Sequence[str]) -> list[Parameter]:
    """The parameters of an order."""
    found = []
    if order in BY_TIME:
        start = number_of(draft, MARGIN)
        found.append(Parameter(MARGIN, start, 0.3 + start, 0.0, 2.0))
    if order in AGES:
        key, usual, most = AGES[order]
        start = number_of(draft, key, usual)
        found.append(Parameter(key, start, start, 0.0, most, ""))
    return [one for one in found if one.key not in known]


def best_numbers(
    sweeps: Sweeps, draft: Draft, order: str, known: Sequence[str], begin: Mapping[str, float] | None = None
) -> Candidate:
    """The best parameters of one order, starting from `begin` if it is given."""
    parameters = parameters_of(draft, order, known)
    chooses = str(draft.get("queue.chooses", "at-media-end"))
    if not parameters:
        return Candidate(draft, order, {}, sweeps.loss(draft), chooses)
    begins = [dict(begin)] if begin is not None else _begins(sweeps, draft, parameters)
    found = [_squares(sweeps, draft, parameters, one) for one in begins]
    point, loss = min(found, key=lambda one: one[1])
    return Candidate(draft, order, point, loss, chooses)


def _begins(sweeps: Sweeps, draft: Draft, parameters: list[Parameter]) -> list[dict[str, float]]:
    """A starting point for each of some guards, with the best of a few values of the ageing."""
    guards = (
        sorted({one.start for one in parameters if one.key == MARGIN} | set(_GUARDS))
        if any(one.key == MARGIN for one in parameters)
        else [None]
    )
    ages = [one for one in parameters if one.key != MARGIN]
    found = []
    for guard in guards:
        fixed = {} if guard is None else {MARGIN: guard}
        points = [fixed]
        if ages:
            looked = sorted({*_LOOKS[ages[0].key], max(ages[0].start, 1e-4)})
            points = [fixed | {ages[0].key: value} for value in looked]
        losses = [sweeps.loss(laid_over(draft, point)) for point in points]
        found.append((min(losses), points[int(np.argmin(losses))]))
    # A guard that is far worse at the beginning belongs to another local minimum.
    least = min(loss for loss, _ in found)
    return [point for loss, point in found if loss <= 4 * least + 100]


def _squares(
    sweeps: Sweeps, draft: Draft, parameters: list[Parameter], begin: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """Least squares by the Levenberg-Marquardt method, the guard in its unit and the ageing in logarithms."""
    keys = [one.key for one in parameters]
    low = np.array([_scaled(one.key, max(one.low, 0.0 if one.key == MARGIN else 1e-4)) for one in parameters])
    high = np.array([_scaled(one.key, one.high) for one in parameters])
    steps = np.array([_GUARD_STEP / _GUARD_UNIT if key == MARGIN else _AGE_STEP for key in keys])

    def point_of(x: Numbers) -> dict[str, float]:
        return {key: _value(key, float(v)) for key, v in zip(keys, x, strict=True)}

    def residuals(x: Numbers) -> Numbers:
        return sweeps.residuals(laid_over(draft, point_of(x)))

    def slopes(x: Numbers) -> Numbers:
        here, columns = residuals(x), []
        for place, step in enumerate(steps):
            other = x.copy()
            # Towards the middle, so that no step leaves the bounds.
            other[place] += step if x[place] + step <= high[place] else -step
            columns.append((residuals(other) - here) / (other[place] - x[place]))
        return np.column_stack(columns)

    start = np.clip([_scaled(key, begin[key]) for key in keys], low + 1e-6, high - 1e-6)
    found = optimize.least_squares(
        residuals, start, jac=slopes, bounds=(low, high), loss="huber", f_scale=ALONE,
        max_nfev=_TURNS, ftol=_ENOUGH, xtol=1e-3,
    )  # fmt: skip
    return point_of(found.x), loss_of(found.fun)


def _scaled(key: str, value: float) -> float:
    return value / _GUARD_UNIT if key == MARGIN else float(np.log(max(value, 1e-6)))


def _value(key: str, scaled: float) -> float:
    return scaled * _GUARD_UNIT if key == MARGIN else float(np.exp(scaled))
