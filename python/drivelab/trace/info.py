"""Statistics of a trace: counts, mix, sizes, rates, bursts, locality, reuse, working set, response times and depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab import _core
from drivelab.errors import InputError, TraceError, raw
from drivelab.errors.keys import of_trace
from drivelab.report.csv_text import flat
from drivelab.report.pictures import drawn
from drivelab.report.table import Cell, Table
from drivelab.trace.reading import NS_PER_MS, NS_PER_S, Reading, one_trace, reading_options, texts

if TYPE_CHECKING:
    import altair

_DEVICES_SHOWN = 10
_NOT_FIGURES = frozenset(
    ["problems", "notes", "device_list", "locality.distances", "sizes.read", "sizes.write", "responses"]
    + [f"responses.{kind}" for kind in ("read", "write", "other")]
)
"""Lists, and groups of figures, which stand under their own names where the trace has nothing of them."""
_UNITS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


@dataclass(frozen=True)
class Info:
    """The statistics of a trace."""

    name: str
    figures: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"name": self.name, **self.figures}

    def row(self) -> dict[str, Any]:
        """What `--csv` prints: each figure under its path, a column for each kind of problem, no lists."""
        figures = {key: value for key, value in self.to_dict().items() if key != "over_time"}
        row = {key: value for key, value in flat(figures).items() if key not in _NOT_FIGURES}
        return {**row, **{f"problems.{one['kind']}": one["count"] for one in self.figures["problems"]}}

    def tables(self) -> list[Table]:
        """The text output."""
        found = [_summary(self.figures), _sizes(self.figures)]
        if self.figures["devices"] > 1:
            found.append(_devices(self.figures))
        if self.figures["problems"]:
            found.append(_problems(self.figures))
        return found

    def provenance(self) -> dict[str, Any]:
        """The provenance of its chart."""
        return {"version": _core.VERSION, "trace": self.name, "format": self.figures["format"]}

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """Rates and depth over time, sizes and distances; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - it loads slowly

        return drawn(lambda: charts.trace(self.to_dict()), path, self.provenance)


def info(trace: str | Path | Sequence[str | Path], reading: Reading | None = None) -> Info:
    """Compute the statistics of one trace. Raises InputError, with the line, if it cannot be read."""
    files = one_trace(trace)
    try:
        figures = _core.trace_info(texts(files), reading_options(reading or Reading()))
    except TraceError as error:
        raise InputError(of_trace(raw(error))) from error
    names = [trace] if isinstance(trace, str | Path) else list(trace)
    return Info(str(names[0]), figures)


def data(count: float | None) -> str:
    """Bytes as text in the largest suitable unit."""
    if count is None:
        return "-"
    unit, factor = next(((unit, factor) for unit, factor in _UNITS if count >= factor), ("B", 1))
    return f"{count:.0f} B" if factor == 1 else f"{count / factor:.4g} {unit}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / NS_PER_MS:.3f} ms"


def _figure(value: float | None, form: str = ",.2f") -> str:
    return "-" if value is None else f"{value:{form}}"


def _kinds(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    requests = found["requests"]
    kinds = (("reads", "bytes_read"), ("writes", "bytes_written"), ("discards", "bytes_discarded"))
    rows = [
        (name, f"{found[name]:,} ({_percent(found[name] / requests)}), {data(found[of_bytes])}")
        for name, of_bytes in kinds
        if found[name]
    ]
    return rows + ([("flushes", f"{found['flushes']:,}")] if found["flushes"] else [])


def _summary(found: Mapping[str, Any]) -> Table:
    arrivals, locality, working = found["arrivals"], found["locality"], found["working_set"]
    packed = f", {found['compression']}" if found["compression"] else ""
    rows = [("format", found["format"] + packed), ("requests", f"{found['requests']:,}")]
    if found["records"] != found["requests"]:
        rows.append(("records", f"{found['records']:,}"))
    error = working["standard_error"]
    exact = "exact" if error is None else f"sampled, standard error {_percent(error)}"
    rows += [
        *_kinds(found),
        ("devices", f"{found['devices']:,}"),
        ("span", f"{(found['last_ns'] - found['first_ns']) / NS_PER_S:,.3f} s"),
        ("requests/s", _figure(arrivals["requests_per_s"], ",.1f")),
        ("most in a second", f"{arrivals['peak_requests_in_1s']:,}"),
        ("gap variation", f"{_figure(arrivals['gap_variation'])} (Poisson 1)"),
        ("dispersion in 1 s", f"{_figure(arrivals['dispersion_1s'])} (Poisson 1)"),
        ("sequential", _percent(locality["sequential_share"])),
        ("mean jump", data(locality["mean_distance_bytes"])),
        ("working set", f"{data(working['bytes'])} ({exact})"),
        (
            "read, written, both",
            ", ".join(data(working[f"{name}_bytes"]) for name in ("read", "written", "both")),
        ),
        ("uses of a block", _figure(working["uses_per_block"])),
        ("reads of used blocks", _percent(working["reads_of_used_share"])),
    ]
    responses = found["responses"]
    if responses:
        rows += [
            (
                f"{name} response",
                f"mean {_ms(kind['mean_ns'])}, p50 {_ms(kind['p50_ns'])}, p99 {_ms(kind['p99_ns'])}",
            )
            for name in ("read", "write")
            if (kind := responses[name])
        ]
        rows.append(
            ("depth", f"mean {_figure(responses['mean_depth'])}, most {_figure(responses['max_depth'], ',')}")
        )
    rows += [("note", note) for note in found.get("notes", [])]
    return Table(
        ["figure", "value"], [[Cell(name), Cell(text)] for name, text in rows], left=frozenset({0, 1})
    )


def _sizes(found: Mapping[str, Any]) -> Table:
    rows = []
    for name in ("read", "write"):
        if not (sizes := found["sizes"][name]):
            continue
        total = found[f"{name}s"]
        common = ", ".join(
            f"{data(one['bytes'])} {_percent(one['requests'] / total)}" for one in sizes["common"][:3]
        )
        figures = [data(sizes[f"{key}_bytes"]) for key in ("min", "mean", "p50", "p95", "max")]
        rows.append([Cell(name), *map(Cell, figures), Cell(common)])
    columns = ["size of", "min", "mean", "p50", "p95", "max", "most common"]
    return Table(columns, rows, left=frozenset({0, 6}))


def _devices(found: Mapping[str, Any]) -> Table:
    rows = [
        [
            Cell(device["name"]),
            Cell(f"{device['requests']:,}"),
            Cell(_percent(device["requests"] / found["requests"])),
            Cell(data(device["highest_byte"])),
        ]
        for device in found["device_list"][:_DEVICES_SHOWN]
    ]
    return Table(["device", "requests", "share", "reaches to"], rows, left=frozenset({0}))


def _problems(found: Mapping[str, Any]) -> Table:
    rows = [
        [Cell(one["kind"]), Cell(f"{one['count']:,}"), Cell(f"{one['first_line']:,}")]
        for one in found["problems"]
    ]
    return Table(["problem", "count", "first line"], rows, left=frozenset({0}))
