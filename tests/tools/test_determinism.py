"""The comparison of tools/determinism.py: what it reads, and the first difference that it names."""

from __future__ import annotations

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


def test_a_build_that_there_is_not_is_named(capsys):
    assert determinism.main(["fast"]) == 1
    assert capsys.readouterr().err == "determinism: fast is no build: name one of editable, release\n"
