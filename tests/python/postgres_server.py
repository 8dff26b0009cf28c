"""A PostgreSQL server for the tests: its own folder, a socket in it, gone afterwards."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "lab"
# The server refuses to run as root; one of these accounts is there then.
_ACCOUNTS = ("postgres", "nobody")


def lacking() -> str:
    """Why there is no server here; empty where there is."""
    if importlib.util.find_spec("pg8000") is None:
        return "pg8000 is not installed"
    if _program("initdb") is None:
        return "PostgreSQL's initdb is neither on PATH nor below /usr/lib/postgresql"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL does not run as root, and there is no setpriv"
    return ""


@contextmanager
def server() -> Iterator[str]:
    """The URL of a running server's database."""
    # The path of a socket has 107 characters at most, and other accounts must reach it.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    account = next((name for name in _ACCOUNTS if _is_there(name)), "") if os.geteuid() == 0 else ""
    if account:
        shutil.chown(folder, account)
    data = folder / "data"
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    try:
        _call(
            account, "initdb", "-D", data, "-A", "trust", "-U", USER, "--no-sync", "--locale=C", "-E", "UTF8"
        )
        _call(account, "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start")
        try:
            yield f"postgresql://{USER}@/postgres?host={folder}"
        finally:
            _call(account, "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _is_there(account: str) -> bool:
    try:
        pwd.getpwnam(account)
    except KeyError:
        return False
    return True


def _program(name: str) -> str | None:
    there = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(there[-1]) if there else shutil.which(name)


def _call(account: str, name: str, *arguments: object) -> None:
    words = [str(_program(name)), *map(str, arguments)]
    if account:
        words = [
            "setpriv",
            f"--reuid={account}",
            f"--regid={pwd.getpwnam(account).pw_gid}",
            "--clear-groups",
            *words,
        ]
    # The server keeps what it inherits: a pipe would never end.
    subprocess.run(words, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
