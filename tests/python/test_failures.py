"""What goes wrong, as a user meets it: a message on stderr, an exit code, never a traceback, never half a file."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from processes import until_it_runs

LAST_POINT_NEVER_ENDS = ("--set", "run.ios=[1000, 2000, 1000000000000]", "--iodepth", "1", "--workers", "1")


def assert_clean(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """The code, the words on stderr, and nothing of Python."""
    assert done.returncode == code, done.stderr
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("simulate", "absent.toml"), ("cannot read absent.toml: no such file or directory",)),
        (("simulate", "."), ("is a directory",)),
        (("simulate", "bytes.toml"), ("line 2 is not UTF-8 text",)),
        (("check", "absent.toml"), ("no such file",)),
        (("simulate", "--iodept", "3"), ("No such option: --iodept", "--iodepth")),
        (("simulat",), ("No such command 'simulat'",)),
        (("simulate", "queue.toml", "--json", "--csv"), ("choose one of",)),
        (("simulate", "queue.toml", "--chart", "a.gif"), (".png, .svg, .pdf, .html, .json",)),
        (("simulate", "queue.toml", "--chart", ""), ("--chart", "the name is empty")),
        (("simulate", "queue.toml", "--out", ""), ("--out", "the name is empty")),
        (("reproduce", "lkml-2007", "--out", ""), ("--out", "the name is empty")),
        (("simulate", "queue.toml", "--set", "iodepth"), ("not KEY=VALUE",)),
        (("simulate", "queue.toml", "--workers", "0"), ("workers",)),
        (("simulate", "queue.toml", "--bs", "\udcff"), ("is not UTF-8 text",)),
        (("catalogue", "seagate-st3250620"), ("did you mean seagate-st3250620as",)),
        (("catalogue", "qqqq"), ("there is ",)),
        (("catalogue", "my.toml"), ("cannot read my.toml: no such file",)),
        (("reproduce", "lkml-2008"), ("did you mean lkml-2007?",)),
        (("reproduce", "absent.toml"), ("no such file",)),
    ],
)
def test_usage_is_exit_2_and_names_the_remedy(run, queue, tmp_path, arguments, words):
    (tmp_path / "bytes.toml").write_bytes(b'name = "a"\nx = "\xff"\n')
    done = run(*arguments)
    assert_clean(done, 2, *words)
    assert done.stdout == ""


def test_an_unreadable_file_is_exit_2(run, queue):
    queue.chmod(0)
    try:
        queue.read_text(encoding="utf-8")
    except PermissionError:
        assert_clean(run("simulate", queue), 2, "permission denied")
    else:
        pytest.skip("this user may read everything")


def test_options_are_named_in_the_messages_of_the_scenario(run):
    done = run("simulate", "--drive", "seagate-st3250620as", "--iodepth", "0", "--bs", "4q")
    assert_clean(done, 2, "--> --iodepth", "--> --bs", "2 problems")
    assert done.stdout == ""


def test_without_a_verb_there_is_help(run):
    done = run()
    assert done.returncode == 2
    assert "simulate" in done.stdout + done.stderr


def test_a_full_disk_below_stdout_is_exit_1(process, queue):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = process("simulate", queue, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert_clean(done, 1, "cannot write to stdout: no space left on device")


def test_a_full_disk_below_the_record_is_exit_1_and_prints_the_points(run, queue, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "record.json").symlink_to("/dev/full")
    done = run("simulate", queue, "--json", "--out", out)
    assert_clean(done, 1, "record.json: no space left on device")
    assert len(json.loads(done.stdout)["points"]) == 3


def test_a_write_that_fails_half_way_leaves_the_old_record(process, queue, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "record.json").write_text("old", encoding="utf-8")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = process("simulate", queue, "--out", out, preexec_fn=limit)
    assert_clean(done, 1, "record.json: file too large")
    assert [path.name for path in out.iterdir()] == ["record.json"]
    assert (out / "record.json").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("place", ["queue.toml", "/proc/nowhere"])
def test_a_folder_that_cannot_be_made_is_exit_1_before_anything_runs(run, queue, place):
    done = run("simulate", queue, "--out", place)
    assert_clean(done, 1, "cannot make the folder")
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "words"), [("absent/a.svg", "there is no folder absent"), ("taken.svg", "is a directory")]
)
def test_a_picture_without_a_place_is_exit_1_before_anything_runs(run, queue, tmp_path, name, words):
    (tmp_path / "taken.svg").mkdir()
    done = run("simulate", queue, "--set", "run.ios=1000000000000", "--chart", name)
    assert_clean(done, 1, f"--chart {name}: cannot write: ", words)
    assert done.stdout == ""


def test_a_reader_that_has_seen_enough_is_no_error(command, environment, queue, tmp_path):
    process = subprocess.Popen(
        [*command, "simulate", str(queue), "--json"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), errors) == (0, b"")


@pytest.mark.parametrize("arguments", [("--help",), ("simulate", "--help"), ("schema",)])
def test_a_reader_that_stops_early_is_no_error_for_any_verb(command, environment, arguments):
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [*command, *arguments], env=environment, stdout=theirs, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [("simulate", "queue.toml"), ("schema",), ("--help",), ("--version",)])
def test_a_closed_stdout_loses_data_and_is_exit_1(process, queue, arguments):
    done = process(*arguments, preexec_fn=lambda: os.close(1))
    assert_clean(done, 1, "it is closed")


@pytest.mark.parametrize("form", ["--json", "--csv", "-q"])
def test_a_sweep_with_a_failed_point_is_exit_1_and_keeps_the_others(run, queue, form):
    # A hundred pauses of 700 days are more years than a run may last.
    done = run("simulate", queue, "--iodepth", "1", "--number-ios", "100", "--thinktime", "0s,700d", form)
    assert_clean(done, 1, "error: at workload.thinktime=700d: ")
    if form == "--json":
        record = json.loads(done.stdout)
        assert (len(record["points"]), len(record["failures"])) == (1, 1)
    else:
        assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize("form", ["--json", "--csv", "-q"])
def test_ctrl_c_keeps_the_points_that_finished(command, environment, queue, tmp_path, form):
    stdout, stderr, code = interrupted(
        [*command, "simulate", str(queue), *LAST_POINT_NEVER_ENDS, form, "--out", str(tmp_path / "out")],
        environment,
    )
    assert code == 130
    *written, last = stderr.splitlines()
    assert last == "interrupted: 2 of 3 points finished"
    assert all(line.startswith("wrote ") for line in written)
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert record["interrupted"] is True
    assert [point["latency_ns"]["n"] for point in record["points"]] == [1000, 2000]
    if form == "--json":
        assert json.loads(stdout) == record
    else:
        assert len(stdout.splitlines()) == 3


def interrupted(command: list[str], environment: dict[str, str]) -> tuple[str, str, int]:
    """Ctrl-C once the quick points are done. How long that takes depends on the machine: wait longer each time."""
    for delay_s in (0.5, 3.0, 9.0, 27.0):
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
        until_it_runs(process)
        time.sleep(delay_s)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
        if "2 of 3" in stderr:
            break
    return stdout, stderr, process.returncode


def test_a_defect_is_one_line_and_its_traceback_is_a_wish(process, queue, environment, tmp_path):
    # A module of the same name as one that `simulate` loads late takes its place.
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "altair.py").write_text("raise LookupError('planted')\n", encoding="utf-8")
    planted = environment | {"PYTHONPATH": str(broken)}
    done = process("simulate", queue, "--chart", "a.svg", env=planted)
    assert_clean(done, 1, "a defect of drivelab, please report it: LookupError: planted")
    done = process("simulate", queue, "--chart", "a.svg", env=planted | {"DRIVELAB_TRACEBACK": "1"})
    assert "Traceback" in done.stderr
