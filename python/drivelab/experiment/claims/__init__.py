"""The findings of published tables as functions of predicted cells: one file per experiment.

A function takes the outcome and returns whether the finding holds and the numbers that decide it. The experiment's
file holds the sentence; `CLAIMS` in the module of the same name in this folder has the function under it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drivelab.errors import InputError
from drivelab.experiment.claims import (
    durability_references,
    ich9r_2008,
    ich9r_2008_raid,
    lkml_2007,
    mirpk_2005,
    mirpk_2005_desktop,
    storagereview_2004,
    storagereview_2004_desktop,
    storagereview_2004_raid,
)
from drivelab.experiment.outcome import Outcome, Verdict

Claim = Callable[[Outcome], tuple[bool, str]]

OF_EXPERIMENT: Mapping[str, Mapping[str, Claim]] = {
    "durability-references": durability_references.CLAIMS,
    "ich9r-2008": ich9r_2008.CLAIMS,
    "ich9r-2008-raid": ich9r_2008_raid.CLAIMS,
    "lkml-2007": lkml_2007.CLAIMS,
    "mirpk-2005": mirpk_2005.CLAIMS,
    "mirpk-2005-desktop": mirpk_2005_desktop.CLAIMS,
    "storagereview-2004": storagereview_2004.CLAIMS,
    "storagereview-2004-desktop": storagereview_2004_desktop.CLAIMS,
    "storagereview-2004-raid": storagereview_2004_raid.CLAIMS,
}


def judge(outcome: Outcome) -> list[Verdict]:
    """A verdict on each claim of the experiment's file. Raises InputError for one without a function."""
    functions = OF_EXPERIMENT.get(outcome.experiment.name, {})
    verdicts = []
    for id_, text in outcome.experiment.claims.items():
        if id_ not in functions:
            raise InputError(f"{outcome.experiment.name}: no function checks the claim {id_}")
        holds, numbers = functions[id_](outcome)
        verdicts.append(Verdict(id_, text, holds, numbers))
    return verdicts
