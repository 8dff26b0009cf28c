"""What a person has to know of the points of `drivelab simulate` beside their figures: remarks, on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from drivelab import _core
from drivelab.cli.output import say
from drivelab.errors import ref
from drivelab.report.array_summary import duration_text
from drivelab.report.given_up_summary import given_up_text, has_given_up
from drivelab.report.plural import are, counted
from drivelab.report.points_table import axis_text
from drivelab.report.replay_summary import is_over_early
from drivelab.runs import ceiling
from drivelab.runs.result import Point, Result

# Of many points, or reasons, in one remark, so many are named.
PLACES_NAMED_MAX = 4
# What an error's outcome means, where its name alone does not say it.
_OUTCOMES = {"lost": "lost (too many members of the array are gone)", "failed": "failed (the drive is gone)"}
# An I/O that has waited so many times the longest response time starves.
STARVED_FACTOR = 10
# A run so long that nothing finished in it has hardly a load.
LONG_NS = 60e9


def note_skipped(checked: _core.Plan) -> None:
    """How many points of the grid cannot be, and why."""
    reasons = Counter(reason for _, reason in checked.skipped).most_common()
    if not reasons:
        return
    named = [f"{count} x {reason}" for reason, count in reasons[:PLACES_NAMED_MAX]]
    more = (
        f"; and {counted(len(reasons) - PLACES_NAMED_MAX, 'more reason')}"
        if len(reasons) > PLACES_NAMED_MAX
        else ""
    )
    left = len(checked.skipped)
    say(
        f"note: {left} of {counted(len(checked) + left, 'point')} cannot be, and {are(left)} left out: "
        f"{'; '.join(named)}{more}"
    )


def tell_empty(result: Result) -> bool:
    """Points at which no I/O finished have nothing but dashes: say why, and what to do.

    Such a point has failed, unless it waited for something else: a rebuild, or a power cut.
    """
    empty = [point for point in result.points if point["latency_ns"]["n"] == 0 and not point["errors"]]
    if not empty:
        return False
    at = _at(empty)
    longest_ns = max(point["window_ns"] for point in empty)
    if all("replay" in point and is_over_early(point) for point in empty):
        why = "the trace is over before the warm-up is; lower --ramp-time (run.warmup)"
    elif all(point["ended"] not in {"duration", "interrupted"} for point in empty):
        why = (
            "the jobs are done before the warm-up is; lower --ramp-time (run.warmup), or give them more to do"
        )
    elif longest_ns >= LONG_NS:
        why = f"the workload asks for next to nothing in the measured {duration_text(longest_ns)}"
    else:
        measured = duration_text(longest_ns)
        # Ten times as much, in round seconds.
        enough_s = max(10, 10 * -(-longest_ns // 1_000_000_000))
        why = f"the measured {measured} are too short; measure longer, e.g. --runtime {enough_s}s (run.duration)"
    has_failed = any(point["ended"] == "duration" for point in empty)
    say(f"{'error' if has_failed else 'note'}: no I/O finished{at}: {why}")
    return has_failed


def note_failed(result: Result) -> None:
    """Points at which every I/O ended with an error have no latency either: say so, and with which errors."""
    failed = [point for point in result.points if point["latency_ns"]["n"] == 0 and point["errors"]]
    if not failed:
        return
    outcomes = Counter[str]()
    for point in failed:
        outcomes.update(point["errors_by_outcome"])
    counts = ", ".join(f"{count:,} x {_OUTCOMES.get(name, name)}" for name, count in outcomes.most_common())
    say(f"note: no I/O succeeded{_at(failed)}: each ended with an error: {counts}")


def note_lost(result: Result) -> list[Point]:
    """Returns the points at which the array has failed in the course of the run: their figures are of both times."""
    lost = [
        point
        for point in result.points
        if point.get("array", {}).get("state") == "failed" and point["errors"] and point["latency_ns"]["n"]
    ]
    if lost:
        errors = sum(point["errors"] for point in lost)
        say(
            f"note: the array has failed{_at(lost)}, and {counted(errors, 'I/O')} ended with an error: IOPS and "
            "latencies are those of the others, before and after; --over-time FILE draws the course"
        )
    return lost


def _is_starved(point: Point) -> bool:
    """Whether an I/O has waited far longer than any that finished, and not because its array is gone."""
    if point.get("array", {}).get("state") in {"failed", "broken"}:
        return False
    return (point["oldest_unfinished_ns"] or 0) > STARVED_FACTOR * (
        point["latency_ns"]["max"] or float("inf")
    )


def note_starved(result: Result) -> None:
    """What never finishes is in no latency: say it where it has waited far longer than anything that did."""
    starved = [point for point in result.points if _is_starved(point)]
    if not starved:
        return
    worst = max(starved, key=lambda point: point["oldest_unfinished_ns"] or 0)
    at = f" at {place}" if (place := place_of(worst["axes"])) else ""
    more = (
        f", and far longer than any there at {counted(len(starved) - 1, 'more point')}"
        if len(starved) > 1
        else ""
    )
    waited, longest = (
        duration_text(float(f"{ns:.3g}"))
        for ns in (worst["oldest_unfinished_ns"] or 0, worst["latency_ns"]["max"] or 0)
    )
    say(
        f"note: when the run ended{at}, an I/O had waited for {waited}, far longer than any that finished "
        f"({longest}){more}; it is in no latency (oldest_unfinished_ns)"
    )


def note_partial_writes(result: Result) -> None:
    """A write of part of a physical sector costs a turn that no figure shows by itself: say where a run pays it."""
    paid = [point for point in result.points if point.get("partial_writes")]
    if not paid:
        return
    worst = max(paid, key=lambda point: point["partial_writes"] / max(point["window_ns"], 1))
    rate = worst["partial_writes"] / (worst["window_ns"] / 1e9)
    at = f" at {place}" if (place := place_of(worst["axes"])) else ""
    more = f"; {counted(len(paid) - 1, 'more point')} have such writes" if len(paid) > 1 else ""
    sector = f"{ref('target.drive.geometry.physical_sector')}, 4 KiB on most drives"
    say(
        f"note: {rate:,.3g} writes to the media a second{at} cover a physical sector in part, and each takes a turn "
        f"more to read it first{more}: give size and offset as multiples of {sector}"
    )


def note_given_up(result: Result) -> None:
    """Writes that were answered and are gone are among the I/Os that count: say so."""
    lost = [point for point in result.records if has_given_up(point)]
    for point in lost[:PLACES_NAMED_MAX]:
        at = f" at {place}" if (place := place_of(point["axes"])) else ""
        say(f"note: data are lost{at}: {given_up_text(point['given_up'])}")
    if len(lost) > PLACES_NAMED_MAX:
        say(
            f"note: nor are all data there at {counted(len(lost) - PLACES_NAMED_MAX, 'more point')}: see given_up in "
            "--json"
        )


def note_cached(result: Result, checked: _core.Plan) -> None:
    """Rates that only a cache can give are those of the cache: say so."""
    if len(result.places) != len(result.points):
        return
    ceilings = checked.ceilings
    of_points = [ceilings[number] for number in result.places]
    for note in ceiling.notes(result.records, of_points, result.fio):
        say(f"note: {note}")


def note_unlogged(result: Result) -> None:
    """A log that stays empty because the target keeps none would be a riddle."""
    if any(
        "platter" in point and point["platter"] is None and not point.get("commands")
        for point in result.points
    ):
        say("note: no command is logged where the target is no drive: only drives keep traces of commands")


def _at(points: Sequence[Point]) -> str:
    """Where in the sweep the first of these points are."""
    places = [place for point in points if (place := place_of(point["axes"]))]
    more = f" and {len(places) - PLACES_NAMED_MAX} more" if len(places) > PLACES_NAMED_MAX else ""
    return f" at {'; '.join(places[:PLACES_NAMED_MAX])}{more}" if places else ""


def place_of(axes: Mapping[str, object]) -> str:
    """Where in the sweep a point is; nothing where it is the only one."""
    return ", ".join(f"{key}={axis_text(value)}" for key, value in axes.items())
