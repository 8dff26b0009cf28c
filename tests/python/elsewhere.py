"""A process as on macOS or Windows, as far as Linux can play them: `python elsewhere.py win32 '[["schema"], ..]'`.

What the system lacks is taken away before drivelab is loaded: modules cannot be imported, names are gone from `os`,
`signal`, `socket` and `select`, `sys.platform` is the system's, and /proc, /sys and /dev are not there for Python. What
asks for the platform as it is imported, the standard library and other people's packages, is loaded before that, as
Linux has it. It shows what drivelab touches, and not that macOS or Windows do as they should.

Runs each command, and prints a line of JSON with its exit code and what it has said. `imports` in place of the commands
imports every module instead.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import types

BEFORE = (
    "altair asyncio concurrent.futures ctypes getpass multiprocessing.pool multiprocessing.resource_sharer numpy "
    "numpy.random platform pty rich.console rich.progress scipy.optimize scipy.signal scipy.special scipy.stats shutil "
    "sqlite3 subprocess tempfile typer uuid vl_convert webbrowser xml.etree.ElementTree"
)
MODULES = {
    "darwin": ("spwd", "ossaudiodev"),
    "win32": ("fcntl", "grp", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty"),
}
# Attributes by module; what this Python has not is passed over.
_LINUX = {
    "os": "pidfd_open sched_getaffinity sched_setaffinity O_DIRECT posix_fadvise posix_fallocate sendfile splice "
    "memfd_create eventfd setns unshare",
    "signal": "pidfd_send_signal SIGPOLL SIGPWR SIGSTKFLT SIGRTMIN SIGRTMAX",
    "socket": "AF_NETLINK AF_PACKET AF_VSOCK",
    "select": "epoll EPOLLIN",
}
_UNIX = {
    "os": "fork forkpty geteuid getuid getegid getgid getpgid getpgrp getpriority setsid setpgid killpg major minor "
    "makedev mkfifo mknod pread preadv pwrite pwritev readv writev uname wait wait3 wait4 waitid WNOHANG WIFEXITED "
    "O_CLOEXEC O_DIRECTORY O_NONBLOCK O_NOCTTY O_SYNC O_DSYNC SEEK_DATA SEEK_HOLE statvfs fstatvfs chown fchown fchmod "
    "lockf openpty sysconf getloadavg nice",
    "signal": "SIGKILL SIGHUP SIGCONT SIGSTOP SIGCHLD SIGUSR1 SIGUSR2 SIGQUIT SIGALRM SIGPIPE SIGTSTP SIGWINCH "
    "pthread_kill pthread_sigmask alarm setitimer pause sigwait",
    "socket": "AF_UNIX socketpair",
    "select": "poll POLLIN",
}
GONE = {"darwin": (_LINUX,), "win32": (_LINUX, _UNIX)}
_TREES = ("/proc", "/sys", "/dev")
_KEPT = {"/dev/null", "/dev/urandom"}


class _Blocked:
    """Finds none of the modules that the system has not."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse the import."""
        if name in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _msvcrt() -> types.ModuleType:
    """Windows' locks of bytes by those of files; the real one needs the place to be that of the byte."""
    import fcntl

    found = types.ModuleType("msvcrt")
    flock, unlocked, taken = fcntl.flock, fcntl.LOCK_UN, fcntl.LOCK_EX | fcntl.LOCK_NB

    def locking(opened: int, how: int, count: int) -> None:
        if count != 1 or not 0 < os.lseek(opened, 0, os.SEEK_CUR) < 2**31:
            raise ValueError("the byte that is locked")
        flock(opened, unlocked if how == found.LK_UNLCK else taken)

    found.__dict__.update(LK_UNLCK=0, LK_NBLCK=2, locking=locking)
    return found


def _no_trees(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse to open what Linux shows as files."""
    if event in {"open", "os.listdir", "os.scandir"} and arguments and isinstance(arguments[0], str):
        place = arguments[0]
        if place not in _KEPT and any(place == tree or place.startswith(f"{tree}/") for tree in _TREES):
            raise FileNotFoundError(2, "there is no such folder on this system", place)


def become(system: str) -> None:
    """Take away what the system lacks."""
    for name in BEFORE.split():
        importlib.import_module(name)
    if system == "win32":
        sys.modules["msvcrt"] = _msvcrt()
    modules = {"os": os, "signal": signal, "socket": socket, "select": select}
    for table in GONE[system]:
        for module, names in table.items():
            for name in names.split():
                if hasattr(modules[module], name):
                    delattr(modules[module], name)
    for name in MODULES[system]:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Blocked(MODULES[system]))
    sys.platform = system
    sys.addaudithook(_no_trees)


def all_modules() -> list[str]:
    """Import every module of the package, and return their names."""
    import drivelab

    found = [one.name for one in pkgutil.walk_packages(drivelab.__path__, "drivelab.")]
    for name in found:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    return found


def run(arguments: list[str]) -> dict[str, object]:
    """The exit code of a command, and what it has said."""
    from drivelab.cli.command import run as run_command

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command(arguments)
    return {"code": int(code), "out": out.getvalue(), "err": err.getvalue()}


def main(system: str, what: str) -> None:
    """Become the system, unless this is it, and do what is asked for."""
    if system != sys.platform:
        become(system)
    found = all_modules() if what == "imports" else [run(words) for words in json.loads(what)]
    print(json.dumps(found))  # noqa: T201 - what the test reads


if __name__ == "__main__":
    main(*sys.argv[1:])
