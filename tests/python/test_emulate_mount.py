"""`drivelab emulate --mount`: the device as a file, through FUSE."""

from __future__ import annotations

import mmap
import os

import pytest
from devices import DRIVE
from nbd_client import dice_of


def test_a_device_is_a_file_too_past_the_page_cache(serve, mounts, tmp_path):
    (tmp_path / "at").mkdir()
    with serve(DRIVE, "--mount", str(tmp_path / "at")) as device:
        disk = tmp_path / "at" / "disk"
        assert [path.name for path in (tmp_path / "at").iterdir()] == ["disk"]
        client = device.client()
        assert disk.stat().st_size == client.size
        data = dice_of(3).randbytes(3 << 20)
        descriptor = os.open(disk, os.O_RDWR)
        # As with any direct access: what is in memory is aligned too.
        with mmap.mmap(-1, len(data)) as aligned:
            aligned[:] = data
            assert os.pwrite(descriptor, aligned, 1 << 20) == len(data)
        os.fsync(descriptor)
        # Each door shows at once what came through the other.
        assert client.read(1 << 20, len(data)) == data
        client.write(1 << 20, data[-4096:])
        assert os.pread(descriptor, 4096, 1 << 20) == data[-4096:]
        for change in (lambda: os.pwrite(descriptor, b"x", 7), lambda: os.pread(descriptor, 100, 512)):
            with pytest.raises(OSError, match="Invalid argument"):
                change()
        with pytest.raises(OSError, match="not permitted"):
            os.truncate(disk, 0)
        os.lseek(descriptor, client.size, os.SEEK_SET)
        assert os.read(descriptor, 4096) == b""
        os.close(descriptor)
        record = device.end()
    assert (record["flushes"]["commands"], record["failure"]) == (1, None)
    assert not (tmp_path / "at" / "disk").exists()


def test_what_a_killed_session_left_mounted_is_unmounted(serve, mounts, tmp_path):
    at = tmp_path / "at"
    at.mkdir()
    with serve(DRIVE, "--mount", str(at)) as device:
        device.process.kill()
        device.process.wait()
    with pytest.raises(OSError, match="not connected"):
        at.stat()
    with serve(DRIVE, "--mount", str(at)) as device:
        assert [path.name for path in at.iterdir()] == ["disk"]
        device.end()


def test_a_folder_that_is_not_there_cannot_be_mounted_at(run):
    done = run("emulate", "--drive", "wd-wd740gd-00fla0", "--mount", "nowhere")
    assert done.returncode == 2
    assert "error: --mount nowhere: there is no such folder; make it first" in done.stderr
