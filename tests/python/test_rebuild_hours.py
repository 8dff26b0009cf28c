"""Rebuild hours of `compare-levels`: extrapolated from windows, held to whole rebuilds, and used by the verdict."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import time
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


def windows(drive: str, level: str, members: int, workload: dict[str, Any]) -> dict[str, Any]:
    """Extrapolated, however short the whole rebuild is."""
    found, way = None, rebuild.SHORT
    while way is not None and way is not rebuild.WHOLE:
        scenario = {
            "target": target(drive, level, members),
            "workload": workload,
            "run": way.run_document(),
        }
        scenario["target"]["array"] |= way.array()
        checked = plan(read_source(scenario)).with_own_seeds()
        rate = workload.get("rate_iops", 0)
        pool = ((checked.in_force or [None])[0] or {}).get("array", {}).get("record_bytes")
        records = checked.capacity_bytes(0) / pool if pool else None
        points = run_plan(checked).points
        found = rebuild.extrapolated(points, way, rate if rate >= 1 else None, records)
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
    found = windows(drive, level, members, workload)
    error = found["duration_ns"] / sync["duration_ns"] - 1
    assert abs(error) < 0.05, error
    # Of eight intervals of 95 % one may be missed by a little.
    assert abs(error) < 1.5 * found["relative_error"], (error, found["relative_error"])
    assert found["relative_error"] < 0.05


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
    slow = {**MIXED, "rate_iops": 60}
    found = windows(SMALLEST, "raidz1", 4, slow)
    assert not found["kept_up"]
    assert found["relative_error"] is None


def test_eight_drives_of_24_tb_are_answered_in_under_ten_seconds():
    begun = time.process_time()
    found = windows("seagate-exos-x24-24tb", "raid6", 8, {**MIXED, "rate_iops": 150})
    assert time.process_time() - begun < 10
    assert found["member_bytes"] > 23e12
    assert found["relative_error"] < 0.05


def test_the_error_is_that_of_the_spread():
    def point(window: int, rate: float) -> dict[str, Any]:
        whole, before = 10**12, 10**12 * (2 * window + 1) // (2 * rebuild.WINDOWS)
        series = [
            {"start_ns": i * 10**8, "rebuilt": (before + rate * (i + 1) / 10) / whole} for i in range(200)
        ]
        sync = {
            "kind": "rebuild",
            "member_bytes_before": before,
            "member_bytes_in_all": whole,
            "ended_ns": None,
        }
        return {
            "axes": {"target.array.rebuilt": before / whole},
            "iops": 0.0,
            "array": {"syncs": [sync], "series": series},
        }

    even = rebuild.extrapolated([point(i, 1e8) for i in range(rebuild.WINDOWS)])
    assert even is not None
    assert even["duration_ns"] == pytest.approx(10**12 / 1e8 * 1e9, rel=1e-6)
    assert even["relative_error"] == pytest.approx(rebuild.RESOLUTION, rel=1e-3)
    # Every other window twice as fast: the mean time for a byte is three quarters of the slow one's.
    uneven = rebuild.extrapolated([point(i, 1e8 * (1 + i % 2)) for i in range(rebuild.WINDOWS)])
    assert uneven is not None
    assert uneven["duration_ns"] == pytest.approx(0.75e13, rel=1e-6)
    bend = 1.0 / 6**0.5 / rebuild.WINDOWS**0.5
    spread = rebuild.T_95 * bend / 0.75
    assert uneven["relative_error"] == pytest.approx((spread**2 + rebuild.RESOLUTION**2) ** 0.5, rel=1e-6)
    assert rebuild.extrapolated([]) is None


def test_what_hosts_write_of_a_pool_need_not_be_rebuilt():
    points = [{"iops": 500.0, "write": {"iops": writes}} for writes in (40.0, 80.0)]
    left = rebuild._left_of_pool(points, 20_000.0, 1e6)
    exponent = 60 * 20_000 * left / 1e6
    assert left == pytest.approx((1 - math.exp(-exponent)) / exponent)
    assert 0.6 < left < 0.7
    assert rebuild._left_of_pool([{"iops": 500.0, "write": {"iops": 0.0}}], 20_000.0, 1e6) == 1.0


def test_a_window_that_brings_nothing_leaves_a_time_that_it_takes_at_least():
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
