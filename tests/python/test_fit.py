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
    assert report["rules"] == {}
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
        "the next one's turn; if you know: --known geometry.surface_order=serpentine --known "
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


WRONG = {
    "nothing measured": ([], "nothing was measured: give --trace, --chain, --sweep, --surface or --geometry"),
    "no such start": (["--sweep", "ok.csv"], None),
    "rw": (["--chain", "rw.csv"], "rw.csv:2: rw is 'x'; write r or w"),
    "short": (["--chain", "short.csv"], "short.csv: 1 requests; a chain needs 20 at least"),
    "column": (
        ["--sweep", "column.csv"],
        "column.csv:1: no column iops; its first line names the columns iodepth,iops",
    ),
    "twice": (["--sweep", "twice.csv"], "twice.csv: a depth stands there twice; give one line for each"),
    "number": (["--sweep", "number.csv"], "number.csv:2: iops is 'many', which is no number from 0 on"),
    "fields": (["--sweep", "fields.csv"], "fields.csv:2: 1 fields under 2 columns"),
    "trace": (
        ["--trace", "bad.trace"],
        "bad.trace:1: expected R or W, a tag, LBN, sectors, measured us and pause us, found 'R Hit 1'",
    ),
    "surface": (["--surface", "surface.csv"], "surface.csv: 1 places; a surface needs 3 at least"),
    "known": (
        ["--sweep", "ok.csv", "--known", "rpm"],
        "--known rpm: write it as KEY=VALUE, such as rpm=7200rpm",
    ),
    "known of a scenario": (
        ["--sweep", "ok.csv", "--known", "target.drive.rpm=1rpm"],
        "--known target.drive.rpm: name the key as a drive file has it, such as rpm or seek.average",
    ),
    "hold-out": (
        ["--sweep", "ok.csv", "--hold-out", "95%"],
        "--hold-out 95%: give a percentage from 0 to 90, such as 50%",
    ),
    "rw of the sweep": (
        ["--sweep", "ok.csv", "--rw", "read"],
        "--rw read: a sweep is of randread or randwrite",
    ),
    "no sweep": (["--surface", "surface.csv", "--bs", "4k"], "--bs changes nothing without --sweep"),
    "bs": (["--sweep", "ok.csv", "--bs", "4x"], "'4x' is no amount of data; write it as 4KiB"),
    "beyond": (
        ["--chain", "beyond.csv"],
        "beyond.csv: a request ends at sector 195,312,508, and the start has 20,000,000: another drive, or "
        "--known geometry.capacity=...",
    ),
    "geometry": (
        ["--geometry", "geometry.csv"],
        "geometry.csv has several models: name one of A, B by --known identity.model=NAME",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case, folder, run):
    head = "i,byte_offset,bytes,rw,time_ms\n"
    (folder / "rw.csv").write_text(f"{head}0,0,4096,x,1\n")
    (folder / "short.csv").write_text(f"{head}0,0,4096,r,1\n")
    (folder / "beyond.csv").write_text(head + "0,99999999999,4096,r,9\n" * 30)
    (folder / "column.csv").write_text("iodepth,rate\n1,2\n")
    (folder / "twice.csv").write_text("iodepth,iops\n1,2\n1,3\n")
    (folder / "number.csv").write_text("iodepth,iops\n1,many\n")
    (folder / "fields.csv").write_text("iodepth,iops\n1\n")
    (folder / "ok.csv").write_text("iodepth,iops\n1,80\n")
    (folder / "bad.trace").write_text("R Hit 1\n")
    (folder / "surface.csv").write_text("byte_offset,mb_per_s\n0,9\n")
    row = "model,rpm,sector_bytes,spt_outer,spt_inner,surfaces\n"
    (folder / "geometry.csv").write_text(f"{row}A,7200,512,9,9,1\nB,7200,512,9,9,1\n")
    options, said = WRONG[case]
    start = "absent.toml" if case == "no such start" else "sheet.toml"
    found = run("fit", start, *options, "-o", "out.toml")
    assert found.returncode == 2
    if said is None:
        assert "absent.toml" in found.stderr
    else:
        assert found.stderr == f"error: {said}\n"
    assert not (folder / "out.toml").exists()
