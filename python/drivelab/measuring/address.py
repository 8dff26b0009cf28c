"""Targets at an NBD address: the server's handshake, and bytes of the device for the guard."""

from __future__ import annotations

import re
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, RunError, raw
from drivelab.measuring.device import SECTOR, Server, Target

_SCHEMES = ("nbd:", "nbd+unix:", "nbds:", "nbds+unix:")
_LOCAL = {"localhost", "127.0.0.1", "[::1]"}
# How `drivelab emulate` describes its export.
_OURS = re.compile(r" by drivelab, clock (\S+)$")
_EDGE = 1 << 18
_SAMPLES = 64
_SAMPLE_BYTES = 1 << 16


def is_address(text: str) -> bool:
    """Whether a target's name is an address and not a path."""
    return text.lower().startswith(_SCHEMES)


def target_at_address(text: str) -> Target:
    """The target at this address. Raises InputError if no server answers, or it has no such export."""
    try:
        export = _core.nbd_export(text)
    except RunError as error:
        raise InputError(raw(error)) from error
    if export["size_bytes"] < SECTOR:
        raise InputError(f"{text}: the export is empty")
    ours = _OURS.search(export["description"] or "")
    server = Server(text, without_host(text), export)
    return Target(
        None,
        export["size_bytes"],
        is_file=False,
        block=None,
        is_emulated=ours is not None,
        clock=ours[1] if ours else None,
        server=server,
    )


def without_host(text: str) -> str:
    """The address as a record has it: the name of another machine and the place of certificates are left out."""
    found = re.match(r"(?i)(nbds?)://(\[[^]]*\]|[^:/?]*)", text)
    if found is None:
        return text
    behind = text[found.end() :].partition("?")[0]
    return f"{found[1].lower()}://{found[2] if found[2] in _LOCAL else 'HOST'}{behind}"


def server_facts(server: Server) -> dict[str, Any]:
    """The data of the handshake, with the keys of a device as far as they have a meaning there."""
    export = server.export
    offers = ("flush", "fua", "trim", "multi_conn", "structured")
    return {
        "name": None,
        "kind": "nbd",
        "transport": "nbd",
        "model": export["description"],
        "firmware": None,
        "size_bytes": export["size_bytes"],
        "rotational": export["rotational"],
        "read_only": export["read_only"],
        "logical_block_bytes": export["block_least_bytes"],
        "physical_block_bytes": export["block_preferred_bytes"],
        "request_max_bytes": export["block_most_bytes"],
        "offers": [name for name in offers if export[name]],
    }


class Pieces:
    """Bytes of a device from its start, from its end, and from between, read over one connection."""

    def __init__(self, server: Server, size: int) -> None:
        """Read them. Raises RunError."""
        last = max(0, size - _SAMPLE_BYTES)
        places = sorted({last * place // (_SAMPLES - 1) for place in range(_SAMPLES)})
        end = max(0, (size & ~(_EDGE - 1)) - _EDGE)
        ranges = [(0, min(size, _EDGE)), (end, size - end)]
        ranges += [(place, min(size, _SAMPLE_BYTES)) for place in places]
        found = _core.nbd_read(server.address, ranges)
        self._pieces = [(offset, bytes_) for (offset, _), bytes_ in zip(ranges, found, strict=True)]

    def read(self, count: int, offset: int) -> bytes:
        """Bytes of the edges, as `os.pread` returns them for a file."""
        for start, found in self._pieces[:2]:
            if start <= offset < start + len(found):
                return found[offset - start : offset - start + count]
        return b""

    def has_data(self) -> bool:
        """Whether any byte is not zero."""
        return any(found.count(0) < len(found) for _, found in self._pieces)
