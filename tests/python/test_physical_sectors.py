"""Writes of parts of physical sectors from the command line: what they cost, and that a run says so."""

from __future__ import annotations

import json

from drivelab import simulate

DRIVE = "seagate-exos-x24-24tb"
TURN_NS = 60e9 / 7_200


def written(bs: str, offset: str = "0B", rw: str = "randwrite") -> dict:
    """The point of writes to the media, one at a time."""
    return simulate(
        {
            "target": {"drive": DRIVE, "write_cache": False},
            "workload": {"rw": rw, "bs": bs, "offset": offset},
            "run": {"ios": 2_000},
        }
    ).points[0]


def test_a_small_or_shifted_write_costs_a_turn():
    whole, small, shifted = written("4KiB"), written("512B"), written("4KiB", "512B")
    assert "partial_writes" not in whole
    for part in (small, shifted):
        assert part["partial_writes"] > 1_900
        more_ns = part["latency_ns"]["mean"] - whole["latency_ns"]["mean"]
        assert abs(more_ns / TURN_NS - 1) < 0.05


def test_small_writes_that_follow_one_another_read_each_sector_once():
    point = written("512B", rw="write")
    assert 0.11 < point["partial_writes"] / point["write"]["ios"] < 0.14


def test_a_run_says_what_it_pays(run):
    words = ("simulate", "--drive", DRIVE, "--rw", "randwrite", "--set", "target.write_cache=false")
    paid, whole = run(*words, "--bs", "512B", "--json"), run(*words, "--bs", "4k")
    assert "cover a physical sector in part" in paid.stderr
    assert "target.drive.geometry.physical_sector" in paid.stderr
    assert json.loads(paid.stdout)["points"][0]["partial_writes"] > 0
    assert "physical sector" not in whole.stderr
