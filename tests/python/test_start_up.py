"""That the command line starts without what takes long to load: the modules are counted, not the time."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("altair", "fastapi", "numpy", "pandas", "polars", "rich", "uvicorn", "vl_convert", "drivelab.charts")
LOADED = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); sys.argv[0] = 'drivelab'"


def loaded(environment: dict[str, str], *words: str) -> set[str]:
    """The modules that are there when the command line has ended."""
    code = f"{LOADED}; from drivelab.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("words", [("--version",), ("schema",)])
def test_nothing_heavy_is_loaded(environment, words):
    assert not loaded(environment, *words) & set(HEAVY)


def test_the_version_loads_no_verb(environment):
    found = loaded(environment, "--version")
    assert "drivelab.cli.output" in found
    assert not found & {
        "typer",
        "drivelab.cli.app",
        "drivelab.cli.simulate",
        "drivelab.runs.simulation",
        "drivelab.arrays.levels",
        "drivelab.scanning",
    }


def test_the_version_is_the_same_beside_a_verb(run):
    alone, beside = run("--version"), run("--version", "simulate")
    assert (alone.returncode, alone.stdout) == (beside.returncode, beside.stdout)
    assert alone.stdout.startswith("drivelab ")


def test_a_verb_loads_no_other(environment):
    found = loaded(environment, "schema")
    assert "drivelab.cli.schema" in found
    assert not found & {"drivelab.cli.simulate", "drivelab.cli.validate", "drivelab.cli.compare_levels"}


@pytest.mark.parametrize("words", [("page", "--help"), ("library", "--help"), ("--help",)])
def test_no_other_verb_loads_what_the_page_is_served_with(environment, words):
    assert not loaded(environment, *words) & {"fastapi", "starlette", "uvicorn"}


@pytest.mark.parametrize("module", ["drivelab.cli.command", "drivelab._core", "drivelab.cli.app"])
def test_ctrl_c_while_a_command_loads_is_one_line(environment, module):
    stopping = (
        "import sys, drivelab.cli\n"
        "class Stopped:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stopped())\n"
        "drivelab.cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", stopping, "schema"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
