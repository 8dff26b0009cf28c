"""Workloads and checkers of crash campaigns, as programs: `python crash_load.py WHAT ...`.

A record is a block of 4 KiB with its own number in every byte; record N lies at block N * 16 of the device.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import urllib.parse
from pathlib import Path

import nbd_client as nbd

BLOCK, STRIDE = 4096, 16 * 4096


def _address() -> Path:
    query = urllib.parse.urlsplit(os.environ["DRIVELAB_URI"]).query
    return Path(urllib.parse.parse_qs(query)["socket"][0])


def write(count: str, how: str) -> int:
    """Write records, and say that each is committed: after a FLUSH, with FUA, before a FLUSH (`early`), or as it is."""
    with nbd.Client(_address()) as client:
        for number in range(1, int(count) + 1):
            client.write(number * STRIDE, bytes([number]) * BLOCK, nbd.FUA if how == "fua" else 0)
            if how == "flush":
                assert client.ask(nbd.FLUSH).errno == 0
            print("committed", number, flush=True)
            if how == "early":
                assert client.ask(nbd.FLUSH).errno == 0
    return 0


def check() -> int:
    """Whether every record is there that was committed, read as the image."""
    committed = int(os.environ["DRIVELAB_COMMITTED"] or 0)
    with Path(os.environ["DRIVELAB_DEVICE"]).open("rb") as device:
        for number in range(1, committed + 1):
            device.seek(number * STRIDE)
            if device.read(BLOCK) != bytes([number]) * BLOCK:
                print(f"record {number} is gone, and {committed} was committed")
                return 1
    return 0


def check_uri() -> int:
    """The same, read from the address."""
    committed = int(os.environ["DRIVELAB_COMMITTED"] or 0)
    with nbd.Client(_address()) as client:
        found = [client.read(number * STRIDE, BLOCK) for number in range(1, committed + 1)]
    return int(found != [bytes([number]) * BLOCK for number in range(1, committed + 1)])


def check_both(size: str) -> int:
    """Whether the address has the device as it was before it was mounted, apart from what is mounted."""
    mark = b"written by the checker " * 400
    later = Path(os.environ["DRIVELAB_MOUNT"]) / "later"
    later.write_bytes(mark)
    os.sync()
    with Path(os.environ["DRIVELAB_DEVICE"]).open("rb") as device, nbd.Client(_address()) as client:
        mounted = device.read(int(size))
        cut = b"".join(client.read(at, 1 << 20) for at in range(0, int(size), 1 << 20))
        assert mark in mounted
        assert mark not in cut
        # It is the same file system, and its journal is not replayed.
        assert cut[1024 + 56 : 1024 + 58] == mounted[1024 + 56 : 1024 + 58] == b"\x53\xef"
        client.write(0, bytes(1 << 20))
    with nbd.Client(_address()) as client:
        assert client.read(0, 1 << 20) == bytes(1 << 20)
    assert later.read_bytes() == mark
    committed = os.environ["DRIVELAB_COMMITTED"]
    return int((later.parent / committed).read_text() != committed + "\n")


def sqlite(journal: str, synchronous: str, count: str) -> int:
    """Insert rows, each in a transaction of its own."""
    base = sqlite3.connect(Path(os.environ["DRIVELAB_MOUNT"]) / "a.db", isolation_level=None)
    base.execute(f"pragma journal_mode = {journal}")
    base.execute(f"pragma synchronous = {synchronous}")
    base.execute("create table t (n integer primary key, x blob)")
    for number in range(1, int(count) + 1):
        base.execute("insert into t values (?, randomblob(900))", (number,))
        print("committed", number, flush=True)
    return 0


def check_sqlite() -> int:
    """Whether the database is sound and has every row that was committed."""
    committed = int(os.environ["DRIVELAB_COMMITTED"] or 0)
    if committed == 0:
        return 0
    try:
        base = sqlite3.connect(Path(os.environ["DRIVELAB_MOUNT"]) / "a.db")
        sound = base.execute("pragma integrity_check").fetchone()[0]
        last = base.execute("select max(n) from t").fetchone()[0] or 0
    except sqlite3.DatabaseError as error:
        print(error)
        return 1
    print(f"{sound}: the last row is {last}, and {committed} was committed")
    return int(sound != "ok" or last < committed)


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    sys.exit(globals()[what](*words))
