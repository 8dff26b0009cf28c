"""A shell on a device as it is after a cut: it has our terminal, or whatever our stdin is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from drivelab.host import kernel
from drivelab.runs import emulation


class Shell(emulation.Command):
    """A shell that a person works in; the device is there as long as it runs."""

    def start(self, words: Mapping[str, str]) -> None:
        """Start it with these words in its environment, unless it is running. Raises RunError."""
        if self.process is not None:
            return
        environment = {**os.environ, **emulation.with_program(), **words, **self.own_words()}
        # It has the terminal: in a session of its own it could not control its jobs.
        self.process = subprocess.Popen([self.text], env=environment)

    def wait(self, door: int) -> bool:
        """Wait until it has ended or a client connects to a listening socket. Returns whether one has connected."""
        if self.process is None:
            return False
        watched = kernel.watch(self.process.pid)
        try:
            return watched not in kernel.readable([watched, door])
        finally:
            os.close(watched)
