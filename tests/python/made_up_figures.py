"""Experiments of the catalogue with made-up figures in their cells, for the tests of the claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from drivelab import experiment
from drivelab.experiment.claims import judge
from drivelab.experiment.outcome import Outcome, Prediction
from drivelab.scanning.sizes import LARGEST, SMALLEST, size_text

CATALOGUE = Path(__file__).parents[2] / "catalogue" / "experiments"
SIZES = {size_text(SMALLEST << step): SMALLEST << step for step in range((LARGEST // SMALLEST).bit_length())}

Fields = Mapping[str, str]
Figure = Callable[[Fields, str | None], float]
Change = Callable[[Fields, str | None, float], float]


def outcome(name: str, figure: Figure) -> Outcome:
    """An experiment of the catalogue with made-up figures in its cells."""
    loaded = experiment.load(str(CATALOGUE / f"{name}.toml"))

    def predictions(variant: str | None) -> list[Prediction]:
        return [
            Prediction(cell, figure(cell.fields, variant), 0.001, "", loaded.unit_of(cell))
            for cell in loaded.cells_of(variant)
        ]

    variants = {
        variant: {prediction.cell.id: prediction for prediction in predictions(variant)}
        for variant in loaded.variants
    }
    return Outcome(loaded, predictions(None), variants, runs=0, seed=1)


def failing(name: str, figure: Figure, change: Change | None = None) -> set[str]:
    """The claims that do not hold on some figures."""

    def changed(fields: Fields, variant: str | None) -> float:
        value = figure(fields, variant)
        return value if change is None else change(fields, variant, value)

    verdicts = judge(outcome(name, changed))
    assert all(verdict.numbers for verdict in verdicts)
    return {verdict.id for verdict in verdicts if not verdict.holds}


def scaled(factor: float, *variants: str, **wanted: str) -> Change:
    """A change that multiplies the figures of some cells: of no variant, or of those named ("" is none)."""

    def change(fields: Fields, of: str | None, value: float) -> float:
        return (
            value * factor
            if (of or "") in (variants or ("",)) and wanted.items() <= fields.items()
            else value
        )

    return change


def failing_with(name: str, figure: Figure, key: str, fact: str, value: object) -> set[str]:
    """The claims that do not hold where the study had printed something else."""
    found = outcome(name, figure)
    found.experiment.facts[key][fact] = value
    return {verdict.id for verdict in judge(found) if not verdict.holds}
