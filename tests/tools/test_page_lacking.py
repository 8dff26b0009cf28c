"""What a machine lacks for the page is one line that says what to install."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

import page


@pytest.mark.parametrize(
    ("program", "why"), [("cargo", "Rust"), ("node", "Node.js 20 or newer"), ("npm", "npm")]
)
def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, program: str, why: str):
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == program else found(name) or f"a {name}")
    monkeypatch.setattr(page, "_output", lambda _: "v22.1.0")
    assert page.lacking() == f"the page needs {why}: {program} is not found"


@pytest.mark.parametrize(
    ("version", "is_enough"), [("v18.19.0", False), ("v20.0.0", True), ("v24.1.0", True), ("", False)]
)
def test_node_is_new_enough_or_said_to_be_too_old(
    monkeypatch: pytest.MonkeyPatch, version: str, is_enough: bool
):
    monkeypatch.setattr(shutil, "which", lambda name: f"a {name}")
    monkeypatch.setattr(page, "_output", lambda _: version)
    monkeypatch.setattr(page, "_has_target", lambda: True)
    why = page.lacking()
    assert (why is None) == is_enough
    assert why is None or why.endswith(f"and this is {version or 'none'}")


def test_without_rustup_the_target_is_to_be_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None if name in {"rustup", "wasm-ld"} else f"a {name}")
    monkeypatch.setattr(page, "_output", lambda _: "v22.1.0")
    assert "install it with rustup, or Debian's" in (page.lacking() or "")


def test_without_the_package_there_are_no_published_tables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"a {name}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert page.lacking() == (
        "the page needs the package for its published tables: `make setup`, then .venv/bin/python tools/page.py"
    )


def test_sizes_are_those_of_the_files_and_of_what_is_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "a.js").write_bytes(b"a" * 10_000)
    monkeypatch.setattr(page, "OUT", tmp_path)
    whole, sent = page.sizes()["a.js"]
    assert whole == 10_000
    assert sent < 100
