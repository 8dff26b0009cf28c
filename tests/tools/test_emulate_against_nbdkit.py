"""tools/emulate_against_nbdkit.py: the table has a row for each depth, and a delay is no disk."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "emulate_against_nbdkit.py"


@pytest.fixture
def table(request):
    """The rows of its table."""

    def table(*options: str) -> list[list[str]]:
        for program in ("fio", "nbdkit"):
            if shutil.which(program) is None:
                pytest.skip(f"{request.node.name}: no {program}")
        done = subprocess.run(
            [sys.executable, TOOL, *options], capture_output=True, text=True, timeout=300, check=True
        )
        return [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]

    return table


def test_a_delay_answers_as_many_at_once_as_there_are_and_a_drive_does_not(table):
    head, _, row = table("--depths", "16", "--seconds", "2")
    assert len(head) == len(row) == 9
    assert row[:2] == ["16", "141.0"]
    measured, simulated, emulated, delayed = map(float, row[1:5])
    assert simulated == pytest.approx(measured, rel=0.05)
    # Two seconds on a machine that may be busy.
    assert emulated == pytest.approx(simulated, rel=0.25)
    assert delayed > 3 * measured


def test_a_depth_that_nobody_has_published_is_refused():
    done = subprocess.run(
        [sys.executable, TOOL, "--depths", "5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "--depths 5: published are 1, 2, 4, 8, 16, 24, 32" in done.stderr or "is not there" in done.stderr
