"""What runs without what Linux or Unix alone has: modules, portable verbs, paths, consoles, spawned processes.

`elsewhere.py` plays the other systems, and says what that proves.
"""

from __future__ import annotations

import json
import multiprocessing
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import QUEUE
from drivelab.errors import InputError
from drivelab.executors.tasks import PointTask, Sent
from drivelab.host import kernel, processes
from drivelab.measuring.address import is_address
from drivelab.record_library.call import _is_outside
from drivelab.record_library.database import Database
from drivelab.records.formats import known
from drivelab.scenarios.scenario import plan, read_source

ELSEWHERE = Path(__file__).with_name("elsewhere.py")
DRIVE = ("--drive", "wd-4tb-7200", "--rw", "randread", "--bs", "4k")
SPC = "1,1032,4096,R,0.004204\n1,8388608,65536,R,1.250731\n0,20941264,8192,R,1.262002\n"
SURFACE = "byte_offset,mb_per_s\n" + "".join(f"{at * 4 * 10**10},{150 - 0.7 * at:.1f}\n" for at in range(100))

VERBS = [
    ["--help"],
    ["simulate", "a.toml", "--out", "result", "--checkpoint", "kept", "--report", "one.html"],
    ["simulate", *DRIVE, "--iodepth", "1,4", "--number-ios", "300", "--json", "--chart", "a.svg"],
    ["simulate", "a.toml", "--out", "again", "--checkpoint", "kept", "--csv"],
    ["check", "a.toml"],
    ["catalogue"],
    ["schema"],
    ["help", "workload.iodepth"],
    ["compare", "result/record.json", "again/record.json"],
    ["compare", "one.html", "again/record.json"],
    ["library", "add", "result/record.json", "--tag", "first", "--library", "l.sqlite"],
    ["library", "list", "--library", "l.sqlite"],
    ["library", "show", "first", "--library", "l.sqlite"],
    ["library", "export", "--library", "l.sqlite", "-o", "export.json"],
    ["durability", "--level", "raid6", "--members", "8", "--afr", "2%", "--rebuild", "20h"],
    ["trace", "info", "web.spc"],
    ["trace", "convert", "web.spc", "--to", "msr", "-o", "web.csv"],
    ["simulate", "--drive", "wd-4tb-7200", "--trace", "web.spc", "--trace-device", "1"],
    ["fit", "wd-4tb-7200", "--surface", "surface.csv", "-o", "mine.toml"],
    ["simulate", "--drive", "mine.toml", "--rw", "randread", "--number-ios", "50"],
    ["answer", "concurrency", "--drive", "wd-4tb-7200"],
]
# On another system than Linux: that one.
SYSTEMS = ["darwin", "win32"] if sys.platform == "linux" else [sys.platform]
SLOW = [
    words.split()
    for words in (
        "scan --drive wd-4tb-7200 -o scan.html",
        "plan --capacity 20TB --drive seagate-exos-x24-24tb --drive-price 400USD --level raid1 --members 2 "
        "--rate-iops 20 --afr 1.5% --replacement 2d",
        "compare-levels --drive wd-wd6400aaks-00a7b0 --levels raid1 --members 2 --afr 5%",
    )
]
ON_LINUX = [
    (["crashtest", *DRIVE[:2], "--run", "true", "--check", "true"], "`crashtest` needs Linux: "),
    (
        ["measure", "--target", "a.toml", *DRIVE[2:], "--runtime", "1s"],
        "`measure` of a file or a device needs Linux: ",
    ),
    (["measure", "reorder", "a.toml"], "`measure` of a file or a device needs Linux: "),
    (["emulate", *DRIVE[:2], "--mount", "."], "--mount . needs Linux: "),
]
ON_UNIX = [
    (["emulate", *DRIVE[:2]], "`emulate` needs Linux or macOS: "),
    (
        ["measure", "--target", "nbd://localhost", *DRIVE[2:]],
        "`measure` of an NBD address needs Linux or macOS: ",
    ),
    (["loop", *DRIVE], "`loop` needs Linux or macOS: "),
    (["fault", "nbd.socket", "status"], "`fault` needs Linux or macOS: "),
]


@pytest.fixture
def played(tmp_path: Path, environment: dict[str, str]):
    """What commands come to in a process as on another system."""
    (tmp_path / "a.toml").write_text(QUEUE, encoding="utf-8")
    (tmp_path / "web.spc").write_text(SPC, encoding="utf-8")
    (tmp_path / "surface.csv").write_text(SURFACE, encoding="utf-8")

    def play(system: str, what: str | list[list[str]]) -> list[Any]:
        words = what if isinstance(what, str) else json.dumps(what)
        program = [sys.executable, ELSEWHERE, system, words]
        # Warnings of what is loaded in its Linux form are not ours.
        own = {**environment, "PYTHONWARNINGS": "default", "DRIVELAB_TRACEBACK": "1"}
        done = subprocess.run(program, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found: list[Any] = json.loads(done.stdout)
        return found

    return play


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_module_can_be_imported(played, system):
    found = played(system, "imports")
    assert {"drivelab.crash.judge", "drivelab.measuring.extents", "drivelab.host.kernel"} <= set(found)
    assert len(found) > 350


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_portable_verbs_run(played, system):
    # Windows lacks all that macOS lacks.
    verbs = VERBS + (SLOW if system == SYSTEMS[-1] else [])
    for words, found in zip(verbs, played(system, verbs), strict=True):
        assert found["code"] == 0, (words, found["err"])


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_record_is_the_same(played, run, system):
    words = ["simulate", *DRIVE, "--number-ios", "300", "--json"]
    (found,) = played(system, [words])
    here = json.loads(run(*words).stdout)
    assert json.loads(found["out"])["points"] == here["points"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_a_system_has_not_is_refused_in_one_error(played, system):
    refused = ON_LINUX[:3] + (ON_UNIX if system == "win32" else ON_LINUX[3:])
    for (words, why), found in zip(refused, played(system, [words for words, _ in refused]), strict=True):
        assert found["code"] == 2, (words, found)
        assert found["err"].startswith("error: "), words
        assert why in found["err"], (words, found["err"])
        assert found["err"].count("\n") == 1, words
        # The remedy.
        assert "; " in found["err"], words


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
def test_nothing_is_refused_on_linux():
    kernel.need_linux("it", "why")
    kernel.need_unix("it", "why")


@pytest.mark.skipif(sys.platform != "linux", reason="compared with /proc")
@pytest.mark.skipif(shutil.which("ps") is None, reason="needs ps")
def test_processes_are_found_without_proc(monkeypatch, tmp_path):
    child = subprocess.Popen(["sleep", "60"])
    try:
        named = next(one for one in processes.living() if one.pid == child.pid)
        monkeypatch.setattr(processes, "_PROC", tmp_path / "none")
        found = next(one for one in processes.living() if one.pid == child.pid)
    finally:
        child.kill()
        child.wait()
    assert (found.pid, found.parent, found.began) == (named.pid, named.parent, 0)
    assert child.pid not in {one.pid for one in processes.living()}


def test_tasks_run_in_processes_that_are_spawned(tmp_path):
    (tmp_path / "a.toml").write_text(QUEUE, encoding="utf-8")
    checked = plan(read_source(tmp_path / "a.toml", []))
    points = [
        PointTask(pickle.dumps(checked), checked.scenario_hash, place, 0, check_data=False)
        for place in range(len(checked))
    ]
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawned) as pool:
        found = list(pool.map(Sent.run, map(Sent, points)))
    assert found == [one.run() for one in points]


@pytest.mark.parametrize("path", [r"C:\runs\a.txt", "C:/runs/a.txt", r"\\host\share\a.txt"])
def test_a_drive_letter_is_no_format_scheme_or_host(path):
    assert known.split(path) == ("", path)
    assert known.split(f"fio-terse-repeats:{path}") == ("fio-terse-repeats", path)
    assert not is_address(path)


@pytest.mark.parametrize("separator", ["/", "\\"])
def test_a_record_with_a_separator_is_no_name_of_the_library(monkeypatch, separator):
    monkeypatch.setattr("drivelab.record_library.call.sep", separator)
    assert _is_outside(f"runs{separator}before")
    assert not _is_outside("before")


def test_a_library_may_be_on_a_drive_of_windows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = Database(r"C:\runs.sqlite")
    opened.close()
    assert opened.kind == "sqlite"


def test_a_drive_file_may_be_on_a_drive_of_windows(run):
    done = run("simulate", "--drive", r"C:\drives\mine.toml", "--rw", "randread")
    assert done.returncode == 2
    assert r"C:\drives\mine.toml" in done.stderr
    assert "no such file" in done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_console_without_a_sign_is_written_to(process, environment, encoding):
    own = {**environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for words in (
        ["--help"],
        ["help", "glossary"],
        ["simulate", *DRIVE, "--iodepth", "32", "--number-ios", "300"],
        ["durability", "--level", "raid6", "--members", "8", "--afr", "2%", "--rebuild", "20h"],
        ["catalogue"],
        ["simulate", "--drive", "größe→.toml", "--rw", "randread"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "drivelab", *words], env=own, capture_output=True, check=False
        )
        assert done.returncode == (2 if "größe→.toml" in words else 0), done.stderr
        assert b"Traceback" not in done.stderr
        (done.stdout + done.stderr).decode(encoding)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_json_on_a_console_without_utf_8_is_json(environment, tmp_path, encoding):
    (tmp_path / "a.toml").write_text(QUEUE.replace("one station", "µ → 😀"), encoding="utf-8")
    own = {**environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    words = [sys.executable, "-m", "drivelab", "simulate", "a.toml", "--json"]
    done = subprocess.run(words, env=own, cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["name"] == "µ → 😀"


def test_a_lock_is_one_descriptors_alone(tmp_path):
    first, second = (kernel.open_to_append(tmp_path / "file") for _ in range(2))
    assert kernel.try_lock(first)
    assert not kernel.try_lock(second)
    kernel.unlock(first)
    assert kernel.try_lock(second)


def test_the_error_has_what_why_and_remedy(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(InputError, match=r"^it needs Linux: why; run it there; .*platforms\.md\)$"):
        kernel.need_linux("it", "why")
