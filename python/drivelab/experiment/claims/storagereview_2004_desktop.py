"""What the 2004 study found for one user, checked on the predicted cells.

S and T are the Promise S150 TX4 and TX4200 with the Raptor, A and C the AHA-29160 and the AcceleRAID 170 with the
Cheetah.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drivelab.experiment.outcome import Outcome

LOADS = ("office", "high-end", "bootup", "gaming")
STRIPED = ("raid0/1", "raid0/2", "raid0/3", "raid0/4")
ONE, MIRROR = STRIPED[0], "raid1/2"
ARRAYS = (*STRIPED, MIRROR, "raid10/4")
SYSTEMS = ("S", "T", "C")
MANY = "many-users"
# "No significant trend".
TREND = 0.10
# "In three of four".
MOST = 3
# "Far above".
FAR = 2.0

Claim = Callable[[Outcome], tuple[bool, str]]


def _no_queueing_first(outcome: Outcome) -> tuple[bool, str]:
    leads = {
        system: {
            f"{load}/{array}": _iops(outcome, load, "S", array) / _iops(outcome, load, system, array) - 1
            for load in LOADS
            for array in ARRAYS
        }
        for system in ("T", "C")
    }
    numbers = []
    for system, of in leads.items():
        first = sum(lead > 0 for lead in of.values())
        least = min(of, key=lambda case: of[case])
        numbers.append(
            f"S before {system} in {first} of {len(of)}, by {of[least]:+.1%} ({least}) to {max(of.values()):+.1%}"
        )
    return all(lead > 0 for of in leads.values() for lead in of.values()), "; ".join(numbers)


def _members(outcome: Outcome) -> tuple[bool, str]:
    holds, numbers = True, []
    for load in LOADS:
        one, two, three, four = (_iops(outcome, load, "S", array) for array in STRIPED)
        holds = holds and three - two < two - one and four < three
        numbers.append(f"{load} {one:.0f}, {two:.0f}, {three:.0f}, {four:.0f}")
    return holds, f"S: {'; '.join(numbers)}"


def _mirroring(outcome: Outcome) -> tuple[bool, str]:
    changes = {
        (load, system): _iops(outcome, load, system, MIRROR) / _iops(outcome, load, system, ONE) - 1
        for load in LOADS
        for system in SYSTEMS
    }
    flat = [load for load in LOADS if all(abs(changes[load, system]) <= TREND for system in SYSTEMS)]
    return len(flat) >= MOST, f"{min(changes.values()):+.1%} to {max(changes.values()):+.1%}"


def _scsi(outcome: Outcome) -> tuple[bool, str]:
    cached = outcome.variants["write-cache"]
    leads, with_cache = [], []
    for load in LOADS:
        plain = _iops(outcome, load, "A", ONE)
        leads.append(_iops(outcome, load, "C", ONE) / plain - 1)
        with_cache.append(cached[f"{load}/C/{ONE}"].predicted / plain - 1)
    return min(leads) > 0, f"{_span(leads)}; with its memory taking writes {_span(with_cache)}"


def _raptor(outcome: Outcome) -> tuple[bool, str]:
    leads = {
        load: _iops(outcome, load, "T", ONE)
        / max(_iops(outcome, load, "A", ONE), _iops(outcome, load, "C", ONE))
        - 1
        for load in LOADS
    }
    numbers = ", ".join(f"{load} {lead:+.1%}" for load, lead in leads.items())
    return sum(lead > 0 for lead in leads.values()) >= MOST, numbers


def _raid_for_many(outcome: Outcome) -> tuple[bool, str]:
    def gain(load: str, system: str) -> float:
        return _iops(outcome, load, system, STRIPED[3]) / _iops(outcome, load, system, ONE)

    many = {system: gain(MANY, system) for system in SYSTEMS}
    one = {system: max(gain(load, system) for load in LOADS) for system in SYSTEMS}
    holds = all(many[system] >= FAR * one[system] for system in SYSTEMS)
    return holds, ", ".join(
        f"{system} x{many[system]:.2f} and at most x{one[system]:.2f}" for system in SYSTEMS
    )


def _queueing_for_many(outcome: Outcome) -> tuple[bool, str]:
    def gain(load: str) -> float:
        return _iops(outcome, load, "T", ONE) / _iops(outcome, load, "S", ONE) - 1

    one = {load: gain(load) for load in LOADS}
    holds = gain(MANY) > 0 > max(one.values())
    return holds, f"many users {gain(MANY):+.1%}; " + ", ".join(
        f"{load} {of:+.1%}" for load, of in one.items()
    )


def _iops(outcome: Outcome, load: str, system: str, array: str) -> float:
    return outcome.by_id()[f"{load}/{system}/{array}"].predicted


def _span(changes: list[float]) -> str:
    return f"{min(changes):+.1%} to {max(changes):+.1%}"


CLAIMS: Mapping[str, Claim] = {
    "desktop-no-queueing-first": _no_queueing_first,
    "desktop-members": _members,
    "desktop-mirroring": _mirroring,
    "desktop-scsi": _scsi,
    "desktop-raptor": _raptor,
    "raid-for-many-users": _raid_for_many,
    "queueing-for-many-users": _queueing_for_many,
}
