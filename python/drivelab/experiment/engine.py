"""Running an experiment: cells to scenarios, equal ones once, all side by side, figures back to cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from drivelab.errors import RunError
from drivelab.experiment.claims import judge
from drivelab.experiment.model import UNITS, Experiment
from drivelab.experiment.outcome import Outcome, Prediction
from drivelab.result import Point
from drivelab.scenario import Source, plan
from drivelab.simulation import Progress, run_plans


def scenarios_of(experiment: Experiment) -> dict[str, str]:
    """Every scenario that the experiment needs, once: its text, and the first cell to need it."""
    found: dict[str, str] = {}
    for variant in (None, *experiment.variants):
        for cell in experiment.cells:
            name = cell.id if variant is None else f"{cell.id} ({variant})"
            found.setdefault(experiment.scenario_of(cell, variant), name)
    return found


def run(experiment: Experiment, workers: int | None = None, progress: Progress | None = None) -> Outcome:
    """Predict every cell of an experiment and judge its claims.

    Ctrl-C leaves an outcome of the cells that were finished, without verdicts: half a table proves nothing.
    Raises ScenarioError, and RunError where a run fails.
    """
    scenarios = scenarios_of(experiment)
    plans = [plan(Source(text, f"{experiment.name}: {name}")) for text, name in scenarios.items()]
    points: dict[str, Point] = {}
    for (text, name), result in zip(scenarios.items(), run_plans(plans, workers, progress), strict=True):
        if result.failures:
            raise RunError(f"{name}: {result.failures[0].message}")
        if result.points:
            points[text] = result.points[0]
    outcome = Outcome(
        experiment=experiment,
        predictions=_predictions(experiment, None, points),
        variants={
            variant: {
                prediction.cell.id: prediction for prediction in _predictions(experiment, variant, points)
            }
            for variant in experiment.variants
        },
        runs=len(points),
        seed=plans[0].seed,
        interrupted=len(points) < len(plans),
    )
    return outcome if outcome.interrupted else replace(outcome, verdicts=judge(outcome))


def _predictions(
    experiment: Experiment, variant: str | None, points: Mapping[str, Point]
) -> list[Prediction]:
    """What the runs say about the cells, as far as they went."""
    found = ((cell, points.get(experiment.scenario_of(cell, variant))) for cell in experiment.cells)
    return [
        Prediction(
            cell=cell,
            predicted=_figure(point, experiment.metric_of(cell)) / UNITS[experiment.unit],
            statistical_error=point["iops_relative_error"],
            digest=point["digest"],
        )
        for cell, point in found
        if point is not None
    ]


def _figure(point: Point, metric: str) -> float:
    value: Any = point
    for key in metric.split("."):
        value = value[key]
    return float(value)
