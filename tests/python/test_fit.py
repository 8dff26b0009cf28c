"""`drivelab fit`: small recoveries from end to end, what is written, what is refused, and that it goes
on where it was."""

from __future__ import annotations

import json
import tomllib

import pytest
from fit_files import RATES, SHEET, TRUTH, write_chain, write_drive, write_sweep

from drivelab.fit.stages import STATE_VERSION


@pytest.fixture
def folder(tmp_path):
    write_drive(tmp_path, "sheet.toml", SHEET)
    write_drive(tmp_path, "rates.toml", RATES)
    return tmp_path


def fitted(run, *arguments: str):
    found = run("fit", *arguments, "-o", "out.toml", "--json", "--workers", "1")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_a_chain_and_a_sweep_recover_a_drive_from_its_sheet(folder, run):
    write_chain(folder, "chain.csv", reads=500, writes=200)
    write_sweep(folder, "sweep.csv")
    report = fitted(run, "sheet.toml", "--chain", "chain.csv", "--sweep", "sweep.csv", "--chart", "fit.svg")
    told = {one["key"]: one for one in report["parameters"]}
    # The layout is the drive's own: the angles tell the period to a hundredth of a per cent.
    assert told["rpm"]["mark"] == "fitted"
    assert told["rpm"]["value"] == pytest.approx(7180, rel=3e-4)
    assert told["seek.average"]["low"] < 8 < told["seek.average"]["high"]
    assert abs(report["held_out"]["mean_error"]) < 0.04
    assert all(abs(row["iops_error"]) < 0.03 for row in report["sweep"])
    assert {"all", "reads", "writes"} <= {group["id"] for group in report["groups"]}
    assert report["groups"][0]["n"] == 700
    drive = tomllib.loads((folder / "out.toml").read_text())
    assert drive["rpm"]["mark"] == "fitted"
    assert "90 %" in drive["rpm"]["source"]
    assert (folder / "fit.svg").read_text().startswith("<svg")
    assert not (folder / "out.fit.json").exists()
    assert run("catalogue", "./out.toml").returncode == 0


def test_a_sweep_alone_scales_the_seeks_and_says_so(folder, run):
    write_sweep(folder, "sweep.csv", depths=(1, 4))
    report = fitted(
        run,
        "sheet.toml",
        "--sweep",
        "sweep.csv",
        "--known",
        "queue.order=sptf",
        "--known",
        "queue.chooses=at-media-end",
    )
    assert any("seeks are 0." in note for note in report["notes"])
    assert report["sweep"][0]["iops_error"] == pytest.approx(0, abs=0.01)
    assert report["held_out"] == {"demerit_ms": None, "mean_error": None}


def test_a_class_that_explains_the_sweep_stays_the_class(folder, run):
    by_class = {**TRUTH, "queue": {"protocol": "ncq", "depth": 32}, "firmware": {**TRUTH["firmware"]}}
    by_class["firmware"]["class"] = "sata-nearline"
    write_drive(folder, "class.toml", by_class)
    write_sweep(folder, "sweep.csv", by_class, depths=(1, 4, 32))
    report = fitted(run, "class.toml", "--sweep", "sweep.csv")
    assert report["policies"][0]["order"] == "class sata-nearline"
    # By the numbers of the class the other form of the seek curve would predict worse.
    assert report["rules"] == {"seek.form": "lee"}
    assert report["parameters"] == []
    assert report["notes"][-1] == (
        "order: the firmware of class sata-nearline explains the sweep; no number of it is fitted"
    )
    drive = tomllib.loads((folder / "out.toml").read_text())
    assert "order" not in drive["queue"]
    assert all(abs(row["iops_error"]) < 0.03 for row in report["sweep"])


def test_what_is_known_stays(folder, run):
    write_chain(folder, "chain.csv")
    report = fitted(
        run,
        "sheet.toml",
        "--chain",
        "chain.csv",
        "--known",
        "rpm=7200rpm",
        "--known",
        "settle.scatter=0.05ms",
    )
    assert not {"rpm", "settle.scatter"} & {one["key"] for one in report["parameters"]}
    drive = tomllib.loads((folder / "out.toml").read_text())
    assert drive["rpm"] == {"value": "7200rpm", "mark": "measured", "source": "FIT: given by --known"}


def test_an_undecided_fact_keeps_the_starts_value_and_says_so(folder, run):
    write_chain(folder, "chain.csv", reads=60, writes=0)
    report = fitted(run, "sheet.toml", "--chain", "chain.csv")
    undecided = [one for one in report["parameters"] if one["mark"] == "undecided"]
    assert undecided
    drive = tomllib.loads((folder / "out.toml").read_text())
    start = SHEET["firmware"]["read_miss"]
    assert any(one["key"] == "firmware.read_miss" for one in undecided)
    assert drive["firmware"]["read_miss"]["value"].startswith(start.removesuffix("ms"))
    assert "the data do not decide it" in drive["firmware"]["read_miss"]["source"]


def test_a_sweep_of_random_rates_decides_nothing(folder, run):
    (folder / "sweep.csv").write_text("iodepth,iops\n1,175\n2,57.8\n4,174.1\n8,171.9\n16,188.6\n")
    chosen = ("--known", "queue.order=aged-sptf", "--known", "queue.chooses=at-completion")
    report = fitted(run, "sheet.toml", "--sweep", "sweep.csv", *chosen)
    assert {one["mark"] for one in report["parameters"]} <= {"undecided", "at-bound"}
    assert all("the data do not decide it" in _source(folder, one["key"]) for one in report["parameters"])
    assert run("catalogue", "./out.toml").returncode == 0


def _source(folder, key: str) -> str:
    section, _, name = key.partition(".")
    return tomllib.loads((folder / "out.toml").read_text())[section][name]["source"]


def test_a_write_that_waits_for_the_buffer_alone_is_noticed(folder, run):
    cached = {
        **TRUTH,
        "write_cache": True,
        "cache": {"size": "16MiB", "segments": 16, "destage": "when-idle"},
    }
    write_drive(folder, "cached.toml", {**cached, "write_cache": False})
    write_chain(folder, "chain.csv", cached, reads=100, writes=40)
    report = fitted(run, "cached.toml", "--chain", "chain.csv")
    assert report["rules"]["write_cache"] is True


def test_a_surface_gives_the_rates(folder, run):
    rates = "\n".join(f"{int(k * 1e9)},{80 - 3.6 * k}" for k in range(10))
    (folder / "surface.csv").write_text(f"byte_offset,mb_per_s\n{rates}\n")
    report = fitted(run, "rates.toml", "--surface", "surface.csv")
    told = {one["key"]: one for one in report["parameters"]}
    assert told["geometry.outer_rate"]["value"] == pytest.approx(80, rel=0.03)
    assert 0.4 < told["geometry.inner_to_outer"]["value"] < 0.65
    assert len(report["surface"]) == 10


def test_a_geometry_is_taken_over(folder, run):
    (folder / "geometry.csv").write_text(
        "model,capacity,rpm,sector_bytes,spt_outer,spt_inner,surfaces,skew_rev,layout\n"
        "X,10 GB,7201,512,1000,500,4,0.1,AF\n"
    )
    fitted(run, "rates.toml", "--geometry", "geometry.csv")
    drive = tomllib.loads((folder / "out.toml").read_text())
    assert drive["geometry"]["heads"] == {"value": 4, "mark": "measured", "source": "FIT: geometry.csv, X"}
    assert drive["geometry"]["inner_to_outer"]["value"] == "50.000%"
    assert drive["skew"]["track"]["value"] == "0.100000rev"


def test_what_a_geometry_says_and_cannot_say(folder, run):
    head = "model,capacity,rpm,sector_bytes,spt_outer,spt_inner,surfaces,skew_deg,skew_rev,layout\n"

    def taken(skew: str, layout: str, *known: str) -> tuple[dict, list[str]]:
        (folder / "geometry.csv").write_text(f"{head}X,10 GB,7200,512,1000,500,4,{skew},{layout}\n")
        report = fitted(run, "rates.toml", "--geometry", "geometry.csv", *known)
        return tomllib.loads((folder / "out.toml").read_text()), report["notes"]

    drive, notes = taken("51.8,19/132", "A")
    assert drive["skew"]["track"]["value"] == "0.143939rev"
    assert drive["geometry"]["surface_order"]["value"] == "alternating"
    assert notes == []
    # The rate on one track, less what a stream loses at its end.
    assert drive["geometry"]["outer_rate"]["value"] == f"{1000 * 512 * 120 / (1 + 19 / 132) / 1e6:.4f}MB/s"
    assert taken(",1/6+0.004", "F")[0]["skew"]["track"]["value"] == "0.170667rev"
    assert taken("90,", "F")[0]["skew"]["track"]["value"] == "0.250000rev"
    drive, notes = taken("93-100,", "AF")
    assert "skew" not in drive
    assert "surface_order" not in drive["geometry"]
    assert notes == [
        "geometry: the skew 93-100 is not one number; skews stay the start's",
        "geometry: the layout AF has two levels, and the table does not say how many tracks lie on one surface before "
        "the next one's turn; if you know, say geometry.surface_order=serpentine and "
        "geometry.cylinders_per_head=N; the order of the surfaces stays the start's",
    ]
    known = ["--known", "geometry.surface_order=serpentine", "--known", "geometry.cylinders_per_head=64"]
    drive, notes = taken("36,", "AF", *known)
    assert drive["geometry"]["cylinders_per_head"]["value"] == 64
    assert notes == []
    assert "is not one order" in taken("36,", "F or A")[1][0]


def test_a_fit_goes_on_where_it_was(folder, run, monkeypatch):
    from drivelab.fit import stages

    write_chain(folder, "chain.csv", reads=60, writes=0)
    write_sweep(folder, "sweep.csv", depths=(1, 2))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    ran = stages._STAGES["sweep"]
    monkeypatch.setitem(stages._STAGES, "sweep", interrupted)
    arguments = (
        "fit",
        "sheet.toml",
        "--chain",
        "chain.csv",
        "--sweep",
        "sweep.csv",
        "--known",
        "queue.order=sptf",
        "-o",
        "out.toml",
    )
    assert run(*arguments).returncode == 130
    state = json.loads((folder / "out.fit.json").read_text())
    assert (state["version"], state["done"]) == (STATE_VERSION, ["chain"])
    monkeypatch.setitem(stages._STAGES, "sweep", ran)
    monkeypatch.setitem(stages._STAGES, "chain", interrupted)  # not run again
    found = run(*arguments)
    assert found.returncode == 0, found.stderr
    assert "seek.average" in found.stdout
    assert not (folder / "out.fit.json").exists()
