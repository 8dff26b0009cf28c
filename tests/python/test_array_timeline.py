"""The picture of an array's log: a lane for each command of a host, a row for each member's head."""

from __future__ import annotations

import itertools

import pytest

import drivelab
from drivelab import charts

ARRAY = {"drive": "wd-4tb-7200", "level": "raid5", "members": 4, "rw": "randrw", "iodepth": 4}


@pytest.fixture(scope="module")
def result():
    return drivelab.simulate(log=20, number_ios=60, **ARRAY)


def test_lanes_hold_the_parts_of_each_command_and_rows_the_heads(result):
    point = result.points[0]
    spec = result.timeline_chart().to_dict()
    lanes, heads = spec["vconcat"]

    def rows(layer):  # noqa: ANN202
        return spec["datasets"][layer["data"]["name"]]

    parts = rows(lanes["layer"][0])
    for number, command in enumerate(
        sorted(point["commands"], key=lambda c: (c["submitted_ns"], c["id"])), 1
    ):
        own = [row for row in parts if row["number"] == number]
        lived_ms = (command["completed_ns"] - command["submitted_ns"]) / 1e6
        assert sum(row["ms"] for row in own) == pytest.approx(lived_ms)
        assert max(row["end"] for row in own) - min(row["start"] for row in own) == pytest.approx(lived_ms)
    stretches = rows(heads["layer"][0])
    assert {row["drive"] for row in stretches} == {f"drive {drive}" for drive in range(4)}
    for drive in range(4):
        way = sorted((row["start"], row["end"]) for row in stretches if row["drive"] == f"drive {drive}")
        # A head does one thing at a time.
        assert all(left[1] <= right[0] + 1e-6 for left, right in itertools.pairwise(way))
    assert spec["title"]["text"].startswith("raid5 of 4: 20 commands in ")


def test_members_tell_whom_they_worked_for_and_keep_to_their_bound(result):
    point = result.points[0]
    members = point["member_commands"]
    ids = {command["id"] for command in point["commands"]}
    assert ids <= {member["part_of"] for member in members}
    assert len(members) <= 16 * 20
    for member in members:
        parts = member["breakdown_ns"]
        assert sum(parts.values()) == member["completed_ns"] - member["submitted_ns"]
    plain = drivelab.simulate(number_ios=60, **ARRAY)
    assert plain.points[0]["digest"] == point["digest"]
    assert "member_commands" not in plain.points[0]


def test_a_rebuild_is_the_arrays_own_work():
    target = {"target.array.missing": [0], "target.array.rebuilding": True}
    busy = {"target.array.rebuild.floor": "none", "target.array.rebuild.ceiling": "none"}
    result = drivelab.simulate(log=20, number_ios=60, ramp_time="200ms", **ARRAY, **target, **busy)
    own = [member for member in result.points[0]["member_commands"] if member["part_of"] is None]
    assert {member["access"] for member in own if member["drive"] == 0} == {"write"}
    assert {member["drive"] for member in own if member["access"] == "read"} == {1, 2, 3}
    notes = result.timeline_chart().to_dict()["title"]["subtitle"]
    assert any("work of the array itself" in note for note in notes)


def test_the_command_line_draws_it(run, tmp_path):
    options = (
        "--drive",
        "wd-4tb-7200",
        "--level",
        "raid1",
        "--members",
        "2",
        "--rw",
        "randrw",
        "--iodepth",
        "4",
    )
    done = run("simulate", *options, "--number-ios", "60", "--timeline", "a.png", "--timeline", "a.svg", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert "drive 1" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    out = run("simulate", *options, "--number-ios", "60", "--log", "10", "--out", "o", "-q")
    assert out.returncode == 0
    assert (tmp_path / "o" / "timeline.html").exists()


def test_arrays_and_drives_are_drawn_apart(result):
    drive = drivelab.simulate(drive="wd-4tb-7200", log=5, number_ios=5)
    with pytest.raises(charts.ChartInputError, match="draw them apart"):
        charts.array_timeline([result.points[0], drive.points[0]])
    with pytest.raises(charts.ChartInputError, match="no point has a log"):
        charts.array_timeline([{}])
