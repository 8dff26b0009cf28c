"""Drives whose firmware is that of their class: the range beside their I/Os per second, and where it comes from."""

from __future__ import annotations

import json
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
from drivelab.scenarios.firmware import bounds, iops_range, range_note, shares_note

ROOT = Path(__file__).resolve().parents[2]
KNOWN = [{"depth": 2, "low": 0.9, "high": 1.2}, {"depth": 8, "low": 0.7, "high": 1.3}]
WORDS: dict[str, Any] = {"drive": "wd-4tb-7200", "rw": "randread", "bs": "4KiB", "number_ios": 500}


def simulated(**words: object) -> list[Any]:
    return drivelab.simulate(**{**WORDS, **words}).points


def test_depth_one_has_no_range_where_seeks_were_measured_and_deeper_queues_have() -> None:
    first, deep = simulated(iodepth=[1, 8])
    assert "iops_low" not in first
    assert deep["iops_low"] < deep["iops"] < deep["iops_high"]
    (firmware,) = deep["in_force"]["firmware"]
    assert (firmware["class"], firmware["of_class"] <= firmware["drives"]) == ("sata-desktop", True)


def test_the_picture_of_one_point_says_its_range() -> None:
    ranged, measured = (
        drivelab.simulate(**{**WORDS, "iodepth": 8, "drive": drive})
        for drive in ("wd-4tb-7200", "samsung-f1-1tb")
    )
    low, high = (ranged.points[0][f"iops_{end}"] for end in ("low", "high"))
    rate, why, *_ = ranged.chart().to_dict()["title"]["subtitle"]
    assert f"IOPS ({low:,.4g} to {high:,.4g}), " in rate
    assert why.startswith("IOPS range: what its queue gains was not measured on this drive")
    (rate,) = measured.chart().to_dict()["title"]["subtitle"]
    assert "IOPS, " in rate


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
    assert note.endswith("by the gains of 5 (3 of class a, 1 of class b)")


# As a drive file has it that a data sheet fills.
SHEET = """
rpm = "7200rpm"
link.standard = "sata-600"
geometry = { heads = 18, capacity = "16TB", outer_rate = "262MB/s", inner_to_outer = "48%" }
seek = { single = "0.3ms", average = "8ms", full = "16.5ms" }
cache.size = "512MiB"
"""


def test_cached_writes_have_a_range_at_depth_one_that_reaches_what_is_fitted_elsewhere(tmp_path) -> None:
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(SHEET)
    run = {"warmup": "30s", "ios": 2000}

    def point(rw: str = "randwrite", **cache: int) -> Any:  # noqa: ANN401 - a point
        target = {"drive": str(sheet), **({"cache": cache} if cache else {})}
        scenario = {"target": target, "workload": {"rw": rw, "bs": "4KiB"}, "run": run}
        return drivelab.simulate(scenario).points[0]

    usual = point()
    # What the Exos X24 of the catalogue has, and the fewest segments that were measured.
    bounds_of = [point(segments=2304), point(segments=11)]
    assert all(one["in_force"]["cached_writes"][0]["low"] == 1 for one in bounds_of)
    most, fewest = (one["iops"] for one in bounds_of)
    assert usual["iops_low"] <= fewest < usual["iops"] < most <= usual["iops_high"]
    note = range_note([usual])
    assert note is not None
    assert "16 here" in note
    # Reads at one outstanding have the range of the data sheet's mean seek alone.
    reads = point("randread")
    (firmware,) = reads["in_force"]["firmware"]
    low, high = bounds(firmware["range"], 1)
    assert 0.7 < low < 1 < high < 1.3
    assert (reads["iops_low"], reads["iops_high"]) == pytest.approx(
        (low * reads["iops"], high * reads["iops"])
    )
    note = range_note([reads])
    assert note is not None
    assert "its mean seek time" in note


@given(st.floats(0, 1), st.floats(0.1, 1), st.floats(1, 5))
def test_a_mix_lies_between_the_ranges_of_its_parts(share: float, low: float, high: float) -> None:
    in_force = {"cached_writes": [{"segments": 16, "low": low, "high": high}]}
    ways = {"read": {"iops": 100 * (1 - share)}, "write": {"iops": 100 * share}}
    found = iops_range(in_force, {"iops": 100.0, "depth": {"asked": 1, "in_drives": 1.0}, **ways})
    assert low * 100 - 1e-6 <= found.get("iops_low", 100) <= 100 + 1e-6
    assert 100 - 1e-6 <= found.get("iops_high", 100) <= high * 100 + 1e-6
    if share == 1 and low < high:
        assert found == pytest.approx({"iops_low": 100 * low, "iops_high": 100 * high})


def test_a_drive_chooses_among_the_writes_of_its_cache_whatever_the_depth() -> None:
    firmware = [{"class": "a", "drives": 5, "of_class": 3, "range": KNOWN}]
    cached = [{"segments": 8, "low": 1.0, "high": 1.0}]
    point = {
        "iops": 100.0,
        "depth": {"asked": 1, "in_drives": 1.0},
        "read": {"iops": 0.0},
        "write": {"iops": 100.0},
    }
    found = iops_range({"firmware": firmware, "cached_writes": cached}, point)
    assert found == pytest.approx({"iops_low": 70, "iops_high": 130})
    assert iops_range({"firmware": firmware}, point) == {}


def test_the_range_over_several_figures_is_the_widest() -> None:
    figures = [
        {"iops": 100.0, "iops_low": 80.0, "iops_high": 110.0},
        {"iops": 10.0, "iops_low": 9.0, "iops_high": 14.0},
    ]
    note = shares_note([*figures, {"iops": 5.0}])
    assert note is not None
    assert note.startswith("IOPS range: -20% to +40% at most")
    assert shares_note([{"iops": 5.0}]) is None


@pytest.mark.parametrize(
    ("over", "has"),
    [
        ({"drive": "wd-wd6400aaks-00a7b0"}, True),
        ({"drive": "seagate-exos-x24-24tb"}, True),
        ({"drive": {"base": "samsung-f1-1tb"}}, False),
        ({"drive": {"base": "samsung-f1-1tb", "geometry": {"heads": 4, "capacity": "500GB"}}}, True),
        ({"drive": {"base": "wd-4tb-7200", "queue": {"order": "sptf"}}}, False),
        ({"drive": {"base": "seagate-exos-x24-24tb", "queue": {"order": "sptf"}}}, True),
    ],
    ids=[
        "inferred",
        "of another drive",
        "measured",
        "measured on another",
        "named",
        "named, seek of a sheet",
    ],
)
def test_only_what_was_measured_on_this_drive_or_named_has_no_range(over: dict[str, Any], has: bool) -> None:
    scenario = {
        "target": over,
        "workload": {"rw": "randread", "bs": "4KiB", "iodepth": 8},
        "run": {"ios": 300},
    }
    (point,) = drivelab.simulate(scenario).points
    assert ("iops_low" in point) is has


def test_at_a_rate_the_response_times_are_said_to_depend_on_the_queue(run):
    words = ["--rw", "randread", "--rate-iops", "80", "--number-ios", "300"]
    told = "At a rate, the response times depend on it"
    assert told in run("simulate", "--drive", "wd-4tb-7200", *words).stdout
    assert (
        told
        not in run("simulate", "--drive", "wd-4tb-7200", *words, "--set", "target.queue.order=sptf").stdout
    )


def test_table_chart_and_check_show_it(run, tmp_path):
    picture = tmp_path / "band.svg"
    words = ["--drive", "wd-4tb-7200", "--rw", "randread", "--iodepth", "1,8", "--number-ios", "500"]
    found = run("simulate", *words, "--chart", str(picture))
    assert "IOPS range" in found.stdout
    assert re.search(r"by the gains of \d+ \(\d+ of class sata-desktop\)", found.stdout)
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
    # What the page has is what comes out, and so are the values of the class and the ranges in force.
    page = (ROOT / "docs" / "reference" / "firmware-classes.md").read_text(encoding="utf-8")
    tables, _, rest = printed.partition("\nbest on all")
    assert tables in page
    assert rest.startswith(" of the desktop classes: 0.05, 40 %\n")
    (point,) = simulated(iodepth=2)
    supplied = dict(point["in_force"]["firmware"][0]["supplied"])
    assert (supplied["queue.age_share"], supplied["queue.seek_margin"]) == (0.05, 0.4)
    ranges = {
        what: [tuple(int(end) / 100 for end in cell.split(" to ")) for cell in cells.split(" | ")]
        for what, cells in re.findall(r"(?m)^\| ((?:the|both)[^|]*) \| (\d+ to .*) \|$", tables)
    }
    for words, what in (
        ({}, "the gain, with an access time that is known"),
        ({"drive": "hgst-c15k600"}, "both: a drive of which a data sheet alone is known"),
        ({"drive": "wd-wd6400aaks-00a7b0"}, "the gain, with an inferred order that is not the class's"),
    ):
        (point,) = simulated(iodepth=2, **words)
        known = point["in_force"]["firmware"][0]["range"]
        assert [(one["low"], one["high"]) for one in known] == ranges[what], words
    table = re.findall(r"(\d+): '([\d.]+)'", rest.partition("by segments")[2])
    rates = {int(count): float(rate) for count, rate in table}
    (writes,) = simulated(drive="wd-ultrastar-dc-hc580-24tb", rw="randwrite", iodepth=1)
    (cached,) = writes["in_force"]["cached_writes"]
    assert cached["high"] == pytest.approx(rates[2304] / rates[cached["segments"]], rel=0.03)
    assert cached["low"] == pytest.approx(rates[11] / rates[cached["segments"]], rel=0.03)


def test_a_plan_says_what_turns_within_the_range_of_its_drives(run, tmp_path) -> None:
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(SHEET)
    words = ["--drive", str(sheet), "--drive-price", f"{sheet}=100USD", "--capacity", "16TB", "--notes"]
    load = [
        "--level",
        "raid1",
        "--members",
        "2,3",
        "--rw",
        "randread",
        "--iodepth",
        "8",
        "--number-ios",
        "500",
    ]
    rate = json.loads(run("plan", *words, *load, "--json").stdout)["candidates"][0]["iops_healthy"]
    told = "would miss the limit at the slow end of the IOPS range of its drives"
    close = "would hold at the fast end of the IOPS range of their drives"
    for share, expected in ((0.97, (told,)), (1.03, (close,))):
        # The remarks are on stderr.
        found = run("plan", *words, *load, "--min-iops", f"{share * rate:.0f}").stderr
        text = " ".join(found.split())
        assert [one in text for one in (told, close)] == [one in expected for one in (told, close)], share


def test_an_emulated_drive_says_how_far_others_of_its_kind_may_be(run, tmp_path) -> None:
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(SHEET)
    for drive, expected in ((str(sheet), True), ("samsung-f1-1tb", False)):
        done = run("emulate", "--drive", drive, "--run", "true")
        told = "range: drives of its kind do 80 to 112 % of its random IOPS one at a time"
        assert any(line.startswith(told) for line in done.stderr.splitlines()) is expected, done.stderr
