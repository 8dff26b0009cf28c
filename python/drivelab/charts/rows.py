"""From the points of a sweep to flat rows: which axis is x, which axes distinguish the lines, and their names.

No drawing here. A value that is missing, null, not a number or not finite becomes None, never zero.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from drivelab.charts.errors import ChartInputError
from drivelab.report.pictures import LATENCIES
from drivelab.report.plural import are, counted
from drivelab.scenarios.sizes import size_of, size_with_unit

Point = Mapping[str, Any]
Row = dict[str, Any]

NS_PER_MS = 1e6
BYTES_PER_MB = 1e6

# Axes that are a depth, by the last word of their path; the first that is swept becomes x.
DEPTH_AXES = {"iodepth": "Queue depth asked", "outstanding": "Queue depth asked", "numjobs": "Jobs"}
# Axes that are an amount of data, by the last word of their path, and their names in pictures.
SIZE_AXES = {
    "bs": "Block size",
    "stripe_unit": "Stripe unit",
    "record_size": "Record size",
    "size": "Size used",
}
# Names in pictures of the other axes that have one.
_NAMES = {"rw": "Workload", "pattern": "Workload", "drive": "Drive", "level": "Level", "members": "Members"}
_NAMES |= {"percentage_random": "Random places, %", "rwmixread": "Reads, %"}
# x if no axis was swept: the depth that the point asked for.
_ASKED = "depth.asked"
# The name of the place of a run without axes.
_ALONE = "this run"
# Numbers that are names, not quantities.
_NUMBERED_NAMES = {"seed"}
# Maximum number of names per note on lines that hide each other.
_NAMED = 3
# Numbers other than depths get a logarithmic axis if the maximum is this many times the minimum.
_LOG_RATIO = 30.0

# The layout of x: linear, logarithmic, or one position for each name, where distances have no meaning.
Scale = Literal["linear", "log", "names"]


@dataclass(frozen=True)
class Sweep:
    """The points of one sweep as rows, ready to draw.

    A row holds `at` (its index in the input), `x` (a number, or a name), `series` (the text that names its line), one
    `key_N` for each axis in `line_axes`, and what `measures` finds in the point.
    """

    rows: list[Row]
    x_title: str
    x_values: list[Any]
    x_is_depth: bool
    x_scale: Scale
    x_is_size: bool
    series: list[str]
    line_axes: list[str]
    line_keys: list[list[str]]
    constants: str
    dropped: list[str]

    @property
    def x_is_number(self) -> bool:
        """Whether distances along x have a meaning, so that a line may join two points."""
        return self.x_scale != "names"

    @property
    def series_title(self) -> str:
        """The names of the axes that distinguish the lines."""
        return " · ".join(self.line_axes)

    def x_text(self, x: object) -> str:
        """A value of x as text."""
        return size_with_unit(float(x)) if self.x_is_size and isinstance(x, int | float) else label(x)

    def notes(self) -> list[str]:
        """What a reader must know beside the picture: the constant axes, and the omitted points."""
        count, named = len(self.dropped), [name for name in self.dropped if name]
        which = f": {_first(named, '; ')}" if named else ""
        missing = (
            f"{counted(count, 'point')} without a value for x {are(count)} left out{which}" if count else ""
        )
        return [note for note in (self.constants, missing) if note]


def number(value: object) -> float | None:
    """`value` as a finite float, None where it is anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def scaled(value: object, divisor: float) -> float | None:
    """A number divided by `divisor`, None where there is no number."""
    found = number(value)
    return None if found is None else found / divisor


def label(value: object) -> str:
    """An axis value as people write it: 4 and 0.5, sptf, on and off."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, separators=(",", ":"), default=str)


def shown(axis: str, value: object) -> str:
    """The value of an axis in a picture: a label, with its unit where it is an amount of data."""
    size = size_of(value) if _last(axis) in SIZE_AXES else None
    return label(value) if size is None else size_with_unit(size)


def place_name(point: Point) -> str:
    """The place of a point in its sweep: "iodepth 4 · bs 4 KiB"."""
    return " · ".join(f"{_last(axis)} {shown(axis, value)}" for axis, value in part(point, "axes").items())


def sweep(points: Sequence[Point]) -> Sweep:
    """Lay out `points`, dicts as in `simulate --json`. At least one is needed."""
    if not points:
        raise ChartInputError("there are no points to draw")
    axes = [_axes(point, at) for at, point in enumerate(points)]
    names = list(dict.fromkeys(name for values in axes for name in values))
    swept = [name for name in names if len({shown(name, values.get(name)) for values in axes}) > 1]
    x_axis = _choose_x(swept, axes, points)
    xs: list[Any] = (
        [_asked(point) for point in points] if x_axis == _ASKED else [values.get(x_axis) for values in axes]
    )
    if not swept and all(x is None and "depth" in point for x, point in zip(xs, points, strict=True)):
        # An open loop asks for no depth, and a single run has no place in a sweep.
        xs = [_ALONE] * len(xs)
    is_size = _last(x_axis) in SIZE_AXES and all(size_of(x) is not None for x in xs if x is not None)
    if is_size:
        xs = [size_of(x) for x in xs]
    x_order = _ordered([x for x in xs if x is not None])
    if not x_order:
        raise ChartInputError(f"no point says where it lies on x ({x_axis})")

    is_depth = xs[0] != _ALONE and (x_axis == _ASKED or _last(x_axis) in DEPTH_AXES)
    scale = _scale(x_axis, x_order, is_depth=is_depth or is_size)
    short = _short_names(names)
    lines = [name for name in swept if name != x_axis]
    keys = {name: _names(name, [values.get(name) for values in axes]) for name in lines}

    rows = []
    for at, (point, values, x) in enumerate(zip(points, axes, xs, strict=True)):
        if x is None:
            continue
        parts = [shown(name, values.get(name)) for name in lines]
        row: Row = {"at": at, "x": label(x) if scale == "names" else x, "series": " · ".join(parts)}
        row.update({f"key_{index}": part for index, part in enumerate(parts)})
        rows.append({**row, **measures(point)})
    rank = {name: {text: place for place, text in enumerate(keys[name])} for name in lines}
    by_rank = sorted(
        {tuple(row[f"key_{index}"] for index in range(len(lines))) for row in rows},
        key=lambda parts: [rank[name][part] for name, part in zip(lines, parts, strict=True)],
    )
    constants = [name for name in names if name not in swept and name != x_axis]
    return Sweep(
        rows=rows,
        x_title=DEPTH_AXES.get(_last(x_axis), "Queue depth asked") if is_depth else _title(x_axis, short),
        x_values=[label(x) for x in x_order] if scale == "names" else x_order,
        x_is_depth=is_depth,
        x_scale=scale,
        x_is_size=is_size,
        series=[" · ".join(parts) for parts in by_rank],
        line_axes=[_title(name, short) for name in lines],
        line_keys=[keys[name] for name in lines],
        constants=" · ".join(f"{short[name]} {shown(name, axes[0].get(name))}" for name in constants),
        dropped=[place_name(point) for point, x in zip(points, xs, strict=True) if x is None],
    )


def _title(axis: str, short: Mapping[str, str]) -> str:
    """The name of an axis in pictures: its common name, unless another axis ends in the same word."""
    last, own = _last(axis), short.get(axis, "")
    return own if own != last else SIZE_AXES.get(last, _NAMES.get(last, own))


def hidden(figures: Mapping[str, Hashable]) -> list[str]:
    """A note that names lines that are drawn over each other, as all their figures are equal; nothing without any."""
    alike: dict[Hashable, list[str]] = {}
    for name, found in figures.items():
        alike.setdefault(found, []).append(name)
    groups = [_first(names, " = ") for names in alike.values() if len(names) > 1]
    return [f"Equal, so drawn over each other: {_first(groups, '; ')}"] if groups else []


def _first(names: list[str], between: str) -> str:
    """The first names, and the number of the others."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return between.join(names[:_NAMED]) + more


def measures(point: Point) -> Row:
    """What a point measured, with the units in the names: iops, mb_per_s, achieved depth, latencies in ms."""
    latency = part(point, "latency_ns")
    return {
        "iops": number(point.get("iops")),
        "mb_per_s": scaled(point.get("bytes_per_s"), BYTES_PER_MB),
        **_ranges(point),
        "achieved": number(part(point, "depth").get("achieved")),
        "n": number(latency.get("n")),
        **{name: scaled(latency.get(name), NS_PER_MS) for name in LATENCIES},
    }


def _ranges(point: Point) -> Row:
    """The ends of the range of both rates; None where the point has no range."""
    iops, bytes_per_s = number(point.get("iops")), scaled(point.get("bytes_per_s"), BYTES_PER_MB)
    ends: Row = {}
    for end in ("low", "high"):
        found = number(point.get(f"iops_{end}"))
        ends[f"iops_{end}"] = found
        ends[f"mb_per_s_{end}"] = bytes_per_s * found / iops if found and iops and bytes_per_s else None
    return ends


def part(point: Point, key: str) -> Mapping[str, Any]:
    """The object at `key`, an empty one where it is missing or null."""
    found = point.get(key)
    return found if isinstance(found, Mapping) else {}


def _axes(point: Point, at: int) -> Mapping[str, Any]:
    """The axes of one point, which may be missing."""
    if not isinstance(point, Mapping):
        raise ChartInputError(f"point {at} is {type(point).__name__}, not an object as in `simulate --json`")
    return part(point, "axes")


def _asked(point: Point) -> float | None:
    """The queue depth that a point asked for."""
    return number(part(point, "depth").get("asked"))


def _choose_x(swept: list[str], axes: list[Mapping[str, Any]], points: Sequence[Point]) -> str:
    """The path of the axis that becomes x: a swept depth, else a varying depth asked, else the longest axis."""
    for word in DEPTH_AXES:
        for name in swept:
            if _last(name) == word:
                return name
    asked = {_asked(point) for point in points} - {None}
    if len(asked) > 1 or (asked and not swept):
        return _ASKED
    if swept:
        return max(swept, key=lambda name: len({shown(name, values.get(name)) for values in axes}))
    return next(iter(axes[0]), _ASKED)


def _scale(axis: str, values: Sequence[Any], *, is_depth: bool) -> Scale:
    """The layout of x: depths on a log axis, other numbers by their range, the rest as names."""
    numbers = [found for found in map(number, values) if found is not None]
    if len(numbers) < len(values) or _last(axis) in _NUMBERED_NAMES:
        return "names"
    least, most = min(numbers), max(numbers)
    return "log" if least > 0 and (is_depth or most >= _LOG_RATIO * least) else "linear"


def _ordered(values: Sequence[Any]) -> list[Any]:
    """The distinct values: sorted if all are numbers, else in the order of their occurrence."""
    distinct = list({label(value): value for value in values}.values())
    if all(number(value) is not None for value in distinct):
        return sorted(distinct)
    return distinct


def _names(axis: str, values: Sequence[Any]) -> list[str]:
    """The distinct values of an axis in pictures: amounts of data by their size, others as `_ordered` has them."""
    sizes = [size_of(value) for value in values] if _last(axis) in SIZE_AXES else [None]
    found = values if None in sizes else [size for size in sizes if size is not None]
    return list(dict.fromkeys(shown(axis, value) for value in _ordered(found)))


def _last(path: str) -> str:
    """The last word of an axis's path."""
    return path.rsplit(".", 1)[-1]


def _short_names(paths: list[str]) -> dict[str, str]:
    """Each path shortened to its last words, as many as are needed to distinguish it from the others."""
    short = {}
    for path in paths:
        words = path.split(".")
        tails = (".".join(words[-count:]) for count in range(1, len(words) + 1))
        others = [other for other in paths if other != path]
        short[path] = next((t for t in tails if not any(f".{o}".endswith(f".{t}") for o in others)), path)
    return short
