"""What became of a replayed trace in words: how far the target kept up, recorded times beside simulated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.array_story import counted, duration_text

_BEHIND_NS_MIN = 1_000_000_000
_BEHIND_SHARE = 0.01
"""A target that is done later than this after the last request, and than this share of the trace, fell behind."""

_FIGURES = (("mean", "mean"), ("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("max", "max"))
_MS = 1e6


def _time(ns: float) -> str:
    return duration_text(float(f"{ns:.3g}"))


def replay_lines(replay: Mapping[str, Any]) -> Iterator[str]:
    """For the console: what was replayed, how long it took, and what was recorded beside what was simulated."""
    yield _summary(replay)
    if discards := replay["discards_left_out"]:
        yield f"  {counted(discards, 'discard')} left out: the model has no command for them"
    for kind in ("read", "write"):
        if compared := replay[kind]:
            recorded, simulated = compared["recorded_ns"], compared["simulated_ns"]
            figures = [
                f"{name} {_ms(recorded[key])} / {_ms(simulated[key])}"
                for key, name in _FIGURES
                if recorded[key] is not None
            ]
            yield (
                f"  {counted(recorded['n'], kind)} with a recorded response time, recorded / simulated in ms: "
                f"{', '.join(figures)}"
            )


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / _MS:.4g}"


def _summary(replay: Mapping[str, Any]) -> str:
    begun, finished = replay["begun"], replay["finished"]
    what = f"trace: {counted(begun, 'request')}" + ("" if replay["complete"] else " (not to its end)")
    unfinished = f", {begun - finished:,} of them not finished" if begun > finished else ""
    most = f"at most {replay['outstanding_max']:,} outstanding"
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
