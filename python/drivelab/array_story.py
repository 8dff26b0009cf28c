"""What happened to an array in words: its failures and rebuilds, from the record's `array`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

# Of so many instants at which something happened a story tells; what could not be read can fill thousands.
INSTANTS_TOLD = 12

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


def story(array: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Instants in ns and what happened at them, what fell together in one sentence."""
    groups = {event["group"] for event in array["events"]}
    told = []
    for at_ns, events in groupby(array["events"], key=lambda event: int(event["at_ns"])):
        told.append((at_ns, _together(list(events), several=len(groups) > 1)))
    return told


def lines(array: Mapping[str, Any]) -> list[str]:
    """The story for the console: each instant, each rebuild with its rate, and how things stand at the end."""
    told = story(array)
    left = len(told) - INSTANTS_TOLD
    shown = told if left <= 1 else [*told[: INSTANTS_TOLD - 1], told[-1]]
    times = [duration_text(at_ns) for at_ns, _ in shown]
    width = max(map(len, times), default=0)
    text = [f"  {time:>{width}}  {what}" for time, (_, what) in zip(times, shown, strict=True)]
    if left > 1:
        text.insert(-1, f"  {'..':>{width}}  {len(told) - len(shown):,} more instants: see --json")
    text += [f"  {sync_text(sync)}" for sync in array["syncs"]]
    end = f"  at the end {array['state']}"
    if array["degraded_ns"]:
        end += f"; a member was missing or not rebuilt for {duration_text(array['degraded_ns'])}"
    if array["lost_bytes"]:
        end += f"; {bytes_text(array['lost_bytes'])} lost"
    if array["repaired_bytes"]:
        end += f"; {bytes_text(array['repaired_bytes'])} that could not be read written back"
    return [*text, end]


def sync_text(sync: Mapping[str, Any]) -> str:
    """How long a rebuild, resync or scrub took, or how far it came."""
    rate = f"{sync['member_bytes_per_s'] / 1e6:,.4g} MB/s on each member"
    if sync["ended_ns"] is None:
        return f"{sync['kind']}: {_share(sync)} when the run ended, {rate}"
    if sync["given_up"]:
        return f"{sync['kind']}: given up after {duration_text(sync['duration_ns'])}, {_share(sync)} done"
    return f"{sync['kind']}: {duration_text(sync['duration_ns'])}, {rate}"


def rebuilds_text(array: Mapping[str, Any]) -> str:
    """The rebuilds of a point in a cell of a table: how long each took, or how far it came."""
    rebuilds = [sync for sync in array["syncs"] if sync["kind"] == "rebuild"]
    return ", ".join(map(_rebuild_text, rebuilds)) or "-"


def _rebuild_text(sync: Mapping[str, Any]) -> str:
    if sync["given_up"]:
        return "given up"
    return f"{_share(sync)} done" if sync["ended_ns"] is None else duration_text(sync["duration_ns"])


def _share(sync: Mapping[str, Any]) -> str:
    whole = sync["member_bytes_in_all"]
    # Begun anew for a second drive it goes over more than there is.
    return f"{100 * min(sync['member_bytes'] / whole, 1) if whole else 100:.3g} %"


def _together(events: Sequence[Mapping[str, Any]], *, several: bool) -> str:
    """Events of one instant in one sentence, the losses as one sum."""
    lost = [event["lost"] for event in events if event["what"] == "lost"]
    parts = [_event(event, several=several) for event in events if event["what"] != "lost"]
    if lost:
        parts.append(f"{bytes_text(sum(each['bytes'] * each['times'] for each in lost))} lost")
    return ", ".join(parts)


def _event(event: Mapping[str, Any], *, several: bool) -> str:
    what = event["what"]
    where = f" of group {event['group']}" if several else ""
    if what == "failed":
        return f"drive {event['drive']} failed" if event["at_ns"] else f"drive {event['drive']} missing"
    if what == "spare-failed":
        return f"spare drive {event['drive']} failed"
    if what == "replaced":
        return f"drive {event['drive']} in place {event['slot']}"
    if what == "given-up":
        return f"{event['sync']}{where} given up"
    if what == "began":
        return f"{event['sync']}{where} began"
    return f"group {event['group']} {_SYNC_ENDED[event['sync']]}" if several else _SYNC_ENDED[event["sync"]]
