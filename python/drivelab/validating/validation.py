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

from drivelab import _core
from drivelab.errors import InputError, TraceError, raw
from drivelab.host.files import check_kind
from drivelab.report import toml_text
from drivelab.report.pictures import drawn
from drivelab.report.table import Cell, Table
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.scenario import Override, Source, check_once, overrides_from, plan
from drivelab.validating.validation_groups import (
    JUDGED_FROM,
    MARGIN_PERCENT,
    Agreement,
    Chosen,
    Interval,
    Samples,
    Verdict,
    agreement,
    intervals,
    kinds,
    telling,
)

if TYPE_CHECKING:
    import altair

SHARES = 10_000
"""At so many shares two distributions are compared."""

_NS_PER_MS = 1e6
# The distributions that a picture has room for, beside that of all requests.
_DRAWN = tuple(
    f"{place}_{access}s" for access in ("read", "write") for place in ("sequential", "near", "far")
)


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
    interval: Interval | None = None
    """The error of the mean; None where nothing was measured."""
    margin: float = MARGIN_PERCENT / 100
    """The error that it may have, as a share."""

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

    @property
    def verdict(self) -> Verdict:
        """Whether the mean is right within the margin, as far as so many requests can tell."""
        if self.interval is None or len(self.measured) < JUDGED_FROM:
            return "too few"
        return self.interval.verdict(self.margin)

    def error(self) -> dict[str, Any]:
        """What a picture of the error is drawn from."""
        found = self.interval
        return {
            "name": self.name,
            "error": found and found.error,
            "low": found and found.low,
            "high": found and found.high,
            "verdict": self.verdict,
            "requests": len(self.measured),
        }

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
            "mean_error": self.interval and self.interval.error,
            "mean_error_95": self.interval and [self.interval.low, self.interval.high],
            "verdict": self.verdict,
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
    hits_told_by: str
    """Whether the trace or the model says what was a hit."""
    hits: dict[str, Agreement]
    """Where the trace tells hits from misses: how often the model agrees, of all requests, reads and writes."""

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
            "margin_percent": 100 * self.all.margin,
            "verdicts": self.verdicts(),
            "hits_told_by": self.hits_told_by,
            "hits": {name: found.to_dict() for name, found in self.hits.items()} or None,
            "groups": {name: group.to_dict() for name, group in self.groups.items()},
        }

    def verdicts(self) -> dict[str, int]:
        """How many groups there are of each verdict."""
        found = [group.verdict for group in self.groups.values()]
        names: tuple[Verdict, ...] = ("pass", "undecided", "fail", "too few")
        return {name.replace(" ", "_"): found.count(name) for name in names}

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
            "error %",
            "95 % interval",
            "verdict",
            "demerit ms",
            "demerit %",
        ]
        rows = [_row(group) for group in (self.all, *self.groups.values())]
        return Table(columns, rows, left=frozenset({0}))

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """The error of each group, and both distributions of all requests and of some groups.

        It is written to `path` if there is one.
        """
        from drivelab import charts  # noqa: PLC0415 - altair takes longer to load than a replay takes

        shown = [self.groups[name] for name in _DRAWN if name in self.groups]
        errors = [group.error() for group in self.groups.values()]
        samples = [group.samples() for group in (self.all, *shown)]
        return drawn(
            lambda: charts.distributions(self.drive, samples, errors, 100 * self.all.margin),
            path,
            self.provenance,
        )

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@names_checked
def validate(
    drive: str | Path,
    trace: str | Path,
    *,
    seed: int | None = None,
    margin_percent: float = MARGIN_PERCENT,
    **overrides: object,
) -> Validation:
    """Replay a validation trace against a drive: a name of the catalogue, or the path of a drive file.

    One request is outstanding at a time, each a measured gap after the completion of the one before. The seed
    only turns the platter at the start. A group passes whose mean is shown to be within `margin_percent` of the
    measured one. `overrides` replace keys of the scenario that the drive stands in, e.g.
    `**{"target.write_cache": False}`.

    Raises InputError (no such file, no such trace, a trace of a larger drive), ScenarioError and RunError.
    """
    found = overrides_from(overrides)
    if seed is not None:
        found.insert(0, Override("run.seed", str(seed), "seed"))
    return replay(drive, trace, found, margin_percent)


def replay(
    drive: str | Path, trace: str | Path, overrides: list[Override], margin_percent: float = MARGIN_PERCENT
) -> Validation:
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
        raise InputError(
            f"a sweep of {len(checked)} points cannot be validated, only one drive; give each key one value"
        )
    _check_readable(Path(trace))
    try:
        columns = _core.replay(checked, str(trace))
    except TraceError as error:
        raise InputError(f"{trace}: {raw(error)}") from error
    tags = _tags(Path(trace), len(columns["first"]))
    found = kinds(columns, tags)
    chosen = {"all": np.ones(len(columns["first"]), dtype=bool), **found}
    groups = _groups(columns, chosen, margin_percent / 100)
    agreed = {
        name: agreement(columns, tags, chosen[name]) if tags else None for name in ("all", "reads", "writes")
    }
    return Validation(
        drive=str(drive),
        trace=str(trace),
        seed=checked.seed,
        scenario_hash=checked.scenario_hash,
        all=groups.pop("all"),
        groups=groups,
        hits_told_by="trace" if tags else "model",
        hits={name: counts for name, counts in agreed.items() if counts is not None},
    )


def _tags(path: Path, requests: int) -> list[str] | None:
    """The word in each line of a trace that has been read; None where they do not show hits."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    tags = [fields[1] for line in lines if len(fields := line.split()) > 1]
    return tags if len(tags) == requests and telling(tags) else None


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


def _groups(columns: Mapping[str, Any], chosen: Mapping[str, Chosen], margin: float) -> dict[str, Group]:
    """The groups that something is in."""
    measured, simulated = (
        np.array(columns[key], dtype=np.float64) / _NS_PER_MS for key in ("measured_ns", "simulated_ns")
    )
    there = {name: which for name, which in chosen.items() if which.any()}
    errors = intervals(measured, simulated, there)
    return {name: _group(name, columns, which, errors.get(name), margin) for name, which in there.items()}


def _group(
    name: str, columns: Mapping[str, Any], chosen: Chosen, interval: Interval | None, margin: float
) -> Group:
    def ms(values: list[int]) -> Samples:
        return np.array(values, dtype=np.float64)[chosen] / _NS_PER_MS

    parts = {part: float(np.mean(ms(values))) for part, values in columns["breakdown_ns"].items()}
    order = ("queue", "overhead", "seek", "rotation", "transfer", "link", "wait")
    return Group(
        name=name.replace("_", " "),
        measured=ms(columns["measured_ns"]),
        simulated=ms(columns["simulated_ns"]),
        breakdown={part: parts[part] for part in order},
        interval=interval,
        margin=margin,
    )


def _row(group: Group) -> list[Cell]:
    share, found = group.demerit_share, group.interval
    return [
        Cell(group.name),
        Cell(str(len(group.measured))),
        Cell(f"{group.mean_measured:.3f}"),
        Cell(f"{group.mean_simulated:.3f}"),
        Cell(f"{100 * found.error:+.1f}" if found else "-"),
        Cell(f"{100 * found.low:+.1f} to {100 * found.high:+.1f}" if found else "-"),
        Cell(group.verdict),
        Cell(f"{group.demerit:.3f}"),
        Cell("-" if share is None else f"{100 * share:.1f}"),
    ]
