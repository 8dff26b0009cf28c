"""Commands that time out below an array or a memory: what a user is told, and that no data differ in silence."""

from __future__ import annotations

import json

import pytest

ARRAY = """
[target]
drive = "wd-4tb-7200"
controller = {{ timeout = "{timeout}", bus = {{ rate = "5MB/s" }} }}

[target.array]
level = "{level}"
members = {members}

[workload]
rw = "randwrite"
bs = "1MiB"
size = "10%"
iodepth = 4

[run]
warmup = "0s"
ios = 50
"""

MEMORY = """
[target]
drive = "wd-4tb-7200"
controller = { timeout = "30ms", bus.rate = "5MB/s", cache = { size = "64MiB", battery = true } }

[workload]
rw = "randwrite"
bs = "256KiB"
size = "10%"
iodepth = 4

[run]
warmup = "0s"
ios = 400
"""


def simulate(run, path, *arguments):  # noqa: ANN002
    done = run("simulate", path.name, *arguments)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("level", "members", "timeout", "state"),
    [
        ("raid1", 2, "300ms", "broken"),
        ("raid10", 4, "150ms", "broken"),
        ("raid5", 4, "150ms", "failed"),
        ("raid6", 5, "150ms", "failed"),
        ("raidz1", 4, "150ms", "broken"),
        ("raid0", 2, "150ms", "healthy"),
    ],
)
def test_no_level_differs_in_silence(run, tmp_path, level, members, timeout, state):
    path = tmp_path / "slow.toml"
    path.write_text(ARRAY.format(level=level, members=members, timeout=timeout), encoding="utf-8")
    (point,) = json.loads(simulate(run, path, "--check-data", "--json").stdout)["points"]
    array = point["array"]
    assert array["state"] == state
    assert array["member_errors"]["writes"] > 0
    whats = [event["what"] for event in array["events"]]
    assert ("write-error" in whats) == (level != "raid0")
    assert point["errors"] + point["write"]["ios"] == 50


def test_the_last_copy_is_told_of(run, tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text(ARRAY.format(level="raid1", members=2, timeout="300ms"), encoding="utf-8")
    out = simulate(run, path).stdout
    assert "a write to drive 0 timed out, drive 0 failed" in out
    assert "a write to drive 1 timed out, nobody else has its data: it stays, and writes are refused" in out
    assert "at the end broken" in out
    assert "members did not do" in out


def test_writes_that_a_memory_gives_up_are_told_and_are_no_speed(run, tmp_path):
    path = tmp_path / "memory.toml"
    path.write_text(MEMORY, encoding="utf-8")
    done = simulate(run, path)
    assert "given up" in done.stdout
    assert "note: data are lost: the controller's cache gave up" in done.stderr
    assert "it ended as timed-out; since then writes go through" in done.stderr
    sweep = simulate(run, path, "--json", "--set", "target.controller.timeout=[30ms, 60ms, 10s]")
    points = json.loads(sweep.stdout)["points"]
    lost, _, whole = points
    assert lost["given_up"]["writes"] > 0
    assert lost["errors"] > 0
    assert (whole["given_up"]["writes"], whole["given_up"]["failed_flushes"]) == (0, 0)
    assert lost["iops"] < whole["iops"]
