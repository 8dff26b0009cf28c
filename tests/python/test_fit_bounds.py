"""What a fit says of a value at the edge of what it searched, and that no value lies outside its own interval."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
from fit_files import RATES, SHEET, TRUTH, write_chain, write_drive, write_sweep

from drivelab.errors import RunError
from drivelab.fit import chain_stage, stages
from drivelab.fit.draft import start_of
from drivelab.fit.fitted import AT_BOUND, FITTED, ONE_OF_MANY, UNDECIDED, Fitted, Parameter, judged
from drivelab.fit.inputs import Surface, read_chain
from drivelab.fit.policy_numbers import SHARE, TIME, best_numbers, parameters_of
from drivelab.fit.results import Found, Measured
from drivelab.fit.sweep_files import read_sweeps
from drivelab.fit.sweeping import Sweeps
from drivelab.fit.zones import fit_surface

GUARD = Parameter("queue.read_margin", 0.0, 0.3, 0.0, 4.2)
AGE = Parameter("queue.age_weight", 0.006, 0.006, 1e-4, 1.5, "", is_log=True)
SPEED = Parameter("rpm", 7200, 21, 6840, 7560, "rpm")


@pytest.mark.parametrize(
    ("one", "value", "sure", "mark", "note"),
    [
        (GUARD, 0.3, True, FITTED, ""),
        (GUARD, 0.3, False, UNDECIDED, ONE_OF_MANY),
        (
            GUARD,
            4.199,
            True,
            AT_BOUND,
            "at its upper bound, 4.2 ms, half a revolution: no guard explains the sweep; try another order, --known "
            "queue.order=..., or measure the sweep again",
        ),
        (
            GUARD,
            0.001,
            True,
            AT_BOUND,
            "at its lower bound, 0 ms: less is not possible; hold it by --known queue.read_margin=... if it is known "
            "to be longer",
        ),
        # By its logarithm: the usual value is near zero, and not at a bound.
        (AGE, 0.006, True, FITTED, ""),
        (
            AGE,
            1.49,
            False,
            AT_BOUND,
            "at its upper bound, 1.5: the best value may lie beyond it; fit again from a start whose queue.age_weight "
            "is nearer, or hold it by --known; the data do not decide it",
        ),
        (
            SPEED,
            6840.5,
            True,
            AT_BOUND,
            "at its lower bound, 6840 rpm: the best value may lie beyond it; fit again from a start whose rpm is "
            "nearer, or hold it by --known",
        ),
    ],
)
def test_a_value_at_its_bound_is_not_fitted(one, value, sure, mark, note):
    found = judged(one, value, 0.9 * value, 1.1 * value, sure=sure)
    assert (found.mark, found.note) == (mark, note)


@pytest.mark.parametrize(
    ("value", "low", "high"), [(0.3, 0.4, 0.5), (0.6, 0.4, 0.5), (float("nan"), 0.4, 0.5)]
)
def test_a_value_outside_its_own_interval_is_an_error(value, low, high):
    with pytest.raises(RunError) as raised:
        Fitted("queue.read_margin", value, low, high, FITTED)
    assert str(raised.value) == (
        f"queue.read_margin: the fitted value {value:.6g} ms lies outside its own 90 % interval, 0.4 to 0.5 ms: this "
        "is an error of the fit, and nothing is written"
    )


def test_an_interval_without_its_value_writes_no_file(tmp_path, run, monkeypatch):
    monkeypatch.setattr(
        stages,
        "fit_surface",
        lambda draft, *_: (draft, [Fitted("geometry.outer_rate", 80.0, 90.0, 100.0, FITTED)], [], []),
    )
    write_drive(tmp_path, "rates.toml", RATES)
    (tmp_path / "surface.csv").write_text("byte_offset,mb_per_s\n0,80\n1000000000,70\n2000000000,60\n")
    done = run("fit", "rates.toml", "--surface", "surface.csv", "-o", "out.toml")
    assert done.returncode != 0
    assert "lies outside its own 90 % interval, 90 to 100" in done.stderr
    assert not (tmp_path / "out.toml").exists()


def test_a_rate_at_its_bound_is_told_in_table_json_and_file(tmp_path, run):
    write_drive(tmp_path, "rates.toml", RATES)
    rates = "\n".join(f"{int(k * 1e9)},{800 - 36 * k}" for k in range(10))
    (tmp_path / "surface.csv").write_text(f"byte_offset,mb_per_s\n{rates}\n")
    arguments = ("fit", "rates.toml", "--surface", "surface.csv", "-o", "out.toml")
    told = {one["key"]: one for one in json.loads(run(*arguments, "--json").stdout)["parameters"]}
    assert told["geometry.outer_rate"]["mark"] == "at-bound"
    assert told["geometry.outer_rate"]["note"].startswith(
        "at its upper bound, 375 MB/s: the best value may lie"
    )
    fact = tomllib.loads((tmp_path / "out.toml").read_text())["geometry"]["outer_rate"]
    assert "mark" not in fact
    assert "at its upper bound, 375 MB/s" in fact["source"]
    printed = run(*arguments).stdout
    assert "at its bound" in printed
    assert "geometry.outer_rate is at its upper bound, 375 MB/s" in printed


def test_rates_within_bounds_have_no_bound():
    draft = start_of("hgst-c15k600")
    capacity = draft.plan().capacity_bytes(0)
    offset = np.linspace(0, 0.95, 20) * capacity
    _, fitted, _, _ = fit_surface(draft, Surface("made up", offset, np.linspace(200e6, 100e6, 20)), ())
    assert {one.mark for one in fitted} == {FITTED}


def test_a_number_that_another_pushed_out_of_its_interval_lets_nothing_return_to_the_start(
    tmp_path, monkeypatch
):
    write_drive(tmp_path, "sheet.toml", SHEET)
    write_chain(tmp_path, "chain.csv", reads=60, writes=0)
    monkeypatch.setattr(
        chain_stage,
        "_held_again",
        lambda _found, _data, model, _centre, held: {one.key: 1e9 for one in model.parameters} | held,
    )
    found = stages.run(
        Measured(chains=(read_chain(tmp_path / "chain.csv"),)),
        start_of(str(tmp_path / "sheet.toml")),
        1,
        None,
        lambda *_: None,
    )
    undecided = [one for one in found.fitted.values() if one.mark == UNDECIDED]
    assert undecided
    assert {one.note for one in undecided} == {ONE_OF_MANY}
    assert all(one.low <= one.value <= one.high for one in found.fitted.values())


def test_what_a_later_stage_moves_replaces_what_an_earlier_one_found():
    found = Found(start_of("hgst-c15k600"))
    found.add(
        [
            Fitted("firmware.read_miss", 0.3, 0.2, 0.4, FITTED),
            Fitted("settle.write_settle", 0.5, 0, 1, FITTED),
        ]
    )
    # Left where the earlier stage put it: that stage's interval stays.
    found.add([Fitted("settle.write_settle", 0.5, 0, 3, UNDECIDED)])
    found.add([Fitted("firmware.read_miss.after_read", 0.3, 0, 3, UNDECIDED)])
    assert [(one.key, one.mark) for one in found.fitted.values()] == [
        ("firmware.read_miss", FITTED),
        ("settle.write_settle", FITTED),
    ]
    found.add([Fitted("firmware.read_miss.after_read", 0.6, 0.5, 0.7, FITTED)])
    assert sorted(found.fitted) == ["firmware.read_miss.after_read", "settle.write_settle"]


def guarded(folder, guard: dict) -> Sweeps:
    truth = {**TRUTH, "queue": {"protocol": "ncq", "depth": 32, "order": "sptf", **guard}}
    write_drive(folder, "truth.toml", truth)
    write_sweep(folder, "sweep.csv", truth, depths=(1, 2, 4, 8, 16, 32))
    return Sweeps(read_sweeps([folder / "sweep.csv"]), 1)


def test_a_guard_of_almost_half_a_revolution_is_found(tmp_path):
    sweeps = guarded(tmp_path, {"read_margin": "3.4ms"})
    start = start_of(str(tmp_path / "truth.toml")).having({"queue.read_margin": None})
    found = best_numbers(sweeps, start, "sptf", (), TIME)
    assert found.point["queue.read_margin"] == pytest.approx(3.4, abs=0.2)
    (guard,) = parameters_of(sweeps, start, "sptf", TIME, ())
    assert guard.high == pytest.approx(30_000 / 7180)


@pytest.mark.parametrize(
    ("guard", "right", "other", "key", "value"),
    [
        ({"seek_margin": 0.8}, SHARE, TIME, "queue.seek_margin", 0.8),
        ({"read_margin": "2ms"}, TIME, SHARE, "queue.read_margin", 2.0),
    ],
)
def test_a_sweep_tells_a_long_guard_in_time_from_one_in_shares_of_the_seek(
    tmp_path, guard, right, other, key, value
):
    sweeps = guarded(tmp_path, guard)
    start = start_of(str(tmp_path / "truth.toml")).having(dict.fromkeys([key], None))
    found, wrong = (best_numbers(sweeps, start, "sptf", (), kind) for kind in (right, other))
    assert found.point == {key: pytest.approx(value, rel=0.12)}
    assert found.held_out.loss < wrong.held_out.loss


def test_the_guard_of_writes_is_that_of_a_sweep_of_writes(tmp_path):
    (tmp_path / "sweep.csv").write_text("iodepth,iops\n1,90\n8,140\n")
    write_drive(tmp_path, "truth.toml", TRUTH)
    start = start_of(str(tmp_path / "truth.toml"))
    for rw, key in (("randread", "queue.read_margin"), ("randwrite", "queue.write_margin")):
        sweeps = Sweeps(read_sweeps([tmp_path / "sweep.csv"], rw=rw), 1)
        assert [one.key for one in parameters_of(sweeps, start, "sptf", TIME, ())] == [key]
