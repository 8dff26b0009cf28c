"""What a drive file leaves out and its interface determines, reported wherever a drive is used.

Which key tells the interface, and what follows from it, is in docs/how-to/own-drive.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from drivelab import _core
from drivelab.cli.output import say
from drivelab.errors import InputError, ScenarioError
from drivelab.report import toml_text
from drivelab.scenarios.scenario import Override, Source, plan

# Where nothing is known of the interface, this is what to do.
_REMEDY = "set link.standard, or state them"


def note_assumed(plans: Iterable[_core.Plan], name: str | None = None) -> None:
    """One remark on stderr for each reason, with the name of the drive before it where there are several."""
    for line in assumed_lines(found for checked in plans for found in checked.in_force):
        say(f"note: {line}" if name is None else f"note: {name}: {line}")


def note_served(checked: _core.Plan, source: Source, overrides: Iterable[Override]) -> None:
    """The same for a device that is served, and what of its scenario is not."""
    note_assumed([checked])
    for note in checked.notes:
        say(f"note: {note}")
    keys = [*toml_text.loads(source.text), *(one.key.partition(".")[0] for one in overrides)]
    left_out = ["[workload]"] if "workload" in keys else []
    for key in [*left_out, *_core.left_out_of_emulation(checked)]:
        say(f"note: {key} is left out: a client brings that itself")


def note_assumed_of(overrides: Sequence[Override], name: str | None = None) -> None:
    """The same for the target that these overrides describe; what is wrong with it is reported by whoever runs it."""
    # A block at a time fits any drive.
    block = Override("workload.bs", "512B", "the workload")
    try:
        checked = plan(Source("", "command line"), [block, *overrides])
    except (InputError, ScenarioError):
        return
    note_assumed([checked], name)
    for note in checked.notes:
        say(f"note: {note}")


def assumed_lines(in_force: Iterable[Mapping[str, Any] | None]) -> list[str]:
    """What was assumed at any of these points, one line for each reason, each assumption once."""
    by_reason: dict[str, dict[str, None]] = {}
    for found in in_force:
        for one in (found or {}).get("assumed", ()):
            text = f"{one['key']} = {toml_text.value_text(one['value'])}"
            by_reason.setdefault(one["because"], {})[text] = None
    return [
        f"the drive file leaves out, and drivelab assumes: {', '.join(texts)} ({_why(reason)})"
        for reason, texts in by_reason.items()
    ]


def _why(reason: str) -> str:
    # A reason that names no interface is a gap.
    return f"{reason}: {_REMEDY}" if "neither" in reason or "no known" in reason else f"because {reason}"
