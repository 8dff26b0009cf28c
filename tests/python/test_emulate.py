"""`drivelab emulate` through a client of our own: what is served, in what order, and how a session ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import nbd_client as nbd
import pytest
from devices import CLEAN, DRIVE, RAID5, Device, served
from hypothesis import given
from hypothesis import strategies as st
from messages import held, told
from nbd_client import Client, dice_of
from processes import await_file, is_running

from drivelab.report.emulation_summary import lines


def test_a_device_is_what_it_says_and_keeps_what_it_is_given(serve):
    with serve() as device:
        client = device.client()
        assert client.size == 74_355_769_344 // 4096 * 4096 or client.size % 512 == 0
        # Flags, flush, FUA, rotational, trim, zeroes, DF, several connections, cache.
        assert client.flags == 0b101_1111_1101
        assert client.block_sizes == (512, 4096, 32 << 20)
        data = dice_of(1).randbytes(1 << 20)
        client.write(512, data)
        client.write(1 << 30, data[:4096], nbd.FUA)
        assert client.read(512, 1 << 20) == data
        assert client.read(1 << 30, 8192) == data[:4096] + bytes(4096)
        assert client.ask(nbd.FLUSH).errno == 0
        assert client.ask(nbd.CACHE, 512, 4096).errno == 0
        # A hint that changes nothing.
        assert client.ask(nbd.TRIM, 512, 4096).errno == 0
        assert client.read(512, 4096) == data[:4096]
        assert client.ask(nbd.ZERO, 512, 4096).errno == 0
        assert client.read(512, 8192) == bytes(4096) + data[4096:8192]
        # Another connection sees the same.
        assert device.client().read(4608, 4096) == data[4096:8192]
        record = device.end()
    assert (record["writes"]["commands"], record["trims"]["commands"], record["failure"]) == (3, 1, None)
    assert record["connections"] == 2


def test_what_is_allocated_is_told(serve):
    with serve() as device:
        client = device.client()
        client.write(1 << 20, bytes([1]) * 65_536)
        extents = client.ask(nbd.STATUS, 0, 1 << 22).extents
        assert extents == [(1 << 20, 3), (65_536, 0), ((1 << 22) - (1 << 20) - 65_536, 3)]
        assert client.ask(nbd.STATUS, 0, 1 << 22, nbd.ONE).extents == [(1 << 20, 3)]
        # What waits in the cache is there too.
        client.write(1 << 21, bytes([1]) * 512)
        assert client.ask(nbd.STATUS, 1 << 21, 512).extents == [(512, 0)]


def test_answers_come_in_the_order_of_the_model(serve):
    scenario = DRIVE + '[target.queue]\nprotocol = "ata-tcq"\norder = "sptf"\n'
    with serve(scenario, clock="real") as device:
        client = device.client()
        dice = dice_of(2)
        sent = [client.send(nbd.READ, dice.randrange(client.size // 4096) * 4096, 4096) for _ in range(32)]
        heard = [client.hear().cookie for _ in sent]
        assert sorted(heard) == sent
        assert heard != sent


def test_what_is_wrong_with_a_request_is_told_and_the_next_one_is_served(serve):
    with serve() as device:
        client = device.client()
        assert client.ask(nbd.READ, client.size, 512).errno == nbd.EINVAL
        assert client.ask(nbd.READ, 1, 512).errno == nbd.EINVAL
        assert client.ask(nbd.WRITE, client.size, data=bytes(512)).errno == nbd.ENOSPC
        assert client.ask(99, 0, 512).errno == nbd.EINVAL
        assert client.read(0, 512) == bytes(512)


def test_a_client_that_talks_nonsense_loses_its_connection_and_nobody_else_does(serve):
    with serve() as device:
        good = device.client()
        good.write(0, b"a" * 512)
        bad = device.client()
        bad.socket.sendall(b"nonsense" * 8)
        assert bad.is_closed()
        import socket as sockets

        with sockets.socket(sockets.AF_UNIX) as worse:
            worse.connect(str(device.socket))
            worse.settimeout(30)
            worse.sendall(bytes([0xFF]) * 100)
            while worse.recv(1 << 16):
                pass
        assert good.read(0, 512) == b"a" * 512
        assert device.client().read(0, 512) == b"a" * 512
        record = device.end()
    assert record["malformed"] == 2


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_noise_does_no_harm(noisy_device, pieces):
    """One device for all examples: whatever comes, the next client is served."""
    import socket as sockets

    with sockets.socket(sockets.AF_UNIX) as client:
        client.connect(str(noisy_device.socket))
        for piece in pieces:
            try:
                client.sendall(piece)
            except OSError:
                break
    with Client(noisy_device.socket) as next_one:
        assert next_one.read(0, 512) == bytes(512)


@pytest.fixture(scope="module")
def noisy_device(tmp_path_factory):
    import sys

    folder = tmp_path_factory.mktemp("noise")
    with served([sys.executable, "-m", "drivelab"], dict(os.environ), folder, DRIVE) as device:
        yield device


@pytest.mark.parametrize("block_size", [512, 4096])
def test_blocks_are_as_large_as_asked(serve, block_size):
    with serve(DRIVE, "--block-size", str(block_size)) as device:
        client = device.client()
        assert client.block_sizes[0] == block_size
        assert client.size % block_size == 0
        assert client.ask(nbd.READ, 512, 512).errno == (0 if block_size == 512 else nbd.EINVAL)


def test_a_port_is_as_good_as_a_socket(command, environment, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    words = ["emulate", "d.toml", "--tcp", "0", "--clock", "skip"]
    with subprocess.Popen(
        [*command, *words], cwd=tmp_path, env=environment, encoding="utf-8", stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        uri = process.stdout.readline().strip()
        assert uri.startswith("nbd://127.0.0.1:")
        with Client(int(uri.rpartition(":")[2])) as client:
            client.write(0, b"x" * 4096)
            assert client.read(0, 4096) == b"x" * 4096
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_session_with_its_record_and_without_its_socket(serve, number, code):
    with serve(DRIVE, clock="real") as device:
        device.client().write(0, b"x" * 4096)
        assert device.socket.exists()
        record = device.end(number)
    assert device.code == code, device.said
    assert record["writes"]["commands"] == 1
    assert record["unsaved_sectors"] == 0
    assert not device.socket.exists()
    assert not device.socket.with_name("nbd.socket.control").exists()
    assert "Traceback" not in device.said


def test_a_command_runs_as_long_as_the_device_and_its_status_is_ours(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    done = run("emulate", "d.toml", "--run", 'echo "$uri" $exportname; test -S "$unixsocket"')
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("nbd+unix:///?socket=/")
    socket = done.stdout.strip().partition("socket=")[2]
    assert not Path(socket).exists()
    assert run("emulate", "d.toml", "--run", "exit 7").returncode == 7
    assert run("emulate", "d.toml", "--run", "kill -9 $$").returncode == 137
    # Of a session as JSON only the record is on stdout.
    found = run("emulate", "d.toml", "--run", "echo in between", "--json")
    assert json.loads(found.stdout)["kind"] == "emulate"
    assert "in between" in found.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_command_ends_with_the_device_and_all_that_it_has_started(command, environment, tmp_path, number):
    marks = [f"64.{os.getpid()}{one}" for one in range(4)]
    (tmp_path / "d.toml").write_text(DRIVE)
    # A shell that waits, one of its children that is stopped, a daemon in a session of its own without a parent, and
    # one whose environment is its own.
    load = (
        f"(setsid sleep {marks[0]} &) ; env -i sleep {marks[1]} & sleep {marks[2]} & sleep 0.2; kill -STOP $!; "
        f"touch {tmp_path}/begun; sleep {marks[3]}; echo"
    )
    process = subprocess.Popen(
        [*command, "emulate", "d.toml", "--run", load], cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    )
    await_file(process, tmp_path / "begun")
    assert [is_running(mark) for mark in marks[:3]] == [True] * 3
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else 143)
    assert [mark for mark in marks if is_running(mark)] == []


def test_what_a_command_that_has_ended_leaves_running_is_left_alone(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    done = run("emulate", "d.toml", "--run", "sleep 9 > /dev/null 2>&1 & echo $! > pid")
    assert done.returncode == 0
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_time_passes_as_on_the_drive_and_lateness_is_told(serve):
    with serve(DRIVE, clock="real") as device:
        client = device.client()
        dice = dice_of(3)
        began = time.monotonic()
        for _ in range(20):
            client.read(dice.randrange(client.size // 4096) * 4096, 4096)
        took = time.monotonic() - began
        record = device.end()
    # 10 000 rpm: about 8 ms each, of which 3 are half a turn.
    assert 0.05 < took / 20 * 10 < 0.4, took
    assert record["lateness_ns"]["n"] == 20
    assert not record["is_over_budget"]


def test_a_session_that_is_later_than_its_budget_is_flagged(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    client = (
        "import os, sys; sys.path.insert(0, os.environ['HERE'])\n"
        "from nbd_client import Client; from pathlib import Path\n"
        "c = Client(Path(os.environ['unixsocket']))\nfor n in range(1200): c.read(n * 4096, 4096)"
    )
    (tmp_path / "client.py").write_text(client)
    here = Path(__file__).parent
    import sys

    words = [
        "emulate",
        "d.toml",
        "--clock",
        "skip",
        "--json",
        "--run",
        f"HERE={here} {sys.executable} client.py",
    ]
    late = run(*words, "--lateness-budget", "1ns")
    assert late.returncode == 0, late.stderr
    assert json.loads(late.stdout)["is_over_budget"]
    assert "warning: more than 1 in 100 answers were later than the budget" in late.stderr


def _head(image: Path, count: int) -> bytes:
    with image.open("rb") as file:
        return file.read(count)


def test_a_folder_keeps_the_bytes_of_each_member(serve, tmp_path):
    store = ["--store", str(tmp_path / "images")]
    data = dice_of(4).randbytes(1 << 20)
    with serve(RAID5, *store) as device:
        device.client().write(0, data)
        device.end()
    images = sorted((tmp_path / "images").glob("member-*.img"))
    assert len(images) == 4
    assert json.loads((tmp_path / "images" / "state.json").read_text())["clean"] is True
    # Parity is the sum of the others: of each stripe unit one member has it.
    heads = [_head(image, 1 << 18) for image in images]
    total = 0
    for head in heads:
        total ^= int.from_bytes(head, "big")
    assert total == 0
    assert any(heads)
    with serve(RAID5, *store) as device:
        client = device.client()
        assert client.read(0, 1 << 20) == data
        assert _fault(device, "fail", "--member", "1") == 0
        assert client.read(0, 1 << 20) == data
        device.end()
    assert json.loads((tmp_path / "images" / "state.json").read_text())["missing"] == [1]
    with serve(RAID5, *store) as device:
        assert device.client().read(0, 1 << 20) == data


def test_what_a_rebuild_could_not_read_and_what_too_few_members_have_is_told_at_the_end(serve):
    scenario = RAID5.replace("wd-wd740gd-00fla0", "wd-4tb-7200")
    with serve(scenario, "--drive-size", "16MiB") as device:
        client = device.client()
        client.write(0, b"x" * (1 << 20))
        client.ask(nbd.FLUSH)
        assert _fault(device, "media", "--member", "0", "--lba", "8", "--sectors", "4") == 0
        assert _fault(device, "fail", "--member", "1") == 0
        assert _fault(device, "replace", "--member", "1") == 0
        deadline = time.monotonic() + 60
        while "; the array is healthy" not in (said := device.fault("status").stdout):
            assert time.monotonic() < deadline, said
        assert re.search(r"; (\d+) sectors of the array cannot be read until they are written", said), said
        for member in "23":
            assert _fault(device, "fail", "--member", member) == 0
        record = device.end()
    assert device.code == 143, device.said
    causes = {lost["cause"] for damage in record["damage"] for lost in damage["lost"]}
    assert causes == {"unreadable", "missing_members"}
    assert "a rebuild could not read what they, or others of their row, need" in device.said
    assert "too few members are left" in device.said


def test_after_a_crash_of_ours_an_array_is_made_consistent(serve, tmp_path):
    store = ["--store", str(tmp_path / "images")]
    scenario = RAID5.replace("write_cache = true", CLEAN)
    with serve(scenario, *store) as device:
        client = device.client()
        for place in range(40):
            client.write(place * 65_536, bytes([place + 1]) * 4096)
        for place in range(40):
            client.send(nbd.WRITE, place * 65_536, data=bytes([place + 100]) * 4096)
        device.end(signal.SIGKILL)
    assert json.loads((tmp_path / "images" / "state.json").read_text())["clean"] is False
    with serve(scenario, *store) as device:
        client = device.client()
        whole = [client.read(place * 65_536, 4096) for place in range(40)]
        assert all(
            data in (bytes([place + 1]) * 4096, bytes([place + 100]) * 4096) or len(set(data)) == 2
            for place, data in enumerate(whole)
        )
        assert _fault(device, "fail", "--member", "2") == 0
        assert [client.read(place * 65_536, 4096) for place in range(40)] == whole


def test_an_image_stays_as_it_is_unless_it_is_to_be_written(serve, tmp_path):
    image = tmp_path / "disk.img"
    image.write_bytes(b"old!" * 1024)
    sized = (DRIVE, "--drive-size", "64MiB")
    with image.open("r+b") as file:
        file.truncate(64 << 20)
    with serve(*sized, "--image", str(image)) as device:
        client = device.client()
        assert client.read(0, 4096) == b"old!" * 1024
        client.write(0, b"new!" * 1024)
        assert client.read(0, 4096) == b"new!" * 1024
        assert client.size == 64 << 20
        device.end()
    assert _head(image, 4096) == b"old!" * 1024
    with serve(*sized, "--image", str(image), "--write-image") as device:
        device.client().write(0, b"new!" * 1024)
        device.end()
    assert _head(image, 4096) == b"new!" * 1024


def test_a_full_disk_ends_the_session_and_loses_nothing_that_was_answered(serve, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a full disk: nothing can be mounted here")
    try:
        with serve(DRIVE, "--store", str(small / "images")) as device:
            client, answered = device.client(), 0
            while answered < 64:
                try:
                    client.write(answered << 20, bytes([answered + 1]) * (1 << 20))
                except (ConnectionError, OSError):
                    break
                answered += 1
            assert device.process.wait(60) == 1
            record = device.end()
        assert 16 <= answered < 40
        assert (
            "error: the session has ended: cannot write member-0.img: no space left on device" in device.said
        )
        assert record["failure"]
        assert record["unsaved_sectors"] == 0, device.said
        assert not device.socket.exists()
        held = (small / "images" / "member-0.img").open("rb")
        for place in range(answered):
            held.seek(place << 20)
            assert held.read(1 << 20) == bytes([place + 1]) * (1 << 20), place
        held.close()
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_session_is_kept_as_a_trace(serve, run, tmp_path):
    with serve(DRIVE, "--capture", str(tmp_path / "session.dlt")) as device:
        client = device.client()
        for place in range(10):
            client.write(place << 20, b"x" * 4096, nbd.FUA)
        client.read(0, 4096)
        client.ask(nbd.TRIM, 0, 4096)
        assert _fault(device, "reset") == 0
        record = device.end()
    assert record["captured_requests"] == 12
    told = json.loads(run("trace", "info", "session.dlt", "--json").stdout)
    assert told["requests"] == 12
    assert run("trace", "head", "session.dlt", "--json").returncode == 0


def test_what_a_client_brings_itself_is_left_out_with_a_note(serve):
    with serve(DRIVE + 'elevator = "deadline"\n') as device:
        device.end()
    assert "note: target.elevator is left out: a client brings that itself" in device.said


def _fault(device: Device, *words: str) -> int:
    """What it says is what the device has said."""
    done = device.fault(*words)
    device.said += done.stdout
    return done.returncode


def test_a_sector_that_cannot_be_read_fails_exactly_its_request(serve):
    with serve() as device:
        client = device.client()
        client.write(0, b"a" * 65_536)
        client.ask(nbd.FLUSH)
        assert _fault(device, "media", "--lba", "16", "--sectors", "1") == 0
        assert client.read(0, 8192) == b"a" * 8192
        answer = client.ask(nbd.READ, 8192, 512)
        assert (answer.errno, answer.why) == (nbd.EIO, "a sector could not be read")
        assert client.read(8704, 4096) == b"a" * 4096
        client.write(8192, b"b" * 512)
        client.ask(nbd.FLUSH)
        assert client.read(8192, 512) == b"b" * 512


def test_a_corrupted_sector_is_read_without_an_error_until_it_is_written(serve):
    with serve() as device:
        client = device.client()
        client.write(0, b"a" * 65_536)
        client.ask(nbd.FLUSH)
        assert _fault(device, "corrupt", "--lba", "16", "--sectors", "2") == 0
        # What the drive's cache has of them is sound: other sectors take its place first.
        assert client.read(0, 65_536) == b"a" * 65_536
        for place in range(1, 65):
            client.read(place << 24, 1 << 20)
        found = client.read(0, 65_536)
        assert found[:8192] == b"a" * 8192
        assert found[9216:] == b"a" * (65_536 - 9216)
        assert found[8192:8704] != b"a" * 512 != found[8704:9216]
        client.write(8192, b"b" * 1024, nbd.FUA)
        assert client.read(8192, 1024) == b"b" * 1024


def test_a_slow_drive_answers_later_and_a_hung_one_when_it_is_over(serve):
    with serve() as device:
        client = device.client()
        assert _fault(device, "slow", "--by", "2s", "--for", "1h") == 0
        client.read(0, 4096)
        assert _fault(device, "slow", "--by", "0s") == 0
        client.read(1 << 20, 4096)
        assert _fault(device, "hang", "--for", "30s") == 0
        client.read(2 << 20, 4096)
        record = device.end()
    assert [action["action"] for action in record["actions"]] == ["slow", "slow", "hang"]
    # The clock skips what the model waits for.
    assert 32e9 < record["model_ns"] < 40e9
    assert record["real_ns"] < 20e9


def test_a_drive_is_slow_in_bursts(serve):
    with serve() as device:
        client = device.client()
        assert _fault(device, "slow", "--by", "500ms", "--for", "1s", "--every", "1500ms") == 0
        # Three milliseconds each, and two of them in each burst: 3 s with one burst alone.
        for place in range(600):
            client.read((place * 7919 % 4096) << 20, 4096)
        record = device.end()
    assert [action["action"] for action in record["actions"]] == ["slow"]
    assert 4.5e9 < record["model_ns"] < 9e9


def test_what_a_killed_session_has_left_is_removed_by_the_next(command, environment, run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    mark, begun = f"67.{os.getpid()}", tmp_path / "begun"
    waits = f"setsid sleep {mark} & echo $DRIVELAB_URI > {begun}; sleep {mark}"
    process = subprocess.Popen(
        [*command, "emulate", "d.toml", "--quiet", "--run", waits], cwd=tmp_path, env=environment
    )
    await_file(process, begun)
    while not begun.read_text().endswith("\n"):
        time.sleep(0.01)
    process.kill()
    process.wait(timeout=60)
    folder = Path(begun.read_text().strip().partition("=")[2]).parent
    assert folder.is_dir()
    assert is_running(mark)
    assert run("emulate", "d.toml", "--run", "true").returncode == 0
    assert not folder.exists()
    assert not is_running(mark)


def test_what_a_scenario_puts_down_happens_at_its_time(serve):
    faults = """
        [target.faults]
        media = [{ at = "1ms", offset = "4KiB", size = "4KiB" }]
        corrupt = [{ drive = 2, at = "1ms", size = "32MiB" }]
        fail = [{ drive = 1, at = "2s" }]
        hang = [{ drive = 3, at = "3s", lasts = "30s" }]
        slow = [{ drive = 1, at = "4s", by = "1s" }, { at = "1h", by = "1s", every = "10s", lasts = "1s" }]
    """
    with serve(RAID5.replace("4 }", '4, stripe_unit = "64KiB" }') + faults, clock="x1000") as device:
        # 50 s of the model, or more: all of it is over but the bursts.
        time.sleep(0.05)
        client = device.client()
        # Nothing is left of the first without the drive that has failed; the third lies on drive 2.
        unreadable, sound, changed = (client.ask(nbd.READ, at, 4096) for at in (4096, 8192, 2 << 16))
        record = device.end()
    assert unreadable.errno == 5
    assert (sound.errno, sound.data) == (0, bytes(4096))
    assert changed.errno == 0
    assert changed.data != bytes(4096)
    whats = [event["what"] for event in record["events"]]
    assert whats[0] == "a member has failed"
    assert "faults.slow was not done: drive 1 has failed before" in whats
    later = {
        "at_ns": 3_600 * 10**9,
        "what": "faults.slow was not done: the session was over before",
        "member": 0,
    }
    assert later in record["events"]
    assert all(action["scenario"] for action in record["actions"])
    done = [(action["action"], action["member"], action["at_ns"]) for action in record["actions"]]
    assert done == [("media", 0, 10**6), ("corrupt", 2, 10**6), ("hang", 3, 3 * 10**9)]


def test_a_power_cut_takes_what_was_only_answered_and_lists_it(serve):
    with serve() as device:
        client = device.client()
        client.write(0, b"a" * 4096)
        client.ask(nbd.FLUSH)
        client.write(0, b"b" * 4096)
        assert _fault(device, "power-cut") == 0
        assert client.is_closed()
        found = device.client().read(0, 4096)
        record = device.end()
    (cut,) = record["power_cuts"]
    lost = cut["lost_sectors"]
    assert found == b"b" * (4096 - 512 * lost) + b"a" * (512 * lost) or lost == 8
    assert found.count(b"a") == 512 * lost
    assert f"{lost} answered sectors lost" in device.said
    assert cut["back_at_ns"] is not None


def test_a_drive_that_fails_and_is_replaced(serve):
    with serve(RAID5) as device:
        client = device.client()
        client.write(0, b"a" * 65_536)
        assert _fault(device, "dead", "--member", "3", "--for", "1h") == 0
        assert client.read(0, 65_536) == b"a" * 65_536
        assert _fault(device, "fail", "--member", "3") == 2
        assert "drive 3 has failed before" in device.said
        assert _fault(device, "fail", "--member", "9") == 2
        assert "there is no drive 9: the target has 4, counted from 0" in device.said
        record = device.end()
    assert record["events"][0]["what"] == "a member has failed"
    assert record["actions"][0]["action"] == "fail"


def test_the_status_tells_what_is_wrong_with_an_array(serve):
    with serve(RAID5) as device:
        assert _fault(device, "status") == 0
        assert device.said.endswith("requests under way; the array is healthy\n")
        assert _fault(device, "scrub") == 0
        assert _fault(device, "status") == 0
        assert "; the array is being scrubbed, 0." in device.said
        assert _fault(device, "scrub") == 2
        assert "a scrub is under way: the next one can begin when it has ended" in device.said
        assert _fault(device, "fail", "--member", "1") == 0
        assert _fault(device, "status") == 0
        assert re.search(
            r"; the array is degraded; the array is being scrubbed, 0\.\d % done(, about \S+ \w+ left)?; "
            r"member 1 is missing\n",
            device.said,
        )
        assert _fault(device, "replace", "--member", "1") == 0
        assert _fault(device, "status") == 0
        assert "; the array is rebuilding, 0." in device.said
        assert _fault(device, "fail", "--member", "2") == 0
        assert _fault(device, "status") == 0
        assert "; the array has lost data; member 2 is missing" in device.said
        assert _fault(device, "scrub") == 2
        assert "the array has lost data: it has stopped, and is not scrubbed" in device.said
        assert _fault(device, "rebuild") == 2
        assert "the array has lost data: it has stopped, and nothing is rebuilt" in device.said
        record = device.end()
    lost = "the array has lost data: more of it is gone or unreadable than it survives"
    assert [event["what"] for event in record["events"]].count(lost) == 1


def test_the_status_tells_which_drives_hang_and_what_cannot_be_read(serve):
    with serve(RAID5) as device:
        assert _fault(device, "media", "--member", "2", "--lba", "64", "--sectors", "8") == 0
        assert _fault(device, "hang", "--member", "1", "--for", "1h") == 0
        assert _fault(device, "hang", "--member", "1", "--for", "5s") == 0
        assert re.search(r"\nno change: member 1 already hangs for another 3\d{3}(\.\d+)?s\n", device.said)
        assert _fault(device, "hang", "--member", "3") == 0
        assert _fault(device, "hang", "--member", "3", "--for", "5s") == 0
        assert device.said.endswith("\nno change: member 3 already hangs for good\n")
        assert _fault(device, "status") == 0
        assert re.search(
            r"; member 1 hangs for another 3\d{3}(\.\d+)?s; member 2 has 8 unreadable sectors; member 3 hangs\n",
            device.said,
        )
        assert _fault(device, "fail", "--member", "3") == 0
        assert _fault(device, "status") == 0
        assert "member 3 is missing" in device.said
        assert "member 3 hangs" not in device.said.splitlines()[-1]
        device.end()


def test_a_hang_without_an_end_is_not_skipped(serve):
    with serve(DRIVE, clock="skip") as device:
        assert _fault(device, "hang") == 0
        client = device.client()
        client.send(nbd.READ, 0, 4096)
        time.sleep(0.3)
        assert _fault(device, "status") == 0
        assert "; the drive hangs\n" in device.said
        device.end()


def test_a_workload_is_not_run_and_that_is_said(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE + '[workload]\nrw = "randread"\nbs = "4KiB"\n')
    done = run("emulate", "d.toml", "--clock", "skip", "--run", "true")
    assert done.returncode == 0, done.stderr
    assert "note: [workload] is left out: a client brings that itself" in done.stderr


def test_the_clock_x1_is_the_machines_time(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    done = run("emulate", "d.toml", "--clock", "x1", "--run", "true", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["clock"] == "real"


def test_a_drive_without_a_write_cache_has_nothing_to_lie_about(serve):
    with serve(DRIVE.replace("write_cache = true", "write_cache = false")) as device:
        assert _fault(device, "lie") == 2
        assert "drive 0 keeps no writes in its cache, and has nothing to lie about" in device.said
        device.end()


def test_a_command_finds_the_program_whatever_the_path(run, tmp_path, monkeypatch):
    (tmp_path / "d.toml").write_text(DRIVE)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = run("emulate", "d.toml", "--clock", "skip", "--run", 'drivelab --version && test -n "$uri"')
    assert done.returncode == 0, done.stderr


def test_keys_of_what_a_fault_begins_have_an_effect_on_a_served_array(serve, run, tmp_path):
    paced = (
        DRIVE
        + '[target.array]\nlevel = "raid5"\nmembers = 4\nspares = 1\nreplaced_after = "3s"\nscrub_at = "9h"\n'
    )
    paced += 'rebuild = { ceiling = "9MB/s" }\n'
    with serve(paced, "--capture", str(tmp_path / "session.trace")) as device:
        client = device.client()
        client.write(0, b"a" * 65_536)
        assert _fault(device, "fail", "--member", "2") == 0
        assert client.read(0, 65_536) == b"a" * 65_536
        assert _fault(device, "status") == 0
        record = device.end()
    assert record["events"][0]["what"] == "a member has failed"
    # A run has an end and no faults but its own; one that replays the session has its faults.
    (tmp_path / "a.toml").write_text(paced)
    alone = run("simulate", "a.toml", "--rw", "randread", "--runtime", "10s")
    assert alone.returncode == 2
    assert "`spares` has no effect where no drive fails" in alone.stderr
    (tmp_path / "a.toml").write_text(paced.replace('scrub_at = "9h"\n', ""))
    again = run("simulate", "a.toml", "--trace", "session.trace", "--json")
    assert again.returncode == 0, again.stderr


WRONG = """
fault absent fail
fault x explode
fault x lie --for 2
fault x slow --by much
fault x slow --every 5
fault x slow --share 0%
fault x media --lba one
fault nbd://127.0.0.1:1 fail
fault nbd://127.0.0.1:port fail
emulate absent.toml
emulate d.toml --clock fast
emulate d.toml --block-size 1024
emulate d.toml --socket a --tcp 1
emulate d.toml --tcp port
emulate d.toml --tcp 70000
emulate d.toml --tcp 192.0.2.1:10809
emulate d.toml --tcp disk.example:10809
emulate d.toml --tls-certificates d
emulate d.toml --tcp 0 --tls-certificates absent
emulate d.toml --mount absent
emulate d.toml --write-image
emulate d.toml --store x --image y
emulate d.toml --store d.toml
emulate d.toml --clock untimed --store x
emulate d.toml --lateness-budget soon
emulate d.toml --set target.queue.depth=[1,2]
emulate d.toml --set target.write_cash=true
emulate d.toml --set target={null={}}
emulate d.toml --image absent.img --run true
emulate d.toml --socket no/such/folder --run true
emulate d.toml --capture no/such/folder --run true
emulate pool.toml --store x --run true
emulate corrupt.toml
emulate d.toml --clock untimed --set 'target.faults.hang=[{lasts="1s"}]' --run true
crashtest d.toml --run true --check true --set 'target.faults.corrupt=[{at="1s"}]'
crashtest d.toml --run true --check true --set target.faults.power_cut=1s
loop d.toml --number-ios 5
loop d.toml --lateness-budget soon
loop d.toml --set run={ios=5}
emulate d.toml --run ''
emulate d.toml --mount .
emulate d.toml --image . --run true
emulate d.toml --image small.img --write-image --run true
emulate d.toml --drive-size much --run true
emulate d.toml --drive-size 0B --run true
emulate d.toml --drive-size 99TB --run true
emulate d.toml --drive-size 1GB --set target.drive.geometry.accessible=1GB --run true
emulate station.toml --drive-size 1GB --run true
loop d.toml --rw randread --bs 4k --runtime 1s --set target.faults.power_cut=500ms
loop d.toml --set 'workload.commands=[{rw="read"}]'
emulate d.toml --set 'target.faults.media=[{offset="0"}]'
emulate d.toml --set 'target.faults.slow=[{by="1s",over="1s",share="1%"}]'
emulate d.toml --set 'target.faults.slow=[{by=["1s","2s"]}]'
"""


def test_what_cannot_be_is_told_with_a_remedy(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    (tmp_path / "pool.toml").write_text(RAID5.replace("raid5", "raidz1").replace("write_cache = true", ""))
    (tmp_path / "station.toml").write_text("[target]\nnull = {}\n")
    (tmp_path / "small.img").write_bytes(bytes(1 << 20))
    (tmp_path / "corrupt.toml").write_text(DRIVE + 'faults.corrupt = [{ size = "33MiB" }]\n')
    held(
        "emulate-messages.txt",
        told(run, [shlex.split(words) for words in WRONG.strip().splitlines()], tmp_path),
    )


def test_our_own_host_gets_from_the_device_what_simulations_say(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    words = ["--rw", "randread", "--bs", "4k", "--iodepth", "1,16", "--ramp-time", "200ms", "--runtime", "3s"]
    done = run("loop", "d.toml", *words, "--json")
    points = json.loads(done.stdout)["points"]
    assert [point["axes"] for point in points] == [{"workload.iodepth": depth} for depth in (1, 16)]
    for point in points:
        # A busy machine is late; a wrong model is far off.
        assert abs(point["difference_percent"]) < 15, point
        assert point["host"]["errors"] == 0
        assert point["device"]["lateness_outside_gaps_ns"]["n"] <= point["device"]["lateness_ns"]["n"]
    assert done.returncode in (0, 3)
    short = ("--iodepth", "4", "--ramp-time", "0s", "--runtime", "300ms")
    text = run("loop", "d.toml", "--rw", "randread", "--bs", "4k", *short)
    assert "  late max  p99.9 without gaps  gaps\n" in text.stdout, text.stderr


def test_lateness_is_told_with_and_without_the_pauses_of_the_machine(run, tmp_path):
    (tmp_path / "d.toml").write_text(DRIVE)
    done = run("emulate", "d.toml", "--run", "true", "--json")
    record = json.loads(done.stdout)
    record["lateness_ns"] |= {"n": 20_000, "p50": 20_000, "p99": 70_000, "p99_9": 3_351_000, "max": 9_493_000}
    record["lateness_outside_gaps_ns"]["p99_9"] = 96_800
    record["gaps"] = {"count": 198, "total_ns": 50_000_000, "max_ns": 9_493_000}
    assert (
        "answers late by p50 20 us, p99 70 us, p99.9 3.351 ms, max 9.493 ms; the machine paused 198 times, 9.493 ms at "
        "most, and without the answers behind that p99.9 is 96.8 us"
    ) in lines(record)
    record["lateness_outside_gaps_ns"]["p99_9"] = None
    assert not any("without" in line for line in lines(record))


def test_a_full_stdout_keeps_no_record_away(process, tmp_path):
    with Path("/dev/full").open("w") as full:
        process(
            *("emulate", "--drive", "wd-wd740gd-00fla0", "--run", "true", "--json", "--record", "r.json"),
            capture_output=False,
            stdout=full,
            stderr=subprocess.DEVNULL,
        )
    assert json.loads((tmp_path / "r.json").read_text())
