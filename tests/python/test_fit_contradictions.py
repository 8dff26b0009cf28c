"""Measurements that contradict each other beyond their errors are told with both figures; one is followed."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from fit_files import RATES, SHEET, TRUTH, write_chain, write_drive, write_sweep

from drivelab import fit
from drivelab.fit.contradictions import of_means, of_sweeps, of_time_and_sweep
from drivelab.fit.draft import start_of
from drivelab.fit.inputs import Sweep, read_chain
from drivelab.fit.sweep_files import read_sweeps

KNOWN = ("queue.order=sptf", "queue.chooses=at-media-end")


def sweep_of(name, rates, depths=(1, 4, 16), bs="4k", rw="randread") -> Sweep:
    return Sweep(name, np.array(depths), np.array(rates, dtype=float), np.full(len(rates), np.nan), bs, rw)


def test_sweeps_of_one_load_that_differ_are_not_averaged():
    first, second = sweep_of("a.csv", [80, 120, 180]), sweep_of("b.csv", [79, 121, 160])
    kept, (told,) = of_sweeps([first, second])
    assert [one.name for one in kept] == ["a.csv"]
    assert told.note() == (
        "contradiction: 4k randread at depth 16: 180 IOPS give or take 2.5 by the sweep a.csv, 160 IOPS give or take "
        "2.3 by the sweep b.csv; the file follows the sweep a.csv, because it is given first, and two sweeps of one "
        "load are not averaged; leave it out to follow b.csv"
    )


@pytest.mark.parametrize(
    "other",
    [
        sweep_of("b.csv", [79, 122, 177]),
        sweep_of("b.csv", [60, 90, 120], bs="64k"),
        sweep_of("b.csv", [60, 90, 120], rw="randwrite"),
        sweep_of("b.csv", [60, 90, 120], depths=(2, 8, 32)),
    ],
)
def test_sweeps_that_agree_or_have_another_load_or_other_depths_are_both_kept(other):
    kept, told = of_sweeps([sweep_of("a.csv", [80, 120, 180]), other])
    assert (len(kept), told) == (2, [])


@pytest.fixture
def folder(tmp_path):
    write_drive(tmp_path, "sheet.toml", SHEET)
    write_drive(tmp_path, "truth.toml", TRUTH)
    write_chain(tmp_path, "chain.csv", reads=500, writes=0)
    return tmp_path


@pytest.mark.parametrize(("factor", "told"), [(1.0, False), (1.02, False), (1.12, True), (0.88, True)])
def test_a_sweep_whose_depth_1_contradicts_the_chain_tells_its_gain_alone(folder, factor, told):
    write_sweep(folder, "sweep.csv")
    (sweep,) = read_sweeps([folder / "sweep.csv"])
    off = replace(sweep, iops=factor * sweep.iops, p99=sweep.p99 / factor)
    chain = read_chain(folder / "chain.csv")
    (kept,), found = of_time_and_sweep([off], start_of(str(folder / "truth.toml")), [chain], 1)
    assert bool(found) == told
    if told:
        assert kept.iops == pytest.approx(sweep.iops, rel=0.02)
        assert kept.p99 == pytest.approx(sweep.p99, rel=0.02)
        assert found[0].value == pytest.approx(kept.iops[0])
        assert found[0].other_value == off.iops[0]
    else:
        assert kept is off


def test_a_list_of_which_a_drive_has_another_mean_contradicts_it(folder):
    chain, draft = read_chain(folder / "chain.csv"), start_of(str(folder / "truth.toml"))
    slow = replace(chain, name="slow.csv", time=chain.time * 1.12)
    assert of_means([chain], chain, draft, 0) is None
    told = of_means([chain], slow, draft, 0)
    assert told is not None
    assert told.other_value == pytest.approx(1.12 * told.value, rel=0.01)
    trace = replace(chain, name="x.trace", kind="trace")
    assert "two chains are not averaged" in told.note()
    assert "it is fitted last" in of_means([trace], slow, draft, 0).note()


def test_a_contradiction_is_told_in_table_json_file_and_to_callers(folder, run, monkeypatch):
    """A chain of 80 reads a second, and a sweep whose rates are all a ninth lower."""
    write_sweep(folder, "sweep.csv")
    lines = (folder / "sweep.csv").read_text().splitlines()
    slow = [f"{depth},{float(iops) * 0.89:.2f}" for depth, iops, _ in (line.split(",") for line in lines[1:])]
    (folder / "sweep.csv").write_text("\n".join(["iodepth,iops", *slow]) + "\n")
    known = [word for one in (*KNOWN, "queue.seek_margin=0") for word in ("--known", one)]
    done = run(
        "fit",
        "sheet.toml",
        "--chain",
        "chain.csv",
        "--sweep",
        "sweep.csv",
        *known,
        "-o",
        "out.toml",
        "--workers",
        "1",
    )
    assert done.returncode == 0, done.stderr
    assert (
        "the file follows the chain in what one request takes, and the sweep in what its queue gains"
        in done.stdout
    )
    assert "contradiction: 4k randread at depth 1: " in (folder / "out.toml").read_text()
    monkeypatch.chdir(folder)
    report = fit(
        "sheet.toml", chain="chain.csv", sweep="sweep.csv", known=[*KNOWN, "queue.seek_margin=0"], workers=1
    )
    (told,) = report.contradictions
    assert report.to_dict()["contradictions"] == [told.to_dict()]
    assert told.value == pytest.approx(told.other_value / 0.89, rel=0.03)
    # The order is fitted to the gain: all rates are off by the same share.
    errors = [row["iops_error"] for row in report.to_dict()["sweep"]]
    assert errors == pytest.approx([1 / 0.89 - 1] * 3, abs=0.03)


def test_of_two_chains_that_contradict_each_other_the_first_is_followed(folder, run):
    write_chain(folder, "chain.csv", reads=300, writes=0)
    lines = (folder / "chain.csv").read_text().splitlines()
    slow = [
        f"{head},{float(took) + 2.5:.4f}" for head, _, took in (line.rpartition(",") for line in lines[2:])
    ]
    (folder / "slow.csv").write_text("\n".join([lines[1], *slow]) + "\n")
    done = run(
        "fit",
        "sheet.toml",
        "--chain",
        "chain.csv",
        "--chain",
        "slow.csv",
        "-o",
        "out.toml",
        "--json",
        "--workers",
        "1",
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    (told,) = report["contradictions"]
    assert told["follows"] == "the chain"
    assert told["other_value"] - told["value"] == pytest.approx(2.5, abs=0.6)
    average = {one["key"]: one["value"] for one in report["parameters"]}["seek.average"]
    assert average == pytest.approx(8, abs=0.5)


def test_a_surface_that_contradicts_what_is_known_is_told(tmp_path, run):
    write_drive(tmp_path, "rates.toml", RATES)
    rates = "\n".join(f"{int(k * 1e9)},{80 - 3.6 * k}" for k in range(10))
    (tmp_path / "surface.csv").write_text(f"byte_offset,mb_per_s\n{rates}\n")
    known = ("--known", "geometry.outer_rate=100MB/s")
    done = run("fit", "rates.toml", "--surface", "surface.csv", "-o", "out.toml", "--json", *known)
    (told,) = json.loads(done.stdout)["contradictions"]
    assert (told["value"], told["follows"]) == (100, "--known or --geometry")
    assert told["other_value"] == pytest.approx(80, rel=0.03)
    assert tomllib.loads((tmp_path / "out.toml").read_text())["geometry"]["outer_rate"]["value"] == "100MB/s"
