"""The results of a campaign, as text and as a record."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from drivelab.crash.campaign import Campaign
from drivelab.crash.check import ERROR, LOSS, Checked, Checker
from drivelab.crash.session import Kept
from drivelab.report.plural import counted
from drivelab.runs.provenance import line, provenance

_SHOWN_MAX = 4
_SAID_MAX = 3


def session_line(kept: Kept) -> str:
    """A summary of the workload in one line."""
    took = (kept.ended_ns - kept.began_ns) / 1e9
    last = f"; it has committed {kept.commits[-1][1]}" if kept.commits else "; it has committed nothing"
    return f"the workload took {took:.3g} s of the model's time{last}"


def coverage(found: Campaign, kept: Kept) -> dict[str, int]:
    """The coverage of the cuts: where they fall in the session, and what they affect."""
    began = [one for one in found.cuts if one.committed is not None]
    last_ns = kept.commits[-1][0] if kept.commits else 0
    after = sum(one.at_ns >= last_ns for one in began)
    return {
        "before_first_commit": len(found.cuts) - len(began),
        "between_commits": len(began) - after,
        "after_last_commit": after,
        "with_lost_sectors": sum(one.lost_sectors > 0 for one in found.cuts),
        "with_writes_under_way": sum(one.unanswered_writes > 0 for one in found.cuts),
    }


@dataclass(frozen=True)
class CampaignResult:
    """The results of a finished campaign, for output."""

    found: Campaign
    checker: Checker
    again: Sequence[str] | None
    """The command-line arguments that all cuts of the session share; None if the session was not kept."""
    seed: int

    def record(self) -> dict[str, Any]:
        """The record for JSON."""
        found, plan, kept = self.found, self.checker.plan, self.checker.kept
        return {
            "kind": "crashtest",
            **provenance(plan.scenario_hash, plan.seed, found.digest()),
            "seed": self.seed,
            "device_seed": plan.seed,
            "session_digest": kept.digest,
            "cuts": len(found.cuts),
            "cuts_asked": found.asked,
            "coverage": coverage(found, kept),
            "failures": [self._cut(one) for one in found.of(LOSS)],
            "errors": [self._cut(one) for one in found.of(ERROR)],
            "earliest": None if found.earliest is None else self._cut(found.earliest),
            "bisection_errors": [self._cut(one) for one in found.not_judged],
            "interrupted": found.interrupted,
        }

    def lines(self) -> Iterator[str]:
        """The lines for a user: the number of cuts with losses, the earliest of them, and how to repeat it."""
        found, plan = self.found, self.checker.plan
        yield _verdict(found)
        if found.cuts:
            yield _coverage_line(coverage(found, self.checker.kept))
        first = [] if found.earliest is None else [found.earliest]
        shown = {one.at_ns: one for one in (*first, *found.of(ERROR), *found.of(LOSS))}
        for one in list(shown.values())[:_SHOWN_MAX]:
            yield from self._one(one)
        if len(shown) > _SHOWN_MAX:
            yield f"\n{len(shown) - _SHOWN_MAX} more: --json has them all"
        yield "\n" + line(provenance(plan.scenario_hash, self.seed, found.digest()))

    def _cut(self, one: Checked) -> dict[str, Any]:
        place = self.found.cuts.index(one) if one in self.found.cuts else None
        return {"cut": place, **asdict(one), "repeat": self._repeat(one)}

    def _repeat(self, one: Checked) -> str | None:
        """The command that repeats this cut and its check."""
        return None if self.again is None else shlex.join([*self.again, "--at", f"{one.at_ns}ns"])

    def _one(self, one: Checked) -> Iterator[str]:
        what, first = "loss" if one.verdict == LOSS else "not judged", ""
        if one is self.found.earliest:
            first = ", the earliest, found by bisection" if self.found.is_bisected() else ", the earliest"
        committed_text = "nothing was committed" if one.committed is None else f"committed {one.committed}"
        gone = "; ".join(_missing(one))
        under_way = f"{_are(one.unanswered_writes, 'write', 'was', 'were')} under way"
        yield f"\n{what} at {one.at_ns / 1e9:.9f} s{first}: {committed_text}; {gone}; {under_way}"
        if hint := _hint(self.checker, one):
            yield f"  {hint}"
        yield from (f"  {text}" for text in one.why.splitlines()[-_SAID_MAX:])
        yield f"  again: {self._repeat(one) or 'its session is not kept; give --keep DIR'}"


def _verdict(found: Campaign) -> str:
    losses, errors = found.of(LOSS), found.of(ERROR)
    is_cut_short = found.interrupted and len(found.cuts) < found.asked
    made = counted(len(found.cuts), "cut")
    if is_cut_short:
        made = f"interrupted after {len(found.cuts) or 'none'} of {counted(found.asked, 'cut')}"
    parts = [f"{made}: {len(losses) or 'none'} with loss"]
    if errors:
        parts.append(f"{len(errors)} not judged")
    if found.is_bisected():
        parts.append("one more, the earliest, found by bisection")
    if found.not_judged:
        parts.append(f"{counted(len(found.not_judged), 'cut')} of the bisection not judged")
    if found.interrupted and not is_cut_short:
        parts.append("interrupted while the earliest loss was searched")
    return ", ".join(parts)


def _coverage_line(of: dict[str, int]) -> str:
    places = {
        "between_commits": "between commits",
        "after_last_commit": "after the last commit",
        "before_first_commit": "while nothing was committed",
    }
    where = [f"{of[key]} {text}" for key, text in places.items() if of[key]]
    return (
        f"of these {', '.join(where)}; {of['with_lost_sectors'] or 'none'} took answered sectors, "
        f"{of['with_writes_under_way'] or 'none'} met writes under way"
    )


def _are(count: int, what: str, one: str, more: str) -> str:
    return f"{counted(count, what) if count else f'no {what}s'} {one if count == 1 else more}"


def _missing(one: Checked) -> Iterator[str]:
    """What of the answered data is not there: what the cut has taken, and what no member can give any more."""
    if one.lost_sectors or not one.unreadable_sectors:
        yield f"{_are(one.lost_sectors, 'answered sector', 'is', 'are')} gone"
    if one.unreadable_sectors:
        yield f"{counted(one.unreadable_sectors, 'sector')} cannot be read from the members that are left"


def _hint(checker: Checker, one: Checked) -> str:
    """The likely cause of a loss that the drive has not caused."""
    is_of_device = one.lost_sectors or one.unreadable_sectors or checker.dies is not None
    if one.verdict != LOSS or is_of_device or not one.is_mountable:
        return ""
    if checker.kept.fs is None:
        return "the drive still has all that it had answered: what is missing was not written before it was committed"
    return "the drive still has all that it had answered: what is missing was in the page cache, and not synced (fsync)"
