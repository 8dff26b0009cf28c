"""Commands in processes of their own, for tests that send them signals."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

# The caller's thread, one that starts the workers, and a worker.
THREADS = 3


def until_it_runs(process: subprocess.Popen[str]) -> None:
    """Wait until a command simulates: it does so in threads, and has none before. Half a minute at most."""
    threads = Path("/proc") / str(process.pid) / "task"
    until = time.monotonic() + 30
    while process.poll() is None and len(list(threads.iterdir())) < THREADS and time.monotonic() < until:
        time.sleep(0.02)


def is_running(mark: str) -> bool:
    """Whether any process has this among its arguments."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in place.read_bytes().decode(errors="replace").split("\0"):
                return True
        except OSError:
            pass
    return False


def await_file(process: subprocess.Popen[Any], path: Path) -> None:
    """Wait until a file is there."""
    end = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
