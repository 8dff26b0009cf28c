"""Drives whose firmware is that of their class: the range beside their I/Os per second, and where it comes from."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivelab
from drivelab import charts
from drivelab.firmware import bounds, iops_range, range_note

ROOT = Path(__file__).resolve().parents[2]
KNOWN = [{"depth": 2, "low": 0.9, "high": 1.2}, {"depth": 8, "low": 0.7, "high": 1.3}]
WORDS: dict[str, Any] = {"drive": "wd-4tb-7200", "rw": "randread", "bs": "4KiB", "number_ios": 500}


def simulated(**words: object) -> list[Any]:
    return drivelab.simulate(**{**WORDS, **words}).points


def test_depth_one_has_no_range_and_deeper_queues_have() -> None:
    first, deep = simulated(iodepth=[1, 8])
    assert "iops_low" not in first
    assert deep["iops_low"] < deep["iops"] < deep["iops_high"]
    (firmware,) = deep["in_force"]["firmware"]
    assert (firmware["class"], firmware["of_class"] <= firmware["drives"]) == ("sata-desktop", True)


@pytest.mark.parametrize(
    "words",
    [
        {"iodepth": 8, "target.queue.order": "sptf"},
        {"iodepth": 8, "rw": "read"},
        {"iodepth": 8, "target.queue.protocol": "none"},
        {"iodepth": 8, "drive": "samsung-f1-1tb"},
    ],
    ids=["explicit order", "sequential", "no queue", "measured sweep"],
)
def test_what_no_class_has_a_part_in_has_no_range(words: dict[str, Any]) -> None:
    assert all("iops_low" not in point for point in simulated(**words))


def test_the_range_of_an_array_is_that_of_the_depth_within_its_drives() -> None:
    (point,) = simulated(iodepth=8, **{"target.array.level": "raid0", "target.array.members": 4})
    low, high = bounds(point["in_force"]["firmware"][0]["range"], point["depth"]["in_drives"] / 4)
    assert math.isclose(point["iops_low"], low * point["iops"])
    assert math.isclose(point["iops_high"], high * point["iops"])


@given(st.floats(1, 1000), st.floats(1, 1000))
def test_the_range_only_widens_with_the_depth(one: float, other: float) -> None:
    shallow, deep = sorted((one, other))
    (low, high), (deeper_low, deeper_high) = bounds(KNOWN, shallow), bounds(KNOWN, deep)
    assert 0.7 - 1e-9 <= deeper_low <= low + 1e-9
    assert low <= 1 <= high
    assert high - 1e-9 <= deeper_high <= 1.3 + 1e-9


def test_at_its_depths_and_halfway_the_range_is_what_it_should_be() -> None:
    assert bounds(KNOWN, 1) == (1, 1)
    assert bounds(KNOWN, 2) == pytest.approx((0.9, 1.2))
    assert bounds(KNOWN, 4) == pytest.approx((0.8, 1.25))
    assert bounds(KNOWN, 64) == pytest.approx((0.7, 1.3))


def test_of_several_classes_the_widest_counts() -> None:
    narrow = {"class": "a", "drives": 5, "of_class": 3, "range": [{"depth": 2, "low": 0.95, "high": 1.3}]}
    wide = {"class": "b", "drives": 5, "of_class": 1, "range": [{"depth": 2, "low": 0.8, "high": 1.1}]}
    in_force = {"firmware": [narrow, wide], "array": {"members": 2}}
    point = {"iops": 100.0, "depth": {"asked": 4.0, "in_drives": 4.0}}
    assert iops_range(in_force, point) == pytest.approx({"iops_low": 80, "iops_high": 130})
    note = range_note([{**point, "iops_low": 80, "in_force": in_force}])
    assert note is not None
    assert note.endswith("range from 5 drives, 3 of class a, 1 of class b")


def test_table_chart_and_check_show_it(run, tmp_path):
    picture = tmp_path / "band.svg"
    words = ["--drive", "wd-4tb-7200", "--rw", "randread", "--iodepth", "1,8", "--number-ios", "500"]
    found = run("simulate", *words, "--chart", str(picture))
    assert "IOPS range" in found.stdout
    assert re.search(r"range from \d+ drives, \d+ of class sata-desktop", found.stdout)
    assert picture.exists()
    scenario = tmp_path / "s.toml"
    scenario.write_text('target.drive = "wd-4tb-7200"\n')
    checked = run("check", str(scenario))
    assert re.search(r"firmware: class sata-desktop .*queue.order = \"share-aged-sptf\"", checked.stdout)


def test_the_chart_has_a_band_where_there_is_a_range() -> None:
    text = charts.depth(simulated(iodepth=[1, 8])).to_json()
    assert "iops_low" in text
    assert '"area"' in text
    assert '"area"' not in charts.depth(simulated(iodepth=[1, 8], rw="read")).to_json()


def test_the_range_is_what_leaving_each_drive_out_gives() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "firmware_classes.py")]
    printed = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
    found = {
        int(depth): (float(low), float(high))
        for depth, low, high in re.findall(
            r"^ *(\d+) largest .*: ([\d.]+) to ([\d.]+)$", printed, re.MULTILINE
        )
    }
    assert sorted(found) == [2, 4, 8, 16, 32]
    (point,) = simulated(iodepth=2)
    known = point["in_force"]["firmware"][0]["range"]
    for depth, expected in found.items():
        assert bounds(known, depth) == pytest.approx(expected, abs=0.01)
