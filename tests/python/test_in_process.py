"""The tests' command line is the program: a command in their process and in one of its own gives the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

DRIVE = ("--drive", "wd-4tb-7200")
BAD = (
    'name = "bad"\n[target]\nserver = { service = "exponential" }\n[workload]\nrw = "randread"\niodept = 0\n'
)
# Every verb, every form, every exit code that needs no signal; files that are read and written; notes and help.
COMMANDS = [
    (),
    ("--version",),
    ("--help",),
    ("help", "target.queue.order"),
    ("simulate", "--help"),
    ("simulat",),
    ("simulate", "queue.toml"),
    ("simulate", "queue.toml", "--json", "--log", "3"),
    ("simulate", "queue.toml", "--csv", "--iodepth", "2,3", "-q"),
    ("simulate", "bad.toml"),
    ("simulate", "absent.toml"),
    ("simulate", "queue.toml", "--bs", "\udcff"),
    ("simulate", "queue.toml", "--iodepth", "1", "--number-ios", "100", "--thinktime", "0s,700d"),
    ("simulate", *DRIVE, "--rw", "randread", "--number-ios", "50", "--log", "9", "--log-to", "a.csv"),
    ("simulate", *DRIVE, "--number-ios", "20", "--chart", "a.svg", "--breakdown"),
    ("scan", *DRIVE, "--places", "3", "--accesses", "3", "--csv"),
    ("compare-levels", *DRIVE, "--levels", "raid0,raid1", "--number-ios", "20", "--iodepth", "1"),
    ("answer",),
    ("answer", "ceph-iops", *DRIVE),
    ("answer", "ceph-iop"),
    ("check", "/dev/stdin"),
    ("check", "bad.toml", "--json"),
    ("reproduce",),
    ("reproduce", "mirpk-2005", "--strict"),
    ("validate", "wd-4tb-7200", "--trace", "absent.csv"),
    ("catalogue", "wd-4tb-7200"),
    ("catalogue", "qqqq"),
    ("schema",),
    ("import", "absent.parv"),
]


def left(folder: Path) -> dict[str, bytes]:
    """The files below a folder, with what is in them."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda words: " ".join(words)[:40].encode(errors="replace").decode() or "none"
)
def test_a_process_gives_the_same_bytes(run, process, tmp_path, queue, arguments):
    scenario = queue.read_text(encoding="utf-8")
    found = []
    for name, runner, given in (("in", run, "stdin"), ("out", process, "input")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "queue.toml").write_text(scenario, encoding="utf-8")
        (folder / "bad.toml").write_text(BAD, encoding="utf-8")
        done = runner(*arguments, cwd=folder, **{given: scenario})
        found.append((done.returncode, done.stdout, done.stderr, left(folder)))
    here, there = found
    assert here == there
    assert here[1] or here[2]


def test_a_shell_is_offered_the_same(run, process, environment, command):
    asked = {
        "_DRIVELAB_COMPLETE": "complete_bash",
        "COMP_WORDS": "drivelab simulate --drive wd-4",
        "COMP_CWORD": "3",
    }
    command[1:] = ["-c", "import sys; sys.argv[0] = 'drivelab'; from drivelab.cli import main; main()"]
    env = {**environment, **asked}
    here, there = run(env=env, name="drivelab"), process(env=env)
    assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)
    assert "wd-4tb-7200" in here.stdout


def test_a_defect_and_its_traceback(run, queue, environment, monkeypatch):
    import altair

    def planted(*_: object, **__: object) -> None:
        raise LookupError("planted")

    monkeypatch.setattr(altair, "vconcat", planted)
    env = environment | {"DRIVELAB_TRACEBACK": "1"}
    quiet, loud = (run("simulate", queue, "--chart", "a.svg", env=one) for one in (environment, env))
    assert (quiet.returncode, loud.returncode) == (1, 1)
    assert quiet.stderr.endswith("a defect of drivelab, please report it: LookupError: planted\n")
    assert loud.stderr.endswith("LookupError: planted\n")
    assert "Traceback" in loud.stderr


def test_nothing_is_left_of_a_command(run, environment, tmp_path):
    def state() -> list[object]:
        # pytest gives each test streams of its own.
        streams = [getattr(sys, name) for name in ("stdin", "stdout", "stderr", "__stdout__", "__stderr__")]
        links = [os.fstat(number).st_ino for number in range(3)]
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        return [Path.cwd(), dict(os.environ), list(sys.argv), list(warnings.filters), handlers, streams, links,
                sys.modules["__main__"]]  # fmt: skip

    before = state()
    inside = tmp_path / "inside"
    inside.mkdir()
    for arguments in (("schema",), ("simulate", "absent.toml"), ("--help",)):
        run(*arguments, cwd=inside, env=environment | {"ONLY_THERE": "1"})
    assert state() == before


def test_ctrl_c_that_no_run_catches_has_its_code(run, queue, monkeypatch):
    from drivelab.cli import simulate

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate, "run_plan", stopped)
    done = run("simulate", queue)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_command_that_does_not_end_is_ended(run, queue):
    with pytest.raises(subprocess.TimeoutExpired):
        run("simulate", queue, "--iodepth", "1", "--set", "run.ios=1000000000000", timeout=0.2)
