"""What can go wrong, as the package raises it. The command line turns each kind into an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab._core import RunError, ScenarioError, UnfitError

if TYPE_CHECKING:
    from drivelab.experiment import Outcome
    from drivelab.result import Result

__all__ = [
    "InputError",
    "Interrupted",
    "OutputError",
    "RefusedError",
    "RunError",
    "ScenarioError",
    "UnfitError",
]


class InputError(ValueError):
    """What was asked for cannot be read or does not exist."""


class RefusedError(Exception):
    """What was asked for is refused for safety: it would destroy what somebody may need."""


class OutputError(OSError):
    """A result cannot be written."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a simulation or an experiment; `result` holds what had finished."""

    def __init__(self, result: Result | Outcome) -> None:
        """Keep what had finished."""
        super().__init__("interrupted; `result` holds what had finished")
        self.result = result
