"""A command from its arguments to its exit code, with streams that may be closed.

Verbs return an exit code and raise what goes wrong; `boundary.py` turns that into a message and a code.
"""

from __future__ import annotations

import errno
import io
import os
import sys

from drivelab.cli.boundary import end_on_sigterm, guarded
from drivelab.cli.exits import Exit
from drivelab.cli.output import ARGUMENTS, OPTIONS, emit, version_text


def run(arguments: list[str]) -> int:
    """Run the command line; returns its exit code."""
    # Started without a stdout or stderr (`>&-`), Python has None there. What cannot be printed is not missed,
    # lost data are; `nowhere` also keeps a file opened later from getting the number of stdout.
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        sys.stdout = sys.stdout or _Closed()
        sys.stderr = sys.stderr or nowhere
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A console of Windows may not have every sign; what a program or a file reads there is UTF-8.
                is_data = sys.platform == "win32" and stream is sys.stdout and not stream.isatty()
                is_ours = is_data and "PYTHONIOENCODING" not in os.environ
                stream.reconfigure(encoding="utf-8" if is_ours else None, errors="backslashreplace")
        end_on_sigterm()
        return guarded(_run, arguments)


class _Closed(io.TextIOBase):
    """A stdout that is not there."""

    encoding = "utf-8"

    def writable(self) -> bool:
        """It would be, were it there."""
        return True

    def write(self, text: str) -> int:
        """Fail where there is something to lose."""
        if text:
            raise OSError(errno.EBADF, "it is closed")
        return 0


def _run(arguments: list[str]) -> object:
    if arguments == ["--version"]:
        emit(version_text())
        return Exit.OK
    # Inside the boundary, so that Ctrl-C while the verbs load ends as quietly as any other.
    from drivelab.cli.app import program  # noqa: PLC0415
    from drivelab.cli.completed import words_to_load  # noqa: PLC0415
    from drivelab.cli.repeated import check_known, check_once, options_of, verb_of  # noqa: PLC0415

    ARGUMENTS.set(tuple(arguments))
    verbs = program(words_to_load(arguments))
    verb = verb_of(verbs, arguments)
    OPTIONS.set(() if verb is None else options_of(verb))
    if verb is not None:
        check_known(verb, arguments)
        check_once(verb, arguments)
    return verbs(args=arguments, standalone_mode=False)
