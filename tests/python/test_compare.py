"""`drivelab compare`: records side by side as a user has them, its verdict, its exit code and what it says is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from csv import DictReader
from typing import Any

import pytest
from messages import held, told
from samples import sample

import drivelab
from drivelab import charts

STATION = """\
name = "one station"

[target]
server = {{ service = "exponential", mean = "{mean}" }}

[workload]
rw = "randread"
iodepth = [{depths}]

[run]
warmup = "1s"
ios = {ios}
seed = {seed}
"""


def record(folder, name, *, mean="8ms", depths="1, 4", seed=1, ios=4000):
    """A record of a station of queueing theory, in a file."""
    scenario = folder / f"{name}.toml"
    text = STATION.format(mean=mean, depths=depths, seed=seed, ios=ios)
    scenario.write_text(text, encoding="utf-8")
    (folder / f"{name}.json").write_text(json.dumps(drivelab.simulate(scenario).to_dict()), encoding="utf-8")
    return f"{name}.json"


@pytest.fixture
def pair(tmp_path):
    """A record, and one of a station that takes half as long again."""
    return record(tmp_path, "a"), record(tmp_path, "slow", mean="12ms", seed=2)


def found(run: Callable[..., Any], *arguments: object, code: int = 0) -> dict[str, Any]:
    done = run("compare", *arguments, "--json")
    assert (done.returncode, done.stderr) == (code, "")
    return json.loads(done.stdout)


def test_a_record_is_the_same_as_itself(run, pair):
    done = run("compare", pair[0], pair[0], "--threshold", "0", "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert "IOPS: no difference: B is the same as A" in done.stdout
    assert "threshold 0 %: 6 of 6 figures within it" in done.stdout


def test_runs_that_differ_in_their_seed_are_no_different(run, tmp_path):
    names = [record(tmp_path, f"r{seed}", seed=seed) for seed in (1, 2)]
    done = run("compare", *names)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("A: r1.json, simulated, one station, ")
    for figure in ("IOPS", "mean latency", "p99"):
        assert any(
            line.startswith(f"{figure}: no difference shown at any of 2 points; up to ") for line in lines
        )


def test_a_difference_is_told_with_its_direction(run, pair):
    told = found(run, *pair)
    (beside,) = told["comparisons"]
    assert {one["figure"] for one in beside["differences"]} == {"iops", "mean", "p99"}
    for one in beside["differences"]:
        assert one["difference"] == pytest.approx(one["other"] / one["first"] - 1)
        assert one["low"] < one["difference"] < one["high"]
        assert one["shown"] == ("less" if one["figure"] == "iops" else "more")
    assert told["verdict"]["lines"][0].startswith("IOPS: B below A (worse) at 2 of 2 points by -3")
    assert told["verdict"]["lines"][1].startswith("mean latency: B above A (worse) at 2 of 2 points by +")
    # And the other way round.
    mirrored = found(run, *reversed(pair))["comparisons"][0]["differences"]
    for one, two in zip(beside["differences"], mirrored, strict=True):
        assert (1 + one["low"]) * (1 + two["high"]) == pytest.approx(1)


def test_the_threshold_decides_the_exit_code(run, pair):
    codes = {
        ("20",): 3,
        ("200",): 0,
        ("20", "--worse"): 3,
        # The interval of a difference of -33 % reaches beyond 33 % to either side.
        ("33", "--figures", "iops"): 0,
        ("33", "--figures", "iops", "--strict"): 3,
    }
    for arguments, code in codes.items():
        assert run("compare", *pair, "--threshold", *arguments).returncode == code, arguments
    assert run("compare", *reversed(pair), "--threshold", "20", "--worse").returncode == 0
    done = run("compare", *pair, "--threshold", "20%", "-q")
    assert "threshold 20 %: 0 of 6 figures within it, 6 beyond; the farthest is " in done.stdout


def test_points_without_a_counterpart_are_told_with_the_reason(run, tmp_path):
    one, two = record(tmp_path, "one", depths="1, 2, 4"), record(tmp_path, "two", depths="4, 8", seed=2)
    done = run("compare", one, two)
    assert [line for line in done.stdout.splitlines() if line.startswith("not matched")] == [
        "not matched: A, iodepth 1: the other has no iodepth 1, only 4, 8",
        "not matched: A, iodepth 2: the other has no iodepth 2, only 4, 8",
        "not matched: B, iodepth 8: the other has no iodepth 8, only 1, 2, 4",
    ]
    assert run("compare", one, two, "--threshold", "50").returncode == 0
    assert run("compare", one, two, "--threshold", "50", "--strict").returncode == 3
    assert run("compare", one, two, "--threshold", "50", "--strict", "--where", "iodepth=4").returncode == 0
    done = run("compare", one, two, "--csv")
    assert done.stderr.count("not matched") == 3


def test_points_of_one_record_are_compared_by_an_axis(run, tmp_path):
    told = found(run, record(tmp_path, "a"), "--split", "iodepth")
    assert [one["origin"] for one in told["records"]] == ["a.json, iodepth 1", "a.json, iodepth 4"]
    assert told["verdict"]["lines"][1].startswith("mean latency: B above A (worse) by +")


def test_an_axis_that_is_ignored_matches_points_that_differ_in_it(run, tmp_path):
    one, two = record(tmp_path, "one", depths="1"), record(tmp_path, "two", depths="4")
    assert run("compare", one, two).returncode == 2
    told = found(run, one, two, "--ignore", "iodepth")
    assert len(told["comparisons"][0]["differences"]) == 3


def test_several_records_are_each_held_to_the_first(run, tmp_path):
    names = [record(tmp_path, name, mean=mean) for name, mean in (("a", "8ms"), ("b", "9ms"), ("c", "4ms"))]
    told = found(run, *names)
    assert [(beside["first"], beside["other"]) for beside in told["comparisons"]] == [("A", "B"), ("A", "C")]
    # Their intervals hold all at once: there are twice as many.
    assert told["confidence_of_each"]["differences"] == pytest.approx(1 - 0.05 / 12)
    assert found(run, *names[:2])["confidence_of_each"]["differences"] == pytest.approx(1 - 0.05 / 6)
    assert found(run, *names, "--pointwise")["confidence_of_each"]["differences"] == 0.95


def test_intervals_that_hold_at_once_are_wider(run, pair):
    together, alone = (found(run, *pair, *options) for options in ((), ("--pointwise",)))
    for one, two in zip(
        together["comparisons"][0]["differences"], alone["comparisons"][0]["differences"], strict=True
    ):
        assert one["low"] < two["low"] < two["high"] < one["high"]
    assert "about 0.3 miss by chance alone" in run("compare", *pair, "--pointwise").stdout
    assert "all 6 intervals hold at once with 95 % confidence" in run("compare", *pair).stdout


def test_runs_of_several_seeds_are_repeats(run, tmp_path):
    for name, mean, seeds in (("a", "8ms", "[1, 2, 3, 4]"), ("b", "8ms", "[5, 6, 7, 8]")):
        record(tmp_path, name, mean=mean, depths="4", ios=2000, seed=seeds)
    told = found(run, "a.json", "b.json")
    assert [one["intervals_from"] for one in told["records"]] == [["repeats"], ["repeats"]]
    assert {one["shown"] for one in told["comparisons"][0]["differences"]} == {"none"}


def test_fio_beside_a_simulation(run, tmp_path):
    simulated = record(tmp_path, "a")
    done = run("compare", simulated, sample("fio-3.33-sweep.json"), "--threshold", "10")
    assert done.returncode == 3
    assert "B: percentiles are of fio's clat" in done.stdout
    assert "B above A (better) at 2 of 2 points by x" in done.stdout
    # What was repaired is told.
    done = run(
        "compare",
        sample("fio-3.33-text-in-front.json"),
        sample("fio-3.33-keys-twice.json"),
        "--ignore",
        "iodepth",
        "--ignore",
        "depth",
    )
    assert done.returncode == 0
    assert "A: text beside the JSON is left out: `fio: connected to NBD server`" in done.stdout
    assert "B: `filename`, `bs` is there more than once" in done.stdout


def test_a_published_table_beside_its_prediction(run):
    done = run("compare", "published:mirpk-2005", sample("reproduced.json"), "--threshold", "2.5")
    assert done.returncode == 0
    assert "A: published:mirpk-2005, published, HD Tach on two SATA drives" in done.stdout
    assert "A: interval the rounding of the print alone" in done.stdout
    # Every cell is there: of the buffer, of the surface and of the access time.
    assert "threshold 2.5 %: 8 of 12 figures within it, 4 open" in done.stdout
    assert (
        "not compared: 8 points"
        in run("compare", "published:mirpk-2005", sample("reproduced.json"), "--figures", "mean").stdout
    )


def test_an_emulated_session_has_no_interval(run):
    done = run("compare", sample("v1-simulated.json"), sample("emulated.json"), "--where", "iodepth=4")
    assert done.returncode == 0
    assert "IOPS: B against A +" in done.stdout
    assert ", without interval" in done.stdout
    assert "not compared: mean, p99: A and B do not both have it" in done.stdout


def test_a_measured_record_is_held_to_by_its_repeats(run, tmp_path):
    document = json.loads(sample("v1-simulated.json").read_text(encoding="utf-8"))
    document |= {
        "kind": "measured",
        "environment": {"kernel": "Linux 6", "device": {"model": "XYZ"}},
        "warnings": [{"code": "busy", "text": "the disk was busy"}],
    }
    for point in document["points"]:
        iops = [point["iops"] * share for share in (0.98, 1.0, 1.02)]
        point["digest"] = "of another run"
        point["repeats"] = {"count": 3, "iops": {"values": iops}, "mean_latency_ns": {"values": []}}
    (tmp_path / "m.json").write_text(json.dumps(document), encoding="utf-8")
    told = found(run, sample("v1-simulated.json"), "m.json", "--figures", "iops,bytes_per_s")
    measured = told["records"][1]
    assert (measured["kind"], measured["facts"]["device.model"]) == ("measured", "XYZ")
    assert "warning of the measurement: the disk was busy" in measured["notes"]
    assert "repeats" in measured["intervals_from"]
    for one in told["comparisons"][0]["differences"]:
        assert one["difference"] == pytest.approx(0)
        assert one["shown"] == "none"


def test_a_record_comes_from_stdin(run):
    text = sample("v1-first-keys.json").read_text(encoding="utf-8")
    done = run("compare", "-", sample("v1-first-keys.json"), stdin=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert "A: stdin, simulated" in done.stdout


def test_a_folder_stands_for_the_record_in_it(run, queue, tmp_path):
    assert run("simulate", queue, "--out", "out", "-q").returncode == 0
    assert "A: out, simulated, one station, 3 points" in run("compare", "out", "out/record.json").stdout
    (tmp_path / "empty").mkdir()
    done = run("compare", "out", "empty")
    assert done.returncode == 2
    assert done.stderr == (
        "error: empty is a folder without a record.json; `simulate --out` and `reproduce --out` write one\n"
    )


def test_csv_has_a_line_for_each_place_and_figure(run, pair):
    done = run("compare", *pair, "--csv")
    rows = list(DictReader(done.stdout.splitlines()))
    # Three figures and the percentiles, at two depths.
    assert [row["figure"] for row in rows][:2] == ["iops", "iops"]
    assert len(rows) == 2 * 3 + 2 * len({row["figure"] for row in rows[6:]})
    assert float(rows[0]["difference"]) == pytest.approx(
        float(rows[0]["other"]) / float(rows[0]["first"]) - 1
    )


def test_pictures_are_drawn(run, pair, tmp_path):
    done = run("compare", *pair, "--threshold", "90", "-o", "a.svg", "-o", "b.html", "--title", "Slower")
    assert (done.returncode, done.stderr) == (0, "wrote a.svg\nwrote b.html\n")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for word in ("Slower", "Mean latency, %", "iodepth 4", "Shift, %"):
        assert word in text
    drawn = charts.differences(found(run, *pair)).to_dict()
    assert "all at once" in json.dumps(drawn["title"])
    alone = charts.differences(found(run, *pair, "--pointwise")).to_dict()
    assert "all at once" not in json.dumps(alone["title"])


def test_a_shift_without_an_interval_is_a_ring(run, pair):
    told = found(run, *pair)
    assert _filled(told) == [True]
    for one in told["comparisons"][0]["percentiles"]:
        one |= {"low": None, "high": None}
    assert _filled(told) == [False]


def _filled(told: dict[str, Any]) -> list[bool]:
    """Of each layer of points in the picture of the shifts, whether they are filled."""
    shift = charts.differences(told).to_dict()["vconcat"][1]
    return [layer["mark"]["filled"] for layer in shift["layer"] if layer["mark"]["type"] == "point"]


def test_from_python(pair, tmp_path):
    compared = drivelab.compare(
        tmp_path / pair[0], json.loads((tmp_path / pair[1]).read_text()), threshold_percent=5
    )
    assert not compared.verdict().holds
    assert "B below A" in repr(compared)
    assert "<table" in compared._repr_html_()
    with pytest.raises(drivelab.InputError, match='figures="x": no such figure'):
        drivelab.compare(tmp_path / pair[0], tmp_path / pair[1], figures=["x"])


# What is wrong, each with a message of its own.
WRONG = (
    "a.json",
    "a.json none.json",
    "a.json published:none",
    "- -",
    "a.json empty.json",
    "a.json cut.json",
    "a.json list.json",
    "a.json text.json",
    "a.json broken.json",
    "a.json two.json",
    "a.json newer.json",
    "a.json version.json",
    "a.json other.json",
    "a.json scan.json",
    "a.json export.json",
    "a.json points.json",
    "a.json none-ran.json",
    "a.json iops.json",
    "a.json no-iops.json",
    "a.json series.json",
    "a.json histogram.json",
    "a.json jobs.json",
    "a.json job.json",
    "a.json mixed.json",
    "a.json a.json --figures x",
    "a.json a.json --figures ,",
    "a.json a.json --figures read.p99_99",
    "a.json a.json --confidence 100",
    "a.json a.json --threshold -1",
    "a.json a.json --threshold nan",
    "a.json a.json --strict",
    "a.json a.json --worse",
    "a.json a.json --where bs",
    "a.json a.json --where bs=4k --where bs=8k",
    "a.json a.json --where x=1",
    "a.json a.json --where iodepth=9",
    "a.json a.json --split x",
    "a.json a.json --ignore x",
    "a.json a.json --json --csv",
    "a.json a.json -o a.jpg",
    "a.json a.json --dpi 100",
    "a.json session.json",
    " ".join(["a.json"] * 27),
)
FILES = {
    "empty.json": "",
    "cut.json": '{"record_version": 1, "points": [{"iops":',
    "list.json": "[1]",
    "text.json": "fio-3.33: test: (g=0): rw=read\n",
    "broken.json": '{"a": x}',
    "two.json": '{"record_version": 1}\n{"record_version": 1}',
    "newer.json": '{"record_version": 99, "points": []}',
    "version.json": '{"record_version": "x", "points": []}',
    "other.json": '{"a": 1}',
    "scan.json": '{"surface": []}',
    "export.json": '{"format": "drivelab library"}',
    "points.json": '{"record_version": 1}',
    "none-ran.json": '{"record_version": 1, "points": []}',
    "iops.json": '{"record_version": 1, "points": [{"iops": "x"}]}',
    "no-iops.json": '{"record_version": 1, "points": [{}]}',
    "series.json": '{"record_version": 1, "points": [{"iops": 1, "series": [1]}]}',
    "histogram.json": '{"record_version": 1, "points": [{"iops": 1, "read": {"histogram": "AAA"}}]}',
    "jobs.json": '{"fio version": "fio-3.33", "jobs": []}',
    "job.json": '{"fio version": "fio-3.33", "jobs": [{"read": {}}]}',
    "mixed.json": '{"fio version": "fio-3.33", "jobs": []}\n{"record_version": 1}',
}


@pytest.fixture
def files(tmp_path):
    """A folder with a record, and with files that are none."""
    record(tmp_path, "a", ios=500)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "session.json").write_bytes(sample("emulated.json").read_bytes())
    return tmp_path


def test_messages(run, files):
    held("compare-messages.txt", told(run, [["compare", *words.split()] for words in WRONG], files))
