"""`drivelab validate`: a drive beside measured requests; the demerit, the groups, the picture, what goes wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import InputError, ScenarioError, validate
from drivelab.validating.validation import demerit, quantiles

# 6 ms a turn, 600 sectors a track, 1 ms for every seek, 0.1 ms for a read, 0.2 ms for a write.
DRIVE = """\
rpm = "10000rpm"
queue.protocol = "none"
cache = false
geometry = { heads = 1, zones = [{ cylinders = 100, sectors_per_track = 600 }] }
skew = { track = "0rev", cylinder = "0rev" }
seek = { table = [[1, "1ms"], [99, "1ms"]] }
firmware = { class = "ideal", read_miss = "0.1ms", write = "0.2ms" }
"""
# Behind the first request each time follows from the one before; see the tests.
TRACE = """\
R Hit     0  10   2000.0  500.0
R Miss 2000  20   1600.0    0.0
W Hit  1960  10   5500.0  100.5
R Hit  1970  10   7000.0    0.0
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "x.toml").write_text(DRIVE, encoding="utf-8")
    (tmp_path / "x.trace").write_text(TRACE, encoding="utf-8")
    return tmp_path


times = st.lists(st.floats(0.01, 100), min_size=1, max_size=40).map(np.array)


def test_a_quantile_is_a_sample():
    samples = np.array([30.0, 10.0, 20.0])
    found = quantiles(samples)
    assert len(found) == 10_000
    # A third of all is 3333.3 of 10 000.
    assert [float(found[k - 1]) for k in (1, 3333, 3334, 6666, 6667, 10_000)] == [10, 10, 20, 20, 30, 30]
    assert list(quantiles(np.arange(10_000, 0, -1.0))) == list(range(1, 10_001))
    assert list(quantiles(samples, shares=2)) == [20, 30]


def test_the_demerit_is_the_root_mean_square_between_the_quantiles():
    assert demerit(np.array([1.0, 2.0]), np.array([2.0, 1.0])) == 0
    # Half of the shares are 1 apart, the other half 3.
    assert demerit(np.array([1.0, 2.0]), np.array([5.0, 2.0])) == pytest.approx(np.sqrt((1 + 9) / 2))
    # A third of the shares is 6 apart: 3334 of 10 000, since the last ones are above two thirds.
    assert demerit(np.array([1.0, 1.0, 7.0]), np.array([1.0])) == pytest.approx(np.sqrt(36 * 0.3334))


@given(first=times, second=times)
def test_the_demerit_is_a_distance(first, second):
    assert demerit(first, second) == demerit(second, first) >= 0
    assert demerit(first, first) == 0
    assert demerit(first, first + 3) == pytest.approx(3)
    assert demerit(np.repeat(first, 3), second) == pytest.approx(demerit(first, second), abs=2)


def test_a_replay_is_what_pencil_and_paper_say(run, files):
    done = run("validate", "x.toml", "--trace", "x.trace", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["drive"], found["trace"], found["seed"]) == ("x.toml", "x.trace", 1)
    assert (found["requests"], found["mean_measured_ms"]) == (4, 4.025)
    groups = found["groups"]
    # Two per cent of 60 000 sectors are 1 200: the second request alone is far.
    assert {name: group["requests"] for name, group in groups.items()} == {
        "reads": 3,
        "writes": 1,
        # The last request goes on where the write before it ended.
        "sequential": 1,
        "near": 2,
        "far": 1,
        # By the trace: it calls one request a miss.
        "hits": 3,
        "misses": 1,
        "after_read": 3,
        "after_write": 1,
        "sequential_reads": 1,
        "near_reads": 1,
        "far_reads": 1,
        "read_hits": 2,
        "read_misses": 1,
        "reads_after_read": 2,
        "reads_after_write": 1,
        "near_writes": 1,
        "write_hits": 1,
        "writes_after_read": 1,
    }
    # Without a cache nothing is a hit.
    by_read = {
        "agreed_share": 1 / 3,
        "both_hit": 0,
        "both_miss": 1,
        "only_measured_hit": 2,
        "only_simulated_hit": 0,
    }
    by_write = {
        "agreed_share": 0,
        "both_hit": 0,
        "both_miss": 0,
        "only_measured_hit": 1,
        "only_simulated_hit": 0,
    }
    assert found["hits_told_by"] == "trace"
    assert {name: found["hits"][name] for name in ("reads", "writes")} == {
        "reads": by_read,
        "writes": by_write,
    }
    assert found["hits"]["all"]["agreed_share"] == 1 / 4
    assert found["margin_percent"] == 5
    # Four requests have no verdict.
    assert found["verdicts"] == {"pass": 0, "undecided": 0, "fail": 0, "too_few": 19}
    assert found["verdict"] == "too few"
    # 0.1 ms, a seek of 1 ms, 0.3 ms until its sector comes, and 20 sectors.
    far = groups["far"]
    assert (far["mean_simulated_ms"], far["demerit_ms"]) == (1.6, 0)
    assert far["breakdown_ms"] == {
        "queue": 0,
        "overhead": 0.1,
        "seek": 1,
        "rotation": 0.3,
        "transfer": 0.2,
        "link": 0,
        "wait": 0,
    }
    # 0.2 ms, then 5.2 ms until sector 160 of the track comes round again, and ten sectors.
    assert groups["writes"]["mean_simulated_ms"] == 5.5
    # The last read comes 0.1005 ms too late and waits for a turn, less that.
    last = groups["sequential_reads"]
    assert last["mean_measured_ms"] == 7.0
    assert last["mean_error"] == pytest.approx((6.0 - 0.1005 + 0.1) / 7.0 - 1)
    first = groups["near_reads"]["mean_simulated_ms"]
    assert found["mean_simulated_ms"] * 4 == pytest.approx(1.6 + 5.5 + first + last["mean_simulated_ms"])
    assert found["demerit_share"] == pytest.approx(found["demerit_ms"] / 4.025)


def test_the_last_read_waits_a_turn(files):
    found = validate(files / "x.toml", files / "x.trace")
    assert found.all.simulated[3] == pytest.approx(6.0 - 0.1005 + 0.1)
    assert list(found.all.measured) == [2.0, 1.6, 5.5, 7.0]
    other = validate(str(files / "x.toml"), str(files / "x.trace"), seed=7)
    assert list(other.all.simulated[1:]) == list(found.all.simulated[1:])
    assert other.all.simulated[0] != found.all.simulated[0]
    assert "demerit" in repr(found)
    slower = validate(files / "x.toml", files / "x.trace", **{"target.drive.firmware.write": "0.7ms"})
    assert slower.groups["writes"].mean_simulated == pytest.approx(5.5)
    assert "<td" in found._repr_html_()


def test_the_table_and_what_stands_below_it(run, files):
    done = run("validate", "x.toml", "--trace", "x.trace")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split("  ")[0] == "requests"
    rows = {line[:18].strip(): line.split() for line in lines[1:21]}
    assert list(rows)[:6] == ["all", "reads", "writes", "sequential", "near", "far"]
    assert rows["far"][1:] == [
        "1",
        "1.600",
        "1.600",
        "+0.0",
        "+0.0",
        "to",
        "+0.0",
        "too",
        "few",
        "0.000",
        "0.0",
    ]
    assert "0 of 0 groups pass, 0 undecided, 0 fail" in done.stdout
    assert (
        "hits and misses: by the trace; all 25.0 % agreed, 0 hits and 1 misses, 3 hits only as measured"
        in done.stdout
    )
    assert "far: more than 2 % of the capacity from the end of the request before" in done.stdout
    assert "seed 1" in lines[-1]
    quiet = run("validate", "x.toml", "--trace", "x.trace", "-q")
    assert quiet.stdout.splitlines() == lines[:21]


def test_a_drive_of_the_catalogue_will_do(run, files):
    done = run("validate", "wd-4tb-7200", "--trace", "x.trace", "--json", "--seed", "3")
    assert (done.returncode, json.loads(done.stdout)["seed"]) == (0, 3)


def test_too_large_a_demerit_is_a_failed_comparison(run, files):
    share = (
        100 * json.loads(run("validate", "x.toml", "--trace", "x.trace", "--json").stdout)["demerit_share"]
    )
    for limit, code in ((share * 1.01, 0), (share * 0.99, 3)):
        done = run("validate", "x.toml", "--trace", "x.trace", "--demerit-max", f"{limit:.4f}")
        assert (done.returncode, done.stderr) == (code, "")


def test_what_was_measured_as_nothing_has_no_share(run, files):
    (files / "zero.trace").write_text("R Hit 0 10 0 500\nW Hit 2000 10 4000 0\n")
    found = json.loads(run("validate", "x.toml", "--trace", "zero.trace", "--json").stdout)
    reads = found["groups"]["reads"]
    assert (reads["mean_measured_ms"], reads["demerit_share"]) == (0, None)
    assert reads["demerit_ms"] == pytest.approx(reads["mean_simulated_ms"])
    assert found["demerit_share"] == pytest.approx(found["demerit_ms"] / 2)
    (files / "zero.trace").write_text("R Hit 0 10 0 500\n")
    done = run("validate", "x.toml", "--trace", "zero.trace", "-q", "-o", "x.svg", "--demerit-max", "1e9")
    assert (done.returncode, done.stderr) == (3, "")
    row = done.stdout.splitlines()[1].split()
    assert (row[2], row[4:8], row[9]) == ("0.000", ["-", "-", "too", "few"], "-")
    assert repr(validate(files / "x.toml", files / "zero.trace")).endswith(" ms>")


def test_the_picture_takes_a_title_and_a_width(run, files):
    options = ("-o", "x.svg", "--title", "Of my own", "--width", "500", "--provenance")
    done = run("validate", "x.toml", "--trace", "x.trace", *options)
    assert done.returncode == 0, done.stderr
    drawn = (files / "x.svg").read_text(encoding="utf-8")
    assert "<title>Of my own</title>" in drawn
    assert ">drivelab 0.1.0; model" in drawn.split("</desc>")[1]
    refused = run("validate", "x.toml", "--trace", "x.trace", "--width", "500")
    assert "--width changes nothing without a picture; add one with -o FILE" in refused.stderr


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_the_picture(run, files, suffix):
    done = run("validate", "x.toml", "--trace", "x.trace", "-q", "-o", f"x.{suffix}")
    assert (done.returncode, done.stderr) == (0, "")
    drawn = (files / f"x.{suffix}").read_bytes()
    assert drawn.startswith({"png": b"\x89PNG", "svg": b"<svg", "html": b"<!DOCTYPE html>"}[suffix])
    if suffix == "svg":
        text = drawn.decode()
        assert "x.toml: response times as measured and as simulated" in text
        assert "far reads: mean 1.60 ms measured, 1.60 simulated; demerit 0.00 ms, 0.0 %" in text
        assert "near writes" in text
        assert "model" in text.split("<desc>")[1]


def test_a_notebook_hears_of_it_as_an_exception(files):
    with pytest.raises(InputError, match="no such file"):
        validate(files / "x.toml", files / "y.trace")
    with pytest.raises(ScenarioError, match="no drive"):
        validate("no-drive", files / "x.trace")
    with pytest.raises(InputError, match="embedded null"):
        validate(files / "x.toml", "x\0y")
