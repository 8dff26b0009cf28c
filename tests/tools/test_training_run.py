"""The run between the two builds of `make wheel`: it is named in pyproject.toml, and its scenarios are sound."""

from __future__ import annotations

import tomllib
from pathlib import Path

import training_run

ROOT = Path(__file__).resolve().parents[2]


def test_the_build_runs_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["maturin"]["pgo-command"] == "python tools/training_run.py"


def test_all_scenarios_run():
    training_run.main()
