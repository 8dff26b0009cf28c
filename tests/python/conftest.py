"""The command line as a user has it, its two outputs apart: in the process of the tests, or in one of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import in_process
import pytest
from devices import DRIVE, Device, served

Run = Callable[..., subprocess.CompletedProcess[str]]

# A station of queueing theory: quick, and no drive file decides what it does.
QUEUE = """\
name = "one station"

[target]
server = { service = "exponential", mean = "8ms" }

[workload]
rw = "randread"
iodepth = [1, 4, 16]

[run]
warmup = "1s"
ios = 5000
"""


@pytest.fixture
def command() -> list[str]:
    """What a shell would find under `drivelab`."""
    return [sys.executable, "-m", "drivelab"]


@pytest.fixture
def environment() -> dict[str, str]:
    """No colours and no terminal width from whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "COLUMNS"}}
    return {**kept, "PYTHONWARNINGS": "error", "DRIVELAB_TRACEBACK": ""}


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run a verb in an empty folder, in this process: `run("simulate", "a.toml")`."""

    def run(
        *arguments: str | Path,
        cwd: Path = tmp_path,
        env: Mapping[str, str] = environment,
        stdin: str = "",
        name: str | None = None,
        timeout: float = in_process.TIMEOUT_S,
    ) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        return in_process.run(words, cwd=cwd, env=env, stdin=stdin, name=name, timeout=timeout)

    return run


@pytest.fixture
def process(command: list[str], environment: dict[str, str], tmp_path: Path) -> Run:
    """The same in a process of its own, for what only a process has: closed pipes, limits, its own modules."""

    def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # type: ignore[call-overload,no-any-return]  # noqa: PLW1510 - the tests look at the code
            [*command, *map(str, arguments)],
            **{
                "cwd": tmp_path,
                "env": environment,
                "timeout": in_process.TIMEOUT_S,
                "encoding": "utf-8",
                "capture_output": True,
            }
            | options,
        )

    return run


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """A scenario of three points that takes no time."""
    path = tmp_path / "queue.toml"
    path.write_text(QUEUE, encoding="utf-8")
    return path


UNMEASURED = (
    "the measurements of real drives are not part of the repository (DRIVELAB_REFERENCE names their folder)"
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """One place for all tests that lack the measurements: what has one place and one reason is one line."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and UNMEASURED in report.longrepr[2]:
        report.longrepr = (__file__, 0, report.longrepr[2])
    return report


@pytest.fixture
def reference() -> Callable[[str], Path]:
    """The path of a file of measured data: below DRIVELAB_REFERENCE, or in shared/reference beside the checkout.

    They are not part of the repository. Tests that are skipped without them are counted in one line.
    """
    beside = Path(__file__).resolve().parents[3] / "shared" / "reference"
    folder = Path(os.environ.get("DRIVELAB_REFERENCE") or beside)

    def path(name: str) -> Path:
        if not (folder / name).exists():
            pytest.skip(UNMEASURED)
        return folder / name

    return path


@pytest.fixture
def crashtest(run: Run, tmp_path: Path) -> Iterator[Run]:
    """Run a campaign on a scenario: `crashtest(DRIVE, "--run", ..., "--check", ...)`."""
    kept: set[str] = set()

    def crashtest(scenario: str, *options: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "d.toml").write_text(scenario, encoding="utf-8")
        done = run("crashtest", "d.toml", *options)
        kept.update(re.findall(r"--from (\S*drivelab-crash-\w+)", done.stdout))
        return done

    yield crashtest
    # After a loss the session stays for who wants to repeat it.
    for folder in kept:
        shutil.rmtree(folder)


@pytest.fixture
def serve(
    command: list[str], environment: dict[str, str], tmp_path: Path
) -> Callable[..., AbstractContextManager[Device]]:
    """A device in a process of its own: `with serve(DRIVE, "--block-size", "512", clock="real") as device`."""

    def serve(scenario: str = DRIVE, *options: str, clock: str = "skip") -> AbstractContextManager[Device]:
        return served(command, environment, tmp_path, scenario, *options, clock=clock)

    return serve


@pytest.fixture
def mounts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """Skip, by the test's name, where no file system can be made and mounted; leave nothing mounted."""
    lacks = [
        why
        for why, has in {
            "root": os.geteuid() == 0,
            "/dev/fuse": os.access("/dev/fuse", os.W_OK),
            "/dev/loop-control": os.access("/dev/loop-control", os.W_OK),
            "mkfs.ext4": shutil.which("mkfs.ext4"),
            "losetup": shutil.which("losetup"),
        }.items()
        if not has
    ]
    if lacks:
        pytest.skip(f"{request.node.name}: no {', '.join(lacks)}")
    yield
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        if (at := line.split()[1]).startswith(str(tmp_path)):
            subprocess.run(["umount", "--lazy", at], check=False)
