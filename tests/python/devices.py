"""Devices that are served by a process of their own, for tests of clients."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbd_client import Client

CLEAN = "write_cache = false"
DRIVE = '[target]\ndrive = "wd-wd740gd-00fla0"\nwrite_cache = true\n'
RAID5 = DRIVE + 'array = { level = "raid5", members = 4 }\n'


@dataclass
class Device:
    """A device, while it is served and after."""

    process: subprocess.Popen[str]
    socket: Path
    record_path: Path
    code: int | None = None
    said: str = ""
    uri: str = ""
    clients: list[Client] = field(default_factory=list)

    def client(self) -> Client:
        """A new connection."""
        client = Client(self.socket)
        self.clients.append(client)
        return client

    def fault(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`drivelab fault` as a person types it; both outputs are in `stdout`."""
        return subprocess.run(
            [sys.executable, "-m", "drivelab", "fault", str(self.socket), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    def end(self, number: int = signal.SIGTERM) -> dict[str, Any]:
        """End it by a signal; the record that it has written, if it has."""
        for client in self.clients:
            client.socket.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        self.said += said
        self.code = self.process.returncode
        return json.loads(self.record_path.read_text()) if self.record_path.exists() else {}


@contextmanager
def served(
    command: list[str],
    environment: dict[str, str],
    folder: Path,
    scenario: str,
    *options: str,
    clock: str = "skip",
) -> Iterator[Device]:
    """Serve a scenario; whatever happens it ends."""
    file, socket, record = folder / "device.toml", folder / "nbd.socket", folder / "record.json"
    file.write_text(scenario)
    record.unlink(missing_ok=True)
    words = [
        "emulate",
        str(file),
        "--socket",
        str(socket),
        "--clock",
        clock,
        "--record",
        str(record),
        *options,
    ]
    process = subprocess.Popen(
        [*command, *words],
        cwd=folder,
        env=environment,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    device = Device(process, socket, record)
    try:
        assert process.stdout is not None
        # The address is the first line, as soon as clients may come.
        device.uri = process.stdout.readline().strip()
        if not device.uri:
            device.end()
        yield device
    finally:
        if process.poll() is None:
            process.kill()
        if device.code is None:
            process.communicate(timeout=60)
        for client in device.clients:
            client.socket.close()
