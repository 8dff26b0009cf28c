"""From the log of commands to the path of the head: what it did, when, and over which cylinders.

Commands are dicts as in `simulate --json --log N`. No drawing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.charts.rows import NS_PER_MS, Row

Command = dict[str, Any]
Phase = Literal["waiting", "seek", "rotation", "transfer"]

PHASES: tuple[Phase, ...] = ("waiting", "seek", "rotation", "transfer")


@dataclass(frozen=True)
class Move:
    """One stretch of the head's path: its kind, its start and end in time, and its cylinders."""

    phase: Phase
    start_ns: int
    end_ns: int
    start_cylinder: int
    end_cylinder: int
    command: Command
    """The command that it serves."""


def moved(commands: Sequence[Command]) -> list[Command]:
    """The commands that the head reached, in the order of service."""
    there = {"chosen", "joined", "met"}
    found = [
        command for command in commands if command["served"] in there and command["ended_ns"] is not None
    ]
    return sorted(found, key=lambda command: command["service_rank"])


def moves(commands: Sequence[Command]) -> list[Move]:
    """The head's path in order of time, from its first command to its last; stretches of zero length are omitted."""
    way: list[Move] = []
    accesses: dict[int, Command] = {}
    for command in moved(commands):
        # Commands that the host merged share one access, and its rank.
        accesses.setdefault(command["rank"], command)
    for command in accesses.values():
        at, end = command["from_cylinder"], command["to_cylinder"]
        first = at if command["first_cylinder"] is None else command["first_cylinder"]
        parts = command["breakdown_ns"]
        begun, ended = command["begun_ns"], command["ended_ns"]
        # A failed attempt has no breakdown: all the time before the first sector counts as seek.
        arrived = begun - parts["rotation"] if parts else begun
        started = arrived - parts["seek"] if parts else command["chosen_ns"]
        if command["served"] == "met":
            begun = arrived = started = max(begun, way[-1].end_ns if way else begun)
        if way:
            way.append(Move("waiting", way[-1].end_ns, started, way[-1].end_cylinder, at, command))
        else:
            way.append(Move("waiting", command["chosen_ns"], started, at, at, command))
        way.append(Move("seek", started, arrived, at, first, command))
        way.append(Move("rotation", arrived, begun, first, first, command))
        way.append(Move("transfer", begun, ended, first, end, command))
    return [move for move in way if move.end_ns > move.start_ns]


def finish_ns(commands: Sequence[Command]) -> int:
    """When the last of the commands completed."""
    return int(max(command["completed_ns"] for command in commands))


def same_commands(left: Sequence[Command], right: Sequence[Command]) -> bool:
    """Whether two logs hold the same commands: equal numbers of each access to each address."""

    def names(commands: Sequence[Command]) -> list[tuple[Any, ...]]:
        return sorted((c["first_sector"], c["sectors"], c["access"]) for c in commands)

    return names(left) == names(right)


def described(command: Command) -> Row:
    """The tooltip of a command: its names, its stamps in ms, its place in both orders."""
    return {
        "id": command["id"],
        "access": command["access"],
        "served": command["served"],
        "outcome": command["outcome"],
        "first_sector": command["first_sector"],
        "sectors": command["sectors"],
        "cylinder": command["first_cylinder"],
        "number": command["arrival_rank"] + 1,
        "place": None if command["service_rank"] is None else command["service_rank"] + 1,
        "distance": command["reorder_distance"],
        "overtaken_by": command["overtaken_by"],
        **{
            f"{stamp}_ms": None if command[f"{stamp}_ns"] is None else command[f"{stamp}_ns"] / NS_PER_MS
            for stamp in ("submitted", "accepted", "chosen", "begun", "ended", "completed")
        },
    }
