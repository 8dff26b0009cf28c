"""Synchronous random writes of a drive whose write cache is said to be off, held to a measurement with fio.

Measured was an HGST Ultrastar 7K6000 of 4 TB, one write of 4 KiB at a time. Of its mechanics nothing is known here: the
4 TB drive of the catalogue, of the same speed, stands for them. One number is fitted, on the rate without a FLUSH: how
many writes wait for the media together. The rate with a FLUSH after each write is validation, and it is missed.

The measurement is not part of the repository (see `reference` in conftest.py).
"""

from __future__ import annotations

import csv

import pytest

from drivelab import simulate

WAITING = 240


def writes(fsync: int | None) -> dict:
    """One write at a time, from a cache of 128 MiB in which so many wait."""
    cache = {"size": "128MiB", "segmentation": "adaptive", "segments": WAITING, "write_segments": WAITING}
    scenario = {
        "target": {"drive": "wd-4tb-7200", "write_cache": True, "cache": cache},
        "workload": {"rw": "randwrite", "bs": "4KiB", "iodepth": 1} | ({"fsync": fsync} if fsync else {}),
        "run": {"warmup": "60s", "duration": "120s", "seed": 1},
    }
    return simulate(scenario).points[0]


@pytest.fixture
def measured(reference):
    lines = reference("measured/hgst-hus726040ale614-sync-writes.csv").read_text().splitlines()
    return {
        row["write_cache"]: row for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    }


def test_no_write_goes_to_the_platters_first_although_the_cache_is_said_to_be_off(measured):
    off = measured["off"]
    # Half a turn alone takes longer than the mean, and nothing is queued: the answer does not wait for the platters.
    assert float(off["mean_ms"]) < 60_000 / 7200 / 2
    found = writes(None)
    assert found["iops"] == pytest.approx(float(off["iops"]), rel=0.03)
    # The measured times are of two kinds, most short and a few long, and those of the model of one.
    assert float(off["sd_ms"]) > 3 * float(off["mean_ms"])
    assert found["latency_ns"]["p99"] < 2 * found["latency_ns"]["mean"]


def test_a_flush_after_each_write_takes_longer_than_was_measured(measured):
    found = writes(1)
    assert found["iops"] / float(measured["on"]["iops"]) - 1 == pytest.approx(-0.145, abs=0.02)
    # All of it in the FLUSH, which takes the write to its place: a seek and half a turn.
    assert found["flush"]["latency_ns"]["mean"] / 1e6 == pytest.approx(11.9, abs=0.3)
