"""What an executor runs: a point of a plan, or chunks of histories. A task is small, is pickled as it is, and its
result is exactly representable in JSON; so the result does not depend on where it ran."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Any, Protocol

from drivelab import _core
from drivelab.errors import RunError, raw
from drivelab.executors.replay_problems import tell_problems

_PLANS_KEPT = 8
_VERSIONS = (_core.VERSION, _core.MODEL_VERSION, _core.RECORD_VERSION)


class Task(Protocol):
    """Something that can run in any process, on any machine with the same drivelab."""

    @property
    def key(self) -> str:
        """Equal for equal results: derived from the task and the version."""

    def run(self) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Its result."""


def _key(task: Any) -> str:  # noqa: ANN401 - any dataclass
    return hashlib.sha256(repr((type(task).__name__, _VERSIONS, astuple(task))).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class PointTask:
    """One point of a plan."""

    plan: bytes
    """The plan, pickled."""
    scenario_hash: str
    place: int
    log: int
    check_data: bool

    @property
    def key(self) -> str:
        """Derived from text, overrides, drive files, the bytes of traces, and the index."""
        return _key(self)

    def alone(self) -> _core.Plan:
        """The plan of this point. Raises RunError if a trace differs from the one at planning time."""
        plan = _plan(self.plan)
        if plan.scenario_hash != self.scenario_hash:
            raise RunError(
                "a trace of the scenario has other bytes on the machine of the worker: copy it there, or keep it in a "
                "folder that all machines share"
            )
        return plan.only(self.place)

    def run(self) -> dict[str, Any]:
        """`{"point": ..}`, or `{"error": ..}` if the run failed. Raises KeyboardInterrupt."""
        plan = self.alone()
        found = _core.run([plan], 1, None, self.log, self.check_data)[0][0]
        if found is None:
            raise KeyboardInterrupt
        return outcome_of(found, plan)


def outcome_of(entry: dict[str, Any] | RunError, plan: _core.Plan) -> dict[str, Any]:
    """The outcome of a plan's only point, as the result of its task."""
    if isinstance(entry, RunError):
        return {"error": raw(entry), "kind": type(entry).__name__}
    tell_problems(entry, plan, 0)
    return {"point": entry}


@lru_cache(maxsize=_PLANS_KEPT)
def _plan(pickled: bytes) -> _core.Plan:
    found: _core.Plan = pickle.loads(pickled)  # noqa: S301 - it comes from this program
    return found


@dataclass(frozen=True)
class ChunkTask:
    """Chunks of the histories of an array, from `first` up to `last`."""

    job: str
    first: int
    last: int

    @property
    def key(self) -> str:
        """Derived from the array, the method and the seed, and the range of chunks."""
        return _key(self)

    def run(self) -> list[list[int]]:
        """The sums of each chunk."""
        return _core.durability_chunks(self.job, self.first, self.last)


@dataclass(frozen=True)
class Sent:
    """A task as it is sent to another machine, with the versions that it requires there."""

    task: Task
    versions: tuple[Any, ...] = _VERSIONS

    def run(self) -> Any:  # noqa: ANN401
        """Raises RunError if the worker has another drivelab."""
        if self.versions != _VERSIONS:
            own, other = (f"drivelab {one[0]}, model {one[1]}" for one in (self.versions, _VERSIONS))
            raise RunError(f"a worker has {other}, and this is {own}: install the same on all machines")
        return self.task.run()
