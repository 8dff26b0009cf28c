"""tools/plant.py: what a table must say, how a fault is planted and judged, and that nothing of it stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import plant
from plant import Ended

SOURCE = "fn limit() -> u32 {\n    8\n}\n"
TABLE = """
file = "src/lib.rs"
tests = ["--test limits"]

[[fault]]
name = "one-more"
says = "the limit is one more"
old = "    8"
new = "    9"

[[fault]]
name = "one-less"
says = "the limit is one less"
old = "    8"
new = "    7"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with one file and one table."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/lib.rs").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "tools/faults").mkdir(parents=True)
    (tmp_path / "tools/faults/limits.toml").write_text(TABLE, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("/build/\n", encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


class Fake:
    """In the place of cargo: tests that notice what is in `caught`, and the sources that they saw."""

    def __init__(self, caught: str = "", builds: bool = True, ends: bool = True) -> None:
        self.caught, self.builds, self.ends = caught, builds, ends
        self.seen: list[str] = []

    def __call__(self, command: list[str], folder: Path, _: float) -> Ended:
        source = (folder / "src/lib.rs").read_text(encoding="utf-8")
        sound = source == SOURCE
        if "--no-run" in command:
            return Ended(0, "") if sound or self.builds else Ended(101, "error[E0308]: mismatched types\n")
        self.seen.append(source)
        if not (sound or self.ends):
            return Ended(None, "")
        if self.caught and self.caught in source:
            failed = "test limits::hold ... FAILED\ntest limits::hold_too ... FAILED\n"
            return Ended(101, failed)
        return Ended(0, "test limits::hold ... ok\n")


def run(root: Path, tests: Fake, *arguments: str) -> int:
    return plant.main(list(arguments), root, tests)


def test_a_fault_is_caught_or_lives_and_the_checkout_stays(root: Path, capsys):
    tests = Fake(caught="9")
    assert run(root, tests) == 3
    said = capsys.readouterr().out
    assert "one-more: caught" in said
    assert "limits::hold and 1 more" in said
    assert "one-less: SURVIVED" in said
    assert "write a property that fails with it" in said
    assert "1 caught, 1 SURVIVED of 2 faults" in said
    # Without a fault first, then one at a time; neither is left behind.
    assert tests.seen == [SOURCE, SOURCE.replace("8", "9"), SOURCE.replace("8", "7")]
    assert (root / "src/lib.rs").read_text(encoding="utf-8") == SOURCE
    assert (root / "build/plant/tree/src/lib.rs").read_text(encoding="utf-8") == SOURCE


def test_all_caught_is_success(root: Path):
    assert run(root, Fake(caught="9"), "--only", "one-more") == 0
    assert run(root, Fake(caught="9"), "--only", "1", "--room", "limits") == 0


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        (Fake(builds=False), "does not build (0 s): error[E0308]: mismatched types"),
        (
            Fake(ends=False),
            "HANGS (0 s): cargo test --test limits: not over after 120 s; give the test a limit",
        ),
    ],
)
def test_what_does_not_build_or_end_is_no_success(root: Path, capsys, tests: Fake, expected: str):
    assert run(root, tests, "--only", "one-more") == 3
    assert expected in capsys.readouterr().out


def test_a_fault_that_does_not_apply_names_the_remedy(root: Path, capsys):
    (root / "src/lib.rs").write_text(SOURCE.replace("8", "16"), encoding="utf-8")
    assert run(root, Fake(), "--check") == 3
    assert "is not there in src/lib.rs: write it as the file has it now" in capsys.readouterr().out
    (root / "src/lib.rs").write_text(SOURCE + SOURCE, encoding="utf-8")
    assert run(root, Fake(), "--check") == 3
    assert "occurs 2 times in src/lib.rs" in capsys.readouterr().out
    (root / "src/lib.rs").unlink()
    assert run(root, Fake(), "--check") == 3
    assert "there is no src/lib.rs: name the file" in capsys.readouterr().out


def test_tests_that_fail_without_a_fault_end_the_run(root: Path, capsys):
    assert run(root, Fake(caught="8")) == 1
    assert "fails without a fault: limits::hold" in capsys.readouterr().err


def test_a_run_goes_on_where_it_stopped_unless_the_tree_has_changed(root: Path):
    tests = Fake(caught="9")
    run(root, tests, "--only", "one-more")
    run(root, tests, "--resume")
    assert tests.seen[2:] == [SOURCE, SOURCE.replace("8", "7")]
    (root / "src/lib.rs").write_text(SOURCE + "\n", encoding="utf-8")
    again = Fake(caught="9")
    run(root, again, "--resume")
    assert len(again.seen) == 3


def test_the_copy_has_what_the_checkout_has_and_no_more(root: Path):
    run(root, Fake())
    (root / "src/old.rs").write_text("//! Old.\n", encoding="utf-8")
    run(root, Fake())
    assert (root / "build/plant/tree/src/old.rs").is_file()
    (root / "src/old.rs").unlink()
    run(root, Fake())
    assert not (root / "build/plant/tree/src/old.rs").exists()


def test_the_list_says_what_there_is(root: Path, capsys):
    assert run(root, Fake(), "--list", "--only", "one-less") == 0
    assert capsys.readouterr().out == "  2 limits         one-less: the limit is one less\n"


@pytest.mark.parametrize(
    ("changed", "to", "expected"),
    [
        ('name = "one-less"', 'name = "one-more"', "one-more: give each fault a name of its own"),
        ('new = "    7"', 'new = "    8"', "one-less: `old` and `new` are the same"),
        ('says = "the limit is one less"\n', "", "one-less: `says` is missing"),
        ('says = "the limit is one less"', 'say = "x"', "one-less: unknown key say"),
        ('tests = ["--test limits"]', "", "one-more: `tests` is a list of arguments of `cargo test`"),
        ("[[fault]]", "[[faults]]", "the key 'fault' is missing"),
        ("[[fault]]", "[[fault", "limits.toml: "),
    ],
)
def test_a_table_that_is_wrong_is_refused(root: Path, capsys, changed: str, to: str, expected: str):
    path = root / "tools/faults/limits.toml"
    path.write_text(TABLE.replace(changed, to), encoding="utf-8")
    assert run(root, Fake()) == 2
    assert expected in capsys.readouterr().err


def test_a_fault_that_is_not_there_is_refused(root: Path, capsys):
    assert run(root, Fake(), "--only", "one-more,two-more") == 2
    assert "there is no two-more: see --list" in capsys.readouterr().err
    assert run(root, Fake(), "--room", "nowhere") == 2


def test_a_command_that_runs_on_is_ended_with_what_it_started(tmp_path: Path):
    (tmp_path / "tree").mkdir()
    sleeps = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    ended = plant.run([sys.executable, "-c", sleeps], tmp_path / "tree", 0.5)
    assert ended.code is None
    fine = plant.run([sys.executable, "-c", "print('test a ... ok')"], tmp_path / "tree", 30)
    assert (fine.code, fine.output) == (0, "test a ... ok\n")


def test_the_projects_own_tables_are_sound():
    faults = plant.read_tables(plant.ROOT / plant.TABLES)
    assert len(faults) >= 60
    assert {fault.file for fault in faults if not (plant.ROOT / fault.file).is_file()} == set()


def test_faults_of_the_package_are_judged_by_pytest(root: Path, capsys):
    table = TABLE.replace("--test limits", "pytest tests/test_limits.py -k 'the limit'")
    (root / "tools/faults/limits.toml").write_text(table, encoding="utf-8")
    (root / "python/drivelab").mkdir(parents=True)
    (root / "python/drivelab/_core.abi3.so").write_text("built", encoding="utf-8")
    (root / ".gitignore").write_text("/build/\n*.so\n", encoding="utf-8")
    commands: list[list[str]] = []

    def runner(command: list[str], folder: Path, _: float) -> Ended:
        commands.append(command)
        # What is built, and no part of the checkout, is there too.
        assert (folder / "python/drivelab/_core.abi3.so").read_text(encoding="utf-8") == "built"
        if "    8" in (folder / "src/lib.rs").read_text(encoding="utf-8"):
            return Ended(0, "1 passed")
        return Ended(1, "FAILED tests/test_limits.py::test_the_limit - assert 9 == 8\n1 failed")

    assert plant.main([], root, runner) == 0
    assert "one-more: caught" in (said := capsys.readouterr().out)
    assert "test_the_limit" in said
    assert all(command[:3] == [sys.executable, "-m", "pytest"] for command in commands)
    assert commands[0][3:6] == ["tests/test_limits.py", "-k", "the limit"]
