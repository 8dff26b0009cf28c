"""Commands in processes of their own, for tests that send them signals."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

# The caller's thread, one that starts the workers, and a worker.
THREADS = 3


def until_it_runs(process: subprocess.Popen[str]) -> None:
    """Wait until a command simulates: it does so in threads, and has none before. Half a minute at most."""
    threads = Path("/proc") / str(process.pid) / "task"
    until = time.monotonic() + 30
    while process.poll() is None and len(list(threads.iterdir())) < THREADS and time.monotonic() < until:
        time.sleep(0.02)
