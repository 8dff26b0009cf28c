"""A record is a scenario: it runs again, its digest is compared, and what it was of is in it."""

from __future__ import annotations

import json
import pickle
import shutil
import tomllib
from pathlib import Path

import pytest
from samples import sample

import drivelab
from drivelab import _core
from drivelab.runs.result import resolved
from drivelab.scenarios.repeating import source_of
from drivelab.scenarios.scenario import plan, read_source

OWN = 'base = "wd-wd740gd-00fla0"\nrpm = "9000rpm"  # slower\n'
OPTIONS = ("--rw", "randrw", "--bs", "4k,16k", "--iodepth", "1,8", "--number-ios", "300", "--randseed", "5")
SETTINGS = ("--set", "target.write_cache=false", "--set", "target.queue.protocol=none")


@pytest.fixture
def record(run, tmp_path):
    """A record of a sweep over a drive of the user's own, in a folder without that drive."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.toml").write_text(OWN, encoding="utf-8")
    done = run(
        "simulate", "--drive", "mine.toml", *OPTIONS, *SETTINGS, "--out", tmp_path / "kept", "-q", cwd=home
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(home)
    return tmp_path / "kept" / "record.json"


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def changed(path: Path, **keys: object) -> Path:
    document = {**read(path), **keys}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_everything_that_was_set_is_in_the_record(record):
    document = read(record)
    scenario = tomllib.loads(document["scenario"])
    assert scenario["target"] == {
        "drive": "mine.toml",
        "write_cache": False,
        "queue": {"protocol": "none"},
    }
    assert scenario["workload"] == {"rw": "randrw", "bs": ["4k", "16k"], "iodepth": [1, 8]}
    assert scenario["run"] == {"ios": 300, "seed": 5}
    assert document["files"]["mine.toml"] == OWN
    assert "7200rpm" not in document["files"]["catalogue/drives/wd-wd740gd-00fla0.toml"]
    assert document["overrides"] == [
        "target.drive",
        "workload.rw",
        "workload.bs",
        "workload.iodepth",
        "run.ios",
        "run.seed",
        "target.write_cache",
        "target.queue.protocol",
    ]


def test_a_record_runs_again(run, record):
    done = run("simulate", record)
    assert done.returncode == 0, done.stderr
    assert f"same digest as {record}: {read(record)['digest']}, 4 points" in done.stdout
    again = run("simulate", record.parent, "--json")
    assert "same digest as" in again.stderr
    first, second = read(record), json.loads(again.stdout)
    differing = {key for key in first if first[key] != second[key]}
    assert differing == set()
    assert second["overrides"] == first["overrides"]


def test_a_record_is_known_by_its_content(run, record):
    path = record.rename(record.with_name("of-yesterday"))
    assert f"same digest as {path}" in run("simulate", path).stdout


def test_python_repeats_too(record):
    result = drivelab.simulate(record)
    assert result.to_dict()["digest"] == read(record)["digest"]
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    assert again.to_dict()["scenario"] == read(record)["scenario"]
    document = read(record)
    document["points"][2]["digest"] = "0" * 16
    with pytest.raises(
        drivelab.RunError, match=r"differs from .*: at workload.bs=.*, workload.iodepth=.*: 0+ in"
    ):
        drivelab.simulate(changed(record, points=document["points"]))


def test_a_digest_that_differs_ends_with_3(run, record):
    document = read(record)
    expected = document["points"][1]["digest"]
    document["points"][1]["digest"] = "f" * 16
    done = run("simulate", changed(record, points=document["points"]), "-q")
    assert done.returncode == 3
    assert "the digest of 1 of 4 points differs from" in done.stderr
    assert f'at workload.bs="4k", workload.iodepth=8: {"f" * 16} in the record, {expected} now' in done.stderr
    assert f"Both are of drivelab {_core.VERSION}, model {_core.MODEL_VERSION}" in done.stderr
    done = run("simulate", changed(record, version="0.0.1", model_version=3), "--json")
    assert done.returncode == 3
    assert (
        f"The record is of drivelab 0.0.1, model 3, and this is drivelab {_core.VERSION}, model "
        f"{_core.MODEL_VERSION}: only results of one model agree" in done.stderr
    )
    assert json.loads(done.stdout)["points"]


def test_a_drive_file_that_was_changed_in_the_record_has_another_meaning(run, record):
    files = read(record)["files"]
    files["mine.toml"] = files["mine.toml"].replace("9000rpm", "8000rpm")
    done = run("simulate", changed(record, files=files), "-q")
    assert done.returncode == 3
    assert "The scenario has another meaning now" in done.stderr


def test_options_vary_a_record(run, record):
    done = run("simulate", record, "--iodepth", "2", "--json")
    assert done.returncode == 0
    assert "is varied by options, not repeated" in done.stderr
    assert [point["axes"]["workload.bs"] for point in json.loads(done.stdout)["points"]] == ["4k", "16k"]
    # An option that changes nothing still repeats.
    done = run("simulate", record, "--randseed", "5", "--set", "target.queue.protocol=none")
    assert "same digest as" in done.stdout


def test_other_verbs_take_a_record(run, record):
    done = run("check", record)
    assert done.returncode == 0, done.stderr
    assert "4 points" in done.stdout
    assert read(record)["scenario_hash"] in done.stdout


def test_a_trace_is_known_by_its_content(run, tmp_path):
    def traced(name: str, *more: str) -> None:
        done = run("simulate", *SETTINGS[:2], "--drive", "wd-4tb-7200", "--capture", name, "-q", *more)
        assert done.returncode == 0, done.stderr

    traced("one.trace", "--number-ios", "40")
    traced("two.trace", "--number-ios", "50")
    done = run("simulate", "--drive", "wd-4tb-7200", "--trace", "one.trace", "--out", "kept", "-q")
    assert done.returncode == 0, done.stderr
    record = tmp_path / "kept" / "record.json"
    assert set(read(record)["traces"]) == {"one.trace"}
    # Seen from the current folder, as no trace lies beside the record.
    assert "same digest as" in run("simulate", record).stdout
    (tmp_path / "one.trace").rename(tmp_path / "kept" / "one.trace")
    assert "same digest as" in run("simulate", record).stdout
    (tmp_path / "kept" / "one.trace").rename(tmp_path / "kept" / "moved.trace")
    assert "same digest as" in run("simulate", record, "--trace", "moved.trace").stdout
    shutil.copy(tmp_path / "two.trace", tmp_path / "kept" / "one.trace")
    done = run("simulate", record)
    assert done.returncode == 2
    assert f"one.trace: this is not the trace that {record} replayed" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is no JSON, and so no record"),
        ("[1]", "it is no JSON object"),
        ("[" * 100_000, "this is no JSON"),
        ('{"record_version": 99}', "record_version is 99"),
        ('{"fio version": "fio-3.33"}', "a result of fio, which does not hold its job file"),
        ('{"experiment": "lkml-2007", "cells": []}', "`drivelab reproduce lkml-2007`"),
        ('{"a": 1}', "this is no record"),
        ('{"record_version": 1, "scenario": "a = ["}', "scenario is no TOML"),
        ('{"record_version": 1, "scenario": "", "files": [1]}', "files is no object of texts"),
        ('{"record_version": 1, "scenario": "", "overrides": "x"}', "overrides is no list of keys"),
        ('{"record_version": 1, "scenario": ""}', "the scenario has no target"),
    ],
)
def test_what_is_no_record_is_refused(run, tmp_path, text, message):
    path = tmp_path / "some.json"
    path.write_text(text, encoding="utf-8")
    done = run("simulate", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_record_of_before_holds_no_scenario(run):
    done = run("simulate", sample("v1-simulated.json"))
    assert done.returncode == 2
    assert "the record holds no scenario (it is of drivelab 0.1.0" in done.stderr
    assert "it can be compared, but not repeated" in done.stderr


def test_a_measured_workload_can_be_simulated(run, tmp_path):
    checked = plan(
        read_source({"target": {"server": {"mean": "1ms"}}, "workload": {"rw": "randread", "iodepth": 4}})
    )
    held = resolved(checked, without_target=True)
    expected = {"name": "scenario", "workload": {"rw": "randread", "iodepth": 4}}
    assert tomllib.loads(held["scenario"]) == expected
    path = tmp_path / "measured.json"
    path.write_text(json.dumps({"record_version": 1, "kind": "measured", **held}), encoding="utf-8")
    done = run("simulate", path, "--drive", "wd-4tb-7200", "--number-ios", "50")
    assert done.returncode == 0, done.stderr
    assert "is the record of a measurement: there is no digest to compare" in done.stderr
    assert "the scenario has no target" in run("simulate", path).stderr


def test_a_session_holds_its_scenario(run, tmp_path):
    options = ("--drive", "wd-4tb-7200", "--set", "target.write_cache=true", "--run", "true")
    done = run("emulate", *options, "--clock", "skip", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    target = {"drive": "wd-4tb-7200", "write_cache": True}
    assert tomllib.loads(document["scenario"])["target"] == target
    path = tmp_path / "session.json"
    path.write_text(done.stdout, encoding="utf-8")
    assert source_of(path).record.kind == "emulated"
    assert "is the record of a session" in run("simulate", path, "--number-ios", "20").stderr
