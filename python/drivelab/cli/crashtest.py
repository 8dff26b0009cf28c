"""`drivelab crashtest`: run a workload once, cut the power as often as one likes, and check each time what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_served
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, progress_bar, say
from drivelab.cli.run_options import AsJson, Quiet, Workers
from drivelab.crash.asked import CUTS, FS_SIZE, Asked, Conducted, conduct, device
from drivelab.crash.check import ERROR, LOSS
from drivelab.errors import InputError
from drivelab.scenarios.scenario import Source, read_source

_PANEL = "The campaign"


def _campaign(text: str, metavar: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(
        *names, help=text, metavar=metavar, rich_help_panel=_PANEL, show_default=False, **more
    )


@dataclass(frozen=True)
class Campaign:
    """The workload, the checker, and where the power is cut."""

    run: Annotated[
        str | None,
        _campaign("The workload, a command of a shell; it reports what is safe: committed N", "COMMAND"),
    ] = None
    check: Annotated[
        str | None, _campaign("The checker of what is left: status 0 if all is there, 1 if not", "COMMAND")
    ] = None
    fs: Annotated[
        str | None, _campaign("Make a file system on the device and mount it (root)", "ext4|xfs|btrfs")
    ] = None
    fs_size: Annotated[str | None, _campaign(f"Size of the file system; {FS_SIZE} by default", "SIZE")] = None
    cuts: Annotated[int | None, _campaign(f"Number of cuts; {CUTS} by default", "N", min=1)] = None
    every: Annotated[str | None, _campaign("Cut at each answer to a FLUSH", "flush")] = None
    at: Annotated[str | None, _campaign("One cut, at this time of the session", "TIME")] = None
    seed: Annotated[int, _campaign("Seed of the instants of the cuts; 1 by default", "N")] = 1
    dies: Annotated[
        int | None, _campaign("This member fails after each cut", "MEMBER", min=0, max=65_535)
    ] = None
    timeout: Annotated[str, _campaign("Timeout of the checker; 60s by default", "TIME")] = "60s"
    keep_in: Annotated[
        Path | None,
        _campaign("Keep the session in this folder; after a loss it is kept in any case", "DIR", "--keep"),
    ] = None
    kept_in: Annotated[
        Path | None, _campaign("Cut a session that was kept, in place of --run", "DIR", "--from")
    ] = None
    shell: Annotated[
        bool,
        typer.Option(
            "--shell",
            help="Open a shell ($SHELL, or /bin/sh) on the device after the first failing cut",
            rich_help_panel=_PANEL,
        ),
    ] = False
    workers: Workers = None


@grouped
def crashtest(
    *,
    scenario: Annotated[Path | None, typer.Argument(metavar="[SCENARIO.toml]", show_default=False)] = None,
    target: words.Target,
    randseed: words.Randseed = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    campaign: Campaign,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Cut the power of a modelled drive or array under a workload, again and again, and check what is left.

    The workload runs once on the device. Then its session is cut in virtual time, and each time the checker gets what
    would be there. Exits 3 where anything is lost, 1 where the checker fails.
    """
    asked = Asked(**{**vars(campaign), "shell": Asked.shell_of(campaign.shell)})
    if campaign.shell and as_json:
        raise InputError(
            "--shell and --json: what is done in the shell would be among the record; leave one out"
        )
    asked.check_words()
    system = asked.system()
    typed = {**vars(target), "randseed": randseed}
    overrides = words.overrides_of(typed, settings)
    source = Source("", "command line") if scenario is None else read_source(scenario, overrides)
    checked = device(source, overrides, campaign.dies)
    if not quiet:
        note_served(checked, source, overrides)
    try:
        conducted = conduct(
            asked,
            checked,
            system,
            _words(scenario, typed, settings),
            bar=lambda count: progress_bar(count, "cuts", quiet=quiet),
            say=say,
            remark=(lambda _text: None) if quiet else say,
        )
    except KeyboardInterrupt:
        say("interrupted before any cut was made")
        return Exit.INTERRUPTED
    return _print_result(conducted, as_json=as_json, quiet=quiet)


def _words(scenario: Path | None, typed: Mapping[str, str | None], settings: list[str]) -> list[str]:
    """The arguments that describe the device, as they were typed."""
    found = [] if scenario is None else [str(scenario)]
    for name, value in typed.items():
        if value is not None:
            found += [f"--{name.replace('_', '-')}", value]
    for setting in settings:
        found += ["--set", setting]
    return found


def _print_result(conducted: Conducted, *, as_json: bool, quiet: bool) -> int:
    """Say what the campaign came to; the exit code."""
    result = conducted.result
    found = result.found
    if as_json:
        emit_json(result.record())
    else:
        emit("\n".join(result.lines()))
    if conducted.is_ours and result.again is not None and not quiet:
        say(
            f"the session is kept in {conducted.folder}, for the commands above; remove it when you have done with "
            "them"
        )
    if found.interrupted or found.is_shell_interrupted:
        return Exit.INTERRUPTED
    if found.of(ERROR):
        return Exit.FAILED
    return Exit.COMPARISON if found.of(LOSS) else Exit.OK
