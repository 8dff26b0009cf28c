"""The compiler's check of tools/no_std.py: a core without std passes, one that brings std in does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import no_std

MANIFEST = '[package]\nname = "drivelab-core"\nedition = "2024"\n\n[workspace]\n'

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")


def refusal(tmp_path: Path, source: str) -> str | None:
    core = tmp_path / "a core"
    (core / "src").mkdir(parents=True)
    (core / "Cargo.toml").write_text(MANIFEST, encoding="utf-8")
    (core / "src/lib.rs").write_text(source, encoding="utf-8")
    return no_std.check_probe(core, tmp_path / "target")


def test_a_core_without_std_passes(tmp_path: Path):
    assert refusal(tmp_path, "//! A core.\n#![no_std]\nextern crate alloc;\n") is None


@pytest.mark.parametrize("source", ["//! A core.\n", "//! A core.\n#![no_std]\nextern crate std;\n"])
def test_a_core_that_brings_std_in_is_refused(tmp_path: Path, source: str):
    found = refusal(tmp_path, source)
    assert found is not None
    assert "panic_impl" in found
