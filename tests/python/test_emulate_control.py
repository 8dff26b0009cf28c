"""Where the control socket of a device is found, what its status tells, and what the line of its start says."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import nbd_client as nbd
import pytest
from devices import CLEAN, DRIVE, RAID5

from drivelab import _core
from drivelab.errors import InputError
from drivelab.host import temporary
from drivelab.runs import control
from drivelab.runs.faults import ACTIONS, SAME, TAKES, request

SMALL = ("--drive-size", "64MiB")


@pytest.fixture
def at_port(command, environment, tmp_path) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A device at a port: its process, its address, and the line of its start."""
    (tmp_path / "d.toml").write_text(DRIVE)
    words = [*command, "emulate", "d.toml", "--tcp", "0", "--clock", "skip"]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        yield process, process.stdout.readline().strip(), process.stderr.readline().strip()
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_the_control_socket_is_found_by_whatever_path_it_has(serve, run, tmp_path):
    for name in ("steer", "steer.control", "a.control.b"):
        with serve(DRIVE, "--control", str(tmp_path / name)) as device:
            done = run("fault", tmp_path / name, "status")
            assert done.returncode == 0, done.stderr
            assert done.stdout.endswith("; the drive is sound\n")
            other = run("fault", device.socket, "status")
            assert other.returncode == 2
            assert (
                f"{device.socket}: this is the device, and its control socket is at another path"
                in other.stderr
            )
            assert device.end()["failure"] is None


def test_a_device_at_a_port_is_found_by_its_address(at_port, run):
    process, uri, said = at_port
    port = uri.rpartition(":")[2]
    own = re.search(r", at nbd://127\.0\.0\.1:\d+, control socket (/\S+)$", said)
    assert own, said
    for name in (uri, f"nbd://localhost:{port}", f"{uri}/", own[1]):
        done = run("fault", name, "status")
        assert done.returncode == 0, done.stderr
    # The folder of the socket is closed to all others.
    assert Path(own[1]).parent.stat().st_mode & 0o777 == 0o700
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not Path(own[1]).parent.exists()
    gone = run("fault", uri, "status")
    assert gone.returncode == 2
    assert f"{uri}: no device of this user is known at that port: name the control socket that" in gone.stderr


def test_the_help_of_fault_says_what_each_action_does(run):
    said = " ".join(re.sub("[^\\w\\s:.;,'$()/-]", " ", run("fault", "--help").stdout).split())
    for name, what in ACTIONS.items():
        assert f"{name}: {what}" in said


@pytest.fixture
def temporary_folder(monkeypatch, tmp_path) -> Path:
    """A folder for temporary files alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_what_killed_sessions_and_others_have_left_at_a_port_does_no_harm(temporary_folder):
    with temporary.folder("device") as own:
        control.note(own, "nbd://127.0.0.1:10809", str(own / "nbd.control"))
        for uri in ("nbd://127.0.0.1:10809", "nbd://localhost", "nbds://localhost:10809/"):
            # It is known, and nobody listens there any more.
            with pytest.raises(InputError, match=r"no device is served there: .*; name the"):
                control.act(uri, {"action": "status", "member": 0})
        for uri in ("nbd://127.0.0.1:10810", "nbd://[::1]:10809", "nbd://192.0.2.1:10809"):
            with pytest.raises(InputError, match="no device of this user is known at that port"):
                control.act(uri, {"action": "status", "member": 0})
        (own / "control.json").write_text("{")
        with pytest.raises(InputError, match="no device of this user is known at that port"):
            control.act("nbd://127.0.0.1", {"action": "status", "member": 0})


def test_a_device_at_all_addresses_is_found_at_the_machines_own(temporary_folder):
    with temporary.folder("device") as own:
        control.note(own, "nbds://0.0.0.0:10809", "/nowhere")
        for uri in ("nbds://0.0.0.0", "nbds://127.0.0.1", "nbds://localhost"):
            with pytest.raises(InputError, match="no device is served there"):
                control.act(uri, {"action": "status", "member": 0})
        # Another machine may have a device at that port too.
        with pytest.raises(InputError, match="no device of this user is known at that port"):
            control.act("nbds://192.0.2.1", {"action": "status", "member": 0})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes folders of others")
def test_a_folder_of_another_user_is_not_followed(temporary_folder):
    with temporary.folder("device") as own:
        control.note(own, "nbd://127.0.0.1:10809", "/nowhere")
        os.chown(own, 65_534, -1)
        with pytest.raises(InputError, match="no device of this user is known at that port"):
            control.act("nbd://127.0.0.1", {"action": "status", "member": 0})


def test_a_command_has_the_path_of_the_control_socket(run, command, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    fault = shlex.join([*command, "fault"])
    load = f'echo "$DRIVELAB_CONTROL"; {fault} "$DRIVELAB_CONTROL" power-cut'
    for options in ([], ["--tcp", "0"], ["--socket", "here.socket"], ["--control", "steer"]):
        done = run("emulate", "d.toml", "--clock", "skip", *options, "--run", load)
        assert done.returncode == 0, done.stderr
        path, said = done.stdout.splitlines()
        assert path.startswith("/")
        assert said.startswith("0 answered sectors lost")


def test_an_address_is_absolute(run, serve, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    load = 'echo "$uri"; echo "$unixsocket"; echo "$DRIVELAB_CONTROL"'
    done = run("emulate", "d.toml", "--clock", "skip", "--socket", "here.socket", "--run", load)
    socket = tmp_path / "here.socket"
    assert done.stdout.splitlines() == [f"nbd+unix:///?socket={socket}", str(socket), f"{socket}.control"]
    assert f", at nbd+unix:///?socket={socket}\n" in done.stderr


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        (DRIVE, "74.4 GB, write cache on, clock skip"),
        (DRIVE.replace("write_cache = true", CLEAN), "74.4 GB, write cache off, clock skip"),
        (RAID5, "223.1 GB, write caches of the members on, clock skip"),
        (
            RAID5.replace("members = 4", 'members = 4, kept_by = "controller"')
            + 'controller = { cache = { size = "64MiB", battery = true } }\n',
            "223.1 GB, write caches of the members on, controller cache write-back with battery, clock skip",
        ),
    ],
    ids=["on", "off", "array", "controller"],
)
def test_the_line_of_the_start_says_which_caches_hold_writes(run, tmp_path, scenario, said):
    (tmp_path / "d.toml").write_text(scenario)
    done = run("emulate", "d.toml", "--clock", "skip", "--run", "true")
    assert f"serving d, {said}, at nbd+unix://" in done.stderr


def test_without_the_model_no_cache_is_told(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    done = run("emulate", "d.toml", "--clock", "untimed", "--run", "true")
    assert "serving d, 74.4 GB, clock untimed, at nbd+unix://" in done.stderr


def test_a_drive_is_as_small_as_asked_and_fits_an_image(serve, run, tmp_path):
    image = tmp_path / "disk.img"
    image.write_bytes(b"old!" * (1 << 24))
    with serve(DRIVE, *SMALL, "--image", str(image), "--write-image") as device:
        client = device.client()
        assert client.size == 64 << 20
        assert client.read((64 << 20) - 4096, 4096) == b"old!" * 1024
        record = device.end()
    assert "serving device, 67.1 MB, write cache on" in device.said
    assert record["size_bytes"] == 64 << 20
    # The record holds the size, so that the device can be had again.
    again = run("emulate", "record.json", "--clock", "skip", "--run", "true", "--json")
    assert json.loads(again.stdout)["size_bytes"] == 64 << 20
    # Of an array each member is as small.
    with serve(RAID5, *SMALL) as device:
        size = device.client().size
    assert 180 << 20 < size <= 192 << 20


@pytest.mark.parametrize("name", ["seagate-exos-x24-24tb", "wd-4tb-7200"])
def test_the_outer_zones_of_a_small_drive_are_those_of_the_whole(run, name):
    """What lies within the size takes as long as on the whole drive."""
    words = ["simulate", "--drive", name, "--rw", "read", "--bs", "1m", "--number-ios", "60", "--json"]
    small = run(*words, "--set", "target.drive.geometry.accessible=64MiB")
    assert small.returncode == 0, small.stderr
    whole = run(*words, "--size", "64MiB")
    iops = [json.loads(one.stdout)["points"][0]["iops"] for one in (small, whole)]
    assert iops[0] == pytest.approx(iops[1], rel=1e-6)


@pytest.mark.parametrize("named", ["", ".", "/", "nbd+unix:///?socket="])
def test_what_is_no_path_of_a_socket_is_refused(named):
    with pytest.raises(InputError, match=r"no path of a socket|names no socket"):
        control.act(named, {"action": "status"})


@pytest.mark.parametrize("answer", [b"hello\n", b"[]\n", b"\xff\xfe\n", b'{"ok": true}\n'])
def test_a_socket_of_another_program_is_no_defect(answer, tmp_path):
    path = tmp_path / "x.control"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.recv(1 << 16)
                client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(InputError, match="is no device of drivelab"):
            control.act(str(path), {"action": "status"})
        thread.join()


def test_a_slow_drive_flushes(serve):
    with serve(DRIVE, *SMALL) as device:
        device.fault("slow", "--factor", "10")
        client = device.client()
        client.write(0, b"x" * 4096)
        assert client.ask(nbd.FLUSH).errno == 0
        assert device.end()["failure"] is None


def test_a_status_has_the_figures_of_the_session(serve):
    with serve(RAID5, *SMALL) as device:
        client = device.client()
        client.write(0, b"x" * 65_536)
        for place in range(3):
            client.read(place << 16, 4096)
        answer = control.ask(str(device.socket), {"action": "status", "member": 0})
        record = device.end()
    figures = answer.figures
    assert figures is not None
    assert "the array is healthy" in answer.told
    assert (figures["name"], figures["clock"], figures["under_way"]) == ("device", "skip", 0)
    for kind in ("reads", "writes", "flushes"):
        assert figures[kind] == record[kind]
    assert figures["reads"] == {"commands": 3, "bytes": 3 * 4096, "errors": 0}
    for name, count in (("latency_ns", 4), ("lateness_ns", record["lateness_ns"]["n"])):
        times = figures[name]
        assert times["n"] == count
        assert times["max"] <= times["sum"] <= times["n"] * times["max"]
    # What the drives took is told by the model's clock, and reads of cold sectors take a turn.
    assert figures["latency_ns"]["max"] > 1_000_000
    assert figures["size_bytes"] == record["size_bytes"]


DETAILS = {
    "lba": 1, "sectors": 8, "for": "1s", "by": "10ms", "factor": 2, "over": "5s", "share": "1%", "every": "9s",
    "during_write": True,
}  # fmt: skip


@pytest.mark.parametrize("action", sorted(TAKES))
def test_an_action_takes_its_details_and_no_others(action):
    def problem(*names: str) -> str | None:
        wish = request(action, int("member" in names), {name: DETAILS.get(name) for name in names})
        return _core.action_problem(json.dumps(wish))

    needed = {"media": ("lba", "sectors"), "corrupt": ("lba", "sectors"), "slow": ("by",)}.get(action, ())
    together = {"every": ("for",), "for": ("every",) if action == "slow" else ()}
    for name in ("member", *DETAILS):
        others = [other for other in needed if (name, other) != ("factor", "by")]
        wrong = problem(name, *others, *together.get(name, ()))
        assert (wrong is None) == (name in TAKES[action]), (name, wrong)


def test_every_action_of_the_device_is_known():
    listed = _core.action_problem('{"action": "none", "member": 0}')
    assert listed is not None
    names = set(listed.partition("there are ")[2].split(", "))
    assert names == {*TAKES, "status"} == set(ACTIONS) - set(SAME)
