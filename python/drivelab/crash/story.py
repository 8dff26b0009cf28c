"""What a campaign came to, as text and as a record."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from drivelab import _core
from drivelab.crash.campaign import Campaign
from drivelab.crash.check import ERROR, LOSS, Checked
from drivelab.crash.session import Kept
from drivelab.provenance import line, provenance

_SHOWN_MAX = 4
_SAID_MAX = 3


def session_line(kept: Kept) -> str:
    """What the workload did, in one line."""
    took = (kept.ended_ns - kept.began_ns) / 1e9
    last = f"; it has committed {kept.commits[-1][1]}" if kept.commits else "; it has committed nothing"
    return f"the workload took {took:.3g} s of the model's time{last}"


def record(found: Campaign, plan: _core.Plan, kept: Kept, again: Sequence[str], seed: int) -> dict[str, Any]:
    """As JSON has it. `again` are the arguments that all cuts of the session share."""

    def told(one: Checked) -> dict[str, Any]:
        place = found.cuts.index(one) if one in found.cuts else None
        return {"cut": place, **asdict(one), "repeat": repeat(again, one)}

    facts = provenance(plan.scenario_hash, plan.seed, found.digest())
    return {
        "kind": "crashtest",
        **facts,
        "seed": seed,
        "device_seed": plan.seed,
        "session_digest": kept.digest,
        "cuts": len(found.cuts),
        "failures": [told(one) for one in found.of(LOSS)],
        "errors": [told(one) for one in found.of(ERROR)],
        "earliest": None if found.earliest is None else told(found.earliest),
        "interrupted": found.interrupted,
    }


def lines(found: Campaign, plan: _core.Plan, again: Sequence[str], seed: int) -> Iterator[str]:
    """For a person: how many cuts lose something, the earliest of them, and how to repeat it."""
    losses, errors = found.of(LOSS), found.of(ERROR)
    not_judged = f", {len(errors)} not judged" if errors else ""
    yield f"{len(found.cuts)} cuts: {len(losses) or 'none'} with loss{not_judged}"
    shown = {one.at_ns: one for one in (found.earliest, *errors, *losses) if one is not None}
    for one in list(shown.values())[:_SHOWN_MAX]:
        yield from _one(one, again, is_earliest=one is found.earliest)
    if len(shown) > _SHOWN_MAX:
        yield f"\n{len(shown) - _SHOWN_MAX} more: --json has them all"
    yield "\n" + line(provenance(plan.scenario_hash, seed, found.digest()))


def repeat(again: Sequence[str], one: Checked) -> str:
    """The command that makes this cut and its check again."""
    return shlex.join([*again, "--at", f"{one.at_ns}ns"])


def _one(one: Checked, again: Sequence[str], *, is_earliest: bool) -> Iterator[str]:
    what = "loss" if one.verdict == LOSS else "not judged"
    said = "nothing was committed" if one.committed is None else f"committed {one.committed}"
    gone = f"{one.lost_sectors or 'no'} answered sectors are gone"
    first = ", the earliest" if is_earliest else ""
    yield f"\n{what} at {one.at_ns / 1e9:.9f} s{first}: {said}; {gone}; {one.unanswered_writes} writes were under way"
    if one.unreadable_sectors:
        yield f"  too few members are left to read {one.unreadable_sectors} sectors"
    yield from (f"  {text}" for text in one.why.splitlines()[-_SAID_MAX:])
    yield f"  again: {repeat(again, one)}"
