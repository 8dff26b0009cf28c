"""Campaigns on file systems: what a database promises is there, and nothing stays mounted, attached or running."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from processes import await_file, is_running

from drivelab.crash import filesystem
from drivelab.host import temporary

HERE = Path(__file__).parent
PROGRAM = shlex.join(["env", f"PYTHONPATH={HERE}", sys.executable, str(HERE / "crash_load.py")])
CACHED = '[target]\ndrive = "wd-4tb-7200"\nwrite_cache = true\n'
SIZES = {"ext4": "64MiB", "xfs": "300MiB", "btrfs": "128MiB"}
ON_EXT4 = ("--fs", "ext4", "--fs-size", "64MiB")
# Forty files, each of them synced with its folder.
FILES = 'cd "$DRIVELAB_MOUNT" && for i in $(seq 1 40); do echo $i > $i; sync $i .; echo committed $i; sleep 0.01; done'


@pytest.fixture
def needs(request, mounts, tmp_path):
    """Skip, by the test's name, where a file system cannot be made or the kernel does not mount it."""

    def needs(name: str) -> None:
        if shutil.which(f"mkfs.{name}") is None:
            pytest.skip(f"{request.node.name}: no mkfs.{name}")
        image, at = tmp_path / "probe.img", tmp_path / "probe"
        with image.open("wb") as file:
            file.truncate(512 << 20)
        at.mkdir()
        subprocess.run([f"mkfs.{name}", "-q", str(image)], check=True, capture_output=True)
        done = subprocess.run(["mount", "-o", "loop", str(image), str(at)], check=False, capture_output=True)
        if done.returncode:
            pytest.skip(f"{request.node.name}: the kernel does not mount {name}")
        subprocess.run(["umount", str(at)], check=True)
        image.unlink()

    return needs


def left(pid: int, place: Path | None = None) -> list[str]:
    """What the campaigns of a process have left mounted or attached, and their temporary files.

    The kernel detaches a loop device when its last user closes it, which may be another process that lists them.
    """
    found = found_now(pid, place)
    for _ in range(50):
        if not found:
            break
        time.sleep(0.1)
        found = found_now(pid, place)
    return found


def found_now(pid: int, place: Path | None = None) -> list[str]:
    """The same at this instant; `place` is their folder of temporary files where it is not the system's."""
    mine = re.compile(rf"/drivelab-(cut|crash-device)-{pid}-")
    attached = subprocess.run(["losetup", "--list"], capture_output=True, text=True, check=True).stdout
    lines = [*Path("/proc/mounts").read_text().splitlines(), *attached.splitlines()]
    places = "/dev/shm", place or tempfile.gettempdir()  # noqa: S108 - only looked at
    files = [str(path) for at in places for path in Path(at).glob("drivelab-c*")]
    return [line for line in lines + files if mine.search(line)]


@pytest.mark.parametrize(
    ("fs", "journal", "loses"),
    [("ext4", "wal", False), ("ext4", "delete", True), ("xfs", "wal", False), ("btrfs", "wal", False)],
)
def test_a_database_keeps_what_it_promises(crashtest, needs, fs, journal, loses):
    needs(fs)
    load = f"{PROGRAM} sqlite {journal} full 40"
    options = ("--fs", fs, "--fs-size", SIZES[fs], "--cuts", "30", "-q")
    done = crashtest(CACHED, "--run", load, "--check", f"{PROGRAM} check_sqlite", *options)
    # The unlink of a rollback journal is not synced with FULL: the last transaction may be gone.
    assert done.returncode == (3 if loses else 0), done.stdout + done.stderr
    assert "30 cuts: " in done.stdout
    assert left(os.getpid()) == []


@pytest.mark.parametrize("fs", SIZES)
def test_a_file_system_that_syncs_nothing_is_found_to_lose(crashtest, needs, fs):
    needs(fs)
    load = FILES.replace("sync $i .; ", "")
    check = 'test "${DRIVELAB_COMMITTED:-0}" = 0 || test -s "$DRIVELAB_MOUNT/$DRIVELAB_COMMITTED"'
    options = ("--fs", fs, "--fs-size", SIZES[fs], "--cuts", "10", "-q")
    done = crashtest(CACHED, "--run", load, "--check", check, *options)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "10 with loss" in done.stdout


@pytest.mark.parametrize("fs", SIZES)
def test_a_file_system_is_whole_when_the_workload_begins_and_not_cut_before(
    crashtest, needs, run, tmp_path, fs
):
    needs(fs)
    options = ("--fs", fs, "--fs-size", SIZES[fs], "--cuts", "1", "--keep", "kept", "-q")
    done = crashtest(CACHED, "--run", FILES.replace("seq 1 40", "seq 1 3"), "--check", "true", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    began = json.loads((tmp_path / "kept" / "session.json").read_text())["began_ns"]
    cut = ("crashtest", "d.toml", "--from", "kept", "--check", "true", "-q", "--at")
    done = run(*cut, f"{began}ns")
    assert done.returncode == 0, done.stdout + done.stderr
    for at in ("1ms", f"{began - 1}ns"):
        done = run(*cut, at)
        assert done.returncode == 2
        said = f"error: --at {at}: its {fs} was ready and the workload began at {began}ns; cut after that\n"
        assert said in done.stderr


def test_a_workload_that_does_nothing_on_its_file_system_is_no_pass(crashtest, mounts):
    load = "echo committed 0; nosuchtool || true; echo committed 1"
    done = crashtest(CACHED, *ON_EXT4, "--run", load, "--check", "true", "--cuts", "2", "-q")
    assert done.returncode == 2, done.stdout
    assert (
        "error: nothing was tested: the workload has written nothing to the device before it ended"
        in done.stderr
    )
    # What only the page cache has is missing, and that is a loss.
    load = 'cd "$DRIVELAB_MOUNT"; echo 1 > 1; echo committed 1; sleep 0.05'
    check = 'test -s "$DRIVELAB_MOUNT/1"'
    done = crashtest(CACHED, *ON_EXT4, "--run", load, "--check", check, "--cuts", "2", "-q")
    assert done.returncode == 3, done.stderr


@pytest.mark.parametrize("fs", ["xfs", "btrfs"])
def test_a_size_that_is_too_small_is_refused_with_the_least(crashtest, needs, fs):
    needs(fs)
    done = crashtest(CACHED, "--fs", fs, "--fs-size", "12MiB", "--run", "true", "--check", "true", "-q")
    assert done.returncode == 2
    said = f"error: --fs-size 12MiB: {fs} is not made that small here: give (\\d+)MiB or more\n"
    least = re.search(said, done.stderr)
    assert least, done.stderr
    load = FILES.replace("seq 1 40", "seq 1 3")
    options = ("--run", load, "--check", "true", "--cuts", "1", "-q")
    done = crashtest(CACHED, "--fs", fs, "--fs-size", f"{least[1]}MiB", *options)
    assert done.returncode == 0, done.stderr
    smaller = crashtest(CACHED, "--fs", fs, "--fs-size", f"{int(least[1]) - 1}MiB", *options)
    assert smaller.returncode == 2
    assert f"give {least[1]}MiB or more" in smaller.stderr


def test_a_checker_finds_the_device_as_the_cut_has_left_it_beside_the_file_system(crashtest, mounts):
    check = f"{PROGRAM} check_both {64 << 20}"
    done = crashtest(CACHED, *ON_EXT4, "--run", FILES, "--check", check, "--cuts", "4", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert left(os.getpid()) == []


def test_what_a_checker_leaves_running_goes_with_it(crashtest, mounts):
    marks = [f"60.{os.getpid()}{number}" for number in range(3)]
    left_running = "; ".join(
        [
            'cd "$DRIVELAB_MOUNT"',
            f"sleep {marks[0]} &",
            # A daemon, as databases are: in a session of its own, with a file open on the file system.
            f"setsid sh -c 'exec sleep {marks[1]} < 1' &",
            f"(cd / && exec sleep {marks[2]}) & sleep 0.1",
        ]
    ).replace("&;", "&")
    options = (*ON_EXT4, "--run", FILES, "--check", left_running, "--cuts", "6", "-q")
    done = crashtest(CACHED, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left(os.getpid()) == []
    assert [mark for mark in marks if is_running(mark)] == []


def test_a_checker_that_does_not_end_is_killed_with_all_that_it_has_started(crashtest, mounts):
    mark = f"61.{os.getpid()}"
    # It does not hear SIGTERM, and its child has the folder.
    check = f"trap '' TERM; cd \"$DRIVELAB_MOUNT\"; sleep {mark}; sleep {mark}"
    options = (*ON_EXT4, "--run", FILES, "--check", check, "--cuts", "2", "--timeout", "300ms", "-q")
    begun = time.monotonic()
    done = crashtest(CACHED, *options)
    assert done.returncode == 1, done.stderr
    assert "the checker has not ended after 0.3 s" in done.stdout
    assert time.monotonic() - begun < 30
    assert left(os.getpid()) == []
    assert not is_running(mark)


@pytest.mark.parametrize("fs", [(), ON_EXT4], ids=["device", "ext4"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_cuts_that_are_interrupted_are_told_as_far_as_they_were_judged(
    command, environment, mounts, tmp_path, number, fs
):
    mark = f"62.{os.getpid()}"
    load = FILES if fs else f"{PROGRAM} write 40 flush"
    # The first ten commits are judged at once, the others never.
    check = f'test "${{DRIVELAB_COMMITTED:-0}}" -lt 10 || {{ touch {tmp_path}/begun; sleep {mark}; }}'
    (tmp_path / "d.toml").write_text(CACHED)
    options = (*fs, "--run", load, "--check", check, "--cuts", "60", "--json")
    process = subprocess.Popen(
        [*command, "crashtest", "d.toml", *options],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    await_file(process, tmp_path / "begun")
    begun = time.monotonic()
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert time.monotonic() - begun < 20
    assert process.returncode == (130 if number == signal.SIGINT else 143)
    found = json.loads(said)
    assert found["interrupted"]
    assert 0 < found["cuts"] < found["cuts_asked"] == 60
    assert found["failures"] == found["errors"] == []
    assert not is_running(mark)
    assert left(process.pid) == []


def test_a_campaign_that_is_interrupted_does_not_read_as_a_pass(command, environment, tmp_path):
    (tmp_path / "d.toml").write_text(CACHED)
    check = f"test $DRIVELAB_COMMITTED -lt 10 || {{ touch {tmp_path}/begun; sleep 63.{os.getpid()}; }}"
    load = f"{PROGRAM} write 40 flush"
    process = subprocess.Popen(
        [*command, "crashtest", "d.toml", "--run", load, "--check", check, "--cuts", "60"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    await_file(process, tmp_path / "begun")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert re.match(
        r"interrupted after \d+ of 60 cuts: none with loss\nof these \d+ between commits; ", said
    ), said


def test_a_command_that_ctrl_c_ends_before_it_has_begun_runs_again(tmp_path):
    begun = shlex.quote(str(tmp_path / "begun"))
    first = f"[ -e {begun} ] || {{ touch {begun}; kill -INT $$; }}; echo done"
    assert filesystem.run(["sh", "-c", first], "sh") == "done\n"


def test_what_ctrl_c_of_a_terminal_breaks_off_is_no_failure(command, environment, mounts, tmp_path):
    """A terminal sends it to all processes of the group, those that mount the images too."""
    (tmp_path / "d.toml").write_text(CACHED)
    options = (
        *ON_EXT4,
        "--run",
        f"{PROGRAM} write 40 flush",
        "--check",
        f"touch {tmp_path}/begun",
        "--cuts",
        "400",
    )
    process = subprocess.Popen(
        [*command, "crashtest", "d.toml", *options],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    await_file(process, tmp_path / "begun")
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.match(r"interrupted after (none|\d+) of \d+ cuts: none with loss\n", said), said
    assert "not judged" not in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_workload_that_is_interrupted_leaves_nothing_mounted_or_running(
    command, environment, mounts, tmp_path, number
):
    mark = f"65.{os.getpid()}"
    load = (
        f"(cd / && sleep {mark}; echo) & "
        + 'cd "$DRIVELAB_MOUNT" && touch "$OLDPWD/begun" && while true; do date > a; sync; sleep 0.05; done'
    )
    options = (*ON_EXT4, "--run", load, "--check", "true", "-q")
    (tmp_path / "d.toml").write_text(CACHED)
    process = subprocess.Popen(
        [*command, "crashtest", "d.toml", *options], cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    )
    await_file(process, tmp_path / "begun")
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else 143)
    # The shell may say before that it cannot write any more.
    assert said.endswith(b"interrupted before any cut was made\n")
    assert not is_running(mark)
    assert left(process.pid) == []


@pytest.mark.parametrize("phase", ["workload", "cuts"])
def test_what_a_campaign_that_is_killed_leaves_is_removed_by_the_next(
    command, environment, mounts, process, tmp_path, phase
):
    # Temporary files of its own: other tests kill sessions too, and whichever campaign runs next sweeps up.
    with tempfile.TemporaryDirectory(prefix="drivelab-test-") as place:
        killed_and_swept(command, {**environment, "TMPDIR": place}, process, tmp_path, phase)


def killed_and_swept(command, environment, process_of, tmp_path, phase):
    place = Path(environment["TMPDIR"])
    mark, begun = f"66.{os.getpid()}", tmp_path / "begun"
    waits = f'cd "$DRIVELAB_MOUNT"; setsid sleep {mark} & sleep 0.3; touch {begun}; sleep {mark}'
    load, check = (waits, "true") if phase == "workload" else (FILES, waits)
    (tmp_path / "d.toml").write_text(CACHED)
    options = [*command, "crashtest", "d.toml", *ON_EXT4, "-q", "--keep", "kept"]
    process = subprocess.Popen(
        [*options, "--run", load, "--check", check], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL
    )
    await_file(process, begun)
    process.kill()
    process.wait(timeout=60)
    assert found_now(process.pid, place) != []
    assert is_running(mark)
    # As of a process in another container.
    foreign = place / f"drivelab-cut-{process.pid}-locked"
    foreign.mkdir()
    lock = temporary.locked(foreign)
    try:
        words = ("crashtest", "d.toml", "--run", f"{PROGRAM} write 3 flush", "--check", "true", "--cuts", "1")
        done = process_of(*words, env=environment)
        assert done.returncode == 0, done.stderr
        assert foreign.exists()
    finally:
        assert lock is not None
        os.close(lock)
        foreign.rmdir()
    assert "removed what a campaign that was killed had left (" in done.stderr
    assert left(process.pid, place) == []
    assert not is_running(mark)
    again = process_of("crashtest", "d.toml", "--from", tmp_path, "--check", "true", env=environment)
    assert "removed" not in again.stderr
