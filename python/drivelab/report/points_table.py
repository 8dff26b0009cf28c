"""The points of a sweep as a table and as CSV. People read MB/s and ms, programs bytes and nanoseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.report.array_summary import is_eventful, rebuilds_text
from drivelab.report.csv_text import rows_csv
from drivelab.report.given_up_summary import has_given_up
from drivelab.report.steady import Ending, ending
from drivelab.report.table import Cell, Table
from drivelab.report.toml_text import value_text

_LATENCIES = ("mean", "p50", "p99", "max")
_MISSING = "-"
# The row of a point above those of its jobs and priorities, and the columns that these have beside their latencies; a
# priority has none of directions.
_ALL_JOBS = "all"
_OF_DIRECTIONS = {"read IOPS", "write IOPS"}
_OF_PARTS = {"IOPS", "MB/s", "MiB/s", "errors"} | _OF_DIRECTIONS
# The parts of a response time in the order in which a command meets them.
PARTS = ("queue", "overhead", "seek", "rotation", "transfer", "link", "wait")
# How many commands the drives had is shown with an array, or where it is a smaller share of those in the system.
_OUTSIDE_SHARE = 0.95
# What a point holds beside its figures.
_NOT_FIGURES = {"axes", "in_force", "logged_from_ns", "platter", "commands", "member_commands"}
_LISTS_OF_TABLES = {
    "array.events",
    "array.series",
    "array.syncs",
    "given_up.events",
    "injections",
    "power_cut.ranges",
    "series",
}

Format = Callable[[dict[str, Any]], str]


def points_table(points: Sequence[dict[str, Any]]) -> Table:
    """One row per point: its place in the sweep, rates, latency, and the queue depth asked and achieved.

    Under it one row per job and per priority, where a point has several.
    """
    axes = list(points[0]["axes"]) if points else []
    columns = [(_axis_title(axis, axes), _axis(axis)) for axis in axes]
    columns.append(("IOPS", lambda point: rate_text(point["iops"])))
    if any("iops_low" in point for point in points):
        columns.append(("IOPS range", _range))
    if any(point["read"]["iops"] and point["write"]["iops"] for point in points):
        columns.append(("read IOPS", lambda point: rate_text(point["read"]["iops"])))
        columns.append(("write IOPS", lambda point: rate_text(point["write"]["iops"])))
    columns.append(("MB/s", lambda point: rate_text(point["bytes_per_s"] / 1e6)))
    columns.append(("MiB/s", lambda point: rate_text(point["bytes_per_s"] / 2**20)))
    unit, scale = _latency_unit(points)
    columns += [(f"{name} {unit}", _latency(name, scale)) for name in _LATENCIES]
    if any(_flushes(point) for point in points):
        columns.append(("flushes", lambda point: str(_flushes(point))))
        columns.append((f"flush mean {unit}", _flush_mean(scale)))
    columns.append(("depth asked", lambda point: _count_text(point["depth"]["asked"])))
    columns.append(("achieved", lambda point: f"{point['depth']['achieved']:.2f}"))
    if any(map(_has_outside, points)):
        columns.append((_in_drives_title(points), _in_drives))
    columns += _of_endings(points, unit, scale)
    if any(point["errors"] for point in points):
        columns.append(("errors", lambda point: str(point["errors"])))
    if any(map(has_given_up, points)):
        columns.append(("given up", _given_up))
    if any(map(is_eventful, points)):
        columns.append(("array", lambda point: point["array"]["state"] if "array" in point else _MISSING))
    if any(sync["kind"] == "rebuild" for point in points for sync in point.get("array", {}).get("syncs", ())):
        columns.append(
            ("rebuilt in", lambda point: rebuilds_text(point["array"]) if "array" in point else _MISSING)
        )
    columns += _of_cuts(points)
    rows = [[text(point) for _, text in columns] for point in points]
    titles = [title for title, _ in columns]
    left = len(axes)
    if title := _title_of_parts(points):
        titles.insert(left, title)
        rows = list(_with_parts(points, rows, columns, left))
        left += 1
    cells = [[Cell(text) for text in row] for row in rows]
    return Table(columns=titles, rows=cells, left=frozenset(range(left)))


def _title_of_parts(points: Sequence[dict[str, Any]]) -> str:
    """What the rows under those of the points are: jobs, priorities, or both; empty where there are none."""
    kinds = {"jobs": "job", "priorities": "priority"}
    return " or ".join(title for key, title in kinds.items() if any(point.get(key) for point in points))


def _parts_of(point: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The jobs of a point, then its priorities, each by its name."""
    for name, job in point.get("jobs", {}).items():
        yield f"{name} x {job['numjobs']}" if job["numjobs"] > 1 else name, job
    yield from point.get("priorities", {}).items()


def _with_parts(
    points: Sequence[dict[str, Any]], rows: list[list[str]], columns: list[tuple[str, Format]], left: int
) -> Iterator[list[str]]:
    """The rows of the points, each with its jobs and priorities under it, without figures of the run alone."""
    latencies = tuple(f"{name} " for name in _LATENCIES)
    for point, row in zip(points, rows, strict=True):
        yield [*row[:left], _ALL_JOBS, *row[left:]]
        for name, part in _parts_of(point):
            has = _OF_PARTS if "read" in part else _OF_PARTS - _OF_DIRECTIONS
            figures = [
                text(part) if title in has or title.startswith(latencies) else _MISSING
                for title, text in columns[left:]
            ]
            yield [*[""] * left, name, *figures]


def _range(point: dict[str, Any]) -> str:
    """Of a drive whose queue or cache nobody measured: between what its IOPS may lie."""
    if "iops_low" not in point:
        return _MISSING
    return f"{rate_text(point['iops_low'])} to {rate_text(point['iops_high'])}"


def _has_outside(point: dict[str, Any]) -> bool:
    """Whether it matters how many commands reached the drives."""
    depth = point["depth"]
    inside = depth.get("in_drives")
    return inside is not None and ("array" in point or inside < _OUTSIDE_SHARE * depth["achieved"])


def _in_drives_title(points: Sequence[dict[str, Any]]) -> str:
    return "in drives" if any("array" in point for point in points) else "in drive"


def _in_drives(point: dict[str, Any]) -> str:
    inside = point["depth"].get("in_drives")
    return _MISSING if inside is None else f"{inside:.2f}"


def _of_endings(points: Sequence[dict[str, Any]], unit: str, scale: float) -> list[tuple[str, Format]]:
    """The last quarter of the run beside its mean, where some run is not steady."""
    if all(end is None or end.is_steady for end in map(ending, points)):
        return []

    def figure(of: Callable[[Ending], float | None], text: Callable[[float], str]) -> Format:
        def shown(point: dict[str, Any]) -> str:
            end = ending(point)
            value = None if end is None else of(end)
            return _MISSING if value is None else text(value)

        return shown

    return [
        ("end IOPS", figure(lambda end: end.iops, rate_text)),
        (f"end mean {unit}", figure(lambda end: end.mean_latency_ns, lambda ns: f"{ns / scale:.2f}")),
    ]


def breakdown_table(points: Sequence[dict[str, Any]]) -> Table | None:
    """Where the mean response time of each point went; the parts add up to the mean. None where nothing finished."""
    known = [point for point in points if point["breakdown_ns"]]
    if not known:
        return None
    axes = list(points[0]["axes"])
    unit, scale = _latency_unit(known)
    rows = []
    for point in known:
        split, mean = point["breakdown_ns"], point["latency_ns"]["mean"]
        texts = [_axis(axis)(point) for axis in axes]
        texts += [f"{split[part] / scale:.2f}" for part in PARTS]
        texts.append(f"{mean / scale:.2f}")
        most = max(PARTS, key=lambda part: split[part])
        texts.append(f"{most} {split[most] / mean:.0%}" if mean else _MISSING)
        rows.append([Cell(text) for text in texts])
    return Table(
        columns=[*(_axis_title(axis, axes) for axis in axes), *PARTS, "mean", "most"],
        rows=rows,
        title=f"Where the mean response time went, {unit}",
        left=frozenset({*range(len(axes)), len(axes) + len(PARTS) + 1}),
    )


def directions_table(points: Sequence[dict[str, Any]]) -> Table | None:
    """Reads and writes apart, two rows a point; nothing where no point has both."""
    mixed = [point for point in points if point["read"]["ios"] and point["write"]["ios"]]
    if not mixed:
        return None
    axes = list(points[0]["axes"])
    unit, scale = _latency_unit([point[direction] for point in mixed for direction in ("read", "write")])
    rows = []
    for point in mixed:
        place = [_axis(axis)(point) for axis in axes]
        for name in ("read", "write"):
            one = point[name]
            rates = [rate_text(one["iops"]), rate_text(one["bytes_per_s"] / 1e6)]
            rows.append([*place, f"{name}s", *rates, *(_latency(key, scale)(one) for key in _LATENCIES)])
    return Table(
        columns=[
            *(_axis_title(axis, axes) for axis in axes),
            "of",
            "IOPS",
            "MB/s",
            *(f"{key} {unit}" for key in _LATENCIES),
        ],
        rows=[[Cell(text) for text in row] for row in rows],
        title="Reads and writes apart",
        left=frozenset(range(len(axes) + 1)),
    )


def _given_up(point: dict[str, Any]) -> str:
    """Writes that memories had answered and have given up."""
    return f"{point['given_up']['writes']:,}" if point.get("given_up") else _MISSING


def _of_cuts(points: Sequence[dict[str, Any]]) -> list[tuple[str, Format]]:
    """What power cuts have taken: lost writes, rows of arrays that do not fit, wrong sectors of missing members."""
    cuts = [cut for point in points if (cut := point.get("power_cut"))]
    if not cuts:
        return []

    def figure(of: Callable[[dict[str, Any]], str]) -> Format:
        return lambda point: of(point["power_cut"]) if point.get("power_cut") else _MISSING

    def of_array(key: str) -> Format:
        return figure(lambda cut: f"{cut['array'][key]:,}" if cut["array"] else _MISSING)

    def of_rows(key: str) -> Format:
        # Where nothing can be compared a zero would promise too much.
        return figure(lambda cut: f"{cut['array'][key]:,}" if (cut["array"] or {}).get("rows") else _MISSING)

    columns = [
        ("lost writes", figure(lambda cut: f"{cut['lost']['commands']:,}")),
        ("lost kB", figure(lambda cut: rate_text(cut["lost"]["bytes"] / 1e3))),
    ]
    if any(cut["array"] for cut in cuts):
        columns.append(("rows unfit", of_rows("rows_unfit")))
        columns.append(("after recovery", of_rows("rows_unfit_after_recovery")))
    if any(cut["array"] and cut["array"]["wrong_now_sectors"] for cut in cuts):
        columns.append(("wrong sectors", of_array("wrong_now_sectors")))
    return columns


def points_csv(points: Sequence[dict[str, Any]]) -> str:
    """The points as CSV: axes first, then each figure of the record under its path, e.g. `latency_ns.p99`."""
    return rows_csv(
        [{**row, **_places(point)} for row, point in zip(point_rows(points), points, strict=True)]
    )


def point_rows(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `points_csv`, with values as they are."""
    return [_flat(point) for point in points]


def commands_csv(points: Sequence[dict[str, Any]]) -> str:
    """The logged commands as CSV, one line each: the axes of their point first, then the keys of the record."""
    return rows_csv(_CommandRows(points))


@dataclass(frozen=True)
class _CommandRows:
    """A row for each command, made anew each time: all of them at once take much room."""

    points: Sequence[dict[str, Any]]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for point in self.points:
            for command in point.get("commands", ()):
                yield {**_places(point), **_flat_below(command, "")}


def _places(point: dict[str, Any]) -> dict[str, Any]:
    """The axes of a point with tables as text, and all else as it is."""
    return {
        axis: axis_text(value) if isinstance(value, dict | list) else value
        for axis, value in point["axes"].items()
    }


def rate_text(rate: float) -> str:
    """A rate with four figures, never in powers of ten."""
    if rate >= 1000 or rate == 0:
        return f"{rate:,.0f}"
    return f"{rate:.1f}" if rate >= 100 else f"{rate:.2f}" if rate >= 1 else f"{rate:.4f}"


def axis_text(value: object) -> str:
    """A place on an axis of the sweep; tables (without a name) and lists as scenarios have them, `{ segments = 4 }`."""
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return str(value["name"])
    if isinstance(value, dict | list):
        return value_text(value)
    return value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _axis_title(axis: str, axes: Sequence[str]) -> str:
    """The last word of an axis's name, where no other axis ends in it."""
    last = axis.rsplit(".", 1)[-1]
    return last if [other.rsplit(".", 1)[-1] for other in axes].count(last) == 1 else axis


def _latency_unit(points: Sequence[dict[str, Any]]) -> tuple[str, float]:
    """One unit for the whole table, so that rows can be compared by eye."""
    means = [point["latency_ns"]["mean"] for point in points if point["latency_ns"]["mean"] is not None]
    return ("ms", 1e6) if not means or max(means) >= 1e6 else ("us", 1e3)


def _axis(axis: str) -> Format:
    return lambda point: axis_text(point["axes"][axis])


def _latency(name: str, scale: float) -> Format:
    def text(point: dict[str, Any]) -> str:
        latency_ns = point["latency_ns"][name]
        return _MISSING if latency_ns is None else f"{latency_ns / scale:.2f}"

    return text


def _flushes(point: dict[str, Any]) -> int:
    """Records of before there were any have none."""
    return int(point.get("flush", {}).get("count", 0))


def _flush_mean(scale: float) -> Format:
    def text(point: dict[str, Any]) -> str:
        mean_ns = point["flush"]["latency_ns"]["mean"] if _flushes(point) else None
        return _MISSING if mean_ns is None else f"{mean_ns / scale:.2f}"

    return text


def _count_text(count: int | None) -> str:
    return _MISSING if count is None else str(count)


def _flat(point: dict[str, Any]) -> dict[str, Any]:
    """Nested keys joined by dots; the axes keep their names. What has many entries is for who reads JSON."""
    row: dict[str, Any] = dict(point["axes"])
    row.update(_flat_below({key: value for key, value in point.items() if key not in _NOT_FIGURES}, ""))
    return row


def _flat_below(table: dict[str, Any], prefix: str) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in table.items():
        if prefix + key in _LISTS_OF_TABLES:
            continue
        if isinstance(value, dict):
            row.update(_flat_below(value, f"{prefix}{key}."))
        elif isinstance(value, list):
            row[prefix + key] = " ".join(map(str, value))
        elif key != "histogram":
            row[prefix + key] = value
    return row
