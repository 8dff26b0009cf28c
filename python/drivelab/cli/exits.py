"""What the exit code of `drivelab` means."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The codes, the same for every verb."""

    OK = 0
    FAILED = 1
    """A run failed, or its result could not be written."""
    USAGE = 2
    """The command line or the scenario is wrong."""
    COMPARISON = 3
    """A threshold or a comparison failed."""
    REFUSED = 4
    """Refused for safety."""
    INTERRUPTED = 130
    """Ctrl-C; what had finished is printed and written."""
    ENDED = 143
    """SIGTERM; the same."""
