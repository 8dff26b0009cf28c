"""The checker as a process, in a process group of its own that ends with it, with a timeout."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from drivelab.host import kernel
from drivelab.runs import emulation

# The time between SIGTERM and SIGKILL, to clean up.
_GRACE_S = 1.0
# The time in which the campaign notices a Ctrl-C that has ended a checker before it had its own process group.
_NOTICED_S = 5.0
_LOOK_S = 0.2
_OVER, _CAME = "over", "came"


class StoppedError(Exception):
    """The campaign has ended: this cut is not judged."""


class Stop:
    """Ends the running checkers of a campaign, and lets no further one start."""

    def __init__(self) -> None:
        """Begin without running checkers."""
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._event = threading.Event()

    @property
    def is_set(self) -> bool:
        """Whether the campaign has ended."""
        return self._event.is_set()

    def wait(self, timeout_s: float) -> bool:
        """Wait until the campaign has ended. Returns false after the timeout."""
        return self._event.wait(timeout_s)

    def set(self) -> None:
        """Send SIGTERM to all of them."""
        with self._lock:
            self._event.set()
            for group in self._running:
                kernel.end_group(group, has_grace=True)

    def start(
        self, command: list[str], environment: Mapping[str, str], output: Path
    ) -> subprocess.Popen[bytes]:
        """Start a checker in a process group of its own. Raises StoppedError."""
        with self._lock, output.open("wb") as stdout:
            if self.is_set:
                raise StoppedError
            process = subprocess.Popen(
                command, env=environment, stdout=stdout, stderr=subprocess.STDOUT, start_new_session=True
            )
            self._running.add(process.pid)
        return process

    def forget(self, group: int) -> None:
        """Forget a process group that has ended, because its id may be reused."""
        with self._lock:
            self._running.discard(group)


class Judge(emulation.Command):
    """One run of the checker. Its output goes to a file."""

    def __init__(
        self, text: str, environment: Mapping[str, str], output: Path, timeout_s: float, stop: Stop
    ) -> None:
        """Store the command, the environment beyond the location of the device, and the timeout."""
        super().__init__(text)
        self.environment = environment
        self.output = output
        self.timeout_s = timeout_s
        self.stop = stop
        self.has_timed_out = False
        self._pidfd = -1
        self._end = 0.0

    def start(self, words: Mapping[str, str]) -> None:
        """Start it, unless it is running. Raises StoppedError."""
        if self.process is not None:
            return
        environment = {**os.environ, **emulation.with_program(), **words, **self.environment}
        self.process = self.stop.start(["/bin/sh", "-c", self.text], environment, self.output)
        self._pidfd = kernel.watch(self.process.pid)
        self._end = time.monotonic() + self.timeout_s

    def is_over(self) -> bool:
        """Whether it has ended; after the timeout it gets SIGTERM, and then SIGKILL."""
        return self._look(0.0) == _OVER

    def wait(self, door: int) -> bool:
        """Wait until it has ended or a client connects to a listening socket. Returns whether one has connected."""
        while not (found := self._look(_LOOK_S, door)):
            pass
        return found == _CAME

    def end(self) -> int | None:
        """Kill it and the processes that it has started; returns its status as a shell reports it.

        Raises StoppedError if the campaign has ended it.
        """
        if self.process is None:
            return None
        if self._pidfd >= 0:
            # Its process id cannot be reused before it is waited for.
            kernel.end_group(self.process.pid, has_grace=False)
            self.stop.forget(self.process.pid)
            self.process.wait()
            os.close(self._pidfd)
            self._pidfd = -1
        was_interrupted = self.process.returncode == -signal.SIGINT
        status = super().end()
        if self.stop.is_set or (was_interrupted and self.stop.wait(_NOTICED_S)):
            raise StoppedError
        return status

    def _look(self, wait_s: float, door: int | None = None) -> str:
        """What has happened: it has ended, a client has connected, or nothing."""
        now = time.monotonic()
        if self.stop.is_set:
            self._end = min(self._end, now)
        if now < self._end:
            wait_s = min(wait_s, self._end - now)
        elif self.process is not None:
            has_grace = now < self._end + _GRACE_S
            if not has_grace or not self.has_timed_out:
                kernel.end_group(self.process.pid, has_grace=has_grace)
            self.has_timed_out = True
        watched = [self._pidfd] if door is None else [self._pidfd, door]
        ready = kernel.readable(watched, math.ceil(1e3 * wait_s))
        return _OVER if self._pidfd in ready else _CAME if ready else ""
