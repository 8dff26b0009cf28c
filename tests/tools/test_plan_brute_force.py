"""tools/plan_brute_force.py: the pick of `drivelab plan` is that of brute force, and a wrong one is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import plan_brute_force as tool
from drivelab.arrays.plan import choice
from drivelab.arrays.plan.grid import Candidate

# The candidates of a seed are simulated once for all that is done with them.
pytestmark = [pytest.mark.usefixtures("loads_once"), pytest.mark.xdist_group("brute-force")]


@pytest.mark.parametrize("seed", [1, 8])
def test_the_pick_is_that_of_brute_force(seed: int, capsys):
    assert tool.held(seed) == (True, True)
    assert capsys.readouterr().out.startswith(f"{seed:3} same: raid")


def test_a_wrong_pick_is_told(monkeypatch, capsys):
    def dearest(candidates: Sequence[Candidate]) -> Candidate:
        return max((one for one in candidates if one.holds), key=choice.order)

    monkeypatch.setattr(tool.choice, "pick", dearest)
    assert tool.held(8) == (False, True)
    said = capsys.readouterr().out
    assert "DIFFERS" in said
    assert "brute force: raid" in said
