"""What `make release` has put into dist/, as users get it: each wheel in a new environment, with its real dependencies.

An interpreter that is not there, a wheel for another system, and a machine without a package index are skipped by name.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from called import called

from drivelab import __version__

pytest.importorskip("cyclonedx", reason="release: `make release` installs what it needs")
import release
import sbom

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
WHEELS = sorted(DIST.glob("*.whl"))
VERSIONS = ("3.11", "3.12", "3.13")


def native() -> Path:
    """The wheel for this machine, or a skip."""
    kind = "musllinux" if platform.libc_ver()[0] != "glibc" else "manylinux"
    found = [one for one in WHEELS if kind in one.name and one.name.endswith(f"{platform.machine()}.whl")]
    if not found:
        pytest.skip(f"release: no wheel for {kind} on {platform.machine()} in dist/")
    return found[0]


def interpreter(version: str) -> str:
    """An interpreter of a version that can make environments, on PATH or of pyenv, or a skip."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [f"python{version}", *map(str, sorted(pyenv.glob(f"{version}.*/bin/python{version}")))]
    for candidate in candidates:
        try:
            done = subprocess.run(
                [candidate, "-c", "import ensurepip, venv"], check=False, capture_output=True
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip(f"release: no Python {version}")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A package index is at hand."""
    folder = tmp_path_factory.mktemp("index")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-cache-dir",
        "mdurl==0.1.2",
    ]
    if subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode:
        pytest.skip("release: no package index to fetch dependencies from")


def test_there_is_a_wheel_for_this_machine():
    assert WHEELS, "dist/ has no wheel: run `make release`"
    assert native().is_file()


@pytest.mark.parametrize("version", VERSIONS)
def test_pip_installs_the_wheel_and_it_runs(version, index, tmp_path):
    wheel, python = native(), interpreter(version)
    called(python, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    scripts = tmp_path / "venv" / "bin"
    # Dependencies as wheels only: who has no compiler installs it all the same.
    called(scripts / "pip", "install", "--quiet", "--only-binary", ":all:", wheel, cwd=tmp_path)
    bare = {"PATH": str(scripts), "HOME": str(tmp_path)}
    assert called("drivelab", "--version", cwd=tmp_path, env=bare).startswith(
        f"drivelab {__version__}, model "
    )
    asked = ("--drive", "wd-4tb-7200", "--number-ios", "50", "--json")
    there = json.loads(called("drivelab", "simulate", *asked, cwd=tmp_path, env=bare))
    here = json.loads(called(sys.executable, "-m", "drivelab", "simulate", *asked, cwd=tmp_path))
    assert there["digest"] == here["digest"]
    assert "wd-4tb-7200" in called("drivelab", "catalogue", cwd=tmp_path, env=bare)
    share = tmp_path / "venv" / "share"
    for name in ("man/man1/drivelab.1", "man/man1/drivelab-simulate.1", *release.man_pages.SHELLS.values()):
        assert (share / name).is_file(), name


def test_pipx_runs_the_wheel(index, tmp_path):
    if shutil.which("pipx") is None:
        pytest.skip("release: no pipx")
    own = {**os.environ, "PIPX_HOME": str(tmp_path / "home"), "PIPX_DEFAULT_PYTHON": sys.executable}
    printed = called("pipx", "run", "--spec", native(), "drivelab", "--version", cwd=tmp_path, env=own)
    assert f"drivelab {__version__}, model " in printed


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda wheel: wheel.name)
def test_a_wheel_keeps_what_its_tag_promises(wheel):
    (tag,) = {tag for tag in release.TARGETS.values() if tag in wheel.name}
    release.audited(wheel, tag)
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (extension,) = (files.read(name) for name in names if name.endswith(".so"))
    assert "drivelab/served/site/index.html" in names
    assert str(ROOT).encode() not in extension
    assert str(Path.home() / ".cargo").encode() not in extension
    assert [name for name in names if name.endswith(f".dist-info/sboms/drivelab-{__version__}.cdx.json")]


@pytest.mark.parametrize("kind", ["manylinux", "musllinux"])
def test_a_wheel_is_refused_under_the_tag_of_another_library(kind):
    found = [one for one in WHEELS if kind in one.name]
    if not found:
        pytest.skip(f"release: no wheel for {kind} in dist/")
    # The musllinux wheel needs no glibc, the manylinux one more than that of any tag older than its own.
    other = {"manylinux": "musllinux_1_2", "musllinux": "manylinux_2_17"}[kind]
    with pytest.raises(ValueError, match="needs glibc"):
        release.audited(found[0], other)


def test_the_source_distribution_has_what_a_build_needs():
    (archive,) = DIST.glob("drivelab-*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    for needed in ("Cargo.lock", "LICENSE", "README.md", "catalogue/drives/wd-4tb-7200.toml"):
        assert needed in names
    assert "drivelab._core.data/data/share/man/man1/drivelab.1" in names


def test_the_checksums_are_those_of_all_files():
    lines = (DIST / release.SUMS).read_text(encoding="utf-8").splitlines()
    found = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    assert found.keys() == {path.name for path in DIST.iterdir()} - {release.SUMS}
    for name, digest in found.items():
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == digest, name


def test_the_parts_list_names_what_is_linked_and_what_is_installed():
    text = (DIST / f"drivelab-{__version__}.cdx.json").read_text(encoding="utf-8")
    parts = {part["name"]: part for part in json.loads(sbom.checked(text))["components"]}
    # Linked, and through another crate; installed, and through another package.
    assert {"ring", "zeroize", "rich", "mdurl"} <= parts.keys()
    # Of tests, of the build, a macro, and a room of our own.
    assert not {"proptest", "maturin", "serde_derive", "drivelab-core"} & parts.keys()
    assert parts["ring"]["hashes"]
    with pytest.raises(ValueError, match="breaks the schema"):
        sbom.checked(text.replace('"library"', '"thing"', 1))


def test_it_is_said_how_each_wheel_was_built():
    lines = (DIST / "BUILD.txt").read_text(encoding="utf-8").splitlines()
    for wheel in WHEELS:
        (line,) = (line for line in lines if line.startswith(f"{wheel.name}: "))
        assert line.endswith(("optimised by a profile", "without a profile", ": with one)"))
