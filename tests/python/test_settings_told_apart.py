"""Records are told apart by the keys of their scenarios, and found by them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import drivelab
from drivelab.records.opening import of_object
from drivelab.records.settings import is_same, settings_of

DRIVE = "wd-wd740gd-00fla0"


def made(**options: object) -> dict[str, Any]:
    result = drivelab.simulate(**{"drive": DRIVE, "number_ios": 400, **options})
    found: dict[str, Any] = json.loads(json.dumps(result.to_dict(), default=list))
    return found


@pytest.fixture(scope="module")
def own():
    """The drive as it is."""
    return made()


@pytest.fixture(scope="module")
def unqueued():
    """Without a queue, and with the write cache off, which both are otherwise by the drive's file."""
    return made(**{"target.queue.protocol": "none", "target.write_cache": False})


@pytest.fixture(scope="module")
def swept():
    """Both protocols in one record."""
    return made(**{"target.queue.protocol": ["ata-tcq", "none"]})


def beside(*records: dict[str, Any], **options: object) -> dict[str, Any]:
    found: dict[str, Any] = drivelab.compare(*records, **options).to_dict()
    return found


def test_a_drives_own_value_counts_where_the_scenario_leaves_it_out(own, unqueued):
    force = own["points"][0]["in_force"]
    assert force["protocol"] != "none"
    settings = settings_of(own)
    assert settings.stated == {"target.drive": [DRIVE], "run.ios": ["400"]}
    assert settings.implied["target.queue.protocol"] == [force["protocol"]]
    assert settings.implied["target.queue.depth"] == [str(force["depth"])]
    assert settings.implied["target.drive.rpm"] == ["10000rpm"]
    found = beside(own, unqueued)
    assert found["comparisons"][0]["settings"]["target.queue.protocol"] == [force["protocol"], "none"]
    cache = settings.all()["target.write_cache"]
    assert found["comparisons"][0]["settings"].get("target.write_cache", ["false", "false"])[0] == cache[0]
    assert found["records"][1]["label"].startswith("queue.protocol none")


def test_the_difference_is_named_in_text_and_picture(run, tmp_path, own, unqueued):
    for name, record in (("a", own), ("b", unqueued)):
        (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    done = run("compare", "a.json", "b.json", "-o", "c.svg", "-q")
    assert done.returncode == 0, done.stderr
    protocol = own["points"][0]["in_force"]["protocol"]
    assert f"A -> B: target.queue.protocol {protocol} -> none" in done.stdout
    assert f", {DRIVE}, queue.protocol {protocol}" in done.stdout.splitlines()[0]
    assert f"IOPS, B against A (target.queue.protocol {protocol} -> none" in done.stdout
    assert "queue.protocol none" in (tmp_path / "c.svg").read_text(encoding="utf-8")


def test_of_two_drives_only_what_was_set_is_named(own):
    other = made(drive="wd-4tb-7200", **{"run.warmup": "1s"})
    found = beside(own, other)["comparisons"][0]
    assert found["tell_apart"] == {"drive": [DRIVE, "wd-4tb-7200"]}
    assert found["settings"] == {"run.warmup": ["not set", "1s"]}


def test_a_fact_of_a_drive_that_was_changed_is_named(own):
    changed = made(**{"target.drive.rpm": "9000rpm"})
    found = beside(own, changed)["comparisons"][0]["settings"]
    assert found == {"target.drive.rpm": ["10000rpm", "9000rpm"]}


def test_what_one_record_sweeps_and_the_other_has_set_is_a_place(swept, unqueued):
    found = beside(swept, unqueued)["comparisons"][0]
    places = {one["place"]["queue.protocol"] for one in found["differences"]}
    assert places == {"none"}
    assert [one["axes"]["queue.protocol"] for one in found["not_matched"]] == ["ata-tcq"]


def test_a_library_finds_by_any_key_of_the_scenario(run, tmp_path, own, unqueued, swept):
    protocol = own["points"][0]["in_force"]["protocol"]
    for name, record in (("own", own), ("none", unqueued), ("both", swept)):
        (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    done = run("library", "add", "own.json", "none.json", "both.json", "--library", "l.sqlite")
    assert done.returncode == 0, done.stderr
    assert f"added 2: simulated, {DRIVE}, queue.protocol none, write_cache false, 1 point" in done.stdout

    def numbers(*terms: str) -> list[int]:
        done = run("library", "search", *terms, "--json", "--library", "l.sqlite")
        return [one["number"] for one in json.loads(done.stdout)["records"]]

    assert numbers("target.queue.protocol=none") == [2, 3]
    assert numbers(f"target.queue.protocol={protocol}") == [1, 3]
    assert numbers("target.write_cache=false", "target.queue.protocol=none") == [2]
    assert numbers("target.drive.rpm=10000rpm", "run.ios=400") == [1, 2, 3]
    assert numbers("target.drive.rpm=7200rpm") == []
    # Without its personal data it is found as well, and can still be repeated.
    done = run("library", "export", "2", "--anonymous", "-o", "e.json", "--library", "l.sqlite")
    run("library", "import", "e.json", "--library", "m.sqlite")
    (tmp_path / "back.json").write_text(
        run("library", "show", "1", "--library", "m.sqlite").stdout, encoding="utf-8"
    )
    assert "same digest as" in run("simulate", "back.json").stdout


def test_values_match_however_they_are_written():
    assert is_same("4k", "4096")
    assert is_same("60s", "1min")
    assert is_same("60S", "1min")
    assert is_same("90m", "1.5h")
    assert is_same("2d", "48h")
    assert is_same("NCQ", "ncq")
    assert not is_same("4k", "4000")
    assert not is_same("none", "ncq")


def test_a_record_without_a_scenario_has_no_settings():
    assert of_object(made() | {"scenario": None}, "x").settings.all() == {}
