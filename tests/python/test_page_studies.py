"""The published tables of the page: what tools/page_studies.py writes, and the page's verdicts on made-up figures.

The page judges claims and counts errors by rules of its own, in web/src/studies. Here both sides judge the same made-up
figures; the page is given only those that the file says a claim reads.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import test_claims
import test_claims_desktop
import test_claims_raid
from made_up_figures import Figure, outcome

import page
import page_studies
from drivelab import experiment
from drivelab.errors import InputError
from drivelab.experiment.claims import OF_EXPERIMENT
from drivelab.experiment.outcome import Outcome, Prediction
from drivelab.experiment.tables import cell_tables

pytestmark = pytest.mark.xdist_group("page")

HOLDING: dict[str, Figure | None] = {
    "ich9r-2008": test_claims.ich9r,
    "ich9r-2008-raid": test_claims_raid.ich9r,
    "lkml-2007": None,
    "mirpk-2005": test_claims.mirpk,
    "mirpk-2005-desktop": test_claims_desktop.applications,
    "storagereview-2004": test_claims.storagereview,
    "storagereview-2004-desktop": test_claims_desktop.one_user,
    "storagereview-2004-raid": test_claims_raid.storagereview,
}
"""For each experiment figures with which its claims hold; None: the published ones."""
NOISES = (0.002, 0.005, 0.02, 0.2, 2.0)
TRIALS = 4


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The file as the page reads it."""
    text = page_studies.text()
    before, after = "globalThis.drivelabStudies = ", ";\n"
    assert text.startswith(before)
    assert text.endswith(after)
    found: dict[str, Any] = json.loads(text[len(before) : -len(after)])
    return found


def test_every_published_table_of_the_simulator_is_there_oldest_first(document: dict[str, Any]):
    names = [one["name"] for one in document["experiments"]]
    simulated = {name for name in experiment.names() if experiment.load(name).room == "simulate"}
    assert set(names) == simulated == set(HOLDING)
    assert [page_studies.year_of(name) for name in names] == sorted(map(page_studies.year_of, names))
    assert "durability-references" not in names


@pytest.mark.parametrize("name", HOLDING)
def test_scenarios_cells_and_tables_are_those_of_reproduce(document: dict[str, Any], name: str):
    of = experiment.load(name)
    (found,) = (one for one in document["experiments"] if one["name"] == name)
    texts = [one["text"] for one in found["scenarios"]]
    assert len(texts) == len(set(texts))
    assert len(texts) == len(
        {of.scenario_of(cell, variant) for variant in (None, *of.variants) for cell in of.cells_of(variant)}
    )
    for cell, row in zip(of.cells, found["cells"], strict=True):
        assert (row["id"], row["published"], row["role"]) == (cell.id, cell.published, cell.role)
        assert texts[row["scenario"]] == of.scenario_of(cell)
    for variant, numbers in found["variants"].items():
        for cell in of.cells_of(variant):
            assert texts[numbers[str(of.cells.index(cell))]] == of.scenario_of(cell, variant)
    printed = cell_tables(made_up(name, 0.0, 0))
    assert [one["title"] for one in found["tables"]] == [table.title for table in printed]
    for one, table in zip(found["tables"], printed, strict=True):
        assert [*one["rows"], *one["shown"]] == table.columns
        assert [place for place, _ in one["places"]] == [
            [cell.text for cell in row[: len(one["rows"])]] for row in table.rows
        ]


def test_a_claim_of_figures_reads_some_and_one_of_arithmetic_has_its_verdict(document: dict[str, Any]):
    arithmetic = {
        claim["id"] for one in document["experiments"] for claim in one["claims"] if not claim["reads"]
    }
    assert arithmetic == {"transfer-times", "system-price", "annual_failure", "cost"}
    for one in document["experiments"]:
        for claim in one["claims"]:
            assert ("fixed" in claim) is (not claim["reads"])


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert page_studies.main([str(tmp_path / "none")]) == 2
    assert "name the folder of the built page, such as build/page" in capsys.readouterr().err


def made_up(name: str, noise: float, trial: int) -> Outcome:
    """An outcome with figures near those with which the claims hold."""
    dice = random.Random(f"{name} {noise} {trial}")  # noqa: S311 - no secret
    figure = HOLDING[name]
    found = outcome(name, figure or (lambda *_: 1.0))

    def changed(one: Prediction) -> Prediction:
        base = one.predicted if figure is not None else (one.cell.published or 1.0)
        error = None if dice.random() < 0.2 else 0.01 * dice.random()
        return replace(
            one, predicted=base * math.exp(noise * (2 * dice.random() - 1)), statistical_error=error
        )

    return replace(
        found,
        predictions=list(map(changed, found.predictions)),
        variants={
            variant: {id_: changed(one) for id_, one in of.items()} for variant, of in found.variants.items()
        },
    )


def verdicts(found: Outcome) -> Iterator[dict[str, Any]]:
    """The package's verdict on each claim; no verdict where the figures allow none."""
    for id_ in found.experiment.claims:
        try:
            holds, numbers = OF_EXPERIMENT[found.experiment.name][id_](found)
        except InputError:
            yield {"id": id_, "verdict": None}
        else:
            yield {"id": id_, "verdict": {"holds": holds, "numbers": numbers}}


def case(found: Outcome) -> dict[str, Any]:
    """Figures and what the package says of them."""
    numbers = {cell.id: number for number, cell in enumerate(found.experiment.cells)}
    groups = [(None, found.predictions), *((name, list(of.values())) for name, of in found.variants.items())]
    whole = found.to_dict()["summary"]
    return {
        "name": found.experiment.name,
        "figures": [
            [variant, numbers[one.cell.id], one.predicted, one.statistical_error]
            for variant, of in groups
            for one in of
        ],
        "verdicts": list(verdicts(found)),
        "errors": [one.error for one in found.predictions],
        "summary": [whole[name] for name in ("calibration", "validation", "validation_main")],
    }


def test_the_page_judges_made_up_figures_as_the_package_does(document: dict[str, Any], tmp_path: Path):
    why = page.lacking()
    if why is not None:
        pytest.skip(why)
    page.packages()
    cases = [
        case(made_up(name, noise, trial)) for name in HOLDING for noise in NOISES for trial in range(TRIALS)
    ]
    told = {
        (one["name"], row["id"], row["verdict"]["holds"])
        for one in cases
        for row in one["verdicts"]
        if row["verdict"]
    }
    read = {
        (one["name"], claim["id"])
        for one in document["experiments"]
        for claim in one["claims"]
        if claim["reads"]
    }
    assert {(*claim, holds) for claim in read for holds in (True, False)} <= told, (
        "each claim holds and fails"
    )
    (tmp_path / "studies.json").write_text(
        json.dumps({"studies": document, "cases": cases}), encoding="utf-8"
    )
    done = subprocess.run(
        [page.WEB / "node_modules/.bin/vitest", "run", "tests/unit/studies.test.ts"],
        cwd=page.WEB,
        env=os.environ | {"DRIVELAB_PAGE_STUDIES": str(tmp_path / "studies.json"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
