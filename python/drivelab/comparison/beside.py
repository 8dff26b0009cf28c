"""Records compared with the first of them, and the result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _core
from drivelab.comparison.choice import CONFIDENCE, JUDGED, Choice, chosen
from drivelab.comparison.difference import Difference, difference, each_of
from drivelab.comparison.matching import SHARED, Lonely, Pair, matched, pooled, same, with_depth
from drivelab.comparison.verdict import Verdict
from drivelab.errors import InputError, ref
from drivelab.records import settings
from drivelab.records.model import DIRECTIONS, FIGURES, OTHER_FIGURE, PERCENTILES, Record, is_workload
from drivelab.records.opening import of_object, open_record
from drivelab.records.places import axis_name, axis_value
from drivelab.report.pictures import drawn
from drivelab.report.points_table import axis_text
from drivelab.report.table import Table
from drivelab.runs.result import Result
from drivelab.scenarios.names import names_checked

if TYPE_CHECKING:
    import altair

RECORDS_MAX = 26
"""Each record has a letter."""

LABEL_SETTINGS_MAX = 3
"""Of the settings in which records differ, so many are their label."""

_DRIVE = "drive"
# As long as a run's digest.
_DIGEST_DIGITS = 16

_NAMED = [
    name
    for name in (OTHER_FIGURE, *FIGURES, *(f"{one}.{name}" for one in DIRECTIONS for name in FIGURES))
    if not name.endswith("max")
]
"""The figures compared if two records have none of the usual ones in common."""

Source = str | PathLike[str] | Mapping[str, Any] | Result


@dataclass(frozen=True)
class Levels:
    """The confidence level of each interval, high enough for all intervals that are read together to hold jointly."""

    judged: float
    shifts: float

    @classmethod
    def of(cls, besides: Sequence[Beside], choice: Choice) -> Levels:
        """From the number of intervals of the chosen figures, and of the other percentiles."""
        if choice.is_pointwise:
            return cls(choice.confidence, choice.confidence)
        judged = sum(one.is_uncertain for beside in besides for one in beside.differences)
        shifts = sum(
            one.is_uncertain
            for beside in besides
            for one in beside.shifts
            if one.figure not in beside.figures()
        )
        return cls(each_of(judged, choice.confidence), each_of(shifts, choice.confidence))


@dataclass(frozen=True)
class Beside:
    """One record compared with the first."""

    first: str
    other: str
    """The letters of both."""
    differences: list[Difference]
    """For the chosen figures, by figure, then by place."""
    shifts: list[Difference]
    """For the percentiles."""
    lonely: list[Lonely]
    subjects: dict[str, tuple[str, str]]
    settings: dict[str, tuple[str, str]]
    """Keys of the scenario in which the records differ as a whole, with both values."""
    missing: list[str]
    """Requested figures that one of the two records has at no place."""
    bare: list[dict[str, Any]]
    """Places that both records have without a figure in common."""

    def heading(self) -> str:
        """Which record is held to which, and the settings in which they differ."""
        texts = [f"{key} {one} -> {other}" for key, (one, other) in self.settings.items()]
        shown = f" ({', '.join(texts)})" if 0 < len(texts) <= LABEL_SETTINGS_MAX else ""
        return f"{self.other} against {self.first}{shown}"

    def figures(self) -> list[str]:
        """The figures that were compared."""
        return list(dict.fromkeys(one.figure for one in self.differences))


@dataclass(frozen=True, repr=False)
class Compared:
    """Records side by side. The others are compared with the first."""

    records: dict[str, Record]
    """By letter."""
    besides: list[Beside]
    choice: Choice
    levels: Levels

    def __repr__(self) -> str:
        """A line."""
        return f"<Compared {', '.join(self.records)}: {self.verdict().lines[0]}>"

    def label(self, letter: str) -> str:
        """What tells a record from the others: its values of the settings in which they differ."""
        own: dict[str, str] = {}
        for beside in self.besides:
            if letter in {beside.first, beside.other}:
                at = 0 if letter == beside.first else 1
                own |= {key: values[at] for key, values in beside.settings.items()}
        return settings.label(dict(list(own.items())[:LABEL_SETTINGS_MAX]))

    def verdict(self) -> Verdict:
        """The result in words, and whether the threshold is kept."""
        return Verdict.of(self)

    def tables(self) -> list[Table]:
        """A table for each figure and pair of records, then the shift of percentiles."""
        from drivelab.comparison.tables import tables  # noqa: PLC0415 - it reads this module's types

        return tables(self)

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """Differences with their intervals, and the shift of percentiles; written to `path` if there is one.

        Raises ChartError.
        """
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        return drawn(lambda: charts.differences(self.to_dict()), path, self.provenance)

    def rows(self) -> list[dict[str, Any]]:
        """What `compare --csv` prints: a row for each place and figure."""
        rows = []
        for beside in self.besides:
            for one in [*beside.differences, *beside.shifts]:
                table = one.to_dict()
                place = {name: axis_text(value) for name, value in table.pop("place").items()}
                rows.append({"first_record": beside.first, "other_record": beside.other, **place, **table})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """What `compare --json` prints."""
        verdict = self.verdict()
        return {
            "version": _core.VERSION,
            "confidence": self.choice.confidence,
            "pointwise": self.choice.is_pointwise,
            "confidence_of_each": {"differences": self.levels.judged, "percentiles": self.levels.shifts},
            "threshold": self.choice.threshold,
            "records": [
                {
                    "letter": letter,
                    "origin": record.origin,
                    "kind": record.kind,
                    "name": record.name,
                    "target": record.target,
                    "label": self.label(letter),
                    "facts": record.facts,
                    "intervals_from": record.bases(),
                    "notes": record.notes,
                }
                for letter, record in self.records.items()
            ],
            "comparisons": [
                {
                    "first": beside.first,
                    "other": beside.other,
                    "tell_apart": {name: list(values) for name, values in beside.subjects.items()},
                    "settings": {key: list(values) for key, values in beside.settings.items()},
                    "differences": [one.to_dict() for one in beside.differences],
                    "percentiles": [one.to_dict() for one in beside.shifts],
                    "not_matched": [
                        {
                            "record": beside.first if one.is_first else beside.other,
                            "axes": one.axes,
                            "reason": one.reason,
                        }
                        for one in beside.lonely
                    ],
                    "missing": beside.missing,
                    "without_figures": beside.bare,
                }
                for beside in self.besides
            ],
            "verdict": {"lines": verdict.lines, "holds": verdict.holds, **verdict.counts},
        }

    def provenance(self) -> dict[str, Any]:
        """For a picture: the program, the origin of the records, and the digest of what was compared."""
        content = {key: value for key, value in self.to_dict().items() if key not in {"version", "records"}}
        text = json.dumps(content, sort_keys=True)
        return {
            "version": _core.VERSION,
            "digest": hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_DIGITS],
            **{letter: record.origin for letter, record in self.records.items()},
        }

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{line}</p>" for line in self.verdict().lines)
        return lines + "".join(table._repr_html_() for table in self.tables())


@names_checked
def compare(  # noqa: PLR0913 - its parameters are the options of the verb
    *sources: Source,
    figures: Sequence[str] = JUDGED,
    confidence_percent: float = 100 * CONFIDENCE,
    pointwise: bool = False,
    threshold_percent: float | None = None,
    worse_only: bool = False,
    strict: bool = False,
    ignore: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    split: str | None = None,
) -> Compared:
    """Compare records with the first of them: paths, results, records as dictionaries, `published:NAME`.

    Raises InputError if a source is not a record, or no point has a counterpart.
    """
    choice = chosen(
        figures=figures,
        confidence_percent=confidence_percent,
        pointwise=pointwise,
        threshold_percent=threshold_percent,
        worse_only=worse_only,
        strict=strict,
        ignore=ignore,
        where=where,
        split=split,
    )
    return compared([_record(source, at) for at, source in enumerate(sources)], choice)


def _record(source: Source, at: int) -> Record:
    if isinstance(source, Result):
        return of_object(source.to_dict(), source.name)
    if isinstance(source, Mapping):
        return of_object(source, f"record {at + 1}")
    return open_record(fspath(source))


def compared(records: Sequence[Record], choice: Choice) -> Compared:
    """Records compared with the first. Raises InputError."""
    for name in choice.where or {}:
        _check_axis(f"{ref('where', name)}", name, records)
    if choice.split is not None:
        _check_axis(f"{ref('split', choice.split)}", choice.split, records)
    for name in choice.ignore:
        _check_axis(f"{ref('ignore', name)}", name, records)
    found = [_kept(record, choice) for record in records]
    if choice.split is not None:
        found = _split(found, choice.split)
    if len(found) < 2:
        raise InputError(
            f"a comparison takes two records at least; of one record {ref('split', 'AXIS')} compares its points with "
            f"each other, such as {ref('split', 'drive')}"
        )
    if len(found) > RECORDS_MAX:
        raise InputError(f"{len(found)} records: a comparison has at most {RECORDS_MAX}")
    names = dict.fromkeys(name for record in found for point in record.points for name in point.axes)
    found = [pooled(_with_settings(record, [*names])) for record in found]
    lettered = {chr(ord("A") + at): record for at, record in enumerate(found)}
    (letter, first), *others = lettered.items()
    levels = Levels(choice.confidence, choice.confidence)
    # The number of intervals is known only after the first pass.
    for _ in range(2):
        besides = [_beside((letter, first), other, choice, levels) for other in others]
        levels = Levels.of(besides, choice)
    return Compared(lettered, besides, choice, levels)


def _with_settings(record: Record, axes: Sequence[str]) -> Record:
    """The record with what it has set once and another record sweeps as an axis of its points."""
    there = {name for point in record.points for name in point.axes}
    own = {
        axis: axis_value(axis, value)
        for axis in axes
        if axis not in there
        and not is_workload(axis)
        and (value := settings.as_axis(record.settings, axis)) is not None
    }
    if not own:
        return record
    return replace(record, points=[replace(point, axes={**point.axes, **own}) for point in record.points])


def _check_axis(option: str, axis: str, records: Sequence[Record]) -> None:
    """Refuse an axis that no record has. Raises InputError."""
    names = dict.fromkeys(name for record in records for point in record.points for name in point.axes)
    if axis not in names:
        raise InputError(f"{option}: no axis is called so; there is {', '.join(names) or 'none'}")


def _kept(record: Record, choice: Choice) -> Record:
    """The points selected by `--where`."""
    points = record.points
    for name, value in (choice.where or {}).items():
        wanted = axis_value(name, value)
        if not any(name in point.axes for point in points):
            continue
        left = [point for point in points if name in point.axes and same(point.axes[name], wanted)]
        if not left:
            there = dict.fromkeys(axis_text(point.axes[name]) for point in points if name in point.axes)
            raise InputError(
                f"{ref('where', f'{name}={value}')}: {record.origin} has {name} {', '.join(there)} alone"
            )
        points = left
    drives = dict.fromkeys(axis_text(point.axes[_DRIVE]) for point in points if _DRIVE in point.axes)
    target = ", ".join(drives) if drives and choice.where else record.target
    return replace(record, points=points, target=target)


def _split(records: Sequence[Record], axis: str) -> list[Record]:
    """A record for each value of an axis; records without it stay whole."""
    found: list[Record] = []
    for record in records:
        values = {
            axis_text(point.axes[axis]): point.axes[axis] for point in record.points if axis in point.axes
        }
        if not values:
            found.append(record)
            continue
        for text in values:
            points = [p for p in record.points if axis in p.axes and axis_text(p.axes[axis]) == text]
            without = [
                replace(point, axes={k: v for k, v in point.axes.items() if k not in with_depth([axis])})
                for point in points
            ]
            target = text if axis == _DRIVE else record.target
            origin = f"{record.origin}, {axis} {text}"
            found.append(replace(record, origin=origin, points=without, target=target))
    return found


def _beside(first: tuple[str, Record], other: tuple[str, Record], choice: Choice, levels: Levels) -> Beside:
    (one, record), (two, twin) = first, other
    found = matched(record, twin, choice.ignore)
    if not found.pairs:
        # Report the points that match several others, among which the user has to choose, rather than those
        # others.
        lonely = [lone for lone in found.lonely if lone.reason != SHARED] or found.lonely
        reasons = dict.fromkeys(f"{one if lone.is_first else two}: {lone.reason}" for lone in lonely)
        remedy = (
            f"{ref('ignore', 'AXIS')} compares points that differ in one, {ref('where', 'AXIS=VALUE')} "
            "chooses among several"
        )
        raise InputError(
            f"no point of {twin.origin} is at the same place as one of {record.origin}: "
            f"{'; '.join(list(reasons)[:2])}; {remedy}"
        )
    names = choice.figures
    if names == JUDGED:
        # A published table has its own kind of figure, which nobody should have to name.
        others = [pair for pair in found.pairs if not any(_both(pair, name) for name in names)]
        names = (*names, *(name for name in _NAMED if any(_both(pair, name) for pair in others)))
    by_figure = {name: _differences(found.pairs, name, levels.judged) for name in names}
    besides = [one for differences in by_figure.values() for one in differences]
    missing = [name for name, differences in by_figure.items() if not differences]
    if not besides:
        there = ([pair.first for pair in found.pairs], [pair.other for pair in found.pairs])
        listed = [
            ", ".join(dict.fromkeys(name for point in points for name in point.figures)) for points in there
        ]
        raise InputError(
            f"{record.origin} and {twin.origin} have none of {', '.join(names)} in common: the one has "
            f"{listed[0] or 'none'}, the other {listed[1] or 'none'}; choose with {ref('figures')}"
        )
    shifts = [
        one
        for name in PERCENTILES
        for one in by_figure.get(name) or _differences(found.pairs, name, levels.shifts)
    ]
    compared_at = {id(difference.place) for difference in besides}
    bare = [pair.place for pair in found.pairs if id(pair.place) not in compared_at]
    return Beside(
        one,
        two,
        besides,
        shifts,
        found.lonely,
        found.subjects,
        _settings(record, twin, found.subjects),
        missing,
        bare,
    )


def _settings(first: Record, other: Record, told: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """What the scenarios of two records differ in, but for what their axes tell already."""
    found = settings.differences(first.settings, other.settings)
    return {key: values for key, values in found.items() if axis_name(key) not in told}


def _both(pair: Pair, name: str) -> bool:
    if "." in name and pair.first.direction == pair.other.direction != "":
        return False
    return pair.first.figure(name) is not None and pair.other.figure(name) is not None


def _differences(pairs: Sequence[Pair], name: str, confidence: float) -> list[Difference]:
    found = []
    for pair in pairs:
        left, right = pair.first.figure(name), pair.other.figure(name)
        if left is not None and right is not None:
            is_same = (
                pair.first.digest == pair.other.digest
                if pair.first.digest and pair.other.digest
                else pair.first.figures == pair.other.figures
            )
            found.append(difference(pair.place, name, left, right, confidence, identical=is_same))
    return found
