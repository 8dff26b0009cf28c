"""What a user sees of an array to which something happens: the table, the timeline, CSV, and the picture over time."""

from __future__ import annotations

import csv
import io
import json

import pytest

from drivelab import charts
from drivelab.charts.rebuild import _joined
from drivelab.report.array_summary import lines, timeline

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
        "member_errors": {"reads": 0, "writes": 0},
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


def test_a_sweep_has_columns_and_many_points_no_timelines(run, failing):
    done = run("simulate", failing, "--set", "run.duration=40s", "--randseed", "1,2,3,4,5")
    assert "rebuilt in" in done.stdout
    assert done.stdout.count("% done") == 5
    assert "What happened" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rebuild", "a.gif"), ".png, .svg, .pdf, .html, .json"),
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
    assert timeline(point(events)["array"]) == [(5, "drive 2 failed, 6 kB lost")]
    began = [
        {"at_ns": 0, "what": "began", "sync": "rebuild"},
        {"at_ns": 9, "what": "ended", "sync": "rebuild"},
    ]
    assert timeline(point(began)["array"]) == [(0, "rebuild began"), (9, "rebuilt")]
    began[1]["group"] = 1
    assert [what for _, what in timeline(point(began)["array"])] == [
        "rebuild of group 0 began",
        "group 1 rebuilt",
    ]


def test_a_long_timeline_keeps_its_begin_and_its_end():
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


def test_pieces_that_are_lost_one_after_the_other_are_one_line():
    def lost(at_s: int, first: int, times: int = 1) -> dict[str, object]:
        piece = {"first": first, "bytes": 4096, "every": 8192, "times": times}
        return {"at_ns": at_s * 10**9, "what": "lost", "lost": piece}

    began = {"at_ns": 0, "what": "began", "sync": "rebuild"}
    ended = {"at_ns": 50 * 10**9, "what": "ended", "sync": "rebuild"}
    many = [
        began,
        *(lost(at, 1_000_000 * at) for at in range(1, 31)),
        lost(31, 512, times=5),
        ended,
        lost(60, 0),
    ]
    told = timeline(point(many)["array"])
    assert told == [
        (0, "rebuild began"),
        (10**9, "143 kB lost in 35 pieces until 31 s, the first at byte 512"),
        (50 * 10**9, "rebuilt"),
        (60 * 10**9, "4.1 kB lost at byte 0"),
    ]


def test_a_journal_that_fails_and_a_rebuild_that_begins_anew_are_told():
    events = [
        {"at_ns": 5, "what": "journal-failed", "drive": 4},
        {"at_ns": 9, "what": "replaced", "drive": 6, "slot": 2},
        {"at_ns": 9, "what": "began-anew", "sync": "rebuild"},
    ]
    assert [what for _, what in timeline(point(events)["array"])] == [
        "journal drive 4 failed: writes are refused",
        "drive 6 in place 2, rebuild began anew",
    ]


BUSY = """
[target]
drive = "wd-4tb-7200"

[target.array]
level = "raid5"
members = 4
missing = [1]
rebuilding = true
rebuild.floor = ["1000KiB/s", "50MB/s"]

[workload]
rw = "randread"
iodepth = 64

[run]
duration = "30s"
"""


def test_a_floor_that_is_not_kept_is_one_line_and_one_that_is_kept_none(run, tmp_path):
    (tmp_path / "busy.toml").write_text(BUSY, encoding="utf-8")
    done = run("simulate", "busy.toml", "--out", "out")
    said = [line for line in done.stderr.splitlines() if "rebuild.floor" in line]
    points = json.loads((tmp_path / "out" / "record.json").read_text())["points"]
    kept, missed = (each["array"]["syncs"][0] for each in points)
    assert (kept["floor_bytes_per_s"], kept["floor_missed_ns"]) == (1_024_000, 0)
    assert missed["floor_bytes_per_s"] == 50_000_000
    assert missed["under_load_bytes_per_s"] < 10e6
    # What of 30 s was due and not done, but for the three seconds that may still be caught up.
    share = 1 - missed["under_load_bytes_per_s"] / 50e6
    assert missed["floor_missed_ns"] == pytest.approx(30e9 * share - 3e9, rel=0.05)
    reached = f"{missed['under_load_bytes_per_s'] / 1e6:.3g} MB/s"
    assert said == [
        "note: rebuild.floor was not kept at target.array.rebuild.floor=50MB/s: 50 MB/s asked, "
        f"{reached} reached by the rebuild; hosts keep the members busy, "
        "and more requests at once (rebuild.outstanding) would get more"
    ]


def test_a_failed_array_answers_at_its_own_pace(run, tmp_path):
    failing = """
    [target]
    drive = "wd-4tb-7200"
    controller = { interface = "ahci" }
    faults.fail = [{ drive = 0, at = "1s" }, { drive = 1, at = "1s" }, { drive = 2, at = "1s" }]
    array = { level = "raid5", members = 3 }
    [workload]
    rw = "randrw"
    iodepth = 16
    [run]
    duration = "3s"
    """
    (tmp_path / "failed.toml").write_text(failing, encoding="utf-8")
    done = run("simulate", "failed.toml", "--json", "--set", 'target.controller.issue="1us","17us"')
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    # 10 us is the least; 17 and 2 are more.
    for each, cost_us in zip(points, (10, 19), strict=True):
        assert each["errors"] == pytest.approx(2e6 / cost_us, rel=0.001)
        assert each["depth"]["achieved"] == pytest.approx(16, abs=0.01)


def test_a_piece_of_time_between_empty_ones_is_drawn_as_a_point():
    events = [{"at_ns": 0, "what": "failed", "drive": 0, "slot": 0}]
    ios = [0, 1, 0, 1, 1, 0, 0, 1]
    series = [piece(at * 10**9, count) for at, count in enumerate(ios)]
    rows = charts.rebuild([point(events, series)]).to_dict()["datasets"]
    alone = [row["alone"] for data in rows.values() for row in data if "alone" in row]
    assert [at for at, is_alone in enumerate(alone) if is_alone] == [1, 7]


def test_reads_and_writes_have_rows_of_their_own_where_there_are_both(run, queue):
    done = run("simulate", queue, "--rw", "randread,randrw", "--iodepth", "4", "--number-ios", "4000")
    lines = done.stdout.splitlines()
    at = lines.index("Reads and writes apart")
    assert lines[at + 1].split() == [
        "rw",
        "of",
        "IOPS",
        "MB/s",
        "mean",
        "ms",
        "p50",
        "ms",
        "p99",
        "ms",
        "max",
        "ms",
    ]
    assert [line.split()[:2] for line in lines[at + 2 : at + 4]] == [
        ["randrw", "reads"],
        ["randrw", "writes"],
    ]
    alone = run("simulate", queue, "--rw", "randread")
    assert "Reads and writes apart" not in alone.stdout


def test_an_io_that_starves_is_told_of(run):
    # Two parts of a drive: the shortest seek never leads from the one that is asked for all the time to the other.
    for near, starves in (("16", True), ("1", False)):
        done = run(
            *(
                "simulate",
                "--drive",
                "wd-4tb-7200",
                "--runtime",
                "20s",
                "--set",
                "target.queue.order=sstf",
                "--json",
            ),
            *(
                "--set",
                f"workload.job={{near={{size='0.01%',iodepth={near}}},far={{offset='90%',iodepth=1}}}}",
            ),
        )
        record = json.loads(done.stdout)["points"][0]
        assert (record["oldest_unfinished_ns"] > 10 * record["latency_ns"]["max"]) is starves
        assert ("an I/O had waited for" in done.stderr) is starves, done.stderr


def test_a_little_more_than_the_longest_is_no_starvation(run):
    # As many wait at the end as did in between.
    done = run(
        *("simulate", "--drive", "wd-4tb-7200", "--rw", "randread", "--iodepth", "32", "--number-ios", "300"),
        *("--set", "target.queue.order=sptf", "--json"),
    )
    record = json.loads(done.stdout)["points"][0]
    assert record["latency_ns"]["max"] < record["oldest_unfinished_ns"] < 10 * record["latency_ns"]["max"]
    assert "had waited" not in done.stderr


def test_a_new_drive_in_a_place_is_not_the_one_that_failed(run):
    done = run(
        *("simulate", "--drive", "wd-wd360gd", "--level", "raid1", "--members", "2", "--number-ios", "20"),
        *("--set", "target.array.missing=[0]", "--set", "target.array.rebuilding=true"),
    )
    assert "drive 0 missing, a new drive in place 0, rebuild began" in done.stdout
