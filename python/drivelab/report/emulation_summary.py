"""What a session of an emulated device came to, in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.report.array_summary import duration_text
from drivelab.report.plural import counted

# Of the stretches that a power cut has taken, so many are named.
_STRETCHES_NAMED_MAX = 8
# What has destroyed data.
_CAUSES = {
    "drive_cache": "in a drive's cache",
    "controller_memory": "in the controller's memory",
    "write_hole": "the write hole: computed from members that do not fit together",
    "missing_members": "too few members are left",
    "corrupted": "corrupted",
    "member_failed": "its member failed, and the others give something else",
    "given_up": "a memory could not write them",
    "unreadable": "a rebuild could not read what they, or others of their row, need",
}


def lines(record: Mapping[str, Any]) -> Iterator[str]:
    """The session: what was served, how punctually, what was done to the device."""
    done = [
        f"{counted(record[kind]['commands'], one)} ({record[kind]['bytes'] / 1e6:,.1f} MB)"
        if record[kind]["bytes"]
        else counted(record[kind]["commands"], one)
        for kind, one in (
            ("reads", "read"),
            ("writes", "write"),
            ("flushes", "FLUSH command"),
            ("trims", "TRIM command"),
        )
        if record[kind]["commands"]
    ]
    spans = f"{short_text(record['model_ns'])} of the model in {short_text(record['real_ns'])}"
    yield f"served {', '.join(done) or 'nothing'}; {spans}"
    if errors := sum(record[kind]["errors"] for kind in ("reads", "writes", "flushes")):
        yield f"{counted(errors, 'command')} answered with an error: the client saw EIO"
    yield from _late(record)
    for cut in record["power_cuts"]:
        yield from _cut(cut)
    for damage in record["damage"]:
        if damage.get("before_session"):
            lost = counted(damage["lost_sectors"], "sector")
            yield f"{lost} answered before this session had been lost when it began"
        else:
            lost = counted(damage["lost_sectors"], "answered sector")
            yield f"at {short_text(damage['at_ns'])}: {lost} lost while the power was on"
        yield from _stretches(damage["lost"], "damage")
    for event in record["events"]:
        member = f" (member {event['member']})" if "member" in event else ""
        yield f"at {short_text(event['at_ns'])}: {event['what']}{member}"
    if record["malformed"]:
        why = "; ".join(f"{counted(count, 'time')} {reason}" for reason, count in record["ended"].items())
        yield (
            f"{counted(record['malformed'], 'connection')} ended because the client did not keep to the protocol: {why}"
        )
    if left := record["left_without_tls"]:
        yield f"{counted(left, 'client')} left on hearing that the device is served with TLS alone"
    if record["captured_requests"] is not None:
        yield f"captured {counted(record['captured_requests'], 'request')}"


def short_text(ns: float) -> str:
    """A length of time that may be far below a millisecond."""
    return f"{ns / 1e3:.3g} us" if 0 < ns < 1e6 else duration_text(float(f"{ns:.4g}"))


def _late(record: Mapping[str, Any]) -> Iterator[str]:
    late, gaps = record["lateness_ns"], record["gaps"]
    if not late["n"]:
        return
    figures = [
        f"{name} {short_text(late[key])}"
        for name, key in (("p50", "p50"), ("p99", "p99"), ("p99.9", "p99_9"), ("max", "max"))
        if late[key] is not None
    ]
    paused = (
        f"; the machine paused {counted(gaps['count'], 'time')}, {short_text(gaps['max_ns'])} at most"
        if gaps["count"]
        else ""
    )
    outside = record["lateness_outside_gaps_ns"]["p99_9"]
    if gaps["count"] and outside is not None:
        paused += f", and without the answers behind that p99.9 is {short_text(outside)}"
    yield f"answers late by {', '.join(figures)}{paused}"


def _cut(cut: Mapping[str, Any]) -> Iterator[str]:
    lost = counted(cut["lost_sectors"], "answered sector")
    yield (
        f"power cut at {short_text(cut['at_ns'])}: {lost} lost, "
        f"{counted(cut['unanswered_writes'], 'write')} under way"
    )
    yield from _stretches(cut["lost"], "power_cuts")
    if not cut["is_started"]:
        yield "  the array was not started: it was being written to, and a member with data is missing"


def _stretches(lost: Sequence[Mapping[str, Any]], key: str) -> Iterator[str]:
    for stretch in lost[:_STRETCHES_NAMED_MAX]:
        cause = _CAUSES.get(stretch["cause"], stretch["cause"])
        yield f"  lost: {counted(stretch['sectors'], 'sector')} from {stretch['lba']} on ({cause})"
    if len(lost) > _STRETCHES_NAMED_MAX:
        yield f"  and {counted(len(lost) - _STRETCHES_NAMED_MAX, 'more stretch')}: see {key} in --json"


def late_note(record: Mapping[str, Any]) -> str | None:
    """A run that was later than its budget is no emulation of that device: say so."""
    if not record["is_over_budget"]:
        return None
    late, budget = record["lateness_ns"]["p99"], record["budget_ns"]
    return (
        f"warning: more than 1 in 100 answers were later than the budget of {short_text(budget)} (p99 "
        f"{short_text(late)}): clients have seen a slower device than the model; free the machine, or take a slower "
        f"clock"
    )
