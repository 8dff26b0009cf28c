"""Samples a posterior by an ensemble of walkers that needs no tuning.

J. Goodman, J. Weare, "Ensemble samplers with affine invariance", Communications in Applied Mathematics and
Computational Science 5(1), 2010: the stretch move. Half of the walkers moves along lines through the other half.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from drivelab.fit.inputs import Numbers

_STRETCH = 2.0


def ensemble(
    log_density: Callable[[Numbers], Numbers], start: Numbers, steps: int, seed: int = 1, burn: float = 0.4
) -> Numbers:
    """Draws, one per row, from walkers that start at the rows of `start`; the first part of the steps is discarded.

    `log_density` takes rows and returns a value for each; minus infinity outside of the support.
    """
    draw = np.random.default_rng(seed)
    walkers = start.copy()
    count, size = walkers.shape
    at = log_density(walkers)
    halves = (np.arange(0, count, 2), np.arange(1, count, 2))
    kept = []
    for step in range(steps):
        for moving, standing in (halves, halves[::-1]):
            others = walkers[draw.choice(standing, len(moving))]
            z = (1 + (_STRETCH - 1) * draw.random(len(moving))) ** 2 / _STRETCH
            tried = others + z[:, None] * (walkers[moving] - others)
            value = log_density(tried)
            taken = np.log(draw.random(len(moving))) < (size - 1) * np.log(z) + value - at[moving]
            walkers[moving[taken]], at[moving[taken]] = tried[taken], value[taken]
        if step >= burn * steps:
            kept.append(walkers.copy())
    return np.concatenate(kept)
