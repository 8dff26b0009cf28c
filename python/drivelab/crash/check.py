"""One cut of a session: what would be on the device is laid out, and given to the checker."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from drivelab import _core, emulation, remains, temporary
from drivelab.crash.filesystem import UNMOUNTABLE, UnmountableError, attached, find, mounted
from drivelab.crash.judge import Judge, Stop
from drivelab.crash.session import Kept
from drivelab.errors import RunError

GOOD, LOSS, ERROR = "good", "loss", "error"
_NOISE_MAX = 400
_IMAGE = "device.img"
# A file system writes to its image each time that it syncs; here no disk waits for that.
_MEMORY = remains.MEMORY


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
    place: str | None = None
    """The folder for the images; that of all temporary files by default."""
    stop: Stop = field(default_factory=Stop)
    """Ends the checkers that run."""


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
    """Cut the session at an instant and run the checker on what is left.

    Raises RunError, and StoppedError where the campaign ends meanwhile.
    """
    with temporary.folder("cut", checker.place) as folder:
        image = folder / _IMAGE
        after = checker.log.cut(at_ns, str(image), checker.kept.size_bytes, checker.dies)
        committed = checker.kept.committed(at_ns)
        words = {"DRIVELAB_COMMITTED": "" if committed is None else str(committed)}
        try:
            with _given(checker, folder, image) as more:
                verdict, why = _judge(checker, folder, at_ns, {**words, **more})
        except UnmountableError as error:
            verdict, why = LOSS, f"{UNMOUNTABLE}: {error}"
        except RunError as error:
            # One cut that cannot be checked is no reason to lose the others.
            verdict, why = ERROR, str(error)
        return Checked(at_ns, verdict, why, committed, **after)


def place_for(kept: Kept, workers: int) -> str | None:
    """Where so many images at once go: into memory if they hold a file system and there is plenty of room."""
    if kept.fs is None or "TMPDIR" in os.environ or not _MEMORY.is_mount():
        return None
    # As much again is left to everybody else.
    needed = 2 * workers * kept.size_bytes
    facts = Path("/proc/meminfo").read_text(encoding="ascii")
    found = re.search(r"^MemAvailable: +(\d+) kB$", facts, re.MULTILINE)
    available = int(found[1]) * 1024 if found else 0
    return str(_MEMORY) if min(shutil.disk_usage(_MEMORY).free, available) > needed else None


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


def _judge(checker: Checker, folder: Path, at_ns: int, words: dict[str, str]) -> tuple[str, str]:
    noise = folder / "said"
    judge = Judge(checker.command, words, noise, checker.timeout_s, checker.stop)
    listener = _core.Listener(str(folder / "nbd.socket"))
    try:
        judge.start({**emulation.in_words(listener.uri), **words})
        # Most checkers never come there, and a server takes longer than they do.
        if judge.wait(listener.fileno()):
            _serve(checker, folder, at_ns, listener, judge)
    finally:
        status = judge.end()
    if judge.has_timed_out:
        return ERROR, f"the checker has not ended after {checker.timeout_s:g} s"
    said = noise.read_text(encoding="utf-8", errors="replace").strip()[-_NOISE_MAX:]
    if status == 0:
        return GOOD, ""
    return (LOSS, said) if status == 1 else (ERROR, f"the checker ended with status {status}: {said}")


def _serve(checker: Checker, folder: Path, at_ns: int, listener: _core.Listener, judge: Judge) -> None:
    """Serve the device as it was after the cut, until the checker has ended. Raises RunError."""
    image = folder / _IMAGE
    if checker.kept.fs is not None:
        # What is mounted changes meanwhile, and is not to be changed by anybody else.
        image = folder / "asked.img"
        checker.log.cut(at_ns, str(image), checker.kept.size_bytes, checker.dies)
    options = emulation.served(
        "untimed", listener=listener, image=str(image), write_image=checker.kept.fs is None
    )
    if emulation.serve(checker.plan, options, lambda _uri, _size: None, judge).interrupted:
        raise KeyboardInterrupt
