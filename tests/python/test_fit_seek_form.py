"""The form of the seek curve through three times: as the simulator has it, decided by a chain, else left as it is."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
from fit_files import SHEET, TRUTH, write_chain, write_drive, write_sweep

from drivelab import _core
from drivelab.fit.draft import start_of
from drivelab.fit.parameters import cylinders_of, number_of, seek_points
from drivelab.fit.seek_curve import average_seek, root_line, runs_through
from drivelab.fit.seek_form import with_other_form

ROOT_LINE = {"single": "1ms", "average": "8ms", "full": "16ms", "form": "root-line", "longer_settle": "10%"}


def with_seek(folder, name, drive, seek):
    write_drive(folder, name, {**drive, "seek": seek})
    return start_of(str(folder / name))


def test_a_root_and_a_line_are_the_simulators(tmp_path):
    """Positions of a replay, whose breakdown has the time of each seek."""
    draft = with_seek(tmp_path, "truth.toml", {**TRUTH, "settle": {"write_settle": "0s"}}, ROOT_LINE)
    write_chain(tmp_path, "chain.csv", {**TRUTH, "seek": ROOT_LINE, "settle": {}}, reads=200, writes=0)
    columns = _core.replay(draft.plan(), str(tmp_path / "made.trace"))
    blocks = [int(line.split()[2]) for line in (tmp_path / "made.trace").read_text().splitlines()]
    at = np.array([place[0] for place in _core.places(draft.plan(), blocks)])
    distance = np.abs(np.diff(at))
    seek = np.array(columns["breakdown_ns"]["seek"])[1:] / 1e6
    cylinders = cylinders_of(draft)
    time = root_line(distance, cylinders, np.array([[1.0, 8.0, 16.0]]), 0.1)[0]
    moved = distance > 0
    assert time[moved] == pytest.approx(seek[moved], abs=0.003)
    points, times = seek_points(draft, cylinders)
    assert average_seek(points, times, cylinders) == pytest.approx(8, rel=0.005)


def test_a_form_runs_through_some_times_only(tmp_path):
    times = np.array([[1, 8, 16], [0.8, 6, 20], [0.8, 12, 18], [8, 8, 16]], dtype=float)
    assert runs_through("root-line", times, 0.1).tolist() == [True, False, False, False]
    assert runs_through("lee", times, 0.1).tolist() == [True, False, True, False]
    draft = with_seek(
        tmp_path, "sheet.toml", SHEET, {"single": "0.8ms", "average": "12ms", "full": "18ms", "form": "lee"}
    )
    other = with_other_form(draft, 0.8, 12.0, 18.0)
    assert other is not None
    other.plan()
    assert (other.get("seek.form"), other.get("seek.longer_settle")) == ("root-line", "10%")
    assert 9 < number_of(other, "seek.average") < 12
    back = with_other_form(other, 0.8, 9.0, 18.0)
    assert back is not None
    assert (back.get("seek.form"), back.get("seek.longer_settle")) == ("lee", None)


def test_the_three_times_of_a_draft_keep_their_form(tmp_path):
    draft = with_seek(tmp_path, "sheet.toml", SHEET, ROOT_LINE)
    moved = draft.having({"seek.average": "7.9ms"})
    assert moved.keys()["seek"] == {**ROOT_LINE, "average": "7.9ms"}
    lee = moved.having({"seek.form": "lee"})
    assert lee.keys()["seek"] == {"single": "1ms", "average": "7.9ms", "full": "16ms", "form": "lee"}
    assert draft.having({"seek.table": [[1, "1ms"], [99, "9ms"]]}).keys()["seek"].keys() == {"table"}


def test_a_sheet_without_a_form_has_lees(tmp_path):
    seek = {key: SHEET["seek"][key] for key in ("single", "average", "full")}
    draft = with_seek(tmp_path, "sheet.toml", SHEET, seek)
    assert (draft.get("seek.form"), draft.get("seek.longer_settle")) == ("lee", None)
    assert draft.facts["seek.form"]["mark"] == "inferred"


@pytest.mark.parametrize("form", ["lee", "root-line"])
def test_a_chain_decides_the_form_that_the_sheet_has_wrong(tmp_path, run, form):
    right = ROOT_LINE if form == "root-line" else TRUTH["seek"]
    other = {"form": "lee"} if form == "root-line" else {"form": "root-line", "longer_settle": "10%"}
    wrong = {**SHEET["seek"], **other}
    write_drive(tmp_path, "sheet.toml", {**SHEET, "seek": wrong})
    write_chain(tmp_path, "chain.csv", {**TRUTH, "seek": right}, reads=900, writes=0)
    done = run("fit", "sheet.toml", "--chain", "chain.csv", "-o", "out.toml", "--json", "--workers", "1")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rules"]["seek.form"] == form
    assert f"seek curve: the chain decides its form, {form}" in report["notes"]
    told = {one["key"]: one for one in report["parameters"]}
    assert told["seek.average"]["value"] == pytest.approx(8, rel=0.02)
    fact = tomllib.loads((tmp_path / "out.toml").read_text())["seek"]["form"]
    assert fact == {"value": form, "mark": "fitted", "source": "FIT: explains the measurement best"}


def test_a_short_chain_leaves_the_form_as_it_is(tmp_path, run):
    write_drive(tmp_path, "sheet.toml", {**SHEET, "seek": {**SHEET["seek"], "form": "lee"}})
    write_chain(tmp_path, "chain.csv", reads=60, writes=0)
    done = run("fit", "sheet.toml", "--chain", "chain.csv", "-o", "out.toml", "--json", "--workers", "1")
    report = json.loads(done.stdout)
    assert "seek.form" not in report["rules"]
    assert "seek curve: the chain does not decide its form, which stays the start's, lee" in report["notes"]
    fact = tomllib.loads((tmp_path / "out.toml").read_text())["seek"]["form"]
    assert fact["value"] == "lee"
    assert fact["source"].endswith("the data do not decide it")
    known = ("--known", "seek.form=lee")
    done = run(
        "fit", "sheet.toml", "--chain", "chain.csv", "-o", "out.toml", "--json", "--workers", "1", *known
    )
    assert not any("seek curve" in note for note in json.loads(done.stdout)["notes"])


@pytest.mark.parametrize(("average", "full", "decided"), [("8ms", "16ms", None), ("9.5ms", "22ms", "lee")])
def test_a_sweep_alone_keeps_the_form_unless_it_decides_one(tmp_path, run, average, full, decided):
    """A sweep tells little of the curve: two forms through nearly the same times predict as well."""
    seek = {"single": "1ms", "average": average, "full": full}
    write_drive(
        tmp_path, "sheet.toml", {**TRUTH, "seek": {**seek, "form": "root-line", "longer_settle": "10%"}}
    )
    write_sweep(tmp_path, "sweep.csv", {**TRUTH, "seek": {**seek, "form": "lee"}}, depths=(1, 8, 32))
    known = ("--known", "queue.order=sptf", "--known", "queue.chooses=at-media-end")
    done = run(
        "fit", "sheet.toml", "--sweep", "sweep.csv", "-o", "out.toml", "--json", "--workers", "1", *known
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rules"].get("seek.form") == decided
