"""Ready-made measurements: their workloads, and the evaluation of their points. All except `table` only read."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from drivelab.errors import InputError, ref
from drivelab.measuring.device import SECTOR, System, Target
from drivelab.measuring.run import How, MeasuredResult, check_fits, plan_on, writes
from drivelab.measuring.watched import measure_watched
from drivelab.report import toml_text
from drivelab.report.plural import counted
from drivelab.report.table import Cell, Table
from drivelab.runs.result import Point
from drivelab.scenarios.scenario import Override, Source

DEPTHS = "1,2,4,8,16,32"
BLOCKS_KIB = (4, 16, 64, 128, 512, 1024)
THREADS = (1, 2, 4)
COLUMNS = {
    "linRd": ("read", "read"),
    "rndRd": ("randread", "read"),
    "linWr": ("write", "write"),
    "rndWr": ("randwrite", "write"),
    "linRW_read": ("rw", "read"),
    "linRW_write": ("rw", "write"),
    "rndRW_read": ("randrw", "read"),
    "rndRW_write": ("randrw", "write"),
}
"""The columns of the table of 2007: fio's name of each, and which of its rates is printed."""
MIB = 1 << 20
CHAIN_LEAST = 20
BINS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Bins of the distance, as shares of the target."""

Progress = Callable[[float], object]


def measured(
    document: Mapping[str, Any],
    target: Target,
    system: System,
    how: How,
    progress: Progress | None = None,
    overrides: Sequence[Override] = (),
) -> MeasuredResult:
    """Measure one workload. Raises InputError, ScenarioError."""
    checked = plan_on(Source(toml_text.dumps(document), "ready-made"), overrides, target)
    if writes(checked) and not how.may_write:
        raise InputError(
            f"this measurement writes: allow it with {ref('write', 'true')} {ref('yes_destroy', 'PATH')}"
        )
    check_fits(checked, target, how)
    return measure_watched(checked, target, system, how, progress)


def sweep_document(rw: str, bs: str, depths: Sequence[int], seconds: float) -> dict[str, Any]:
    """Random reads over queue depth."""
    return {
        "name": "sweep over depth",
        "workload": {"rw": rw, "bs": bs, "iodepth": list(depths)},
        "run": {"warmup": f"{min(2.0, seconds / 4):g}s", "duration": f"{seconds:g}s"},
    }


def sweep_csv(result: MeasuredResult, bs: str, rw: str) -> str:
    """The input of `drivelab fit --sweep`."""
    lines = [f"# {_origin(result)}; {rw} of {bs}, whole target", "iodepth,iops,p99_ms"]
    for point in finished(result):
        if not point["latency_ns"]["n"]:
            continue
        p99 = point["latency_ns"]["p99"]
        lines.append(
            f"{point['depth']['asked']},{point['iops']:.6g},{'' if p99 is None else f'{p99 / 1e6:.6g}'}"
        )
    return "\n".join(lines) + "\n"


def finished(result: MeasuredResult) -> list[Point]:
    """The points that Ctrl-C has not cut short."""
    return [point for point in result.points if point["ended"] != "interrupted"]


def _origin(result: MeasuredResult) -> str:
    device = result.environment["device"] or {}
    size = result.environment["target"]["size_bytes"]
    name = device.get("model") or device.get("name") or "unknown device"
    return f"{name}, {size} bytes, digest {result.provenance()['digest']}"


def chain_document(requests: int, size: str) -> dict[str, Any]:
    """Reads at random addresses, one after the other."""
    if requests < CHAIN_LEAST:
        raise InputError(f"{counted(requests, 'request', form='d')}: a chain needs {CHAIN_LEAST} at least")
    return {
        "name": "chain of timed reads",
        "workload": {"rw": "randread", "bs": size, "iodepth": 1},
        "run": {"ios": requests},
    }


def timed(result: MeasuredResult) -> list[tuple[int, int, str, float]]:
    """Each logged request of the first point: byte offset, bytes, r or w, and milliseconds from when it was due."""
    found = result.records[0]["commands"] if result.points else []
    return [
        (
            one["first_sector"] * SECTOR,
            one["sectors"] * SECTOR,
            one["access"][0],
            (one["completed_ns"] - one["intended_ns"]) / 1e6,
        )
        for one in found
    ]


def chain_csv(result: MeasuredResult) -> str:
    """The input of `drivelab fit --chain`."""
    lines = [f"# {_origin(result)}", "i,byte_offset,bytes,rw,time_ms"]
    lines += [
        f"{place},{offset},{size},{kind},{ms:.6f}"
        for place, (offset, size, kind, ms) in enumerate(timed(result))
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Distance:
    """Requests with about this distance from the end of the previous one."""

    low: float
    high: float
    times_ms: list[float]

    def row(self) -> dict[str, Any]:
        """The row for JSON and CSV; times are None if there was no such request."""
        times = self.times_ms
        return {
            "from_share": self.low,
            "to_share": self.high,
            "n": len(times),
            "mean_ms": statistics.fmean(times) if times else None,
            "median_ms": statistics.median(times) if times else None,
            "min_ms": min(times, default=None),
            "max_ms": max(times, default=None),
        }


def distances(requests: Sequence[tuple[int, int, str, float]], size_bytes: int) -> list[Distance]:
    """Times by the distance from the end of the previous request, as a share of the target."""
    found: list[list[float]] = [[] for _ in BINS[1:]]
    for (before, length, _, _), (offset, _, _, ms) in pairwise(requests):
        share = abs(offset - before - length) / size_bytes
        place = next(place for place, high in enumerate(BINS[1:]) if share <= high or place == len(found) - 1)
        found[place].append(ms)
    return [Distance(low, high, times) for low, high, times in zip(BINS[:-1], BINS[1:], found, strict=True)]


def distances_table(rows: Sequence[Distance]) -> Table:
    """Access time over distance."""
    columns = ["distance, % of the target", "reads", "mean ms", "median ms", "min ms", "max ms"]
    cells = []
    for one in rows:
        row = one.row()
        times = [row[key] for key in ("mean_ms", "median_ms", "min_ms", "max_ms")]
        name = f"{100 * one.low:g} to {100 * one.high:g}"
        texts = [name, f"{row['n']:,}", *("-" if time is None else f"{time:.3f}" for time in times)]
        cells.append([Cell(text) for text in texts])
    return Table(columns, cells, left=frozenset({0}))


def full_stroke_document(requests: int) -> dict[str, Any]:
    """Reads at one end or the other, at random: half of them cross the target."""
    return {
        "name": "full stroke",
        "workload": {
            "rw": "randread",
            "bs": "4KiB",
            "iodepth": 1,
            "random_distribution": "zoned:50/1:0/98:50/1",
        },
        "run": {"ios": requests},
    }


def crossings(requests: Sequence[tuple[int, int, str, float]], size_bytes: int) -> list[float]:
    """The times of the requests that crossed from one end to the other."""
    pairs = pairwise(requests)
    return [after[3] for before, after in pairs if abs(after[0] - before[0]) > 0.9 * size_bytes]


def table_documents(
    blocks_kib: Sequence[int], threads: Sequence[int], seconds: float, *, with_writes: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each kind of load of the table of 2007; mixed loads have as many writers as readers."""
    kinds = ["read", "randread", *(["write", "randwrite", "rw", "randrw"] if with_writes else [])]
    for kind in kinds:
        workload: dict[str, Any] = {
            "bs": [f"{block}KiB" for block in blocks_kib],
            "numjobs": list(threads),
            "iodepth": 1,
        }
        if kind in {"rw", "randrw"}:
            start = "rand" if kind == "randrw" else ""
            workload["job"] = {"readers": {"rw": f"{start}read"}, "writers": {"rw": f"{start}write"}}
        else:
            workload["rw"] = kind
        run = {"warmup": f"{min(2.0, seconds / 4):g}s", "duration": f"{seconds:g}s"}
        yield kind, {"name": f"table, {kind}", "workload": workload, "run": run}


def table_rows(results: Mapping[str, MeasuredResult]) -> list[dict[str, Any]]:
    """A row for each block size and number of threads, MiB/s in the columns of 2007."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for column, (kind, side) in COLUMNS.items():
        result = results.get(kind)
        if result is None:
            continue
        for point in result.records:
            size, threads = point["axes"]["workload.bs"], point["axes"]["workload.numjobs"]
            block = str(size).removesuffix("KiB")
            row = rows.setdefault((block, threads), {"block_kib": int(block), "threads": threads})
            row[column] = point[side]["bytes_per_s"] / MIB
    return [rows[key] for key in sorted(rows, key=lambda key: (int(key[0]), key[1]))]


def rates_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The same for people."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = []
    for row in rows:
        texts = [str(row["block_kib"]), str(row["threads"])]
        texts += ["-" if name not in row else f"{row[name]:.4g}" for name in columns[2:]]
        cells.append([Cell(text) for text in texts])
    return Table(columns, cells)


def surface_csv(places: Sequence[Mapping[str, Any]], size_bytes: int, origin: MeasuredResult) -> str:
    """The input of `drivelab fit --surface`."""
    lines = [f"# {_origin(origin)}", "byte_offset,mb_per_s"]
    lines += [f"{round(place['share'] * size_bytes)},{place['bytes_per_s'] / 1e6:.6g}" for place in places]
    return "\n".join(lines) + "\n"


def suspicion_of(target: Target) -> str | None:
    """Why no figure of this target could show the order in which a drive serves; None if one could."""
    block = target.block
    if target.is_emulated:
        return None
    if target.server is not None:
        return (
            "what lies behind this address is not known: its server decides what an address and a queue mean"
        )
    if block is None:
        return "which device this lies on is not known"
    if block.kind == "loop":
        return f"/dev/{block.disk.name} is a loop device: a file system and its caches stand before any drive"
    if block.kind == "virtual":
        return f"/dev/{block.disk.name} is a virtual disk: its host decides what an address and a queue mean"
    if block.kind in {"device-mapper", "md"} or block.members:
        return f"/dev/{block.disk.name} is made of other devices; measure one of them"
    if block.rotational is False:
        return f"/dev/{block.disk.name} is flash: no arm moves, so an order costs nothing"
    return None
