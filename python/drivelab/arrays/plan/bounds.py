"""Candidates that closed forms exclude before any load is simulated.

- *Media.* What hosts ask for by the second has to pass the media at least once, a write once for each copy: members
  times the rate of the outer zone is the most there is.
- *Rotation.* A sector at random is anywhere on the turn T, so a read waits for a uniform part of it or longer, whatever
  the arm does; of c copies the nearest comes after the least of c such parts. So a share (1 - x/T)^c of reads takes
  longer than x. Of that the p-th quantile, the mean T/(c+1), and of d requests outstanding at most d over the mean by
  the second. Of hits in caches of drives 1 % is taken off; with a memory of host or controller there is no bound.
- *Loss.* A repair is no shorter than writing a member's share of the data at the rate of the outer zone; chances of
  loss rise with it.

The simulated figures have spread, so quantiles are taken three standard errors lower, means 10 %, rates 25 % higher.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from drivelab.arrays.plan.grid import Asked, Candidate
from drivelab.arrays.plan.loss import loss_of
from drivelab.arrays.simulation.loads import SHARES
from drivelab.arrays.simulation.planning import Chosen
from drivelab.report import toml_text
from drivelab.report.chances import percent_text
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.scenario import Source, plan

_RATE_MARGIN, _MEAN_MARGIN, _ERRORS = 1.25, 0.9, 3
# A pool may not be full, and hosts move its records to the new member.
_POOL_SHARE = 0.25
_CACHES = ("target.host_cache", "target.controller")
_SIZE = re.compile(r"(\d+(?:\.\d*)?) ?([kKmMgG]?)")
_HITS = 0.01
"""The assumed share of reads that drive caches serve: much more than the share of any drive's cache in its capacity."""


@dataclass(frozen=True)
class Drive:
    """The best performance of a drive."""

    turn_ns: float
    bytes_per_s: float
    """The media rate of the outer zone."""


def measured(chosen: Chosen) -> Drive:
    """Measure it with a stream of 16 MiB at the first address of one drive. Raises ScenarioError."""
    overrides = [
        one for one in chosen.overrides if not one.key.startswith(("target.array.", "target.controller"))
    ]
    document = {
        "target": {},
        "workload": {"rw": "read", "bs": "16MiB", "iodepth": 1, "offset": "0B"},
        "run": {"ios": 8},
    }
    overrides = [one for one in overrides if one.key.startswith("target.")]
    source = Source(toml_text.dumps(document), "plan: the drive alone")
    point: Mapping[str, Any] = run_plan(plan(source, overrides), 1, log=1).points[0]
    platter: Mapping[str, Any] | None = point.get("platter")
    return Drive(
        float(platter["rotation_ns"]) if platter else 0.0, _RATE_MARGIN * float(point["bytes_per_s"])
    )


def rule_out(candidates: Iterable[Candidate], asked: Asked) -> None:
    """Record the bounds that each remaining candidate violates."""
    drives: dict[str, Drive] = {}
    for one in candidates:
        if one.failings:
            continue
        if one.drive not in drives:
            drives[one.drive] = measured(one.chosen)
        drive = drives[one.drive]
        _media(one, drive, asked)
        if _is_bare(one, asked) and drive.turn_ns:
            _rotation(one, drive, asked)
        if not one.failings and asked.limits.loss_percent is not None:
            _loss(one, drive, asked)


def _is_bare(one: Candidate, asked: Asked) -> bool:
    """Whether only the drives serve requests, and all addresses are equally likely."""
    settings = (override.key for override in asked.overrides)
    cached = any(key.startswith(_CACHES) for key in settings)
    return bool(asked.loads.is_random) and not cached and one.controller is None


def _copies(one: Candidate) -> int:
    """The number of copies, of which a read uses one."""
    level = one.level
    return {"raid1": level.members, "raid10": level.copies, "raid01": level.copies}.get(level.name, 1)


def _reads(asked: Asked) -> float:
    """The share of reads."""
    return {"randread": 1.0, "randwrite": 0.0}.get(asked.loads.rw, asked.loads.rwmixread / 100)


def _media(one: Candidate, drive: Drive, asked: Asked) -> None:
    loads = asked.loads
    if loads.rate is None or not loads.is_random:
        return
    reads = _reads(asked)
    asked_for = loads.rate * block_bytes(loads.bs) * (reads + (1 - reads) * _copies(one))
    most = one.level.members * drive.bytes_per_s
    if asked_for > most:
        one.fails("load", f"{asked_for / 1e6:,.0f} MB/s of media that do {most / 1e6:,.0f} MB/s", "bound")


def block_bytes(text: str) -> float:
    """The bytes of a size as typed, as a lower bound: k is 1000 here."""
    match = _SIZE.match(text.strip())
    return float(match[1]) * 1000 ** " kmg".index(match[2].lower() or " ") if match else 0.0


def _rotation(one: Candidate, drive: Drive, asked: Asked) -> None:
    limits, loads = asked.limits, asked.loads
    copies, reads = _copies(one), _reads(asked) * (1 - _HITS)
    for name, most in limits.latencies_ns.items():
        least = waiting(drive.turn_ns, copies, reads, SHARES[name], loads.requests)
        if least > most:
            text = f"{name.replace('_', '.')} is at least {least / 1e6:.3g} ms by the turn of the platter"
            one.fails("latency", text, "bound")
    if limits.iops is not None and loads.rate_iops is None and reads:
        depth = int(loads.workload()["iodepth"])
        mean = waiting(drive.turn_ns, copies, reads, None, loads.requests)
        if depth / mean * 1e9 < limits.iops:
            text = f"at most {depth / mean * 1e9:,.0f} IOPS by the turn of the platter"
            one.fails("iops", text, "bound")


def waiting(turn_ns: float, copies: int, reads: float, share: float | None, requests: int) -> float:
    """The lower bound of a quantile of response times, or of their mean if `share` is None, in ns."""
    if share is None:
        return _MEAN_MARGIN * reads * turn_ns / (copies + 1)
    beyond = 1 - share + _ERRORS * math.sqrt(share * (1 - share) / requests)
    return turn_ns * (1 - (beyond / reads) ** (1 / copies)) if reads > beyond else 0.0


def hold_to_loss(one: Candidate, asked: Asked) -> None:
    """Check whether a candidate whose rebuild time is unknown exceeds the limit of losses even with the fastest
    rebuild.
    """
    _loss(one, measured(one.chosen), asked)


def _loss(one: Candidate, drive: Drive, asked: Asked) -> None:
    limit = asked.limits.loss_percent or 0.0
    share = one.entry.capacity_bytes / one.level.members
    share *= _POOL_SHARE if one.level.name.startswith("raidz") else 1
    found = loss_of(one, asked, f"{share / drive.bytes_per_s / 3600:.6g}h")
    least = found["loss_in_a_year_percent"]
    if least["low"] > limit:
        one.loss = found
        one.fails("loss", f"{percent_text(least)} a year however fast it is rebuilt", "bound")
