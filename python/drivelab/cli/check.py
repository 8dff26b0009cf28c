"""`drivelab check`: everything that is wrong with a scenario, at once, or what it would run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab import _core
from drivelab.cli import workload_options as words
from drivelab.cli.assumed import note_assumed
from drivelab.cli.exits import Exit
from drivelab.cli.output import as_typed, emit, emit_json, say
from drivelab.cli.run_options import Quiet
from drivelab.errors import InputError, ScenarioError, raw
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text
from drivelab.report.toml_text import value_text
from drivelab.scenarios.scenario import Override, Source, plan, read_source

# Of many arrays in a sweep so many are described.
ARRAYS_NAMED_MAX = 12
_BLOCK = Override("workload.bs", "512B", "the workload")


def check(
    scenario: Annotated[Path | None, typer.Argument(metavar="[SCENARIO.toml]", show_default=False)] = None,
    drive: words.Drive = None,
    settings: words.Set = [],  # noqa: B006 - typer wants a list, and nobody changes it
    as_json: Annotated[bool, typer.Option("--json", help="The verdict as JSON")] = False,
    quiet: Quiet = False,
) -> int:
    """Check a scenario, or a drive, without running it: all its problems, or what it would run."""
    if scenario is None and drive is None:
        raise InputError("nothing to check: name a scenario, or a drive by --drive")
    overrides = words.overrides_of({"drive": drive}, settings)
    try:
        if scenario is None:
            # A block at a time fits any drive.
            block = [] if any(one.key == "workload.bs" for one in overrides) else [_BLOCK]
            source, overrides = Source("", "command line"), [*overrides, *block]
        else:
            source = read_source(scenario, overrides)
        checked = plan(source, overrides)
    except ScenarioError as error:
        if as_json:
            error.render(as_typed)
            emit_json({"ok": False, "problems": error.problems})
        else:
            say(raw(error))
        return Exit.USAGE
    if not quiet:
        words.note_words(checked, source)
    if as_json:
        emit_json({"ok": True, "problems": [], **_facts(checked)})
    else:
        emit(_summary(checked))
        if not quiet:
            note_assumed([checked])
    return Exit.OK


def _facts(checked: _core.Plan) -> dict[str, object]:
    return {
        "name": checked.name,
        "seed": checked.seed,
        "scenario_hash": checked.scenario_hash,
        "points": [
            {"axes": axes, "in_force": in_force, "fio": fio}
            for axes, in_force, fio in zip(checked.axes, checked.in_force, checked.fio, strict=True)
        ],
        "skipped": [{"axes": axes, "reason": reason} for axes, reason in checked.skipped],
    }


def _summary(checked: _core.Plan) -> str:
    lines = [f"{checked.name}: ok, {len(checked)} {'point' if len(checked) == 1 else 'points'}"]
    for axis in checked.axes[0]:
        values = dict.fromkeys(axis_text(axes[axis]) for axes in checked.axes)
        lines.append(f"  {axis}: {', '.join(values)}")
    protocols = dict.fromkeys(_protocol(found) for found in checked.in_force if found)
    if protocols:
        lines.append(f"  in force: {'; '.join(protocols)}")
    classes = dict.fromkeys(
        _firmware(one) for found in checked.in_force for one in (found or {}).get("firmware", ())
    )
    lines += [f"  firmware: {one}" for one in classes]
    arrays = list(dict.fromkeys(_array(found) for found in checked.in_force if found and "array" in found))
    lines += [f"  array: {array}" for array in arrays[:ARRAYS_NAMED_MAX]]
    if len(arrays) > ARRAYS_NAMED_MAX:
        lines.append(f"  and {counted(len(arrays) - ARRAYS_NAMED_MAX, 'more array')}")
    for axes, reason in checked.skipped:
        at = ", ".join(f"{axis} = {axis_text(value)}" for axis, value in axes.items())
        lines.append(f"  left out: {at}: {reason}")
    lines.append(f"seed {checked.seed}, scenario {checked.scenario_hash}")
    return "\n".join(lines)


def _protocol(in_force: dict[str, Any]) -> str:
    """What drive and controller share, and how many commands of one host that lets be with the drive."""
    spoken = in_force.get("by_protocol", [in_force])
    return ", and ".join(f"{one['protocol']}, {counted(one['depth'], 'command')} at a time" for one in spoken)


def _firmware(firmware: dict[str, Any]) -> str:
    """The class whose firmware a drive takes, and what it supplies: its range alone to an order that is inferred."""
    keys = ", ".join(f"{key} = {value_text(value)}" for key, value in firmware["supplied"])
    supplies = keys or "the range; the order is the drive file's, inferred or measured on another drive"
    drives = counted(firmware["drives"], "drive")
    return f"class {firmware['class']} ({drives}, {firmware['of_class']} of it): {supplies}"


def _array(in_force: dict[str, Any]) -> str:
    """What an array is, what can be addressed of it and what it bears."""
    array = in_force["array"]
    spares = f" and {counted(array['spares'], 'spare')}" if "spares" in array else ""
    what = (
        f"{array['level']} of {counted(array['members'], 'member')}{spares}, kept by the {array['kept_by']}"
    )
    usable, most = (_capacity(array[key]) for key in ("capacity_bytes", "member_bytes"))
    least = array.get("smallest_member_bytes")
    each = f"{most} on each member" if least is None else f"{_capacity(least)} to {most} on its members"
    bears, at_best = array["bears"], array["bears_at_best"]
    tolerates = f"bears any {counted(bears, 'failure')}" if bears else "bears no failure"
    if at_best > bears:
        tolerates += f", at best {at_best}"
    if in_force.get("two_actuators"):
        tolerates += "; members are actuators and fail in pairs"
    return f"{what}; {usable} usable, {each}; {tolerates}"


def _capacity(count: int) -> str:
    """As data sheets have it."""
    terabyte = 10**12
    return f"{count / terabyte:.2f} TB" if count >= terabyte else f"{count / 10**9:.1f} GB"
