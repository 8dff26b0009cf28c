"""What is asked of a campaign, checked, and the campaign from its session to its result: the verb, and Python's
`drivelab.crashtest`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from drivelab import _core
from drivelab.crash import campaign, summary
from drivelab.crash.check import LOSS, Checker, explore, place_for
from drivelab.crash.filesystem import FileSystem, check_size, find
from drivelab.crash.leftover import adopting
from drivelab.crash.session import FACTS, Kept, keep
from drivelab.errors import InputError, RunError, raw, ref
from drivelab.host import kernel, remains
from drivelab.report.plural import counted
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.quantities import size_bytes, span_ns
from drivelab.scenarios.scenario import Override, Scenario, Source, overrides_from, plan, read_source

CUTS = 100
FS_SIZE = "512MiB"
Say = Callable[[str], object]
Bar = Callable[[int], AbstractContextManager[campaign.Progress]]
"""Makes a bar for a number of cuts."""


@dataclass(frozen=True)
class Asked:
    """The options of a campaign as typed."""

    check: str | None
    run: str | None = None
    fs: str | None = None
    fs_size: str | None = None
    cuts: int | None = None
    every: str | None = None
    at: str | None = None
    seed: int = 1
    dies: int | None = None
    timeout: str = "60s"
    keep_in: Path | None = None
    kept_in: Path | None = None
    workers: int | None = None
    shell: str | None = None
    """The shell that is opened on the first failing cut."""

    @staticmethod
    def shell_of(wanted: bool) -> str | None:
        """The shell of this user, if one is wanted."""
        return os.environ.get("SHELL") or "/bin/sh" if wanted else None

    def check_words(self) -> None:
        """Refuse options that say nothing together, and a system that has not what it takes. Raises InputError."""
        why = "it mounts, and ends what a checker has started, by what Linux's kernel tells of processes"
        kernel.need_linux("`crashtest`", why)
        if self.check is None:
            raise InputError(f"{ref('check')}: a campaign needs a command that judges what is left")
        if (self.run is None) == (self.kept_in is None):
            raise InputError(
                f"{ref('run', 'COMMAND')} or {ref('kept', 'DIR')}: the session is made, or was kept; give one "
                "of the two"
            )
        if sum(one is not None for one in (self.cuts, self.every, self.at)) > 1:
            raise InputError(
                f"{ref('cuts')}, {ref('every')} and {ref('at')}: each says where to cut; give one of them"
            )
        if self.every not in {None, "flush"}:
            raise InputError(f"{ref('every', self.every)}: there is {ref('every', 'flush')}")
        if self.fs_size is not None and self.fs is None:
            raise InputError(f"{ref('fs_size')}: there is no file system to have it; give {ref('fs')}")
        if self.kept_in is not None and (self.fs is not None or self.keep_in is not None):
            raise InputError(
                f"{ref('kept')}: the session has its file system and its folder; leave {ref('fs')} and "
                f"{ref('keep')} out"
            )
        if self.shell is not None and shutil.which(self.shell) is None:
            raise InputError(
                f"{ref('shell')}: {self.shell} is no program here: set SHELL to the path of a shell"
            )
        for option, text in (("at", self.at), ("timeout", self.timeout)):
            if text is not None:
                span_ns(option, text)

    @property
    def timeout_s(self) -> float:
        """What the checker may take, in seconds."""
        return span_ns("timeout", self.timeout) / 1e9

    def system(self) -> tuple[FileSystem | None, int]:
        """The file system, and the size of its part of the device in bytes. Raises InputError."""
        size = size_bytes("fs_size", self.fs_size or FS_SIZE)
        found = None if self.fs is None else find(self.fs)
        if found is not None and self.fs_size is not None:
            check_size(found, self.fs_size, size)
        return found, size


@dataclass(frozen=True)
class Conducted:
    """A campaign that has ended, and where its session is."""

    result: summary.CampaignResult
    folder: Path
    is_ours: bool
    """Whether the folder is one that nobody named: it is removed unless there is a loss."""


def device(source: Source, overrides: Sequence[Override], dies: int | None) -> _core.Plan:
    """What is cut: one point. Raises InputError and ScenarioError."""
    checked = plan(source, overrides, served=True)
    if len(checked) > 1:
        raise InputError(
            f"one device is cut, and this scenario has {len(checked)} points: give each value once"
        )
    try:
        _core.CrashLog.check(checked)
    except RunError as error:
        raise InputError(raw(error)) from error
    try:
        _core.CrashLog.check(checked, dies)
    except RunError as error:
        raise InputError(f"{ref('dies', dies)}: {raw(error)}") from error
    return checked


def conduct(
    asked: Asked,
    checked: _core.Plan,
    system: tuple[FileSystem | None, int],
    words: Sequence[str],
    *,
    bar: Bar,
    say: Say,
    remark: Say,
) -> Conducted:
    """Run the workload, or read its session, cut it and check. `words` are the arguments that made `checked`.

    `say` gets what the workload says, `remark` what else is worth a line. Raises InputError, RunError, and
    KeyboardInterrupt where no cut was made.
    """
    if removed := remains.sweep():
        remark(f"removed what a campaign that was killed had left ({counted(removed, 'folder')})")
    folder, is_ours = _folder(asked.keep_in, asked.kept_in)
    result = None
    try:
        with adopting():
            if asked.run is None:
                kept = Kept.read(folder, checked)
            else:
                kept = keep(checked, asked.run, folder, *system, say)
                remark(summary.session_line(kept))
            result = _cut(checked, kept, folder, asked, words, bar, say)
    finally:
        # A loss is repeated with the session that it was found in.
        if is_ours and (result is None or not result.found.of(LOSS)):
            shutil.rmtree(folder, ignore_errors=True)
    if is_ours and not result.found.of(LOSS):
        result = replace(result, again=None)
    return Conducted(result, folder, is_ours)


def _cut(
    checked: _core.Plan, kept: Kept, folder: Path, asked: Asked, words: Sequence[str], bar: Bar, say: Say
) -> summary.CampaignResult:
    """The cuts of a session, checked. Raises InputError and RunError."""
    # One more than there are cores: the kernel mounts and unmounts meanwhile.
    at_once = asked.workers or (os.cpu_count() or 1) + 1
    log = _core.CrashLog(checked, str(folder))
    is_written = campaign.check_written(log, kept)
    place = place_for(kept, at_once)
    checker = Checker(checked, log, kept, asked.check or "", asked.dies, asked.timeout_s, place)
    instants = _instants(log, kept, asked)
    with bar(len(instants)) as progress:
        found = campaign.run(checker, instants, at_once, progress)
    if not is_written:
        campaign.check_tested(found)
    failing = found.first_failing()
    if asked.shell is not None and failing is not None and not found.interrupted:
        try:
            explore(checker, failing, asked.shell, say)
        except RunError as error:
            # The results are there, whatever becomes of the shell.
            say(f"warning: no shell: {raw(error)}")
        except KeyboardInterrupt:
            found.is_shell_interrupted = True
    return summary.CampaignResult(found, checker, _again(asked, folder, words), asked.seed)


def _instants(log: _core.CrashLog, kept: Kept, asked: Asked) -> list[int]:
    """Where to cut. Raises InputError and RunError."""
    if asked.at is not None:
        text, at_ns = asked.at, span_ns("at", asked.at)
        if at_ns < kept.began_ns:
            ready = "" if kept.fs is None else f"its {kept.fs} was ready and "
            raise InputError(
                f"{ref('at', text)}: {ready}the workload began at {kept.began_ns}ns; cut after that"
            )
        if at_ns > kept.ended_ns:
            raise InputError(
                f"{ref('at', text)}: the workload has ended at {kept.ended_ns}ns; cut before that"
            )
        return [at_ns]
    if asked.every is not None:
        return campaign.at_flushes(log, kept)
    return campaign.drawn(log, kept, asked.cuts or CUTS, asked.seed)


def _folder(keep_in: Path | None, kept_in: Path | None) -> tuple[Path, bool]:
    """Where the session is, and whether it goes with us. Raises InputError."""
    if kept_in is not None:
        return kept_in, False
    if keep_in is None:
        return Path(tempfile.mkdtemp(prefix="drivelab-crash-")), True
    try:
        keep_in.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file; name a folder" if keep_in.is_file() else (error.strerror or str(error)).lower()
        raise InputError(f"{ref('keep', keep_in)}: {why}") from error
    if (keep_in / FACTS).exists():
        raise InputError(
            f"{ref('keep', keep_in)}: a session is kept there already: cut it with {ref('kept', keep_in)}, without "
            f"{ref('run')}, {ref('fs')} and {ref('fs_size')}, or name another folder"
        )
    if any(keep_in.iterdir()):
        raise InputError(
            f"{ref('keep', keep_in)}: there is something in it; name a folder that is new or empty"
        )
    return keep_in, False


def _again(asked: Asked, folder: Path, words: Sequence[str]) -> list[str]:
    """The arguments that all cuts of the session share."""
    dies = [] if asked.dies is None else ["--dies", str(asked.dies)]
    named = ["--timeout", asked.timeout, "--from", str(folder), "--check", asked.check or ""]
    return ["drivelab", "crashtest", *words, *dies, *named]


@contextmanager
def _no_bar(_count: int) -> Iterator[campaign.Progress]:
    yield None


@names_checked
def crashtest(  # noqa: PLR0913 - its parameters are the options of the verb
    scenario: Scenario = "",
    *,
    check: str,
    run: str | None = None,
    fs: str | None = None,
    fs_size: str | None = None,
    cuts: int | None = None,
    every: str | None = None,
    at: str | None = None,
    seed: int = 1,
    dies: int | None = None,
    timeout: str = "60s",
    keep: str | os.PathLike[str] | None = None,
    kept: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    shell: bool = False,
    on_line: Say = lambda _text: None,
    **overrides: object,
) -> summary.CampaignResult:
    """Cut the power under a workload, and check what is left: `crashtest(drive="..", run="./load", check="./check")`.

    `run` is the workload and `check` the checker, commands of a shell that find the device at $DRIVELAB_URI (or at
    $DRIVELAB_MOUNT with `fs`: ext4, xfs or btrfs, as root, of `fs_size`). The workload says `committed N` on stdout for
    what is safe; the checker ends with 0 if all of it is there, 1 if not. `cuts` is how many (100), or `every="flush"`,
    or `at` one instant ("3.2s"); `seed` draws them, `dies` is a member that dies with each, `timeout` what the checker
    may take. `keep` is a folder for the session, `kept` one that has it already, in place of `run`. `shell` opens
    $SHELL on the first failing cut. `on_line` gets what else the workload says. `scenario` and `overrides` describe the
    device as for `simulate`.

    The result has `found.cuts` with `at_ns` and `verdict` of each ("good", "loss", "error"), `found.earliest`, the
    earliest loss, `lines()` and `record()`. Raises InputError, ScenarioError, RunError and KeyboardInterrupt.
    """
    asked = Asked(
        check=check,
        run=run,
        fs=fs,
        fs_size=fs_size,
        cuts=cuts,
        every=every,
        at=at,
        seed=seed,
        dies=dies,
        timeout=timeout,
        keep_in=None if keep is None else Path(keep),
        kept_in=None if kept is None else Path(kept),
        workers=workers,
        shell=Asked.shell_of(shell),
    )
    asked.check_words()
    system = asked.system()
    found = overrides_from(overrides)
    checked = device(read_source(scenario, found), found, dies)
    is_file = isinstance(scenario, str | Path) and "\n" not in str(scenario)
    words = [str(scenario)] if is_file and str(scenario) else []
    for one in found:
        words += ["--set", f"{one.key}={one.value}"]
    conducted = conduct(asked, checked, system, words, bar=_no_bar, say=on_line, remark=lambda _text: None)
    if conducted.result.found.interrupted:
        raise KeyboardInterrupt
    # A device that is no file cannot be named in a command.
    return conducted.result if is_file else replace(conducted.result, again=None)
