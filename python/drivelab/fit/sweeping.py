"""Sweeps over queue depth simulated on a draft, and their deviation from the measurement.

The rate at each depth has an error of 1 %, its 99th percentile of 6 %. All rates of a sweep have another common error
of 1 %: they share the sequence of random requests, on the drive as in the simulation, so the gain with depth is known
better than any rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drivelab import _core
from drivelab.errors import RunError, ScenarioError
from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Flags, Numbers, Sweep, Whole

RATE_ERROR = 0.01
TAIL_ERROR = 0.06
COMMON_ERROR = 0.01
ALONE = 4.0
"""The deviation in standard errors from which a point's influence is limited (Huber's loss)."""
_RUN = {"warmup": "5s", "duration": "100s", "seed": 1}
_BAD = 1e3
_MARGINS = (("read", False), ("write", True))


class Sweeps:
    """Sweeps, and their simulation on drafts."""

    def __init__(self, sweeps: Sequence[Sweep], workers: int) -> None:
        """Store the sweeps, and the number of threads."""
        self.sweeps = sweeps
        self.workers = workers

    def simulated(self, draft: Draft, run: Mapping[str, Any] = _RUN) -> list[list[dict[str, Any]]]:
        """The points of each sweep. Raises ScenarioError, RunError."""
        plans = [draft.plan(_workload(sweep), run) for sweep in self.sweeps]
        found = _core.run(plans, self.workers)
        for entries in found:
            for entry in entries:
                if isinstance(entry, Exception):
                    raise entry
        return found  # type: ignore[return-value]

    @property
    def margins(self) -> tuple[str, ...]:
        """The guards that apply to these sweeps."""
        writes = {sweep.rw == "randwrite" for sweep in self.sweeps}
        return tuple(f"queue.{kind}_margin" for kind, is_write in _MARGINS if is_write in writes)

    def residuals(self, draft: Draft) -> Numbers:
        """Logarithms of the ratio of simulated to measured, in standard errors; per sweep rates, then percentiles."""
        try:
            points = self.simulated(draft)
        except (ScenarioError, RunError):
            return np.full(2 * sum(len(sweep.depth) for sweep in self.sweeps), _BAD)
        found = []
        for sweep, entries in zip(self.sweeps, points, strict=True):
            rates = np.array([entry["iops"] for entry in entries])
            tails = np.array([(entry["latency_ns"]["p99"] or np.nan) / 1e6 for entry in entries])
            found.append(_whitened(np.log(rates / sweep.iops) / RATE_ERROR))
            has_tails = np.isfinite(sweep.p99) & np.isfinite(tails)
            found.append(
                np.where(has_tails, np.log(tails / np.where(has_tails, sweep.p99, 1)), 0.0) / TAIL_ERROR
            )
        return np.concatenate(found)

    def depths_of_residuals(self) -> Whole:
        """The number of the depth, counted over all sweeps, to which each residual belongs."""
        found, before = [], 0
        for sweep in self.sweeps:
            found.append(np.tile(before + np.arange(len(sweep.depth)), 2))
            before += len(sweep.depth)
        return np.concatenate(found)

    def is_measured(self) -> Flags:
        """Which residuals are of a rate, or of a percentile that is known."""
        return np.concatenate(
            [part for sweep in self.sweeps for part in (sweep.iops > 0, np.isfinite(sweep.p99))]
        )

    def common_of_residuals(self) -> Numbers:
        """A column for each sweep: 1 at its rates, which have its common error."""
        columns = [
            np.concatenate(
                [
                    np.full(len(sweep.depth), float(sweep is one and part == 0))
                    for sweep in self.sweeps
                    for part in (0, 1)
                ]
            )
            for one in self.sweeps
        ]
        return np.column_stack(columns)

    def loss(self, draft: Draft) -> float:
        """The sum of squares, with the influence of single outliers limited (Huber's loss)."""
        return loss_of(self.residuals(draft))


def _whitened(residuals: Numbers) -> Numbers:
    """Converts residuals with a common error besides their own to independent ones with an error of 1."""
    n = len(residuals)
    kept = 1 / np.sqrt(1 + n * (COMMON_ERROR / RATE_ERROR) ** 2)
    return np.asarray(residuals - (1 - kept) * residuals.mean())


def unwhitened(sweeps: Sweeps, residuals: Numbers) -> Numbers:
    """Residuals with their common error again."""
    found, at = residuals.copy(), 0
    for sweep in sweeps.sweeps:
        n = len(sweep.depth)
        kept = 1 / np.sqrt(1 + n * (COMMON_ERROR / RATE_ERROR) ** 2)
        found[at : at + n] += (1 / kept - 1) * found[at : at + n].mean()
        at += 2 * n
    return found


def loss_of(residuals: Numbers) -> float:
    """The sum of squares of residuals, with the influence of outliers limited."""
    size = np.abs(residuals)
    return float(np.sum(np.where(size < ALONE, size**2, ALONE * (2 * size - ALONE))))


def _workload(sweep: Sweep) -> dict[str, Any]:
    found: dict[str, Any] = {"rw": sweep.rw, "bs": _iec(sweep.bs), "iodepth": sweep.depth.tolist()}
    if sweep.offset is not None:
        found["offset"] = _iec(sweep.offset)
    if sweep.size is not None:
        found["size"] = _iec(sweep.size)
    return found


def _iec(text: str) -> str:
    """fio's 4k in the notation of a scenario."""
    units = {"k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB"}
    return text[:-1] + units[text[-1].lower()] if text[-1:].lower() in units else text
