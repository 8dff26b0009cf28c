"""Converts a command line of DiskSpd to a scenario: finds the line and its words, and tells what is wrong with each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from drivelab.diskspd.meaning import COMMAND, Given, WrongError, converted
from drivelab.diskspd.options import take
from drivelab.errors import InputError, ref
from drivelab.scenarios.converted import Converted, ShellError, command_lines, shell_words, told

_PROGRAM = r"diskspd(?:64|32)?(?:\.exe)?"
_COMMAND = re.compile(
    rf'^(?:&\s*)?(?:"(?:[^"]*[\\/])?{_PROGRAM}"|(?:[^"\s]*[\\/])?{_PROGRAM})(?=\s)', re.IGNORECASE
)
_REMARK = re.compile(r"^(#|::|(rem|cd|pushd|popd|@echo)\b)", re.IGNORECASE)
# A line that goes on, of cmd and of PowerShell.
_GOES_ON = re.compile(r"[\^`]\s*\n")
_WORD = re.compile(r'(?:[^\s"|&;<>]|"[^"]*")++')


def is_command(text: str) -> bool:
    """Whether a file has a command line of DiskSpd and nothing else but remarks."""
    lines = command_lines(text, _GOES_ON, _REMARK)
    return bool(lines) and all(_COMMAND.match(line) for _, line in lines)


def scenario_of(text: str, origin: str, given: Mapping[str, str] | None = None) -> Converted:
    """The scenario of a command line. Raises InputError with all problems, each with its line and option.

    `given` are the keys that are set beside the file: with a cache of the host, writes may go through the system's.
    """
    lines = command_lines(text, _GOES_ON, _REMARK)
    if len(lines) != 1:
        second = lines[1][0]
        raise InputError(
            f"{origin}:{second}: a second command line: give each a file of its own, or sweep with "
            f"{ref('iodepth', '1,4,16')}"
        )
    ((number, line),) = lines
    found, problems = Given(), []
    try:
        words = _words(line)
    except ShellError as error:
        raise told([f"{origin}:{number}: {error}"]) from error
    for word in words:
        try:
            take(word, found)
        except WrongError as wrong:
            shown = word or '""'
            problems.append(f"{origin}:{number}: {shown}: {wrong}")
    result = Converted("")
    try:
        result = converted(found, COMMAND, given or {})
    except WrongError as wrong:
        problems.append(f"{origin}:{number}: {wrong}")
    if problems:
        raise told(problems)
    return result


def _words(line: str) -> list[str]:
    """What is behind the program and is not the shell's. Raises ShellError."""
    found = _COMMAND.match(line)
    rest = line[found.end() :] if found else line
    words = [word.replace('"', "") for word in shell_words(rest, _WORD)]
    # Other sizes may be given in blocks, wherever -b stands.
    return sorted(words, key=lambda word: not word.startswith(("-b", "/b")))
