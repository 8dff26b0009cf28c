"""Clients that others have written, against `drivelab emulate`, each where it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from devices import DRIVE, RAID5
from nbd_client import dice_of

from drivelab.runs.emulation import CONTROL_SUFFIX

SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture
def needs(request):
    """Skip where a program is missing, by the test's name."""

    def needs(*programs: str) -> None:
        for program in programs:
            if shutil.which(program) is None:
                pytest.skip(f"{request.node.name}: no {program}")

    return needs


@pytest.fixture
def against(run, tmp_path):
    """Run a command of a shell against a device; its status, what it prints, what is said."""

    def against(
        scenario: str, command: str, *options: str, clock: str = "skip"
    ) -> subprocess.CompletedProcess[str]:
        (tmp_path / "d.toml").write_text(scenario)
        return run("emulate", "d.toml", "--clock", clock, "--run", command, *options)

    return against


@pytest.mark.parametrize("scenario", [DRIVE, RAID5], ids=["drive", "raid5"])
def test_fio_finds_what_it_has_written(needs, against, scenario):
    needs("fio")
    job = (
        'fio --name=v --ioengine=nbd --uri="$uri" --rw=randwrite --bsrange=4k-64k --blockalign=4k --iodepth=16 '
        "--size=64m --io_size=8m --verify=crc32c --verify_fatal=1 --do_verify=1 --fsync=64 --output-format=json"
    )
    done = against(scenario, job)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    assert found["error"] == 0
    assert found["read"]["io_bytes"] >= found["write"]["io_bytes"] > 7 << 20


def test_nbdinfo_is_told_all_of_it(needs, against):
    needs("nbdinfo")
    done = against(DRIVE, 'nbdinfo --json "$uri"; nbdinfo --list "$uri"')
    assert done.returncode == 0, done.stderr
    found, _ = json.JSONDecoder().raw_decode(done.stdout)
    export = found["exports"][0]
    assert (
        export["is_rotational"]
        is export["can_fua"]
        is export["can_flush"]
        is export["can_multi_conn"]
        is True
    )
    assert export["can_trim"] is export["can_zero"] is export["can_cache"] is export["can_df"] is True
    assert export["can_fast_zero"] is False
    assert export["contexts"] == ["base:allocation"]
    assert (export["block_size_minimum"], export["block_size_maximum"]) == (512, 32 << 20)


@pytest.mark.parametrize("scenario", [DRIVE, RAID5], ids=["drive", "raid5"])
def test_nbdcopy_copies_to_a_device_and_back(needs, against, tmp_path, scenario):
    needs("nbdcopy", "qemu-io")
    data = dice_of(5).randbytes(8 << 20)
    (tmp_path / "in").write_bytes(data)
    # Of an array all counts as written, so that a copy back would have all of it.
    back = 'nbdcopy -- "$uri" out' if scenario is DRIVE else None
    command = 'nbdcopy in "$uri"'
    if back is None:
        command += ' && qemu-io -f raw -c "read -P 0 8M 64k" "$uri" >&2'
    else:
        command += f" && {back} && cmp -n {len(data)} in out"
    done = against(scenario, command)
    assert done.returncode == 0, done.stderr


def test_qemu_io_writes_zeroes_and_patterns(needs, against):
    needs("qemu-io", "qemu-img")
    words = [
        "write -P 0x5a 1M 2M",
        "read -P 0x5a 1M 2M",
        "write -z 1M 1M",
        "read -P 0 1M 1M",
        "read -P 0x5a 2M 1M",
    ]
    words += ["discard 2M 1M", "flush", "write -f -P 0x11 4M 64k", "read -P 0x11 4M 64k"]
    done = against(
        RAID5, f'qemu-img info "$uri" && qemu-io -f raw {" ".join(f"-c {w!r}" for w in words)} "$uri"'
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Pattern verification failed" not in done.stdout
    assert "virtual size: 207 GiB" in done.stdout or "virtual size: 208 GiB" in done.stdout


def test_qemu_img_puts_an_image_on_a_device(needs, against, tmp_path):
    needs("qemu-img")
    data = dice_of(6).randbytes(4 << 20)
    (tmp_path / "in").write_bytes(data)
    done = against(
        DRIVE, 'qemu-img convert -n -f raw -O raw in "$uri" && qemu-img bench -f raw -c 200 -d 8 "$uri"'
    )
    assert done.returncode == 0, done.stdout + done.stderr


LIBNBD = """
import os, nbd
h = nbd.NBD()
h.connect_uri(os.environ["uri"])
assert h.is_rotational() and h.can_multi_conn()
buffers = [nbd.Buffer.from_bytearray(bytearray(4096)) for _ in range(16)]
cookies = [h.aio_pread(b, n * 7919 * 4096 % (1 << 30)) for n, b in enumerate(buffers)]
while cookies:
    h.poll(-1)
    cookies = [c for c in cookies if not h.aio_command_completed(c)]
h.pwrite(b"x" * 512, 512, nbd.CMD_FLAG_FUA)
assert h.pread(512, 512) == b"x" * 512
try:
    h.set_strict_mode(0)
    h.pread(512, 1)
    raise SystemExit("it is refused")
except nbd.Error as error:
    assert error.errnum == 22, error
h.shutdown()
"""


def test_libnbd_of_python_sends_many_at_once(request, against, tmp_path):
    has = (
        subprocess.run([SYSTEM_PYTHON, "-c", "import nbd"], capture_output=True, check=False).returncode == 0
    )
    if not has and importlib.util.find_spec("nbd") is None:
        pytest.skip(f"{request.node.name}: no libnbd for Python")
    (tmp_path / "client.py").write_text(LIBNBD)
    done = against(DRIVE, f"{SYSTEM_PYTHON if has else sys.executable} client.py")
    assert done.returncode == 0, done.stderr


def _processor_s(number: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("suffix", ["", CONTROL_SUFFIX])
def test_a_device_without_descriptors_waits_until_it_has_some(serve, suffix):
    with serve(clock="real") as device, socket.socket(socket.AF_UNIX) as client:
        number = device.process.pid
        taken = max(int(path.name) for path in Path(f"/proc/{number}/fd").iterdir())
        limits = resource.prlimit(number, resource.RLIMIT_NOFILE)
        resource.prlimit(number, resource.RLIMIT_NOFILE, (taken + 1, limits[1]))
        # Descriptors below the limit that are free are taken first.
        others = [socket.socket(socket.AF_UNIX) for _ in range(taken + 1)]
        for other in others:
            other.connect(str(device.socket) + suffix)
        client.connect(str(device.socket) + suffix)
        time.sleep(0.2)
        before = _processor_s(number)
        time.sleep(1)
        assert _processor_s(number) - before < 0.5
        resource.prlimit(number, resource.RLIMIT_NOFILE, limits)
        client.settimeout(60)
        if suffix:
            client.sendall(b'{"action": "status"}\n')
        with client.makefile("rb") as answer:
            assert json.loads(answer.readline())["ok"] if suffix else answer.read(8) == b"NBDMAGIC"
        for other in others:
            other.close()
