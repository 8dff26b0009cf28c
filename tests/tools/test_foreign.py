"""The compiler's check of tools/foreign.py: what compiles for a system passes, what it lacks and a warning do not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import foreign

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")

MANIFEST = '[package]\nname = "a-room"\nedition = "2024"\n\n[lib]\npath = "lib.rs"\n\n[workspace]\n'
LOCK = 'version = 4\n\n[[package]]\nname = "a-room"\nversion = "0.0.0"\n'
UNIX = "use std::os::unix::net::UnixStream;\npub fn name(_: &UnixStream) {}\n"


def refusal(tmp_path: Path, target: str, source: str) -> str | None:
    if target not in foreign.installed_targets():
        pytest.skip(f"rustup has no {target}")
    (tmp_path / "Cargo.toml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "Cargo.lock").write_text(LOCK, encoding="utf-8")
    (tmp_path / "lib.rs").write_text(source, encoding="utf-8")
    return foreign.refusal(target, tmp_path / "target", ("--manifest-path", str(tmp_path / "Cargo.toml")))


@pytest.mark.parametrize("target", foreign.TARGETS)
def test_what_every_system_has_passes(tmp_path: Path, target: str):
    assert refusal(tmp_path, target, "pub fn one() -> u32 {\n    1\n}\n") is None


def test_a_socket_of_unix_passes_on_macos_only(tmp_path: Path):
    assert refusal(tmp_path, "aarch64-apple-darwin", UNIX) is None
    assert "could not find `unix`" in (refusal(tmp_path, "x86_64-pc-windows-msvc", UNIX) or "")


@pytest.mark.parametrize("target", foreign.TARGETS)
def test_a_warning_is_refused(tmp_path: Path, target: str):
    assert "unused import" in (refusal(tmp_path, target, "use std::io;\n") or "")


def test_a_target_that_is_not_there_is_skipped_by_name(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(foreign, "installed_targets", list)
    assert foreign.main() == 0
    said = capsys.readouterr().err
    assert "check for Windows skipped" in said
    assert "rustup target add aarch64-apple-darwin" in said
