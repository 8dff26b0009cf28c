"""The requests of a validation by kind, and how far the model is off in each kind.

A demerit hides errors that cancel: reads too fast beside writes too slow. So each kind of request has its mean error
with a 95 % interval, and a verdict. Requests near each other in a trace are alike (a burst of sequential ones, a seek
over the same distance), so the interval is made by drawing whole blocks of consecutive requests again and again, never
single ones: the block bootstrap. (H. R. Künsch, "The jackknife and the bootstrap for general stationary observations",
Annals of Statistics 17(3), 1989.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Samples: TypeAlias = npt.NDArray[np.float64]
Chosen: TypeAlias = npt.NDArray[np.bool_]
Verdict: TypeAlias = Literal["pass", "fail", "undecided", "too few"]

FAR_PERCENT = 2
"""A request is far that begins farther than this part of the capacity from the end of the one before it."""

JUDGED_FROM = 50
"""A group of fewer requests has no verdict."""

MARGIN_PERCENT = 5.0
"""An error of the mean that a group may have, unless another one is given."""

_BLOCKS = 100
_DRAWS = 2_000
_CONFIDENCE = 0.95
# The same trace and drive have the same verdict.
_SEED = 20_000_101


@dataclass(frozen=True)
class Interval:
    """The error of a simulated mean as a share of the measured one, with the ends of its 95 % interval."""

    error: float
    low: float
    high: float

    def verdict(self, margin: float) -> Verdict:
        """Whether the error is shown to be within the margin, shown to be beyond it, or neither."""
        if self.low > margin or self.high < -margin:
            return "fail"
        return "pass" if -margin <= self.low and self.high <= margin else "undecided"


@dataclass(frozen=True)
class Agreement:
    """How often trace and model agree on whether a request was a hit, request by request."""

    both_hit: int
    both_miss: int
    only_measured_hit: int
    only_simulated_hit: int

    @property
    def share(self) -> float:
        """Requests on which they agree."""
        agreed = self.both_hit + self.both_miss
        return agreed / (agreed + self.only_measured_hit + self.only_simulated_hit)

    def to_dict(self) -> dict[str, Any]:
        """Of `drivelab validate --json`."""
        return {
            "agreed_share": self.share,
            "both_hit": self.both_hit,
            "both_miss": self.both_miss,
            "only_measured_hit": self.only_measured_hit,
            "only_simulated_hit": self.only_simulated_hit,
        }


def intervals(measured: Samples, simulated: Samples, groups: Mapping[str, Chosen]) -> dict[str, Interval]:
    """The error of each group's mean, as far as something was measured in it.

    The trace is cut into blocks of consecutive requests. As many are drawn, with repetition, as there are, and the
    ratio of the sums is taken in each group: all groups by the same draws.
    """
    blocks = min(_BLOCKS, len(measured))
    starts = np.linspace(0, len(measured), blocks, endpoint=False).astype(int)
    draws = np.random.default_rng(_SEED).multinomial(blocks, np.full(blocks, 1 / blocks), size=_DRAWS)
    found = {}
    for name, chosen in groups.items():
        sums = [np.add.reduceat(np.where(chosen, times, 0), starts) for times in (measured, simulated)]
        whole = [float(part.sum()) for part in sums]
        if not whole[0] > 0:
            continue
        drawn = [draws @ part for part in sums]
        # A draw without any request of the group says nothing.
        is_drawn = drawn[0] > 0
        errors = drawn[1][is_drawn] / drawn[0][is_drawn] - 1
        tail = (1 - _CONFIDENCE) / 2
        low, high = (float(np.quantile(errors, share)) for share in (tail, 1 - tail))
        found[name] = Interval(whole[1] / whole[0] - 1, low, high)
    return found


def kinds(columns: Mapping[str, Any], tags: Sequence[str] | None) -> dict[str, Chosen]:
    """The groups, each as the requests that are in it; those that nothing is in as well.

    `tags` are the trace's own words; None where nothing follows from them.
    """
    first, count = (np.array(columns[key], dtype=np.int64) for key in ("first", "count"))
    read = np.array(columns["read"], dtype=bool)
    distance = np.abs(first[1:] - (first + count)[:-1])
    # Nothing goes before the first request: the arm is as near as it can be, and has not written.
    signed = np.concatenate([[1], first[1:] - (first + count)[:-1]])
    far = np.concatenate([[False], 100 * distance > FAR_PERCENT * columns["capacity"]])
    after_read = np.concatenate([[True], read[:-1]])
    hit, miss = measured_hits(tags) if tags is not None else simulated_hits(columns)
    places = {"sequential": signed == 0, "near": (signed != 0) & ~far, "far": far}
    served = {"hits": hit, "misses": miss}
    before = {"after_read": after_read, "after_write": ~after_read}
    found = {"reads": read, "writes": ~read, **places, **served, **before}
    for access, which in (("read", read), ("write", ~read)):
        found |= {f"{name}_{access}s": which & chosen for name, chosen in places.items()}
        found |= {f"{access}_{name}": which & chosen for name, chosen in served.items()}
        found |= {f"{access}s_{name}": which & chosen for name, chosen in before.items()}
    return found


def simulated_hits(columns: Mapping[str, Any]) -> tuple[Chosen, Chosen]:
    """Which requests cost the model neither seek nor rotation nor transfer, and the others."""
    parts = [columns["breakdown_ns"][part] for part in ("seek", "rotation", "transfer")]
    hit = np.sum(np.array(parts, dtype=np.int64), axis=0) == 0
    return hit, ~hit


def measured_hits(tags: Sequence[str]) -> tuple[Chosen, Chosen]:
    """Which requests the trace calls hits, and which misses; some may be neither."""
    words = np.array(tags)
    return words == "Hit", words == "Miss"


def telling(tags: Sequence[str]) -> bool:
    """Whether a trace's words tell hits from misses: most have one word in every line."""
    return {"Hit", "Miss"} <= set(tags)


def agreement(columns: Mapping[str, Any], tags: Sequence[str], chosen: Chosen) -> Agreement | None:
    """How often both agree, of the chosen requests; None where the trace tells of none of these."""
    (was_hit, was_miss), (hit, _) = measured_hits(tags), simulated_hits(columns)
    tagged = chosen & (was_hit | was_miss)
    if not tagged.any():
        return None

    def both(measured: Chosen, simulated: Chosen) -> int:
        return int(np.sum(tagged & measured & simulated))

    return Agreement(both(was_hit, hit), both(was_miss, ~hit), both(was_hit, ~hit), both(was_miss, hit))
