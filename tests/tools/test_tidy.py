"""Every check of tools/tidy.py: a small tidy tree passes, and each fault planted in it is found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tidy

UNITS = """\
[package]
name = "drivelab-units"

[dev-dependencies]
proptest = "1"
"""

CORE = """\
[package]
name = "drivelab-core"

[dependencies]
drivelab-units = { path = "../units" }
libm.workspace = true

[dev-dependencies]
serde = "1"
"""

DATA = """\
[package]
name = "drivelab-data"

[dependencies]
drivelab-core = { path = "../core" }
"""

RECORD = """\
[package]
name = "drivelab-record"

[dependencies]
drivelab-core = { path = "../core" }
serde = "1"
"""

CHANGELOG = """\
# Changelog

## [Unreleased]

### Added

### Changed

### Fixed

### Model

- `MODEL_VERSION 3`: seeks are shorter.

## [0.1.0]
"""

LOCK = """\
[[package]]
name = "drivelab-record"
dependencies = [
 "drivelab-core",
 "serde 1.0.1",
]
"""

LIBRARY = "//! A room.\n#![no_std]\n\npub const MODEL_VERSION: u32 = 3;\n"

TREE = {
    "CHANGELOG.md": CHANGELOG,
    "crates/units/Cargo.toml": UNITS,
    "crates/units/src/lib.rs": LIBRARY,
    "crates/core/Cargo.toml": CORE,
    "crates/core/src/lib.rs": LIBRARY,
    "crates/data/Cargo.toml": DATA,
    "crates/data/src/lib.rs": LIBRARY,
    "crates/record/Cargo.toml": RECORD,
    "crates/record/src/lib.rs": "//! A room.\n",
    "fuzz/driver/Cargo.lock": LOCK,
    "python/drivelab/__init__.py": '"""The package."""\n',
}


class Planter:
    """A tidy tree in a temporary folder, to be made untidy."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in TREE.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def append(self, name: str, text: str) -> None:
        with (self.root / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def found(self) -> list[str]:
        return [f"{f.path}:{f.line}: {f.what}" for f in tidy.findings(self.root)]


@pytest.fixture
def tree(tmp_path: Path) -> Planter:
    return Planter(tmp_path)


def test_a_tidy_tree_has_no_findings(tree: Planter):
    assert tree.found() == []


FAULTS: dict[str, tuple[Callable[[Planter], None], str]] = {
    "no_std gone from units": (
        lambda t: t.replace("crates/units/src/lib.rs", "#![no_std]\n", ""),
        "crates/units/src/lib.rs:1: no #![no_std]",
    ),
    "no_std for some builds only": (
        lambda t: t.replace("crates/core/src/lib.rs", "#![no_std]", "#![cfg_attr(unix, no_std)]"),
        "crates/core/src/lib.rs:1: no #![no_std]",
    ),
    "the core gone": (
        lambda t: (t.root / "crates/core/Cargo.toml").unlink(),
        "crates/core:1: no room core",
    ),
    "a dependency for units": (
        lambda t: t.append("crates/units/Cargo.toml", '\n[dependencies]\nlibm = "0.2"\n'),
        "crates/units/Cargo.toml:8: units depends on libm",
    ),
    "a dependency for the core": (
        lambda t: t.replace("crates/core/Cargo.toml", "libm.workspace = true", 'rand = "0.10"'),
        "crates/core/Cargo.toml:6: core depends on rand",
    ),
    "a dependency in its own table": (
        lambda t: t.append("crates/core/Cargo.toml", '\n[dependencies.toml]\nversion = "1"\n'),
        "crates/core/Cargo.toml:11: core depends on toml",
    ),
    "a dependency under another name": (
        lambda t: t.append("crates/core/Cargo.toml", '\n[build-dependencies]\nlibm = { package = "cc" }\n'),
        "core depends on cc",
    ),
    "a dependency of one target": (
        lambda t: t.append("crates/core/Cargo.toml", "\n[target.'cfg(unix)'.dependencies]\nnix = \"1\"\n"),
        "crates/core/Cargo.toml:12: core depends on nix",
    ),
    "std in the core": (
        lambda t: t.append("crates/core/src/lib.rs", "\nextern crate std;\n"),
        "crates/core/src/lib.rs:6: extern crate std outside tests",
    ),
    "an arrow up": (
        lambda t: t.append("crates/units/Cargo.toml", "\n[dependencies]\ndrivelab-core.path = '../core'\n"),
        "crates/units/Cargo.toml:8: arrow up or sideways, units -> core",
    ),
    "an arrow sideways": (
        lambda t: t.append("crates/record/Cargo.toml", 'drivelab-scenario = { path = "../scenario" }\n'),
        "crates/record/Cargo.toml:7: arrow up or sideways, record -> scenario",
    ),
    "a room without a layer": (
        lambda t: t.write("crates/attic/Cargo.toml", '[package]\nname = "drivelab-attic"\n'),
        "crates/attic/Cargo.toml:1: unknown room attic",
    ),
    "Rust without an opening": (
        lambda t: t.write("crates/record/src/log.rs", "// A log.\n"),
        "crates/record/src/log.rs:1: does not open with //!",
    ),
    "empty Rust": (
        lambda t: t.write("crates/record/src/log.rs", ""),
        "crates/record/src/log.rs:1: does not open with //!",
    ),
    "Python without an opening": (
        lambda t: t.write("python/drivelab/fit.py", "# Fits.\nimport math\n"),
        "python/drivelab/fit.py:1: does not open with a docstring",
    ),
    "Python that is none": (
        lambda t: t.write("python/drivelab/fit.py", '"""Fits."""\n\ndef (:\n'),
        "python/drivelab/fit.py:3: is not Python",
    ),
    "a giant": (
        lambda t: t.append("crates/record/src/lib.rs", "//\n" * 450),
        "crates/record/src/lib.rs:451: 451 lines, 450 allowed",
    ),
    "a giant test": (
        lambda t: t.write("crates/record/tests/log.rs", "//! Tests.\n" * 801),
        "crates/record/tests/log.rs:801: 801 lines, 800 allowed",
    ),
    "a giant function": (
        lambda t: t.append("crates/core/src/lib.rs", "\nfn all() {\n" + "    one();\n" * 49 + "}\n"),
        "all has 51 lines, 50 allowed",
    ),
    "two things in one struct": (
        lambda t: t.append(
            "crates/core/src/lib.rs",
            "\npub struct All {\n" + "".join(f"    pub part{n}: u8,\n" for n in range(16)) + "}\n",
        ),
        "All has 16 fields, 15 allowed",
    ),
    "a path of this machine": (
        lambda t: t.write("Makefile", "all:\n\tls " + "/ho" + "me/ada/drives\n"),
        "Makefile:2: a path of one machine",
    ),
    "a registry's host": (
        lambda t: t.write("requirements/run.txt", "--index-url https://py" + "pi.org/simple\n"),
        "requirements/run.txt:1: a package registry's host",
    ),
    "a merge that is not ended": (
        lambda t: t.write("README.md", "<" * 7 + " HEAD\n"),
        "README.md:1: a merge that is not ended",
    ),
    "an invisible character": (
        lambda t: t.write("README.md", "8.5\u00a0ms\n"),
        "README.md:1: an invisible character",
    ),
    "no changelog": (
        lambda t: (t.root / "CHANGELOG.md").unlink(),
        "CHANGELOG.md:1: no changelog",
    ),
    "nothing unreleased": (
        lambda t: t.replace("CHANGELOG.md", "## [Unreleased]", "## [0.2.0]"),
        "CHANGELOG.md:1: no section Unreleased",
    ),
    "a section gone": (
        lambda t: t.replace("CHANGELOG.md", "### Fixed\n", ""),
        "CHANGELOG.md:3: Unreleased has no section Fixed",
    ),
    "a dependency that the fuzzers' driver does not know": (
        lambda t: t.replace("fuzz/driver/Cargo.lock", ' "serde 1.0.1",\n', ""),
        "fuzz/driver/Cargo.lock:2: does not know that record depends on serde",
    ),
    "an option in a message of Rust": (
        lambda t: t.append("crates/record/src/lib.rs", '\nconst WHY: &str = "give --bs";\n'),
        "a message names an option",
    ),
    "an option in an error of Python": (
        lambda t: t.write("python/drivelab/fit.py", '"""Fits."""\n\nraise ValueError(f"{1}: give --bs")\n'),
        "python/drivelab/fit.py:3: a message names an option",
    ),
    "a new model that nobody explained": (
        lambda t: t.replace("crates/core/src/lib.rs", "u32 = 3", "u32 = 4"),
        "CHANGELOG.md:3: nothing about MODEL_VERSION 4",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(tree: Planter, fault: str):
    plant, expected = FAULTS[fault]
    plant(tree)
    found = tree.found()
    assert any(expected in line for line in found), found


def test_every_check_has_a_planted_fault(tmp_path: Path):
    silent = set(tidy.CHECKS)
    for number, (plant, _) in enumerate(FAULTS.values()):
        tree = Planter(tmp_path / str(number))
        plant(tree)
        silent -= {check for check in silent if list(check(tidy.Tree(tree.root)))}
    assert silent == set()


ALLOWED = {
    "std in a module of tests": (
        "crates/core/src/lib.rs",
        "\n#[cfg(test)]\nmod tests {\n    extern crate std;\n}\n",
    ),
    "std for tests": ("crates/core/src/lib.rs", "\n#[cfg(test)]\nextern crate std;\n"),
    "a dev-dependency that points up": (
        "crates/units/Cargo.toml",
        'drivelab-core = { path = "../core" }\n',
    ),
    "a relative path": ("README.md", "see bench/work/notes and `$HOME/" + "work/drives`\n"),
    "the index in a lock file": (
        "Cargo.lock",
        'source = "registry+https://github.com/rust-lang/crates.io-index"\n',
    ),
    "a long table": ("catalogue/drives/one.toml", "# a fact\n" * 900),
    "an option in a comment, and one of a test": (
        "crates/record/src/lib.rs",
        '\n// As --bs has it.\n#[cfg(test)]\nconst TYPED: &str = "--bs";\n',
    ),
    "an option in a command": (
        "python/drivelab/fit.py",
        '"""Fits."""\n\nraise ValueError("start one with `ray start --head`")\n',
    ),
    "bytes": ("docs/picture.bin", "\0/" + "tmp/x"),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_allowed_is_not_found(tree: Planter, case: str):
    name, text = ALLOWED[case]
    (tree.root / name).parent.mkdir(parents=True, exist_ok=True)
    tree.append(name, text)
    assert tree.found() == []


def test_ignored_files_are_not_looked_at(tree: Planter):
    tree.write(".gitignore", "/out/\n/target/\n")
    tree.write("out/report.py", "x = 1\n")
    subprocess.run(["git", "init", "--quiet", str(tree.root)], check=True)
    assert tree.found() == []
    tree.write("report.py", "x = 1\n")
    assert tree.found() == ["report.py:1: does not open with a docstring"]


def test_the_program_prints_one_line_per_finding_and_fails(tree: Planter):
    command = [sys.executable, str(Path(tidy.__file__)), str(tree.root)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    tree.write("crates/record/src/log.rs", "// A log.\n")
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == (
        "crates/record/src/log.rs:1: does not open with //!: say what lives here, and what never does\n"
    )
    assert done.stderr == "tidy: 1 findings\n"
