"""`drivelab catalogue contribute`: a measured drive becomes an entry that predicts its sweep; what is refused."""

from __future__ import annotations

import json
import os
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_bundles import MODEL, SECRETS, SIZE, export, exported, record, write_sheet

from drivelab import InputError, fit
from drivelab.contributing import bundle as bundles
from drivelab.contributing import checks
from drivelab.contributing.checks import RATE_ERROR_MOST, Candidate, before_simulating
from drivelab.contributing.entry import texts, without_names
from drivelab.contributing.measured import Depth, Measurement
from drivelab.record_library import exchange
from drivelab.record_library.entry import entry_of
from drivelab.records.opening import Document


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    """A drive that is measured, fitted and exported as a reader does it."""
    folder = tmp_path_factory.mktemp("mine")
    records = {name: record(name) for name in ("sweep", "chain", "surface")}
    write_sheet(folder)
    (folder / "sweep.json").write_text(json.dumps(records["sweep"]))
    # By the sweep and the drive's own order alone: a chain takes a fit three times as long, and a search of all orders
    # minutes. So the whole chain is what the fit has not seen.
    known = ["queue.order=sptf", "queue.chooses=at-media-end"]
    report = fit(folder / "sheet.toml", sweep=folder / "sweep.json", known=known, workers=1)
    made = folder / "bundle"
    made.mkdir()
    (made / "drive.toml").write_text(report.drive_file)
    (made / "records.json").write_text(export(list(records.values()), folder))
    return made


@pytest.fixture
def changed(bundle, tmp_path):
    """The bundle with the text of its drive file, or the contents of its records, changed."""

    def changed(old: str = "", new: str = "", records: list | None = None) -> Path:
        made = tmp_path / "changed"
        made.mkdir(exist_ok=True)
        text = (bundle / "drive.toml").read_text()
        assert old in text
        (made / "drive.toml").write_text(text.replace(old, new))
        kept = (bundle / "records.json").read_text()
        (made / "records.json").write_text(kept if records is None else exported(records))
        return made

    return changed


def contents(bundle: Path) -> list[dict]:
    """The records of a bundle."""
    found = [one["content"][0] for one in json.loads((bundle / "records.json").read_text())["records"]]
    return sorted(found, key=lambda one: ["sweep", "chain", "surface"].index(one["scenario"].split('"')[1]))


def test_a_measured_drive_becomes_an_entry_that_predicts_its_sweep(bundle, run, tmp_path):
    done = run("catalogue", "contribute", bundle, "-o", tmp_path, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["accepted"], found["name"]) == (True, "acme-ax1000-b7")
    assert abs(found["held_out_error"]) < 0.05
    entry = tmp_path / "acme-ax1000-b7"
    assert {path.name for path in entry.iterdir()} == {
        "acme-ax1000-b7.toml",
        "acme-ax1000-b7.sweep.csv",
        "acme-ax1000-b7.surface.csv",
        "NEXT.md",
    }
    # Each fact as the catalogue has it: with a mark and a source.
    shown = json.loads(run("catalogue", str(entry / "acme-ax1000-b7.toml"), "--json").stdout)
    assert {fact["mark"] for fact in shown["facts"]} <= {"datasheet", "measured", "inferred", "fitted"}
    assert "fitted" in {fact["mark"] for fact in shown["facts"]}
    assert all(fact["source"] for fact in shown["facts"])
    assert "acme-ax1000-b7.sweep.csv: 3 depths measured" in shown["sources"]["SWEEP"]
    # What the entry states is what another simulation of it finds.
    rows = [line.split(",") for line in (entry / "acme-ax1000-b7.sweep.csv").read_text().splitlines()[2:]]
    assert [row[0] for row in rows] == ["1", "4", "16"]
    load = ("--rw", "randread", "--bs", "4k", "--iodepth", "1,4,16", "--runtime", "100s", "--randseed", "77")
    again = run("simulate", "--drive", entry / "acme-ax1000-b7.toml", *load, "--json", "-q")
    for row, point in zip(rows, json.loads(again.stdout)["points"], strict=True):
        assert point["iops"] == pytest.approx(float(row[1]), rel=RATE_ERROR_MOST)
    said = "".join(path.read_text() for path in entry.iterdir())
    assert not [secret for secret in (*SECRETS, str(bundle.parent)) if secret in said]
    refused = run("catalogue", "contribute", bundle, "-o", tmp_path)
    assert refused.returncode == 2
    assert "is there already: remove it, or name another folder by --output" in refused.stderr


def test_an_archive_is_read_as_a_folder_is(bundle, run, tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../outside.toml", "x")
        for name in ("drive.toml", "records.json"):
            archive.write(bundle / name, name)
    (tmp_path / "b.zip").rename(tmp_path / "root.zip")
    # As a program packs a folder, and an editor of Windows saves a text.
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mine/", "")
        archive.writestr("../../outside.toml", "x")
        archive.writestr("__MACOSX/mine/._drive.toml", "x")
        for name in ("drive.toml", "records.json"):
            archive.writestr(f"mine/{name}", b"\xef\xbb\xbf" + (bundle / name).read_bytes())
    assert bundles.read_bundle(tmp_path / "b.zip").drive == bundles.read_bundle(tmp_path / "root.zip").drive
    done = run("catalogue", "contribute", "b.zip", "--name", "acme-one", "-o", "new")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "held-out requests of the chain: mean time " in done.stdout
    assert not list(tmp_path.parent.rglob("outside.toml"))
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"acme-one"}


def refusals(run, bundle: Path, *words: str) -> str:
    """Why a bundle is refused; nothing is written."""
    done = run("catalogue", "contribute", bundle, "-o", "refused", *words)
    assert done.returncode == 3, done.stdout + done.stderr
    assert not Path("refused").exists()
    return str(done.stdout)


def test_the_entry_is_in_the_current_folder_by_default(bundle, run, tmp_path):
    done = run("catalogue", "contribute", bundle, "--name", "acme-two", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "acme-two" / "acme-two.toml").is_file()
    (tmp_path / "none").mkdir()
    done = run("catalogue", "contribute", "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none: drive.toml is missing: write it by `drivelab fit" in done.stderr


def test_measurements_that_are_missing(bundle, changed, run):
    sweep, chain, _ = contents(bundle)
    assert "the sweep is missing: add sweep.record.json" in refusals(run, changed(records=[chain]))
    simulated = {**sweep, "kind": "simulated"}
    told = refusals(run, changed(records=[simulated, chain]))
    assert "(not used: records[0]: 'simulated', not 'measured')" in told
    part = {**sweep, "scenario": sweep["scenario"] + 'workload.size = "1GB"\n'}
    assert "no random reads of the whole drive" in refusals(run, changed(records=[part, chain]))
    failed = json.loads(json.dumps(sweep))
    failed["points"][1]["errors"] = 3
    assert "requests have failed in it" in refusals(run, changed(records=[failed, chain]))
    two = {**sweep, "points": sweep["points"][1:]}
    assert "the sweep has the depths 4, 16: it takes 3 at least, and depth 1" in refusals(
        run, changed(records=[two, chain])
    )
    few = json.loads(json.dumps(sweep))
    few["points"][2]["latency_ns"]["n"] = 150
    told = refusals(run, changed(records=[few, chain]))
    assert "the sweep has 150 requests at depth 16: it takes 200 at least" in told
    short = json.loads(json.dumps(chain))
    short["points"][0]["commands"] = short["points"][0]["commands"][:30]
    assert "the chain has 30 requests: it takes 400 at least" in refusals(
        run, changed(records=[sweep, short])
    )
    short["points"][0]["commands"] = [{"first_sector": "first"}]
    told = refusals(run, changed(records=[sweep, short]))
    assert "the chain has 0 requests" in told


def test_a_fit_that_predicts_something_else(changed, run):
    told = refusals(run, changed('read_miss = { value = "', 'read_miss = { value = "4'))
    assert "the fit's held-out error is +" in told
    assert "may be off by 5 %" in told
    assert "at depth " in told
    assert "an entry is within 10 % at every depth" in told


def test_rates_that_are_impossible(bundle, changed, run):
    sweep, chain, surface = contents(bundle)
    fast = json.loads(json.dumps(sweep))
    fast["points"][0]["iops"] = 700.0
    told = refusals(run, changed(records=[fast, chain]))
    assert "700 IOPS at depth 1 are impossible at 7" in told
    wide = json.loads(json.dumps(surface))
    wide["points"][0]["bytes_per_s"] = 900e6
    told = refusals(run, changed(records=[sweep, chain, wide]))
    assert "900 MB/s are impossible at 7" in told
    assert "a track would hold 7.5 MB, and none holds more than 4 MB" in told


def test_identities_that_contradict(bundle, changed, run):
    sweep, chain, _ = contents(bundle)
    other = json.loads(json.dumps(chain))
    other["environment"]["device"]["model"] = "Other ZX9000"
    other["environment"]["target"]["size_bytes"] = 500_000_000_000
    told = refusals(run, changed(records=[sweep, other]))
    assert "of drives of different capacities, 10,240,000,000 and 500,000,000,000 bytes" in told
    assert "of different drives, 'ACME AX1000-B7' and 'Other ZX9000'" in told
    told = refusals(run, changed("AX1000-B7", "BX2000"))
    assert (
        "drive.toml is of 'BX2000', and the drive that was measured says that it is 'ACME AX1000-B7'" in told
    )
    flash = [json.loads(json.dumps(one)) for one in (sweep, chain)]
    for one in flash:
        one["environment"]["device"]["rotational"] = False
    assert "nothing turns in it" in refusals(run, changed(records=flash))
    told = refusals(run, changed("maker = ", "class = "))
    assert "identity.maker is missing in drive.toml" in told


def test_a_drive_that_the_catalogue_has(bundle, changed, run):
    told = refusals(run, bundle, "--name", "wd-4tb-7200")
    assert "the catalogue has a drive of that name, catalogue/drives/wd-4tb-7200.toml" in told
    told = refusals(run, changed("AX1000-B7", "DT01ACA200"))
    assert (
        "the catalogue has this drive as toshiba-dt01aca200 (catalogue/drives/toshiba-dt01aca200.toml)"
        in told
    )


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("ST16000NM001G", ["seagate-exos-x16-16tb"]),
        ("ST16000NM001G-2KK103", ["seagate-exos-x16-16tb"]),
        ("ST4000DM004-2CV104", ["seagate-st4000dm004"]),
        ("WDC WD740GD-00FLA0", ["wd-wd740gd-00fla0"]),
        ("ST4000", []),
        ("ST4000DM", []),
        ("ST16000NM001J", []),
        ("Caviar SE16 WD1600AAKS-00A7B0", []),
        ("Barracuda 7200.10 ST3320620AS", []),
        ("WD740GD-00FLB0", []),
        ("Seagate 4000GB 7200RPM", []),
    ],
)
@pytest.mark.parametrize("is_said", [False, True])
def test_the_designation_is_what_the_catalogue_has_a_drive_by(model, names, is_said):
    found = Measurement(models={model if is_said else "Other ZX9000"})
    one = Candidate("new-one", {"identity.model": "BX2000" if is_said else model}, found, SIZE)
    told = [text for text in before_simulating(one) if text.startswith("the catalogue has this drive")]
    assert [text.split()[6] for text in told] == names


@pytest.mark.parametrize(
    ("stated", "said", "is_same"),
    [
        ("ST16000NM001G", "ATA ST16000NM001G-2KK103", True),
        ("WD740GD-00FLA0", "WDC WD740GD-00FLA1", False),
        ("MZ-75E500", "Samsung MZ75E500", True),
        ("Atlas V", "QUANTUM ATLAS V", True),
        ("V", "QUANTUM ATLAS V", False),
        ("AX10", "ACME AX10", True),
        ("AX1", "AX1", True),
        ("", "", False),
        ("ST4000", "ST4000DM004-2CV104", False),
        ("Caviar SE16 WD6400AAKS", "WDC WD6400AAKS-00A7B0", True),
        ("Caviar SE16 WD6400AAKS", "Caviar SE16 WD2500KS", False),
    ],
)
def test_a_designation_is_the_same_with_and_without_its_revision(stated, said, is_same):
    assert checks._is_same_model(stated, said) is is_same


def test_work_is_bounded():
    def told(depths, chain) -> str:
        found = Measurement(
            models={"BX2000"},
            sizes={SIZE},
            sweep=[Depth(depth, 80.0, None, 300) for depth in depths],
            chain=[(offset, 4096, "r", 9.0) for offset in chain],
        )
        facts = {"identity.model": "BX2000", "rpm": "7200rpm"}
        return "\n".join(before_simulating(Candidate("new-one", facts, found, SIZE)))

    good = [0] * 400
    assert "chain" not in told([1, 2, 3], good)
    assert "the sweep" not in told([1, 2, 3], good).replace("fit it with the sweep", "")
    assert "the sweep has 65 points: it takes 64 at most" in told(range(1, 66), good)
    assert "the sweep has depth 2 more than once" in told([1, 2, 2, 3], good)
    assert "the chain has 100,001 requests: it takes 100,000 at most" in told([1, 2, 3], [0] * 100_001)
    assert "a request that ends at 10,240,004,096 bytes" in told([1, 2, 3], [*good, SIZE])
    assert bundles.MOST_BYTES["records.json"] == 16 * 2**20


def test_what_is_measured_twice(bundle, changed, run):
    sweep, chain, surface = contents(bundle)
    told = refusals(run, changed(records=[sweep, chain, surface, sweep, chain, surface]))
    assert "records[0] and records[3] both have a sweep: give one of them" in told
    assert "records[1] and records[4] both have a chain" in told
    assert "records[2] and records[5] both have a surface" in told


def test_records_of_a_drive_without_a_name(bundle, changed, run):
    records = json.loads(json.dumps(contents(bundle)))
    for one in records:
        one["environment"]["device"]["model"] = None
    assert "no record names the model of the drive" in refusals(run, changed(records=records))


@pytest.mark.parametrize(
    ("key", "value"), [("access", ""), ("access", "trim"), ("first_sector", 0.5), ("sectors", "8")]
)
def test_a_chain_in_another_form(bundle, changed, run, key, value):
    sweep, chain, _ = json.loads(json.dumps(contents(bundle)))
    chain["points"][0]["commands"][3][key] = value
    assert "the chain has 0 requests" in refusals(run, changed(records=[sweep, chain]))


@pytest.mark.parametrize("size", [0, -1, 2**70, "many", 1.5])
def test_a_size_that_is_none(bundle, changed, run, size):
    sweep, chain, _ = json.loads(json.dumps(contents(bundle)))
    sweep["environment"]["target"]["size_bytes"] = size
    assert "measured that is not in the form in which measure writes it" in refusals(
        run, changed(records=[sweep, chain])
    )


def test_a_model_that_cannot_be_printed(changed, run):
    told = refusals(run, changed('"AX1000-B7"', '"AX1000-B7\\u0001"'))
    assert "identity.model in drive.toml has characters that cannot be printed" in told


def test_a_bundle_that_is_none(bundle, changed, run, tmp_path, monkeypatch):
    def told(path: object, *words: str) -> str:
        done = run("catalogue", "contribute", path, "-o", "refused", *words)
        assert done.returncode == 2, done.stdout + done.stderr
        assert not (tmp_path / "refused").exists()
        return str(done.stderr)

    assert "a bundle is a folder or a .zip with drive.toml and records.json" in told("absent")
    (tmp_path / "empty").mkdir()
    assert "empty: drive.toml is missing: write it by `drivelab fit .. -o drive.toml`" in told("empty")
    (tmp_path / "no.zip").write_text("no archive")
    assert "cannot read no.zip: no sound .zip" in told("no.zip")
    assert "write small letters, digits and -" in told(bundle, "--name", "../up")
    # A drive file may be based on the catalogue, and not on a file of who reads it.
    based = changed()
    (based / "drive.toml").write_text('base = "../../secret.toml"\n')
    assert "a bundle may be based on a drive of the catalogue only, and on no file" in told(based)
    (based / "drive.toml").write_text('base = ["x"]\n')
    assert "base is ['x']: a bundle may be based on a drive" in told(based)
    (based / "drive.toml").write_text("base = [\n")
    assert "changed: drive.toml: " in told(based)
    (based / "drive.toml").unlink()
    (based / "drive.toml").symlink_to(bundle / "drive.toml")
    assert "a symbolic link, which is not followed" in told(based)
    for text, why in (
        ("[" * 100_000, "records.json: this is no JSON"),
        ('{"format": NaN}', "NaN is no number of JSON"),
        ("[]", "this is no export of a library"),
    ):
        broken = changed()
        (broken / "drive.toml").unlink()
        (broken / "drive.toml").write_bytes((bundle / "drive.toml").read_bytes())
        (broken / "records.json").write_text(text)
        assert why in told(broken)
    damaged = json.loads((bundle / "records.json").read_text())
    damaged["records"][0]["content"][0]["points"][0]["iops"] = 1.0
    (broken / "records.json").write_text(json.dumps(damaged))
    assert "its content does not fit its digest" in told(broken)
    text = (bundle / "records.json").read_text().replace(f'"size_bytes": {SIZE}', '"size_bytes": 1e999', 1)
    (broken / "records.json").write_text(text)
    assert "records[0].content has a number that is too large" in told(broken)
    monkeypatch.setitem(bundles.MOST_BYTES, "drive.toml", 1000)
    assert "larger than" in told(bundle)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("drive.toml", "#" * 10**6)
        archive.writestr("records.json", "{}")
    assert "bomb.zip: drive.toml is larger than" in told("bomb.zip")
    if hasattr(os, "mkfifo"):
        pipes = tmp_path / "pipes"
        pipes.mkdir()
        os.mkfifo(pipes / "drive.toml")
        assert "it is a pipe or a device, not a file" in told(pipes)


def test_an_archive_that_is_no_bundle(tmp_path):
    with zipfile.ZipFile(tmp_path / "name.zip", "w") as archive:
        archive.writestr("drive.tomlé", "")
    data = (tmp_path / "name.zip").read_bytes()
    (tmp_path / "name.zip").write_bytes(data.replace("é".encode(), b"\xff\xff"))
    with pytest.raises(InputError, match=r"no sound .zip: the name of a member is not UTF-8"):
        bundles.read_bundle(tmp_path / "name.zip")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a/drive.toml", "")
        archive.writestr("b/drive.toml", "")
    with pytest.raises(InputError, match=r"2 folders have drive.toml or records.json, 'a/' and 'b/'"):
        bundles.read_bundle(tmp_path / "two.zip")


def test_an_entry_is_toml_whatever_its_model_is():
    found = Measurement(sweep=[Depth(1, 80.0, None, 300)], bs="4KiB")
    one = Candidate(
        "new-one",
        {"identity.model": "BX\x01\x7f 2\n0"},
        found,
        SIZE,
        rates=[{"depth": 1, "measured": 80.0, "simulated": 80.0, "error": 0.0}],
    )
    text = texts(one, {"facts": [], "bases": [], "sources": {}})["new-one.toml"]
    assert text.startswith("# BX 2 0, contributed")
    assert "SWEEP" in tomllib.loads(text)["sources"]


def test_what_identifies_is_not_in_a_text():
    text = "from ./mine/SHEET.toml on 10.1.2.3, https://jane:word@maker.example/sheet.pdf?user=jane#x and http://nas.lan/a"
    assert without_names(text) == "from path-1 on address-1, https://maker.example/sheet.pdf and address-1"
    assert without_names("https://maker.example:8443/a?b") == "https://maker.example:8443/a"
    ends = ["corp", "home", "home.arpa", "localdomain", "intranet", "private"]
    for host in (*(f"nas.{end}" for end in ends), "maker.example:99999999"):
        assert "/a" not in without_names(f"https://{host}/a"), host


NAMES = st.text(st.characters(whitelist_categories=("Lu", "Ll", "Nd")), min_size=6, max_size=12).map(
    "Q{}q".format
)
CLOCKS = st.times().map(lambda time: time.replace(microsecond=0).isoformat())


@given(host=NAMES, serial=NAMES, user=NAMES, clock=CLOCKS, stamp=st.integers(1_000_000_000, 4_000_000_000))
@settings(max_examples=30)
def test_nothing_that_identifies_comes_out_of_an_anonymous_export(host, serial, user, clock, stamp):
    path = f"/srv/{user}/{serial}.img"
    environment = {
        "hostname": host,
        "target": {"path": path, "kind": "block", "size_bytes": SIZE},
        "device": {"model": MODEL, "serial": serial, "wwn": f"0x{serial}", "rotational": True},
        "notes": [
            f"{user}@{host}.example measured {serial} at {path} on 2026-11-29T{clock}Z",
            f"on 10.1.2.3 {clock}",
        ],
        "user": user,
        "began": f"Sun Nov 29 {clock} 2026",
        "timestamp": stamp,
        "timestamp_ms": 1000 * stamp + 7,
    }
    kept = {
        "kind": "measured",
        "record_version": 1,
        "points": [{"iops": 80.5, "axes": {}, "depth": {"asked": 1}}],
    }
    objects = [{**kept, "environment": environment}]
    # All that an export asks of a library.
    shelf = SimpleNamespace(content=lambda _entry: objects)
    entry = entry_of(Document(objects, "made"), source=path, is_anonymous=False, tags=["t"])
    (record,) = exchange.exported(shelf, [entry], is_anonymous=True)["records"]
    text = json.dumps(record["content"], ensure_ascii=False)
    shown = record["content"][0]["environment"]
    for secret in (host, serial, user):
        assert secret not in json.dumps(shown, ensure_ascii=False).replace(MODEL, ""), secret
    assert path not in json.dumps(record)
    assert "10.1.2.3" not in text
    assert (shown["began"], shown["timestamp"] % 86_400) == ("Sun Nov 29 2026", 0)
    assert shown["timestamp_ms"] == 1000 * shown["timestamp"] + 7
    assert f"2026-11-29T{clock}" not in text
    assert record["added"].endswith("T00:00:00+00:00")
    # The figures stay, and so does the model.
    assert record["content"][0]["points"][0]["iops"] == 80.5
    assert shown["device"]["model"] == MODEL
