"""What tools/preflight.sh says on machines that lack something: one line, and nothing where all is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
OLD_PYTHON = "echo 3.10"
PYTHON = 'case "$2" in *version_info*) echo 3.12 ;; esac'
NO_VENV = 'case "$2" in *version_info*) echo 3.12 ;; *) exit 1 ;; esac'


class Machine:
    """A copy of what preflight reads, in a folder with a blank in its name, and programs that we wrote."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "a clone"
        (self.tree / "tools").mkdir(parents=True)
        for name in ("tools/preflight.sh", "pyproject.toml", "Cargo.toml"):
            shutil.copy(ROOT / name, self.tree / name)
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in ("sh", "sed", "dirname", "cat"):
            (self.programs / name).symlink_to(str(shutil.which(name)))
        self.program("cargo", "echo cargo 1.95.0 '(f2d3ce0bd 2026-03-21)'")
        self.program("rustc", "echo rustc 1.95.0 '(59807616e 2026-04-14)'")
        self.program("cc", ":")
        self.program("python3", PYTHON)

    def program(self, name: str, body: str) -> None:
        path = self.programs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def says(self, *arguments: str, python: str = "") -> str:
        command = [str(self.programs / "sh"), str(self.tree / "tools/preflight.sh"), *arguments]
        environment = {"PATH": str(self.programs), "PYTHON": python}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_complete_machine_lacks_nothing(machine: Machine):
    assert machine.says("check") == ""
    assert machine.says("check", "lint") == ""
    assert machine.says("python") == "python3\n"


@pytest.mark.parametrize(
    ("program", "body", "expected"),
    [
        ("cargo", None, "cargo is missing: install Rust 1.89 or newer with rustup\n"),
        ("rustc", "echo rustc 1.88.0", "rustc 1.88 is too old: rustup update brings 1.89 or newer\n"),
        ("rustc", "echo rustc 2.0.0", ""),
        ("cc", None, "a C linker (cc) is missing: install gcc or clang\n"),
        (
            "python3",
            NO_VENV,
            "python3 has no venv module: install it (on Debian: apt-get install python3-venv)\n",
        ),
        (
            "python3",
            OLD_PYTHON,
            "Python 3.11 or newer is missing (looked for python3.13, 3.12, 3.11, python3): "
            "install it, or name it with PYTHON=...\n",
        ),
    ],
)
def test_what_is_missing_is_said_in_one_line(machine: Machine, program: str, body: str | None, expected: str):
    if body is None:
        (machine.programs / program).unlink()
    else:
        machine.program(program, body)
    assert machine.says("check") == expected


def test_formatters_are_missed_by_the_checks_only(machine: Machine):
    machine.program("cargo", 'case "$1" in --version) echo cargo 1.95.0 ;; *) exit 1 ;; esac')
    assert machine.says("check") == ""
    assert machine.says("check", "lint") == "cargo fmt is missing: rustup component add rustfmt clippy\n"


def test_the_newest_interpreter_that_runs_is_taken(machine: Machine):
    machine.program("python3.13", "exit 127")
    machine.program("python3.12", PYTHON)
    assert machine.says("python") == "python3.12\n"


def test_an_interpreter_may_be_named(machine: Machine):
    machine.program("my pythons/python", PYTHON)
    named = str(machine.programs / "my pythons/python")
    assert machine.says("check", python=named) == ""
    assert machine.says("python", python=named) == named + "\n"
    assert "(looked for nowhere)" in machine.says("check", python="nowhere")


def test_an_environment_that_is_there_needs_no_other_interpreter(machine: Machine):
    (machine.programs / "python3").unlink()
    machine.program(str(machine.tree / ".venv/bin/python"), PYTHON)
    (machine.tree / ".venv/folder").write_text(f"{machine.tree.resolve()}\n", encoding="utf-8")
    assert machine.says("check") == ""
    machine.program("python3.11", "echo 3.11")
    assert machine.says("check", python="python3.11").startswith(".venv was made with another Python")
    (machine.tree / ".venv/folder").write_text("somewhere else\n", encoding="utf-8")
    assert machine.says("check") == ".venv was made in another folder: make clean, then again\n"
