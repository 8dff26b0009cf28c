"""The checker as a process: in a group of its own that goes with it, for as long as it may take."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from drivelab import emulation

# Who is told to end gets so long to clean up.
_GRACE_S = 1.0
_LOOK_S = 0.2
_OVER, _CAME = "over", "came"


class StoppedError(Exception):
    """The campaign ends: this cut is not judged."""


class Stop:
    """Ends the checkers of a campaign that run, and lets no other begin."""

    def __init__(self) -> None:
        """None runs."""
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self.is_set = False

    def set(self) -> None:
        """Tell all of them to end."""
        with self._lock:
            self.is_set = True
            for group in self._running:
                _signal(group, signal.SIGTERM)

    def start(
        self, command: list[str], environment: Mapping[str, str], said: Path
    ) -> subprocess.Popen[bytes]:
        """Start one, with a group of its own. Raises StoppedError."""
        with self._lock, said.open("wb") as stdout:
            if self.is_set:
                raise StoppedError
            process = subprocess.Popen(
                command, env=environment, stdout=stdout, stderr=subprocess.STDOUT, start_new_session=True
            )
            self._running.add(process.pid)
        return process

    def forget(self, group: int) -> None:
        """It has ended, and its number may become another's."""
        with self._lock:
            self._running.discard(group)


class Judge(emulation.Command):
    """One run of the checker. What it says goes to a file."""

    def __init__(
        self, text: str, environment: Mapping[str, str], said: Path, timeout_s: float, stop: Stop
    ) -> None:
        """Keep the command, what it is told beside where the device is, and how long it may take."""
        super().__init__(text)
        self.environment = environment
        self.said = said
        self.timeout_s = timeout_s
        self.stop = stop
        self.has_timed_out = False
        self._pidfd = -1
        self._end = 0.0

    def start(self, words: Mapping[str, str]) -> None:
        """Start it, unless it runs. Raises StoppedError."""
        if self.process is not None:
            return
        environment = {**os.environ, **words, **self.environment}
        self.process = self.stop.start(["/bin/sh", "-c", self.text], environment, self.said)
        self._pidfd = os.pidfd_open(self.process.pid)
        self._end = time.monotonic() + self.timeout_s

    def is_over(self) -> bool:
        """Whether it has ended; told to end where it takes too long, and killed where that does not help."""
        return self._look(0.0) == _OVER

    def wait(self, door: int) -> bool:
        """Until it is over, or somebody has come to a socket that listens. Returns whether that has happened."""
        while not (found := self._look(_LOOK_S, door)):
            pass
        return found == _CAME

    def end(self) -> int | None:
        """Kill what is left of it and of what it has started; its status as a shell has it.

        Raises StoppedError where the campaign has ended it.
        """
        if self.process is None:
            return None
        if self._pidfd >= 0:
            # As long as it is not waited for, its number is that of no other group.
            _signal(self.process.pid, signal.SIGKILL)
            self.stop.forget(self.process.pid)
            self.process.wait()
            os.close(self._pidfd)
            self._pidfd = -1
        status = super().end()
        if self.stop.is_set:
            raise StoppedError
        return status

    def _look(self, wait_s: float, door: int | None = None) -> str:
        """What has happened: it is over, somebody has come to the door, or nothing."""
        now = time.monotonic()
        if self.stop.is_set:
            self._end = min(self._end, now)
        if now < self._end:
            wait_s = min(wait_s, self._end - now)
        elif self.process is not None:
            has_grace = now < self._end + _GRACE_S
            if not has_grace or not self.has_timed_out:
                _signal(self.process.pid, signal.SIGTERM if has_grace else signal.SIGKILL)
            self.has_timed_out = True
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        if door is not None:
            poll.register(door, select.POLLIN)
        ready = [number for number, _ in poll.poll(math.ceil(1e3 * wait_s))]
        return _OVER if self._pidfd in ready else _CAME if ready else ""


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
