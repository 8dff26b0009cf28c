"""How well a firmware predicts the depths of a sweep that it was not fitted to, without another simulation.

Each depth is left out in turn, with its rate and its 99th percentile, and the parameters are fitted to the others by
the slopes of the residuals at the best fit. The common error of a sweep is one more parameter, with a prior of its
size; the parameters have wide priors around the start's values, which count only where the other depths say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drivelab.fit.inputs import Numbers
from drivelab.fit.sweeping import COMMON_ERROR, RATE_ERROR, Sweeps, loss_of, unwhitened


@dataclass(frozen=True)
class Prediction:
    """The held-out deviations of each depth of each sweep."""

    losses: Numbers
    """The squared deviations in standard errors, outliers limited."""
    rates: Numbers
    """The relative deviations of the rates."""

    @property
    def loss(self) -> float:
        """The sum over all depths."""
        return float(self.losses.sum())

    @property
    def error(self) -> float:
        """The root mean square deviation of the rates."""
        return float(np.sqrt(np.mean(self.rates**2)))

    def behind(self, other: Prediction) -> tuple[float, float]:
        """How much larger its loss is than another's, and the standard error of that, depth by depth."""
        apart = self.losses - other.losses
        n = len(apart)
        return float(apart.sum()), float(np.sqrt(n) * apart.std(ddof=1)) if n > 1 else float(np.inf)


def predicted(sweeps: Sweeps, rest: Numbers, slopes: Numbers, off: Numbers, reach: Numbers) -> Prediction:
    """The prediction of each depth from the others.

    `rest` are residuals and `slopes` their derivatives by each parameter, both as `Sweeps.residuals` gives them; `off`
    is the deviation of each parameter from the centre of its prior, `reach` the standard deviation of that.
    """
    columns, depths, has = [rest, *slopes.T], sweeps.depths_of_residuals(), sweeps.is_measured()
    rows = np.column_stack([unwhitened(sweeps, column) for column in columns])
    commons = sweeps.common_of_residuals()
    design, value = np.hstack([rows[:, 1:], commons]), rows[:, 0]
    priors = np.diag(np.concatenate([1 / reach, np.full(commons.shape[1], RATE_ERROR / COMMON_ERROR)]))
    target = np.concatenate([-off / reach, np.zeros(commons.shape[1])])
    losses, rates = [], []
    for depth in range(depths.max() + 1):
        out = (depths == depth) & has
        kept = (depths != depth) & has
        matrix, wanted = np.vstack([design[kept], priors]), np.concatenate([-value[kept], target])
        step = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
        left = value[out] + design[out] @ step
        losses.append(loss_of(left))
        # The rate comes first.
        rates.append(RATE_ERROR * left[0])
    return Prediction(np.array(losses), np.array(rates))
