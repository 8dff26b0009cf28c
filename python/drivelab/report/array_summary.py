"""What happened to an array in words: its failures and rebuilds, from the record's `array`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from drivelab.report.plural import counted

# The most instants that a timeline lists; what could not be read can fill thousands.
INSTANTS_SHOWN_MAX = 12

# Less of a floor's time than this may be missed unsaid.
FLOOR_MISSED_SHARE = 0.01

_OUTCOMES = {"timed-out": "timed out", "media-error": "met a media error"}
_SYNC_ENDED = {"rebuild": "rebuilt", "resync": "resynced", "scrub": "scrubbed"}


def duration_text(ns: float) -> str:
    """A length of time in the unit that a person would take: 20 s, 67 min, 25.3 h."""
    seconds = ns / 1e9
    if 0 < seconds < 1:
        return f"{ns / 1e6:g} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h" if seconds < 360_000 else f"{seconds / 3600:,.0f} h"


def bytes_text(count: float) -> str:
    """An amount of data in units of 1000."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def is_eventful(point: Mapping[str, Any]) -> bool:
    """Whether anything happened to the array of a point; False where there is none."""
    return bool((point.get("array") or {}).get("events"))


def timeline(array: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Instants in ns and what happened at them, what fell together in one sentence.

    What a rebuild could not read is lost piece by piece: pieces with nothing between them are one entry, at the first.
    """
    groups = {event["group"] for event in array["events"]}
    instants = [list(events) for _, events in groupby(_with_new(array["events"]), key=itemgetter("at_ns"))]
    timed = []
    for only_lost, run in groupby(instants, key=_is_lost_alone):
        if only_lost:
            events = [event for instant in run for event in instant]
            timed.append((int(events[0]["at_ns"]), _pieces(events)))
        else:
            timed += [(int(events[0]["at_ns"]), _together(events, several=len(groups) > 1)) for events in run]
    return timed


def _with_new(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The events, marked where a new drive takes the place, and the number, of the one that failed."""
    failed = {
        (event["group"], event["slot"], event["drive"]) for event in events if event["what"] == "failed"
    }
    return [
        {**event, "is_new": (event["group"], event["slot"], event["drive"]) in failed}
        if event["what"] == "replaced"
        else event
        for event in events
    ]


def _is_lost_alone(events: Sequence[Mapping[str, Any]]) -> bool:
    """Whether nothing but losses happened at an instant."""
    return all(event["what"] == "lost" for event in events)


def _pieces(events: Sequence[Mapping[str, Any]]) -> str:
    """Losses one after the other: how many, where the first is, how much in all, and until when."""
    lost = [event["lost"] for event in events]
    count = sum(each["times"] for each in lost)
    first = min(each["first"] for each in lost)
    if count == 1:
        return f"{_lost_text(lost)} lost at byte {first:,}"
    until = f" until {duration_text(events[-1]['at_ns'])}" * (events[-1]["at_ns"] > events[0]["at_ns"])
    return f"{_lost_text(lost)} lost in {count:,} pieces{until}, the first at byte {first:,}"


def _lost_text(lost: Sequence[Mapping[str, Any]]) -> str:
    return bytes_text(sum(each["bytes"] * each["times"] for each in lost))


def lines(array: Mapping[str, Any]) -> list[str]:
    """The timeline for the console: each instant, each rebuild with its rate, and how things stand at the end."""
    timed = timeline(array)
    left = len(timed) - INSTANTS_SHOWN_MAX
    shown = timed if left <= 1 else [*timed[: INSTANTS_SHOWN_MAX - 1], timed[-1]]
    times = [duration_text(at_ns) for at_ns, _ in shown]
    width = max(map(len, times), default=0)
    text = [f"  {time:>{width}}  {what}" for time, (_, what) in zip(times, shown, strict=True)]
    if left > 1:
        text.insert(-1, f"  {'..':>{width}}  {counted(len(timed) - len(shown), 'more instant')}: see --json")
    sampled = array.get("sampled")
    text += [f"  {sync_text(sync)}" for sync in array["syncs"] if not (sampled and sync["kind"] == "rebuild")]
    text += [f"  {sampled_text(array)}"] if sampled else []
    end = f"  at the end {array['state']}"
    if array["degraded_ns"]:
        end += f"; a member was missing or not rebuilt for {duration_text(array['degraded_ns'])}"
    if array["lost_bytes"]:
        end += f"; {bytes_text(array['lost_bytes'])} lost"
    if array["repaired_bytes"]:
        end += f"; {bytes_text(array['repaired_bytes'])} that could not be read written back"
    if errors := _errors_text(array["member_errors"]):
        end += f"; members did not do {errors}"
    return [*text, end]


def _errors_text(errors: Mapping[str, int]) -> str:
    """Members' commands that ended with an error; FLUSHes count as writes."""
    kinds = (("reads", "read"), ("writes", "write"))
    return " and ".join(counted(errors[key], what) for key, what in kinds if errors[key])


def sampled_text(array: Mapping[str, Any]) -> str:
    """What a sampled rebuild would take, at the mean time for a byte of its parts."""
    parts, pace = array["sampled"]["parts"], _pace(array)
    if pace is None:
        if not parts or not _rebuilds(array):
            return "rebuild: over before it was sampled; run.until = rebuilt shows the whole of it"
        return "rebuild: sampled, and makes no progress in some part of it"
    places = len({part["rebuilt"] for part in parts})
    full = "" if array["sampled"]["is_steady"] else ", caches still filling"
    return (
        f"rebuild: sampled at {places} places{full}: {1e3 / pace:,.4g} MB/s on each member, "
        f"{_sampled_duration(array, pace)} in all (`drivelab compare-levels` has its ±)"
    )


def _pace(array: Mapping[str, Any]) -> float | None:
    """The mean time for a byte of a sampled rebuild, in nanoseconds; None if some part makes no progress."""
    parts = array["sampled"]["parts"]
    if not parts or not _rebuilds(array) or not all(part["member_bytes"] for part in parts):
        return None
    return float(sum(part["counted_ns"] / part["member_bytes"] for part in parts) / len(parts))


def _sampled_duration(array: Mapping[str, Any], pace: float) -> str:
    rebuild = _rebuilds(array)[-1]
    return duration_text(round((rebuild["member_bytes_in_all"] - rebuild["member_bytes_before"]) * pace))


def _rebuilds(array: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [sync for sync in array["syncs"] if sync["kind"] == "rebuild"]


def sync_text(sync: Mapping[str, Any]) -> str:
    """How long a rebuild, resync or scrub took, or how far it came."""
    rate = f"{sync['member_bytes_per_s'] / 1e6:,.4g} MB/s on each member"
    if sync["ended_ns"] is None:
        left = sync["remaining_ns"]
        rest = "" if left is None else f"; the rest would take {duration_text(left)} at that rate"
        return f"{sync['kind']}: {_share(sync)} when the run ended, {rate}{rest}"
    if sync["given_up"]:
        return f"{sync['kind']}: given up after {duration_text(sync['duration_ns'])}, {_share(sync)} done"
    return f"{sync['kind']}: {duration_text(sync['duration_ns'])}, {rate}"


def missed_floors(array: Mapping[str, Any]) -> list[str]:
    """For each rebuild, resync or scrub that hosts left less than its floor: what was asked, and what it reached."""
    return [
        f"{rate_text(sync['floor_bytes_per_s'])} asked, {rate_text(sync['under_load_bytes_per_s'])} reached by the "
        f"{sync['kind']}{_of_group(sync, array)}"
        for sync in array["syncs"]
        # A little may be missed by one command that takes long.
        if sync["floor_missed_ns"] > FLOOR_MISSED_SHARE * sync["under_load_ns"]
    ]


def _of_group(sync: Mapping[str, Any], array: Mapping[str, Any]) -> str:
    return f" of group {sync['group']}" if len({other["group"] for other in array["syncs"]}) > 1 else ""


def rate_text(rate: float) -> str:
    """A rate of a rebuild."""
    return f"{rate / 1e6:,.3g} MB/s"


def rebuilds_text(array: Mapping[str, Any]) -> str:
    """The rebuilds of a point in a cell of a table: how long each took or, sampled, would take, or how far it came."""
    if array.get("sampled") and (pace := _pace(array)) is not None:
        return f"~{_sampled_duration(array, pace)}"
    return ", ".join(map(_rebuild_text, _rebuilds(array))) or "-"


def _rebuild_text(sync: Mapping[str, Any]) -> str:
    if sync["given_up"]:
        return "given up"
    return f"{_share(sync)} done" if sync["ended_ns"] is None else duration_text(sync["duration_ns"])


def _share(sync: Mapping[str, Any]) -> str:
    whole = sync["member_bytes_in_all"]
    # Begun anew for a second drive it goes over more than there is.
    done = sync["member_bytes_before"] + sync["member_bytes"]
    return f"{100 * min(done / whole, 1) if whole else 100:.3g} %"


def _together(events: Sequence[Mapping[str, Any]], *, several: bool) -> str:
    """Events of one instant in one sentence, the losses as one sum."""
    lost = [event["lost"] for event in events if event["what"] == "lost"]
    parts = [_event(event, several=several) for event in events if event["what"] != "lost"]
    if lost:
        parts.append(f"{_lost_text(lost)} lost")
    return ", ".join(parts)


def _event(event: Mapping[str, Any], *, several: bool) -> str:
    what = event["what"]
    where = f" of group {event['group']}" if several else ""
    if what == "failed":
        return f"drive {event['drive']} failed" if event["at_ns"] else f"drive {event['drive']} missing"
    if what in {"write-error", "broken", "stale"}:
        return _of_writes(event)
    if what == "spare-failed":
        return f"spare drive {event['drive']} failed"
    if what == "journal-failed":
        return f"journal drive {event['drive']} failed: writes are refused"
    if what == "replaced":
        drive = "a new drive" if event.get("is_new") else f"drive {event['drive']}"
        return f"{drive} in place {event['slot']}"
    if what == "given-up":
        return f"{event['sync']}{where} given up"
    if what == "began-anew":
        return f"{event['sync']}{where} began anew"
    if what == "began":
        return f"{event['sync']}{where} began"
    return f"group {event['group']} {_SYNC_ENDED[event['sync']]}" if several else _SYNC_ENDED[event["sync"]]


def _of_writes(event: Mapping[str, Any]) -> str:
    """What follows from a write that a drive did not do."""
    if event["what"] == "write-error":
        return f"a write to drive {event['drive']} {_OUTCOMES.get(event['outcome'], event['outcome'])}"
    if event["what"] == "broken":
        return "nobody else has its data: it stays, and writes are refused"
    return f"{bytes_text(event['stale']['bytes'])} of drive {event['drive']} not written, and read from other copies"
