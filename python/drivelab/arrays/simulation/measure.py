"""Levels run as planned: every load in every state in parallel, then again the rebuilds that are too uncertain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from drivelab import _core
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation import rebuild
from drivelab.arrays.simulation.figures import load_figures, random_figures, stream_figures
from drivelab.arrays.simulation.planning import Chosen, Entry, rebuild_planned
from drivelab.arrays.simulation.rebuild import extrapolated, first_way, next_way
from drivelab.runs.result import Failure, Point, Result
from drivelab.runs.simulation import Progress, run_reduced

Figures: TypeAlias = Any
"""The figures of a load, as in `--json`; None if there are none."""

_FIGURES: Mapping[str, Callable[[Sequence[Point]], Figures]] = {
    under.LOAD: load_figures,
    **dict.fromkeys(under.STREAMS, stream_figures),
}
_REBUILDS = (under.REBUILD, under.REBUILD_IDLE)


@dataclass(frozen=True)
class Wanted:
    """One load of one level in one state."""

    chosen: Chosen
    entry: Entry
    state: str
    load: str
    way: rebuild.Way | None = None
    """For a rebuild that is simulated again; None at first."""

    def plan(self) -> _core.Plan:
        """What runs. Raises ScenarioError."""
        if self.way is None:
            return self.entry.plans[self.state, self.load]
        return rebuild_planned(self.entry, self.chosen, self.load, self.way)

    def figures(self, points: Sequence[Point]) -> Figures:
        """The figures of its points."""
        if self.load not in _REBUILDS:
            figures: Callable[[Sequence[Point]], Figures] = _FIGURES.get(self.load, random_figures)
            return figures(points)
        loads, entry = self.chosen.loads, self.entry
        if self.load == under.REBUILD_IDLE:
            return extrapolated(points)
        records = (
            entry.capacity_bytes / entry.record_bytes if entry.record_bytes and loads.is_random else None
        )
        return extrapolated(points, loads.rate, records)

    def keep(self, figures: Figures) -> None:
        """Store its figures with the level."""
        if self.load == under.REBUILD:
            self.entry.rebuild = figures
        elif self.load == under.REBUILD_IDLE:
            self.entry.rebuild_idle = figures
        elif figures:
            self.entry.states.setdefault(self.state, {})[self.load] = figures

    def again(self, figures: Figures) -> Wanted | None:
        """The same rebuild, simulated for longer; None if its error is small enough."""
        if self.load not in _REBUILDS:
            return None
        before = self.way or first_way(is_idle=self.load == under.REBUILD_IDLE)
        way = next_way(figures, before, self.chosen.precision)
        return None if way is None else replace(self, way=way)


@dataclass
class Ran:
    """What ran, for all levels or candidates together."""

    digests: list[str] = field(default_factory=list)
    """One for each point that finished."""
    hashes: list[str] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    interrupted: bool = False

    def add(self, other: Ran) -> None:
        """Add further runs."""
        self.digests += other.digests
        self.hashes += other.hashes
        self.seeds += other.seeds
        self.failures += other.failures
        self.interrupted |= other.interrupted


@dataclass
class Measured(Ran):
    """What ran of a set of runs."""

    points: int = 0
    """How many of the runs planned at first have finished."""


def all_of(chosen: Chosen, entries: Iterable[Entry]) -> list[Wanted]:
    """Every run of these levels."""
    return [Wanted(chosen, entry, state, load) for entry in entries for state, load in entry.plans]


def measure(
    wanted: Sequence[Wanted], workers: int | None = None, progress: Progress | None = None
) -> Measured:
    """Run everything in parallel. Figures go to the levels; failures and an interruption are in the result."""
    found = Measured()
    plans = [one.plan() for one in wanted]
    while plans and not found.interrupted:
        runs = run_reduced(plans, partial(_Run.of, wanted), workers, progress)
        again = list(_taken(found, wanted, runs))
        if progress is not None:
            # The progress bar ends with the first runs.
            found.points, progress = len(found.digests), None
        found.points = found.points or len(found.digests)
        wanted = again
        plans = [one.plan() for one in wanted]
    return found


def _taken(found: Measured, wanted: Sequence[Wanted], runs: Sequence[_Run]) -> Iterator[Wanted]:
    """Store the results. Yields the runs that have to be repeated."""
    for one, ran in zip(wanted, runs, strict=True):
        at = {"level": one.entry.level.label, "state": one.state, "load": one.load}
        found.failures += [
            Failure({**at, **failure.axes}, one.chosen.loads.told(failure.why)) for failure in ran.failures
        ]
        found.digests += ran.digests
        found.hashes.append(ran.scenario_hash)
        found.seeds.append(ran.seed)
        found.interrupted |= ran.interrupted
        if one.way is None or ran.figures is not None:
            one.keep(ran.figures)
        again = one.again(ran.figures)
        if again is not None and not ran.interrupted:
            yield again


@dataclass(frozen=True)
class _Run:
    """What is kept of the runs of one load: points with series and histograms need a hundred times the memory."""

    figures: Figures
    """None if there are none."""
    digests: list[str]
    failures: list[Failure]
    interrupted: bool
    seed: int
    scenario_hash: str

    @classmethod
    def of(cls, wanted: Sequence[Wanted], place: int, result: Result) -> _Run:
        """From the result of a load."""
        return cls(
            figures=wanted[place].figures(result.points) if result.points else None,
            digests=[point["digest"] for point in result.points],
            failures=result.failures,
            interrupted=result.interrupted,
            seed=result.seed,
            scenario_hash=result.scenario_hash,
        )
