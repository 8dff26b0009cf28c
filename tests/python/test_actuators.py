"""Drives with two actuators from the command line: what the second one buys, arrays of them, and who refuses."""

from __future__ import annotations

import json

import pytest

from drivelab import InputError, compare_levels, durability, simulate
from drivelab.arrays.levels.tables import notes

RANGES, UNITS, ONE = "seagate-exos-2x18-18tb", "seagate-exos-2x14-14tb", "seagate-exos-x24-24tb"


def simulated(drive: str, depth: int, rw: str = "randread", **target: object) -> dict:
    """The point of a workload of 4 KiB on a drive with keys over its own."""
    result = simulate(
        {
            "target": {"drive": drive, **target},
            "workload": {"rw": rw, "bs": "4KiB", "iodepth": depth},
            "run": {"duration": "60s", "warmup": "10s"},
        }
    )
    return result.points[0]


def test_two_arms_are_between_one_drive_and_two():
    alone, both = simulated(RANGES, 1), simulated(RANGES, 32)
    one = simulate(
        {
            "target": {"drive": {"base": RANGES, "dual_actuator": "no"}},
            "workload": {"rw": "randread", "bs": "4KiB", "iodepth": [1, 16, 32]},
            "run": {"duration": "60s", "warmup": "10s"},
        }
    )
    first, half, whole = (point["iops"] for point in one.points)
    assert alone["iops"] == pytest.approx(first, rel=0.03)
    # Thirty-two commands are sixteen for each arm, but for chance.
    assert 1.5 * whole < both["iops"] < 2.02 * half


@pytest.mark.parametrize(("drive", "published"), [(RANGES, 304), (UNITS, 304)])
def test_what_data_sheets_say_is_in_the_range(drive, published):
    target = {"array": {"level": "jbod", "members": 2}} if drive == UNITS else {}
    point = simulated(drive, 16, **target)
    assert point["iops_low"] < published < point["iops_high"]


@pytest.mark.parametrize(("drive", "published"), [(RANGES, 560), (UNITS, 384)])
def test_cached_writes_are_those_of_the_data_sheet(drive, published):
    target = {"array": {"level": "jbod", "members": 2}} if drive == UNITS else {}
    assert simulated(drive, 16, "randwrite", **target)["iops"] == pytest.approx(published, rel=0.02)


def test_both_actuators_of_a_failed_drive_are_gone(run):
    failed = ("--set", "target.faults.fail=[{drive=1,at='1s'}]", "--runtime", "5s", "--json")
    array = ("--drive", UNITS, "--set", "target.array.members=6", *failed, "--rw", "randread")
    lost = run("simulate", *array, "--set", "target.array.level=raid5")
    kept = run("simulate", *array, "--set", "target.array.level=raid6")
    assert "fail together: members 0 and 3, 1 and 4, 2 and 5" in lost.stderr
    assert "losing the drive of members 0 and 3 loses data" in lost.stderr
    assert "bears the loss of any one drive" in kept.stderr
    arrays = [json.loads(one.stdout)["points"][0]["array"] for one in (lost, kept)]
    assert [array["state"] for array in arrays] == ["failed", "degraded"]
    for array in arrays:
        assert [event["drive"] for event in array["events"] if event["what"] == "failed"] == [1, 4]


def test_check_says_that_members_fail_in_pairs(run):
    found = run(
        "check", "--drive", UNITS, "--set", "target.array.level=raid6", "--set", "target.array.members=8"
    )
    assert "bears any 2 failures; members are actuators and fail in pairs" in found.stdout


def test_levels_are_not_compared_for_members_that_fail_in_pairs():
    for drive in (UNITS, RANGES):
        with pytest.raises(InputError, match="fails with the other one"):
            compare_levels(drive, 4, rw="randread")
        with pytest.raises(InputError, match="fails with the other one"):
            durability(level="raid6", members=8, drive=drive, afr="1%", rebuild="20h")
    single = {"target.drive.dual_actuator": "no"}
    whole = compare_levels(UNITS, 4, rw="randread", levels="raid5", **single)
    assert whole.possible


def test_the_note_of_a_shingled_drive_is_with_the_levels():
    found = compare_levels("seagate-st4000dm004", 2, rw="randread", levels="raid1")
    assert "shingled" in notes(found)[0]


def test_an_emulated_drive_says_what_it_is_and_a_new_one_has_both_actuators(run):
    array = ("--set", "target.array.level=raid6", "--set", "target.array.members=4")
    fault = "drivelab fault $DRIVELAB_CONTROL"
    size = ("--drive-size", "64MiB")
    asked = f"{fault} fail --member 1 && {fault} status && {fault} replace --member 1"
    found = run("emulate", "--drive", UNITS, *array, *size, "--run", asked)
    assert found.returncode == 0, found.stderr
    assert "fail together: members 0 and 2, 1 and 3" in found.stderr
    assert "member 1 is missing; member 3 is missing" in found.stdout
    assert "a drive has taken a member's place (member 3)" in found.stderr
    whole = run("emulate", "--drive", RANGES, *size, "--run", f"{fault} fail --member 0")
    assert "cannot have faults: that takes a drive with one actuator" in whole.stderr
