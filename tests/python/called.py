"""A program that a test runs to its end, with all it said where it fails."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

TIMEOUT_S = 900.0
"""What takes longer, a build of everything included, will not end."""


def called(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; where it fails, the test does with all it said."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=None if env is None else dict(env),
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
