"""`drivelab crashtest`: what a power cut takes is found, what is promised is there, and every cut can be repeated."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from devices import DRIVE, RAID5

HERE = Path(__file__).parent
PROGRAM = shlex.join(["env", f"PYTHONPATH={HERE}", sys.executable, str(HERE / "crash_load.py")])
FLUSHED, FUA, UNFLUSHED = (f"{PROGRAM} write 40 {how}" for how in ("flush", "fua", "none"))
CHECK = f"{PROGRAM} check"


@pytest.mark.parametrize("scenario", [DRIVE, RAID5], ids=["drive", "raid5"])
@pytest.mark.parametrize("load", [FLUSHED, FUA], ids=["flush", "fua"])
def test_what_was_flushed_is_there_after_every_cut(crashtest, scenario, load):
    done = crashtest(scenario, "--run", load, "--check", CHECK, "--cuts", "25", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("25 cuts: none with loss\n")


def test_what_was_not_flushed_is_lost_and_the_earliest_loss_is_found_and_repeated(crashtest, run, tmp_path):
    options = ("--check", CHECK, "--cuts", "25", "--json")
    done = crashtest(DRIVE, "--run", UNFLUSHED, "--keep", "session", *options)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    assert (found["cuts"], found["errors"], found["interrupted"]) == (25, [], False)
    assert found["failures"]
    for failure in found["failures"]:
        assert sum(stretch["sectors"] for stretch in failure["lost"]) == failure["lost_sectors"] > 0
        assert failure["why"].startswith("record ")
    earliest = found["earliest"]
    assert earliest["at_ns"] <= found["failures"][0]["at_ns"]
    assert earliest["committed"] >= 1
    # The same session again: the same cuts with the same outcomes.
    again = crashtest(DRIVE, "--from", "session", *options)
    assert json.loads(again.stdout) == found
    repeat = shlex.split(earliest["repeat"])
    assert repeat[0] == "drivelab"
    once = run(*repeat[1:], "-q")
    assert once.returncode == 3
    assert once.stdout.startswith("1 cuts: 1 with loss\n")
    # Just before the first commit nothing is promised.
    facts = json.loads((tmp_path / "session" / "session.json").read_text())
    before = facts["commits"][0][0] - 1
    assert run(*repeat[1:-1], f"{before}ns", "-q").returncode == 0


def test_a_promise_that_is_kept_by_the_next_flush_is_broken_until_then(crashtest):
    load = f"{PROGRAM} write 12 early"
    done = crashtest(DRIVE, "--run", load, "--check", CHECK, "--cuts", "60", "--json")
    assert done.returncode == 3, done.stderr
    # One in each FLUSH, if the draw is not unkind; the line is heard before the FLUSH, however busy the machine is.
    committed = {failure["committed"] for failure in json.loads(done.stdout)["failures"]}
    assert len(committed) >= 6, committed
    kept = crashtest(DRIVE, "--run", load, "--check", CHECK, "--every", "flush", "-q")
    assert kept.returncode == 0, kept.stdout + kept.stderr
    assert kept.stdout.startswith("12 cuts: none with loss\n")


def test_a_flush_that_lies_is_found(crashtest, command):
    lie = " ".join(map(shlex.quote, [*command, "fault"])) + ' "$unixsocket" lie > /dev/null && '
    done = crashtest(DRIVE, "--run", lie + FLUSHED, "--check", CHECK, "--cuts", "50", "-q")
    assert done.returncode == 3, done.stderr
    assert "the earliest" in done.stdout


def test_every_flush_is_cut_and_the_checker_may_read_through_the_address(crashtest):
    options = ("--check", f"{PROGRAM} check_uri", "--every", "flush", "-q")
    done = crashtest(DRIVE, "--run", f"{PROGRAM} write 12 flush", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("11 cuts: none with loss\n")


def test_a_member_that_dies_after_the_cut_takes_nothing_with_it(crashtest):
    options = ("--check", CHECK, "--cuts", "15", "--dies", "2", "-q")
    done = crashtest(RAID5, "--run", FLUSHED, *options)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_checker_that_fails_is_no_loss(crashtest):
    done = crashtest(DRIVE, "--run", FLUSHED, "--check", "echo no disk; exit 7", "--cuts", "2", "-q")
    assert done.returncode == 1
    assert "2 cuts: none with loss, 2 not judged" in done.stdout
    assert "the checker ended with status 7: no disk" in done.stdout
    slow = crashtest(DRIVE, "--run", FLUSHED, "--check", "sleep 9", "--cuts", "1", "--timeout", "300ms", "-q")
    assert slow.returncode == 1
    assert "the checker has not ended after 0.3 s" in slow.stdout


WRONG = {
    "a power cut of its own": (
        ["--run", "true", "--check", "true", "--set", "target.faults.power_cut=1s"],
        "target.faults.power_cut: a campaign cuts the power itself: leave it out",
    ),
    "a size of nothing": (
        ["--run", "true", "--check", "true", "--fs-size", "64MiB"],
        "--fs-size: there is no file system to have it; give --fs",
    ),
    "behind the end": (
        ["--run", FLUSHED, "--check", "true", "--at", "9h"],
        "--at 9h: the workload has ended at ",
    ),
    "no member": (
        ["--run", "true", "--check", "true", "--dies", "1"],
        "member 1: the target is one drive and has no members: give it an array",
    ),
    "no checker": (["--run", "true"], "--check: a campaign needs a command that judges what is left"),
    "no workload": (
        ["--check", "true"],
        "--run COMMAND or --from DIR: the session is made, or was kept; give one of the two",
    ),
    "two places": (
        ["--run", "true", "--check", "true", "--cuts", "1", "--at", "1s"],
        "--cuts, --every and --at: each says where to cut; give one of them",
    ),
    "every write": (
        ["--run", "true", "--check", "true", "--every", "write"],
        "--every write: there is --every flush",
    ),
    "a file system of a session": (
        ["--from", ".", "--check", "true", "--keep", "x"],
        "--from: the session has its file system and its folder; leave --fs and --keep out",
    ),
    "an unknown file system": (
        ["--run", "true", "--check", "true", "--fs", "zfs"],
        "--fs zfs: there are ext4, xfs, btrfs",
    ),
    "no session": (
        ["--from", "nowhere", "--check", "true"],
        "nowhere: no session of a campaign is kept there: ",
    ),
    "no time": (["--run", "true", "--check", "true", "--at", "soon"], "--at soon: "),
    "an idle workload": (
        ["--run", "true", "--check", "true"],
        "the workload has done nothing on the device: there is nothing to cut",
    ),
    "no flush": (
        ["--run", UNFLUSHED, "--check", "true", "--every", "flush"],
        "--every flush: the workload has sent no FLUSH behind its first commit; take --cuts",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_a_remedy(crashtest, name):
    options, message = WRONG[name]
    done = crashtest(DRIVE, *options, "-q")
    assert done.returncode == 2, done.stderr
    assert f"error: {message}" in done.stderr


def test_a_workload_that_fails_ends_the_campaign(crashtest):
    done = crashtest(DRIVE, "--run", "exit 5", "--check", "true", "-q")
    assert done.returncode == 1
    assert "--run ended with status 5: only a workload that succeeds can be judged" in done.stderr


def test_a_session_is_cut_with_its_own_scenario_alone(crashtest, tmp_path):
    kept = crashtest(DRIVE, "--run", FLUSHED, "--check", "true", "--cuts", "1", "--keep", "session", "-q")
    assert kept.returncode == 0, kept.stderr
    other = crashtest(DRIVE + "link.turnaround = '1ms'\n", "--from", "session", "--check", "true")
    if other.returncode == 2 and "unknown" in other.stderr:
        other = crashtest(RAID5, "--from", "session", "--check", "true")
    assert other.returncode == 2
    assert "name the scenario and the options that it had" in other.stderr
    full = crashtest(DRIVE, "--run", FLUSHED, "--check", "true", "--keep", "session")
    assert full.returncode == 2
    assert "--keep session: a session is kept there already: cut it with --from session" in full.stderr
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").touch()
    other = crashtest(DRIVE, "--run", FLUSHED, "--check", "true", "--keep", "other")
    assert other.returncode == 2
    assert "--keep other: there is something in it; name a folder that is new or empty" in other.stderr


def test_a_session_that_fails_leaves_its_folder_as_it_was(crashtest, tmp_path):
    load = f"test -e again || {{ touch again; exit 5; }}; {FLUSHED}"
    options = ("--run", load, "--check", CHECK, "--cuts", "3", "--keep", "session", "-q")
    assert crashtest(DRIVE, *options).returncode == 1
    assert list((tmp_path / "session").iterdir()) == []
    done = crashtest(DRIVE, *options)
    assert done.returncode == 0, done.stderr
