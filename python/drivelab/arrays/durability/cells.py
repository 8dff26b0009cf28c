"""Published probabilities of loss as cells of an experiment: a scenario is a file of `drivelab durability`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.question import asked
from drivelab.arrays.durability.solving import solve
from drivelab.errors import InputError, raw
from drivelab.report import toml_text
from drivelab.runs.result import Point, Result
from drivelab.runs.simulation import Progress


@dataclass(frozen=True)
class Question:
    """One array whose losses a cell predicts."""

    options: dict[str, Any]
    level: str
    seed: int

    @classmethod
    def of(cls, text: str, origin: str) -> Question:
        """Create it from the TOML text of a scenario. Raises InputError."""
        options = toml_text.loads(text)
        try:
            found = asked(options)
            names = found["levels"]
            if len(names) > 1:
                raise InputError(f"level: a cell has one, and here are {', '.join(names)}; keep one of them")
        except InputError as error:
            raise InputError(f"{origin}: {raw(error)}") from error
        return cls(options, names[0], found["questions"][0]["settings"]["seed"])

    def __len__(self) -> int:
        """One point."""
        return 1


def answered(questions: list[Question], progress: Progress | None) -> list[Result]:
    """The losses of each array as the point of a result."""
    found = []
    for done, one in enumerate(questions, 1):
        losses = solve(one.options)
        found.append(
            Result(
                name=one.level,
                seed=one.seed,
                scenario_hash=losses.provenance()["scenario_hash"],
                points=[cast(Point, _point(losses))],
            )
        )
        if progress is not None:
            progress(done)
    return found


def _point(losses: Losses) -> dict[str, Any]:
    """The values that a cell may name, with the relative half-width of the first one's interval."""
    (found,) = losses.outcomes
    (row,) = losses.rows()
    year = {key: (value or 0.0) / 100 for key, value in found["loss_in_a_year_percent"].items()}
    survival = 1 - year["value"]
    losses_in_life = found["losses_in_life"]
    textbook, mttdl = found["textbook"], found["mttdl_years"]["value"]
    hours = textbook["approximate_hours"] if textbook else None
    years = None if hours is None else hours / 8760
    life = losses.questions[0]["array"]["life_hours"] / 8760
    return {
        **row,
        "digest": losses.provenance()["digest"],
        "survival_in_a_year": survival,
        "survival_standard_error": year["error"],
        "losses_of_1000_in_life": 1000 * (losses_in_life["value"] or 0.0),
        "textbook_years": years,
        "losses_of_1000_by_textbook": 1000 * life / years if years else None,
        "losses_in_1e9_hours": 1e9 / (8760 * mttdl) if mttdl else None,
        "iops_relative_error": 1.96 * year["error"] / survival,
    }
