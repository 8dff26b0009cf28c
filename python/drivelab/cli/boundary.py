"""The one place where an exception becomes a message and an exit code. No traceback passes it.

Set DRIVELAB_TRACEBACK=1 to see where a defect of drivelab itself comes from.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from drivelab.cli.exits import Exit
from drivelab.cli.output import ReaderGone, as_typed, say
from drivelab.errors import InputError, OutputError, RefusedError, RunError, ScenarioError, UnfitError, raw
from drivelab.report.plural import counted

SHOWN_CHARACTERS_MAX = 4_000


class _Ended(KeyboardInterrupt):
    """SIGTERM: as Ctrl-C, with a code of its own."""

    came = False


def end_on_sigterm() -> None:
    """Let SIGTERM end a run as Ctrl-C does: what had finished is kept. A second one ends the process at once."""

    def end(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        _Ended.came = True
        raise _Ended

    signal.signal(signal.SIGTERM, end)


def guarded(verbs: Callable[[list[str]], object], arguments: list[str]) -> int:
    """Run the verbs on the arguments and return the exit code, whatever happens."""
    try:
        code = verbs(arguments)
    except BaseException as error:  # noqa: BLE001 - the boundary
        code = _code_of(error)
    code = code if isinstance(code, int) else Exit.OK
    return _flushed(Exit.ENDED if code == Exit.INTERRUPTED and _Ended.came else code)


def _code_of(error: BaseException) -> int:
    match error:
        # rich, which writes the help, raises SystemExit where its reader has seen enough.
        case ReaderGone() | SystemExit(__context__=BrokenPipeError()):
            _abandon_stdout()
            return Exit.OK
        case SystemExit(code=code):
            return code if isinstance(code, int) else Exit.FAILED
        case KeyboardInterrupt():
            say("interrupted")
            return Exit.INTERRUPTED
        case ScenarioError() | InputError() | RefusedError() | UnfitError():
            return _refusal(error)
        case OutputError() | RunError():
            say(f"error: {raw(error)}")
            return Exit.FAILED
        case OSError():
            say(f"error: {error.strerror or error}{f': {error.filename}' if error.filename else ''}")
            return Exit.FAILED
        case MemoryError():
            say("error: out of memory")
            return Exit.FAILED
    # Nothing of it has been raised where it is not loaded, and it takes longer to load than `--version` to answer.
    if "typer" in sys.modules and (code := _code_of_usage(error)) is not None:
        return code
    if os.environ.get("DRIVELAB_TRACEBACK"):
        raise error
    say(f"error: a defect of drivelab, please report it: {type(error).__name__}: {error}")
    return Exit.FAILED


def _refusal(error: Exception) -> int:
    """What was asked for cannot be, or is not done for safety."""
    if isinstance(error, RefusedError):
        say(f"refused: {raw(error)}")
        return Exit.REFUSED
    text = as_typed(raw(error))
    say(text if isinstance(error, ScenarioError) else f"error: {_shortened(text)}")
    return Exit.USAGE


def _code_of_usage(error: BaseException) -> int | None:
    """The code of what typer raises; None of anything else."""
    import typer  # noqa: PLC0415

    match error:
        case typer.Abort():
            say("interrupted")
            return Exit.INTERRUPTED
        case typer.TyperException():
            # Without a verb the help is on stdout already, and there is no message.
            if message := error.format_message():
                say(f"error: {_shortened(message)}\nTry --help for the options.")
            return error.exit_code
    return None


def _shortened(text: str) -> str:
    """A message without the middle of a name of any length: it begins with what is wrong, and ends with the remedy."""
    if len(text) <= SHOWN_CHARACTERS_MAX:
        return text
    half = SHOWN_CHARACTERS_MAX // 2
    return f"{text[:half]} [.. {counted(len(text) - 2 * half, 'more character')} ..] {text[-half:]}"


def _flushed(code: int) -> int:
    """What is still in stdout's buffer goes out now: at exit it is too late for a message."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _abandon_stdout()
        if not isinstance(error, BrokenPipeError):
            say(f"error: cannot write to stdout: {(error.strerror or str(error)).lower()}")
            return Exit.FAILED
    return code


def _abandon_stdout() -> None:
    """Send the rest nowhere, or the interpreter complains on its way out."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a file descriptor is wanted
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
