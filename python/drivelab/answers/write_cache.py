"""Whether a database's drive should have its write cache on: commits a second, and what a power cut loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from drivelab.answering.lab import Lab, Ran, notes_of
from drivelab.answering.option import Bs, Drive, Level, Members, Option
from drivelab.answering.result import Answer, Column, Panel, Picture, Row
from drivelab.answering.words import (
    figure,
    inside,
    listed,
    medium_of,
    number,
    of_parity,
    rate_of,
    refuse_shingled_writes,
    size_named,
    target_named,
)
from drivelab.errors import InputError, ref
from drivelab.report.plural import counted
from drivelab.scenarios.catalogue_choice import Medium

TITLE = "write cache on or off for a database: commits a second, and what a power cut loses"
QUESTION = (
    "My database waits for each commit. Should the drive's write cache be on, with FLUSH, or off, or does FUA help, "
    "and what is lost when the power fails?"
)
KINDS = {"write": "behind each other, as to a log", "randwrite": "anywhere on it, as to tables"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked."""

    drive: Drive
    level: Level = None
    members: Members = None
    rw: Annotated[str, Option("write: a log; randwrite: pages of tables", "KIND", "loads")] = "write"
    bs: Bs = "8KiB"
    fsync: Annotated[str, Option("Writes of a commit; a FLUSH, or fsync, follows them", "N")] = "1"


@dataclass(frozen=True)
class _Way:
    """A way to make commits: whether the write cache is on, and what makes data durable."""

    name: str
    has_cache: bool
    flushes: bool = False
    is_fua: bool = False


_WAYS = (
    _Way("cache on, FLUSH", True, flushes=True),
    _Way("cache on, FUA", True, is_fua=True),
    _Way("cache off", False),
    _Way("cache on, nothing", True),
)
_FLUSH, _FUA, _OFF, _NOTHING = range(4)
_SAFE = (_FLUSH, _FUA, _OFF)
COMMITS = 2_000
CUTS = 8
ALIKE = 0.03
"""Rates that differ by less count as equal."""


def answer(asked: Options, lab: Lab) -> Answer:
    """The same commits each way, and the power cut at several instants of each."""
    if asked.rw not in KINDS:
        raise InputError(f"{ref('rw', asked.rw)}: commits are written by {' or '.join(KINDS)}")
    each = _writes(asked.fsync)
    if asked.rw == "randwrite" or medium_of(asked.drive) is Medium.HOST_MANAGED:
        refuse_shingled_writes(asked.drive)
    typed = {key: getattr(asked, key) for key in ("drive", "level", "members", "rw", "bs")}
    runs = lab.run([_document(way, each) for way in _WAYS], typed)
    instants = _instants(medium_of(asked.drive), asked.rw)
    cuts = lab.run([_document(way, each, at) for way in _WAYS for at in instants], typed)
    rows = [
        _row(way, each, runs[place], cuts[place * CUTS : (place + 1) * CUTS])
        for place, way in enumerate(_WAYS)
    ]
    _as_off(rows)
    best = max(_SAFE, key=lambda place: rows[place]["commits_per_s"])
    # With the cache on it is the database's FLUSH that counts, unless another way is clearly better.
    if rows[_FLUSH]["commits_per_s"] >= (1 - ALIKE) * rows[best]["commits_per_s"]:
        best = _FLUSH
    name = target_named(asked.drive, asked.level, asked.members)
    return Answer(
        sentence=_sentence(name, rows, best),
        columns=[
            Column("way", "write cache"),
            Column("commits_per_s", "commits/s", "rate"),
            Column("commits_per_s", "range", "range"),
            Column("commit_ms", "ms a commit", ",.3f"),
            Column("lost_commits", "lost commits", ",d"),
            Column("least_lost_commits", "least lost", ",d"),
            Column("undone_writes", "open writes lost", ",d"),
        ],
        rows=rows,
        decisive=best,
        figure="commits_per_s",
        scenario=runs[best].scenario,
        assumptions=[
            f"one session; a commit is {counted(each, 'write')} of {size_named(asked.bs)} {KINDS[asked.rw]}, and the "
            "next begins when it is answered",
            "lost commits: answered as done, and gone; open writes: of a commit that was not answered yet; the most, "
            f"and the least, of power cuts at {CUTS} instants, {instants[0]} to {instants[-1]} after the first write. "
            "The drive keeps its word: a FLUSH that it answers is done",
            *of_parity(asked.level),
            *notes_of(runs),
        ],
        picture=Picture("way", "", [Panel("commits_per_s", "commits a second")], scale="names"),
        title=f"{name}: commits a second",
    )


def _writes(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise InputError(f"{ref('fsync', text)}: writes of a commit, 1 to 1000")
    return int(text)


def _instants(kind: Medium, rw: str) -> list[str]:
    """When the power is cut: random writes need seconds to fill the cache of a disk, whose loss then stays as it is;
    what a log loses changes while the drive begins to destage it, in the first seconds, and is least behind them.
    """
    if kind is Medium.FLASH:
        first_ms, step_ms = 500.0, 53.7
    elif rw == "randwrite":
        first_ms, step_ms = 6_000.0, 53.7
    else:
        # To the first seconds come some of a log that has run for long.
        first_ms, step_ms = 500.0, 1_403.7
    return [f"{first_ms + step_ms * step:.1f}ms" for step in range(CUTS)]


def _document(way: _Way, each: int, cut: str | None = None) -> dict[str, Any]:
    workload: dict[str, Any] = {"iodepth": 1}
    if way.flushes:
        workload["fsync"] = each
    if way.is_fua:
        workload["sync"] = True
    target: dict[str, Any] = {"write_cache": way.has_cache}
    if cut is None:
        run: dict[str, Any] = {"warmup": "1s", "ios": COMMITS * min(each, 10), "duration": "2min"}
    else:
        target["faults"] = {"power_cut": cut}
        run = {}
    return {"target": target, "workload": workload, "run": run}


def _row(way: _Way, each: int, ran: Ran, cuts: Sequence[Ran]) -> Row:
    rate = rate_of(ran.point, per=each, key="commits_per_s")
    found = [ran.point["power_cut"] for ran in cuts]
    lost = [0 if cut is None else cut["lost"]["commands"] for cut in found]
    broken = [0 if cut is None else cut["lost_although_flushed_sectors"] for cut in found]
    # With a FLUSH a commit is answered when that is: writes before it are no commit yet.
    promised = broken if way.flushes else [-(-count // each) for count in lost]
    return {
        "way": way.name,
        **rate,
        "commit_ms": 1e3 / (rate["commits_per_s"] or 1.0),
        "lost_commits": max(promised),
        "least_lost_commits": min(promised),
        "undone_writes": max(lost) if way.flushes else 0,
    }


def _as_off(rows: Sequence[Row]) -> None:
    """Give FUA the range of writes without a cache: none of its writes waits in one, however many that holds."""
    fua, off = rows[_FUA], rows[_OFF]
    for end in ("low", "high"):
        share = off[f"commits_per_s_{end}"]
        fua[f"commits_per_s_{end}"] = (
            None if share is None else fua["commits_per_s"] * share / off["commits_per_s"]
        )


def _sentence(name: str, rows: Sequence[Row], best: int) -> str:
    most = rows[best]["commits_per_s"]
    others = [place for place in _SAFE if place != best]
    alike = [_WAYS[place].name for place in others if _is_alike(rows[place], rows[best])]
    less = [
        f"{_WAYS[place].name} {figure(rows[place], 'commits_per_s', 'a second')}"
        + (", inside that range" if inside(rows[place]["commits_per_s"], rows[best], "commits_per_s") else "")
        for place in others
        if not _is_alike(rows[place], rows[best])
    ]
    told = figure(rows[best], "commits_per_s", "commits a second")
    head = (
        "On, if the database sends its FLUSH"
        if best == _FLUSH
        else ("On, with FUA" if best == _FUA else "Off")
    )
    text = f"{head}: {name} makes {told} that way"
    if alike:
        text += f"; {listed(alike)} {'gives' if len(alike) == 1 else 'give'} the same"
    if less:
        text += f"; {listed(less)}"
    unsafe = rows[_NOTHING]
    lost = max(rows[place]["lost_commits"] for place in _SAFE)
    kept = (
        "none of these loses a commit in a power cut"
        if not lost
        else f"at the worst instant {lost:,} are lost so"
    )
    times = unsafe["commits_per_s"] / most
    many = "as many" if abs(times - 1) <= ALIKE else f"{number(times)} times as many"
    text += f"; {kept}. The cache without FLUSH makes {many}"
    if not unsafe["lost_commits"]:
        return f"{text}."
    least, most = unsafe["least_lost_commits"], counted(unsafe["lost_commits"], "answered commit")
    spread = most if least == unsafe["lost_commits"] else f"{least:,} to {most}"
    return f"{text}, and a power cut loses {spread}, by when it comes."


def _is_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(
        abs(one["commits_per_s"] - other["commits_per_s"])
        <= ALIKE * max(one["commits_per_s"], other["commits_per_s"])
    )
