"""What of a plan turns within the IOPS ranges of drives that nobody measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.arrays.plan.grid import Candidate

if TYPE_CHECKING:
    from drivelab.arrays.plan.planned import Plan


def remarks(found: Plan) -> list[str]:
    """Whether the pick turns within the ranges of drives that nobody measured."""
    told = []
    pick = found.pick
    if pick and (missed := _missed(found, pick, "iops_low")):
        told.append(
            f"the pick's {' and '.join(missed)} would miss the limit at the slow end of the IOPS range of its drives, "
            "which were not measured: measure one before you buy"
        )
    close = [
        one.name
        for one in found.candidates
        if one.failings
        and all(f.stage == "simulated" and f.limit in ("iops", "latency") for f in one.failings)
        and (pick is None or one.cost["total"] < pick.cost["total"])
        and not _missed(found, one, "iops_high")
        and any("iops_high" in (one.figures(state) or {}) for state in found.asked.limits.states)
    ]
    if close:
        less = "cost less than the pick, and " if pick else ""
        told.append(
            f"{less}would hold at the fast end of the IOPS range of their drives, which were not measured: "
            f"{', '.join(close)}"
        )
    return told


def _missed(found: Plan, one: Candidate, end: str) -> list[str]:
    """The limits of rates and latencies that a candidate misses at one end of its IOPS range.

    With a fixed number of requests outstanding each waits in proportion to the time that one takes.
    """
    limits, missed = found.asked.limits, []
    for state in limits.states:
        figures = one.figures(state)
        if not figures:
            continue
        rate = figures.get(end, figures["iops"])
        if limits.iops is not None and rate < limits.iops:
            missed.append("IOPS")
        for name, most in limits.latencies_ns.items():
            value = figures["latency_ns"].get(name)
            if value is not None and rate and value * figures["iops"] / rate > most:
                missed.append(name.replace("_", "."))
    is_ranged = any(end in (one.figures(state) or {}) for state in limits.states)
    return list(dict.fromkeys(missed)) if is_ranged else []
