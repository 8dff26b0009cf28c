"""What can go wrong, as the package raises it. The command line turns each kind into an exit code.

A message may refer to keys, which the command line gives as options, a function as arguments and a file as its keys
(`keys.py`). `str()` of an error is for the caller of a function. `raw()` has the references, for an error that becomes
part of another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drivelab.errors.keys import as_arguments, ref

if TYPE_CHECKING:
    from drivelab.experiment import Outcome
    from drivelab.runs.result import Result
    from drivelab.scenarios.problem import Problem

__all__ = [
    "InputError",
    "Interrupted",
    "OptionError",
    "OutputError",
    "RefusedError",
    "RunError",
    "ScenarioError",
    "TimelessError",
    "TooLargeError",
    "TraceError",
    "UnfitError",
    "WithKeys",
    "raw",
    "ref",
]


class WithKeys(Exception):  # noqa: N818 - what its kinds have in common
    """An error whose message may refer to keys."""

    def __str__(self) -> str:
        """The message, its keys as arguments of a function."""
        return as_arguments(raw(self))

    def __repr__(self) -> str:
        """The kind and the message."""
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """The error as it is copied, or sent to another process."""
        return _again, (type(self), self.args, self.__dict__)

    def render(self, say: Callable[[str], str]) -> None:
        """Replace the references in the message as `say` does."""
        self.args = (say(raw(self)), *self.args[1:])


def raw(error: BaseException) -> str:
    """The message of an error with its references to keys, as a part of another message."""
    return str(error.args[0] if error.args else "") if isinstance(error, WithKeys) else str(error)


def _again(kind: type[WithKeys], args: tuple[object, ...], state: dict[str, object]) -> WithKeys:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(WithKeys, ValueError):
    """What was asked for cannot be read or does not exist."""


class ScenarioError(WithKeys, ValueError):
    """The scenario cannot be run; the message shows every problem in its line."""

    def __init__(self, text: str, problems: list[Problem] | None = None) -> None:
        """Create it with the message and with everything that is wrong, each with its place and remedy."""
        super().__init__(text, problems or [])

    @property
    def found(self) -> list[Problem]:
        """Everything that is wrong, each with its place and remedy, with references to keys."""
        return list(self.args[1])

    @property
    def problems(self) -> list[Problem]:
        """The same, its keys as arguments of a function."""
        return _rendered(self.found, as_arguments)

    def render(self, say: Callable[[str], str]) -> None:
        """Replace the references in the message and in the problems as `say` does."""
        super().render(say)
        self.args = (self.args[0], _rendered(self.found, say))


class OptionError(InputError):
    """A value of an option, or of the same key of a file: the key, the given value, the reason, and the remedy."""

    def __init__(
        self,
        name: str,
        given: object,
        message: str,
        remedy: str | None = None,
        *,
        item: int | None = None,
        is_named: bool = True,
    ) -> None:
        """Create it with the name of the key, such as `rebuild`; `item` is the index in a list of a file.

        Without `is_named` the message names the key.
        """
        self.name, self.message, self.remedy, self.item, self.is_named = name, message, remedy, item, is_named
        before = [ref(name, given)] if is_named else []
        super().__init__(": ".join([*before, message, *([remedy] if remedy else [])]))


class NoSuchKeyError(OptionError):
    """A key of a file that nothing knows."""


class RunError(WithKeys, RuntimeError):
    """A run ended before its limit."""


class UnfitError(RunError):
    """The trace of a run cannot be replayed as it is: nothing ran, and another command helps."""


class TimelessError(RunError):
    """The target answers at once and the host asks again at once, so that time does not pass."""


class TooLargeError(WithKeys, ValueError):
    """A quantity is larger than its kind can be."""


class TraceError(WithKeys, ValueError):
    """A trace cannot be read, or asks for more than the drive has."""


class RefusedError(WithKeys):
    """What was asked for is refused for safety: it would destroy what somebody may need."""


class OutputError(WithKeys, OSError):
    """A result cannot be written."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a simulation or an experiment; `result` holds what had finished."""

    def __init__(self, result: Result | Outcome) -> None:
        """Keep what had finished."""
        super().__init__("interrupted; `result` holds what had finished")
        self.result = result


def _rendered(problems: list[Any], say: Callable[[str], str]) -> list[Any]:
    return [
        {
            **problem,
            "origin": say(problem["origin"]),
            "message": say(problem["message"]),
            "remedy": problem["remedy"] and say(problem["remedy"]),
        }
        for problem in problems
    ]
