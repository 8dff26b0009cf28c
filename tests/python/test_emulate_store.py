"""The folders of `drivelab emulate --store`: what a killed session leaves behind, and whose images they are."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path

import nbd_client as nbd
import pytest
from devices import Device, served
from nbd_client import Client, dice_of

SIZE = 1 << 20
SMALL = '[target]\ndrive = { base = "wd-wd740gd-00fla0", geometry.capacity = "16MiB" }\nwrite_cache = true\n'


@pytest.fixture
def serve(command, environment, tmp_path):
    """A device in a process of its own, whose images are in a folder."""

    def serve(scenario: str, *options: str, clock: str = "skip") -> AbstractContextManager[Device]:
        store = ["--store", str(tmp_path / "images"), *options]
        return served(command, environment, tmp_path, scenario, *store, clock=clock)

    return serve


def _array(level: str, members: int, keys: str = "") -> str:
    return SMALL + f'array = {{ level = "{level}", members = {members}{keys} }}\n'


def _dirty(level: str, members: int) -> str:
    """An array that starts whatever its last session has left: levels with parity ask for that."""
    return _array(level, members, ", start_dirty_degraded = true" if level in {"raid5", "raid6"} else "")


def _fault(device: Device, *words: str) -> str:
    return device.fault(*words).stdout


def _state(folder: Path) -> dict[str, object]:
    return json.loads((folder / "images" / "state.json").read_text())


def _write(client: Client, data: bytes) -> None:
    client.write(0, data)
    assert client.ask(nbd.FLUSH).errno == 0


def _rebuilt(device: Device) -> None:
    """Requests make the clock `skip` jump: the rebuild goes on with them."""
    client, until = device.client(), time.monotonic() + 60
    while "rebuilding" in _fault(device, "status"):
        assert time.monotonic() < until, "it is rebuilt"
        for _ in range(200):
            client.read(8 << 20, 4096)


LEVELS = [("raid1", 2), ("raid5", 4), ("raid6", 5), ("raid10", 4)]


@pytest.mark.parametrize(("level", "members"), LEVELS)
def test_a_killed_session_leaves_a_failed_member_behind_as_missing(serve, tmp_path, level, members):
    old, new = dice_of(1).randbytes(SIZE), dice_of(2).randbytes(SIZE)
    with serve(_array(level, members)) as device:
        client = device.client()
        _write(client, old)
        assert _state(tmp_path)["missing"] == []
        assert _fault(device, "fail", "--member", "1") == "done\n"
        # It is known on disk before anything is answered.
        assert _state(tmp_path)["missing"] == [1]
        _write(client, new)
        device.end(signal.SIGKILL)
    assert _state(tmp_path)["clean"] is False
    with serve(_dirty(level, members)) as device:
        assert "member 1 is missing" in _fault(device, "status")
        assert device.client().read(0, SIZE) == new


@pytest.mark.parametrize(("level", "members"), LEVELS)
def test_a_member_that_is_rebuilt_counts_when_it_has_everything(serve, tmp_path, level, members):
    data = dice_of(3).randbytes(SIZE)
    with serve(_array(level, members), clock="real") as device:
        client = device.client()
        _write(client, data)
        _fault(device, "fail", "--member", "0")
        # The rebuild reads it, and takes its time.
        _fault(device, "slow", "--member", "1", "--by", "2s")
        assert _fault(device, "replace", "--member", "0") == "done\n"
        assert "the array is rebuilding" in _fault(device, "status")
        device.end(signal.SIGKILL)
    assert _state(tmp_path)["missing"] == [0]
    with serve(_dirty(level, members)) as device:
        assert "member 0 is missing" in _fault(device, "status")
        assert device.client().read(0, SIZE) == data
        assert _fault(device, "replace", "--member", "0") == "done\n"
        _rebuilt(device)
        assert _state(tmp_path)["missing"] == []
        device.end(signal.SIGKILL)
    with serve(_array(level, members)) as device:
        assert "missing" not in _fault(device, "status")
        # The new drive has its part, whichever other is missing.
        assert _fault(device, "fail", "--member", "1") == "done\n"
        assert device.client().read(0, SIZE) == data


def test_an_array_that_is_dirty_and_degraded_is_not_served(serve, run, tmp_path):
    with serve(_array("raid5", 4)) as device:
        _write(device.client(), bytes(4096))
        _fault(device, "fail", "--member", "1")
        device.end(signal.SIGKILL)
    (tmp_path / "again.toml").write_text(_array("raid5", 4))
    refused = run("emulate", "again.toml", "--store", "images", "--run", "true")
    assert refused.returncode != 0
    assert "target.array.start_dirty_degraded = true" in " ".join(refused.stderr.split())
    assert _state(tmp_path)["missing"] == [1]


@pytest.mark.parametrize("ends_by", [signal.SIGKILL, signal.SIGTERM])
def test_a_spare_that_has_taken_a_slot_has_it_in_the_next_session(serve, tmp_path, ends_by):
    old, new = dice_of(4).randbytes(SIZE), dice_of(5).randbytes(SIZE)
    scenario = _array("raid5", 3, ", spares = 1")
    with serve(scenario) as device:
        client = device.client()
        _write(client, old)
        assert _fault(device, "fail", "--member", "1") == "done\n"
        _write(client, new)
        _rebuilt(device)
        device.end(ends_by)
    state = _state(tmp_path)
    assert (state["missing"], state["clean"]) == ([], ends_by == signal.SIGTERM)
    assert state["drives"] == [f"member-{drive}.img" for drive in (0, 3, 2, 1)]
    with serve(scenario) as device:
        assert device.client().read(0, SIZE) == new


def test_a_folder_is_of_one_layout(serve, tmp_path):
    data = dice_of(6).randbytes(SIZE)
    with serve(_array("raid5", 3)) as device:
        _write(device.client(), data)
        device.end()
    layout = "RAID 5 of 3 members, stripe unit 128 sectors, 1 parities, left-symmetric, 1 groups"
    assert _state(tmp_path)["layout"] == layout
    others = [
        _array("raid0", 3),
        _array("raid5", 3, ', stripe_unit = "128KiB"'),
        _array("raid5", 3, ', layout = "right-symmetric"'),
        _array("raid5", 3).replace("members = 3", "members = 2, spares = 1").replace("raid5", "raid1"),
    ]
    for other in others:
        with serve(other) as device:
            assert device.code == 1, other
            assert (
                f"it has images of another target: they are of {layout}; take another folder" in device.said
            )
    # What an older version has left does not say what it is of: nothing is written to it before a person does.
    path = tmp_path / "images" / "state.json"
    told = path.read_text()
    old = json.loads(told)
    del old["layout"]
    path.write_text(json.dumps(old))
    for scenario in (_array("raid5", 3), _array("raid0", 3)):
        with serve(scenario) as device:
            assert device.code == 1
            assert "state.json does not say what its images are of; if they are of RAID" in device.said
    assert json.loads(path.read_text()) == old
    path.write_text(told)
    with serve(_array("raid5", 3)) as device:
        assert device.client().read(0, SIZE) == data


@pytest.mark.parametrize("option", ["--capture", "--record"])
def test_nothing_is_written_over_the_bytes_of_a_device(run, tmp_path, option):
    (tmp_path / "disk.toml").write_text(SMALL)
    (tmp_path / "disk.img").write_bytes(bytes([7]) * 4096)
    (tmp_path / "hard").hardlink_to(tmp_path / "disk.img")
    (tmp_path / "soft").symlink_to("disk.img")
    for name in ("disk.img", "./disk.img", "hard", "soft"):
        for more in ([], ["--write-image"]):
            done = run("emulate", "disk.toml", "--image", "disk.img", *more, option, name, "--run", "true")
            assert done.returncode == 2
            assert f"{option} {Path(name)}: this is the image of the device; name another file" in done.stderr
    assert (tmp_path / "disk.img").read_bytes() == bytes([7]) * 4096
    store = ["emulate", "disk.toml", "--store", "images", "--run", "true"]
    # The folder is not there yet, so that nothing can be written there; then it is, and still nothing may.
    (tmp_path / "images").mkdir()
    for _ in range(2):
        for name in ("member-0.img", "state.json", "reserve"):
            done = run(*store, option, f"images/{name}")
            assert done.returncode == 2
            assert f"this is images/{name}, which the device of --store has; name another file" in done.stderr
        assert run(*store, option, "images/notes").returncode == 0
        (tmp_path / "images" / "notes").unlink()
    state = tmp_path / "images" / "state.json"
    state.write_text(state.read_text().replace("member-0.img", "own.img"))
    (tmp_path / "images" / "member-0.img").rename(tmp_path / "images" / "own.img")
    (tmp_path / "to-own").hardlink_to(tmp_path / "images" / "own.img")
    for name in ("images/own.img", "to-own"):
        done = run(*store, option, name)
        assert done.returncode == 2
        assert "this is images/own.img, which the device of --store has" in done.stderr


def test_a_disk_that_is_too_full_for_the_reserve_is_told_with_both_sizes(run, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a full disk: nothing can be mounted here")
    try:
        (tmp_path / "d.toml").write_text(SMALL)
        done = run("emulate", "d.toml", "--store", str(small / "images"), "--run", "true")
        assert done.returncode == 1
        assert re.search(
            r"error: cannot open \S+/reserve: no space left on device: 16777216 bytes are needed and \d+ are free; "
            r"free some",
            done.stderr,
        ), done.stderr
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_session_that_cannot_start_leaves_the_folder_as_it_was(command, environment, tmp_path, serve):
    (tmp_path / "d.toml").write_text(_array("raid5", 3))
    (tmp_path / "file").write_text("no folder")
    wrong = [*command, "emulate", "d.toml", "--store", "images", "--control", "file/x", "--run", "true"]
    refused = subprocess.run(
        wrong, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0
    assert "file/x" in refused.stderr
    assert list((tmp_path / "images").iterdir()) == []
    with serve(_array("raid5", 3)) as device:
        _write(device.client(), dice_of(1).randbytes(SIZE))
        _fault(device, "fail", "--member", "1")
        device.end()
    before = {path.name: path.read_bytes() for path in (tmp_path / "images").iterdir()}
    assert _state(tmp_path)["clean"] is True
    again = subprocess.run(wrong, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode != 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "images").iterdir()} == before
