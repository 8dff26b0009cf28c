"""The result of a simulation: the same figures for a notebook, a table, a chart and JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from drivelab import _core
from drivelab.errors import RunError
from drivelab.errors.keys import as_arguments, as_keys
from drivelab.report import frames
from drivelab.report.commands import LOGS
from drivelab.report.pictures import check_metric, drawn
from drivelab.report.points_table import breakdown_table, points_table
from drivelab.report.table import Table
from drivelab.report.toml_text import value_text
from drivelab.runs.point import Point
from drivelab.runs.provenance import line, provenance
from drivelab.scenarios.jobs import jobs_of_text
from drivelab.scenarios.subject import Subject, is_sequential

if TYPE_CHECKING:
    import altair
    import pandas
    import polars

__all__ = ["Failure", "Point", "Result", "Skipped", "combined_digest", "mean_ns"]


UNNAMED = "command line"
"""The name of a scenario that was typed."""


def mean_ns(point: Point) -> float:
    """The mean latency of a point at which something finished. Raises RunError."""
    mean = point["latency_ns"]["mean"]
    if mean is None:
        raise RunError("no I/O finished, so there is no mean")
    return mean


def combined_digest(digests: Sequence[str]) -> str:
    """One digest for several runs, 16 hexadecimal digits; that of the run itself where there is one."""
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def resolved(plan: _core.Plan, *, without_target: bool = False) -> dict[str, Any]:
    """What a record holds of the scenario of its run, from which the run can be repeated."""
    lines = plan.scenario.splitlines(keepends=True)
    kept = [line for line in lines if not (without_target and line.startswith("target."))]
    if not any(line.startswith("name = ") for line in kept):
        # Else the file that it is run from would name it.
        kept.insert(0, f"name = {value_text(plan.name)}\n")
    return {
        "scenario": "".join(kept),
        "overrides": plan.overrides,
        "files": plan.files,
        "traces": plan.traces,
    }


@dataclass(frozen=True)
class Failure:
    """A point of the sweep that has no result, and why."""

    axes: dict[str, Any]
    why: str
    """Why, with references to keys."""
    kind: type[RunError] = RunError
    """The error's class: UnfitError where another command line helps."""

    @property
    def message(self) -> str:
        """Why, with keys as arguments of a function."""
        return as_arguments(self.why)

    def to_dict(self) -> dict[str, Any]:
        """The entry of a record, with keys as those of a scenario."""
        return {"axes": self.axes, "message": as_keys(self.why)}


@dataclass(frozen=True)
class Skipped:
    """A point of the grid that cannot be, because two of its values contradict each other."""

    axes: dict[str, Any]
    reason: str


@dataclass(frozen=True, repr=False)
class Result:
    """What a scenario came to: its points in the order of the sweep, and the identity of the run."""

    points: list[Point]
    name: str
    seed: int
    scenario_hash: str
    interrupted: bool = False
    failures: list[Failure] = field(default_factory=list)
    fio: list[str] = field(default_factory=list)
    """The workload of each point as fio arguments."""
    skipped: list[Skipped] = field(default_factory=list)
    plan: _core.Plan | None = field(default=None, compare=False)
    """What was run, so that a point can be run once more under another order; a pickled result has lost it."""
    places: list[int] = field(default_factory=list)
    """The place of each point in the plan."""
    subject: Subject | None = field(default=None, compare=False)
    """What the run is about, for the title of a picture."""
    resolved: Mapping[str, Any] | None = field(default=None, compare=False)
    """What a record holds of the scenario, where the plan has been lost, or is of another target."""

    def __repr__(self) -> str:
        """A line, however many points there are."""
        count = len(self.points)
        points = f"{count} {'point' if count == 1 else 'points'}"
        return f"<Result {self.name!r}: {points}, digest {self.provenance()['digest']}>"

    def __getstate__(self) -> dict[str, Any]:
        """All but the plan, which holds the models of its drives and is no data."""
        return {**self.__dict__, "plan": None, "resolved": self.scenario()}

    def scenario(self) -> Mapping[str, Any]:
        """The scenario that was run, as the record holds it: its text, and what the text names."""
        if self.plan is None or self.resolved is not None:
            return self.resolved or {}
        return resolved(self.plan)

    def __copy__(self) -> Result:
        """A copy with the same plan, points and lists."""
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Result:
        """A copy with points and lists of its own; a plan cannot change and is shared."""
        names = [one.name for one in fields(self) if one.name != "plan"]
        return replace(self, **{name: deepcopy(getattr(self, name), memo) for name in names})

    @property
    def records(self) -> list[dict[str, Any]]:
        """The points as plain dictionaries."""
        return cast("list[dict[str, Any]]", self.points)

    def to_pandas(self) -> pandas.DataFrame:
        """The points as a pandas DataFrame, a row each. Raises ImportError without the extra `drivelab[pandas]`."""
        return frames.to_pandas(self.records)

    def to_polars(self) -> polars.DataFrame:
        """The points as a polars DataFrame, a row each. Raises ImportError without the extra `drivelab[polars]`."""
        return frames.to_polars(self.records)

    def to_dict(self) -> dict[str, Any]:
        """The record: what `drivelab simulate --json` prints, as dictionaries and lists alone."""
        lists = [
            {**point, **{key: list(point[key]) for key in LOGS if key in point}} for point in self._stated()
        ]
        return {**self.document(), "points": lists}

    def _stated(self) -> list[dict[str, Any]]:
        """The points with the workload of each, by which a record can be set beside others."""
        if len(self.fio) != len(self.points):
            return self.records
        jobs = map(jobs_of_text, self.fio)
        return [
            {**point, **({"workload": found} if found else {})}
            for point, found in zip(self.records, jobs, strict=True)
        ]

    def document(self) -> dict[str, Any]:
        """The record with its logs as they are, which are no lists: of a long one the rows take much room."""
        return {
            "record_version": _core.RECORD_VERSION,
            "name": self.name,
            **({"target": self.subject.target} if self.subject and self.subject.target else {}),
            **self.provenance(),
            "generator": _core.GENERATOR,
            "interrupted": self.interrupted,
            "failures": [failure.to_dict() for failure in self.failures],
            "skipped": [{"axes": skipped.axes, "reason": skipped.reason} for skipped in self.skipped],
            **self.scenario(),
            "points": self._stated(),
        }

    def provenance(self) -> dict[str, Any]:
        """From what the run can be repeated and recognised."""
        digest = combined_digest([point["digest"] for point in self.points])
        return provenance(self.scenario_hash, self.seed, digest)

    def identity(self) -> str:
        """The same in one line."""
        return line(self.provenance())

    def table(self) -> Table:
        """The points, one row each, as a person reads them."""
        return points_table(self.records)

    def breakdown_table(self) -> Table | None:
        """Where the mean response time of each point went; None where nothing finished."""
        return breakdown_table(self.records)

    def chart(
        self, path: str | Path | None = None, *, title: str | None = None, metric: str | None = None
    ) -> altair.TopLevelMixin:
        """Rates and latency over the sweep, of one point its response times; written to `path` if there is one.

        The suffix of `path` decides the kind of file: .png, .svg, .pdf, .html (one page that needs no network) or
        .json (the Vega-Lite specification). Jobs of several kinds are drawn each by itself. `metric` is iops, mbps,
        latency, or one statistic of it: mean, p50, p90, p95, p99, p99.9, p99.99, max; by default IOPS, or MB/s where
        all of the workload is sequential. Latencies are in ms.
        The title names drive and workload, unless another is given. Raises InputError (no such metric), ChartError
        (no points, another suffix, a place that cannot be written to).
        """
        if metric is not None:
            check_metric(metric)
        return drawn(lambda: self._chart(title, metric), path, self.provenance)

    def _chart(self, title: str | None, metric: str | None) -> altair.TopLevelMixin:
        from drivelab import charts  # noqa: PLC0415 - altair takes longer to load than a run takes

        if metric is None and charts.has_jobs(self.points):
            shown = "mbps" if is_sequential(self.fio) else "iops"
            named = title or self._title("each job by itself")
            return charts.jobs(self.points, named, metric=shown, notes=self._notes())
        if len(self.points) == 1 and metric is None and self.points[0]["latency_ns"]["n"]:
            return charts.latencies(self.points[0], title or self._title("response times"), self._notes())
        wanted = metric or ("mbps" if is_sequential(self.fio) else "iops")
        return charts.depth(self.points, title or self._title(), metric=wanted, notes=self._notes())

    def breakdown_chart(
        self, path: str | Path | None = None, *, title: str | None = None
    ) -> altair.TopLevelMixin:
        """Where the response time went, over the sweep, in ms; written to `path` if there is one.

        Raises ChartError without points.
        """
        from drivelab import charts  # noqa: PLC0415

        named = title or self._title("where the mean response time goes")
        return drawn(lambda: charts.breakdown(self.points, named, notes=self._notes()), path, self.provenance)

    def over_time_chart(
        self, path: str | Path | None = None, *, title: str | None = None
    ) -> altair.TopLevelMixin:
        """IOPS, latency and depth over the measured time; written to `path` if there is one.

        Raises ChartError for more than eight points.
        """
        from drivelab import charts  # noqa: PLC0415

        named = title or self._title("over time")
        return drawn(lambda: charts.over_time(self.points, named, self._notes()), path, self.provenance)

    def headline(self) -> str:
        """The name of the scenario if it has one, and what was run."""
        what = self.subject.title(self.fio) if self.subject else ""
        name = "" if self.name == UNNAMED else self.name
        return ": ".join(part for part in (name, what) if part) or self.name

    def _title(self, what: str = "") -> str | None:
        """Drive and workload; None where neither is known, so that the chart has its own title."""
        named = self.subject.title(self.fio) if self.subject else ""
        return ", ".join(part for part in (named, what) if part) if named else None

    def _notes(self) -> list[str]:
        """What was set otherwise than the drive has it."""
        return self.subject.notes(self.points[0]["axes"]) if self.subject and self.points else []

    def rebuild_chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """Latency, IOPS and the progress of rebuilds over time; written to `path` if there is one.

        Raises ChartError where no point has an array.
        """
        from drivelab import charts  # noqa: PLC0415

        return drawn(lambda: charts.rebuild(self.points), path, self.provenance)

    def timeline_chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """The head's way over the disk and the commands that wait for it, from the log of each point.

        It is written to `path` if there is one.

        What queueing saves comes from a second run of each point in order of arrival, made here. Of an array: where
        the time of its hosts' commands went, and the head of each member. Raises ChartError without a log.
        """
        return drawn(self._timeline, path, self.provenance)

    def _timeline(self) -> altair.TopLevelMixin:
        from drivelab import charts  # noqa: PLC0415
        from drivelab.runs.simulation import in_arrival_order  # noqa: PLC0415 - it makes results

        if any("member_commands" in point for point in self.points):
            return charts.array_timeline(self.points)
        return charts.timeline(self.points, in_arrival_order(self))

    def _repr_html_(self) -> str:
        return f"{self.table()._repr_html_()}<p><small>{self.identity()}</small></p>"
