"""What was found about the data of runs in words: what was checked, and what a power cut has taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab.report.array_summary import bytes_text, duration_text
from drivelab.report.plural import counted

_FROM = {
    "host_memory_sectors": "the host's memory",
    "controller_memory_sectors": "the controller's memory",
    "drive_cache_sectors": "drives' caches",
    "write_hole_sectors": "rows whose parity did not fit",
}
_SOUND = {"reads": 0, "sectors": 0, "redundancy_differs": False}
_RECOVERIES = {"bitmap": "the bitmap's resync", "journal": "the journal", "ppl": "the partial parity log"}


def checked_text(points: Sequence[Mapping[str, Any]]) -> str | None:
    """What was checked of the data of all points together, in one line; None where there was nothing to check."""
    found = [point["data"] for point in points if "data" in point]
    if not found:
        return None
    read = sum(data["sectors_read"] for data in found)
    if not read and all(data["sectors_kept"] is None for data in found):
        return None
    wrong = sum(data.get("corrupted", _SOUND)["reads"] for data in found)
    right = "all as last written" if not wrong else f"{counted(wrong, 'read')} wrong, and nobody was told"
    parts = [f"{counted(read, 'sector')} read, {right}"] if read else ["nothing was read"]
    if any(data["sectors_kept"] is not None for data in found):
        kept = sum(data["sectors_kept"] or 0 for data in found)
        parts.append(f"{counted(kept, 'written sector')} there at the end")
    if lost := sum(data.get("corrupted", _SOUND)["sectors"] for data in found):
        parts.append(f"{counted(lost, 'written sector')} wrong")
    for what in ("parity", "copies"):
        alike = [each for data in found if (each := data["compared"]) and each["what"] == what]
        if alike:
            rows = counted(sum(each["rows"] for each in alike), "row" if what == "parity" else "piece")
            parts.append(f"{what} of {rows} {'matches' if what == 'parity' else 'match'}")
    if any(data.get("corrupted", _SOUND)["redundancy_differs"] for data in found):
        parts.append("what was corrupted does not fit its parity or copy")
    at = f" at {len(found)} points" if len(found) > 1 else ""
    return f"data{at}: {'; '.join(parts)}"


def unstruck_lines(points: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a scenario has put down to go wrong with a drive and did not: a line for each entry and reason."""
    found = [entry for point in points for entry in point.get("injections", ())]
    for entry in found:
        if why := entry["refused"] or (None if entry["times"] else "the run was over before"):
            at = f"at {entry['at_ns'] / 1e9:.6g} s"
            yield f"faults.{entry['what']} of drive {entry['drive']} {at} was not done: {why}"


def cut_lines(cut: Mapping[str, Any]) -> Iterator[str]:
    """What a power cut has taken, and left, for the console."""
    yield f"the power went at {cut['at_ns'] / 1e9:.6g} s"
    yield f"  {_lost(cut)}"
    if flushed := cut["lost_although_flushed_sectors"]:
        sectors = counted(flushed, "sector")
        yield f"  {sectors} of that had been flushed: a FLUSH was answered before they were on media"
    if kept := cut["kept_by_battery_sectors"]:
        yield f"  {bytes_text(512 * kept)} kept by the controller's battery"
    flying = cut["in_flight"]
    if flying["commands"]:
        ends = [
            f"{flying[key]} {word}"
            for key, word in (
                ("commands_done", "all there"),
                ("commands_undone", "not there"),
                ("commands_torn", "torn"),
            )
            if flying[key]
        ]
        yield f"  {counted(flying['commands'], 'write')} under way: {', '.join(ends)}"
    if array := cut["array"]:
        yield from (f"  {line}" for line in _array_lines(array))


def _lost(cut: Mapping[str, Any]) -> str:
    """How much is lost, of how much, from where and since when."""
    lost, dirty = cut["lost"], cut["dirty"]
    in_all = sum(dirty[f"{place}_bytes"] for place in ("host_memory", "controller_memory", "drive_cache"))
    if not lost["commands"]:
        of = f", of {bytes_text(in_all)} not on media" if in_all else ""
        older = "; data from before the run are" if (cut["array"] or {}).get("wrong_now_sectors") else ""
        return f"no answered write is lost{of}{older}"
    places = [
        f"{bytes_text(512 * sectors)} in {words}"
        for key, words in _FROM.items()
        if (sectors := cut["lost_from"][key])
    ]
    since_ns = float(f"{cut['lost_since_ns']:.3g}")
    return (
        f"lost: {counted(lost['commands'], 'answered write')}, {bytes_text(lost['bytes'])} ({', '.join(places)}), "
        f"the oldest answered {duration_text(since_ns)} before"
    )


def _array_lines(array: Mapping[str, Any]) -> Iterator[str]:
    """How well parity or copies fit, before and after recovery, and what a read without a member would find."""
    what = array["what"]
    # Records of older versions lack it.
    if not array.get("is_started", True):
        yield (
            "dirty and degraded, so that Linux does not start it: set target.array.start_dirty_degraded to start it "
            "as it is"
        )
    if array["rows"]:
        yield from _fit_lines(array)
    else:
        yield f"no {what} left that could be compared"
    if now := array["wrong_now_sectors"]:
        why = ": the data and parity beside them do not fit" if what == "parity" else ""
        yield (
            f"{counted(now, 'sector')} of missing members {'reads' if now == 1 else 'read'} wrong now, whether the run "
            f"wrote them or not{why}"
        )


def _fit_lines(array: Mapping[str, Any]) -> Iterator[str]:
    """How many rows or pieces do not fit, and what that costs when a member fails."""
    what, unfit, after = array["what"], array["rows_unfit"], array["rows_unfit_after_recovery"]
    verb = "does" if what == "parity" else "do"
    of = counted(array["rows"], "row" if what == "parity" else "piece")
    recovery = _RECOVERIES.get(array["write_hole"])
    then = f"; after {recovery} {after:,}" if recovery else ""
    yield f"{what} {verb} not fit in {unfit:,} of {of}{then}"
    if what == "parity":
        in_cut = array["wrong_with_member_lost_in_cut_sectors"]
        later = array["wrong_with_member_lost_later_sectors"]
        yield (
            f"made of the other members, of all {array['members']} in turn: {counted(in_cut, 'sector')} wrong if one "
            f"fails with the power, {later:,} if one fails later"
        )
