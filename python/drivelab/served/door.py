"""Who comes in: the checks that each request passes before anything of it is read, and the limits of what is read.

The page is on this machine alone, yet any web page that its user visits can send requests to it. So `Host` has to be
this address (a name of another that resolves to it is refused), `Origin` has to be this one where a browser tells it,
and what is not a file of the page needs the token, which only the printed address has.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.report.json_text import json_text

HEAD_MAX_BYTES = 16 << 10
BODY_MAX_BYTES = 64 << 10
BODY_MAX_S = 10.0
BELOW = "/here/"
"""What is below this path needs the token."""
TOKEN_HEADER = "x-drivelab-token"  # noqa: S105 - its name
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
_DRAINED_MAX_BYTES = 1 << 20
_HTTP_PORT = 80
_SAME_SITE = {b"same-origin", b"none"}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    why: str


@dataclass(frozen=True)
class Keys:
    """The addresses under which the page is reached, and the token of this run."""

    hosts: frozenset[bytes]
    token: str

    @classmethod
    def new(cls, port: int) -> Keys:
        """Those of a page at a port of this machine."""
        names = ("127.0.0.1", "localhost", "[::1]")
        hosts = {f"{name}:{port}" for name in names}
        # At HTTP's own port no browser writes it.
        hosts |= set(names) if port == _HTTP_PORT else set()
        return cls(frozenset(host.encode() for host in hosts), secrets.token_urlsafe(32))

    def refuses(self, path: str, headers: Sequence[tuple[bytes, bytes]]) -> Refusal | None:
        """Why a request is refused, None if it is not."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        if len(path) + sum(len(name) + len(value) for name, value in headers) > HEAD_MAX_BYTES:
            return Refusal(431, f"the head of the request is longer than {HEAD_MAX_BYTES} bytes")
        host = given.get(b"host", [])
        if len(host) != 1 or host[0] not in self.hosts:
            return Refusal(
                403, "this is not the address of the page: open the one that `drivelab page` has printed"
            )
        origins = given.get(b"origin", [])
        if any(origin != b"http://" + host[0] for origin in origins):
            return Refusal(403, "another page asks: only the page itself may")
        if not path.startswith(BELOW):
            return None
        if not set(given.get(b"sec-fetch-site", [])) <= _SAME_SITE:
            return Refusal(403, "another page asks: only the page itself may")
        tokens = given.get(TOKEN_HEADER.encode(), [])
        if len(tokens) != 1 or not secrets.compare_digest(tokens[0], self.token.encode()):
            return Refusal(
                403,
                "the token is missing, or of another run: open the address that `drivelab page` has printed",
            )
        return None


class Door:
    """The application behind the checks: bodies are read here, whole and no longer than they may be."""

    def __init__(self, app: App, keys: Keys, policy: str) -> None:
        """Stand before an application. `policy` is the content security policy of the page."""
        self.app = app
        self.keys = keys
        self.policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        path = str(scope["path"])
        guarded = _with_headers(send, _DATA_POLICY if path.startswith(BELOW) else self.policy)
        refusal = self.keys.refuses(path, scope["headers"])
        if refusal is not None:
            await _refuse(guarded, refusal)
            return
        body = await _body(scope, receive)
        if isinstance(body, Refusal):
            await _refuse(guarded, body)
            return
        await self.app(scope, _replayed(body, receive), guarded)


async def _body(scope: Scope, receive: Receive) -> bytes | Refusal:
    """The body of a request, or why it is not read."""
    if scope["method"] in {"GET", "HEAD"}:
        return b""
    found, drained = bytearray(), 0
    try:
        async with asyncio.timeout(BODY_MAX_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return Refusal(400, "the request has ended within its body")
                found += message.get("body", b"")
                if len(found) > BODY_MAX_BYTES:
                    # What is on its way is taken, so that the sender hears why it is refused.
                    drained += len(found)
                    found.clear()
                if drained > _DRAINED_MAX_BYTES or not message.get("more_body"):
                    break
    except TimeoutError:
        return Refusal(408, f"the request has not come within {BODY_MAX_S:g} s")
    return Refusal(413, f"the request is longer than {BODY_MAX_BYTES} bytes") if drained else bytes(found)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What the application hears: the body, then what comes after it."""
    is_told = False

    async def next_message() -> MutableMapping[str, Any]:
        nonlocal is_told
        if is_told:
            return await receive()
        is_told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def _with_headers(send: Send, policy: str) -> Send:
    """An answer with what keeps a browser from doing more with it than it should."""
    added = {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    encoded = [(name.encode(), value.encode()) for name, value in added.items()]

    async def with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [one for one in message.get("headers", []) if one[0].lower().decode("latin-1") not in added]
            message = {**message, "headers": [*own, *encoded]}
        await send(message)

    return with_headers


async def _refuse(send: Send, refusal: Refusal) -> None:
    text = json_text({"error": refusal.why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
