"""What `drivelab simulate` says of single points beside the table: of their arrays, their data and their traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drivelab.cli.output import emit, emit_table, say
from drivelab.cli.simulate_notes import place_of
from drivelab.report.array_summary import is_eventful, lines, missed_floors
from drivelab.report.data_summary import checked_text, cut_lines, unstruck_lines
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text
from drivelab.report.replay_summary import behind_text, is_over_early, recorded_table, replay_lines

# So many points are told of one by one; of more the table shows enough.
TIMELINES_MAX = 4
_ENDED = {
    "duration": "after its duration",
    "ios": "after its I/Os",
    "rebuilt": "with the rebuild",
    "trace": "with the trace",
}


def emit_timelines(points: Sequence[dict[str, Any]]) -> None:
    """What happened to the array of each point, where the points are few."""
    eventful = [point for point in points if is_eventful(point)]
    if len(eventful) > TIMELINES_MAX:
        return
    for point in eventful:
        at = _at(point)
        emit("\n".join([f"\nWhat happened to the array{f', {at}' if at else ''}", *lines(point["array"])]))


def note_floors(points: Sequence[dict[str, Any]]) -> None:
    """A floor that busy members did not let a rebuild keep would go unseen."""
    missed = [(point, text) for point in points if "array" in point for text in missed_floors(point["array"])]
    for point, text in missed[:TIMELINES_MAX]:
        at = place_of(point["axes"])
        say(
            f"note: rebuild.floor was not kept{f' at {at}' if at else ''}: {text}; "
            "hosts keep the members busy, and more requests at once (rebuild.outstanding) would get more"
        )
    if len(missed) > TIMELINES_MAX:
        say(
            f"note: nor was it {counted(len(missed) - TIMELINES_MAX, 'time')} more: see floor_missed_ns in --json"
        )


def emit_data(points: Sequence[dict[str, Any]]) -> None:
    """What was checked, in one line, and what power cuts have taken; of many points the table tells enough."""
    if text := checked_text(points):
        emit(f"\n{text}")
    cut = [point for point in points if point.get("power_cut")]
    if not 0 < len(cut) <= TIMELINES_MAX:
        return
    for point in cut:
        at = _at(point)
        emit(f"\n{at}: " * bool(at) + "\n" * (not at) + "\n".join(cut_lines(point["power_cut"])))


def note_unstruck(points: Sequence[dict[str, Any]]) -> None:
    """A fault that changes nothing would be a riddle."""
    lines = list(unstruck_lines(points))
    for line in dict.fromkeys(lines):
        at = f", at {lines.count(line)} of {len(points)} points" if len(points) > 1 else ""
        say(f"note: {line}{at}")
    corrupts = any(entry["what"] == "corrupt" for point in points for entry in point.get("injections", ()))
    if corrupts and not any("data" in point for point in points):
        say("note: what was corrupted is seen with --check-data alone: without it a run has no data")


def note_uncut(points: Sequence[dict[str, Any]]) -> None:
    """A power cut that never came would be a riddle."""
    spared = [point for point in points if "power_cut" in point and point["power_cut"] is None]
    if spared:
        at = f" at {len(spared)} of {len(points)} points" if len(points) > 1 else ""
        ended = " or ".join(sorted({_ENDED[point["ended"]] for point in spared}))
        say(f"note: the power did not go{at}: the run was over before, {ended}")


def emit_replays(points: Sequence[dict[str, Any]]) -> None:
    """What became of the trace at each point; of many points the record tells it."""
    replayed = [point for point in points if "replay" in point]
    if (table := recorded_table(replayed)) is not None:
        emit("")
        emit_table(table)
    if not 0 < len(replayed) <= TIMELINES_MAX:
        return
    for point in replayed:
        at = _at(point)
        emit("\n" * (point is replayed[0]) + f"{at}: " * bool(at) + "\n".join(replay_lines(point)))


def note_behind(points: Sequence[dict[str, Any]]) -> None:
    """A target that did not keep up with the trace: its response times grow with the length of the trace."""
    points = [point for point in points if "replay" in point and not is_over_early(point)]
    behind = [(point, text) for point in points if (text := behind_text(point["replay"]))]
    for point, text in behind[:TIMELINES_MAX]:
        at = f" at {place}" if (place := _at(point)) else ""
        say(f"note: the target cannot keep up with the trace{at}: {text}")
    if len(behind) > TIMELINES_MAX:
        say(f"note: nor can it at {counted(len(behind) - TIMELINES_MAX, 'more point')}: see replay in --json")


def _at(point: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {axis_text(value)}" for key, value in point["axes"].items())
