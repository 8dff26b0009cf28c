"""`drivelab crashtest`: what a power cut takes is found, what is promised is there, and every cut can be repeated."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from devices import DRIVE, RAID5

from drivelab.crash import campaign, filesystem
from drivelab.crash.check import ERROR, GOOD, LOSS, Checked, check
from drivelab.crash.filesystem import UnmountableError
from drivelab.crash.judge import Stop, StoppedError
from drivelab.errors import RunError

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
    assert (found["cuts"], found["cuts_asked"], found["errors"], found["interrupted"]) == (25, 25, [], False)
    coverage = found["coverage"]
    assert coverage["before_first_commit"] == 0
    assert coverage["between_commits"] + coverage["after_last_commit"] == 25
    # Each of these losses is one of the drive's cache.
    assert coverage["with_lost_sectors"] == sum(1 for failure in found["failures"] if failure["lost"])
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
    assert once.stdout.startswith("1 cut: 1 with loss\nof these 1 ")
    assert "1 took answered sectors" in once.stdout
    # Just before the first commit nothing is promised.
    facts = json.loads((tmp_path / "session" / "session.json").read_text())
    before = facts["commits"][0][0] - 1
    good = run(*repeat[1:-1], f"{before}ns", "-q")
    assert good.returncode == 0
    assert "of these 1 while nothing was committed; " in good.stdout


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


def test_the_verdict_counts_the_cuts_and_names_the_loss_that_bisection_has_added(crashtest, tmp_path):
    load = f"{PROGRAM} write 12 early"
    kept = crashtest(DRIVE, "--run", load, "--check", "exit 1", "--cuts", "3", "--keep", "kept", "-q")
    # The checker finds everything lost: the earliest is where the first promise was.
    assert kept.stdout.startswith(
        "3 cuts: 3 with loss, one more, the earliest, found by bisection\nof these "
    )
    shown = [line for line in kept.stdout.splitlines() if line.startswith("loss at ")]
    assert len(shown) == 4
    assert ", the earliest, found by bisection: committed 1; " in shown[0]
    # Between the last FLUSH and the end nothing is the drive's fault.
    ended = json.loads((tmp_path / "kept" / "session.json").read_text())["ended_ns"]
    last = crashtest(DRIVE, "--from", "kept", "--check", "exit 1", "--at", f"{ended}ns", "-q")
    assert (
        "of these 1 after the last commit; none took answered sectors, none met writes under way"
        in last.stdout
    )
    assert (
        "committed 12; no answered sectors are gone; no writes were under way\n  the drive still has"
        in last.stdout
    )
    assert "what is missing was not written before it was committed" in last.stdout


def test_every_flush_is_cut_and_the_checker_may_read_through_the_address(crashtest):
    options = ("--check", f"{PROGRAM} check_uri", "--every", "flush", "-q")
    done = crashtest(DRIVE, "--run", f"{PROGRAM} write 12 flush", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("11 cuts: none with loss\n")


def test_a_member_that_dies_after_the_cut_takes_nothing_with_it(crashtest):
    options = ("--check", CHECK, "--cuts", "15", "--dies", "2", "-q")
    done = crashtest(RAID5, "--run", FLUSHED, *options)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def temporary(monkeypatch) -> Iterator[Path]:
    """A folder for temporary files alone: campaigns of tests beside this one have sessions too. Short, for sockets."""
    with tempfile.TemporaryDirectory(prefix="one-") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


def test_a_checker_that_fails_is_no_loss(crashtest, temporary):
    done = crashtest(DRIVE, "--run", FLUSHED, "--check", "echo no disk; exit 7", "--cuts", "2", "-q")
    assert done.returncode == 1
    assert "2 cuts: none with loss, 2 not judged" in done.stdout
    assert "the checker ended with status 7: no disk" in done.stdout
    # No loss, no session: there is nothing that a command could repeat.
    assert "again: its session is not kept; give --keep DIR\n" in done.stdout
    assert not list(temporary.glob("drivelab-crash-*"))
    slow = crashtest(DRIVE, "--run", FLUSHED, "--check", "sleep 9", "--cuts", "1", "--timeout", "300ms", "-q")
    assert slow.returncode == 1
    assert "the checker has not ended after 0.3 s" in slow.stdout


@pytest.mark.parametrize("failing", [range(40, 55), range(90), range(0)])
def test_a_checker_that_fails_in_the_bisection_says_nothing(monkeypatch, failing):
    """Losses from 60 on, between a good cut at 0 and a loss at 99: where the checker fails nothing is known."""
    asked = []

    def judged(_: object, at: int) -> Checked:
        asked.append(at)
        verdict = ERROR if at in failing else LOSS if at >= 60 else GOOD
        return Checked(at, verdict, "", None, [], 0, 0, 0)

    monkeypatch.setattr(campaign, "check", judged)
    log = SimpleNamespace(instants=lambda: list(range(1, 99)))
    checker = SimpleNamespace(log=log, kept=SimpleNamespace(commits=[]))
    cuts = [Checked(at, verdict, "", None, [], 0, 0, 0) for at, verdict in ((0, GOOD), (99, LOSS))]
    not_judged: list[Checked] = []
    found = campaign._earliest(checker, cuts, not_judged)
    assert [one.at_ns for one in not_judged] == [at for at in asked if at in failing]
    assert len(not_judged) <= 8
    if len(not_judged) < 8:
        assert found.at_ns == 60


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


def test_a_session_whose_data_were_changed_is_refused(crashtest, tmp_path):
    kept = crashtest(DRIVE, "--run", FLUSHED, "--check", CHECK, "--cuts", "1", "--keep", "session", "-q")
    assert kept.returncode == 0, kept.stderr
    data = tmp_path / "session" / "data"
    written = data.read_bytes()
    for changed in (bytes(len(written)), written[:-1], written + b"\0"):
        data.write_bytes(changed)
        done = crashtest(DRIVE, "--from", "session", "--check", CHECK, "--cuts", "3", "-q")
        assert (done.returncode, done.stdout) == (2, "")
        assert "error: session/data: these are not the data that the session has written: " in done.stderr
    data.write_bytes(written)
    assert crashtest(DRIVE, "--from", "session", "--check", CHECK, "--cuts", "3", "-q").returncode == 0


def test_after_a_loss_it_is_said_where_the_session_is(crashtest):
    done = crashtest(DRIVE, "--run", UNFLUSHED, "--check", "exit 1", "--cuts", "1")
    folder = re.search(r"--from (\S+)", done.stdout)
    assert folder, done.stdout
    said = f"the session is kept in {folder[1]}, for the commands above; remove it when you have done with them\n"
    assert done.stderr.endswith(said)
    assert (Path(folder[1]) / "data").exists()


def test_a_line_that_is_almost_a_commit_is_warned_of_once(crashtest):
    load = f"{FLUSHED}; echo committed tx-1; echo committed 12 rows; echo it was committed"
    done = crashtest(DRIVE, "--run", load, "--check", CHECK, "--cuts", "1")
    assert done.returncode == 0
    said = (
        "committed tx-1\n"
        "warning: `committed tx-1` commits nothing: a commit is `committed N`, with a whole number of at most 18 "
        "digits and nothing else in its line\n"
        "committed 12 rows\n"
        "it was committed\n"
    )
    assert said in done.stderr


def test_the_last_commit_counts_and_not_the_largest(crashtest, tmp_path):
    load = "; ".join(f"{PROGRAM} write 1 flush | sed s/1/{number}/" for number in (4, 3, 2, 1))
    check = f'echo "$DRIVELAB_COMMITTED" >> {tmp_path}/told'
    done = crashtest(DRIVE, "--run", load, "--check", check, "--every", "flush")
    assert done.returncode == 0, done.stderr
    assert "; it has committed 1\n" in done.stderr
    # A FLUSH is answered before its line is said, and the first one before anything is promised.
    assert sorted((tmp_path / "told").read_text().split()) == ["2", "3", "4"]


def test_a_session_that_fails_leaves_its_folder_as_it_was(crashtest, tmp_path):
    load = f"test -e again || {{ touch again; exit 5; }}; {FLUSHED}"
    options = ("--run", load, "--check", CHECK, "--cuts", "3", "--keep", "session", "-q")
    assert crashtest(DRIVE, *options).returncode == 1
    assert list((tmp_path / "session").iterdir()) == []
    done = crashtest(DRIVE, *options)
    assert done.returncode == 0, done.stderr


def test_a_shell_is_opened_on_the_first_failing_cut(run, environment, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    check = "echo the record is gone; exit 1"
    typed = (
        'test -s "$DRIVELAB_DEVICE" && echo "device committed $DRIVELAB_COMMITTED"\n'
        f"{PROGRAM} check_uri; echo checked $?\nexit 5\n"
    )
    words = ["crashtest", "d.toml", "--run", UNFLUSHED, "--check", check, "--cuts", "3", "--keep", "session"]
    done = run(*words, "--shell", "-q", env={**environment, "SHELL": "/bin/sh"}, stdin=typed)
    assert done.returncode == 3, done.stderr
    device, *_, checked, verdict = done.stdout.split("\nof these")[0].splitlines()
    # The earliest loss is where the first promise was.
    assert device == "device committed 1"
    assert re.fullmatch(r"checked [01]", checked)
    assert verdict.startswith("3 cuts: 3 with loss")
    at = r"loss at \d\.\d{9} s: committed 1; the checker: "
    assert re.search(f"{at}{re.escape(check)}\n  the record is gone\nDRIVELAB_DEVICE=/.*\n", done.stderr), (
        done.stderr
    )
    assert "\nuri=nbd+unix:///?socket=/" in done.stderr
    assert "/bin/sh: the device as it is after this cut; changes to it are lost" in done.stderr


def test_without_a_failing_cut_no_shell_is_opened(run, environment, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    words = ["crashtest", "d.toml", "--run", FLUSHED, "--check", CHECK, "--cuts", "3", "--shell", "-q"]
    done = run(*words, env={**environment, "SHELL": "/bin/sh"}, stdin="echo opened\n")
    assert done.returncode == 0, done.stderr
    assert "opened" not in done.stdout


def test_a_shell_goes_with_lines_and_must_be_there(run, environment, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    words = ["crashtest", "d.toml", "--run", "true", "--check", "true", "--shell"]
    done = run(*words, "--json")
    assert done.returncode == 2
    assert "--shell and --json: " in done.stderr
    done = run(*words, env={**environment, "SHELL": "/no/shell"})
    assert done.returncode == 2
    assert "--shell: /no/shell is no program here: set SHELL to the path of a shell" in done.stderr


def test_a_cut_that_an_interrupt_has_broken_off_is_not_judged(monkeypatch):
    """Ctrl-C may end what the check needs, such as mount: that says nothing of the cut."""
    after = {"lost": [], "lost_sectors": 0, "unanswered_writes": 0, "unreadable_sectors": 0}
    kept = SimpleNamespace(size_bytes=512, committed=lambda _at: None)
    checker = SimpleNamespace(
        log=SimpleNamespace(cut=lambda *_: after), kept=kept, dies=None, place=None, stop=Stop()
    )
    raised = UnmountableError("mount ends with status -2"), RunError("losetup: status -2")
    for error, verdict in zip(raised, (LOSS, ERROR), strict=True):

        @contextmanager
        def given(*_: object, error: Exception = error) -> Iterator[dict[str, str]]:
            raise error
            yield {}

        monkeypatch.setattr("drivelab.crash.check._given", given)
        assert check(checker, 5).verdict == verdict
    checker.stop.set()
    with pytest.raises(StoppedError):
        check(checker, 5)


def test_a_helper_of_a_campaign_is_in_a_process_group_of_its_own():
    """So that Ctrl-C of a terminal does not reach it."""
    said = filesystem.run([sys.executable, "-c", "import os; print(os.getpgrp() == os.getpid())"], "python")
    assert said == "True\n"
