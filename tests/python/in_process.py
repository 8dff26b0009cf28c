"""The command line in the process of the tests: what `python -m drivelab` does, without a new interpreter for it.

The arguments go through `drivelab.cli.main`, as a process's do. Beneath it stdin is a pipe, stdout and stderr are
files under the numbers 0, 1 and 2, so that what Rust writes is captured as well; arguments, working directory,
environment, warnings, handlers of signals and the name of the program are those of a new process, and as they were
afterwards.

What it does not show: signals from outside, pipes that are closed, terminals, limits of a process, what happens while
the interpreter starts or ends, and modules that one verb forgets and another one has loaded. For those there is a
process. `test_in_process.py` holds both to the same bytes.
"""

from __future__ import annotations

import importlib.util
import io
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO
from unittest import mock

import drivelab.cli as program

TIMEOUT_S = 600.0
"""A command that takes longer than this will not end."""


def run(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: str = "",
    name: str | None = None,
    timeout: float = TIMEOUT_S,
) -> subprocess.CompletedProcess[str]:
    """Run a command; `name` is what the program is called, in place of `python -m drivelab`.

    Raises TimeoutExpired as `subprocess.run` does.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
        for number, file in enumerate([stack.enter_context(_pipe(stdin)), *files]):
            stack.enter_context(_descriptor(number, file))
        stack.enter_context(_streams())
        stack.enter_context(_called(name, arguments))
        alarm = stack.enter_context(_handlers(timeout))
        stack.enter_context(_surroundings(cwd, env))
        code = _ended()
        _flush()
        said = []
        for file in files:
            file.seek(0)
            said.append(_text(file.read()))
    if alarm.went:
        raise subprocess.TimeoutExpired([*arguments], timeout, *said)
    return subprocess.CompletedProcess([*arguments], code, *said)


def _pipe(text: str) -> IO[bytes]:
    """A pipe that holds a text, and then ends."""
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "wb") as end:
        # It has room for 64 KiB: more would wait for a reader for ever.
        os.set_blocking(theirs, False)
        end.write(text.encode())
    return os.fdopen(ours, "rb")


def _text(said: bytes) -> str:
    """As `subprocess` decodes it."""
    return said.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _ended() -> int:
    """The code that the interpreter would end with."""
    try:
        program.main()
    except SystemExit as end:
        if end.code is None:
            return 0
        if isinstance(end.code, int):
            return end.code & 0xFF
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:  # noqa: BLE001 - an interpreter does the same
        traceback.print_exc()
        return 1


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


@contextmanager
def _descriptor(number: int, file: IO[bytes]) -> Iterator[None]:
    """A file in the place of a stream of the process."""
    kept = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)


@contextmanager
def _streams() -> Iterator[None]:
    """Python's streams over the numbers 0, 1 and 2, as an interpreter opens them where there is no terminal."""
    made = [
        io.TextIOWrapper(
            io.BufferedReader(io.FileIO(0, closefd=False))
            if number == 0
            else io.BufferedWriter(io.FileIO(number, "w", closefd=False)),
            encoding="utf-8",
            errors="strict" if number < 2 else "backslashreplace",
            line_buffering=number == 2,
        )
        for number in range(3)
    ]
    names = ("stdin", "stdout", "stderr")
    kept = {name: getattr(sys, name) for name in (*names, *(f"__{name}__" for name in names))}
    for name, stream in zip(names, made, strict=True):
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    try:
        yield
    finally:
        for name, stream in kept.items():
            setattr(sys, name, stream)
        for stream in made:
            # What it still holds has gone out, or nobody wants it.
            stream.detach()


@contextmanager
def _called(name: str | None, arguments: Sequence[str]) -> Iterator[None]:
    """The program's name and arguments, where typer looks for them."""
    spec = importlib.util.find_spec("drivelab.__main__")
    assert spec is not None
    main = types.ModuleType("__main__")
    path = name
    if name is None:
        main.__package__, main.__spec__, main.__file__ = "drivelab", spec, spec.origin
        path = str(spec.origin)
    kept, sys.modules["__main__"] = sys.modules["__main__"], main
    try:
        with mock.patch.object(sys, "argv", [path, *arguments]):
            yield
    finally:
        sys.modules["__main__"] = kept


class _Alarm:
    """Ends a command that does not end by itself: as Ctrl-C would, and then it is told apart by this."""

    went = False

    def ring(self, *_: object) -> None:
        self.went = True
        raise KeyboardInterrupt


@contextmanager
def _handlers(timeout: float) -> Iterator[_Alarm]:
    """What happens at a signal, before and after, and an alarm that ends the command."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
    alarm = _Alarm()
    signal.signal(signal.SIGALRM, alarm.ring)
    signal.setitimer(signal.ITIMER_REAL, timeout)
    try:
        yield alarm
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in kept.items():
            signal.signal(number, handler)


@contextmanager
def _surroundings(cwd: Path, env: Mapping[str, str]) -> Iterator[None]:
    """The working directory, the environment, and every warning an error as with PYTHONWARNINGS."""
    kept = Path.cwd()
    with mock.patch.dict(os.environ, env, clear=True), warnings.catch_warnings():
        warnings.simplefilter(env.get("PYTHONWARNINGS", "default"))  # type: ignore[arg-type]
        os.chdir(cwd)
        try:
            yield
        finally:
            os.chdir(kept)
