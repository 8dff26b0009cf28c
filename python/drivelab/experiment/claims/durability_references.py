"""The statements of published chains, closed forms and histories, checked on our chain, histories and splitting."""

from __future__ import annotations

from drivelab.experiment.outcome import Outcome, Prediction

_CORBETT = 1.2
"""Losses in 1e9 hours."""
POINTS = 1e-6
"""Maximum difference from the published survivals, in percentage points."""


def chain_is_exact(outcome: Outcome) -> tuple[bool, str]:
    """The survivals of the chain."""
    far = [
        abs(one.predicted - (one.cell.published or 0.0)) for one in _survivals(outcome) if _of(one, "chain")
    ]
    return max(
        far
    ) <= POINTS, f"{len(far)} survivals, the largest difference {max(far):.1e} percentage points"


def histories_agree(outcome: Outcome) -> tuple[bool, str]:
    """The survivals of plain and biased histories and of splitting, in their standard errors."""
    found = []
    for one in _survivals(outcome):
        if not _of(one, "chain") and one.statistical_error:
            error = one.statistical_error / 1.96 * one.predicted
            found.append(abs(one.predicted - (one.cell.published or 0.0)) / error)
    return max(found) <= 3, f"{len(found)} survivals, the largest difference {max(found):.2f} standard errors"


def weibull_loses_more(outcome: Outcome) -> tuple[bool, str]:
    """Elerath and Pecht: losses of the histories as multiples of MTTDL; checked for those with their scrub."""
    cells = {one.cell.fields["set"]: one.predicted for one in outcome.predictions}
    ratios = {name: cells[name] / cells["mttdl-2007"] for name in cells if name.startswith("weibull-")}
    texts = ", ".join(f"{name.removeprefix('weibull-')} {_times(ratio)}" for name, ratio in ratios.items())
    return all(2 <= ratios[name] <= 1500 for name in ("weibull-scrub", "weibull-scrub-36h")), texts


def corbett_has_half(outcome: Outcome) -> tuple[bool, str]:
    """The chain's rate for the same disks: it counts either of two as the first to fail, twice the published rate."""
    (found,) = (one.predicted for one in outcome.predictions if one.cell.fields["set"] == "corbett-2004")
    return abs(
        found / _CORBETT / 2 - 1
    ) < 0.01, f"the chain has {found:.2f}e-9 an hour, {_times(found / _CORBETT)}"


def _times(ratio: float) -> str:
    return f"x{ratio:,.0f}" if ratio >= 10 else f"x{ratio:.2f}"


def _survivals(outcome: Outcome) -> list[Prediction]:
    return [one for one in outcome.predictions if one.cell.fields["set"] == "prism"]


def _of(one: Prediction, method: str) -> bool:
    return one.cell.fields["method"] == method


CLAIMS = {
    "chain_is_exact": chain_is_exact,
    "histories_agree": histories_agree,
    "weibull_loses_more": weibull_loses_more,
    "corbett_has_half": corbett_has_half,
}
