"""What can go wrong, as the package raises it. The command line turns each kind into an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab._core import RunError, ScenarioError, UnfitError

if TYPE_CHECKING:
    from drivelab.experiment import Outcome
    from drivelab.runs.result import Result

__all__ = [
    "InputError",
    "Interrupted",
    "OptionError",
    "OutputError",
    "RefusedError",
    "RunError",
    "ScenarioError",
    "UnfitError",
]


class InputError(ValueError):
    """What was asked for cannot be read or does not exist."""


class OptionError(InputError):
    """A value of an option, or of the same key of a file: the option, the given value, the reason, and the remedy."""

    def __init__(
        self,
        option: str,
        given: object,
        message: str,
        remedy: str | None = None,
        *,
        item: int | None = None,
        is_key: bool = False,
        is_named: bool = True,
    ) -> None:
        """Create it with `option` as typed, such as `--rebuild`; `item` is the index in a list of a file.

        `is_key`: the option is the name of a key as a file has it. Without `is_named` the message names the option.
        """
        own = "seed" if option == "--randseed" else option.removeprefix("--").replace("-", "_")
        self.key = option if is_key else own
        self.message, self.remedy, self.item, self.is_key = message, remedy, item, is_key
        self.is_named = is_named
        before = [] if not is_named else [option if given is None else f"{option} {given}"]
        super().__init__(": ".join([*before, message, *([remedy] if remedy else [])]))


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
