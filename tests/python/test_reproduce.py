"""`drivelab reproduce` and what is behind it: cells to scenarios, figures to errors, claims to verdicts."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab import experiment
from drivelab.errors import InputError
from drivelab.experiment.claims import OF_EXPERIMENT
from drivelab.experiment.model import Cell, merged, nested, parse
from drivelab.experiment.outcome import Outcome, Prediction, Summary, Verdict
from drivelab.experiment.tables import claims_table, error_text

# The same station at two loads, published as queueing theory has it: 125 a second, whatever the depth.
SMALL = """\
name = "small"
title = "One station at two depths"
source = "M/M/1 with a closed population"
unit = "IOPS"
cell_id = "{depth}/{figure}"
calibration = ["1/rate"]

[main]
depth = 4

[scenario.run]
ios = 5000
[scenario.target.server]
service = "exponential"
mean = "8ms"

[field.depth.template]
"workload.iodepth" = "{depth}"
[field.figure.values.rate]
metric = "iops"
scenario.workload.rw = "randread"
[field.figure.values.reads]
metric = "read.iops"
scenario.workload.rw = "randread"

[variant.slow.target.server]
mean = "16ms"

[[table]]
title = "rates"
split = "figure"
rows = ["depth"]
columns = "figure"
shown = ["rate", "reads"]

[published]
cells = '''
depth,figure,published
1,rate,125
4,rate,125
4,reads,250
'''
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_an_experiment_of_ones_own_by_path(run, small, tmp_path):
    done = run("reproduce", small, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert record["experiment"] == "small"
    assert [cell["id"] for cell in record["cells"]] == ["1/rate", "4/rate", "4/reads"]
    assert [cell["role"] for cell in record["cells"]] == ["calibration", "validation", "validation"]
    assert [cell["resolution"] for cell in record["cells"]] == [0.5] * 3
    assert [cell["error"] for cell in record["cells"]] == pytest.approx([0, 0, -0.5], abs=0.02)
    # Two depths, with the variant of each; the two figures at depth 4 share their run.
    assert record["runs"] == 4
    assert record["summary"]["calibration"]["count"] == 1
    assert record["summary"]["validation_main"]["within_5_percent"] == 0.5


def test_people_see_tables(run, small):
    done = run("reproduce", small)
    assert "rate: rates" in done.stdout
    assert "125" in done.stdout
    assert "validation, depth from 4" in done.stdout


def test_without_a_name_the_experiments_are_listed(run):
    assert "lkml-2007: " in run("reproduce").stdout
    assert json.loads(run("reproduce", "--json").stdout)["experiments"][0]["cells"] == 192


def test_the_2007_table(run, tmp_path):
    done = run("reproduce", "lkml-2007", "--json", "--out", "out", "--strict")
    record = json.loads(done.stdout)
    assert len(record["cells"]) == 192
    assert all(cell["predicted"] > 0 for cell in record["cells"])
    # Batch means say nothing about a sequential stream: it is periodic, and draws no random number.
    assert all(cell["statistical_error"] < 0.005 for cell in record["cells"] if "/rnd" in cell["id"])
    for drive in ("scsi-10k-74gb", "sata-st3250620as"):
        fitted = [c for c in record["cells"] if c["role"] == "calibration" and c["id"].startswith(drive)]
        assert len(fitted) <= 8
    assert done.returncode == (0 if all(claim["holds"] for claim in record["claims"]) else 3)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["lkml-2007.html", "record.json"]
    assert json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8")) == record


def test_ctrl_c_keeps_the_cells_that_finished(command, environment, small, tmp_path):
    # The variant's runs come last, and never end.
    small.write_text(SMALL.replace('mean = "16ms"', 'mean = "1ns"\n[variant.slow.run]\nios = 1000000000000'))
    for delay_s in (1.0, 3.0, 9.0, 27.0):
        process = subprocess.Popen(
            [*command, "reproduce", str(small), "--json", "--workers", "1"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        time.sleep(delay_s)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
        if "3 of 3" in stderr:
            break
    assert (process.returncode, stderr) == (130, "interrupted: 3 of 3 cells finished\n")
    record = json.loads(stdout)
    assert (record["interrupted"], len(record["cells"]), record["claims"]) == (True, 3, [])


@pytest.mark.parametrize("name", experiment.names())
def test_every_claim_of_every_experiment_has_its_function(name):
    assert experiment.load(name).claims.keys() == OF_EXPERIMENT.get(name, {}).keys()


@pytest.mark.parametrize("name", experiment.names())
def test_every_cell_of_every_experiment_has_a_scenario_and_a_figure(name):
    loaded = experiment.load(name)
    for variant in (None, *loaded.variants):
        for cell in loaded.cells_of(variant):
            tomllib.loads(loaded.scenario_of(cell, variant))
            assert loaded.metric_of(cell)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('unit = "IOPS"', 'unit = "furlongs"', "furlongs is none of"),
        ('unit = "IOPS"', "", "unit is missing"),
        ('["1/rate"]', '["9/rate"]', "cells that do not exist: 9/rate"),
        ("4,reads,250", "4,reads,many", "many"),
        ('name = "small"', "name = ", "small.toml"),
    ],
)
def test_a_faulty_experiment_says_what_is_wrong(old, new, message):
    with pytest.raises(InputError, match=message):
        parse(SMALL.replace(old, new), "small.toml")


def test_an_unknown_value_of_a_field_is_refused():
    loaded = parse(SMALL.replace("4,reads,250", "4,writes,250"), "small.toml")
    with pytest.raises(InputError, match="figure writes is none of rate, reads"):
        loaded.scenario_of(loaded.cells[2])


@given(
    published=st.floats(0.1, 1e4),
    predicted=st.floats(0.1, 1e4),
    resolution=st.floats(0, 0.05),
)
def test_an_error_counts_from_the_rounding_of_the_print(published, predicted, resolution):
    cell = Cell("a", {}, published, resolution, "validation")
    error = Prediction(cell, predicted, None, "").error
    if abs(predicted - published) <= resolution:
        assert error == 0
    else:
        # Moving the print by its rounding towards the prediction leaves exactly the error.
        nearest = published + (resolution if predicted > published else -resolution)
        assert error * published == pytest.approx(predicted - nearest, abs=1e-6)


@pytest.mark.parametrize(
    ("error", "text"), [(0.0, "0%"), (-0.004, "0%"), (0.004, "0%"), (0.016, "+2%"), (-0.12, "-12%")]
)
def test_an_error_that_rounds_to_nothing_has_no_sign(error, text):
    assert error_text(error) == text


def test_a_claim_is_shown_in_its_own_words():
    loaded = replace(parse(SMALL, "small.toml"), claims={"one": "a finding " * 20})
    verdict = Verdict("one", loaded.claims["one"], holds=False, numbers="x1.25 of what was printed")
    outcome = Outcome(loaded, predictions=[], variants={}, runs=0, seed=1, verdicts=[verdict])
    lines = str(claims_table(outcome)).splitlines()
    assert lines[1].startswith("NO     a finding a finding")
    assert lines[-1] == "         x1.25 of what was printed"
    assert max(map(len, lines)) <= 100


def test_a_summary_of_nothing_is_nothing():
    assert Summary.of([]) is None


_keys = st.sampled_from("abc")
_tables = st.recursive(
    st.dictionaries(_keys, st.integers(0, 3), max_size=3),
    lambda inner: st.dictionaries(_keys, inner, max_size=3),
)


@given(_tables, _tables)
def test_a_patch_wins_and_leaves_the_rest(base, patch):
    result = merged(base, patch)
    assert result.keys() == base.keys() | patch.keys()
    assert merged(result, patch) == result
    for key in base.keys() - patch.keys():
        assert result[key] == base[key]


def test_dotted_keys_nest():
    assert nested("a.b.c", 1) == {"a": {"b": {"c": 1}}}
