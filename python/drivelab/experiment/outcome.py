"""An experiment after its runs: the predicted and the published figures, and the errors."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _core
from drivelab.experiment.model import CALIBRATION, VALIDATION, Cell, Experiment
from drivelab.report.pictures import drawn
from drivelab.report.plural import counted
from drivelab.runs.result import combined_digest

if TYPE_CHECKING:
    import altair

NEAR, FAR = 0.05, 0.15
"""The bands by which cells are counted, as shares of the published figure."""


@dataclass(frozen=True)
class Prediction:
    """The model's prediction for one cell, in its unit."""

    cell: Cell
    predicted: float
    statistical_error: float | None
    """Half the width of the 95 % confidence interval, as a share: None if the run is too short to estimate it."""
    digest: str
    unit: str = ""

    @property
    def error(self) -> float | None:
        """How far the prediction lies outside the rounding of the print, as a signed share of the published figure.

        None if nothing was published.
        """
        if self.cell.published is None:
            return None
        distance = self.predicted - self.cell.published
        beyond = max(0.0, abs(distance) - self.cell.resolution)
        return (beyond if distance >= 0 else -beyond) / self.cell.published

    def to_dict(self) -> dict[str, Any]:
        """The cell as `reproduce --json` prints it."""
        return {
            "id": self.cell.id,
            "fields": self.cell.fields,
            "published": self.cell.published,
            "predicted": self.predicted,
            "unit": self.unit,
            "resolution": self.cell.resolution,
            "role": self.cell.role,
            "error": self.error,
            "statistical_error": self.statistical_error,
            "digest": self.digest,
        }


@dataclass(frozen=True)
class Verdict:
    """Whether a published finding holds for the predicted cells, and the numbers that show it."""

    id: str
    text: str
    holds: bool
    numbers: str


@dataclass(frozen=True)
class Summary:
    """How well a group of cells was predicted. Shares and errors are fractions of one."""

    count: int
    within_near: float
    within_far: float
    median: float
    worst: float

    @classmethod
    def of(cls, predictions: Iterable[Prediction]) -> Summary | None:
        """The summary of a group, None where it is empty."""
        errors = [abs(prediction.error) for prediction in predictions if prediction.error is not None]
        if not errors:
            return None
        return cls(
            count=len(errors),
            within_near=sum(error <= NEAR for error in errors) / len(errors),
            within_far=sum(error <= FAR for error in errors) / len(errors),
            median=statistics.median(errors),
            worst=max(errors),
        )

    def to_dict(self) -> dict[str, Any]:
        """The summary with the bands in its keys."""
        return {
            "count": self.count,
            "within_5_percent": self.within_near,
            "within_15_percent": self.within_far,
            "error_median": self.median,
            "error_max": self.worst,
        }


@dataclass(frozen=True, repr=False)
class Outcome:
    """A whole experiment with its predictions, in the order of its cells."""

    experiment: Experiment
    predictions: list[Prediction]
    variants: dict[str, dict[str, Prediction]]
    """For each variant of the experiment, the prediction for each cell's id."""
    runs: int
    seed: int
    interrupted: bool = False
    """Interrupted by Ctrl-C: only finished cells are here, and no verdicts."""
    verdicts: list[Verdict] = field(default_factory=list)

    def __repr__(self) -> str:
        """A line, however many cells there are."""
        return f"<Outcome {self.experiment.name!r}: {counted(len(self.predictions), 'cell')}, digest {self.digest()}>"

    def digest(self) -> str:
        """16 hexadecimal digits over the events of all runs behind the cells."""
        return combined_digest([prediction.digest for prediction in self.predictions])

    def identity(self) -> dict[str, Any]:
        """What is needed to repeat and recognise the table."""
        return {
            "version": _core.VERSION,
            "model_version": _core.MODEL_VERSION,
            "generator": _core.GENERATOR,
            "seed": self.seed,
            "digest": self.digest(),
        }

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """Published against predicted; a notebook shows it, and `path` has it if there is one. Raises ChartError."""
        return drawn(self._chart, path, self.identity)

    def _chart(self) -> altair.TopLevelMixin:
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        match self.experiment.picture.get("kind", "cells"):
            case "blocks":
                return charts.experiment(self.to_dict())
            case "lines":
                return charts.lines(self.to_dict(), self.experiment.picture)
        return charts.cells(self.to_dict())

    def by_id(self) -> dict[str, Prediction]:
        """Each cell's prediction under its id."""
        return {prediction.cell.id: prediction for prediction in self.predictions}

    def group(self, role: str, *, main_only: bool = False) -> list[Prediction]:
        """The predictions of one role, of all cells or of the most important ones."""
        return [
            prediction
            for prediction in self.predictions
            if prediction.cell.role == role and (not main_only or self.experiment.is_main(prediction.cell))
        ]

    def rows(self) -> list[dict[str, Any]]:
        """What `drivelab reproduce --csv` prints: a row for each cell, its fields among the figures."""
        cells = [prediction.to_dict() for prediction in self.predictions]
        return [{"id": cell["id"], **cell["fields"], **_without(cell, "id", "fields")} for cell in cells]

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab reproduce --json` prints."""
        groups = {
            CALIBRATION: self.group(CALIBRATION),
            VALIDATION: self.group(VALIDATION),
            "validation_main": self.group(VALIDATION, main_only=True),
        }
        summaries = {name: Summary.of(group) for name, group in groups.items()}
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "source": self.experiment.source,
            **self.identity(),
            "interrupted": self.interrupted,
            "runs": self.runs,
            "cells": [prediction.to_dict() for prediction in self.predictions],
            "claims": [
                {"id": verdict.id, "text": verdict.text, "holds": verdict.holds, "numbers": verdict.numbers}
                for verdict in self.verdicts
            ],
            "not_modelled": [
                {"what": what, "why": why} for what, why in self.experiment.not_modelled.items()
            ],
            "summary": {name: summary and summary.to_dict() for name, summary in summaries.items()},
        }


def _without(table: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}
