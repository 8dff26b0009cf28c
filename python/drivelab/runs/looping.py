"""Our own host against our own device in real time, beside the simulation of the same: the error of the emulation.

Both have the same scenario and seed. A run in real time differs from a simulated one by what the machine adds, and
because of that meets other angles of the platter; so the difference is set beside what simulations with other seeds
differ by.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, RunError, raw
from drivelab.host import kernel
from drivelab.report.emulation_summary import short_text
from drivelab.report.points_table import axis_text
from drivelab.report.table import Cell, Table
from drivelab.runs.result import Result
from drivelab.runs.simulation import run_plans
from drivelab.scenarios.scenario import Override, Source, plan

SEEDS = 8
"""Simulations of each point, each with a seed of its own: from them the scatter of one run is known."""
FAR_ERRORS = 3.0
"""A difference of more standard errors than this is no scatter."""


@dataclass(frozen=True)
class Loop:
    """The points that had finished, in their order."""

    points: list[Looped]
    asked: int
    """The number of points of the scenario."""
    interrupted: bool

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kind": "loop",
            "interrupted": self.interrupted,
            "points": [point.to_dict() for point in self.points],
        }


@dataclass(frozen=True)
class Looped:
    """One point in real time, beside its simulations."""

    axes: dict[str, Any]
    host: dict[str, Any]
    device: dict[str, Any]
    simulated_iops: list[float]

    @property
    def iops(self) -> float:
        """As the host has seen it in real time."""
        return float(self.host["iops"])

    @property
    def mean_iops(self) -> float:
        """Of the simulations."""
        return statistics.fmean(self.simulated_iops)

    @property
    def difference_percent(self) -> float | None:
        """Emulated less simulated, of the simulated; None where nothing was simulated."""
        return 100 * (self.iops - self.mean_iops) / self.mean_iops if self.mean_iops else None

    @property
    def standard_errors(self) -> float | None:
        """The difference in standard errors of a difference between one run and the mean of so many."""
        count = len(self.simulated_iops)
        scatter = statistics.stdev(self.simulated_iops) * math.sqrt(1 + 1 / count)
        return (self.iops - self.mean_iops) / scatter if scatter else None

    @property
    def agrees(self) -> bool:
        """Whether the difference may be scatter."""
        errors = self.standard_errors
        return self.iops == self.mean_iops if errors is None else abs(errors) <= FAR_ERRORS

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "axes": self.axes,
            "emulated_iops": self.iops,
            "simulated_iops": self.simulated_iops,
            "difference_percent": self.difference_percent,
            "standard_errors": self.standard_errors,
            "agrees": self.agrees,
            "host": self.host,
            "device": self.device,
        }


def loop(
    source: Source,
    overrides: Sequence[Override],
    budget_ns: int,
    progress: Callable[[float], object] | None = None,
) -> Loop:
    """Run every point of a scenario, one after the other, in real time. Raises InputError and RunError.

    Ctrl-C leaves the points that had finished; it is raised where they have not begun.
    """
    kernel.need_unix("`loop`", "host and device talk over a socket as Unix has it")
    checked = plan(source, overrides)
    try:
        _core.check_loop(checked)
    except RunError as error:
        raise InputError(raw(error)) from error
    plans = [_with_seed(source, overrides, checked.seed + number) for number in range(SEEDS)]
    simulated = run_plans(plans)
    for result in simulated:
        if result.interrupted:
            raise KeyboardInterrupt
        if result.failures:
            raise RunError(result.failures[0].why)
    found: list[Looped] = []
    try:
        for looped in _points(checked, simulated, budget_ns):
            found.append(looped)
            if progress is not None:
                progress(len(found))
    except KeyboardInterrupt:
        return Loop(found, len(checked), interrupted=True)
    return Loop(found, len(checked), interrupted=False)


def _points(checked: _core.Plan, simulated: Sequence[Result], budget_ns: int) -> Iterator[Looped]:
    """Each point in real time, with its rates in the simulations."""
    for place, axes in enumerate(checked.axes):
        with tempfile.TemporaryDirectory(prefix="drivelab-") as folder:
            both = _core.loop_back(checked, place, str(Path(folder) / "nbd.socket"), budget_ns)
        iops = [float(result.points[place]["iops"] or 0) for result in simulated]
        yield Looped(axes, both["host"], both["device"], iops)


def _with_seed(source: Source, overrides: Sequence[Override], seed: int) -> _core.Plan:
    others = [one for one in overrides if one.key != "run.seed"]
    return plan(source, [*others, Override("run.seed", str(seed), "the seed")])


def table(points: Sequence[Looped]) -> Table:
    """A line for each point."""
    axes = list(points[0].axes) if points else []
    columns = [
        *(key.rpartition(".")[2] for key in axes),
        "emulated IOPS",
        "simulated",
        "difference",
        "standard errors",
        "late p50",
        "late p99",
        "late p99.9",
        "late max",
        "p99.9 without gaps",
        "gaps",
    ]
    rows = []
    for point in points:
        late, outside = point.device["lateness_ns"], point.device["lateness_outside_gaps_ns"]["p99_9"]
        errors, difference = point.standard_errors, point.difference_percent
        rows.append(
            [
                *(Cell(axis_text(point.axes[key])) for key in axes),
                Cell(f"{point.iops:.4g}"),
                Cell(f"{point.mean_iops:.4g}"),
                Cell("-" if difference is None else f"{difference:+.1f} %"),
                Cell("-" if errors is None else f"{errors:+.1f}", "" if point.agrees else "red"),
                *(
                    Cell("-" if late[key] is None else short_text(late[key]))
                    for key in ("p50", "p99", "p99_9", "max")
                ),
                Cell("-" if outside is None else short_text(outside)),
                Cell(f"{point.device['gaps']['count']:,}"),
            ]
        )
    return Table(columns, rows)
