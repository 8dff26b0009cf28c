"""The guide to Python does what it says, and the functions of the package are those of the command line."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from guides import DOCS

import drivelab
from drivelab.cli import app
from drivelab.scenarios.scenario import WORDS

_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
# What the command line shows and writes: a function returns it.
_SHOWN = {
    *(
        "as_json",
        "as_csv",
        "quiet",
        "out",
        "output",
        "report",
        "title",
        "width",
        "dpi",
        "provenance",
        "metric",
        "chart",
    ),
    *("record", "with_table", "with_notes", "tornado", "ray", "checkpoint", "version", "table"),
}
_SAME = {"settings": "**", "randseed": "**", "format_": "reading", "keep_in": "keep", "kept_in": "kept"}


def test_the_guide_runs(tmp_path, environment):
    blocks = _BLOCK.findall((DOCS / "reference" / "python.md").read_text(encoding="utf-8"))
    assert len(blocks) > 10
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        env={**environment, "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "iodpeth is no argument: did you mean iodepth?" in done.stdout
    assert (tmp_path / "depth.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "depth.pdf").read_bytes().startswith(b"%PDF")
    assert "drivelab fit" in (tmp_path / "mine.toml").read_text(encoding="utf-8")


def test_the_guide_names_every_function():
    table = (DOCS / "reference" / "python.md").read_text(encoding="utf-8").split("## Simulate")[0]
    functions = {name for name in drivelab.__all__ if name[0].islower()}
    assert functions - set(re.findall(r"`(\w+)`", table)) == set()
    assert set(drivelab.__all__) <= set(dir(drivelab))
    assert all(getattr(drivelab, name).__doc__ for name in functions)


@pytest.mark.parametrize(
    "verb", ["measure", "emulate", "crashtest", "durability", "plan", "fit", "compare-levels"]
)
def test_a_function_has_the_options_of_its_verb(verb):
    command = app.program([verb]).commands[verb]
    command = getattr(command, "commands", {}).get("run", command)
    parameters = inspect.signature(getattr(drivelab, verb.replace("-", "_"))).parameters
    takes_keys = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    options = {_SAME.get(one.name, one.name) for one in command.params} - _SHOWN - {"**", "file", "scenario"}
    missing = {name for name in options if name not in parameters}
    # A scenario's own words are keys like any other.
    words = {"name", *WORDS} if takes_keys and verb not in {"plan", "durability"} else set()
    # Within a `with` block the device is there for whatever runs.
    assert missing - words == ({"run"} if verb == "emulate" else set())


def test_the_functions_stay_when_their_folders_are_imported():
    code = (
        "import drivelab, drivelab.arrays.plan.answer, drivelab.fit.stages, drivelab.arrays.durability.question\n"
        "print(*(callable(getattr(drivelab, name)) for name in ('plan', 'fit', 'durability', 'library')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"] * 4


def test_importing_loads_nothing_else():
    code = "import sys, drivelab; print(*(name for name in sys.modules if name.startswith('drivelab')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"drivelab"}


def test_one_drive_of_the_catalogue_shows_itself():
    drive = drivelab.catalogue("wd-wd740gd-00fla0")
    assert drive["name"] == "wd-wd740gd-00fla0"
    assert repr(drive).startswith("wd-wd740gd-00fla0, from catalogue/drives/wd-wd740gd-00fla0.toml\n\nfact ")
    assert "<table>" in drive._repr_html_()
    assert drive in drivelab.catalogue("drives")
    with pytest.raises(drivelab.InputError, match=r"did you mean .*wd-wd740gd-00fla0"):
        drivelab.catalogue("wd-wd740gd")


def test_an_error_of_a_function_names_arguments():
    with pytest.raises(drivelab.InputError, match=r"^bs changes nothing without sweep$"):
        drivelab.fit("wd-4tb-7200", bs="4k")
    with pytest.raises(drivelab.InputError, match=r"^fs_size: there is no file system to have it; give fs$"):
        drivelab.crashtest(drive="wd-4tb-7200", run="true", check="true", fs_size="1GiB")
    with pytest.raises(drivelab.InputError, match=r"^block_size=600: give 512 or 4096$"):
        drivelab.emulate(drive="wd-4tb-7200", block_size=600)
