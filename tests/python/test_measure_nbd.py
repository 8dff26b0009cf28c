"""`drivelab measure` at an NBD address: our own emulated devices, nbdkit and qemu-nbd, through the command line."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from devices import DRIVE, Device, served

from drivelab.fit.inputs import read_chain, read_surface
from drivelab.fit.sweep_files import read_sweeps
from drivelab.measuring.address import without_host
from drivelab.measuring.device import Server, System, Target
from drivelab.measuring.environment import environment

READS = ("--rw", "randread", "--bs", "4k", "--number-ios", "200")
WRITES = ("--rw", "randwrite", "--bs", "4k", "--number-ios", "50")


@pytest.fixture
def device(command, environment, tmp_path) -> Iterator[Device]:
    """A drive with write cache, whose clock skips what it would wait for."""
    with served(command, environment, tmp_path, DRIVE) as found:
        yield found


def measured(run, address: str, *words: object):
    done = run("measure", "--target", address, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_record_says_what_the_handshake_told(run, device):
    found = measured(run, device.uri, *READS, "--iodepth", "1,64")
    for point, depth in zip(found["points"], (1, 64), strict=True):
        of = point["measured"]
        assert (of["engine"], of["failures"]["count"], of.get("lost")) == ("nbd", 0, None)
        assert (point["read"]["ios"], point["depth"]["asked"], point["ended"]) == (200, depth, "ios")
        assert of["submission_ns"]["n"] == of["device_ns"]["n"] == 200
        assert of["moved_bytes"] == [200 * 4096, 0]
        assert point["depth"]["achieved"] > 0.9 * depth
    place, facts = found["environment"]["target"], found["environment"]["device"]
    assert (place["path"], place["kind"], place["size_bytes"]) == (device.uri, "nbd", 74_355_769_344)
    assert (facts["transport"], facts["rotational"], facts["read_only"]) == ("nbd", True, False)
    assert {"flush", "fua", "trim"} <= set(facts["offers"])
    assert "by drivelab, clock skip" in facts["model"]
    texts = {one["code"]: one["text"] for one in found["warnings"]}
    assert texts["emulated"].endswith("and its clock is skip: the times are not a drive's")
    wrong = {"page-cache", "direct-refused", "never-written", "device-unknown", "did-not-reach", "too-fast"}
    assert not texts.keys() & wrong


def test_the_server_heard_what_the_record_says(run, device):
    measured(run, device.uri, *READS)
    point = measured(run, device.uri, *WRITES, "--write", "--yes-destroy", device.uri)["points"][0]
    assert point["write"]["ios"] == 50
    record = device.end()
    # A closed loop has issued the next command when the last one that counts ends.
    assert record["malformed"] == 0
    assert 50 <= record["writes"]["commands"] <= 51
    assert record["writes"]["bytes"] == 4096 * record["writes"]["commands"]


def test_writes_are_refused_until_the_address_is_named_twice(run, device, tmp_path):
    words = ("measure", "--target", device.uri, *WRITES)
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"allow it with --write --yes-destroy '{device.uri}'" in done.stderr
    done = run(*words, "--write")
    assert done.returncode == 2
    assert f"name it once more, with --yes-destroy '{device.uri}'" in done.stderr
    for wrong in (tmp_path / "nbd.socket", device.uri.replace(":///", ":///other")):
        assert run(*words, "--write", "--yes-destroy", wrong).returncode == 2
    with device.client() as client:
        client.write(0, b"\xeb" * 512)
    done = run(*words, "--write", "--yes-destroy", device.uri)
    assert done.returncode == 4
    assert "has data that nothing here knows" in done.stderr
    done = run(*words, "--write", "--yes-destroy", device.uri, "--overwrite-data", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["write"]["ios"] == 50


def test_a_member_of_something_larger_is_never_given_up(run, device):
    with device.client() as client:
        client.write(0, b"LUKS\xba\xbe".ljust(512, b"\0"))
    words = ("--write", "--yes-destroy", device.uri, "--overwrite-data")
    done = run("measure", "--target", device.uri, *WRITES, *words)
    assert done.returncode == 4
    assert "is a member of LUKS" in done.stderr


@pytest.mark.parametrize(
    ("address", "words", "said"),
    [
        ("nbd+unix:///?socket=/nowhere", (), "nbd+unix:///?socket=/nowhere: cannot connect: no such file or"),
        ("nbd://127.0.0.1:1", (), "nbd://127.0.0.1:1: cannot connect: connection refused"),
        ("nbd+unix:///", (), "nbd+unix:///: names no socket; write nbd+unix:///EXPORT?socket=PATH"),
        (
            "nbds://host",
            (),
            "nbds://host: names no folder of certificates; write nbds://HOST:PORT/EXPORT?tls-cer",
        ),
        ("{}", ("--direct", "0"), "--direct 0: an address has no page cache before it"),
        ("{}", ("--engine", "aio"), "--engine aio: there are auto, io_uring, threads and nbd"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(run, device, address, words, said):
    done = run("measure", "--target", address.format(device.uri), *READS, *words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr


def test_an_export_that_there_is_not_is_told_with_the_servers_reason(run, device):
    done = run("measure", "--target", device.uri.replace(":///", ":///disk"), *READS)
    assert done.returncode == 2
    assert 'the server has no export named "disk" (the one export here has no name' in done.stderr


def test_another_engine_and_a_path_are_told(run, device, tmp_path):
    done = run("measure", "--target", device.uri, *READS, "--engine", "io_uring")
    assert done.returncode == 2
    assert "is an address, which the engine nbd measures" in done.stderr
    (tmp_path / "file").write_bytes(os.urandom(1 << 20))
    done = run("measure", "--target", "file", *READS, "--engine", "nbd")
    assert done.returncode == 2
    assert "file: is no NBD address; the engine nbd takes one" in done.stderr


def test_errors_of_the_server_are_counted_and_located(run, device):
    done = run("fault", device.uri, "media", "--lba", "16", "--sectors", "1")
    assert done.returncode == 0, done.stderr
    words = ("measure", "--target", device.uri, "--rw", "read", "--bs", "4k", "--number-ios", "4", "--json")
    done = run(*words, "--on-error", "continue")
    assert done.returncode == 1
    point = json.loads(done.stdout)["points"][0]
    failures = point["measured"]["failures"]
    assert (point["ended"], failures["by_error"]) == ("ios", {"EIO": 1})
    assert [place["offset_bytes"] for place in failures["places"]] == [8192]
    assert "1 command failed (1 x EIO): read at byte 8192" in done.stderr
    point = json.loads(run(*words).stdout)["points"][0]
    assert (point["ended"], point["measured"]["failures"]["count"]) == ("error", 1)


def test_a_server_that_goes_away_leaves_a_whole_record(command, environment, device, tmp_path):
    words = ("--rw", "randread", "--bs", "4k", "--iodepth", "8", "--runtime", "60s", "--json")
    process = subprocess.Popen(
        [*command, "measure", "--target", device.uri, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path, text=True,
    )  # fmt: skip
    time.sleep(3)
    device.process.kill()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1, err
    point = json.loads(out)["points"][0]
    assert point["ended"] == "device-gone"
    assert point["read"]["ios"] > 0
    assert sum(piece["ios"] for piece in point["series"]) == point["read"]["ios"]
    assert point["measured"]["lost"] == "the server has closed the connection"
    assert set(point["measured"]["failures"]["by_error"]) == {"ESHUTDOWN"}
    assert "does not answer any more: the server has closed the connection" in err


def test_ready_made_measurements_take_an_address(run, device, tmp_path):
    done = run("measure", "sweep", device.uri, "--iodepth", "1,4", "--seconds", "0.1", "--csv")
    assert done.returncode == 0, done.stderr
    (tmp_path / "sweep.csv").write_text(done.stdout)
    assert list(read_sweeps([tmp_path / "sweep.csv"])[0].depth) == [1, 4]
    done = run("measure", "chain", device.uri, "--requests", "50", "--csv")
    (tmp_path / "chain.csv").write_text(done.stdout)
    assert len(read_chain(tmp_path / "chain.csv")) == 50
    done = run(
        "measure", "surface", device.uri, "--places", "5", "--requests", "8", "--accesses", "20", "--csv"
    )
    (tmp_path / "surface.csv").write_text(done.stdout)
    assert len(read_surface(tmp_path / "surface.csv").offset) == 5
    done = run("measure", "access", device.uri, "--requests", "60", "--json")
    assert json.loads(done.stdout)["full_stroke"]["n"] > 5
    done = run("measure", "table", device.uri, "--bs", "4", "--threads", "1", "--seconds", "0.1", "--json")
    assert json.loads(done.stdout)["rows"][0]["rndRd"] > 0
    done = run("measure", "table", device.uri, "--bs", "4", "--threads", "1", "--seconds", "0.1", "--json",
               "--write", "--yes-destroy", device.uri)  # fmt: skip
    assert json.loads(done.stdout)["rows"][0]["rndWr"] > 0, done.stderr


def test_all_of_it_is_what_fit_reads(run, device, tmp_path):
    done = run("measure", "all", device.uri, "--out", tmp_path / "mine", "--minutes", "0.2", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["target"] == device.uri
    assert len(read_chain(tmp_path / "mine" / "chain.csv")) > 100
    assert json.loads((tmp_path / "mine" / "target.json").read_text())["model"].endswith("clock skip")


def test_a_drive_that_serves_in_order_is_told_from_one_that_reorders(run, command, environment, tmp_path):
    verdicts = {}
    for order in ("sptf", "fcfs"):
        scenario = f'[target]\ndrive = "wd-4tb-7200"\nqueue = {{ order = "{order}" }}\n'
        with served(command, environment, tmp_path, scenario, clock="x4") as device:
            # Beside other processes the times may be too noisy for a verdict; a longer measurement then decides.
            for seconds in ("0.4", "0.8", "1.6", "3.2", "6.4", "12.8"):
                done = run("measure", "reorder", device.uri, "--seconds", seconds, "--json")
                verdicts[order] = json.loads(done.stdout)["verdict"]
                if verdicts[order] != "cannot-tell":
                    break
    assert verdicts == {"sptf": "reorders", "fcfs": "in-order"}


def test_the_name_of_another_machine_is_in_no_record():
    assert without_host("nbd://storage.example:10809/disk") == "nbd://HOST:10809/disk"
    assert without_host("nbd://[2001:db8::1]/disk") == "nbd://HOST/disk"
    assert without_host("nbd://127.0.0.1:77/disk") == "nbd://127.0.0.1:77/disk"
    export = {"size_bytes": 1 << 20, "description": None, "rotational": False, "read_only": False}
    export |= {"block_least_bytes": 1, "block_preferred_bytes": 4096, "block_most_bytes": 1 << 25}
    export |= dict.fromkeys(("flush", "fua", "trim", "multi_conn", "structured"), True)
    server = Server("nbd://storage.example/disk", "nbd://HOST/disk", export)
    target = Target(None, 1 << 20, is_file=False, block=None, server=server)
    assert "storage" not in json.dumps(environment(target, System()))
    assert environment(target, System(), with_host=True)["target"]["path"] == "nbd://storage.example/disk"


@contextmanager
def other_server(words: list[str], at: Path) -> Iterator[str]:
    """A server that is not ours, at a socket; skipped by name where it is not installed."""
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        began = time.monotonic()
        while not at.exists() and process.poll() is None and time.monotonic() < began + 20:
            time.sleep(0.02)
        yield f"nbd+unix:///?socket={at}"
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_nbdkit_is_measured_read_and_write(run, tmp_path):
    at = tmp_path / "kit"
    with other_server(["nbdkit", "-f", "-U", str(at), "memory", "64M"], at) as address:
        found = measured(run, address, *READS, "--iodepth", "16")
        assert found["points"][0]["measured"]["engine"] == "nbd"
        assert "device-unknown" in [one["code"] for one in found["warnings"]]
        point = measured(run, address, *WRITES, "--write", "--yes-destroy", address)["points"][0]
        assert point["write"]["ios"] == 50
        verdict = run("measure", "reorder", address, "--rounds", "3", "--seconds", "0.05", "--json")
        assert json.loads(verdict.stdout)["verdict"] == "cannot-tell"


def test_a_read_only_export_is_read_and_not_written(run, tmp_path):
    at = tmp_path / "kit"
    with other_server(["nbdkit", "-f", "-r", "-U", str(at), "memory", "64M"], at) as address:
        assert measured(run, address, *READS)["environment"]["device"]["read_only"]
        done = run("measure", "--target", address, *WRITES, "--write", "--yes-destroy", address)
        assert (done.returncode, done.stdout) == (2, "")
        assert "is a read-only export, and the workload writes" in done.stderr


def test_an_error_of_another_server_is_counted(run, tmp_path):
    at = tmp_path / "kit"
    words = [
        "nbdkit",
        "-f",
        "-U",
        str(at),
        "--filter=error",
        "memory",
        "64M",
        "error-pread=EIO",
        "error-pread-rate=20%",
    ]
    with other_server(words, at) as address:
        done = run("measure", "--target", address, *READS, "--on-error", "continue", "--json")
        failures = json.loads(done.stdout)["points"][0]["measured"]["failures"]
        assert set(failures["by_error"]) == {"EIO"}
        assert 10 < failures["count"] < 90


def test_qemu_nbd_is_measured(run, tmp_path):
    image, at = tmp_path / "image", tmp_path / "qemu"
    image.write_bytes(os.urandom(16 << 20))
    words = ["qemu-nbd", "-t", "-f", "raw", "-x", "disk", "-k", str(at), str(image)]
    with other_server(words, at) as address:
        named = address.replace(":///", ":///disk")
        found = measured(run, named, *READS, "--iodepth", "1,32")
        assert [point["read"]["ios"] for point in found["points"]] == [200, 200]
        assert found["environment"]["target"]["size_bytes"] == 16 << 20
        done = run("measure", "--target", address, *READS)
        assert done.returncode == 2
        assert "the server has no default export" in done.stderr
        done = run("measure", "--target", named, *WRITES, "--write", "--yes-destroy", named)
        assert done.returncode == 4
        assert "has data that nothing here knows" in done.stderr


def test_what_is_no_nbd_server_is_told(run, tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "odd"))
    listener.listen()

    def answer() -> None:
        for said in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b""):
            client, _ = listener.accept()
            client.sendall(said)
            client.close()

    thread = threading.Thread(target=answer)
    thread.start()
    address = f"nbd+unix:///?socket={tmp_path / 'odd'}"
    for said in ("no NBD server answers there", "the server has closed the connection"):
        done = run("measure", "--target", address, *READS)
        assert done.returncode == 2
        assert said in done.stderr
    thread.join()
    listener.close()
