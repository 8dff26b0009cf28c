"""A drive file set beside the measured service times of a real drive, request by request replayed.

The demerit figure is that of C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling", IEEE Computer
27(3), 1994: the root mean square of the horizontal distance between the two distributions of response times, here
at 10 000 shares p = 0.0001, 0.0002 .. 1. The quantile of a share is the smallest sample that is not below so much
of all. It is in milliseconds; as a share of the measured mean it can be compared between drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from drivelab import _core, toml_text
from drivelab.arguments import speaks_of_arguments
from drivelab.errors import InputError
from drivelab.files import check_kind
from drivelab.scenario import Override, Source, check_once, overrides_from, plan
from drivelab.table import Cell, Table

if TYPE_CHECKING:
    import altair

Samples = npt.NDArray[np.float64]
"""Response times in milliseconds."""

SHARES = 10_000
"""At so many shares two distributions are compared."""

FAR_PERCENT = 2
"""A request is far that begins farther than this part of the capacity from the end of the one before it."""

_NS_PER_MS = 1e6


def quantiles(samples: Samples, shares: int = SHARES) -> Samples:
    """The quantiles of 1/shares, 2/shares .. 1 of at least one sample."""
    ranks = -(-np.arange(1, shares + 1) * len(samples) // shares) - 1
    return np.sort(samples)[ranks]


def demerit(measured: Samples, simulated: Samples) -> float:
    """How far apart two distributions are, in the unit of the samples."""
    distance = quantiles(measured) - quantiles(simulated)
    return float(np.sqrt(np.mean(distance * distance)))


@dataclass(frozen=True)
class Group:
    """Some of the requests, as measured and as simulated."""

    name: str
    measured: Samples
    simulated: Samples
    breakdown: dict[str, float]
    """Where the simulated mean goes, in milliseconds."""

    @property
    def mean_measured(self) -> float:
        """Of the response times as measured."""
        return float(np.mean(self.measured))

    @property
    def mean_simulated(self) -> float:
        """Of the response times as simulated."""
        return float(np.mean(self.simulated))

    @property
    def demerit(self) -> float:
        """How far apart the distributions are."""
        return demerit(self.measured, self.simulated)

    @property
    def demerit_share(self) -> float | None:
        """The same as a share of the measured mean; None where that is zero."""
        return self.demerit / self.mean_measured if self.mean_measured else None

    def samples(self) -> dict[str, Any]:
        """What a picture of the group is drawn from."""
        return {
            "name": self.name,
            "measured_ms": self.measured,
            "simulated_ms": self.simulated,
            "demerit_ms": self.demerit,
            "demerit_share": self.demerit_share,
        }

    def to_dict(self) -> dict[str, Any]:
        """The figures of `drivelab validate --json`."""
        return {
            "requests": len(self.measured),
            "mean_measured_ms": self.mean_measured,
            "mean_simulated_ms": self.mean_simulated,
            "demerit_ms": self.demerit,
            "demerit_share": self.demerit_share,
            "breakdown_ms": self.breakdown,
        }


@dataclass(frozen=True, repr=False)
class Validation:
    """A drive beside its measurement: all requests, and those of one kind."""

    drive: str
    trace: str
    seed: int
    scenario_hash: str
    all: Group
    groups: dict[str, Group]
    """By name, without those that nothing is in."""

    def __repr__(self) -> str:
        """A line."""
        share = "" if self.all.demerit_share is None else f", {self.all.demerit_share:.2%}"
        return f"<Validation {self.drive!r}: demerit {self.all.demerit:.3f} ms{share}>"

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab validate --json` prints."""
        return {
            "drive": self.drive,
            "trace": self.trace,
            **self.provenance(),
            **self.all.to_dict(),
            "groups": {name: group.to_dict() for name, group in self.groups.items()},
        }

    def provenance(self) -> dict[str, Any]:
        """From what the replay can be repeated and recognised."""
        return {
            "version": _core.VERSION,
            "model_version": _core.MODEL_VERSION,
            "scenario_hash": self.scenario_hash,
            "seed": self.seed,
        }

    def table(self) -> Table:
        """All requests and each group, one row each."""
        columns = [
            "requests",
            "count",
            "measured ms",
            "simulated ms",
            "difference %",
            "demerit ms",
            "demerit %",
        ]
        rows = [_row(group) for group in (self.all, *self.groups.values())]
        return Table(columns, rows, left=frozenset({0}))

    def chart(self) -> altair.TopLevelMixin:
        """Both cumulative distributions, of all requests and of those of one kind."""
        from drivelab import charts  # noqa: PLC0415 - altair takes longer to load than a replay takes

        shown = [group for name, group in self.groups.items() if "_" in name]
        return charts.distributions(self.drive, [group.samples() for group in (self.all, *shown)])

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@speaks_of_arguments
def validate(
    drive: str | Path, trace: str | Path, *, seed: int | None = None, **overrides: object
) -> Validation:
    """Replay a validation trace against a drive: a name of the catalogue, or the path of a drive file.

    One request is outstanding at a time, each a measured gap after the completion of the one before. The seed
    only turns the platter at the start. `overrides` replace keys of the scenario that the drive stands in, e.g.
    `**{"target.write_cache": False}`.

    Raises InputError (no such file, no such trace, a trace of a larger drive), ScenarioError and RunError.
    """
    found = overrides_from(overrides)
    if seed is not None:
        found.insert(0, Override("run.seed", str(seed), "seed"))
    return replay(drive, trace, found)


def replay(drive: str | Path, trace: str | Path, overrides: list[Override]) -> Validation:
    """The same with the overrides of a command line."""
    check_once(overrides)
    for override in overrides:
        if not override.key.startswith("target.") and override.key != "run.seed":
            raise InputError(
                f"{override.origin}: a replay takes its requests from the trace, and {override.key} changes "
                "nothing there; free are the keys under target, and run.seed"
            )
    name = toml_text.value_text(str(drive))
    # The workload is not run; a block at a time fits any drive.
    given = [Override("target.drive", name, "the drive"), Override("workload.bs", "512B", "the workload")]
    checked = plan(Source("", "command line"), [*given, *overrides])
    if len(checked) != 1:
        raise InputError(f"a sweep of {len(checked)} points cannot be validated, only one drive")
    _check_readable(Path(trace))
    try:
        columns = _core.replay(checked, str(trace))
    except _core.TraceError as error:
        raise InputError(f"{trace}: {error}") from error
    groups = _groups(columns)
    return Validation(
        drive=str(drive),
        trace=str(trace),
        seed=checked.seed,
        scenario_hash=checked.scenario_hash,
        all=groups.pop("all"),
        groups=groups,
    )


def _check_readable(path: Path) -> None:
    """Say why a file cannot be opened as the other files' readers do. Raises InputError."""
    try:
        check_kind(path)
        path.open("rb").close()
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {str(path)!r}: {error}") from error


def _groups(columns: Mapping[str, Any]) -> dict[str, Group]:
    """All requests, reads and writes, near and far ones, and both together, as far as there are any."""
    first, count = (np.array(columns[key], dtype=np.int64) for key in ("first", "count"))
    distance = np.abs(first[1:] - (first + count)[:-1])
    # Nothing goes before the first request; the arm is as near as it can be.
    far = np.concatenate([[False], 100 * distance > FAR_PERCENT * columns["capacity"]])
    read = np.array(columns["read"], dtype=bool)
    kinds = {
        "all": np.ones(len(read), dtype=bool),
        "reads": read,
        "writes": ~read,
        "near": ~far,
        "far": far,
        "near_reads": read & ~far,
        "far_reads": read & far,
        "near_writes": ~read & ~far,
        "far_writes": ~read & far,
    }
    return {name: _group(name, columns, chosen) for name, chosen in kinds.items() if chosen.any()}


def _group(name: str, columns: Mapping[str, Any], chosen: npt.NDArray[np.bool_]) -> Group:
    def ms(values: list[int]) -> Samples:
        return np.array(values, dtype=np.float64)[chosen] / _NS_PER_MS

    parts = {part: float(np.mean(ms(values))) for part, values in columns["breakdown_ns"].items()}
    order = ("queue", "overhead", "seek", "rotation", "transfer", "link", "wait")
    return Group(
        name=name.replace("_", " "),
        measured=ms(columns["measured_ns"]),
        simulated=ms(columns["simulated_ns"]),
        breakdown={part: parts[part] for part in order},
    )


def _row(group: Group) -> list[Cell]:
    share, measured = group.demerit_share, group.mean_measured
    return [
        Cell(group.name),
        Cell(str(len(group.measured))),
        Cell(f"{group.mean_measured:.3f}"),
        Cell(f"{group.mean_simulated:.3f}"),
        Cell(f"{100 * (group.mean_simulated / measured - 1):+.1f}" if measured else "-"),
        Cell(f"{group.demerit:.3f}"),
        Cell("-" if share is None else f"{100 * share:.1f}"),
    ]
