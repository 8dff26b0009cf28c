"""A trace or a chain replayed on a draft, and the errors of the response times of its groups, which a fit minimises.

The loss is the square of the demerit of all fitted requests plus, with a tenth of the weight of their numbers, the
squares of the demerits of the groups (reads and writes, by locality, by the previous command): an error that another
one cancels in the total is not cancelled there. The error of each single request has a weight of a fiftieth.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drivelab import _core
from drivelab.errors import RunError, ScenarioError, TraceError
from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Flags, Numbers, Requests
from drivelab.fit.parameters import laid_over
from drivelab.validating.validation import demerit
from drivelab.validating.validation_groups import kinds

TRACE_BLOCK = 200
"""The number of requests of a block of a trace; blocks are fitted and held out alternately."""

_LEAST = 30
_EACH = 0.02
_NO_DRIVE = 1e9
_PLACES = ("sequential", "near", "far")


@dataclass(frozen=True)
class Group:
    """Requests of one kind, and the relative errors of their mean, positive if too slow."""

    id: str
    n: int
    fitted_error: float | None
    held_out_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """The entry in `drivelab fit --json`."""
        return {
            "id": self.id,
            "n": self.n,
            "fitted_error": self.fitted_error,
            "held_out_error": self.held_out_error,
        }


def held_out(requests: Requests, share: float) -> Flags:
    """Which requests are held out: alternate blocks of a trace, the last reads and the last writes of a chain."""
    held = np.zeros(len(requests), dtype=bool)
    if requests.kind == "trace":
        block = np.arange(len(requests)) // TRACE_BLOCK
        return np.asarray(np.floor((block + 1) * share) > np.floor(block * share), dtype=bool)
    for which in (requests.read, ~requests.read):
        places = np.flatnonzero(which)
        held[places[len(places) - round(share * len(places)) :]] = True
    return held


class Replays:
    """One list of requests for replays on drafts; used in a `with`, at whose end its file is deleted."""

    def __init__(self, requests: Requests, held: Flags) -> None:
        """Requests in `held` are only scored, not fitted."""
        self.requests = requests
        self.held = held
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name, "requests.trace")
        self._path.write_text(requests.text(), encoding="ascii", newline="\n")
        self._groups: dict[str, Flags] | None = None

    def columns(self, draft: Draft) -> dict[str, Any]:
        """The columns of the replay, as of `validate`. Raises TraceError, ScenarioError and RunError."""
        return _core.replay(draft.plan(), str(self._path))

    def simulated(self, draft: Draft) -> Numbers:
        """The simulated response times in milliseconds."""
        return np.array(self.columns(draft)["simulated_ns"], dtype=float) / 1e6

    def groups(self, draft: Draft) -> dict[str, Flags]:
        """The groups: all requests, and the kinds that do not depend on the simulation."""
        if self._groups is None:
            found = kinds(self.columns(draft), None)
            names = ["reads", "writes"]
            for access in ("read", "write"):
                names += [f"{place}_{access}s" for place in _PLACES]
                names += [f"{access}s_after_{before}" for before in ("read", "write")]
            self._groups = {"all": np.ones(len(self.requests), dtype=bool)} | {
                name: found[name] for name in names if found[name].any()
            }
        return self._groups

    def loss(self, draft: Draft) -> float:
        """The loss that is minimised; very large for an invalid drive."""
        try:
            simulated = self.simulated(draft)
        except (ScenarioError, RunError, TraceError):
            return _NO_DRIVE
        return self.loss_of(simulated, draft)

    def loss_of(self, simulated: Numbers, draft: Draft) -> float:
        """The loss for simulated times."""
        fitted, measured = ~self.held, self.requests.time
        groups = {name: which & fitted for name, which in self.groups(draft).items()}
        whole = int(groups["all"].sum())
        total = 0.0
        for name, which in groups.items():
            n = int(which.sum())
            if n >= _LEAST:
                weight = 1.0 if name == "all" else 0.1 * n / whole
                total += weight * _distance(measured[which], simulated[which]) ** 2
        each = float(np.mean(np.abs(measured - simulated)[fitted]))
        return total + _EACH * each**2

    def __enter__(self) -> Replays:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Delete the list."""
        self._folder.cleanup()


def _distance(measured: Numbers, simulated: Numbers) -> float:
    apart = np.sort(measured) - np.sort(simulated)
    return float(np.sqrt(np.mean(apart * apart)))


def losses(replays: Replays, drafts: list[Draft], pool: ThreadPoolExecutor) -> list[float]:
    """The loss of each draft, in parallel on all cores."""
    return list(pool.map(replays.loss, drafts))


def loss_at(replays: Replays, draft: Draft, point: Mapping[str, float]) -> float:
    """The loss with these numbers."""
    return replays.loss(laid_over(draft, point))


def scored(replays: Replays, draft: Draft) -> tuple[list[Group], dict[str, float | None], Numbers]:
    """The error of each group on both parts, the demerit and the mean error of the held-out part, and the times."""
    simulated, measured = replays.simulated(draft), replays.requests.time
    groups = [
        Group(
            name,
            int(which.sum()),
            _error(measured, simulated, which & ~replays.held),
            _error(measured, simulated, which & replays.held),
        )
        for name, which in replays.groups(draft).items()
    ]
    held = replays.held
    scores: dict[str, float | None] = {
        "demerit_ms": demerit(measured[held], simulated[held]) if held.any() else None,
        "mean_error": _error(measured, simulated, held),
    }
    return groups, scores, simulated


def _error(measured: Numbers, simulated: Numbers, which: Flags) -> float | None:
    if not which.any():
        return None
    return float(simulated[which].sum() / measured[which].sum() - 1)
