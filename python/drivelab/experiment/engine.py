"""Running an experiment: cells to scenarios, equal ones once, all in parallel, figures back to cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivelab import _core
from drivelab.arrays.durability.cells import Question, answered
from drivelab.errors import RunError
from drivelab.experiment.claims import judge
from drivelab.experiment.model import UNITS, Cell, Experiment
from drivelab.experiment.outcome import Outcome, Prediction
from drivelab.runs.result import Point, Result, combined_digest
from drivelab.runs.simulation import Progress, run_plans
from drivelab.scenarios.scenario import Source, plan


@dataclass(frozen=True)
class Planned:
    """Every scenario that an experiment needs, once, keyed by its text, ready to run."""

    plans: Mapping[str, _core.Plan | Question]
    names: Mapping[str, str]
    """The first cell that needs it."""

    @property
    def points(self) -> int:
        """The number of runs."""
        return sum(map(len, self.plans.values()))


def planned(experiment: Experiment) -> Planned:
    """Check every scenario of an experiment. Raises ScenarioError."""
    names: dict[str, str] = {}
    logs: dict[str, int] = {}
    for variant in (None, *experiment.variants):
        for cell in experiment.cells_of(variant):
            name = cell.id if variant is None else f"{cell.id} ({variant})"
            text = experiment.scenario_of(cell, variant)
            names.setdefault(text, name)
            measure = experiment.measure_of(cell)
            logs[text] = max(logs.get(text, 0), measure.log if measure else 0)
    plans = {
        text: _ready(experiment, text, f"{experiment.name}: {name}", logs[text])
        for text, name in names.items()
    }
    return Planned(plans=plans, names=names)


def run(
    experiment: Experiment,
    workers: int | None = None,
    progress: Progress | None = None,
    ready: Planned | None = None,
) -> Outcome:
    """Predict every cell of an experiment and judge its claims.

    Ctrl-C leaves an outcome of the cells that were finished, without verdicts: half a table proves nothing. Raises
    ScenarioError, and RunError if a run fails.
    """
    ready = planned(experiment) if ready is None else ready
    results = _results(ready, workers, progress)
    points: dict[str, Sequence[Point]] = {}
    for text, result in zip(ready.plans, results, strict=True):
        if result.failures:
            raise RunError(f"{ready.names[text]}: {result.failures[0].why}")
        if not result.interrupted:
            points[text] = result.points
    outcome = Outcome(
        experiment=experiment,
        predictions=_predictions(experiment, None, points),
        variants={
            variant: {
                prediction.cell.id: prediction for prediction in _predictions(experiment, variant, points)
            }
            for variant in experiment.variants
        },
        runs=sum(map(len, points.values())),
        seed=next(iter(ready.plans.values())).seed,
        interrupted=len(points) < len(ready.plans),
    )
    return outcome if outcome.interrupted else replace(outcome, verdicts=judge(outcome))


def _ready(experiment: Experiment, text: str, origin: str, log: int) -> _core.Plan | Question:
    """A scenario checked by the room that runs it, with this many commands of its log kept.

    Raises ScenarioError, InputError.
    """
    if experiment.room == "durability":
        return Question.of(text, origin)
    return plan(Source(text, origin)).with_log(log)


def _results(ready: Planned, workers: int | None, progress: Progress | None) -> list[Result]:
    """The result of every scenario, in their order."""
    questions = [one for one in ready.plans.values() if isinstance(one, Question)]
    if questions:
        return answered(questions, progress)
    plans = [one for one in ready.plans.values() if not isinstance(one, Question)]
    return run_plans(plans, workers, progress)


def _predictions(
    experiment: Experiment, variant: str | None, points: Mapping[str, Sequence[Point]]
) -> list[Prediction]:
    """The predictions for the cells whose runs have finished."""
    cells = experiment.cells_of(variant)
    found = ((cell, points.get(experiment.scenario_of(cell, variant))) for cell in cells)
    return [
        Prediction(
            cell=cell,
            predicted=_figure(experiment, cell, runs) / UNITS[experiment.unit_of(cell)],
            statistical_error=runs[0]["iops_relative_error"] if len(runs) == 1 else None,
            digest=combined_digest([point["digest"] for point in runs]),
            unit=experiment.unit_of(cell),
        )
        for cell, runs in found
        if runs is not None
    ]


def _figure(experiment: Experiment, cell: Cell, points: Sequence[Point]) -> float:
    """The cell's figure: one named by its measurement, or one of the record of its only run."""
    metric, measure = experiment.metric_of(cell), experiment.measure_of(cell)
    try:
        if measure is not None:
            return float(measure.figures(points)[metric])
        value: Any = points[0]
        for key in metric.split("."):
            value = value[key]
        return float(value)
    except (KeyError, TypeError) as error:
        raise RunError(f"{cell.id}: the runs have no figure {metric}") from error
