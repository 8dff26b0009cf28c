"""The programs of examples/crash-tests: sound as they are, and a campaign finds the fault of each one's twin."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from ci_files import EXAMPLES
from guides import section

ON_EXT4 = ("--drive", "wd-4tb-7200", "--set", "target.write_cache=true", "--fs", "ext4", "--fs-size", "64MiB")
BUILDS = {
    "go": ["go", "build", "-o", "saves", str(EXAMPLES / "go" / "saves.go")],
    "rustc": ["rustc", "-o", "saves", str(EXAMPLES / "rust" / "saves.rs")],
}


def campaign(run, tmp_path, *words: str, fault: bool) -> str:
    """Run a campaign of ten cuts; what it has said."""
    done = run(
        "crashtest", *words, "--cuts", "10", "--seed", "1", "--keep", tmp_path / f"session-{fault}", "-q"
    )
    assert done.returncode == (3 if fault else 0), done.stdout + done.stderr
    assert re.match(r"10 cuts: [1-9]\d* with loss" if fault else "10 cuts: none with loss", done.stdout)
    return str(done.stdout)


@pytest.mark.parametrize("compiler", BUILDS)
def test_a_program_that_renames_a_draft(request, mounts, run, tmp_path, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"{request.node.name}: no {compiler}")
    subprocess.run(BUILDS[compiler], cwd=tmp_path, check=True, timeout=120)
    check = ("--check", "./saves check")
    campaign(run, tmp_path, *ON_EXT4, "--run", "./saves write", *check, fault=False)
    said = campaign(run, tmp_path, *ON_EXT4, "--run", "./saves write --no-sync", *check, fault=True)
    assert "what is missing was in the page cache, and not synced (fsync)" in said
    assert re.search(r"page \d+ has 0 bytes, not 3600, and \d+ was committed", said)
    # A checker that is called wrongly does not judge.
    again = run(
        "crashtest", *ON_EXT4[:4], "--from", "session-True", "--check", "./saves verify", "--cuts", "1", "-q"
    )
    assert again.returncode == 1
    assert "the checker ended with status 2: usage: saves write [--no-sync] | saves check" in again.stdout


def test_fio_with_its_own_account_of_what_it_has_synced(request, mounts, run, tmp_path):
    if shutil.which("fio") is None:
        pytest.skip(f"{request.node.name}: no fio")
    known = subprocess.run(
        ["fio", "--cmdhelp=verify_policy"], capture_output=True, encoding="utf-8", check=False
    )
    if "No such command" in known.stdout + known.stderr:
        version = subprocess.run(
            ["fio", "--version"], capture_output=True, encoding="utf-8", check=True
        ).stdout
        pytest.skip(f"{request.node.name}: {version.strip()} has no verify_policy")
    for policy, fault in (("fsynced", False), ("completed", True)):
        words = f"{tmp_path}/state-{policy} {policy}"
        programs = (
            "--run",
            f"sh {EXAMPLES}/fio/write-fsynced.sh {words}",
            "--check",
            f"sh {EXAMPLES}/fio/check-fsynced.sh {words}",
        )
        campaign(run, tmp_path, *ON_EXT4, *programs, fault=fault)


@pytest.mark.parametrize("name", ["load.py", "check.py"])
def test_the_page_shows_the_example_of_sqlite(name):
    page = section("crash-tests.md", "## SQLite on a disk that loses its cache")
    assert f"```python\n# {name}\n{(EXAMPLES / 'sqlite' / name).read_text()}```" in page


def test_the_overview_names_every_example():
    overview = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.rglob("*.*"):
        if path.suffix != ".md":
            assert f"{path.parent.name}/{path.name}" in overview, path
