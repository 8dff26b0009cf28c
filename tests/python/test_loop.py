"""`drivelab loop` that is interrupted: the points that had finished are printed."""

from __future__ import annotations

import json

import pytest

from drivelab import _core

WORDS = (
    "loop", "--drive", "wd-4tb-7200", "--rw", "randread", "--bs", "4k", "--iodepth", "1,2,4", "--ramp-time", "0s",
    "--runtime", "100ms",
)  # fmt: skip


@pytest.mark.parametrize("finished", [0, 2])
@pytest.mark.parametrize("form", [["--json"], []], ids=["json", "table"])
def test_ctrl_c_leaves_the_points_that_had_finished(run, monkeypatch, form, finished):
    looped = _core.loop_back

    def until(plan: _core.Plan, place: int, *rest: object) -> object:
        if place == finished:
            raise KeyboardInterrupt
        return looped(plan, place, *rest)

    monkeypatch.setattr(_core, "loop_back", until)
    done = run(*WORDS, *form)
    assert done.returncode == 130, done.stderr
    assert done.stderr.endswith(f"interrupted: {finished} of 3 points finished\n")
    if form:
        found = json.loads(done.stdout)
        assert (found["interrupted"], len(found["points"])) == (True, finished)
    else:
        rows = [line.split()[0] for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
        assert rows == ["1", "2"][:finished]
