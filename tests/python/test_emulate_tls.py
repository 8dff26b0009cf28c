"""`drivelab emulate --tcp ADDRESS:PORT --tls-certificates DIR`: who is let in, and that their data arrive."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import ssl
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import nbd_client as nbd
import pytest
from certificates import Authority
from devices import DRIVE
from nbd_client import Client, dice_of

SILENT_CLIENTS = 300
"""More than a device takes connections at a time (256)."""


@dataclass
class Served:
    """A device at a port, and the record that it leaves."""

    port: int
    uri: str
    record: dict[str, Any] = field(default_factory=dict)
    said: str = ""


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    """An authority that has signed a server, a good client, one that is out of date, and one that was revoked."""
    if shutil.which("openssl") is None:
        pytest.skip("test_emulate_tls: no openssl")
    authority = Authority(tmp_path_factory.mktemp("tls") / "own")
    for name in ("server", "client", "revoked"):
        authority.sign(name)
    # It ended as it was made.
    authority.sign("old", begins="20200101000000Z")
    authority.revoke("revoked")
    return authority


@pytest.fixture
def serve(command, environment, tmp_path, authority) -> Callable[..., AbstractContextManager[Served]]:
    """A device at a port with TLS: `with serve() as device`."""

    @contextmanager
    def serve(*options: str) -> Iterator[Served]:
        (tmp_path / "d.toml").write_text(DRIVE)
        words = ["emulate", "d.toml", "--clock", "skip", "--record", "r.json", *options]
        words += ["--tls-certificates", str(authority.folder)]
        with subprocess.Popen(
            [*command, *words],
            cwd=tmp_path,
            env=environment,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            uri = process.stdout.readline().strip()
            assert uri, process.communicate(timeout=60)[1]
            device = Served(int(uri.rpartition(":")[2] or 0), uri)
            try:
                yield device
            finally:
                process.send_signal(signal.SIGINT)
                _, device.said = process.communicate(timeout=60)
            assert process.returncode == 130, device.said
            device.record = json.loads((tmp_path / "r.json").read_text())

    return serve


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_with_a_certificate_finds_what_it_has_written(serve, authority, version):
    with serve("--tcp", "0") as device:
        assert device.uri.startswith("nbds://127.0.0.1:")
        with Client(device.port, tls=authority.context("client", version)) as client:
            dice = dice_of(5)
            large = dice.randbytes(32 << 20)
            client.write(0, large)
            assert client.read(0, 32 << 20) == large
            # Many requests in a few records of TLS: each is answered, though no byte comes from the socket any more.
            wanted = {client.send(nbd.READ, dice.randrange(8_192) * 4096, 4096): None for _ in range(1_000)}
            assert {client.hear().cookie for _ in range(1_000)} == wanted.keys()
            # As large as all that is buffered on the way, in both directions at once.
            cookies = {
                client.send(nbd.WRITE, at << 20, data=large[at << 20 : (at + 1) << 20]) for at in range(8)
            }
            cookies |= {client.send(nbd.READ, at << 20, 1 << 20) for at in range(8)}
            assert {client.hear().cookie for _ in cookies} == cookies
            assert client.read(0, 8 << 20) == large[: 8 << 20]
    assert device.record["malformed"] == 0
    assert device.record["writes"]["commands"] == 9


def test_an_address_of_the_sixth_version_and_one_that_other_machines_reach(serve, authority):
    with serve("--tcp", "[::1]:0") as device:
        assert device.uri.startswith("nbds://[::1]:")
    with serve("--tcp", "0.0.0.0:0") as device:
        assert device.uri.startswith("nbds://0.0.0.0:")
        with Client(device.port, tls=authority.context("client")) as client:
            client.write(0, b"x" * 4096)
            assert client.read(0, 4096) == b"x" * 4096


def plain(port: int) -> socket.socket:
    """A connection whose flags are said, behind the greeting."""
    client = socket.create_connection(("127.0.0.1", port), 30)
    assert client.recv(18) == b"NBDMAGICIHAVEOPT\0\3"
    client.sendall(struct.pack(">I", 3))
    return client


def option(number: int, data: bytes = b"") -> bytes:
    """An option as it is said."""
    return b"IHAVEOPT" + struct.pack(">II", number, len(data)) + data


def test_who_is_not_let_in_is_counted_with_the_reason(serve, authority, tmp_path):
    stranger = Authority(tmp_path / "other", "somebody else")
    stranger.sign("client")
    foreign = authority.context(None)
    foreign.load_cert_chain(stranger.folder / "client-cert.pem", stranger.folder / "client-key.pem")
    refused = [authority.context(None), foreign, authority.context("old"), authority.context("revoked")]
    with serve("--tcp", "0") as device, Client(device.port, tls=authority.context("client")) as good:
        good.write(0, b"a" * 4096)
        for context in refused:
            # With TLS 1.3 the client hears of it with its first read.
            with pytest.raises(OSError, match=r"alert|closed|reset|EOF|Broken pipe"):
                Client(device.port, tls=context)
        with plain(device.port) as client:
            client.sendall(option(1))
            assert client.recv(1) == b""
        with plain(device.port) as client:
            # Somebody between the two could have added what follows.
            client.sendall(option(nbd.STARTTLS) + option(nbd.LIST))
            heard = client.recv(100)
            assert heard[8:16] == struct.pack(">II", nbd.STARTTLS, 1)
            assert client.recv(1) == b""
        with plain(device.port) as client:
            client.sendall(option(nbd.STARTTLS))
            assert len(client.recv(100)) == 20
            client.sendall(b"this is no TLS at all" * 10)
            # An alert, and the end.
            while client.recv(100):
                pass
        assert good.read(0, 4096) == b"a" * 4096
    assert device.record["malformed"] == 7
    assert device.record["ended"] == {
        "the client does not keep to TLS": 2,
        "the client has shown no certificate": 1,
        "the client wants the device without TLS": 1,
        "the client's certificate is not of this authority, or not valid now": 2,
        "the client's certificate was revoked": 1,
    }
    assert "1 time the client's certificate was revoked" in device.said


def test_without_tls_nothing_is_told(serve):
    with serve("--tcp", "0") as device, plain(device.port) as client:
        for number in (nbd.LIST, nbd.GO, nbd.STRUCTURED, nbd.SET_CONTEXT, 99):
            client.sendall(option(number))
            magic, named, kind, length = struct.unpack(">QIII", client.recv(20))
            assert (magic, named, kind) == (0x3E889045565A9, number, 0x80000005)
            assert b"begin with STARTTLS" in client.recv(length)


def test_clients_that_never_end_their_handshake_keep_nobody_out(serve, authority):
    with serve("--tcp", "0") as device:
        silent = [plain(device.port) for _ in range(SILENT_CLIENTS)]
        with Client(device.port, tls=authority.context("client")) as client:
            client.write(0, b"x" * 4096)
            # Those that have come first had to go.
            assert silent[0].recv(1) == b""
            silent += [plain(device.port) for _ in range(SILENT_CLIENTS)]
            assert client.read(0, 4096) == b"x" * 4096
        for one in silent:
            one.close()


@pytest.mark.parametrize(
    ("program", "client"),
    [
        ("nbdinfo", 'nbdinfo "{uri}/?tls-certificates={folder}"'),
        (
            "qemu-img",
            "qemu-img info --object tls-creds-x509,id=t,dir={folder},endpoint=client --image-opts "
            "driver=nbd,host=localhost,port={port},tls-creds=t",
        ),
    ],
)
def test_clients_that_others_have_written_come_in(serve, authority, tmp_path, program, client):
    if shutil.which(program) is None:
        pytest.skip(f"test_clients_that_others_have_written_come_in: no {program}")
    folder = tmp_path / "certificates"
    folder.mkdir()
    for name in ("ca-cert.pem", "client-cert.pem", "client-key.pem"):
        shutil.copy(authority.folder / name, folder)
    with serve("--tcp", "0") as device:
        uri = f"nbds://localhost:{device.port}"
        words = client.format(uri=uri, folder=folder, port=device.port)
        done = subprocess.run(
            ["/bin/sh", "-c", words], capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        plain_words = words.replace("nbds:", "nbd:").replace(",tls-creds=t", "")
        refused = subprocess.run(
            ["/bin/sh", "-c", plain_words], capture_output=True, text=True, timeout=120, check=False
        )
        assert refused.returncode != 0
    assert device.record["malformed"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--tcp", "0.0.0.0:0"),
            "other machines reach this address, and the device is served to them with TLS alone",
        ),
        (
            ("--tcp", "10.0.0.1:x"),
            "--tcp 10.0.0.1:x: give a port of this machine's own, such as 10809, or one of its",
        ),
        (("--tcp", "host:1"), "--tcp host:1: give a port"),
        (("--tcp", "70000"), "--tcp 70000: give a port"),
        (("--tls-certificates", "x"), "--tls-certificates changes nothing without --tcp; leave it out"),
    ],
)
def test_what_cannot_be_is_told(run, tmp_path, words, message):
    (tmp_path / "d.toml").write_text(DRIVE)
    done = run("emulate", "d.toml", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.fixture
def told(run, authority, tmp_path) -> Callable[[str, bytes | None], str]:
    """What is said of a folder whose file of this name holds something else, or is not there."""
    (tmp_path / "d.toml").write_text(DRIVE)
    folder = tmp_path / "certificates"

    def told(name: str, text: bytes | None) -> str:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(authority.folder, folder)
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(text)
        done = run(
            "emulate", "d.toml", "--tcp", "0.0.0.0:0", "--tls-certificates", "certificates", "--run", "true"
        )
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert "error: cannot serve with TLS: certificates/" in done.stderr
        return done.stderr.strip().rpartition("certificates/")[2]

    return told


MAKE = "docs/how-to/emulate.md has the commands that make such a folder"


def test_certificates_that_are_none_are_told_with_their_file_and_a_remedy(told, tmp_path):
    other = Authority(tmp_path / "other", "somebody else")
    other.sign("server")
    names = ("ca-cert.pem", "server-cert.pem", "server-key.pem")
    for name in names:
        absent = (
            f"{name}: there is no such file; the folder has {', '.join(names[:2])} and {names[2]}: {MAKE}"
        )
        assert told(name, None) == absent
        what = "key" if name == "server-key.pem" else "certificate"
        assert told(name, b"nothing\n") == f"{name}: it holds no {what} in PEM: {MAKE}"
    cut = (other.folder / "server-cert.pem").read_bytes()[:100]
    assert told("server-cert.pem", cut) == f"server-cert.pem: it is damaged: no certificate in PEM: {MAKE}"
    assert told("ca-crl.pem", b"") == (
        "ca-crl.pem: it holds no list of revoked certificates: make one with openssl ca -gencrl, or remove the file"
    )
    found = told("server-key.pem", (other.folder / "server-key.pem").read_bytes())
    assert found.startswith("server-key.pem: it does not fit server-cert.pem (")
    assert found.endswith("): give the key that server-cert.pem was signed for")


def test_a_certificate_that_no_client_takes_is_not_served(told, authority, tmp_path):
    other = Authority(tmp_path / "other", "somebody else")
    other.sign("server")
    authority.sign("gone", begins="20200101000000Z")
    authority.sign("late", begins="20990101000000Z")
    sign = "sign one anew with the key of the authority (openssl x509 -req)"
    foreign = (other.folder / "server-cert.pem").read_bytes()
    assert told("server-cert.pem", foreign) == (
        f"server-cert.pem: it is not of the authority in ca-cert.pem, and no client of that takes it: {sign}, or give "
        "its own ca-cert.pem"
    )
    gone, late = ((authority.folder / f"{name}-cert.pem").read_bytes() for name in ("gone", "late"))
    assert told("server-cert.pem", gone) == f"server-cert.pem: it has expired, and no client takes it: {sign}"
    assert told("server-cert.pem", late) == (
        f"server-cert.pem: it is not valid yet, and no client takes it: look at this machine's clock, or {sign}"
    )


def test_who_leaves_on_hearing_of_tls_is_counted(serve):
    with serve("--tcp", "0") as device:
        with plain(device.port) as client:
            client.sendall(option(nbd.GO, bytes(6)))
            client.recv(100)
        with plain(device.port) as client:
            client.sendall(option(nbd.LIST) + option(2))
            while client.recv(100):
                pass
        # Who says nothing, and who leaves at once, has heard of nothing.
        plain(device.port).close()
        with plain(device.port) as client:
            client.sendall(option(2))
            client.recv(100)
    assert (device.record["malformed"], device.record["left_without_tls"]) == (0, 2)
    assert "2 clients left on hearing that the device is served with TLS alone" in device.said


def test_measure_comes_in_with_a_certificate(serve, run, authority, tmp_path):
    words = (
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--iodepth",
        "16",
        "--number-ios",
        "500",
        "--size",
        "64MiB",
        "--json",
    )
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("ca-cert.pem", "client-cert.pem", "client-key.pem"):
        shutil.copy(authority.folder / name, folder)
    with serve("--tcp", "0") as device:
        where = f"nbds://localhost:{device.port}"
        done = run("measure", "--target", f"{where}?tls-certificates={folder}", *words)
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert record["points"][0]["read"]["ios"] == 500
        assert str(folder) not in done.stdout, "where certificates are is nobody else's business"
        (folder / "client-cert.pem").unlink()
        (folder / "client-key.pem").unlink()
        done = run("measure", "--target", f"{where}?tls-certificates={folder}", *words)
        assert done.returncode == 2, done.stderr
        assert "it asks who comes: put client-cert.pem and client-key.pem into the folder" in done.stderr
        done = run("measure", "--target", f"nbd://localhost:{device.port}", *words)
        assert done.returncode == 2
        assert "write nbds://HOST:PORT/EXPORT?tls-certificates=DIR" in done.stderr
        (folder / "ca-cert.pem").unlink()
        done = run("measure", "--target", f"{where}?tls-certificates={folder}", *words)
        assert done.returncode == 2
        assert "ca-cert.pem: there is no such file" in done.stderr
    stranger = Authority(tmp_path / "stranger", "somebody else")
    with serve("--tcp", "0") as device:
        done = run(
            "measure",
            "--target",
            f"nbds://localhost:{device.port}?tls-certificates={stranger.folder}",
            *words,
        )
        assert done.returncode == 2
        assert "its certificate is not of the authority in ca-cert.pem" in done.stderr
