"""The log of commands and its picture: the traces of commands, who overtook whom, and what that saved."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivelab
from drivelab import charts
from drivelab.charts.head import moves
from drivelab.runs.simulation import LOG_MAX, in_arrival_order

DRIVE = "wd-4tb-7200"
BATCH = ("--drive", DRIVE, "--rw", "randread", "--iodepth", "16", "--number-ios", "16", "--thinktime", "1h")
STAMPS = ("submitted_ns", "accepted_ns", "chosen_ns", "begun_ns", "ended_ns", "completed_ns")
# Nothing that lets a command be served before one that the order puts first.
PLAIN = {
    "target.cache": False,
    "target.queue.joins_reads": "never",
    "target.queue.joins_writes": "never",
}

ORDERS = st.sampled_from(["fcfs", "sstf", "look", "c-look", "sptf", "aged-sptf"])
WORKLOADS = st.fixed_dictionaries(
    {
        "rw": st.sampled_from(["randread", "randwrite", "randrw"]),
        "bs": st.sampled_from(["4k", "64k", "1m"]),
        "iodepth": st.integers(1, 40),
        "numjobs": st.integers(1, 3),
        "randseed": st.integers(0, 1000),
        "ramp_time": st.sampled_from(["0s", "150ms"]),
    }
)


def logged(order: str, workload: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The commands of one run."""
    options = {**workload, "number_ios": count, "target.queue.order": order}
    return drivelab.simulate(drive=DRIVE, log=count, **options, **PLAIN).points[0]["commands"]


def naive_overtaken(command: dict[str, Any], commands: list[dict[str, Any]]) -> list[int]:
    """Who arrived later and was served earlier, from the ranks that the drive itself gave."""
    return [
        other["id"]
        for other in commands
        if (other["accepted_ns"], other["id"]) > (command["accepted_ns"], command["id"])
        and other["rank"] < command["rank"]
    ]


@given(order=ORDERS, workload=WORKLOADS, count=st.integers(1, 90))
def test_every_log_obeys_its_laws(order: str, workload: dict[str, Any], count: int) -> None:
    commands = logged(order, workload, count)
    assert 0 < len(commands) <= count
    for command in commands:
        stamps = [command[name] for name in STAMPS]
        assert stamps == sorted(stamps)
        assert sum(command["breakdown_ns"].values()) == command["completed_ns"] - command["submitted_ns"]
        overtaken = naive_overtaken(command, commands)
        assert command["overtaken_by"] == len(overtaken)
        assert command.get("overtaken_by_ids", overtaken) == overtaken
        assert ("overtook_ids" in command) is (len(commands) <= 64)
        assert command["reorder_distance"] == command["service_rank"] - command["arrival_rank"]
        assert command["overtaken_by"] - command["overtook"] == command["reorder_distance"]
    assert [command["arrival_rank"] for command in commands] == list(range(len(commands)))
    assert sorted(command["service_rank"] for command in commands) == list(range(len(commands)))
    assert sum(command["reorder_distance"] for command in commands) == 0


@given(workload=WORKLOADS, count=st.integers(1, 90))
def test_in_order_of_arrival_no_command_moves(workload: dict[str, Any], count: int) -> None:
    assert {command["reorder_distance"] for command in logged("fcfs", workload, count)} == {0}


def test_by_positioning_time_commands_move_and_the_head_takes_a_shorter_way(run):
    def commands(order: str) -> list[dict[str, Any]]:
        done = run("simulate", *BATCH, "--set", f"target.queue.order={order}", "--log", "16", "--json")
        return json.loads(done.stdout)["points"][0]["commands"]

    fcfs, sptf = commands("fcfs"), commands("sptf")
    assert [c["first_sector"] for c in fcfs] == [c["first_sector"] for c in sptf]
    assert any(command["overtaken_by"] > 4 for command in sptf)
    assert max(c["completed_ns"] for c in sptf) < 0.7 * max(c["completed_ns"] for c in fcfs)
    way = [sum(abs(c["first_cylinder"] - c["from_cylinder"]) for c in log) for log in (fcfs, sptf)]
    assert way[1] < way[0] / 2


@given(order=ORDERS, workload=WORKLOADS)
def test_the_way_of_the_head_has_no_gap(order: str, workload: dict[str, Any]) -> None:
    commands = logged(order, {**workload, "ramp_time": "0s"}, 30)
    way = moves(commands)
    for before, after in pairwise(way):
        assert before.end_ns == after.start_ns
        assert before.end_cylinder == after.start_cylinder
    for phase in ("seek", "rotation", "transfer"):
        drawn = sum(move.end_ns - move.start_ns for move in way if move.phase == phase)
        assert drawn == sum(command["breakdown_ns"][phase] for command in commands)


def test_merged_commands_move_the_head_once_and_what_was_given_up_does_not() -> None:
    commands = logged("sptf", {"rw": "randread", "iodepth": 4, "ramp_time": "0s"}, 6)
    merged = {**commands[2], "id": 99, "carried_by": commands[2]["id"]}
    given_up = {**commands[3], "id": 98, "outcome": "aborted", "ended_ns": None, "breakdown_ns": None}
    assert moves([*commands, merged, given_up]) == moves(commands)


def test_an_attempt_that_failed_is_drawn_without_its_parts() -> None:
    commands = logged("fcfs", {"rw": "randread", "iodepth": 2, "ramp_time": "0s"}, 3)
    failed = [{**command, "breakdown_ns": None} for command in commands]
    assert {move.phase for move in moves(failed)} == {"seek", "transfer"}
    assert moves(failed)[-1].end_ns == moves(commands)[-1].end_ns


def test_a_log_changes_nothing_else(run):
    plain = json.loads(run("simulate", *BATCH, "--json").stdout)
    record = json.loads(run("simulate", *BATCH, "--log", "9", "--json").stdout)
    point = record["points"][0]
    assert [len(point.pop("commands")), point.pop("logged_from_ns")] == [9, 0]
    assert point.pop("platter").keys() == {"rotation_ns", "cylinders"}
    assert record == plain


def test_the_log_begins_after_the_warm_up(run):
    done = run(
        "simulate", "--drive", DRIVE, "--ramp-time", "1s", "--number-ios", "50", "--log", "20", "--json"
    )
    point = json.loads(done.stdout)["points"][0]
    assert point["logged_from_ns"] == 1_000_000_000
    assert len(point["commands"]) == 20
    assert all(command["completed_ns"] > 1_000_000_000 for command in point["commands"])


def test_the_reference_explains_every_key_of_the_log(run):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "record.md").read_text(encoding="utf-8")
    explained = {word for code in re.findall(r"`([^`]+)`", page) for word in code.split(".")}
    point = json.loads(run("simulate", *BATCH, "--log", "16", "--json").stdout)["points"][0]
    names = {key for command in point["commands"] for key in command}
    values = {
        c[key] for c in point["commands"] for key in ("attribute", "priority", "outcome", "served", "access")
    }
    assert (names | values | point.keys() | point["platter"].keys()) - explained == set()


def test_the_csv_has_a_line_for_each_command_of_each_point(run, tmp_path):
    done = run("simulate", *BATCH, "--bs", "4k,64k", "--log", "16", "--log-to", "log.csv", "--json")
    assert done.stderr.splitlines() == ["wrote log.csv"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "log.csv").read_text(encoding="utf-8"))))
    points = json.loads(done.stdout)["points"]
    assert [row["workload.bs"] for row in rows] == ["4k"] * 16 + ["64k"] * 16
    for row, command in zip(rows, [c for point in points for c in point["commands"]], strict=True):
        assert int(row["begun_ns"]) == command["begun_ns"]
        assert int(row["breakdown_ns.seek"]) == command["breakdown_ns"]["seek"]
        assert row["overtook_ids"].split() == [str(number) for number in command["overtook_ids"]]


def test_the_log_as_json_is_the_record(run, tmp_path):
    done = run("simulate", *BATCH, "--log", "16", "--log-to", "log.json", "--json")
    assert (tmp_path / "log.json").read_text(encoding="utf-8") == done.stdout


def test_the_csv_of_the_points_does_not_change(run):
    assert run("simulate", *BATCH, "--csv", "--log", "4").stdout == run("simulate", *BATCH, "--csv").stdout


def test_out_holds_the_log_and_its_picture(run, tmp_path):
    run("simulate", *BATCH, "--log", "16", "--out", "there")
    names = {"breakdown.html", "commands.csv", "depth.html", "record.json", "timeline.html"}
    assert {path.name for path in (tmp_path / "there").iterdir()} == names


def test_stations_have_no_log_and_say_so(run, queue):
    done = run("simulate", queue, "--log", "5", "--timeline", "a.svg", "--json")
    assert (done.returncode, done.stderr.count("note: ")) == (0, 1)
    assert "only drives keep traces of commands" in done.stderr
    assert {len(point["commands"]) for point in json.loads(done.stdout)["points"]} == {0}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--log", "0"), ("--log", "1")),
        (("--log-to", "a.csv"), ("--log-to a.csv", "Add --log")),
        (("--log", "4", "--log-to", "a.txt"), ("--log-to a.txt", ".csv or .json")),
        (("--log", "60000", "--bs", "4k,8k"), ("60,000 commands at each of 2 points", "50,000 or fewer")),
        (("--timeline", "a.gif"), ("--timeline a.gif", ".svg")),
        (("--timeline", "a.svg", "--bs", "4k,8k,16k,32k,64k"), ("at most 4 points", "has 5")),
    ],
)
def test_a_log_that_cannot_be_is_refused_before_anything_runs(run, options, words):
    done = run("simulate", "--drive", DRIVE, "--set", "run.ios=1000000000000", *options)
    assert (done.returncode, done.stdout) == (2, "")
    for word in words:
        assert word in done.stderr


def test_a_log_in_a_notebook_is_held_to_the_same_limit():
    with pytest.raises(drivelab.InputError, match="at most 100,000"):
        drivelab.simulate(drive=DRIVE, log=LOG_MAX + 1)
    with pytest.raises(drivelab.InputError, match="log is -1"):
        drivelab.simulate(drive=DRIVE, log=-1)


@pytest.mark.parametrize("order", ["fcfs", "sptf"])
def test_the_title_says_what_two_runs_differ_by(order):
    batch = {"iodepth": 16, "number_ios": 16, "thinktime": "1h", "target.queue.order": order}
    result = drivelab.simulate(drive=DRIVE, log=16, **batch)
    fcfs = drivelab.simulate(drive=DRIVE, **{**batch, "target.queue.order": "fcfs"})
    yardstick = in_arrival_order(result)[0]
    assert yardstick is not None
    own, other = (point["window_ns"] for point in (result.points[0], fcfs.points[0]))
    assert (yardstick["window_ns"], yardstick["digest"]) == (other, fcfs.points[0]["digest"])
    heading = result.timeline_chart().to_dict()["title"]
    if order == "fcfs":
        assert heading["text"] == f"16 commands in {own / 1e6:.1f} ms, as in order of arrival"
    else:
        saved = round(100 * (1 - own / other))
        times = f"in {own / 1e6:.1f} ms instead of {other / 1e6:.1f} ms in order of arrival"
        assert heading["text"] == f"16 commands {times}: {saved} % of the time saved"
    assert heading["subtitle"][-1].endswith("the same commands.")


def test_a_queue_that_is_filled_up_again_is_not_called_the_same_commands():
    result = drivelab.simulate(drive=DRIVE, iodepth=16, number_ios=30, ramp_time="1s", log=30)
    assert "not all the same ones" in result.timeline_chart().to_dict()["title"]["subtitle"][-1]


@pytest.mark.parametrize(
    ("workload", "log", "panels", "has_platters"),
    [
        ({"iodepth": 6, "number_ios": 6, "thinktime": "1h"}, 6, 3, True),
        ({"iodepth": 16, "number_ios": 16, "thinktime": "1h"}, 16, 2, False),
        ({"rw": "randrw", "iodepth": 8, "number_ios": 300}, 300, 1, False),
        ({"rw": "read", "iodepth": 2, "number_ios": 30, "thinktime": "1ms"}, 30, 1, False),
        ({"bs": ["4k", "64k"], "iodepth": 4, "number_ios": 12}, 12, 2, False),
    ],
)
def test_a_timeline_is_drawn(workload, log, panels, has_platters, tmp_path):
    chart = drivelab.simulate(drive=DRIVE, log=log, **workload).timeline_chart()
    drawn = chart.to_dict()["vconcat"]
    assert (len(drawn), "hconcat" in drawn[-1]) == (panels, has_platters)
    charts.save(chart, tmp_path / "a.svg")
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "NaN" not in picture
    assert "Infinity" not in picture
    # A number for each command in each panel, or none at all.
    numbers = len(re.findall(r'font-weight="bold"[^>]*>\d+<', picture))
    assert (numbers > 0) is (log <= 40)


def test_marks_with_numbers_do_not_cover_each_other():
    result = drivelab.simulate(drive=DRIVE, iodepth=32, number_ios=40, log=40)
    spec = result.timeline_chart().to_dict()
    for panel in spec["vconcat"]:
        rows = next(rows for rows in _datasets(spec, panel) if rows and "mark" in rows[0])
        encoding = panel["layer"][-1]["encoding"]
        low, high = encoding["y"]["scale"]["domain"]
        left, right = panel["layer"][0]["encoding"]["x"]["scale"]["domain"]
        places = [
            (
                (row["end"] - left) * panel["width"] / (right - left),
                (row["mark"] - low) * panel["height"] / (high - low),
            )
            for row in rows
        ]
        for at, (x, y) in enumerate(places):
            assert all(max(abs(x - other[0]), abs(y - other[1])) > 14.9 for other in places[:at])


def _datasets(spec: dict[str, Any], panel: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The rows of each layer of a panel, the topmost first."""
    return [spec["datasets"][layer["data"]["name"]] for layer in reversed(panel["layer"])]


def test_several_timelines_of_one_run(run, tmp_path):
    done = run("simulate", *BATCH, "--timeline", "a.svg", "--timeline", "a.png", "--timeline", "a.html", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    for stamp in ("accepted", "chosen", "begun", "ended", "completed"):
        assert f'"title": "{stamp}, ms"' in page


def test_without_a_log_there_is_no_timeline():
    with pytest.raises(charts.ChartError, match="no point has a log"):
        drivelab.simulate(drive=DRIVE, number_ios=5).timeline_chart()
