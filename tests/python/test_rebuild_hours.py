"""Rebuild hours of `compare-levels`: extrapolated from parts, held to whole rebuilds, and used by the verdict."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import Any

import pytest

import drivelab
from drivelab.arrays.level import LEVELS
from drivelab.arrays.levels import compare_levels
from drivelab.arrays.simulation import rebuild
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.scenario import plan, read_source

SMALL, SMALLEST = "wd-wd360gd", "seagate-cheetah-9lp"
pytestmark = pytest.mark.usefixtures("loads_once")

MIXED = {"rw": "randrw", "rwmixread": 70, "bs": "4KiB"}


def target(drive: str, level: str, members: int) -> dict[str, Any]:
    return {
        "drive": drive,
        "array": {"level": level, "members": members, "missing": [0], "rebuilding": True},
    }


def sampled(drive: str, level: str, members: int, workload: dict[str, Any]) -> dict[str, Any]:
    """Extrapolated, however short the whole rebuild is."""
    found, way = None, rebuild.SHORT
    while way is not None and way is not rebuild.WHOLE:
        scenario = {
            "target": target(drive, level, members),
            "workload": workload,
            "run": way.run_document(is_recorded=False),
        }
        checked = plan(read_source(scenario))
        rate = workload.get("rate_iops", 0)
        pool = ((checked.in_force or [None])[0] or {}).get("array", {}).get("record_bytes")
        records = checked.capacity_bytes(0) / pool if pool else None
        points = run_plan(checked).points
        found = rebuild.extrapolated(points, rate if rate >= 1 else None, records)
        way = rebuild.next_way(found, way)
    assert found is not None
    return found


# Whole rebuilds of 9 to 74 GB; docs/how-to/compare-levels.md says by how much the extrapolated ones differed.
@pytest.mark.parametrize(
    ("drive", "level", "members", "workload"),
    [
        (SMALLEST, "raid1", 2, {**MIXED, "rate_iops": 60}),
        (SMALLEST, "raid10", 4, {"rw": "randread", "bs": "64KiB", "iodepth": 16}),
        (SMALL, "raid10", 4, {**MIXED, "iodepth": 4}),
        (SMALL, "raid5", 4, dict(rebuild.IDLE)),
        (SMALL, "raid6", 5, {**MIXED, "rate_iops": 60}),
        (SMALL, "raid3", 4, {**MIXED, "iodepth": 4}),
        (SMALL, "raidz1", 4, {**MIXED, "rate_iops": 60}),
        ("wd-wd740gd-00fla0", "raid5", 4, {**MIXED, "rate_iops": 60}),
    ],
)
def test_the_extrapolated_rebuild_is_the_whole_one(drive, level, members, workload):
    run = {"until": "rebuilt", "duration": "10h", "seed": 2}
    whole = drivelab.simulate({"target": target(drive, level, members), "workload": workload, "run": run})
    sync = whole.points[0]["array"]["syncs"][0]
    assert sync["ended_ns"] is not None
    found = sampled(drive, level, members, workload)
    error = found["duration_ns"] / sync["duration_ns"] - 1
    assert abs(error) < 0.05, error
    # Of eight intervals of 95 % one may be missed by a little.
    assert abs(error) < 1.5 * found["relative_error"], (error, found["relative_error"])
    assert found["relative_error"] < 0.1


def test_a_short_rebuild_is_simulated_whole():
    found = compare_levels(
        SMALL, 4, levels=["raid5"], iodepth=1, number_ios=200, ramp_time="1s", states="rebuilding", full=False
    )
    idle = found.entries[0].rebuild_idle
    assert idle is not None
    assert not idle["extrapolated"]
    run = {"until": "rebuilt", "duration": "10h"}
    whole = drivelab.simulate({"target": target(SMALL, "raid5", 4), "workload": rebuild.IDLE, "run": run})
    assert idle["duration_ns"] == whole.points[0]["array"]["syncs"][0]["duration_ns"]


def test_a_load_that_is_not_carried_leaves_no_error():
    slow = {**MIXED, "rate_iops": 80}
    found = sampled(SMALLEST, "raidz1", 4, slow)
    assert not found["kept_up"]
    assert found["relative_error"] is None


def test_eight_drives_of_24_tb_are_seen_in_half_an_hour_of_their_time():
    found = sampled("seagate-exos-x24-24tb", "raid6", 8, {**MIXED, "rate_iops": 150})
    assert found["simulated_s"] < 1800
    assert found["member_bytes"] > 23e12
    assert found["relative_error"] < 0.1


def of_parts(rates: list[float], places: list[float], counted_s: float = 10) -> dict[str, Any]:
    """A sampled rebuild of 1 TB with these bytes a second in its parts."""
    parts = [
        {"rebuilt": place, "counted_ns": counted_s * 10**9, "member_bytes": rate * counted_s, "ios": 0}
        for rate, place in zip(rates, places, strict=True)
    ]
    sync = {
        "kind": "rebuild",
        "member_bytes_in_all": 10**12,
        "ended_ns": None,
        "member_bytes": 10**9,
        "member_bytes_before": 0,
    }
    return {
        "axes": {},
        "window_ns": 200 * 10**9,
        "write": {"iops": 0.0, "ios": 0},
        "array": {"syncs": [sync], "sampled": {"settled_ns": 0, "is_steady": True, "parts": parts}},
    }


EACH = [(2 * i + 1) / 32 for i in range(rebuild.PARTS)]
FOUR = [(2 * (i // 4) + 1) / 8 for i in range(rebuild.PARTS)]


def test_the_error_is_that_of_the_spread():
    even = rebuild.extrapolated([of_parts([1e8] * 16, EACH)])
    assert even is not None
    assert even["duration_ns"] == pytest.approx(10**12 / 1e8 * 1e9, rel=1e-6)
    assert even["relative_error"] == pytest.approx(rebuild.RESOLUTION, rel=1e-3)
    # Every other part twice as fast: the mean time for a byte is three quarters of the slow one's.
    uneven = rebuild.extrapolated([of_parts([1e8 * (1 + i % 2) for i in range(16)], EACH)])
    assert uneven is not None
    assert uneven["duration_ns"] == pytest.approx(0.75e13, rel=1e-6)
    bend = 1.0 / 6**0.5 / rebuild.PARTS**0.5
    spread = rebuild.T_95 * bend / 0.75
    assert uneven["relative_error"] == pytest.approx((spread**2 + rebuild.RESOLUTION**2) ** 0.5, rel=1e-6)
    assert rebuild.extrapolated([]) is None


def test_the_error_of_several_parts_at_a_place_is_that_within_places():
    # A trend from place to place is no error.
    trend = rebuild.extrapolated([of_parts([1e8 / (1 + i // 4) for i in range(16)], FOUR)])
    assert trend is not None
    assert trend["duration_ns"] == pytest.approx(2.5e13, rel=1e-6)
    assert trend["relative_error"] == pytest.approx(rebuild.FILLED_RESOLUTION, rel=1e-3)
    uneven = rebuild.extrapolated([of_parts([1e8 * (1 + i % 2) for i in range(16)], FOUR, 100)])
    assert uneven is not None
    within = (16 * 0.25**2 / 12 / 16) ** 0.5 / 0.75
    error = ((rebuild.T_95 * within) ** 2 + rebuild.RESOLUTION**2) ** 0.5
    assert uneven["relative_error"] == pytest.approx(error, rel=1e-6)


def test_a_larger_error_than_asked_for_is_simulated_for_longer():
    found = {
        "duration_ns": 10**15,
        "simulated_s": 200.0,
        "relative_error": 0.2,
        "resolution": 0.03,
        "is_steady": True,
    }
    assert rebuild.next_way({**found, "relative_error": 0.09}, rebuild.SHORT) is None
    again = rebuild.next_way(found, rebuild.SHORT)
    assert again == rebuild.Way(60)
    assert rebuild.next_way(found, again) is None
    asked = rebuild.Precision.asked("5%")
    assert rebuild.next_way(found, again, asked).part_s == rebuild.PART_ASKED_MAX_S
    # No error at all, for hosts did not get what they asked for.
    assert rebuild.next_way({**found, "relative_error": None}, rebuild.SHORT) == rebuild.LONG
    assert rebuild.next_way({**found, "duration_ns": 10**12}, rebuild.SHORT) is rebuild.WHOLE


@pytest.mark.parametrize("typed", ["0.5%", "60%", "much", "5", "-5%", "nan"])
def test_a_precision_that_cannot_be_is_refused(run, typed):
    done = run("compare-levels", "--drive", SMALL, "--precision", typed)
    assert done.returncode == 2
    assert f"--precision {typed}" in done.stderr
    assert "a percentage from 4% to 50%" in done.stderr


def test_caches_that_still_fill_leave_no_error():
    point = of_parts([1e8] * 16, FOUR)
    point["array"]["sampled"]["is_steady"] = False
    found = rebuild.extrapolated([point])
    assert found["relative_error"] is None
    assert rebuild.next_way(found, rebuild.SHORT) is None


def test_what_is_left_of_a_rebuild_is_what_is_extrapolated():
    point = of_parts([1e8] * 16, EACH)
    point["array"]["syncs"][0]["member_bytes_before"] = 10**12 // 4
    assert rebuild.extrapolated([point])["duration_ns"] == pytest.approx(0.75e13, rel=1e-6)


def test_a_recorded_trace_with_writes_leaves_a_wide_error():
    points = [of_parts([1e8] * 16, EACH) for _ in EACH]
    for place, point in zip(EACH, points, strict=True):
        del point["array"]["sampled"]
        point["array"]["syncs"][0]["member_bytes"] = 2 * 10**8
        point |= {
            "window_ns": 20 * 10**9,
            "axes": {"target.array.rebuilt": f"{100 * place:g}%"},
            "read": {"ios": 5},
        }
    assert rebuild.extrapolated(points)["relative_error"] == pytest.approx(rebuild.RESOLUTION)
    points[0]["write"]["ios"] = 1
    found = rebuild.extrapolated(points)
    assert found["relative_error"] == pytest.approx(rebuild.RECORDED_RESOLUTION)
    assert rebuild.next_way(found, rebuild.SHORT) is None


def test_a_rebuild_of_a_drive_with_a_large_cache_is_that_of_its_filled_cache():
    """Until its cache is full, and wherever the arm is new, the drive writes cheaply: parts of 10 s from the beginning
    on were a quarter too fast.
    """
    load = {**MIXED, "bs": "64KiB", "rate_iops": 60}
    keys = {"target": target("seagate-exos-x24-24tb", "raid1", 2), "workload": load}
    short, long = (
        rebuild.extrapolated(drivelab.simulate({**keys, "run": run}).points, 60.0)
        for run in ({"until": "sampled", "stay": "10s"}, {"until": "sampled", "stay": "40s"})
    )
    assert len({part["rebuilt"] for part in short["parts"]}) == 4
    assert short["settled_s"] > 60
    ratio = short["duration_ns"] / long["duration_ns"]
    assert abs(ratio - 1) < math.hypot(short["relative_error"], long["relative_error"])


def test_what_hosts_write_of_a_pool_need_not_be_rebuilt():
    left = rebuild._left_of_pool(60.0, 20_000.0, 1e6)
    exponent = 60 * 20_000 * left / 1e6
    assert left == pytest.approx((1 - math.exp(-exponent)) / exponent)
    assert 0.6 < left < 0.7
    assert rebuild._left_of_pool(0.0, 20_000.0, 1e6) == 1.0
    # Reads move no record.
    point = of_parts([1e8] * 16, EACH) | {"iops": 500.0, "write": {"iops": 60.0, "ios": 1}}
    found = rebuild.extrapolated([point], None, 1e6)
    assert found["duration_ns"] == pytest.approx(10**13 * rebuild._left_of_pool(60.0, 1e4, 1e6))


def test_a_part_that_brings_nothing_leaves_a_time_that_it_takes_at_least():
    found = compare_levels(
        SMALL,
        2,
        levels=["raid1"],
        iodepth=64,
        number_ios=100,
        ramp_time="1s",
        states="rebuilding",
        full=False,
        afr="5%",
        **{"target.array.rebuild": '{ gives_way = "waiting", floor = "1kB/s" }'},
    )
    raid1 = found.entries[0]
    assert raid1.rebuild is not None
    assert raid1.rebuild["duration_ns"] is None
    assert raid1.rebuild["at_least_ns"] > 0
    assert "repaired" not in raid1.odds
    assert "> " in str(found.verdict().table())


def test_mttdl_uses_the_hours_under_the_load(run):
    options = ("--drive", SMALL, "--members", "4", "--levels", "raid5", "--afr", "5%", "--iodepth", "4")
    done = run("compare-levels", *options, "--number-ios", "300", "--ramp-time", "1s", "--json")
    found = json.loads(done.stdout)
    raid5 = found["levels"][0]
    hours = raid5["rebuild"]["duration_ns"] / 3600e9
    assert raid5["failures"]["repair_hours"] == pytest.approx(hours)
    assert hours > 1.5 * raid5["rebuild_idle"]["duration_ns"] / 3600e9
    assert found["repair"] == "the rebuild under random reads and writes of 4KiB (70 % reads), 4 outstanding"
    verdict = found["verdict"]
    assert verdict["workload"] == {"rw": "randrw", "bs": "4KiB", "rwmixread": 70, "iodepth": 4}
    row = verdict["levels"][0]
    assert row["mttdl_years"] == raid5["loss"]["mttdl_years"]["value"]
    assert row["iops_healthy"] == raid5["states"]["healthy"]["load"]["iops"]
    # The same with the time given.
    given = run("compare-levels", *options, "--repair", f"{hours}h", "--number-ios", "300", "--csv")
    main = next(csv.DictReader(io.StringIO(given.stdout)))
    assert float(main["mttdl_years"]) == pytest.approx(row["mttdl_years"], rel=1e-6)


def test_the_verdict_answers_first_and_picks_by_its_rows(run):
    options = ("--drive", SMALL, "--members", "4", "--number-ios", "300", "--ramp-time", "1s", "--afr", "5%")
    done = run("compare-levels", *options, "--rw", "randread", "--rate_iops", "50")
    assert done.returncode == 0
    lines, table = done.stdout.split("\n\n")[:2]
    assert len(lines.splitlines()) <= 7
    assert table.splitlines()[0] == f"4 x {SMALL}: random reads of 4KiB, 50 Poisson arrivals a second"
    rows = [line.split()[0] for line in table.splitlines()[2:]]
    assert rows == [level for level in LEVELS if level not in {"raid30", "raid50", "raid60"}]
    # An open load gets what it asks for: its latency says which is faster.
    assert " ms" in lines.splitlines()[0]
    assert "rebuilt, simulated whole: under this load in " in lines
    assert ": the rebuild under the load is so short that it was simulated whole" in done.stderr
    assert "extrapolated" not in done.stdout + done.stderr
    main = list(csv.DictReader(io.StringIO(run("compare-levels", *options, "--csv").stdout)))
    assert [row["level"] for row in main] == rows
    assert all(float(row["rebuild_h"]) > 0 for row in main if int(row["bears_any"]))


def test_a_stream_is_told_in_bytes_a_second(run):
    options = ("--drive", SMALL, "--members", "4", "--levels", "raid0,raid5", "--number-ios", "300")
    done = run(
        "compare-levels", *options, "--ramp-time", "1s", "--rw", "read", "--bs", "1MiB", "--iodepth", "1"
    )
    assert "MB/s" in done.stdout
    assert "IOPS" not in done.stdout


def test_a_rebuild_that_the_run_cuts_short_says_how_far_it_came(run):
    options = (
        "--drive",
        SMALL,
        "--level",
        "raid1",
        "--members",
        "2",
        "--rw",
        "randread",
        "--rate_iops",
        "20",
    )
    settings = ("--set", "target.array.missing=[0]", "--set", "target.array.rebuilding=true")
    until = ("--set", "run.until=rebuilt", "--runtime", "60s")
    done = run("simulate", *options, *settings, *until)
    assert re.search(
        r"rebuild: [\d.]+ % when the run ended, [\d.]+ MB/s on each member; "
        r"the rest would take [\d.]+ min at that rate",
        done.stdout,
    ), done.stdout
    later = run("simulate", *options, *settings, *until, "--set", 'target.array.rebuilt="50%"', "--json")
    sync = json.loads(later.stdout)["points"][0]["array"]["syncs"][0]
    assert sync["member_bytes_before"] == pytest.approx(sync["member_bytes_in_all"] / 2, rel=1e-3)
    left = sync["member_bytes_in_all"] - sync["member_bytes_before"] - sync["member_bytes"]
    assert sync["remaining_ns"] == pytest.approx(left / sync["member_bytes_per_s"] * 1e9, rel=1e-6)
