"""What commands say is wrong, held to a file of `tests/golden`: each command with its line on stderr and its exit code.

`DRIVELAB_UPDATE_GOLDEN=1` writes the file anew; it is then reviewed like any other change.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def told(
    run: Callable[..., Any],
    commands: Iterable[Sequence[str]],
    folder: Path,
    stand_for: Mapping[str, str] | None = None,
) -> str:
    """Each command, and what it says. What depends on the machine is `FOLDER`, or a word that stands for it."""
    words = stand_for or {}
    blocks = []
    for command in commands:
        done = run(*(words.get(word, word) for word in command), cwd=folder)
        assert done.stdout == "", command
        said = _portable(done.stderr, folder)
        blocks.append(f"$ drivelab {shlex.join(command)}\n{said}exit code {done.returncode}\n")
    return "\n".join(blocks)


def _portable(text: str, folder: Path) -> str:
    """Without the folder of this run, and without its length in the marks below a line that names it."""
    lines = list[str]()
    for line in text.split("\n"):
        names_it = bool(lines) and "FOLDER" in lines[-1] and not line.strip(" |^")
        lines.append(re.sub(r"\^+", "^", line) if names_it else line.replace(str(folder), "FOLDER"))
    return "\n".join(lines)


def held(name: str, text: str) -> None:
    """The file says the same."""
    path = GOLDEN / name
    if os.environ.get("DRIVELAB_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()
