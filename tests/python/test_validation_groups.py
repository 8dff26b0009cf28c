"""The verdict of `drivelab validate` by kind of request: which group a request is in, the interval, what fails."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import validate
from drivelab.charts.group_errors import group_errors
from drivelab.validating.validation_groups import Interval, agreement, intervals, kinds, telling

# A turn takes 6 ms, a track holds 600 sectors; nothing but rotation and transfer, and reads from the buffer.
DRIVE = """\
rpm = "10000rpm"
queue.protocol = "none"
cache = false
geometry = { heads = 1, zones = [{ cylinders = 100, sectors_per_track = 600 }] }
skew = { track = "0rev", cylinder = "0rev" }
seek = { table = [[1, "1ms"], [99, "1ms"]] }
firmware = { read_miss = "0.1ms", write = "0.2ms" }
"""


def columns(first, count, read, capacity=10_000, busy=None):
    zeros = [0] * len(first)
    parts = {"seek": busy or zeros, "rotation": zeros, "transfer": zeros}
    return {"first": first, "count": count, "read": read, "capacity": capacity, "breakdown_ns": parts}


def test_which_group_a_request_is_in():
    # Two per cent of 10 000 sectors are 200.
    first = [0, 10, 220, 5, 206, 407, 412]
    read = [True, False, True, True, False, True, True]
    found = kinds(columns(first, [10, 10, 5, 1, 1, 5, 5], read, busy=[1, 0, 1, 0, 1, 0, 0]), None)
    members = {name: [int(at) for at in np.flatnonzero(chosen)] for name, chosen in found.items()}
    # Exactly 200 sectors are near, 201 and more far; the first request is near and after a read.
    assert members["sequential"] == [1, 6]
    assert members["near"] == [0, 2, 4, 5]
    assert members["far"] == [3]
    assert members["hits"] == [1, 3, 5, 6]
    assert members["misses"] == [0, 2, 4]
    assert members["after_read"] == [0, 1, 3, 4, 6]
    assert members["after_write"] == [2, 5]
    assert (members["sequential_writes"], members["far_reads"], members["reads_after_write"]) == (
        [1],
        [3],
        [2, 5],
    )
    assert (members["read_hits"], members["write_misses"]) == ([3, 5, 6], [4])


@given(
    requests=st.lists(
        st.tuples(st.integers(0, 9_000), st.integers(1, 50), st.booleans(), st.booleans()), min_size=1
    )
)
def test_each_split_is_one(requests):
    first, count, read, hit = (list(column) for column in zip(*requests, strict=True))
    tags = ["Hit" if each else "Miss" for each in hit]
    for told in (None, tags):
        found = kinds(columns(first, count, read, busy=[int(not each) for each in hit]), told)
        splits = [
            ("reads", "writes"),
            ("sequential", "near", "far"),
            ("hits", "misses"),
            ("after_read", "after_write"),
        ]
        for split in splits:
            assert (sum(found[name].astype(int) for name in split) == 1).all()
        for access in ("read", "write"):
            whole = found[f"{access}s"].astype(int)
            crossed = [
                [f"{name}_{access}s" for name in splits[1]],
                [f"{access}_{name}" for name in splits[2]],
                [f"{access}s_{name}" for name in splits[3]],
            ]
            for names in crossed:
                assert (sum(found[name].astype(int) for name in names) == whole).all()
        assert list(found["hits"]) == hit


def test_the_interval_has_the_spread_of_what_goes_together():
    # Independent errors of 10 % on 4 000 requests: the mean of the errors has a deviation of 0.1 / sqrt(4000).
    random = np.random.default_rng(5)
    measured = np.full(4_000, 2.0)
    alone = measured * (1 + 0.1 * random.standard_normal(4_000))
    # The same errors, each for 40 requests in a row: only a hundredth part of them tells something new.
    runs = measured * (1 + 0.1 * np.repeat(random.standard_normal(100), 40))
    everything = {"all": np.ones(4_000, dtype=bool)}
    widths = {}
    for name, simulated in (("alone", alone), ("runs", runs)):
        found = intervals(measured, simulated, everything)["all"]
        assert found.error == pytest.approx(simulated.sum() / measured.sum() - 1)
        assert found.low < found.error < found.high
        widths[name] = found.high - found.low
    assert widths["alone"] == pytest.approx(2 * 1.96 * 0.1 / np.sqrt(4_000), rel=0.25)
    assert widths["runs"] == pytest.approx(2 * 1.96 * 0.1 / np.sqrt(100), rel=0.25)


def test_the_interval_holds_the_truth_nineteen_times_of_twenty():
    # A first-order autoregression: each error is nine tenths of the one before and a new one.
    random = np.random.default_rng(11)
    held = 0
    measured = np.full(4_000, 1.0)
    everything = {"all": np.ones(4_000, dtype=bool)}
    for _ in range(200):
        errors = np.empty(4_000)
        errors[0] = 0
        for at, new in enumerate(random.standard_normal(3_999), 1):
            errors[at] = 0.9 * errors[at - 1] + 0.05 * new
        found = intervals(measured, measured * 1.03 + errors, everything)["all"]
        held += found.low <= 0.03 <= found.high
    assert 176 <= held <= 200


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.05, 0.05, "pass"),
        (-0.01, 0.04, "pass"),
        (0.0501, 0.2, "fail"),
        (-0.2, -0.0501, "fail"),
        (0.04, 0.06, "undecided"),
        (-0.06, 0.01, "undecided"),
        (-0.3, 0.3, "undecided"),
    ],
)
def test_the_verdict(low, high, verdict):
    assert Interval((low + high) / 2, low, high).verdict(0.05) == verdict


def test_where_a_trace_tells_hits_each_request_is_compared():
    assert not telling(["Hit"] * 5)
    assert not telling(["Hit", "Doub"])
    assert telling(["Hit", "Miss", "Trip"])
    replayed = columns([0] * 6, [1] * 6, [True] * 6, busy=[0, 1, 0, 1, 1, 0])
    # What is neither hit nor miss counts as neither.
    tags = ["Hit", "Hit", "Miss", "Miss", "Miss", "Doub"]
    found = agreement(replayed, tags, np.ones(6, dtype=bool))
    assert found is not None
    assert (found.both_hit, found.both_miss) == (1, 2)
    assert (found.only_measured_hit, found.only_simulated_hit, found.share) == (1, 1, 3 / 5)
    assert agreement(replayed, tags, np.array([False] * 5 + [True])) is None


@pytest.fixture
def cancelling(tmp_path):
    """A drive whose reads are measured a fifth longer than simulated, and its writes as much shorter."""
    (tmp_path / "x.toml").write_text(DRIVE, encoding="utf-8")
    random = np.random.default_rng(3)
    asked = [("R" if random.random() < 0.5 else "W", int(at), 10) for at in random.integers(0, 59_000, 600)]
    lines = [f"{kind} Hit {at} {count} 1 1000" for kind, at, count in asked]
    (tmp_path / "x.trace").write_text("\n".join(lines) + "\n", encoding="utf-8")
    simulated = validate(tmp_path / "x.toml", tmp_path / "x.trace").all.simulated
    factor = {"R": 1.2, "W": 0.8}
    lines = [
        f"{kind} Hit {at} {count} {1000 * ms * factor[kind]:.3f} 1000"
        for (kind, at, count), ms in zip(asked, simulated, strict=True)
    ]
    (tmp_path / "x.trace").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_errors_that_cancel_in_the_total_fail_in_the_groups(run, cancelling):
    done = run("validate", "x.toml", "--trace", "x.trace", "--json", "--groups-max", "0")
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    assert abs(found["mean_error"]) < 0.05
    reads, writes = (found["groups"][name] for name in ("reads", "writes"))
    assert (reads["verdict"], writes["verdict"]) == ("fail", "fail")
    assert (reads["mean_error"], writes["mean_error"]) == (pytest.approx(1 / 1.2 - 1), pytest.approx(0.25))
    low, high = reads["mean_error_95"]
    assert low <= reads["mean_error"] <= high < -0.05
    assert (found["hits_told_by"], found["hits"]) == ("model", None)
    failed = found["verdicts"]["fail"]
    assert failed == sum(group["verdict"] == "fail" for group in found["groups"].values()) > 4
    enough = run("validate", "x.toml", "--trace", "x.trace", "-q", "--groups-max", str(failed))
    assert enough.returncode == 0
    assert next(line for line in enough.stdout.splitlines() if line.startswith("reads ")).split()[8] == "fail"
    wide = run("validate", "x.toml", "--trace", "x.trace", "--groups-max", "0", "--margin", "40")
    assert wide.returncode == 0
    assert "0 fail: the 95 % interval of the mean error lies within 40 %, neither, beyond it" in wide.stdout
    assert "hits and misses: by the model; the trace does not tell them apart" in wide.stdout
    refused = run("validate", "x.toml", "--trace", "x.trace", "--margin", "nan")
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: --margin nan: give a percentage from 0 to 1000, such as 5\n",
    )


def test_the_picture_has_a_row_for_each_group(cancelling):
    found = validate(cancelling / "x.toml", cancelling / "x.trace")
    drawn = json.dumps(found.chart().to_dict())
    for row in ("reads: fail", "far writes: fail", "reads after write: fail"):
        assert f'"{row}"' in drawn
    assert "allowed: 5 % either way" in drawn
    assert group_errors([{"verdict": "too few"}], 5, 500) is None
