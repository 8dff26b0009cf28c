"""The result of a comparison: a few lines, and one table with a row for each level.

The performance of a level is that under the named load: requests or bytes per second for a closed loop, latency for
an open loop. A level that completes clearly fewer requests than arrive cannot keep up: its queue grows as long as the
run lasts, its latency is meaningless, and its rate is the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drivelab.arrays.cost import GB
from drivelab.arrays.levels import risk, volatile
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation.loads import Loads
from drivelab.report.chances import figure, percent_figure, years_text
from drivelab.report.points_table import rate_text
from drivelab.report.table import Cell, Table

if TYPE_CHECKING:
    from drivelab.arrays.simulation.planning import Chosen, Entry

NONE = "-"
HOUR_NS, MS, MB = 3600e9, 1e6, 1e6
ALIKE = 0.01
"""Capacities that differ by less count as equal: levels round to their stripes."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """The answer for one load."""

    load: str
    workload: Mapping[str, Any]
    lines: list[str]
    picks: Mapping[str, str]
    """For each question the level that answers it."""
    rows: list[Row]
    """One row per level: the table's figures."""
    title: str
    is_stream: bool
    has_rate: bool
    """Whether requests come whatever has finished, by a rate or at recorded times: then latencies are compared."""

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON has it."""
        return {
            "load": self.load,
            "workload": self.workload,
            "lines": self.lines,
            "picks": self.picks,
            "levels": self.rows,
        }

    def table(self) -> Table:
        """A row for each level; columns without any figure are left out."""
        given = _RATE if self.has_rate else _STREAM if self.is_stream else _RANDOM
        columns = [*_COLUMNS[:3], *given, *_COLUMNS[3:]]
        texts = [[text(row) for _, text in columns] for row in self.rows]
        kept = [i for i in range(len(columns)) if any(row[i] != NONE for row in texts)]
        return Table(
            [columns[i][0] for i in kept],
            [[Cell(row[i]) for i in kept] for row in texts],
            self.title,
            left=frozenset({0}),
        )


def judged(chosen: Chosen, drive_bytes: int, entries: Sequence[Entry]) -> Verdict:
    """The verdict on the possible levels."""
    loads = chosen.loads
    rows = [_row(entry, chosen.members * drive_bytes, loads) for entry in entries]
    judge = _Judge(chosen, rows)
    return Verdict(
        load=loads.text(),
        workload=loads.workload(),
        lines=[*judge.lines(), *_assumes(chosen, entries)],
        picks=judge.picks,
        rows=rows,
        title=f"{chosen.name}: {loads.text()}",
        is_stream=loads.is_stream,
        has_rate=loads.rate_iops is not None or loads.trace is not None,
    )


def _assumes(chosen: Chosen, entries: Sequence[Entry]) -> list[str]:
    """The assumptions that nobody gave and that move the figures most."""
    loads = chosen.loads
    early = loads.may_write and any(volatile.answers_early(entry, chosen) for entry in entries)
    sectors = risk.assumed(chosen)
    parts = [loads.arrivals(), volatile.TEXT if early else None, sectors and sectors.text()]
    return [f"assumes: {'; '.join(given)}"] if (given := [part for part in parts if part]) else []


def _row(entry: Entry, whole: int, loads: Loads) -> Row:
    """A level's figures, by the names of CSV and JSON."""
    found: Row = {
        "level": entry.level.label,
        "usable_bytes": entry.capacity_bytes,
        "usable_share": entry.capacity_bytes / whole,
        "price_per_usable_gb": (entry.cost or {}).get("per_usable_gb"),
    }
    for state in under.STATES:
        figures = entry.states.get(state, {}).get(under.LOAD) or {}
        found[f"iops_{state}"] = figures.get("iops")
        found[f"bytes_per_s_{state}"] = figures.get("bytes_per_s")
        found[f"mean_latency_ns_{state}"] = (figures.get("latency_ns") or {}).get("mean")
        found[f"iops_relative_error_{state}"] = figures.get("iops_relative_error")
        found[f"keeps_up_{state}"] = loads.keeps_up(figures)
    found["bears_any"], found["bears_at_best"] = entry.odds["bears_worst"], entry.odds["bears_best"]
    for name, rebuild in (("rebuild", entry.rebuild), ("rebuild_idle", entry.rebuild_idle)):
        duration_ns, at_least_ns = ((rebuild or {}).get(key) for key in ("duration_ns", "at_least_ns"))
        found[f"{name}_h"] = duration_ns and duration_ns / HOUR_NS
        found[f"{name}_at_least_h"] = at_least_ns and at_least_ns / HOUR_NS
        found[f"{name}_relative_error"] = (rebuild or {}).get("relative_error")
        found[f"{name}_is_extrapolated"] = (rebuild or {}).get("extrapolated")
    for key in ("loss_in_a_year_percent", "mttdl_years"):
        estimate = (entry.loss or {}).get(key) or {}
        found[key] = estimate.get("value")
        found[f"{key}_low"], found[f"{key}_high"] = estimate.get("low"), estimate.get("high")
    return found


def _loss(row: Row) -> float | None:
    """The chance of loss, or its upper bound if no loss was seen."""
    value: float | None = row["loss_in_a_year_percent"]
    return row["loss_in_a_year_percent_high"] if value is None else value


class _Judge:
    """Picks levels from the rows, with the reasons."""

    def __init__(self, chosen: Chosen, rows: Sequence[Row]) -> None:
        self.chosen = chosen
        self.rows = [row for row in rows if row["iops_healthy"]]
        self.all = rows
        self.picks: dict[str, str] = {}

    def lines(self) -> list[str]:
        """The verdict, a few lines."""
        return [
            *self._fastest(),
            *self._most_space(),
            *self._safest(),
            *self._rebuilds(),
            *self._behind(),
        ]

    def _speed(self, row: Row) -> float:
        """Larger is better: the negative latency of an open load that is kept up with, else the rate.

        A trace has its own times, and one that cannot be kept up with shows it in its latency.
        """
        if row["keeps_up_healthy"] or self.chosen.loads.trace is not None:
            return -float(row["mean_latency_ns_healthy"] or 0)
        return float(row["bytes_per_s_healthy" if self.chosen.loads.is_stream else "iops_healthy"])

    def _given(self, row: Row, state: str) -> str:
        if row[f"keeps_up_{state}"] or self.chosen.loads.trace is not None:
            return f"{(row[f'mean_latency_ns_{state}'] or 0) / MS:,.1f} ms"
        if self.chosen.loads.rate_iops is not None:
            return f"only {rate_text(row[f'iops_{state}'])} IOPS"
        if self.chosen.loads.is_stream:
            return f"{rate_text(row[f'bytes_per_s_{state}'] / MB)} MB/s"
        return f"{rate_text(row[f'iops_{state}'])} IOPS"

    def _gives(self, row: Row) -> str:
        """A level's performance when healthy, and in the other states."""
        words = {"degraded": "with a drive missing", "rebuilding": "while it is rebuilt"}
        others = [
            f"{self._given(row, state)} {words[state]}" for state in words if row[f"iops_{state}"] is not None
        ]
        return self._given(row, "healthy") + (f" ({', '.join(others)})" if others else "")

    def _best(self, rows: Sequence[Row]) -> Row:
        """The fastest; of those within its error the one that tolerates most failures. Levels that keep up come
        first.
        """
        rows = [row for row in rows if row["keeps_up_healthy"]] or rows
        best = max(rows, key=self._speed)
        error = max(best["iops_relative_error_healthy"] or 0.0, ALIKE)
        near = [row for row in rows if self._speed(row) >= self._speed(best) - error * abs(self._speed(best))]
        return min(near, key=lambda row: (-row["bears_any"], _loss(row) or 0, -self._speed(row)))

    def _bearing(self, failures: int) -> list[Row]:
        return [row for row in self.rows if row["bears_any"] >= failures]

    def _pick(self, question: str, row: Row) -> Row:
        self.picks[question] = row["level"]
        return row

    def _fastest(self) -> list[str]:
        if not self.rows:
            return []
        best = self._pick("fastest", self._best(self.rows))
        safe = self._bearing(1)
        if best["bears_any"]:
            return [f"fastest: {best['level']}, {self._gives(best)}"]
        bare = f"fastest: {best['level']}, {self._gives(best)}, but a single failure loses data"
        if not safe:
            return [bare]
        safe_best = self._pick("fastest_bearing_1", self._best(safe))
        return [bare, f"fastest that bears a failure: {safe_best['level']}, {self._gives(safe_best)}"]

    def _most_space(self) -> list[str]:
        found: dict[str, str] = {}
        for failures in (1, 2, 3):
            bearing = self._bearing(failures)
            most = max((row["usable_bytes"] for row in bearing), default=0)
            if not most:
                continue
            alike = [row for row in bearing if row["usable_bytes"] > (1 - ALIKE) * most]
            best = self._pick(f"most_space_bearing_{failures}", self._best(alike))
            what = {1: "any one failure", 2: "any two", 3: "any three"}[failures]
            # A level that tolerates more also answers for fewer failures.
            found[best["level"]] = (
                f"most space that bears {what}: {best['level']}, {_space(best['usable_bytes'])} "
                f"({best['usable_share']:.0%} of the drives), {self._gives(best)}"
            )
        return list(found.values())

    def _safest(self) -> list[str]:
        lifetime = self.chosen.lifetime
        known = [row for row in self._bearing(1) if _loss(row) is not None]
        if lifetime is None or not known:
            return []
        least = self._pick("safest", min(known, key=lambda row: _loss(row) or 0.0))
        most = max(known, key=lambda row: _loss(row) or 0.0)
        other = "" if most is least else f", {most['level']} most ({_chance(most)} %)"
        return [
            "data lost within a year, of levels that bear a failure "
            f"({figure(100 * lifetime.chance)} % of drives fail, repair: {self._repair()}): "
            f"{least['level']} least ({_chance(least)} %){other}"
        ]

    def _repair(self) -> str:
        repair = self.chosen.repair
        return (
            "the rebuild under this load" if repair is None or repair.hours is None else f"{repair.hours:g} h"
        )

    def _behind(self) -> list[str]:
        """The levels that do not keep up with the rate."""
        words = {"healthy": "", "degraded": " with a drive missing", "rebuilding": " while it is rebuilt"}
        parts = []
        for state, where in words.items():
            behind = [row["level"] for row in self.rows if row[f"keeps_up_{state}"] is False]
            if behind:
                names = "all" if len(behind) == len(self.rows) > 1 else ", ".join(behind)
                parts.append(f"{names}{where}")
        rate = self.chosen.loads.rate_iops
        return [f"cannot keep up with {rate} a second: {'; '.join(parts)}"] if parts else []

    def _rebuilds(self) -> list[str]:
        """How long rebuilds take; without progress in some part, a lower bound."""
        known = [row for row in self.all if row["rebuild_h"]]
        stuck = [row for row in self.all if row["rebuild_at_least_h"]]
        least = ", ".join(f"> {_hours(row['rebuild_at_least_h'])} h ({row['level']})" for row in stuck)
        if not known:
            return [f"rebuilt, extrapolated: under this load in {least}"] if stuck else []
        first = self._pick("soonest_rebuilt", min(known, key=lambda row: row["rebuild_h"]))
        last = max(known, key=lambda row: row["rebuild_h"])
        rest = f" to {_with_error(last, 'rebuild')} ({last['level']})" if last is not first else ""
        idle = sorted(
            (row for row in known if row["rebuild_idle_h"]), key=lambda row: float(row["rebuild_idle_h"])
        )
        ends = dict.fromkeys(_with_error(row, "rebuild_idle") for row in (*idle[:1], *idle[-1:]))
        alone = f"; idle in {' to '.join(ends)}" if idle else ""
        hours = (
            f"{_with_error(first, 'rebuild')} ({first['level']}){rest}{f', {least}' if stuck else ''}{alone}"
        )
        kinds = {row[f"{name}_is_extrapolated"] for row in known for name in ("rebuild", "rebuild_idle")}
        how = "extrapolated" if True in kinds else "simulated whole"
        return [f"rebuilt, {how}: under this load in {hours}"]


def _chance(row: Row) -> str:
    """The chance of loss in percent; a bound if no loss was seen."""
    value, high = row["loss_in_a_year_percent"], row["loss_in_a_year_percent_high"]
    return NONE if high is None else percent_figure({"value": value, "high": high})


def _space(count: float) -> str:
    return f"{count / 1e12:,.4g} TB" if count >= 1e12 else f"{count / GB:,.4g} GB"


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"


def _with_error(row: Row, name: str) -> str:
    """The hours of a rebuild, with half their interval where it is known."""
    error = row[f"{name}_relative_error"]
    return f"{_hours(row[f'{name}_h'])} h" + ("" if error is None else f" ± {error:.1%}")


def _state(key: str, scale: float, state: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        figure = row[f"{key}_{state}"]
        return NONE if figure is None else rate_text(figure / scale)

    return text


def _latency(state: str) -> Callable[[Row], str]:
    """The latency of an open load, in ms; for a level that falls behind, its rate."""

    def text(row: Row) -> str:
        figure, keeps_up = row[f"mean_latency_ns_{state}"], row[f"keeps_up_{state}"]
        if keeps_up is False:
            return "cannot keep up" if state == "healthy" else f"only {rate_text(row[f'iops_{state}'])} IOPS"
        return NONE if figure is None else rate_text(figure / MS)

    return text


def _rebuild(name: str) -> Callable[[Row], str]:
    def text(row: Row) -> str:
        if row[f"{name}_h"]:
            return _hours(row[f"{name}_h"])
        at_least = row[f"{name}_at_least_h"]
        return f"> {_hours(at_least)}" if at_least else NONE

    return text


def _optional(key: str, text: Callable[[Any], str]) -> Callable[[Row], str]:
    return lambda row: NONE if row[key] is None else text(row[key])


def _bears(row: Row) -> str:
    worst, best = row["bears_any"], row["bears_at_best"]
    return str(worst) if worst == best else f"{worst} to {best}"


def _mttdl(row: Row) -> str:
    """The mean time to data loss; a bound if no loss was seen."""
    low = row["mttdl_years_low"]
    return NONE if low is None else years_text({"value": row["mttdl_years"], "low": low})


Column = tuple[str, Callable[[Row], str]]

_COLUMNS: list[Column] = [
    ("level", lambda row: row["level"]),
    ("usable GB", lambda row: f"{row['usable_bytes'] / GB:,.0f}"),
    ("price/GB", _optional("price_per_usable_gb", lambda price: f"{price:.4g}")),
    ("may fail", _bears),
    ("rebuild h", _rebuild("rebuild")),
    ("±", _optional("rebuild_relative_error", lambda error: f"{error:.1%}")),
    ("idle h", _rebuild("rebuild_idle")),
    ("±", _optional("rebuild_idle_relative_error", lambda error: f"{error:.1%}")),
    ("loss/year %", _chance),
    ("MTTDL years", _mttdl),
]
_RANDOM: list[Column] = [
    ("IOPS", _state("iops", 1, "healthy")),
    ("ms", _state("mean_latency_ns", MS, "healthy")),
    ("degraded", _state("iops", 1, "degraded")),
    ("rebuilding", _state("iops", 1, "rebuilding")),
]
_RATE: list[Column] = [
    ("IOPS", _state("iops", 1, "healthy")),
    ("ms", _latency("healthy")),
    ("degraded ms", _latency("degraded")),
    ("rebuilding ms", _latency("rebuilding")),
]
_STREAM: list[Column] = [
    ("MB/s", _state("bytes_per_s", MB, "healthy")),
    ("degraded", _state("bytes_per_s", MB, "degraded")),
    ("rebuilding", _state("bytes_per_s", MB, "rebuilding")),
]
