"""What exceeds the media and the links is noted with the cache that gave it: by layer, by array level, over a sweep."""

from __future__ import annotations

import pytest

from drivelab import catalogue, simulate
from drivelab.runs import ceiling
from drivelab.scenarios.catalogue_choice import Medium, medium
from drivelab.scenarios.scenario import plan, read_source

DRIVE = ("--drive", "wd-4tb-7200")


def notes_of(run, *words: str):
    done = run("simulate", *words)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "exceed" in line or "more than an arm" in line]


def test_a_stream_within_what_the_media_give_needs_no_note(run):
    for words in (
        ("--rw", "read", "--bs", "1m"),
        ("--rw", "randread", "--iodepth", "1,32"),
        ("--rw", "write"),
    ):
        assert notes_of(run, *DRIVE, *words, "--runtime", "3s", "--ramp-time", "1s") == []


@pytest.mark.parametrize(
    ("words", "starts", "cache"),
    [
        (("--rw", "read", "--bs", "128k", "--size", "4m"), "note: reads at", "the drive's cache answered"),
        (("--rw", "read", "--bs", "128k", "--numjobs", "4"), "note: reads at", "the drive's cache answered"),
        (
            ("--rw", "write", "--bs", "64k", "--size", "4m", "--set", "target.write_cache=true"),
            "note: writes at",
            "the drive's cache took",
        ),
        (
            ("--rw", "write", "--bs", "1m", "--number-ios", "200", "--set", "target.host_cache.size=1GiB"),
            "note: writes at",
            "the links give at most: the host's page cache took",
        ),
        (
            ("--rw", "randread", "--size", "2m"),
            "note: ",
            "random reads/s are more than an arm gives: the drive's",
        ),
    ],
)
def test_what_exceeds_media_or_links_names_its_cache(run, words, starts, cache):
    (note,) = notes_of(run, *DRIVE, *words, "--runtime", "5s")
    assert note.startswith(starts)
    assert cache in note


def test_the_controllers_cache_is_named(run):
    words = ("--rw", "write", "--bs", "64k", "--size", "8m", "--set", "target.controller.cache.size=64MiB")
    notes = notes_of(run, *DRIVE, *words, "--set", "target.write_cache=false", "--runtime", "2s")
    assert notes
    assert "the controller's cache" in notes[0]


def test_a_sweep_has_one_note_for_its_largest(run):
    (note,) = notes_of(run, *DRIVE, "--rw", "read", "--bs", "128k", "--size", "4m,100g", "--runtime", "2s")
    assert "(so at 1 of 2 points)" in note


@pytest.mark.parametrize(
    ("level", "members", "read", "write"),
    [
        ("jbod", 3, 3, 3), ("raid0", 4, 4, 4), ("raid1", 2, 2, 1), ("raid10", 4, 4, 2), ("raid5", 4, 4, 3),
        ("raid6", 6, 6, 4), ("raid4", 3, 3, 2), ("raid50", 6, 6, 4), ("raidz2", 6, 6, 4), ("raid01", 4, 4, 2),
    ],
)  # fmt: skip
def test_an_array_gives_what_its_members_give_without_copies_and_parity(level, members, read, write):
    of_one = plan(read_source({"target": {"drive": "wd-4tb-7200"}})).ceilings[0]
    array = {"level": level, "members": members}
    (found,) = plan(read_source({"target": {"drive": "wd-4tb-7200", "array": array}})).ceilings
    assert found["media_read"] / of_one["media_read"] == pytest.approx(read, rel=1e-3)
    assert found["media_write"] / of_one["media_write"] == pytest.approx(write, rel=1e-3)
    assert found["link_read"] == pytest.approx(members * of_one["link_read"])


def test_no_drive_streams_faster_than_its_ceiling():
    drives = [one["name"] for one in catalogue("drives")]
    assert len(drives) > 20
    for name in drives[::4]:
        scenario = {
            "target": {"drive": name},
            "workload": {"rw": "read", "bs": "256KiB"},
            "run": {"duration": "2s"},
        }
        result = simulate(scenario, **{"run.warmup": "1s"})
        (found,) = result.plan.ceilings
        (point,) = result.records
        assert ceiling.excess(point, found) == {}, (name, point["bytes_per_s"], found)
        # The ceiling is no idle one: a stream at the outer edge comes close to it. One read at a time leaves most dies
        # of a flash drive idle, and its link.
        most = min(found["media_read"], found["link_read"])
        least = 0.4 if medium(catalogue(name)) != Medium.FLASH else 0.2
        assert point["bytes_per_s"] > least * most, (name, point["bytes_per_s"], found)


def test_reads_and_writes_share_the_media():
    def point(read: float, write: float) -> dict[str, dict[str, float]]:
        return {"read": {"bytes_per_s": read}, "write": {"bytes_per_s": write}}

    drive = {"media_read": 100.0, "media_write": 100.0, "link_read": 300.0, "link_write": 300.0}
    assert ceiling.excess(point(60, 60), drive) == {"read": ("media", 100.0)}
    assert ceiling.excess(point(50, 50), drive) == {}
    assert ceiling.excess(point(301 * 1.02, 0), drive) == {"read": ("link", 300.0)}
    assert ceiling.excess(point(0, 250), drive) == {"write": ("media", 100.0)}
    assert ceiling.excess(point(900, 900), None) == {}
