"""Ready answers: each figure is that of its own scenario, in every form; what is wrong is told with a remedy."""

from __future__ import annotations

import csv
import io
import json
import shlex
import tomllib
from functools import cache

import pytest
from messages import held, told

import drivelab
from drivelab.answering import registry
from drivelab.scenarios import reference

# 9.1 GB, with equal tracks; its rebuild and its scrub are simulated in a moment.
SMALL = "seagate-cheetah-9lp"
NAMES = [
    "cameras",
    "ceph-iops",
    "concurrency",
    "degraded",
    "readers",
    "resync-limits",
    "scrub",
    "write-cache",
]
# For each answer options that are quick, and the figure of its decisive row in the only point of its scenario.
QUICK = {
    "ceph-iops": ({"drive": SMALL}, lambda row, point: (row["iops"], point["iops"])),
    "concurrency": ({"drive": SMALL}, lambda row, point: (row["iops"], point["iops"])),
    "readers": ({"drive": SMALL}, lambda row, point: (row["mb_per_s"], point["bytes_per_s"] / 1e6)),
    "write-cache": (
        {"drive": SMALL, "fsync": 4},
        lambda row, point: (row["commits_per_s"], point["iops"] / 4),
    ),
    "cameras": (
        {"drive": SMALL, "retention": "2h", "rate": "1Mbit/s"},
        lambda row, point: (row["written_mb_per_s"], point["bytes_per_s"] / 1e6),
    ),
    "degraded": ({"drive": SMALL, "rate_iops": 20}, lambda row, point: (row["iops"], point["iops"])),
    "resync-limits": (
        {"drive": SMALL, "members": 3},
        lambda row, point: (row["p99_ms"], point["latency_ns"]["p99"] / 1e6),
    ),
    "scrub": ({"drive": SMALL}, lambda row, point: (row["p99_ms"], point["latency_ns"]["p99"] / 1e6)),
}
MESSAGES = """
answer cephiops
answer nothing-like-it
answer --json --csv
answer ceph-iops
answer ceph-iops --drive wd-4tb-720
answer ceph-iops --drive wd-4tb-7200,samsung-mzvlb256
answer ceph-iops --drive seagate-st4000dm004
answer ceph-iops --drive SMALL --iodepth many
answer ceph-iops --drive SMALL --set target.write_cache=true
answer ceph-iops --drive SMALL --set workload.rw=read
answer ceph-iops --drive SMALL --json --csv
answer ceph-iops --drive SMALL --title x
answer ceph-iops --drive SMALL -o x.gif
answer concurrency --drive SMALL --bs 4k,8k
answer concurrency --drive SMALL --factor 1
answer concurrency --drive SMALL --latency p50
answer concurrency --drive SMALL --rw trim
answer concurrency --drive SMALL --level raid5
answer concurrency --drive seagate-st4000dm004 --rw randwrite
answer readers --drive SMALL --bs large
answer write-cache --drive SMALL --fsync 0
answer write-cache --drive SMALL --rw read
answer cameras --drive seagate-st4000dm004
answer cameras --drive SMALL --rate 4
answer cameras --drive SMALL --retention soon
answer cameras --drive SMALL --retention 0s
answer cameras --drive SMALL --bs 0
answer degraded --drive SMALL --members four
answer degraded --drive SMALL --level raid0
answer degraded --drive SMALL --level raid9
answer degraded --drive SMALL --level raid5,raid6
answer degraded --drive SMALL --rwmixread most
answer degraded --drive SMALL --iodepth 4 --rate-iops 30
answer degraded --drive SMALL --rate-iops 5000
answer degraded --drive samsung-mzvlb256
answer degraded --drive seagate-st4000dm004
answer resync-limits --drive SMALL --p99 -1ms
answer resync-limits --drive SMALL --set target.array.rebuild.ceiling=5MB/s
answer resync-limits --drive SMALL --level raidz1
answer scrub --drive SMALL --level raid0
answer scrub --drive SMALL --iodepth 4 --rate-iops 30
"""


@cache
def answered(name):
    return drivelab.answer(name, **QUICK[name][0])


def test_the_answers_are_listed(run):
    done = run("answer")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["answer", *NAMES]
    assert [row["name"] for row in json.loads(run("answer", "--json").stdout)] == NAMES
    assert [row["name"] for row in csv.DictReader(io.StringIO(run("answer", "--csv").stdout))] == NAMES
    assert registry.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_figure_is_that_of_its_scenario(name):
    _, figures = QUICK[name]
    found = answered(name)
    row = found.rows[found.decisive]
    assert found.value == row[found.figure]
    (point,) = drivelab.simulate(found.scenario).points
    own, simulated = figures(row, point)
    assert own == pytest.approx(simulated, rel=1e-9)
    assert found.assumptions
    assert found.sentence.endswith(".")
    assert repr(found).startswith(f"<Answer {name!r}: ")
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize("name", NAMES)
def test_every_form_has_the_same_figures(run, tmp_path, name):
    options, _ = QUICK[name]
    words = [word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    done = run("answer", name, *words, "-o", "a.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert max(map(len, done.stdout.splitlines())) <= 100
    record = json.loads(run("answer", name, *words, "--json").stdout)
    assert record["sentence"] in " ".join(done.stdout.split())
    assert record["rows"][record["decisive"]][record["figure"]] == record["value"]
    assert all(key in row for row in record["rows"] for key in record["columns"])


def test_rows_as_csv_and_the_scenario_as_toml(run):
    words = ("answer", "ceph-iops", "--drive", SMALL)
    record = json.loads(run(*words, "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(run(*words, "--csv").stdout)))
    assert [float(row["iops"]) for row in rows] == [row["iops"] for row in record["rows"]]
    assert run(*words, "--scenario").stdout == record["scenario"]
    assert tomllib.loads(record["scenario"])["workload"]["rw"] == "randwrite"


@pytest.mark.parametrize("name", NAMES)
def test_every_column_is_explained(name):
    terms = reference.terms()
    for column in answered(name).columns:
        assert reference.found_term(column.title, terms) is not None, column.title


def test_a_setting_of_the_target_changes_the_answer():
    slow = drivelab.answer("ceph-iops", drive=SMALL, **{"target.drive.rpm": "5400rpm"})
    assert slow.value < drivelab.answer("ceph-iops", drive=SMALL).value
    assert "5400rpm" in slow.scenario


def test_the_range_is_that_of_the_record():
    found = drivelab.answer("ceph-iops", drive="seagate-exos-x16-16tb")
    row = found.rows[0]
    (point,) = drivelab.simulate(found.scenario).points
    assert (row["iops_low"], row["iops_high"]) == (point["iops_low"], point["iops_high"])
    assert f"{row['iops']:.0f} IOPS ({row['iops_low']:.0f} to {row['iops_high']:.0f})" in found.sentence
    assert "its threshold of 500" in found.sentence
    assert "implausible" in found.sentence


def test_flash_has_the_option_for_flash():
    found = drivelab.answer("ceph-iops", drive="samsung-mzvlb256")
    assert "Tell Ceph at most " in found.sentence
    assert "implausible" in found.sentence
    # Its buffer outlives a power cut.
    assert "which the drive sustains" in drivelab.answer("ceph-iops", drive="micron-7300-pro").sentence
    assert "(osd_mclock_max_capacity_iops_ssd)" in found.sentence
    assert "default of 21,500" in found.sentence


def test_latency_has_not_doubled_up_to_the_answer_and_has_behind_it():
    found = drivelab.answer("concurrency", drive="wd-4tb-7200", level="raid10", members=4)
    row, after = found.rows[found.decisive : found.decisive + 2]
    assert row["mean_times"] <= 2 < after["mean_times"]
    assert f": {row['outstanding']} (" in found.sentence


def test_a_power_cut_takes_no_commit_that_was_flushed():
    flushed, fua, off, nothing = drivelab.answer("write-cache", drive="wd-4tb-7200").rows
    assert flushed["lost_commits"] == fua["lost_commits"] == off["lost_commits"] == 0
    assert nothing["lost_commits"] > 0
    # One revolution a commit.
    assert flushed["commits_per_s"] == pytest.approx(7200 / 60, rel=0.02)
    assert nothing["commits_per_s"] > 10 * flushed["commits_per_s"]


def test_capacity_binds_and_throughput_binds():
    few = drivelab.answer("cameras", drive="wd-4tb-7200", rate="4Mbit/s", retention="30d")
    assert few.value == 3
    assert "capacity binds" in few.sentence
    many = drivelab.answer("cameras", drive="wd-4tb-7200", rate="4Mbit/s", retention="6h")
    assert "throughput binds" in many.sentence
    row = many.rows[many.decisive]
    assert row["keeps_up"] == "yes"
    assert many.rows[many.decisive + 1]["keeps_up"] != "yes"
    assert row["days"] >= 0.25
    none = drivelab.answer("cameras", drive=SMALL, rate="4Mbit/s", retention="30d")
    assert "records no camera" in none.sentence


def test_a_lower_limit_takes_longer_and_keeps_the_p99():
    rows = drivelab.answer("resync-limits", drive="wd-4tb-7200").rows
    assert rows[0]["hours"] > 5 * rows[-1]["hours"]
    assert rows[0]["p99_ms"] < rows[-1]["p99_ms"]


def test_the_hours_of_a_scrub_hold_those_of_a_whole_one():
    found = drivelab.answer("scrub", drive=SMALL)
    row = found.rows[found.decisive]
    scenario = tomllib.loads(found.scenario)
    scenario["run"] = {"duration": "1h"}
    (scrub,) = drivelab.simulate(scenario).points[0]["array"]["syncs"]
    assert row["hours_low"] < scrub["duration_ns"] / 3600e9 < row["hours_high"]


def test_python_tells_what_is_wrong():
    with pytest.raises(
        drivelab.InputError, match=r"^cephiops: there is no such answer; did you mean ceph-iops\?$"
    ):
        drivelab.answer("cephiops")
    with pytest.raises(drivelab.InputError, match=r"^drive is missing: ceph-iops is asked of one$"):
        drivelab.answer("ceph-iops")
    with pytest.raises(drivelab.InputError, match=r"^drvie is no option of ceph-iops: did you mean drive\?$"):
        drivelab.answer("ceph-iops", drvie=SMALL)
    with pytest.raises(drivelab.InputError, match=r"^factor=1: a number above 1"):
        drivelab.answer("concurrency", drive=SMALL, factor=1)


def test_what_the_command_line_says(run, tmp_path):
    commands = [shlex.split(line.replace("SMALL", SMALL)) for line in MESSAGES.strip().splitlines()]
    held("answer-messages.txt", told(run, commands, tmp_path))
