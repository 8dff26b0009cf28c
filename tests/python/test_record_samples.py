"""Sample records of every version, and of fio: they are read as what they are. Rust reads the same files."""

from __future__ import annotations

import json
import math
import re

import pytest
from samples import FIO, FOLDER, OTHERS, OWN, sample

from drivelab import _core
from drivelab.records.model import PERCENTILES
from drivelab.records.opening import open_document, open_record
from drivelab.runs import hdr
from drivelab.scenarios.scenario import plan, read_source


def test_every_version_of_the_record_has_a_sample():
    versions = {json.loads(sample(name).read_text(encoding="utf-8"))["record_version"] for name in OWN}
    assert versions == set(range(1, _core.RECORD_VERSION + 1))
    assert {path.name for path in FOLDER.iterdir()} == {*OWN, *OTHERS, *FIO}


@pytest.mark.parametrize("name", OWN)
def test_a_sample_is_read_with_all_its_figures(name):
    document = json.loads(sample(name).read_text(encoding="utf-8"))
    record = open_record(str(sample(name)))
    assert (record.kind, record.notes) == ("simulated", record.notes)
    for point, written in zip(record.points, document["points"], strict=True):
        assert point.digest == written["digest"]
        assert point.figures["iops"].value == written["iops"]
        assert point.figures["mean"].value == written["latency_ns"]["mean"]
        assert point.axes["depth"] == written["depth"]["asked"]
        for key in PERCENTILES:
            figure = point.figures.get(key)
            assert (None if figure is None else figure.value) == written["latency_ns"][key]


@pytest.mark.parametrize("name", OWN)
def test_the_histograms_of_a_sample_fit_its_figures(name):
    for point in json.loads(sample(name).read_text(encoding="utf-8"))["points"]:
        for direction in ("read", "write"):
            counts, told = hdr.decode(point[direction]["histogram"]), point[direction]["latency_ns"]
            n = sum(count for _, count in counts)
            assert n == told["n"] == point[direction]["ios"]
            if n:
                mean = sum(ns * count for ns, count in counts) / n
                assert mean == pytest.approx(told["mean"], rel=1e-3)


def test_the_first_keys_have_intervals_of_iops_alone():
    record = open_record(str(sample("v1-first-keys.json")))
    assert record.bases() == ["batches"]
    assert open_record(str(sample("v1-simulated.json"))).bases() == ["batches", "series", "histogram"]


def test_a_run_states_its_target_and_workload():
    record = open_record(str(sample("v1-simulated.json")))
    assert [point.axes for point in record.points] == [
        {"drive": "wd-4tb-7200", "rw": "randread", "bs": 4096, "iodepth": n, "numjobs": 1, "depth": n}
        for n in (1, 4)
    ]


def test_a_run_holds_its_scenario():
    path = sample("v1-scenario.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    settings = open_record(str(path)).settings
    assert settings.stated["target.drive"] == ["mine.toml"]
    assert settings.stated["target.write_cache"] == ["false"]
    assert settings.stated["target.queue.depth"] == ["1", "8"]
    assert settings.implied["target.drive.rpm"] == ["9000rpm"]
    assert settings.implied["target.queue.protocol"] == ["ata-tcq"]
    # The drive is not in the folder: it is in the record.
    checked = plan(read_source(path))
    assert checked.axes == [point["axes"] for point in document["points"]]
    assert (checked.name, checked.seed) == (document["name"], document["seed"])
    assert open_record(str(sample("v1-simulated.json"))).settings.all() == {}


def test_a_session_has_rates_and_no_response_times():
    record = open_record(str(sample("emulated.json")))
    document = json.loads(sample("emulated.json").read_text(encoding="utf-8"))
    (point,) = record.points
    assert point.figures["iops"].value == pytest.approx(
        document["reads"]["commands"] * 1e9 / document["model_ns"]
    )
    assert not {"mean", "p50"} & point.figures.keys()
    assert "idle time included" in record.notes[0]


def test_a_published_table_is_the_predicted_one_with_other_figures():
    published, predicted = open_record("published:mirpk-2005"), open_record(str(sample("reproduced.json")))
    assert (published.kind, predicted.kind) == ("published", "predicted")
    assert [point.axes for point in published.points] == [point.axes for point in predicted.points]
    assert all(figure.resolution > 0 for point in published.points for figure in point.figures.values())
    assert {figure.basis for point in published.points for figure in point.figures.values()} == {"print"}


@pytest.mark.parametrize("name", FIO)
def test_what_fio_printed_is_read(name):
    record = open_record(str(sample(name)))
    text = sample(name).read_text(encoding="utf-8")
    assert record.kind == "fio"
    assert record.facts["fio version"] == "fio-3.33"
    for point in record.points:
        assert point.figures["iops"].value > 0
        assert math.isclose(
            point.figures["bytes_per_s"].value / point.figures["iops"].value, point.axes["bs"], rel_tol=0.01
        )
    # What fio says of IOPS is what is read, as long as it says it of one job.
    if name not in {"fio-3.33-mixed.json", "fio-3.33-repeats.json", "fio-3.33-status.json"}:
        printed = {float(found) for found in re.findall(r'"iops" : ([\d.]+)', text)} - {0.0}
        assert {point.figures["iops"].value for point in record.points} == printed


def test_jobs_that_wait_for_others_are_points():
    record = open_record(str(sample("fio-3.33-sweep.json")))
    assert [(point.axes["iodepth"], point.axes["depth"], point.axes["bs"]) for point in record.points] == [
        (1, 1, 4096),
        (4, 4, 4096),
    ]
    assert all(point.figures["iops"].basis == "samples" for point in record.points)


def test_json_plus_has_percentiles_of_lat():
    record = open_record(str(sample("fio-3.33-plus.json")))
    (point,) = record.points
    part = json.loads(sample("fio-3.33-plus.json").read_text(encoding="utf-8"))["jobs"][0]["read"]
    assert not any("clat" in note for note in record.notes)
    for key, share in PERCENTILES.items():
        if key in point.figures:
            printed = part["lat_ns"]["percentile"][f"{100 * share:.6f}"]
            assert point.figures[key].value == pytest.approx(printed, rel=0.02)
    assert point.figures["p99"].error is not None


def test_threads_of_one_job_are_one_point():
    record = open_record(str(sample("fio-3.33-mixed.json")))
    jobs = json.loads(sample("fio-3.33-mixed.json").read_text(encoding="utf-8"))["jobs"]
    (point,) = record.points
    assert len(jobs) == 2
    assert (point.axes["numjobs"], point.axes["depth"], point.axes["rwmixread"]) == (2, 2, 50)
    total = sum(job[kind]["iops"] for job in jobs for kind in ("read", "write"))
    assert point.figures["iops"].value == pytest.approx(total)
    assert point.figures["iops"].error is None
    assert any("several ran together" in note for note in record.notes)


def test_status_reports_are_no_runs():
    record = open_record(str(sample("fio-3.33-status.json")))
    documents = open_document(str(sample("fio-3.33-status.json"))).objects
    assert len(documents) > 2
    (point,) = record.points
    assert point.figures["iops"].value == documents[-1]["jobs"][0]["read"]["iops"]
    assert record.notes[0] == f"{len(documents) - 1} status reports before the end of a run are left out"


def test_runs_of_one_job_are_kept_apart():
    assert len(open_record(str(sample("fio-3.33-repeats.json"))).points) == 4


def test_a_run_that_is_appended_to_a_shorter_one_is_no_report(tmp_path):
    document = open_document(str(sample("fio-3.33-sweep.json"))).objects[0]
    later = json.loads(json.dumps(document))
    later["timestamp_ms"] += 8_000
    for job in later["jobs"]:
        job["job_runtime"] += 1_000
        job["read"]["total_ios"] *= 2
    path = tmp_path / "both.json"
    path.write_text(json.dumps(document) + "\n" + json.dumps(later), encoding="utf-8")
    assert len(open_record(str(path)).points) == 4


def test_keys_that_are_there_twice():
    record = open_record(str(sample("fio-3.33-keys-twice.json")))
    assert record.points[0].axes["bs"] == 4096
    assert record.target == "data:data2"
    assert (
        record.notes[0]
        == "`filename`, `bs` is there more than once: the last one counts, of files all of them"
    )


def test_text_in_front_is_left_out_and_told():
    record = open_record(str(sample("fio-3.33-text-in-front.json")))
    assert record.notes[0] == "text beside the JSON is left out: `fio: connected to NBD server`"
    assert record.points[0].axes["iodepth"] == 32
