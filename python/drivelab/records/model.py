"""The common form of a record for comparisons: points at their places, figures with their errors, and its origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

PERCENTILES = {
    "p50": 0.5,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p99_9": 0.999,
    "p99_99": 0.9999,
}
"""The percentiles of the record, with the share that does not exceed each."""

FIGURES = ("iops", "bytes_per_s", "mean", *PERCENTILES, "max")
"""Figures of a point, or of one of its directions with `read.`, `write.` or `trim.` before it. Times are in ns."""

LOAD_FIGURES = ("request_bytes", "in_flight", "busy")
"""Figures of a load over time beside these: mean bytes of an I/O, outstanding I/Os, share of the time with I/Os."""

OTHER_FIGURE = "figure"
"""A figure of a table that is none of these."""

OPTIONAL_AXES = (
    "bsrange",
    "bssplit",
    "ba",
    "bs_unaligned",
    "bs_is_seq_rand",
    "rate_iops",
    "rate",
    "rate_process",
    "thinktime",
    "thinktime_blocks",
    "thinktime_blocks_type",
    "thinktime_iotime",
    "thinktime_spin",
    "percentage_random",
    "random_distribution",
    "rw_sequencer",
    "fsync",
    "fdatasync",
    "sync",
    "sync_file_range",
    "write_barrier",
    "end_fsync",
    "fsync_on_close",
    "iodepth_batch",
    "iodepth_batch_complete_min",
    "iodepth_batch_complete_max",
    "iodepth_low",
    "serialize_overlap",
    "overwrite",
    "atomic",
    "verify",
    "zonemode",
    "max_open_zones",
    "zonesize",
    "zonerange",
    "zoneskip",
    "trim_percentage",
    "read_iolog",
    "latency_target",
)
"""Axes of the workload that a job has only if the option is given."""

WORKLOAD_AXES = ("rw", "bs", "iodepth", "numjobs", "hosts", "depth", "rwmixread", "pattern", *OPTIONAL_AXES)
"""Axes of the workload; points that differ in one of them never count as the same."""


@dataclass(frozen=True)
class Figure:
    """A figure, and how far a repetition may deviate from it."""

    value: float
    error: float | None = None
    """The standard error as a share of the value; None if the record cannot tell."""
    freedom: float = float("inf")
    """Degrees of freedom of the error."""
    resolution: float = 0.0
    """The possible effect of rounding on the value, as a share of it."""
    basis: str = ""
    """The source of the error, a key of BASES; empty if there is none."""
    is_open: bool = False
    """Whether the record's samples tell nothing of the error: then no threshold can be judged."""


BASES = {
    "batches": "of IOPS by batch means and the pieces of the record's series",
    "series": "of mean latency by the pieces of the record's series",
    "histogram": "of percentiles by the histogram, for as many independent I/Os as the mean's error leaves",
    "samples": "by fio's samples, approximately: one run, its samples taken as independent",
    "repeats": "by repeated runs",
    "print": "the rounding of the print alone; how far another measurement would be nobody published",
}
"""The meaning of the basis of an error, for people."""


@dataclass(frozen=True)
class RecordPoint:
    """One point: its place by name of axis, and its figures by name."""

    axes: dict[str, Any]
    figures: dict[str, Figure]
    digest: str | None = None
    direction: str = ""
    """`read`, `write` or `trim` if all I/Os are of one kind."""
    is_complete: bool = False
    """Whether an axis of OPTIONAL_AXES that is absent has its default."""

    def figure(self, name: str) -> Figure | None:
        """A figure; if there are only reads, those of reads are those of all."""
        if name in self.figures or not self.direction:
            return self.figures.get(name)
        before = f"{self.direction}."
        return self.figures.get(name.removeprefix(before) if name.startswith(before) else before + name)


@dataclass(frozen=True)
class Settings:
    """The keys of the scenario of a record, by their full names, with their values as texts: one, or those of a sweep.

    What is stated stands in the scenario; what is implied comes from the drive's file, its interface and its class.
    """

    stated: Mapping[str, list[str]] = field(default_factory=dict)
    implied: Mapping[str, list[str]] = field(default_factory=dict)

    def all(self) -> dict[str, list[str]]:
        """Every key; what is stated counts more than what is implied."""
        return {**self.implied, **self.stated}


@dataclass(frozen=True)
class Record:
    """A record of any kind."""

    origin: str
    """Where it was read from: a path, `published:NAME`, or a place in a library."""
    kind: str
    """simulated, measured, emulated, published, predicted or fio."""
    points: list[RecordPoint]
    name: str = ""
    target: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    """Identification of the run: program, model, seed, engine; each as text."""
    notes: list[str] = field(default_factory=list)
    """What was repaired, left out, or cannot be determined."""
    settings: Settings = field(default_factory=Settings)
    """Of a record that holds its scenario."""

    def bases(self) -> list[str]:
        """The sources of the errors of its figures, in the order of BASES."""
        found = {figure.basis for point in self.points for figure in point.figures.values()}
        return [name for name in BASES if name in found]


DIRECTIONS = ("read", "write", "trim")
"""The kinds of I/Os that have figures of their own."""


def is_workload(axis: str) -> bool:
    """Whether an axis belongs to the workload; that of a named job (`readers.bs`) too."""
    return axis.rpartition(".")[2] in WORKLOAD_AXES


def scalars(table: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """The values of those keys that are a text or a number, as texts."""
    return {
        name: str(table[name])
        for name in names
        if isinstance(table.get(name), str | int | float) and str(table[name])
    }
