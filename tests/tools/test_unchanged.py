"""What tools/unchanged.py makes of two ledgers."""

from __future__ import annotations

from unchanged import compare


def test_a_changed_figure_of_the_same_draft_is_told() -> None:
    old = ["1 0 draft=aa d1 r1 | d1 w1", "1 1 draft=aa d2 r2 | d2 w2", "2 0 draft=bb d3 r3 | d3 w3"]
    new = ["1 0 draft=aa d1 r1 | d1 w1", "1 1 draft=aa d2 OTHER | d2 w2", "2 0 draft=bb d3 r3 | d3 w3"]
    found = compare(old, new)
    assert (found.compared, found.redrawn) == (3, [])
    assert [(run.seed, run.point) for run in found.unlike] == [(1, 1)]


def test_another_draft_is_no_changed_figure() -> None:
    old = ["1 0 draft=aa d1 r1 | d1 w1", "2 0 draft=bb d3 r3 | d3 w3", "3 0 draft=dd d4 r4 | d4 w4"]
    new = ["1 0 draft=aa d1 r1 | d1 w1", "2 0 draft=cc d9 r9 | d9 w9", "4 0 draft=ee d5 r5 | d5 w5"]
    found = compare(old, new)
    assert (found.compared, found.unlike, found.redrawn) == (1, [], [2, 3, 4])


def test_a_point_that_is_not_run_any_more_is_told() -> None:
    old = ["1 0 draft=aa d1 r1 | d1 w1", "1 1 draft=aa d2 r2 | d2 w2"]
    found = compare(old, old[:1])
    assert [(run.point, run.new) for run in found.unlike] == [(1, "not run")]


def test_a_version_that_tells_no_drafts_is_compared_by_seed() -> None:
    old = ["1 0 d1 r1 | d1 w1", "2 0 d3 r3 | d3 w3"]
    new = ["1 0 draft=aa d1 r1 | d1 w1", "2 0 draft=bb OTHER r3 | d3 w3"]
    found = compare(old, new)
    assert (found.compared, found.redrawn, [run.seed for run in found.unlike]) == (2, [], [2])
