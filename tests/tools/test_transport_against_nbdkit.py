"""tools/transport_against_nbdkit.py: the table has a row for each kind and depth, with ratios that are some."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "transport_against_nbdkit.py"


def test_a_row_for_each_kind_and_depth():
    for command in ("fio", "nbdkit"):
        if shutil.which(command) is None:
            pytest.skip(f"test_a_row_for_each_kind_and_depth: no {command}")
    words = ["--turns", "1", "--seconds", "0.5", "--depths", "2", "--kinds", "randwrite,randread"]
    done = subprocess.run(
        [sys.executable, str(TOOL), *words], capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    head, rule, *rows = done.stdout.splitlines()
    assert head.startswith("|  | depth | ours, IOPS | nbdkit, IOPS | IOPS, ours to theirs |")
    assert set(rule) == set("|-")
    assert [row.split(" | ")[0] for row in rows] == ["| randwrite", "| randread"]
    for row in rows:
        own, other, *ratios = row.strip("| ").split(" | ")[2:]
        assert all(int(iops.replace(",", "")) > 0 for iops in (own, other))
        assert all(re.fullmatch(r"\d+\.\d\d \(\d+\.\d\d to \d+\.\d\d\)", ratio) for ratio in ratios)


def test_what_is_not_there_is_told(tmp_path):
    done = subprocess.run(
        [sys.executable, str(TOOL), "--drivelab", str(tmp_path / "absent")],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "is not there: install it" in done.stderr
