"""A page that a process of its own serves, for tests: its requests, and the events of a stream."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT_S = 120


@dataclass
class Answered:
    """An answer, read whole."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """Why it was refused."""
        return str(self.json["error"])


@dataclass
class Page:
    """A page that is served."""

    process: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        """Its port."""
        return urllib.parse.urlsplit(self.address).port or 0

    @property
    def token(self) -> str:
        """The token of the printed address."""
        return self.address.rpartition("token=")[2]

    @property
    def own(self) -> dict[str, str]:
        """The headers with which the page itself asks."""
        return {"X-Drivelab-Token": self.token, "Origin": f"http://127.0.0.1:{self.port}"}

    def connect(self) -> http.client.HTTPConnection:
        """A new connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)

    def ask(
        self,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        method: str | None = None,
    ) -> Answered:
        """Ask as the page does, or with other headers. A body that is no bytes is sent as JSON."""
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        given = dict(self.own if headers is None else headers)
        if sent is not None:
            given.setdefault("Content-Type", "application/json")
        connection = self.connect()
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, sent, given)
            answer = connection.getresponse()
            return Answered(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def session(self, named: str) -> str:
        """What the page calls the session with this name."""
        (found,) = [one["id"] for one in self.ask("/here/sessions").json["sessions"] if one["named"] == named]
        return str(found)

    @contextmanager
    def stream(self, session: str) -> Iterator[Iterator[tuple[str, Any]]]:
        """The events of a session, each with its name, as they come."""
        connection = self.connect()
        try:
            connection.request("GET", f"/here/sessions/{session}/events", headers=self.own)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            yield _events(answer)
        finally:
            connection.close()

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """End it by a signal; its exit code, and what it has said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, said


def _events(answer: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
    name = ""
    while line := answer.readline().decode().rstrip("\n"):
        key, _, value = line.partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            yield name, json.loads(value)
            # The blank line that ends an event.
            answer.readline()


@contextmanager
def page(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, *options: str
) -> Iterator[Page]:
    """Serve the page at a free port; whatever happens it ends."""
    process = subprocess.Popen(
        [*command, "page", "--port", "0", *options],
        cwd=folder,
        env=environment,
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            _, said = process.communicate(timeout=TIMEOUT_S)
            raise AssertionError(said)
        yield Page(process, address)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=TIMEOUT_S)
