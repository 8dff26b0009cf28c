"""A record that was run once more: whether the same came of it."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab import _core
from drivelab.runs.result import Result
from drivelab.scenarios.repeating import MEASURED, SIMULATED, Recorded, place_of

# Of the points with another digest so many are named.
_NAMED_MAX = 3


@dataclass(frozen=True)
class Repetition:
    """What came of a repetition, in words; None where there is nothing to compare."""

    is_same: bool | None
    text: str


def verdict(record: Recorded, checked: _core.Plan, result: Result) -> Repetition:
    """Whether the run of a record, made once more, has come to the same."""
    if record.kind != SIMULATED:
        what = "a measurement" if record.kind == MEASURED else "a session, whose clients are not in it"
        return Repetition(None, f"{record.origin} is the record of {what}: there is no digest to compare")
    differ = checked.scenario_hash != record.scenario_hash
    if differ and checked.overrides != [one.key for one in record.overrides]:
        return Repetition(None, f"{record.origin} is varied by options, not repeated: no digest is compared")
    found = {place_of(point["axes"]): point["digest"] for point in result.records}
    both = [place for place in found if place in record.digests]
    others = [place for place in both if found[place] != record.digests[place]]
    if not others and both:
        count = f"{len(both)} {'point' if len(both) == 1 else 'points'}"
        missing = len(record.digests.keys() - found.keys())
        more = f"; {missing} more of the record are missing here" if missing else ""
        return Repetition(
            True, f"same digest as {record.origin}: {result.provenance()['digest']}, {count}{more}"
        )
    if not both:
        return Repetition(
            False, f"{record.origin} has no point in common with this run{_why(record, differ)}"
        )
    shown = "; ".join(
        f"{f'at {place}: ' if place else ''}{record.digests[place]} in the record, {found[place]} now"
        for place in others[:_NAMED_MAX]
    )
    more = f"; and {len(others) - _NAMED_MAX} more" if len(others) > _NAMED_MAX else ""
    of = f" of {len(others)} of {len(both)} points" if len(both) > 1 else ""
    return Repetition(
        False, f"the digest{of} differs from {record.origin}: {shown}{more}{_why(record, differ)}"
    )


def _why(record: Recorded, differ: bool) -> str:
    versions = (record.version, record.model_version)
    if versions != (_core.VERSION, str(_core.MODEL_VERSION)):
        return (
            f". The record is of drivelab {record.version}, model {record.model_version}, and this is drivelab "
            f"{_core.VERSION}, model {_core.MODEL_VERSION}: only results of one model agree"
        )
    if differ:
        return ". The scenario has another meaning now: its hash differs as well"
    return f". Both are of drivelab {_core.VERSION}, model {_core.MODEL_VERSION}: please report it"
