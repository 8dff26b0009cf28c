"""Which points of two records are at the same place, by their axes; and which have no counterpart, with the reason.

Axes that both points state must be equal. An axis that only one of the records states does not prevent a match, as
long as the match is unique. An axis that has one value in all of a record, another in all of the other, and is not
part of the workload (the drive, its firmware), is what is compared, not a place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from drivelab.records.model import OPTIONAL_AXES, Figure, Record, RecordPoint, is_workload
from drivelab.records.precision import of_repeats
from drivelab.report.points_table import axis_text

SEED = "seed"
NOT_GIVEN = "not given"
"""The value of an option in the place of a point that has its default."""
SHARED = "its counterpart fits several points of this record"
# In records of other kinds two points at one place are not repeats: they are two printed figures.
REPEATABLE = ("simulated", "measured", "fio")


@dataclass(frozen=True)
class Pair:
    """Two points at the same place."""

    place: dict[str, Any]
    first: RecordPoint
    other: RecordPoint


@dataclass(frozen=True)
class Lonely:
    """A point without a counterpart."""

    axes: dict[str, Any]
    is_first: bool
    reason: str


@dataclass(frozen=True)
class Matched:
    """The matches of two records."""

    pairs: list[Pair]
    lonely: list[Lonely]
    subjects: dict[str, tuple[str, str]]
    """Axes that distinguish the records, with the value of each."""


def pooled(record: Record) -> Record:
    """The record with runs that differ only in their seed pooled as repeats of one point."""
    if record.kind not in REPEATABLE:
        return record
    groups: dict[str, list[RecordPoint]] = {}
    for point in record.points:
        groups.setdefault(_key({k: v for k, v in point.axes.items() if k != SEED}), []).append(point)
    if all(len(group) == 1 for group in groups.values()):
        return record
    # Points at the same place without a seed to distinguish them are repeats as well: runs of fio in one
    # file.
    points = [group[0] if len(group) == 1 else _mean(group) for group in groups.values()]
    count = max(len(group) for group in groups.values())
    note = f"runs that differ in nothing but their seed or their time are repeats: up to {count} at a point"
    return replace(record, points=points, notes=[*record.notes, note])


def _mean(group: Sequence[RecordPoint]) -> RecordPoint:
    axes = {name: value for name, value in group[0].axes.items() if name != SEED}
    names = [name for name in group[0].figures if all(name in point.figures for point in group)]
    figures: dict[str, Figure] = {}
    for name in names:
        values = [point.figures[name].value for point in group]
        figures[name] = of_repeats(values)
    return RecordPoint(axes, figures, direction=group[0].direction, is_complete=group[0].is_complete)


def with_depth(axes: Iterable[str]) -> set[str]:
    """The axes, and the total depth of all jobs if one of them determines it."""
    found = set(axes)
    decides = any(name.rpartition(".")[2] in {"iodepth", "numjobs"} for name in found)
    return found | ({"depth"} if decides else set())


def matched(first: Record, other: Record, ignored: Iterable[str] = ()) -> Matched:
    """The points of two records that are at the same place."""
    left_out = with_depth(ignored)
    subjects = _subjects(first, other) - left_out
    apart = left_out | subjects
    places = [
        [{name: value for name, value in point.axes.items() if name not in apart} for point in record.points]
        for record in (first, other)
    ]
    for record, own in zip((first, other), places, strict=True):
        _add_absent(record, own, places[0] + places[1])
    fits = _fits(places[0], places[1])
    of_first, of_other = _ends(fits, 0), _ends(fits, 1)
    pairs, lonely = [], []
    for a, point in enumerate(first.points):
        found = of_first.get(a, [])
        if len(found) == 1 and len(of_other[found[0]]) == 1:
            twin = other.points[found[0]]
            pairs.append(Pair({**places[1][found[0]], **places[0][a]}, point, twin))
        else:
            reason = _reason(places[0][a], [places[1][b] for b in found], places[1])
            lonely.append(Lonely(places[0][a], is_first=True, reason=reason))
    for b in range(len(other.points)):
        found = of_other.get(b, [])
        if len(found) != 1 or len(of_first[found[0]]) != 1:
            reason = _reason(places[1][b], [places[0][a] for a in found], places[0])
            lonely.append(Lonely(places[1][b], is_first=False, reason=reason))
    values = {
        name: (axis_text(first.points[0].axes[name]), axis_text(other.points[0].axes[name]))
        for name in sorted(subjects)
    }
    return Matched(pairs, lonely, values)


def _add_absent(
    record: Record, places: Sequence[dict[str, Any]], everywhere: Iterable[dict[str, Any]]
) -> None:
    """Axes that another point states and whose absence in a complete point means their default."""
    wanted = dict.fromkeys(
        name for place in everywhere for name in place if name.rpartition(".")[2] in OPTIONAL_AXES
    )
    for point, place in zip(record.points, places, strict=True):
        if not point.is_complete:
            continue
        for name in wanted:
            job = name.rpartition(".")[0]
            if any(axis.rpartition(".")[0] == job for axis in point.axes if axis.endswith("rw")):
                place.setdefault(name, NOT_GIVEN)


def _fits(firsts: Sequence[dict[str, Any]], others: Sequence[dict[str, Any]]) -> set[tuple[int, int]]:
    """Pairs of points without contradicting axes. A pair with the same axes and values matches nothing else."""
    keys = [[_key(place) for place in places] for places in (firsts, others)]
    exact = {
        (a, keys[1].index(key))
        for a, key in enumerate(keys[0])
        if keys[0].count(key) == keys[1].count(key) == 1
    }
    taken = [{pair[end] for pair in exact} for end in (0, 1)]
    return exact | {
        (a, b)
        for a, left in enumerate(firsts)
        for b, right in enumerate(others)
        if a not in taken[0] and b not in taken[1] and not _conflicts(left, right)
    }


def _ends(fits: Iterable[tuple[int, int]], end: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pair in sorted(fits):
        found.setdefault(pair[end], []).append(pair[1 - end])
    return found


def _subjects(first: Record, other: Record) -> set[str]:
    """Axes with one value in each record, different ones, that are not part of the workload."""
    found = set()
    for name in _constant(first).keys() & _constant(other).keys():
        if not is_workload(name) and not same(_constant(first)[name], _constant(other)[name]):
            found.add(name)
    return found


def _constant(record: Record) -> dict[str, Any]:
    axes = record.points[0].axes
    return {
        name: value
        for name, value in axes.items()
        if all(name in point.axes and same(point.axes[name], value) for point in record.points)
    }


def same(one: object, other: object) -> bool:
    """Whether two values of an axis are equal, 4 and 4.0 and the text 4 too."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9)
    return axis_text(one).lower() == axis_text(other).lower()


def _conflicts(left: dict[str, Any], right: dict[str, Any]) -> list[str]:
    found = [name for name in left if name in right and not same(left[name], right[name])]
    # A single job is not a workload of several jobs.
    if any(_is_single(one) and _is_several(two) for one, two in ((left, right), (right, left))):
        found.append("rw")
    return found


def _is_single(axes: dict[str, Any]) -> bool:
    return "rw" in axes


def _is_several(axes: dict[str, Any]) -> bool:
    return "rw" not in axes and any(name.endswith(".rw") for name in axes)


def _reason(axes: dict[str, Any], fitting: list[dict[str, Any]], others: list[dict[str, Any]]) -> str:
    """Why a point has no counterpart."""
    if fitting:
        names = [
            name
            for name in dict.fromkeys(name for place in fitting for name in place)
            if len({_key({name: place.get(name)}) for place in fitting}) > 1
        ]
        names = _without_depth(names)
        if len(fitting) == 1:
            return SHARED
        apart = f" that differ in {', '.join(names)}" if names else ""
        return f"it fits {len(fitting)} points of the other{apart}"
    fewest: list[str] = min((_conflicts(axes, place) for place in others), key=len)
    if not fewest:
        return "the point of the other that it fits states the same axes as another point, and is matched with that"
    nearest = dict.fromkeys(fewest)
    names = _without_depth(list(nearest))
    return "; ".join(_differs(name, axes, others) for name in names)


def _differs(name: str, axes: dict[str, Any], others: list[dict[str, Any]]) -> str:
    """How all points of the other differ in an axis."""
    if axes.get(name) == NOT_GIVEN:
        return f"the other has {name} {_listed(others, name)}"
    value = axis_text(axes.get(name, "of several jobs"))
    if all(place.get(name) == NOT_GIVEN for place in others if name in place):
        return f"the other is without {name}, here {value}"
    return f"the other has no {name} {value}, only {_listed(others, name)}"


def _without_depth(names: list[str]) -> list[str]:
    """The names without the depth, if iodepth is among them."""
    return [name for name in names if name != "depth" or "iodepth" not in names]


def _listed(places: list[dict[str, Any]], name: str) -> str:
    values = list(dict.fromkeys(axis_text(place[name]) for place in places if name in place))
    shown = ", ".join(values[:6]) or "several jobs"
    return f"{shown}, .." if len(values) > 6 else shown


def _key(axes: dict[str, Any]) -> str:
    return repr(sorted((name, axis_text(value)) for name, value in axes.items()))
