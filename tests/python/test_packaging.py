"""What a user installs: the wheel and the source distribution, each in an environment of its own, without the network.

The build tool is the pinned one. Dependencies come from the environment of the tests, by way of a path: what is tested
is what the package itself brings. Both are built as other targets build them, the source distribution at one place, so
that little is compiled twice. `make wheel` names the wheel that it has made for a release: then that one is tested, and
its size.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from called import called

ROOT = Path(__file__).resolve().parents[2]
# Of a release. Stripped, the extension has 9.0 MB; before it spoke TLS it had less than 7.
EXTENSION_MAX_BYTES = 10_000_000


# Built once, by one worker.
pytestmark = pytest.mark.xdist_group("packaging")


@pytest.fixture(scope="module")
def builder() -> dict[str, str]:
    """The environment of a build that fetches nothing. Without the build tool the tests are skipped by name."""
    scripts = sysconfig.get_path("scripts")
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    for tool in ("maturin", "cargo"):
        if shutil.which(tool, path=path) is None:
            pytest.skip(f"packaging: no {tool}")
    own = {"PATH": path, "CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": str(ROOT / "target")}
    return {**os.environ, **own}


def pip(*arguments: str | Path, env: Mapping[str, str]) -> None:
    """The pip of the tests, with no index to ask."""
    called(sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments, cwd=ROOT, env=env)


def installed(folder: Path, package: Path, env: Mapping[str, str]) -> Path:
    """The scripts of a new environment in which a package is installed."""
    called(sys.executable, "-m", "venv", "--without-pip", folder, cwd=ROOT, env=env)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    offline = ("--no-index", "--no-deps", "--no-build-isolation")
    pip("--python", folder / "bin" / "python", "install", "--quiet", *offline, package, env=env)
    return folder / "bin"


def assert_runs_anywhere(scripts: Path, folder: Path) -> None:
    """The command works in a folder that knows nothing of the checkout, and uses what was installed."""
    bare = {"PATH": str(scripts), "HOME": str(folder)}
    found = called(
        scripts / "python", "-c", "import drivelab; print(drivelab.__file__)", env=bare, cwd=folder
    )
    assert Path(found.strip()).is_relative_to(scripts.parent)
    options = ("--drive", "wd-4tb-7200", "--number-ios", "50", "--json")
    here = called(scripts / "drivelab", "simulate", *options, env=bare, cwd=folder)
    ours = called(sys.executable, "-m", "drivelab", "simulate", *options, env=bare, cwd=folder)
    assert json.loads(here)["digest"] == json.loads(ours)["digest"]
    called(
        scripts / "drivelab",
        "simulate",
        "--drive",
        "wd-4tb-7200",
        "--number-ios",
        "5",
        env=bare,
        cwd=Path("/"),
    )
    drawn = ("--chart", "a.svg", "-q")
    called(scripts / "drivelab", "simulate", *options[:4], *drawn, env=bare, cwd=folder)
    assert (folder / "a.svg").stat().st_size > 0


def test_a_wheel_installs_and_runs(builder, tmp_path):
    released = os.environ.get("DRIVELAB_WHEEL")
    if released:
        wheel = ROOT / released
    else:
        quick = {**builder, "MATURIN_PEP517_ARGS": "--profile editable"}
        offline = ("--no-index", "--no-deps", "--no-build-isolation")
        pip("wheel", "--quiet", *offline, "-w", tmp_path, ROOT, env=quick)
        (wheel,) = tmp_path.glob("drivelab-*.whl")
    with zipfile.ZipFile(wheel) as files:
        names = {info.filename: info.file_size for info in files.infolist()}
    assert {"drivelab/py.typed", "drivelab/_core.pyi", "drivelab/cli/app.py"} <= names.keys()
    # The page comes along where `make page` has built it.
    built = (ROOT / "python/drivelab/served/site/index.html").is_file()
    assert ("drivelab/served/site/core.wasm" in names) == built
    assert not [name for name in names if not name.startswith(("drivelab/", "drivelab-"))]
    (extension,) = (name for name in names if name.startswith("drivelab/_core") and name.endswith(".so"))
    if released:
        assert names[extension] < EXTENSION_MAX_BYTES
    assert_runs_anywhere(installed(tmp_path / "venv", wheel, builder), tmp_path)


def test_a_source_distribution_builds_and_runs(builder, tmp_path):
    called("maturin", "sdist", "--out", tmp_path, cwd=ROOT, env=builder)
    (archive,) = tmp_path.glob("drivelab-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "new", filter="data")
    (fresh,) = (tmp_path / "new").iterdir()
    for needed in ("LICENSE", "README.md", "Cargo.lock", "catalogue/drives/wd-4tb-7200.toml"):
        assert (fresh / needed).is_file(), needed
    there = ROOT / "build" / "sdist"
    laid_over(fresh, there)
    quick = {**builder, "MATURIN_PEP517_ARGS": "--profile dev"}
    assert_runs_anywhere(installed(tmp_path / "venv", there, quick), tmp_path)


def laid_over(fresh: Path, there: Path) -> None:
    """Make one folder as the other, and leave alone what is the same, so that nothing is built twice."""
    wanted = {path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()}
    for path in list(there.rglob("*")):
        if path.is_file() and path.relative_to(there) not in wanted:
            path.unlink()
    for name in wanted:
        old, new = there / name, fresh / name
        if not old.is_file() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            old.write_bytes(new.read_bytes())
