"""Ranges in the values of options, and several drives by repeating an option."""

from __future__ import annotations

import json

import pytest

from drivelab.errors import InputError
from drivelab.scenarios.ranges import listed


@pytest.mark.parametrize(
    ("key", "text", "found"),
    [
        ("target.array.members", "2..4", "2,3,4"),
        ("target.array.members", "2..4, 8", "2,3,4,8"),
        ("target.array.members", "[2..3]", "[2,3]"),
        ("workload.iodepth", "1..32", "1,2,4,8,16,32"),
        ("workload.iodepth", "3..20", "3,6,12,20"),
        ("workload.iodepth", "7..7", "7"),
        ("workload.bs", "4k..16k", '"4k","8k","16k"'),
        ("workload.bs", "512..1024", '"512","1k"'),
        ("run.seed", "1..3", "1,2,3"),
        ("target.drive", "../d.toml", "../d.toml"),
        ("workload.iodepth", "1,4", "1,4"),
    ],
)
def test_a_range_is_a_list(key, text, found):
    assert listed(key, text) == found


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("target.array.members", "4..2", "a range goes up: write 2..4"),
        ("workload.iodepth", "0..4", "a range of iodepth doubles; begin it above 0"),
        ("workload.rate_iops", "1..1000000", "at most 1000 values"),
        ("target.array.members", "2k..4k", "has whole numbers"),
        ("workload.bs", "4x..8x", "4x is no size"),
    ],
)
def test_a_wrong_range_is_refused(key, text, message):
    with pytest.raises(InputError, match=message):
        listed(key, text)


def test_a_range_sweeps(run):
    small = ["--drive", "wd-4tb-7200", "--rw", "randread", "--number-ios", "50", "--json"]
    done = json.loads(run("simulate", *small, "--level", "raid0", "--members", "2..4").stdout)
    assert [point["axes"]["target.array.members"] for point in done["points"]] == [2, 3, 4]
    done = json.loads(run("simulate", *small, "--iodepth", "1..5", "--set", "run.seed=1..2").stdout)
    axes = [tuple(point["axes"].values()) for point in done["points"]]
    assert sorted(axes) == [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2), (5, 1), (5, 2)]
    wrong = run("simulate", *small, "--iodepth", "5..1")
    assert (wrong.returncode, wrong.stderr) == (2, "error: --iodepth 5..1: a range goes up: write 1..5\n")


def test_drives_to_scan_may_be_named_one_by_one(run):
    few = ["--places", "3", "--accesses", "20", "--json"]
    together = run("scan", "--drive", "wd-4tb-7200,wd-wd740gd-00fla0", *few)
    alone = run("scan", "--drive", "wd-4tb-7200", "--drive", "wd-wd740gd-00fla0", *few)
    assert alone.returncode == 0
    assert alone.stdout == together.stdout


def test_a_drive_is_checked_by_its_name(run, tmp_path):
    done = run("check", "--drive", "wd-4tb-7200")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "command line: ok, 1 point")
    (tmp_path / "d.toml").write_text('rmp = "7200rpm"\n', encoding="utf-8")
    wrong = run("check", "--drive", "d.toml")
    assert wrong.returncode == 2
    assert "unknown key `rmp`" in wrong.stderr
    nothing = run("check")
    assert (nothing.returncode, nothing.stderr) == (
        2,
        "error: nothing to check: name a scenario, or a drive by --drive\n",
    )


def _results(text: str) -> dict[str, object]:
    """A record without the words of its scenario."""
    return {key: value for key, value in json.loads(text).items() if key not in {"scenario", "overrides"}}


@pytest.mark.parametrize(("word", "is_on"), [("on", True), ("off", False), ("true", True), ("false", False)])
def test_a_flag_is_on_or_off(run, word, is_on):
    small = ["simulate", "--drive", "wd-4tb-7200", "--rw", "randwrite", "--number-ios", "50", "--json"]
    written = run(*small, "--set", f"target.drive.write_cache={word}")
    plain = run(*small, "--set", f"target.drive.write_cache={str(is_on).lower()}")
    assert (written.returncode, written.stderr) == (0, plain.stderr)
    assert _results(written.stdout) == _results(plain.stdout)


def test_many_unknown_keys_end_at_a_hundred(run, tmp_path):
    text = "".join(f"key_number_{at} = {at}\n" for at in range(5_000))
    (tmp_path / "many.toml").write_text(text, encoding="utf-8")
    done = run("check", "many.toml")
    assert done.returncode == 2
    assert done.stderr.endswith("\n100 problems\n")
