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


def completing(shell: str, words: list[str]) -> dict[str, str]:
    """What a shell has in the environment when the last of some words is completed."""
    if shell == "bash":
        line = {"COMP_WORDS": "\n".join(["drivelab", *words]), "COMP_CWORD": str(len(words))}
    else:
        line = {
            "_TYPER_COMPLETE_ARGS": " ".join(["drivelab", *words]),
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
    return {"_DRIVELAB_COMPLETE": f"complete_{shell}", **line}


@pytest.mark.parametrize(
    ("shell", "words", "offered"),
    [
        ("bash", ["sim"], "simulate"),
        ("bash", ["simulate", "--iod"], "--iodepth"),
        ("bash", ["--ver"], "--version"),
        ("zsh", ["simulate", "--drive", "wd-4tb"], "wd-4tb-7200"),
        ("zsh", ["compare_levels", "--mem"], "--members"),
        ("fish", ["trace", "con"], "convert"),
    ],
)
def test_a_shell_completes_a_word_and_no_other_verb_is_loaded(environment, shell, words, offered):
    code = f"{LOADED}; from drivelab.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | completing(shell, words),
        capture_output=True,
        text=True,
        check=True,
    )
    assert offered in done.stdout
    assert not set(done.stderr.split()) & {"drivelab.cli.validate", "drivelab.cli.fit", "altair", "numpy"}


@pytest.mark.parametrize("line", ["drivelab simulate --title 'a b", ""])
def test_a_line_that_is_not_finished_is_completed_too(environment, line):
    code = "import sys; sys.argv[0] = 'drivelab'; from drivelab.cli import main; main()"
    asked = {"_DRIVELAB_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | asked, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
