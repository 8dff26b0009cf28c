"""Seek curves as arrays: the two forms through three times, the knots at which a curve is bent, and its mean."""

from __future__ import annotations

import numpy as np

from drivelab.fit.inputs import Flags, Numbers

LEE, ROOT_LINE = "lee", "root-line"
FORMS = (LEE, ROOT_LINE)
KNOTS = (0.0, 0.12, 0.35, 0.65, 1.0)
"""The knots at which a seek curve is bent: square roots of the distance, as fractions of that of the longest."""
USUAL_LONGER = 0.1
"""How much longer a seek over more than one cylinder settles in the form root-line, of `average` - `single`."""
_MEAN_OF_LINE, _MEAN_OF_ROOT = 1 / 3, 8 / 15
_ROUNDING = 0.045
"""How far Lee's curve may fall below `single` or rise above `full`: a little less than a drive file may."""
_BENDS = np.linspace(1e-4, 1, 4000) ** 2


def lee(distance: Numbers, cylinders: int, single: float, average: float, full: float) -> Numbers:
    """E. K. Lee's curve through the three seek times (R. H. Katz, E. K. Lee, UCB//CSD-93-770): `a sqrt(x-1) + b(x-1) +
    c`.
    """
    n = cylinders
    a = (-10 * single + 15 * average - 5 * full) / (3 * np.sqrt(n))
    b = (7 * single - 15 * average + 8 * full) / (3 * n)
    x = np.maximum(distance - 1, 0)
    return np.asarray(a * np.sqrt(x) + b * x + single)


def root_line(distance: Numbers, cylinders: int, times: Numbers, longer: float) -> Numbers:
    """A root of the distance up to the arm's greatest speed, then a line of the same slope: a row for each row of three
    times, which `runs_through` them.
    """
    single, average, full = (times[:, place, None] for place in range(3))
    settled = single + longer * (average - single)
    bend = np.interp((average - settled) / (full - settled), _mean_share(_BENDS), _BENDS)
    root, x = np.sqrt(bend), np.clip((distance - 2) / max(cylinders - 3, 1), 0, 1)
    grown = np.where(x <= bend, np.sqrt(x), root + (x - bend) / (2 * root))
    far = root + (1 - bend) / (2 * root)
    return np.asarray(np.where(distance <= 1, single, settled + (full - settled) / far * grown))


def runs_through(form: str, times: Numbers, longer: float) -> Flags:
    """Whether the form runs through each row of three times."""
    single, average, full = times.T
    if form == LEE:
        # At the share x of the stroke it is single + a sqrt(x) + b x, whose one extremum must be no turn.
        a = (-10 * single + 15 * average - 5 * full) / 3
        b = (7 * single - 15 * average + 8 * full) / 3
        with np.errstate(divide="ignore", invalid="ignore"):
            place, turn = -a / (2 * b), single - a * a / (4 * b)
        turns = (place > 0) & (place < 1)
        bad = turns & ((turn < single * (1 - _ROUNDING)) | (turn > full * (1 + _ROUNDING)))
        return np.asarray(~bad & (single < 0.95 * average) & (average < 0.95 * full))
    settled = single + longer * (average - single)
    share = (average - settled) / (full - settled)
    return np.asarray(
        (single < average) & (average < full) & (share > _MEAN_OF_LINE + 1e-3) & (share < _MEAN_OF_ROOT)
    )


def _mean_share(bend: Numbers) -> Numbers:
    """The mean over random pairs as a share of the full stroke, of a root up to `bend` and a line from there."""
    root, rest = np.sqrt(bend), 1 - bend
    of_root = bend * root * (4 / 3 - 4 / 5 * bend)
    of_line = root * rest * rest + rest * rest * rest / (6 * root)
    return np.asarray((of_root + of_line) / (root + rest / (2 * root)))


def hats(distance: Numbers, cylinders: int) -> Numbers:
    """The weight of each knot at these distances: one column per knot."""
    root = np.sqrt(np.clip(distance / max(cylinders - 1, 1), 0, 1))
    return np.column_stack([np.interp(root, KNOTS, np.eye(len(KNOTS))[k]) for k in range(len(KNOTS))])


def average_seek(at: Numbers, time: Numbers, cylinders: int) -> float:
    """The mean over random pairs of cylinders, with weight 2 (C - d) / C^2."""
    distance = np.unique(np.round(np.linspace(1, np.sqrt(max(cylinders - 1, 2)), 2000) ** 2))
    middle = np.concatenate([[0.5], (distance[1:] + distance[:-1]) / 2, [cylinders - 0.5]])
    mass = np.diff(2 * middle / cylinders - (middle / cylinders) ** 2)
    return float(np.sum(mass * np.interp(distance, at, time)) / np.sum(mass))
