"""What is given to a fit, and what its stages have found so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drivelab.fit.contradictions import Contradiction
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import UNDECIDED, Fitted
from drivelab.fit.inputs import Flags, Requests, Surface, Sweep
from drivelab.fit.replaying import held_out

_SAME = 1e-6


@dataclass(frozen=True)
class Measured:
    """The measurements for a fit."""

    traces: tuple[Requests, ...] = ()
    chains: tuple[Requests, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    surface: Surface | None = None
    known: tuple[str, ...] = ()
    hold_out: float = 0.5


@dataclass
class Found:
    """The results of the stages so far."""

    draft: Draft
    fitted: dict[str, Fitted] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sweep: list[dict[str, Any]] = field(default_factory=list)
    surface: list[dict[str, Any]] = field(default_factory=list)
    candidates: list[dict[str, Any]] = field(default_factory=list)
    guard_and_scatter: dict[str, float | None] = field(default_factory=dict)
    contradictions: list[dict[str, Any]] = field(default_factory=list)
    """Of `Contradiction.to_dict`."""
    undecided: list[str] = field(default_factory=list)
    """Rules that stay the start's, because the data do not decide them."""

    def add(self, fitted: Sequence[Fitted]) -> None:
        """Record fitted parameters; what a later stage moved replaces what an earlier one found."""
        for one in fitted:
            whole, _, part = one.key.rpartition(".")
            before = self.fitted.get(whole if part in {"after_read", "after_write"} else one.key)
            if before is not None and one.mark == UNDECIDED and abs(one.value - before.value) < _SAME:
                continue
            if before is not None:
                del self.fitted[before.key]
            self.fitted[one.key] = one

    def tell(self, contradictions: Sequence[Contradiction]) -> None:
        """Record what contradicts each other, with a note of it."""
        self.contradictions += [one.to_dict() for one in contradictions]
        self.notes += [one.note() for one in contradictions]

    def form_is(self, form: str | None, by: str, start: Draft, known: Sequence[str]) -> None:
        """Record the form of the seek curve that the measurement decides; None if it decides none."""
        if self.draft.get("seek.single") is None or {"seek.form", "seek.longer_settle"} & set(known):
            return
        was = start.get("seek.form")
        if form is None:
            self.undecided.append("seek.form")
            self.notes.append(f"seek curve: {by} does not decide its form, which stays the start's, {was}")
            return
        self.rules["seek.form"] = form
        self.notes.append(f"seek curve: {by} decides its form, {form}")

    def to_state(self) -> dict[str, Any]:
        """The state for the file next to the output."""
        return {
            "values": dict(self.draft.values),
            "fitted": [one.to_dict() for one in self.fitted.values()],
            **{name: getattr(self, name) for name in _PLAIN},
        }

    def from_state(self, state: Mapping[str, Any]) -> None:
        """Restore the results from a state."""
        self.draft = Draft(self.draft.name, self.draft.facts, self.draft.sources, state["values"])
        self.fitted = {one["key"]: Fitted(**one) for one in state["fitted"]}
        for name in _PLAIN:
            setattr(self, name, state[name])


_PLAIN = (
    "rules",
    "notes",
    "sweep",
    "surface",
    "candidates",
    "guard_and_scatter",
    "undecided",
    "contradictions",
)


def joined(chains: Sequence[Requests]) -> Requests:
    """All chains as one list; the first request of each is not used, because the position of the arm before it is
    unknown.
    """
    names = ("read", "first", "count", "time", "gap")
    columns = {name: np.concatenate([getattr(one, name) for one in chains]) for name in names}
    return Requests(", ".join(one.name for one in chains), "chain", **columns)


def held_out_of(chains: Sequence[Requests], share: float) -> Flags:
    """The held-out parts of all chains."""
    return np.concatenate([held_out(one, share) for one in chains])
