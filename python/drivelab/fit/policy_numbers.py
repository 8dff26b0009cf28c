"""The parameters of one queue order, guard and ageing, that explain sweeps best.

They trade off along a narrow ridge: a coarse search over both, then least squares on both at once. A guard is a time,
up to half a revolution, or a share of the seek, up to all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import optimize

from drivelab.fit.draft import Draft
from drivelab.fit.fitted import Parameter
from drivelab.fit.inputs import Numbers
from drivelab.fit.leave_one_out import Prediction, predicted
from drivelab.fit.parameters import laid_over, number_of
from drivelab.fit.sweeping import ALONE, Sweeps, loss_of

AGES = {"aged-sptf": ("queue.age_weight", 0.006, 1.5), "share-aged-sptf": ("queue.age_share", 1.5, 8.0)}
"""Each order with ageing, with its key, the usual value and the maximum."""
BY_TIME = ("sptf", "aged-sptf", "share-aged-sptf")
TIME, SHARE = "time", "share of the seek"
"""The kinds of a guard."""
SEEK_MARGIN = "queue.seek_margin"
MARGINS = ("queue.read_margin", "queue.write_margin", SEEK_MARGIN)
_LEAST_AGE = 1e-4
_LOOKS = {
    "queue.age_weight": (0.003, 0.01, 0.03, 0.1, 0.3),
    "queue.age_share": (0.1, 0.4, 1.0, 2.0, 3.5, 5.5),
}
_GUARDS = {TIME: (0.1, 0.6), SHARE: (0.1, 0.4, 0.75)}
_WIDE_GUARDS = (0.4, 0.75)
"""Of half a revolution."""
_BEGINS = 2
_TURNS = 7
_ENOUGH = 0.02
_AGE_STEP = 0.1
_GUARD_STEP = 0.4
"""In units of the guard."""
_GUARD_UNIT = {TIME: 0.2, SHARE: 0.05}
_WIDE_AGE = 2.0


@dataclass(frozen=True)
class Candidate:
    """An order with its guard and its parameters, and the quality of its fit."""

    draft: Draft
    order: str
    guard: str | None
    point: Mapping[str, float]
    loss: float
    held_out: Prediction = field(compare=False)
    by_class: bool = False
    """Whether the firmware's class determines the order without parameters of its own."""

    @property
    def chooses(self) -> str:
        """When it chooses."""
        return str(self.draft.get("queue.chooses", "at-media-end"))


def guards_of(order: str, known: Sequence[str]) -> list[str | None]:
    """The kinds of guard that an order may have: one that is known is given to both, and not searched."""
    if order not in BY_TIME:
        return [None]
    return [TIME] if SEEK_MARGIN in known else [TIME, SHARE]


def with_guard(draft: Draft, guard: str | None, known: Sequence[str]) -> Draft:
    """The drive without guards but those of this kind, and those that are known."""
    if guard is None:
        return draft
    others = [key for key in MARGINS if key not in known and (key == SEEK_MARGIN) != (guard == SHARE)]
    values = {key: None for key in others if draft.get(key) is not None}
    return draft.having(values) if values else draft


def parameters_of(
    sweeps: Sweeps, draft: Draft, order: str, guard: str | None, known: Sequence[str]
) -> list[Parameter]:
    """The parameters of an order with a guard of this kind."""
    found = []
    if guard == TIME:
        most = 30_000 / number_of(draft, "rpm")
        for key in sweeps.margins:
            start = min(number_of(draft, key), most)
            found.append(Parameter(key, start, 0.3 + start, 0.0, most))
    if guard == SHARE:
        start = number_of(draft, SEEK_MARGIN)
        found.append(Parameter(SEEK_MARGIN, start, 0.2 + start, 0.0, 1.0, ""))
    if order in AGES:
        key, usual, most = AGES[order]
        start = number_of(draft, key, usual)
        found.append(Parameter(key, start, start, _LEAST_AGE, most, "", is_log=True))
    return [one for one in found if one.key not in known]


def best_numbers(
    sweeps: Sweeps,
    draft: Draft,
    order: str,
    known: Sequence[str],
    guard: str | None = None,
    begin: Mapping[str, float] | None = None,
) -> Candidate:
    """The best parameters of one order, starting from `begin` if it is given."""
    draft = with_guard(draft, guard, known)
    parameters = parameters_of(sweeps, draft, order, guard, known)
    if not parameters:
        return unfitted(sweeps, draft, order, guard)
    begins = [dict(begin)] if begin is not None else _begins(sweeps, draft, parameters, guard)
    found = [_squares(sweeps, draft, parameters, one, guard) for one in begins]
    point, loss, held_out = min(found, key=lambda one: one[1])
    return Candidate(draft, order, guard, point, loss, held_out)


def unfitted(
    sweeps: Sweeps, draft: Draft, order: str, guard: str | None, *, by_class: bool = False
) -> Candidate:
    """An order of which no number is fitted."""
    rest = sweeps.residuals(draft)
    none = np.empty(0)
    held_out = predicted(sweeps, rest, np.empty((len(rest), 0)), none, none)
    return Candidate(draft, order, guard, {}, loss_of(rest), held_out, by_class)


def _begins(
    sweeps: Sweeps, draft: Draft, parameters: list[Parameter], guard: str | None
) -> list[dict[str, float]]:
    """The best starting points: for each of some guards, that with the best of a few values of the ageing."""
    margins = [one for one in parameters if one.key in MARGINS]
    ages = [one for one in parameters if one.key not in MARGINS]
    guards: Sequence[float | None] = [None]
    if margins and guard is not None:
        wide = [share * margins[0].high for share in _WIDE_GUARDS] if guard == TIME else []
        guards = sorted({max(one.start for one in margins), *_GUARDS[guard], *wide})
    found = []
    for size in guards:
        fixed = {} if size is None else {one.key: size for one in margins}
        points = [fixed]
        if ages:
            looked = sorted({*_LOOKS[ages[0].key], max(ages[0].start, _LEAST_AGE)})
            points = [fixed | {ages[0].key: value} for value in looked]
        losses = [sweeps.loss(laid_over(draft, point)) for point in points]
        found.append((min(losses), points[int(np.argmin(losses))]))
    # A guard that is far worse at the beginning belongs to another local minimum.
    found.sort(key=lambda one: one[0])
    return [point for loss, point in found[:_BEGINS] if loss <= 4 * found[0][0] + 100]


def _squares(
    sweeps: Sweeps,
    draft: Draft,
    parameters: list[Parameter],
    begin: Mapping[str, float],
    guard: str | None,
) -> tuple[dict[str, float], float, Prediction]:
    """Least squares by the Levenberg-Marquardt method, the guard in its unit and the ageing in logarithms."""
    keys, unit = [one.key for one in parameters], _GUARD_UNIT.get(guard or TIME, 1.0)

    def scaled(key: str, value: float) -> float:
        return value / unit if key in MARGINS else float(np.log(max(value, 1e-6)))

    def value_of(key: str, scaled: float) -> float:
        return scaled * unit if key in MARGINS else float(np.exp(scaled))

    low = np.array([scaled(one.key, one.low) for one in parameters])
    high = np.array([scaled(one.key, one.high) for one in parameters])
    steps = np.array([_GUARD_STEP if key in MARGINS else _AGE_STEP for key in keys])
    last: dict[bytes, Numbers] = {}
    columns_of: dict[bytes, Numbers] = {}

    def point_of(x: Numbers) -> dict[str, float]:
        return {key: value_of(key, float(v)) for key, v in zip(keys, x, strict=True)}

    def residuals(x: Numbers) -> Numbers:
        if x.tobytes() not in last:
            last[x.tobytes()] = sweeps.residuals(laid_over(draft, point_of(x)))
        return last[x.tobytes()]

    def slopes(x: Numbers) -> Numbers:
        here, columns = residuals(x), []
        for place, step in enumerate(steps):
            other = x.copy()
            # Towards the middle, so that no step leaves the bounds.
            other[place] += step if x[place] + step <= high[place] else -step
            columns.append((residuals(other) - here) / (other[place] - x[place]))
        columns_of[x.tobytes()] = np.column_stack(columns)
        return columns_of[x.tobytes()]

    start = np.clip([scaled(key, begin[key]) for key in keys], low + 1e-6, high - 1e-6)
    found = optimize.least_squares(
        residuals, start, jac=slopes, bounds=(low, high), loss="huber", f_scale=ALONE,
        max_nfev=_TURNS, ftol=_ENOUGH, xtol=1e-3,
    )  # fmt: skip
    x = np.asarray(found.x, dtype=float)
    columns = columns_of.get(x.tobytes())
    columns = slopes(x) if columns is None else columns
    centre = np.array([scaled(one.key, max(one.start, one.low)) for one in parameters])
    reach = np.array(
        [(one.high - one.low) / (4 * unit) if one.key in MARGINS else _WIDE_AGE for one in parameters]
    )
    rest = residuals(x)
    return point_of(x), loss_of(rest), predicted(sweeps, rest, columns, x - centre, reach)
