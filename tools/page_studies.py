"""Writes studies.js of the page: the published tables of the package, with the scenarios that predict their cells.

`python tools/page_studies.py FOLDER` writes it into FOLDER; tools/page.py calls it when it builds the page, and the
page loads the file when the room "The studies" is opened. It is a script and not JSON, because a browser loads a script
from a folder too. What it holds are the definitions of `drivelab reproduce`: each scenario as text, the figures as
printed, where each cell stands in the tables, and which cells each claim reads. No predicted figure is in it.

A claim that reads no cell (arithmetic on printed figures) is judged here; the page judges all others on its own runs.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from drivelab import experiment
from drivelab.errors import InputError
from drivelab.experiment.claims import OF_EXPERIMENT
from drivelab.experiment.model import UNITS, Cell, Experiment
from drivelab.experiment.outcome import FAR, NEAR, Outcome, Prediction
from drivelab.scanning.sizes import LARGEST, SMALLEST, size_text

NAME = "studies.js"
SIMULATED = "simulate"
TRIALS = 40
"""How often a claim is judged on other made-up figures, to find the cells that it reads: an `and` may end early."""
SIZES = {size_text(SMALLEST << step): SMALLEST << step for step in range((LARGEST // SMALLEST).bit_length())}

SECONDS = {
    "ich9r-2008": 14.2,
    "ich9r-2008-raid": 35.4,
    "lkml-2007": 7.2,
    "mirpk-2005": 2.1,
    "mirpk-2005-desktop": 2.6,
    "storagereview-2004": 4.5,
    "storagereview-2004-desktop": 7.0,
    "storagereview-2004-raid": 11.3,
}
"""Seconds of one core that `drivelab reproduce` took: the page's first estimate, until it has timed runs of its own."""

Place = tuple[str | None, str]
"""A variant, or none, and a cell's id."""


@dataclass
class Scenarios:
    """Scenarios of one experiment, each text once, in the order in which they are first needed."""

    of: Experiment
    numbers: dict[str, int] = field(default_factory=dict)
    logs: dict[str, int] = field(default_factory=dict)

    def number(self, cell: Cell, variant: str | None) -> int:
        """The number of a cell's scenario."""
        text, measure = self.of.scenario_of(cell, variant), self.of.measure_of(cell)
        self.logs[text] = max(self.logs.get(text, 0), measure.log if measure else 0)
        return self.numbers.setdefault(text, len(self.numbers))

    def rows(self) -> list[dict[str, Any]]:
        """The scenarios as the page has them."""
        return [{"text": text, "log": self.logs[text]} for text in self.numbers]


@dataclass(frozen=True)
class Read:
    """A prediction with a made-up figure that notes when it is read."""

    cell: Cell
    variant: str | None
    figure: float
    seen: dict[Place, None]

    @property
    def predicted(self) -> float:
        """The figure."""
        self.seen[self.variant, self.cell.id] = None
        return self.figure

    @property
    def statistical_error(self) -> float | None:
        """None, as of a run that is too short to estimate it."""
        self.seen[self.variant, self.cell.id] = None
        return None


def made_up(cell: Cell, variant: str | None, trial: int) -> float:
    """A positive figure for a cell, another one in each trial; the time of a request grows with its size."""
    number = (
        sum(ord(letter) * (at + 7) for at, letter in enumerate(f"{cell.id} {variant} {trial}"))
        * 2_654_435_761
    )
    base = cell.published or 100.0
    if (size := cell.fields.get("size")) is not None:
        base = 10.0 + SIZES[size] / 1e5
    return base * (0.7 + 0.6 * (number % 4_096) / 4_096)


def outcome_of(of: Experiment, prediction: Callable[[Cell, str | None], object]) -> Outcome:
    """An outcome with predictions that were made up."""
    whole = [prediction(cell, None) for cell in of.cells]
    variants = {name: {cell.id: prediction(cell, name) for cell in of.cells_of(name)} for name in of.variants}
    return Outcome(
        experiment=of,
        predictions=cast(list[Prediction], whole),
        variants=cast(dict[str, dict[str, Prediction]], variants),
        runs=0,
        seed=1,
    )


def reads(of: Experiment, claim: str) -> list[Place]:
    """The cells that a claim's function reads."""
    seen: dict[Place, None] = {}
    for trial in range(TRIALS):
        found = outcome_of(
            of,
            lambda cell, variant, trial=trial: Read(cell, variant, made_up(cell, variant, trial), seen),  # type: ignore[misc]
        )
        # Figures to which no model can be fitted are read before this is found out.
        with contextlib.suppress(InputError):
            OF_EXPERIMENT[of.name][claim](found)
    return list(seen)


def claims(of: Experiment, numbers: dict[str, int]) -> list[dict[str, Any]]:
    """The claims, each with the cells that it reads, or with its verdict if it reads none."""
    rows: list[dict[str, Any]] = []
    for id_, text in of.claims.items():
        places = reads(of, id_)
        row: dict[str, Any] = {
            "id": id_,
            "text": text,
            "reads": [[variant, numbers[cell]] for variant, cell in places],
        }
        if not places:
            holds, shown = OF_EXPERIMENT[of.name][id_](outcome_of(of, lambda *_: None))
            row["fixed"] = {"holds": holds, "numbers": shown}
        rows.append(row)
    return rows


def tables(of: Experiment, numbers: dict[str, int]) -> list[dict[str, Any]]:
    """The tables as `drivelab reproduce` prints them: for each row its place, and each column's cell by its number."""
    found = []
    values = dict.fromkeys(
        (layout.split, cell.fields[layout.split]) for layout in of.tables for cell in of.cells
    )
    for split, value in values:
        for layout in of.tables:
            wanted = {**layout.only, split: value}
            rows: dict[tuple[str, ...], dict[str, int]] = {}
            for cell in of.cells if layout.split == split else []:
                if wanted.items() <= cell.fields.items() and cell.fields[layout.columns] in layout.shown:
                    place = tuple(cell.fields[name] for name in layout.rows)
                    rows.setdefault(place, {})[cell.fields[layout.columns]] = numbers[cell.id]
            if rows:
                found.append(
                    {
                        "title": f"{value}: {layout.title}",
                        "rows": layout.rows,
                        "shown": layout.shown,
                        "places": [[list(place), cells] for place, cells in rows.items()],
                    }
                )
    return found


def exported(of: Experiment) -> dict[str, Any]:
    """One experiment as the page has it."""
    scenarios = Scenarios(of)
    numbers = {cell.id: number for number, cell in enumerate(of.cells)}
    cells = [
        {
            "id": cell.id,
            "published": cell.published,
            "resolution": cell.resolution,
            "role": cell.role,
            "is_main": of.is_main(cell) if of.main else False,
            "unit": of.unit_of(cell),
            "divisor": UNITS[of.unit_of(cell)],
            "metric": of.metric_of(cell),
            "measure": next(
                (
                    name
                    for part in of.fields
                    if (value := part.values.get(cell.fields[part.name])) and (name := value.measure)
                ),
                None,
            ),
            "scenario": scenarios.number(cell, None),
        }
        for cell in of.cells
    ]
    variants = {
        name: {str(numbers[cell.id]): scenarios.number(cell, name) for cell in of.cells_of(name)}
        for name in of.variants
    }
    return {
        "name": of.name,
        "title": of.title,
        "source": of.source,
        "seconds": SECONDS.get(of.name),
        "main": " and ".join(f"{name} from {least:g}" for name, least in of.main.items()),
        "scenarios": scenarios.rows(),
        "cells": cells,
        "variants": variants,
        "tables": tables(of, numbers),
        "claims": claims(of, numbers),
        "facts": of.facts,
        "not_modelled": [{"what": what, "why": why} for what, why in of.not_modelled.items()],
    }


def year_of(name: str) -> int:
    """The year in an experiment's name."""
    found = re.search(r"-(\d{4})\b", name)
    return int(found[1]) if found else 0


def published() -> dict[str, Experiment]:
    """All published tables that the simulator predicts, the oldest first, under their names."""
    loaded = [of for of in map(experiment.load, experiment.names()) if of.room == SIMULATED]
    return {of.name: of for of in sorted(loaded, key=lambda of: (year_of(of.name), of.name))}


def document() -> dict[str, Any]:
    """What the page has of them."""
    return {"near": NEAR, "far": FAR, "experiments": list(map(exported, published().values()))}


def text() -> str:
    """The file."""
    found = json.dumps(document(), ensure_ascii=False, separators=(",", ":"))
    return f"globalThis.drivelabStudies = {found};\n"


def main(words: list[str]) -> int:
    """Write the file into the folder that is named. Return the exit code."""
    if len(words) != 1 or not Path(words[0]).is_dir():
        print("page_studies.py: name the folder of the built page, such as build/page", file=sys.stderr)
        return 2
    Path(words[0], NAME).write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
