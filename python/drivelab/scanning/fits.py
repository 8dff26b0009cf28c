"""Two fits: a straight line, and time per request = latency + size / rate."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.errors import InputError


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x by least squares."""

    intercept: float
    slope: float
    r2: float | None
    """The share of y's variance that the line explains; None if y does not vary."""

    @classmethod
    def of(cls, xs: Sequence[float], ys: Sequence[float]) -> Line | None:
        """The line through some points; None if they are not at two different x at least."""
        if len(set(xs)) < 2:
            return None
        slope, intercept = statistics.linear_regression(xs, ys)
        r2 = None if len(set(ys)) < 2 else statistics.correlation(xs, ys) ** 2
        return cls(intercept, slope, r2)

    def at(self, x: float) -> float:
        """The line's height at `x`."""
        return self.intercept + self.slope * x


@dataclass(frozen=True)
class FirstOrder:
    """Time per request = latency + size / rate.

    Fitted so that the sum of the squares of the *relative* residuals is minimal: a millisecond is much for a small
    request and nothing for a large one. `misses` has for each request by how much it took longer than the model says,
    as a share of the model's time.
    """

    latency_ns: float
    bytes_per_s: float
    sizes: list[float]
    misses: list[float]

    @classmethod
    def of(cls, sizes: Sequence[float], times_ns: Sequence[float]) -> FirstOrder:
        """The model for some sizes in bytes and the time that a request of each took. Raises InputError."""
        if len(set(sizes)) < 2:
            raise InputError("latency and rate cannot be told apart from one size of request")
        # Minimise the sum of (latency / t + inverse x size / t - 1) squared: two linear equations.
        a = [1 / time for time in times_ns]
        b = [size / time for size, time in zip(sizes, times_ns, strict=True)]
        aa, ab, bb = (_dot(a, a), _dot(a, b), _dot(b, b))
        determinant = aa * bb - ab * ab
        latency = (sum(a) * bb - sum(b) * ab) / determinant
        inverse = (sum(b) * aa - sum(a) * ab) / determinant
        if inverse <= 0:
            raise InputError("larger requests take no longer than small ones: there is no rate to fit")
        misses = [time / (latency + inverse * size) - 1 for size, time in zip(sizes, times_ns, strict=True)]
        return cls(latency, 1e9 / inverse, list(sizes), misses)

    def worst(self) -> tuple[float, float]:
        """The size with the largest residual of the model, and the residual."""
        return max(zip(self.sizes, self.misses, strict=True), key=lambda pair: abs(pair[1]))


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
