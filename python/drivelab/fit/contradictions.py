"""Measurements that contradict each other beyond their errors: told with both figures, and never averaged.

Of two sweeps of one load the first is followed, of a chain and a trace the trace, of two chains the first. Of a chain
or trace and a sweep the file follows the chain in what one request takes, and the sweep in what its queue gains: the
sweep's rates are then multiplied so that its least depth agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Requests, Sweep
from drivelab.fit.quantities import data_bytes
from drivelab.fit.replaying import Replays, held_out
from drivelab.fit.sweeping import COMMON_ERROR, RATE_ERROR, Sweeps

_BEYOND = 3.0
"""Standard errors of the difference from which two figures contradict each other."""
_LEAST = 0.02
"""A difference of means that is none, as a share."""
_SWEEP_ERROR = float(np.hypot(RATE_ERROR, COMMON_ERROR))


@dataclass(frozen=True)
class Contradiction:
    """Two figures of one thing that differ by more than their errors, and which of them the file follows."""

    what: str
    unit: str
    value: float
    error: float
    """The standard error, as that of the other."""
    source: str
    other_value: float
    other_error: float
    other_source: str
    follows: str
    because: str
    instead: str

    def to_dict(self) -> dict[str, Any]:
        """The entry in `drivelab fit --json`."""
        return asdict(self)

    def note(self) -> str:
        """The line of the report and of the drive file."""
        return (
            f"contradiction: {self.what}: {self.value:.4g} {self.unit} give or take {self.error:.2g} by {self.source}, "
            f"{self.other_value:.4g} {self.unit} give or take {self.other_error:.2g} by {self.other_source}; the file "
            f"follows {self.follows}, because {self.because}; {self.instead}"
        )


def of_sweeps(sweeps: Sequence[Sweep]) -> tuple[list[Sweep], list[Contradiction]]:
    """The sweeps without those that contradict an earlier one of the same load, and what they contradict."""
    kept: list[Sweep] = []
    told = []
    for sweep in sweeps:
        found = next((one for other in kept if (one := _between(other, sweep)) is not None), None)
        if found is None:
            kept.append(sweep)
        else:
            told.append(found)
    return kept, told


def _between(first: Sweep, second: Sweep) -> Contradiction | None:
    """The depth at which two sweeps of one load differ most, if that is beyond their errors."""
    if _load(first) != _load(second):
        return None
    depths, at, of = np.intersect1d(first.depth, second.depth, return_indices=True)
    if not len(depths):
        return None
    apart = np.abs(np.log(first.iops[at] / second.iops[of]))
    most = int(np.argmax(apart))
    if apart[most] <= _BEYOND * np.sqrt(2) * _SWEEP_ERROR:
        return None
    value, other = float(first.iops[at[most]]), float(second.iops[of[most]])
    return Contradiction(
        f"{first.bs} {first.rw} at depth {depths[most]}",
        "IOPS",
        value,
        value * _SWEEP_ERROR,
        f"the sweep {first.name}",
        other,
        other * _SWEEP_ERROR,
        f"the sweep {second.name}",
        f"the sweep {first.name}",
        "it is given first, and two sweeps of one load are not averaged",
        f"leave it out to follow {second.name}",
    )


def _load(sweep: Sweep) -> tuple[object, ...]:
    return data_bytes(sweep.bs), sweep.rw, sweep.offset, sweep.size


def of_time_and_sweep(
    sweeps: Sequence[Sweep], draft: Draft, lists: Sequence[Requests], workers: int
) -> tuple[list[Sweep], list[Contradiction]]:
    """The sweeps, those multiplied whose depth 1 contradicts the drive fitted to chains or traces, and what they
    contradict.
    """
    found, told = [], []
    kind = lists[-1].kind
    source = f"the {kind} {', '.join(one.name for one in lists if one.kind == kind)}"
    error = min(_relative_error(one) for one in lists if one.kind == kind)
    for sweep in sweeps:
        rate, iops = 0.0, float(sweep.iops[0])
        if sweep.depth[0] == 1:
            ((entry, *_),) = Sweeps([sweep], workers).simulated(draft)
            rate = float(entry["iops"])
        if not rate or abs(np.log(rate / iops)) <= _BEYOND * np.hypot(error, _SWEEP_ERROR):
            found.append(sweep)
            continue
        factor = rate / iops
        found.append(replace(sweep, iops=sweep.iops * factor, p99=sweep.p99 / factor))
        told.append(
            Contradiction(
                f"{sweep.bs} {sweep.rw} at depth 1",
                "IOPS",
                rate,
                rate * error,
                source,
                iops,
                iops * _SWEEP_ERROR,
                f"the sweep {sweep.name}",
                f"the {kind} in what one request takes, and the sweep in what its queue gains",
                f"each request of a {kind} is timed by itself, and a sweep that is too slow still tells the gain",
                f"leave the {kind} out to follow the sweep's rate",
            )
        )
    return found, told


def of_means(
    followed: Sequence[Requests], other: Requests, draft: Draft, hold_out: float
) -> Contradiction | None:
    """The mean time of a list on the drive that follows others, if it contradicts the list's own beyond the errors."""
    with Replays(other, held_out(other, hold_out)) as replays:
        fitted = ~replays.held
        measured, simulated = other.time[fitted], replays.simulated(draft)[fitted]
    value, mean = float(simulated.mean()), float(measured.mean())
    error = min(_relative_error(one) for one in followed)
    own = float((measured - simulated).std() / np.sqrt(len(measured))) / mean
    if abs(np.log(value / mean)) <= max(_BEYOND * np.hypot(error, own), _LEAST):
        return None
    first = followed[0]
    because = (
        "it is given first, and two chains are not averaged"
        if first.kind == other.kind
        else "it is fitted last, and shows the cache as well"
    )
    return Contradiction(
        f"the mean time of the requests of {other.name}",
        "ms",
        value,
        value * error,
        f"the {first.kind} {', '.join(one.name for one in followed)}",
        mean,
        mean * own,
        f"the {other.kind} {other.name}",
        f"the {first.kind}",
        because,
        f"leave the {first.kind} {first.name} out to follow {other.name}",
    )


def _relative_error(requests: Requests) -> float:
    """The standard error of the mean time, as a share of it."""
    return float(requests.time.std() / np.sqrt(len(requests)) / requests.time.mean())
