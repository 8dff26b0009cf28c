"""What a user sees of an array to which something happens: the table, the story, CSV, and the picture over time."""

from __future__ import annotations

import csv
import io
import json

import pytest

from drivelab import charts
from drivelab.array_story import lines, story
from drivelab.charts.rebuild import _joined

FAILING = """
[target]
drive = "seagate-cheetah-9lp"
faults = { fail = [{ drive = 1, at = "20s" }] }

[target.array]
level = "raid5"
members = 4
spares = 1
replaced_after = "10s"
rebuild = { floor = "none", ceiling = "none", outstanding = 4 }

[workload]
rate_iops = 5

[run]
until = "rebuilt"
"""


@pytest.fixture
def failing(tmp_path):
    path = tmp_path / "failing.toml"
    path.write_text(FAILING, encoding="utf-8")
    return path


def point(events, series=(), **changes):  # noqa: ANN003
    array = {
        "state": "healthy",
        "degraded_ns": 0,
        "lost_bytes": 0,
        "repaired_bytes": 0,
        "events": [{"group": 0, **event} for event in events],
        "syncs": [],
        "series": list(series),
    }
    return {"axes": {}, "window_ns": 10**9, "array": {**array, **changes}}


def piece(start_ns, ios, **changes):  # noqa: ANN003
    usual = {
        "iops": ios / 1.0,
        "mean_latency_ns": 1e6 if ios else None,
        "max_latency_ns": 2e6 if ios else None,
    }
    return {"start_ns": start_ns, "ios": ios, "errors": 0, "rebuilt": None, **usual, **changes}


def test_a_rebuild_is_told_drawn_and_as_long_as_the_link_takes(run, failing, tmp_path):
    done = run("simulate", failing, "--rebuild", "rebuild.svg", "--out", "out")
    assert done.returncode == 0, done.stderr
    for words in ("20 s  drive 1 failed", "30 s  drive 4 in place 1, rebuild began", "at the end healthy"):
        assert words in done.stdout
    array = json.loads((tmp_path / "out" / "record.json").read_text())["points"][0]["array"]
    # 9.1 GB over a link of 4.876 MB/s, and the hosts have some of it.
    least_s = 9_104_982_016 / 4.876190e6
    assert least_s < array["syncs"][0]["duration_ns"] / 1e9 < 1.2 * least_s
    picture = (tmp_path / "rebuild.svg").read_text()
    for words in (
        "raid5 of 4 members over time",
        "Latency, ms",
        "IOPS",
        "Rebuilt, %",
        "drive 1 failed",
        "rebuilt",
    ):
        assert words in picture
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "record.json", "depth.html", "breakdown.html", "rebuild.html",
    }  # fmt: skip


def test_csv_has_how_the_array_stands_and_no_lists(run, failing):
    done = run("simulate", failing, "--csv", "--set", "run.duration=60s")
    row = next(csv.DictReader(io.StringIO(done.stdout)))
    assert row["array.state"] == "rebuilding"
    assert row["array.degraded_ns"] == "40000000000"
    assert not {"array.events", "array.syncs", "array.series"} & set(row)


def test_a_sweep_has_columns_and_many_points_no_stories(run, failing):
    done = run("simulate", failing, "--set", "run.duration=40s", "--randseed", "1,2,3,4,5")
    assert "rebuilt in" in done.stdout
    assert done.stdout.count("% done") == 5
    assert "What happened" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rebuild", "a.gif"), ".png, .svg, .html"),
        (("--rebuild", "a.svg", "--randseed", "1,2,3,4,5,6,7,8,9"), "at most 8 points"),
        (("--timeline", "a.svg", "--randseed", "1,2,3,4,5"), "at most 4 points"),
    ],
)
def test_a_picture_that_cannot_be_is_refused_before_the_run(run, failing, arguments, words):
    done = run("simulate", failing, *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_drive_alone_has_no_picture_of_an_array(run, queue):
    done = run("simulate", queue, "--rebuild", "a.svg")
    assert done.returncode == 2
    assert "this target is no array" in done.stderr


def test_losses_of_one_instant_are_one_sum_and_groups_are_named_where_there_are_several():
    lost = {"what": "lost", "lost": {"first": 0, "bytes": 1000, "every": 4000, "times": 3}}
    events = [
        {"at_ns": 5, "what": "failed", "drive": 2, "slot": 2},
        {"at_ns": 5, **lost},
        {"at_ns": 5, **lost},
    ]
    assert story(point(events)["array"]) == [(5, "drive 2 failed, 6 kB lost")]
    began = [
        {"at_ns": 0, "what": "began", "sync": "rebuild"},
        {"at_ns": 9, "what": "ended", "sync": "rebuild"},
    ]
    assert story(point(began)["array"]) == [(0, "rebuild began"), (9, "rebuilt")]
    began[1]["group"] = 1
    assert [what for _, what in story(point(began)["array"])] == [
        "rebuild of group 0 began",
        "group 1 rebuilt",
    ]


def test_a_long_story_keeps_its_begin_and_its_end():
    events = [{"at_ns": at * 10**9, "what": "failed", "drive": at, "slot": at} for at in range(1, 41)]
    told = lines(point(events)["array"])
    assert len(told) < 16
    assert "drive 1 failed" in told[0]
    assert any("drive 40 failed" in line for line in told)
    assert any("28 more instants" in line for line in told)


def test_pieces_are_joined_by_their_counts():
    both = _joined(
        [piece(0, 1, rebuilt=0.1), piece(10**9, 3, mean_latency_ns=5e6, max_latency_ns=9e6, rebuilt=0.2)]
    )
    assert both["mean_latency_ns"] == 4e6
    assert both["max_latency_ns"] == 9e6
    assert both["iops"] == 2.0
    assert both["rebuilt"] == 0.2
    assert _joined([piece(0, 4), piece(10**9, 0)])["iops"] == 2.0
    assert _joined([piece(0, 0), piece(10**9, 0)])["mean_latency_ns"] is None


def test_without_an_array_there_is_no_chart():
    with pytest.raises(charts.ChartInputError, match="no point has an array"):
        charts.rebuild([{"axes": {}}])
