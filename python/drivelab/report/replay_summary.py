"""What became of a replayed trace in words: how far the target kept up, recorded times beside simulated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.report.array_summary import duration_text
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text
from drivelab.report.table import Cell, Table

_BEHIND_NS_MIN = 250_000_000
_BEHIND_SHARE = 0.01
"""A target that is done later than this after the last request, and than this share of the trace, fell behind."""

_TAKEN = {
    "malformed": "left out",
    "unsorted": "taken as they come: each begins with the one before it, and is not late",
    "zero-size": "left out",
    "truncated": "what came before is replayed",
}
"""What became of the requests of a problem."""

_FIGURES = ("mean", "p50", "p99", "max")
_MS = 1e6


def _time(ns: float) -> str:
    return duration_text(float(f"{ns:.3g}"))


def is_over_early(point: Mapping[str, Any]) -> bool:
    """Whether the trace was over before the warm-up was, so that the end of the run says nothing of the target."""
    replay = point["replay"]
    measured = point["latency_ns"]["n"] or point.get("flush", {}).get("count")
    return bool(replay["complete"] and replay["begun"] and not measured)


def replay_lines(point: Mapping[str, Any]) -> Iterator[str]:
    """For the console: what was replayed, and how long it took."""
    replay = point["replay"]
    yield _summary(replay, is_timed=not is_over_early(point))
    if discards := replay["discards_left_out"]:
        yield f"  {counted(discards, 'discard')} left out: the model has no command for them"
    for one in replay.get("problems", ()):
        what = f": {_TAKEN[one['kind']]}" if one["kind"] in _TAKEN else ""
        yield f"  {one['count']:,} {one['kind']}, first in line {one['first_line']:,}{what}"


def recorded_table(points: Sequence[dict[str, Any]]) -> Table | None:
    """Recorded response times beside the simulated ones of the same requests; None where the trace has none."""
    axes = list(points[0]["axes"]) if points else []
    rows = []
    for point in points:
        for kind in ("read", "write"):
            if compared := point.get("replay", {}).get(kind):
                recorded, simulated = compared["recorded_ns"], compared["simulated_ns"]
                pairs = [_ms(one[key]) for key in _FIGURES for one in (recorded, simulated)]
                place = [axis_text(point["axes"][axis]) for axis in axes]
                rows.append([Cell(text) for text in (*place, f"{kind}s", f"{recorded['n']:,}", *pairs)])
    if not rows:
        return None
    figures = [title for key in _FIGURES for title in (f"{key} then", "now")]
    return Table(
        columns=[*(axis.rsplit(".", 1)[-1] for axis in axes), "of", "requests", *figures],
        rows=rows,
        title="Response times as recorded (then) and as simulated (now), ms",
        left=frozenset(range(len(axes) + 1)),
    )


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / _MS:.2f}"


def _summary(replay: Mapping[str, Any], *, is_timed: bool) -> str:
    begun, finished = replay["begun"], replay["finished"]
    what = f"trace: {counted(begun, 'request')}" + ("" if replay["complete"] else " (not to its end)")
    unfinished = f", {begun - finished:,} of them not finished" if begun > finished else ""
    most = f"at most {replay['outstanding_max']:,} outstanding"
    if not is_timed:
        return f"{what}{unfinished}, {most}"
    if replay["span_ns"] is not None:
        done = f"done {_time(replay['behind_ns'])} after the last" if replay["complete"] else "cut off"
        return f"{what} in {_time(replay['span_ns'])}, {done}{unfinished}, {most}"
    return f"{what}, done in {_time(replay['elapsed_ns'])}{unfinished}, {most}"


def behind_text(replay: Mapping[str, Any]) -> str | None:
    """How far the target fell behind the times of the trace; None where it kept up, or where these do not count."""
    span = replay["span_ns"]
    if span is None:
        return None
    least = max(_BEHIND_NS_MIN, _BEHIND_SHARE * span)
    if replay["behind_ns"] <= least and not replay["begun_late"]:
        return None
    late = replay["begun_late"]
    more = f"; {late:,} began late, because no more could be outstanding" if late else ""
    if not replay["complete"]:
        if not late:
            return None
        return f"{counted(replay['begun'] - replay['finished'], 'request')} waited when the run ended{more}"
    return (
        f"{counted(replay['outstanding_at_last'], 'request')} waited when the last one arrived, and all were done "
        f"{_time(replay['behind_ns'])} later{more}"
    )
