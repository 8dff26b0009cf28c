"""Guides in README.md and docs/, as a reader follows them.

The programs of a section are written, its commands are run in order.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"# ([\w-]+\.\w+)\n")
# A session of a campaign that stays after a loss.
_KEPT = re.compile(r"--from (\S*drivelab-crash-\w+)")


def section(page: str, heading: str) -> str:
    """A section of a page of docs/, or of the README, from its heading to the next one of its level."""
    path = DOCS.parent / page if page == "README.md" else next(DOCS.rglob(page))
    text = path.read_text(encoding="utf-8")
    begin = text.index(f"{heading}\n")
    level = heading.split(maxsplit=1)[0]
    end = text.find(f"\n{level} ", begin + 1)
    return text[begin : end if end >= 0 else len(text)]


def follow(
    text: str, folder: Path, command: Sequence[str], environment: Mapping[str, str], timeout_s: float = 300
) -> list[str]:
    """Write the programs of a section, which open with their names, and run its sh blocks.

    Returns what each block has said on stdout and then on stderr.
    """
    programs = folder / "bin"
    programs.mkdir()
    # What a shell would find under `drivelab`.
    (programs / "drivelab").write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    (programs / "drivelab").chmod(0o755)
    environment = {**environment, "PATH": f"{programs}:{environment['PATH']}"}
    said = []
    for language, block in _BLOCK.findall(text):
        if language == "sh" and not _NAME.match(block):
            done = subprocess.run(
                ["/bin/sh", "-e", "-c", block],
                cwd=folder,
                env=environment,
                encoding="utf-8",
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
            for kept in _KEPT.findall(done.stdout):
                shutil.rmtree(kept, ignore_errors=True)
            assert done.returncode == 0, block + done.stdout + done.stderr
            said.append(done.stdout + done.stderr)
        elif name := _NAME.match(block):
            (folder / name[1]).write_text(block)
    return said


_SHOWN = re.compile(r"^```\n\$ (drivelab .*?)^```", re.DOTALL | re.MULTILINE)
_CSV = re.compile(r"`([\w-]+\.csv)`:\n\n```text\n(.*?)^```", re.DOTALL | re.MULTILINE)


def shown(page: str, folder: Path) -> list[tuple[list[str], str]]:
    """The commands of a page with what it shows of their output, after its files were written to a folder."""
    text = next(DOCS.rglob(page)).read_text(encoding="utf-8")
    for _, block in _BLOCK.findall(text):
        if name := _NAME.match(block):
            (folder / name[1]).write_text(block)
    for name, block in _CSV.findall(text):
        (folder / name).write_text(block)
    found = []
    for block in _SHOWN.findall(text):
        command, _, output = block.replace("\\\n", " ").partition("\n")
        found.append((shlex.split(command)[1:], output))
    return found
