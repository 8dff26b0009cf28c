"""The prediction of a depth of a sweep from the others, on residuals that are linear in the parameters."""

from __future__ import annotations

import numpy as np
import pytest

from drivelab.fit.inputs import Sweep
from drivelab.fit.leave_one_out import predicted
from drivelab.fit.sweeping import RATE_ERROR, Sweeps, _whitened, unwhitened

DEPTHS = 6


def made(p99: float = np.nan) -> Sweeps:
    depth = 2 ** np.arange(DEPTHS)
    return Sweeps(
        [Sweep("made up", depth, np.full(DEPTHS, 100.0), np.full(DEPTHS, p99), "4k", "randread")], 1
    )


def residuals(rates, tails=None) -> np.ndarray:
    return np.concatenate(
        [_whitened(np.array(rates, dtype=float)), np.zeros(DEPTHS) if tails is None else tails]
    )


def columns(*parameters: np.ndarray) -> np.ndarray:
    return np.column_stack([residuals(one) for one in parameters])


def test_residuals_without_their_common_error_get_it_back():
    rates = np.array([1.0, -2.0, 0.5, 3.0, 0.0, 1.5])
    assert unwhitened(made(), residuals(rates))[:DEPTHS] == pytest.approx(rates)


def test_what_all_rates_have_in_common_is_no_error_of_a_depth():
    none = np.empty(0)
    together = predicted(made(), residuals(np.full(DEPTHS, 2.0)), np.empty((2 * DEPTHS, 0)), none, none)
    apart = predicted(made(), residuals([2.0, -2.0] * 3), np.empty((2 * DEPTHS, 0)), none, none)
    # The five others tell five sixths of the common error.
    assert together.rates == pytest.approx(np.full(DEPTHS, 2 * RATE_ERROR / 6))
    assert apart.loss > 10 * together.loss


def test_the_fit_to_the_others_meets_a_depth_that_follows_the_same_law():
    law = np.linspace(-1, 1, DEPTHS)
    found = predicted(made(), residuals(3 * law), columns(law), np.zeros(1), np.full(1, 100.0))
    assert found.rates == pytest.approx(np.zeros(DEPTHS), abs=1e-4)


def test_a_depth_that_one_parameter_alone_meets_is_not_predicted():
    """At the best fit nothing is left of it; without it the parameter is where its prior is."""
    only = np.eye(DEPTHS)[-1] * 8
    found = predicted(made(), residuals(np.zeros(DEPTHS)), columns(only), np.full(1, 1.0), np.full(1, 2.0))
    assert found.losses[:-1] == pytest.approx(np.zeros(DEPTHS - 1), abs=0.01)
    assert abs(found.rates[-1]) == pytest.approx(8 * RATE_ERROR, rel=0.01)


def test_a_percentile_counts_where_it_is_measured():
    none, slopes = np.empty(0), np.empty((2 * DEPTHS, 0))
    rest = residuals(np.zeros(DEPTHS), np.full(DEPTHS, 2.0))
    assert predicted(made(), rest, slopes, none, none).loss == 0
    assert predicted(made(50.0), rest, slopes, none, none).loss == pytest.approx(4 * DEPTHS)


def test_a_difference_has_the_error_of_its_depths():
    none, slopes = np.empty(0), np.empty((2 * DEPTHS, 0))
    one, other = (
        predicted(made(), residuals(rates), slopes, none, none) for rates in ([3, 0, 0, 0, 0, 0], [0] * 6)
    )
    behind, error = one.behind(other)
    assert behind == pytest.approx(one.loss)
    assert error == pytest.approx(np.sqrt(DEPTHS) * np.std(one.losses, ddof=1))
    assert other.behind(other) == (0, 0)
