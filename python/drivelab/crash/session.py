"""The session of a campaign: the workload runs once on the device, and everything that cuts need is recorded."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.crash.filesystem import FileSystem, UnmountableError, attached, mounted, run
from drivelab.errors import InputError, RunError, ref
from drivelab.host import temporary
from drivelab.report.plural import counted
from drivelab.runs import emulation

FACTS = "session.json"
"""The name of the file with the facts of a session, in its folder."""
DATA = "data"
"""The name of the file with the written data, in the same folder."""
_FILES = (FACTS, "session.trace", DATA)
_LOOK_S = 0.002
_JOIN_S = 0.1
# The number fits into 64 bits.
_COMMITTED = re.compile(rb"committed (\d{1,18})\s*")
# A line that may be meant as a commit.
_MEANT = re.compile(rb"\s*committed\b.*", re.IGNORECASE | re.DOTALL)
_SHOWN_MAX = 60

LineCallback = Callable[[str], object]


@dataclass
class Kept:
    """The facts of a session besides its trace and data."""

    scenario_hash: str
    seed: int
    digest: str = ""
    size_bytes: int = 0
    """The size that a check gets: that of the device, or of the part with the file system."""
    fs: str | None = None
    began_ns: int = 0
    """The start of the workload by the model's clock."""
    ended_ns: int = 0
    data_digest: str = ""
    """The SHA-256 of the written data."""
    commits: list[tuple[int, int]] = field(default_factory=list)
    """The time of each line `committed N`, and N."""

    def first_ns(self) -> int:
        """The time of the first commit; if there is none, the start of the workload."""
        return self.commits[0][0] if self.commits else self.began_ns

    def committed(self, at_ns: int) -> int | None:
        """The last N that was committed by an instant."""
        return next((number for at, number in reversed(self.commits) if at <= at_ns), None)

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove the files of a failed session, so that the folder can be used again."""
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)

    def write(self, folder: Path) -> None:
        """Write it next to the trace and the data, which are complete."""
        self.data_digest = _digest(folder)
        (folder / FACTS).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def read(folder: Path, plan: _core.Plan) -> Kept:
        """Read the facts of a session in a folder.

        Raises InputError for a session of another scenario, for changed data, and if there is no session.
        """
        try:
            found: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
            kept = Kept(**found)
            kept.commits = [(int(at), int(number)) for at, number in kept.commits]
            digest = _digest(folder)
        except OSError as error:
            why = f"{Path(str(error.filename)).name}: {(error.strerror or str(error)).lower()}"
            raise _no_session(folder, why) from error
        except (ValueError, TypeError) as error:
            raise _no_session(folder, f"{FACTS} is damaged, or of something else") from error
        if (kept.scenario_hash, kept.seed) != (plan.scenario_hash, plan.seed):
            raise InputError(
                f"{folder}: the session is of scenario {kept.scenario_hash}, seed {kept.seed}, and this is "
                f"{plan.scenario_hash}, seed {plan.seed}: name the scenario and the options that it had"
            )
        if digest != kept.data_digest:
            raise InputError(
                f"{folder / DATA}: these are not the data that the session has written: the file was changed or is "
                "damaged; keep a session anew"
            )
        return kept


def _no_session(folder: Path, why: str) -> InputError:
    return InputError(
        f"{folder}: no session of a campaign is kept there ({why}); {ref('run', 'COMMAND')} "
        f"{ref('keep', 'DIR')} keeps one"
    )


def _digest(folder: Path) -> str:
    with (folder / DATA).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Workload(emulation.Command):
    """The command of a campaign: the commits that it reports are recorded with the model's time."""

    def __init__(self, text: str, kept: Kept, transcript: _core.Transcript, on_line: LineCallback) -> None:
        """Store the command, and where commits are recorded; `on_line` gets its other output."""
        super().__init__(text, transcript.fileno())
        self.on_line = on_line
        self.kept = kept
        self.transcript = transcript
        self.has_warned = False
        # Random marker lines, which no workload writes: their times are those of its start and its end.
        self.begins, self.ends = (secrets.token_hex().encode() for _ in range(2))

    def start(self, words: Mapping[str, str]) -> None:
        """Start it."""
        self._say(self.begins)
        super().start(words)

    def is_over(self) -> bool:
        """Whether it has ended."""
        self.hear()
        return self.has_ended()

    def has_ended(self) -> bool:
        """Whether the process has ended; processes that it has left running are not waited for."""
        if not super().is_over():
            return False
        self._say(self.ends)
        return True

    def _say(self, mark: bytes) -> None:
        # The newline first ends an incomplete line, if there is one.
        os.write(self.transcript.fileno(), b"\n" + mark + b"\n")

    def hear(self) -> None:
        """Record the output since the last call."""
        for at_ns, line in self.transcript.take():
            if line == self.begins:
                self.kept.began_ns = at_ns
            elif line == self.ends:
                self.kept.ended_ns = self.kept.ended_ns or at_ns
            elif (found := _COMMITTED.fullmatch(line)) and not self.kept.ended_ns:
                self.kept.commits.append((at_ns, int(found[1])))
            elif line:
                self.on_line(line.decode(errors="replace"))
                self._warn_of(line)

    def _warn_of(self, line: bytes) -> None:
        """Warn once of a line that was probably meant as a commit but is none."""
        if self.has_warned or self.kept.ended_ns or not _MEANT.fullmatch(line):
            return
        self.has_warned = True
        shown = line.strip()[:_SHOWN_MAX].decode(errors="replace")
        self.on_line(
            f"warning: `{shown}` commits nothing: a commit is `committed N`, with a whole number of at most 18 digits "
            "and nothing else in its line"
        )


class OnFileSystem(Workload):
    """The same on a file system that is created on the device first."""

    def __init__(
        self,
        text: str,
        kept: Kept,
        transcript: _core.Transcript,
        on_line: LineCallback,
        system: FileSystem,
        folder: Path,
    ) -> None:
        """Store the command, the file system, and the folder at which the device is mounted as a file."""
        super().__init__(text, kept, transcript, on_line)
        self.system = system
        self.folder = folder
        self.thread: threading.Thread | None = None
        self.raised: Exception | None = None
        self.is_ending = False

    def start(self, words: Mapping[str, str]) -> None:
        """Create the file system and start the command, while the device is served."""
        self.thread = threading.Thread(target=self._work, args=(dict(words),), daemon=True)
        self.thread.start()

    def _work(self, words: dict[str, str]) -> None:
        try:
            device_file = self.folder / "device" / emulation.MOUNTED_FILE
            with attached(device_file, self.kept.size_bytes, direct=True) as device:
                run([*self.system.make, device], self.system.make[0])
                with mounted(self.system, device, self.folder / "mount") as at:
                    # No cut may find an incomplete file system.
                    run(["sync", "--file-system", str(at)], "sync")
                    more = {"DRIVELAB_DEVICE": device, "DRIVELAB_MOUNT": str(at)}
                    if self.is_ending:
                        return
                    super().start({**words, **more})
                    while not self.has_ended():
                        time.sleep(_LOOK_S)
        except (RunError, UnmountableError, OSError) as error:
            self.raised = error

    def is_over(self) -> bool:
        """Whether it has ended, and the file system is unmounted."""
        self.hear()
        return self.thread is not None and not self.thread.is_alive()

    def end(self) -> int | None:
        """Ensure that it ends; returns its status as a shell reports it. Raises RunError if the file system fails."""
        self.is_ending = True
        status = super().end()
        while self.thread is not None and self.thread.is_alive():
            self.thread.join(_JOIN_S)
            # The command may have started just now.
            status = super().end()
        if self.raised is not None:
            raise RunError(f"{ref('fs', self.system.name)}: {self.raised}")
        return status


def keep(
    plan: _core.Plan,
    text: str,
    folder: Path,
    system: FileSystem | None,
    size_bytes: int,
    on_line: LineCallback,
) -> Kept:
    """Run a workload on the device of a plan, with the clock `skip`, and record the session in a folder.

    On a file system the workload has `size_bytes` of the device. `on_line` gets the output of the workload besides its
    commits. Raises RunError and InputError.
    """
    kept = Kept(plan.scenario_hash, plan.seed, fs=None if system is None else system.name)
    transcript = _core.Transcript()

    def ready(device: emulation.Ready) -> None:
        size = device.size_bytes
        if system is None:
            kept.size_bytes = size
        elif size_bytes > size:
            raise InputError(
                f"{ref('fs_size')}: the device has {counted(size, 'byte', form='d')}, fewer than {size_bytes}"
            )
        else:
            kept.size_bytes = size_bytes

    with temporary.folder("crash-device") as place:
        command = Workload(text, kept, transcript, on_line)
        options = emulation.served("skip", keep=str(folder))
        if system is not None:
            # Programs that do not run as root, such as databases, can access the file system too.
            place.chmod(0o711)
            (place / "device").mkdir(mode=0o700)
            options["mount"] = str(place / "device")
            command = OnFileSystem(text, kept, transcript, on_line, system, place)
        try:
            session = emulation.serve(plan, options, ready, command, transcript)
            command.hear()
            _check(session)
            kept.digest = session.record["digest"]
            kept.write(folder)
        except BaseException:
            Kept.remove(folder)
            raise
    return kept


def _check(session: emulation.Session) -> None:
    if session.interrupted:
        raise KeyboardInterrupt
    if session.record["failure"] is not None:
        raise RunError(f"the session has ended: {session.record['failure']}")
    if session.status:
        raise RunError(
            f"{ref('run')} ended with status {session.status}: only a workload that succeeds can be judged"
        )
