"""One cut of a session: the state of the device after it is written to an image and passed to the checker."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from drivelab import _core
from drivelab.crash.filesystem import UNMOUNTABLE, UnmountableError, attached, find, mounted
from drivelab.crash.judge import Judge, Stop, StoppedError
from drivelab.crash.session import Kept
from drivelab.crash.shell import Shell
from drivelab.errors import RunError, raw
from drivelab.host import remains, temporary
from drivelab.runs import emulation

GOOD, LOSS, ERROR = "good", "loss", "error"
_NOISE_MAX = 400
_IMAGE = "device.img"
# What a person in a shell on a device is told of its environment.
_SHOWN = ("DRIVELAB_DEVICE", "DRIVELAB_MOUNT", "DRIVELAB_COMMITTED", "uri")
# A file system writes to its image at each sync; in memory these writes wait for no disk.
_MEMORY = remains.MEMORY


@dataclass(frozen=True)
class Checker:
    """The checker of the cuts, and its parameters."""

    plan: _core.Plan
    log: _core.CrashLog
    kept: Kept
    command: str
    """The command; it ends with status 0 if all is well and with 1 if data are lost."""
    dies: int | None
    """The member that fails after each cut."""
    timeout_s: float
    place: str | None = None
    """The folder for the images; by default the folder of temporary files."""
    stop: Stop = field(default_factory=Stop)
    """Ends the running checkers."""


@dataclass(frozen=True)
class Checked:
    """The result of a cut."""

    at_ns: int
    verdict: str
    why: str
    """The last output of the checker, for an error or a loss."""
    committed: int | None
    lost: list[dict[str, int]]
    """Acknowledged writes that are lost: the first ranges."""
    lost_sectors: int
    unanswered_writes: int
    unreadable_sectors: int
    is_mountable: bool = True
    """Whether its file system could be mounted, if it has one."""


def check(checker: Checker, at_ns: int) -> Checked:
    """Cut the power of the session at an instant and run the checker on the result.

    Raises RunError, and StoppedError if the campaign ends meanwhile.
    """
    with temporary.folder("cut", checker.place) as folder:
        image = folder / _IMAGE
        after = checker.log.cut(at_ns, str(image), checker.kept.size_bytes, checker.dies)
        committed = checker.kept.committed(at_ns)
        is_mountable = True
        words = {"DRIVELAB_COMMITTED": "" if committed is None else str(committed)}
        try:
            with _given(checker, folder, image) as more:
                verdict, why = _judge(checker, folder, at_ns, {**words, **more})
        except UnmountableError as error:
            _check_running(checker)
            verdict, why, is_mountable = LOSS, f"{UNMOUNTABLE}: {error}", False
        except RunError as error:
            _check_running(checker)
            # A cut that cannot be checked must not discard the results of the others.
            verdict, why = ERROR, raw(error)
        return Checked(at_ns, verdict, why, committed, **after, is_mountable=is_mountable)


def _check_running(checker: Checker) -> None:
    """Whoever interrupts a campaign may have broken off what the check needs. Raises StoppedError."""
    if checker.stop.is_set:
        raise StoppedError


def explore(checker: Checker, one: Checked, shell: str, say: Callable[[str], object]) -> None:
    """Open a shell on a device as it is after a cut, with what the checker gets, and wait until it ends.

    Raises RunError and KeyboardInterrupt.
    """
    with temporary.folder("cut", checker.place) as folder, ExitStack() as stack:
        image = folder / _IMAGE
        checker.log.cut(one.at_ns, str(image), checker.kept.size_bytes, checker.dies)
        committed = {"DRIVELAB_COMMITTED": "" if one.committed is None else str(one.committed)}
        try:
            more = stack.enter_context(_given(checker, folder, image))
        except UnmountableError:
            more = {"DRIVELAB_DEVICE": stack.enter_context(attached(image, checker.kept.size_bytes))}
        listener = _core.Listener(str(folder / "nbd.socket"))
        words = {**emulation.in_words(listener.uri), **committed, **more}
        opened = Shell(shell)
        for line in _introduced(checker, one, shell, words):
            say(line)
        try:
            opened.start(words)
            if opened.wait(listener.fileno()):
                _serve(checker, folder, one.at_ns, listener, opened)
        finally:
            opened.end()


def _introduced(checker: Checker, one: Checked, shell: str, words: Mapping[str, str]) -> Iterator[str]:
    """What a person should know as the shell opens: the cut, the checker's words, and where the device is."""
    committed = "nothing was committed" if one.committed is None else f"committed {one.committed}"
    verdict = "loss" if one.verdict == LOSS else "not judged"
    yield f"{verdict} at {one.at_ns / 1e9:.9f} s: {committed}; the checker: {checker.command}"
    yield from (f"  {text}" for text in one.why.splitlines())
    for name in _SHOWN:
        if name in words:
            yield f"{name}={words[name]}"
    yield f"{shell}: the device as it is after this cut; changes to it are lost when the shell ends"


def place_for(kept: Kept, workers: int) -> str | None:
    """The folder for this number of images: in memory if they hold a file system and there is enough space."""
    if kept.fs is None or "TMPDIR" in os.environ or not os.path.ismount(_MEMORY):
        return None
    # As much again is left to other programs.
    needed = 2 * workers * kept.size_bytes
    facts = Path("/proc/meminfo").read_text(encoding="ascii")
    found = re.search(r"^MemAvailable: +(\d+) kB$", facts, re.MULTILINE)
    available = int(found[1]) * 1024 if found else 0
    return str(_MEMORY) if min(shutil.disk_usage(_MEMORY).free, available) > needed else None


@contextmanager
def _given(checker: Checker, folder: Path, image: Path) -> Iterator[dict[str, str]]:
    """The environment variables that give the checker the location of the device."""
    if checker.kept.fs is None:
        yield {"DRIVELAB_DEVICE": str(image)}
        return
    system = find(checker.kept.fs)
    # Programs that do not run as root, such as databases, can access the file system but not the image.
    image.chmod(0o600)
    folder.chmod(0o711)
    with (
        attached(image, checker.kept.size_bytes) as device,
        mounted(system, device, folder / "mount") as at,
    ):
        yield {"DRIVELAB_DEVICE": device, "DRIVELAB_MOUNT": str(at)}


def _judge(checker: Checker, folder: Path, at_ns: int, words: dict[str, str]) -> tuple[str, str]:
    noise = folder / "output"
    judge = Judge(checker.command, words, noise, checker.timeout_s, checker.stop)
    listener = _core.Listener(str(folder / "nbd.socket"))
    try:
        judge.start({**emulation.in_words(listener.uri), **words})
        # Most checkers do not connect, and starting a server takes longer than they do.
        if judge.wait(listener.fileno()):
            _serve(checker, folder, at_ns, listener, judge)
    finally:
        status = judge.end()
    if judge.has_timed_out:
        return ERROR, f"the checker has not ended after {checker.timeout_s:g} s"
    output = noise.read_text(encoding="utf-8", errors="replace").strip()[-_NOISE_MAX:]
    if status == 0:
        return GOOD, ""
    return (LOSS, output) if status == 1 else (ERROR, f"the checker ended with status {status}: {output}")


def _serve(
    checker: Checker, folder: Path, at_ns: int, listener: _core.Listener, command: emulation.Command
) -> None:
    """Serve the device in its state after the cut, until the checker, or a shell, has ended. Raises RunError."""
    image = folder / _IMAGE
    if checker.kept.fs is not None:
        # The mounted image changes meanwhile, and nothing else may change it: serve a second copy.
        image = folder / "asked.img"
        checker.log.cut(at_ns, str(image), checker.kept.size_bytes, checker.dies)
        # The file system has the beginning of the device, and the rest is zeros.
        os.truncate(image, checker.plan.capacity_bytes(0))
    options = emulation.served(
        "untimed", listener=listener, image=str(image), write_image=checker.kept.fs is None
    )
    if emulation.serve(checker.plan, options, lambda _device: None, command).interrupted:
        raise KeyboardInterrupt
