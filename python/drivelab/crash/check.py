"""One cut of a session: what would be on the device is laid out, and given to the checker."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab import _core, emulation
from drivelab.crash.filesystem import UnmountableError, attached, find, mounted
from drivelab.crash.session import Kept
from drivelab.errors import RunError

GOOD, LOSS, ERROR = "good", "loss", "error"
# Of the command timeout.
_TIMED_OUT = 124
_NOISE_MAX = 400


@dataclass(frozen=True)
class Checker:
    """What judges a cut."""

    plan: _core.Plan
    log: _core.CrashLog
    kept: Kept
    command: str
    """Ends with 0 where all is well and with 1 where something is lost."""
    dies: int | None
    """The member that dies after each cut."""
    timeout_s: float


@dataclass(frozen=True)
class Checked:
    """What a cut came to."""

    at_ns: int
    verdict: str
    why: str
    """Of an error or a loss: the checker's own last words."""
    committed: int | None
    lost: list[dict[str, int]]
    """Answered writes that are gone, the first stretches of them."""
    lost_sectors: int
    unanswered_writes: int
    unreadable_sectors: int


def check(checker: Checker, at_ns: int) -> Checked:
    """Cut the session at an instant and run the checker on what is left. Raises RunError."""
    with tempfile.TemporaryDirectory(prefix="drivelab-cut-") as name:
        folder = Path(name)
        image = folder / "device.img"
        after = checker.log.cut(at_ns, str(image), checker.kept.size_bytes, checker.dies)
        committed = checker.kept.committed(at_ns)
        words = {"DRIVELAB_COMMITTED": "" if committed is None else str(committed)}
        try:
            with _given(checker, folder, image) as more:
                verdict, why = _judge(checker, folder, image, {**words, **more})
        except UnmountableError as error:
            verdict, why = LOSS, f"the file system cannot be mounted: {error}"
        except RunError as error:
            # One cut that cannot be checked is no reason to lose the others.
            verdict, why = ERROR, str(error)
        return Checked(at_ns, verdict, why, committed, **after)


@contextmanager
def _given(checker: Checker, folder: Path, image: Path) -> Iterator[dict[str, str]]:
    """What the checker finds the device at."""
    if checker.kept.fs is None:
        yield {"DRIVELAB_DEVICE": str(image)}
        return
    system = find(checker.kept.fs)
    # Programs that are not run by root, as databases are, find the file system, and not the image.
    image.chmod(0o600)
    folder.chmod(0o711)
    with (
        attached(image, checker.kept.size_bytes) as device,
        mounted(system, device, folder / "mount") as at,
    ):
        yield {"DRIVELAB_DEVICE": device, "DRIVELAB_MOUNT": str(at)}


def _judge(checker: Checker, folder: Path, image: Path, words: dict[str, str]) -> tuple[str, str]:
    noise = folder / "said"
    text = f"( {checker.command}\n) > {shlex.quote(str(noise))} 2>&1"
    status = _served(checker, text, words, image)
    said = noise.read_text(encoding="utf-8", errors="replace").strip()[-_NOISE_MAX:] if noise.exists() else ""
    if status == 0:
        return GOOD, ""
    if status == 1:
        return LOSS, said
    if status == _TIMED_OUT:
        return ERROR, f"the checker has not ended after {checker.timeout_s:g} s"
    return ERROR, f"the checker ended with status {status}: {said}"


class _Told(emulation.Command):
    """A command that is told more than where the device is."""

    def __init__(self, text: str, words: dict[str, str]) -> None:
        super().__init__(text)
        self.words = words

    def start(self, words: Any) -> None:  # noqa: ANN401 - a mapping, as in the base
        super().start({**words, **self.words})


def _served(checker: Checker, text: str, words: dict[str, str], image: Path) -> int:
    """Run the checker while the image is served to it as a network block device. Returns its status."""
    # What a file system is mounted on is written through that alone.
    options = emulation.served("untimed", image=str(image), write_image=checker.kept.fs is None)
    command = _Told(f"timeout {checker.timeout_s:g} /bin/sh -c {shlex.quote(text)}", words)
    session = emulation.serve(checker.plan, options, lambda _uri, _size: None, command)
    if session.interrupted or session.status is None:
        raise KeyboardInterrupt
    return session.status
