"""The comparison of tools/determinism.py: what it reads, and the first difference that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

import determinism

OUTPUT = """\
running 2 tests
test array ... digest array 00c0ffee00c0ffee
ok
test drive ... digest drive/sptf 0123456789abcdef
digest drive/fcfs fedcba9876543210
ok
"""


def test_digests_are_read_in_the_order_of_the_tests():
    assert determinism.digests(OUTPUT) == [
        ("array", "00c0ffee00c0ffee"),
        ("drive/sptf", "0123456789abcdef"),
        ("drive/fcfs", "fedcba9876543210"),
    ]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (OUTPUT, None),
        (OUTPUT.replace("0123", "4567"), "drive/sptf 0123456789abcdef against drive/sptf 4567456789abcdef"),
        (OUTPUT.replace("digest drive/fcfs", "drive/fcfs"), "drive/fcfs fedcba9876543210 against nothing"),
    ],
)
def test_the_first_difference_is_named(other: str, expected: str | None):
    found = determinism.first_difference(determinism.digests(OUTPUT), determinism.digests(other))
    assert found == expected


def test_the_rooms_with_a_determinism_test_take_part(tmp_path: Path):
    for room in ("simulate", "core", "record"):
        (tmp_path / "crates" / room / "tests").mkdir(parents=True)
        manifest = f'[package]\nname = "drivelab-{room}"\n'
        (tmp_path / "crates" / room / "Cargo.toml").write_text(manifest, encoding="utf-8")
    for room in ("simulate", "core"):
        (tmp_path / "crates" / room / "tests/determinism.rs").write_text("//! Same.\n", encoding="utf-8")
    assert determinism.packages(tmp_path) == ["drivelab-core", "drivelab-simulate"]


def test_a_build_that_there_is_not_is_named(capsys):
    assert determinism.main(["fast"]) == 1
    assert capsys.readouterr().err == "determinism: fast is no build: name one of editable, release\n"
