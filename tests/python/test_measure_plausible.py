"""Reasons to doubt a measurement: no false ones, and each says what it is about."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from drivelab.measuring.device import SECTOR
from drivelab.measuring.plausibility import Counters, Reading, _of_counters
from drivelab.report import steady

MB = 1_000_000


def of_disk(device: float, moved: float, issued: float) -> list[str]:
    """The warnings of a disk that has moved so many MB."""
    before, after = (Reading((sectors, 0), 0, 0) for sectors in (5, 5 + round(device * MB / SECTOR)))
    counters = Counters(before, after, (round(moved * MB), 0), (round(issued * MB), 0))
    return [one["text"] for one in _of_counters(counters) if one["code"] == "busy-neighbour"]


def test_a_neighbour_moves_more_than_was_issued_by_a_megabyte_and_a_tenth():
    assert of_disk(0.2, 0.1, 0.1) == []
    assert of_disk(130, 100, 130) == []
    assert of_disk(105, 100, 100) == []
    assert of_disk(1.3, 0.2, 0.2) == ["the disk moved 1.3 MB while this moved 0.2: somebody else used it"]
    assert of_disk(5000, 100, 100) == ["the disk moved 5,000 MB while this moved 100: somebody else used it"]


def course(rates: list[int], latencies: list[int]) -> dict[str, Any]:
    """A point whose quarters have these I/Os and mean latencies."""
    series = [
        {"start_ns": piece * 10**9, "ios": rates[piece // 10], "mean_latency_ns": latencies[piece // 10]}
        for piece in range(40)
    ]
    ios = sum(piece["ios"] for piece in series)
    mean = sum(piece["ios"] * piece["mean_latency_ns"] for piece in series) / ios
    return {
        "series": series,
        "window_ns": 40 * 10**9,
        "iops": ios / 40,
        "iops_relative_error": 0.001,
        "latency_ns": {"mean": mean, "n": ios},
        "read": {"latency_ns": {"p50": None}},
        "measured": {"cpu_share": None, "direct": True, "engine_note": None, "under_way": UNDER_WAY},
    }


UNDER_WAY = {"unanswered": 0, "oldest_ns": 0, "late": 0}


@pytest.mark.parametrize(
    ("rates", "latencies", "text"),
    [
        ([100, 100, 100, 98], [100, 100, 100, 200], "mean latency +60 %"),
        ([100, 100, 100, 50], [100, 100, 100, 100], "IOPS -43 %"),
        ([100, 100, 100, 50], [100, 100, 100, 200], "IOPS -43 %, mean latency +75 %"),
    ],
)
def test_what_is_not_steady_is_said_of_what_differs(rates, latencies, text):
    end = steady.ending(course(rates, latencies))
    assert end is not None
    assert (end.is_steady, end.text()) == (False, text)


def test_a_job_that_thinks_has_no_depth_that_it_did_not_reach(run, tmp_path: Path):
    target = tmp_path / "target"
    target.write_bytes(os.urandom(1 << 20))
    words = ("--rw", "randread", "--bs", "4k", "--number-ios", "20", "--thinktime", "5ms", "--json")
    done = run("measure", "--target", target, *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["points"][0]["depth"]["achieved"] < 0.5
    assert "depth-not-achieved" not in [one["code"] for one in found["warnings"]]
