"""What a campaign or session that was killed has left: mounts, loop devices, images, processes. The next removes it."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from drivelab.host import kernel, processes, temporary

MEMORY = Path("/dev/shm")  # noqa: S108 - folders of our own are made there
_GONE_S = 5.0
_LOOK_S = 0.01
_TIMEOUT_S = 30.0


def sweep() -> int:
    """Remove what processes that are dead have left: mounts, loop devices, images, and what they had running.

    Returns the number of folders. What cannot be removed stays.
    """
    count = 0
    for place in {MEMORY, Path(tempfile.gettempdir())}:
        for found in sorted(place.glob("drivelab-*")):
            pid = temporary.owner(found)
            if pid is None or not kernel.is_dead(pid):
                continue
            with suppress(OSError):
                if found.stat().st_uid != kernel.user():
                    continue
            # A process that this one does not see, as in another container, has it locked.
            lock = temporary.locked(found)
            if lock is not None:
                try:
                    _remove(found)
                finally:
                    os.close(lock)
                count += not found.exists()
    return count


def unmounted(place: Path) -> bool:
    """Unmount the device of a killed session from a folder. Returns false where one is left there."""
    try:
        place.stat()
    except OSError as error:
        if error.errno != errno.ENOTCONN:
            return True
    else:
        return True
    if ("drivelab", place.parent.resolve() / place.name) not in _mounted():
        return False
    return _succeeds("umount", "--lazy", str(place)) or _succeeds("fusermount3", "-u", "-z", str(place))


def _remove(place: Path) -> None:
    end = time.monotonic() + _GONE_S
    while (left := _started(place)) and time.monotonic() < end:
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                kernel.kill(pid)
        time.sleep(_LOOK_S)
    for at in reversed(_mounts(place)):
        if not _succeeds("umount", str(at)):
            _succeeds("umount", "--lazy", str(at))
    for device in _loop_devices(place):
        _succeeds("losetup", "--detach", device)
    # What is still mounted is not ours to empty.
    if not _mounts(place):
        shutil.rmtree(place, ignore_errors=True)


def _started(place: Path) -> list[int]:
    """The processes that know of a device in a folder: a workload or a checker, and what they have started."""
    within = f"{place}/".encode()

    def knows_it(pid: int) -> bool:
        with suppress(OSError):
            words = (Path("/proc") / str(pid) / "environ").read_bytes().split(b"\0")
            return any(word.startswith(b"DRIVELAB_") and within in word for word in words)
        return False

    return [one.pid for one in processes.living() if one.pid != os.getpid() and knows_it(one.pid)]


def _mounts(place: Path) -> list[Path]:
    """What is mounted within a folder, in the order in which it was."""
    return [at for _, at in _mounted() if place in at.parents]


def _mounted() -> list[tuple[str, Path]]:
    """All mounts, in the order in which they were: source and place."""
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        # Only Linux mounts a device here.
        return []
    words = [line.split() for line in lines]
    return [
        (word[0], Path(re.sub(r"\\([0-7]{3})", lambda one: chr(int(one[1], 8)), word[1]))) for word in words
    ]


def _loop_devices(place: Path) -> list[str]:
    if shutil.which("losetup") is None:
        return []
    command = ["losetup", "--list", "--noheadings", "--raw", "--output", "NAME,BACK-FILE"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return [name for name, _, file in lines if file.startswith(f"{place}/")]


def _succeeds(*command: str) -> bool:
    try:
        return not subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False).returncode
    except (subprocess.TimeoutExpired, OSError):
        return False
