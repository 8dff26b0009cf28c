"""`drivelab crashtest`: run a workload once, cut the power as often as one likes, and check each time what is left."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _core, remains
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_served
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, progress_bar, say
from drivelab.cli.run_options import AsJson, Quiet, Workers
from drivelab.crash import campaign, summary
from drivelab.crash.check import ERROR, LOSS, Checker, place_for
from drivelab.crash.filesystem import check_size, find
from drivelab.crash.leftover import adopting
from drivelab.crash.session import FACTS, Kept, keep
from drivelab.errors import InputError
from drivelab.plural import counted
from drivelab.scenario import Source, plan, read_source

CUTS = 100
FS_SIZE = "512MiB"
_PANEL = "The campaign"


def _campaign(text: str, metavar: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(
        *names, help=text, metavar=metavar, rich_help_panel=_PANEL, show_default=False, **more
    )


def crashtest(
    scenario: Annotated[Path | None, typer.Argument(metavar="[SCENARIO.toml]", show_default=False)] = None,
    drive: words.Drive = None,
    level: words.Level = None,
    members: words.Members = None,
    stripe_unit: words.StripeUnit = None,
    randseed: words.Randseed = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    run: Annotated[
        str | None,
        _campaign("The workload, a command of a shell; it says what is safe: committed N", "COMMAND"),
    ] = None,
    check: Annotated[
        str | None, _campaign("The checker of what is left: ends with 0 if all is there, 1 if not", "COMMAND")
    ] = None,
    fs: Annotated[
        str | None, _campaign("Make a file system on the device and mount it (root)", "ext4|xfs|btrfs")
    ] = None,
    fs_size: Annotated[
        str | None, _campaign(f"Of the device this much is for it; {FS_SIZE} by default", "SIZE")
    ] = None,
    cuts: Annotated[int | None, _campaign(f"How many cuts; {CUTS} by default", "N", min=1)] = None,
    every: Annotated[str | None, _campaign("Cut whenever a FLUSH was answered", "flush")] = None,
    at: Annotated[str | None, _campaign("One cut, at this time of the session", "TIME")] = None,
    seed: Annotated[int, _campaign("Draws the cuts; 1 by default", "N")] = 1,
    dies: Annotated[
        int | None, _campaign("This member dies after each cut", "MEMBER", min=0, max=65_535)
    ] = None,
    timeout: Annotated[str, _campaign("What the checker may take; 60s by default", "TIME")] = "60s",
    keep_in: Annotated[
        Path | None, _campaign("Where the session goes; kept after a loss in any case", "DIR", "--keep")
    ] = None,
    kept_in: Annotated[
        Path | None, _campaign("A session that was kept, in place of --run", "DIR", "--from")
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Cut the power of a modelled drive or array under a workload, again and again, and check what is left.

    The workload runs once on the device. Then its session is cut in virtual time, and each time the checker gets what
    would be there. Exits 3 where anything is lost, 1 where the checker fails.
    """
    given = dict(locals())
    _check_words(given)
    for option in ("at", "timeout"):
        if given[option] is not None:
            given[f"{option}_ns"] = _span_ns(f"--{option}", given[option])
    system, size_bytes = None if fs is None else find(fs), _size_bytes(fs_size or FS_SIZE)
    if system is not None and fs_size is not None:
        check_size(system, fs_size, size_bytes)
    checked = _device(scenario, given, settings)
    if (removed := remains.sweep()) and not quiet:
        say(f"removed what a campaign that was killed had left ({counted(removed, 'folder')})")
    folder, is_ours = _folder(keep_in, kept_in)
    result = None
    try:
        with adopting():
            if run is None:
                kept = Kept.read(folder, checked)
            else:
                kept = keep(checked, run, folder, system, size_bytes, say)
                if not quiet:
                    say(summary.session_line(kept))
            result = _cut(checked, kept, folder, given)
    except KeyboardInterrupt:
        say("interrupted before any cut was made")
        return Exit.INTERRUPTED
    finally:
        # A loss is repeated with the session that it was found in.
        if is_ours and (result is None or not result.found.of(LOSS)):
            shutil.rmtree(folder, ignore_errors=True)
    return _print_result(result, folder, given, is_ours=is_ours)


def _cut(checked: _core.Plan, kept: Kept, folder: Path, given: dict[str, Any]) -> summary.CampaignResult:
    """The cuts of a session, checked. Raises InputError and RunError."""
    # One more than there are cores: the kernel mounts and unmounts meanwhile.
    at_once = given["workers"] or (os.cpu_count() or 1) + 1
    log = _core.CrashLog(checked, str(folder))
    is_written = campaign.check_written(log, kept)
    timeout_s, place = given["timeout_ns"] / 1e9, place_for(kept, at_once)
    checker = Checker(checked, log, kept, given["check"], given["dies"], timeout_s, place)
    instants = _instants(log, kept, given)
    with progress_bar(len(instants), "cuts", quiet=given["quiet"]) as progress:
        found = campaign.run(checker, instants, at_once, progress)
    if not is_written:
        campaign.check_tested(found)
    return summary.CampaignResult(found, checker, _again(given, folder), given["seed"])


def _print_result(
    result: summary.CampaignResult, folder: Path, given: dict[str, Any], *, is_ours: bool
) -> int:
    """Say what the campaign came to; the exit code."""
    found = result.found
    if is_ours and not found.of(LOSS):
        result = replace(result, again=None)
    if given["as_json"]:
        emit_json(result.record())
    else:
        emit("\n".join(result.lines()))
    if is_ours and result.again is not None and not given["quiet"]:
        say(
            f"the session is kept in {folder}, for the commands above; remove it when you have done with them"
        )
    if found.interrupted:
        return Exit.INTERRUPTED
    if found.of(ERROR):
        return Exit.FAILED
    return Exit.COMPARISON if found.of(LOSS) else Exit.OK


def _check_words(given: dict[str, Any]) -> None:
    """Refuse options that say nothing together. Raises InputError."""
    if given["check"] is None:
        raise InputError("--check: a campaign needs a command that judges what is left")
    if (given["run"] is None) == (given["kept_in"] is None):
        raise InputError("--run COMMAND or --from DIR: the session is made, or was kept; give one of the two")
    if sum(given[name] is not None for name in ("cuts", "every", "at")) > 1:
        raise InputError("--cuts, --every and --at: each says where to cut; give one of them")
    if given["every"] not in {None, "flush"}:
        raise InputError(f"--every {given['every']}: there is --every flush")
    if given["fs_size"] is not None and given["fs"] is None:
        raise InputError("--fs-size: there is no file system to have it; give --fs")
    if given["kept_in"] is not None and (given["fs"] is not None or given["keep_in"] is not None):
        raise InputError("--from: the session has its file system and its folder; leave --fs and --keep out")


def _device(scenario: Path | None, given: dict[str, Any], settings: list[str]) -> _core.Plan:
    """What is cut: one point. Raises InputError and ScenarioError."""
    overrides = words.overrides_of(given, settings)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    checked = plan(source, overrides, served=True)
    if len(checked) > 1:
        raise InputError(
            f"one device is cut, and this scenario has {len(checked)} points: give each value once"
        )
    try:
        _core.CrashLog.check(checked, given["dies"])
    except _core.RunError as error:
        place = f"--dies {given['dies']}: " if str(error).startswith("member ") else ""
        raise InputError(f"{place}{error}") from error
    if not given["quiet"]:
        note_served(checked, source, overrides)
    return checked


def _instants(log: _core.CrashLog, kept: Kept, given: dict[str, Any]) -> list[int]:
    """Where to cut. Raises InputError and RunError."""
    if given["at"] is not None:
        text, at_ns = given["at"], given["at_ns"]
        if at_ns < kept.began_ns:
            ready = "" if kept.fs is None else f"its {kept.fs} was ready and "
            raise InputError(f"--at {text}: {ready}the workload began at {kept.began_ns}ns; cut after that")
        if at_ns > kept.ended_ns:
            raise InputError(f"--at {text}: the workload has ended at {kept.ended_ns}ns; cut before that")
        return [at_ns]
    if given["every"] is not None:
        return campaign.at_flushes(log, kept)
    return campaign.drawn(log, kept, given["cuts"] or CUTS, given["seed"])


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
        raise InputError(f"--keep {keep_in}: {why}") from error
    if (keep_in / FACTS).exists():
        raise InputError(
            f"--keep {keep_in}: a session is kept there already: cut it with --from {keep_in}, without --run, --fs "
            "and --fs-size, or name another folder"
        )
    if any(keep_in.iterdir()):
        raise InputError(f"--keep {keep_in}: there is something in it; name a folder that is new or empty")
    return keep_in, False


def _span_ns(option: str, text: str) -> int:
    try:
        return _core.span_ns(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from error


def _size_bytes(text: str) -> int:
    try:
        return _core.size_bytes(text)
    except ValueError as error:
        raise InputError(f"--fs-size {text}: {error}") from error


def _again(given: dict[str, Any], folder: Path) -> list[str]:
    """The arguments that all cuts of the session share."""
    found = ["drivelab", "crashtest"]
    if given["scenario"] is not None:
        found.append(str(given["scenario"]))
    for name in ("drive", "level", "members", "stripe_unit", "randseed", "dies"):
        if given[name] is not None:
            found += [f"--{name.replace('_', '-')}", str(given[name])]
    for setting in given["settings"]:
        found += ["--set", setting]
    return [*found, "--timeout", given["timeout"], "--from", str(folder), "--check", given["check"]]
