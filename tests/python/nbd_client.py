"""A client of NBD for tests, in the interpreter's own words: fixed newstyle, structured replies, any order."""

from __future__ import annotations

import random
import socket
import ssl
import struct
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

READ, WRITE, DISC, FLUSH, TRIM, CACHE, ZERO, STATUS = range(8)
FUA, DF, ONE = 1, 4, 8
EIO, EINVAL, ENOSPC = 5, 22, 28
GO, LIST, STRUCTURED, SET_CONTEXT, STARTTLS = 7, 3, 8, 10, 5
_OPTION = b"IHAVEOPT"


def dice_of(seed: int) -> random.Random:
    """Random numbers of a seed."""
    return random.Random(seed)  # noqa: S311 - no secret


@dataclass
class Answer:
    """What a request came to."""

    cookie: int
    errno: int = 0
    data: bytes = b""
    extents: list[tuple[int, int]] = field(default_factory=list)
    why: str = ""


class Client:
    """A connection to a device."""

    def __init__(self, at: Path | int, timeout: float = 60.0, tls: ssl.SSLContext | None = None) -> None:
        """Connect and take the export, with TLS where there is a context of it."""
        self.socket: socket.socket
        if isinstance(at, int):
            self.socket = socket.create_connection(("127.0.0.1", at), timeout)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(str(at))
        try:
            self._begin(tls)
        except BaseException:
            self.socket.close()
            raise

    def _begin(self, tls: ssl.SSLContext | None) -> None:
        """Take the export."""
        self.cookies = 0
        greeting = self._take(18)
        assert greeting[:16] == b"NBDMAGIC" + _OPTION, greeting
        self.socket.sendall(struct.pack(">I", 3))
        if tls is not None:
            self.option(STARTTLS, b"")
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.option(STRUCTURED, b"")
        query = b"base:allocation"
        self.option(SET_CONTEXT, struct.pack(">III", 0, 1, len(query)) + query)
        told = self.option(GO, struct.pack(">IHH", 0, 1, 3))
        infos = {struct.unpack(">H", data[:2])[0]: data[2:] for kind, data in told if kind == 3}
        self.size, self.flags = struct.unpack(">QH", infos[0])
        self.block_sizes = struct.unpack(">III", infos[3])

    def __enter__(self) -> Client:
        """Use it and leave."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave."""
        self.socket.close()

    def option(self, number: int, data: bytes) -> list[tuple[int, bytes]]:
        """Say an option; all replies to it, the last of which is a success."""
        self.socket.sendall(_OPTION + struct.pack(">II", number, len(data)) + data)
        found = []
        while True:
            magic, option, kind, length = struct.unpack(">QIII", self._take(20))
            assert (magic, option) == (0x3E889045565A9, number)
            found.append((kind, self._take(length)))
            if kind == 1 or kind >> 31:
                assert kind == 1, found
                return found

    def send(self, kind: int, offset: int = 0, length: int = 0, flags: int = 0, data: bytes = b"") -> int:
        """Send a request without waiting; its cookie."""
        self.cookies += 1
        head = struct.pack(">IHHQQI", 0x25609513, flags, kind, self.cookies, offset, length or len(data))
        self.socket.sendall(head + data)
        return self.cookies

    def hear(self) -> Answer:
        """Take the next reply, whose ever it is."""
        (magic,) = struct.unpack(">I", self._take(4))
        if magic == 0x67446698:
            errno, cookie = struct.unpack(">IQ", self._take(12))
            return Answer(cookie, errno)
        assert magic == 0x668E33EF, hex(magic)
        flags, kind, cookie, length = struct.unpack(">HHQI", self._take(16))
        assert flags == 1
        body = self._take(length)
        if kind == 1:
            return Answer(cookie, data=body[8:])
        if kind == 5:
            words = struct.unpack(f">{length // 4}I", body)
            return Answer(cookie, extents=list(zip(words[1::2], words[2::2], strict=True)))
        assert kind == 0x8001, kind
        errno, count = struct.unpack(">IH", body[:6])
        return Answer(cookie, errno, why=body[6 : 6 + count].decode())

    def ask(self, kind: int, offset: int = 0, length: int = 0, flags: int = 0, data: bytes = b"") -> Answer:
        """Send a request and wait for its reply."""
        cookie = self.send(kind, offset, length, flags, data)
        answer = self.hear()
        assert answer.cookie == cookie
        return answer

    def read(self, offset: int, length: int) -> bytes:
        """Read, and have it done."""
        answer = self.ask(READ, offset, length)
        assert answer.errno == 0, answer
        return answer.data

    def write(self, offset: int, data: bytes, flags: int = 0) -> None:
        """Write, and have it done."""
        answer = self.ask(WRITE, offset, flags=flags, data=data)
        assert answer.errno == 0, answer

    def is_closed(self) -> bool:
        """Whether the other end has closed; waits for it."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _take(self, count: int) -> bytes:
        found = bytearray(count)
        at = 0
        while at < count:
            more = self.socket.recv_into(memoryview(found)[at:])
            if not more:
                raise ConnectionResetError("the device has closed")
            at += more
        return bytes(found)
