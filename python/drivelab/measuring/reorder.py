"""Does a drive change the order of queued commands? A verdict, with the evidence.

Four loads alternate over several rounds: random reads in one narrow zone, and random reads in two zones at opposite
ends of the target; each with one command outstanding and with many. With one outstanding the far load takes longer by
the cost of crossing the target. A device that serves in order of arrival pays that cost with a full queue as well.
One that reorders serves nearby commands first, and rarely crosses. So the figure is the share of the crossing's cost
that remains with a full queue:

    kept = (T(far, full) / T(near, full) - 1) / (T(far, one) / T(near, one) - 1)

with T the time per read. In order of arrival it is 1, whatever else the queue hides: overlap or parallel work
shortens both loads by the same factor. Where the time does not depend on the address (flash, virtual disks, caches)
there is no cost to keep, and no verdict is possible. The order in which commands complete is the second piece of
evidence: in order of arrival nobody is overtaken.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from drivelab.errors import InputError, ref
from drivelab.measuring.run import interval, student
from drivelab.report.plural import counted
from drivelab.report.table import Cell, Table

REORDERS, IN_ORDER, CANNOT_TELL = "reorders", "in-order", "cannot-tell"
ROUNDS, DEPTH = 5, 32
ROUNDS_MIN = 3
ZONE = "1%"
LOGGED = 2_000
"""Logged commands of the far load with a full queue, whose order of completion is compared with that of issue."""
CROSSING_LEAST = 1.15
"""Crossing the target must take at least this factor, otherwise the address makes no difference."""
KEPT = 0.85
"""A device that reorders keeps less than this share of the cost, one that does not keeps more: in order it is 1."""
OVERTAKEN_SHARE = 0.02
DEPTH_SHARE = 0.8

Runner = Callable[[Mapping[str, Any], int, int], Mapping[str, Any]]
"""Runs a workload (as in a scenario) with a seed, logging this many commands; returns its point."""

LOADS = (("near", 1), ("far", 1), ("near", 0), ("far", 0))
"""In the order within a round; 0 stands for the full depth."""


@dataclass(frozen=True)
class Verdict:
    """The result."""

    verdict: str
    reason: str
    confidence: float | None
    """The probability that the figure is on the verdict's side, with a normal error; None if there is no verdict."""
    depth: int
    rounds: list[dict[str, Any]]
    crossing: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)
    gain: Mapping[str, Any] = field(default_factory=dict)
    overtaken_share: float | None = None
    notes: Sequence[str] = ()
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "notes": list(self.notes)}

    def table(self) -> Table:
        """The evidence, one row each."""
        rows = [
            ("crossing the target, one command outstanding", self.crossing, "x"),
            (f"rate of far reads, {self.depth} over 1 outstanding", self.gain, "x"),
            ("share of the crossing's cost kept with a full queue", self.kept, ""),
        ]
        cells = [
            [Cell(name), Cell(_figure(found, unit)), Cell(_range(found, unit))] for name, found, unit in rows
        ]
        share = "-" if self.overtaken_share is None else f"{100 * self.overtaken_share:.1f} %"
        cells.append([Cell("commands that a later one overtook"), Cell(share), Cell("")])
        return Table(["evidence", "mean", "95 % interval"], cells, left=frozenset({0}))


def _figure(found: Mapping[str, Any], unit: str) -> str:
    return "-" if found.get("mean") is None else f"{unit}{found['mean']:.2f}"


def _range(found: Mapping[str, Any], unit: str) -> str:
    return "-" if found.get("low") is None else f"{unit}{found['low']:.2f} to {unit}{found['high']:.2f}"


def document(load: str, depth: int, seconds: float) -> dict[str, Any]:
    """One load as a scenario."""
    places = (
        {"size": ZONE}
        if load == "near"
        else {"random_distribution": f"zoned:50/{ZONE[:-1]}:0/{100 - 2 * int(ZONE[:-1])}:50/{ZONE[:-1]}"}
    )
    return {
        "name": f"reorder: {load}, {depth} outstanding",
        "workload": {"rw": "randread", "bs": "4KiB", "iodepth": depth, **places},
        "run": {"warmup": f"{max(0.2, seconds / 8):g}s", "duration": f"{seconds:g}s"},
    }


def judge(
    runner: Runner,
    *,
    rounds: int = ROUNDS,
    depth: int = DEPTH,
    seconds: float = 4.0,
    suspicion: str | None = None,
    notes: Sequence[str] = (),
) -> Verdict:
    """Run all loads and judge. `suspicion` is why no figure of this target could decide. Raises InputError.

    If interrupted, there is no verdict, and the result has the completed rounds.
    """
    if rounds < ROUNDS_MIN:
        raise InputError(f"{counted(rounds, 'round')}: {ROUNDS_MIN} at least, or there is no interval")
    if depth < 4:
        raise InputError(f"a depth of {depth}: with fewer than 4 commands there is little to reorder")
    found: list[dict[str, Any]] = []
    overtaken, ended, interrupted = 0, 0, False
    for number in range(rounds):
        try:
            one, passed, count = _round(runner, number, depth, seconds)
        except KeyboardInterrupt:
            interrupted = True
            suspicion = f"interrupted after {number} of {counted(rounds, 'round')}"
            break
        overtaken, ended = overtaken + passed, ended + count
        found.append(one)
    if not found:
        return Verdict(CANNOT_TELL, suspicion or "nothing was run", None, depth, [], interrupted=interrupted)
    share = overtaken / ended if ended else None
    return replace(conclude(found, depth, share, suspicion=suspicion, notes=notes), interrupted=interrupted)


def _round(runner: Runner, number: int, depth: int, seconds: float) -> tuple[dict[str, Any], int, int]:
    """One round of all loads: its figures, how many commands were overtaken, of how many."""
    one: dict[str, Any] = {}
    overtaken, ended = 0, 0
    for load, of in LOADS:
        is_full = of == 0
        log = LOGGED if is_full and load == "far" else 0
        point = runner(document(load, depth if is_full else 1, seconds), number, log)
        if not point["latency_ns"]["n"]:
            raise InputError(f"no read finished in {seconds:g} s: give more {ref('seconds')}")
        one[f"{load}_{'full' if is_full else 'one'}_ns"] = point["window_ns"] / point["latency_ns"]["n"]
        if is_full:
            one[f"{load}_depth"] = point["depth"]["achieved"]
        if log:
            overtaken, ended = overtaken_of(point.get("commands") or ())
    return one, overtaken, ended


def overtaken_of(commands: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """How many commands completed after one that was issued later, and how many there are.

    Those that completed at the same instant were received together: their order is unknown, and counts as kept.
    """
    ranked = sorted(commands, key=lambda one: one["id"])
    overtaken, earliest = 0, math.inf
    for one in reversed(ranked):
        overtaken += one["completed_ns"] > earliest
        earliest = min(earliest, one["completed_ns"])
    return overtaken, len(ranked)


def conclude(
    rounds: list[dict[str, Any]],
    depth: int,
    overtaken: float | None,
    *,
    suspicion: str | None = None,
    notes: Sequence[str] = (),
) -> Verdict:
    """The verdict from the times per read of each round."""
    crossing = interval([one["far_one_ns"] / one["near_one_ns"] for one in rounds])
    gain = interval([one["far_one_ns"] / one["far_full_ns"] for one in rounds])
    cost = crossing["mean"] - 1
    kept = interval(
        [(one["far_full_ns"] / one["near_full_ns"] - 1) / cost for one in rounds] if cost > 0 else []
    )

    def verdict(name: str, reason: str, confidence: float | None = None) -> Verdict:
        return Verdict(name, reason, confidence, depth, rounds, crossing, kept, gain, overtaken, notes)

    if suspicion is not None:
        return verdict(CANNOT_TELL, suspicion)
    if crossing["low"] < CROSSING_LEAST < crossing["mean"]:
        return verdict(
            CANNOT_TELL,
            f"crossing the target takes x{crossing['mean']:.2f}, but the rounds scatter too far to be sure (x"
            f"{crossing['low']:.2f} to x{crossing['high']:.2f}); more --seconds or --rounds may tell",
        )
    if crossing["low"] < CROSSING_LEAST:
        return verdict(
            CANNOT_TELL,
            "how long a read takes hardly depends on where it goes: there is no arm, or a cache answers, so an order "
            "costs nothing",
        )
    least_depth = min(one[f"{load}_depth"] for one in rounds for load in ("near", "far"))
    if least_depth < DEPTH_SHARE * depth:
        return verdict(CANNOT_TELL, f"of {depth} commands only {least_depth:.1f} were outstanding at once")
    is_overtaken = overtaken is not None and overtaken > OVERTAKEN_SHARE
    if kept["high"] < KEPT and is_overtaken:
        reason = (
            f"with {depth} outstanding only {_percent(kept['mean'])} of what crossing costs is left, and "
            f"{_percent(overtaken or 0)} of the commands were overtaken"
        )
        return verdict(REORDERS, reason, _confidence(kept["values"], below=True))
    if kept["low"] > KEPT and not is_overtaken:
        reason = (
            f"with {depth} outstanding {_percent(kept['mean'])} of what crossing costs is left, and hardly a command "
            "was overtaken"
        )
        return verdict(IN_ORDER, reason, _confidence(kept["values"], below=False))
    return verdict(
        CANNOT_TELL,
        f"the evidence is not clear: {_percent(kept['mean'])} of what crossing costs is left, "
        f"{_percent(overtaken or 0)} of the commands were overtaken; more --rounds or --seconds may tell",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _confidence(values: Sequence[float], *, below: bool) -> float:
    """The probability that the true share lies on this side of the threshold."""
    from scipy.stats import t  # noqa: PLC0415 - slow to load

    error = statistics.stdev(values) / math.sqrt(len(values))
    away = (KEPT - statistics.fmean(values)) * (1 if below else -1)
    # A few runs that agree by chance prove no more than Student's t allows for so few.
    floor = abs(away) / (50 * student(len(values) - 1))
    return float(t.cdf(away / max(error, floor), len(values) - 1))
