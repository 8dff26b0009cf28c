"""Failures and repairs: the mean time to data loss, and the probability of loss within a time, from a Markov chain.

Drives fail at a constant rate, independently; a failed one is as good as new after a time that is exponential too. A
state is the set of failures; states that lose data are absorbing. For one group with single parity this is the
classic closed form, MTTDL = ((2n-1) lambda + mu) / (n (n-1) lambda^2). *Parallel* repair gives each failed drive of a
group its own repair, *serial* repair takes one after the other; groups never wait for each other.

Both results are computed without differences of nearly equal numbers, so that a loss of 1e-15 has all its digits:
states are eliminated by the method of Grassmann, Taksar and Heyman (1985), and the exponential is a product of
matrices without negative entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from drivelab.levels.formulas import Arcs, Arrangement, Groups, Sets

STATES_MAX = 1_000
"""A larger chain takes too long for a table: wide circles of copies have that many states."""

Matrix: TypeAlias = npt.NDArray[np.float64]

_LOST = "lost"
# The transitions from a state: target, and rate.
Moves: TypeAlias = Iterator[tuple[Hashable, float]]


@dataclass(frozen=True)
class Chain:
    """States that still have all data, the first of them without a failure, and the rates between them."""

    between: Matrix
    """Rates from row to column; nothing on the diagonal."""
    lost: Matrix
    """Rates into the loss of data."""

    @classmethod
    def explored(cls, start: Hashable, moves: Callable[[Hashable], Moves]) -> Chain | None:
        """All states that can be reached; None if there are more than STATES_MAX."""
        found: dict[Hashable, int] = {start: 0}
        order = [start]
        rates: list[tuple[int, Hashable, float]] = []
        for at, state in enumerate(order):
            for to, rate in moves(state):
                rates.append((at, to, rate))
                if to != _LOST and to not in found:
                    found[to] = len(order)
                    order.append(to)
            if len(order) > STATES_MAX:
                return None
        between, lost = np.zeros((len(order), len(order))), np.zeros(len(order))
        for at, to, rate in rates:
            if to == _LOST:
                lost[at] += rate
            elif found[to] != at:
                between[at, found[to]] += rate
        return cls(between, lost)

    def mean_time(self) -> float:
        """The mean time from no failure to loss; infinite if nothing is ever lost."""
        between, lost = self.between.copy(), self.lost.copy()
        spent = np.ones(len(lost))
        for last in range(len(lost) - 1, 0, -1):
            out = between[last, :last].sum() + lost[last]
            share = between[:last, last] / out
            between[:last, :last] += np.outer(share, between[last, :last])
            np.fill_diagonal(between, 0.0)
            lost[:last] += share * lost[last]
            spent[:last] += share * spent[last]
        return float(spent[0] / lost[0]) if lost[0] else math.inf

    def chance(self, time: float) -> float:
        """The probability of loss within a time, starting without failures."""
        states = len(self.lost)
        rates = np.zeros((states + 1, states + 1))
        rates[:states, :states], rates[:states, states] = self.between, self.lost
        fastest = float(rates.sum(axis=1).max())
        if not fastest or not time:
            return 0.0
        doublings = max(math.ceil(math.log2(fastest * time)), 0)
        step = time / 2**doublings
        # One step of the chain at its fastest rate (uniformization); the exponential is a mixture of its
        # powers.
        stay = fastest - rates.sum(axis=1)
        jump = (rates + np.diag(stay)) / fastest
        product, term = np.zeros_like(jump), np.eye(states + 1) * math.exp(-fastest * step)
        for power in range(1, 40):
            product += term
            term = term @ jump * (fastest * step / power)
        for _ in range(doublings):
            product = product @ product
        return float(product[0, states])


@dataclass(frozen=True)
class Repaired:
    """Loss of data where failed drives are replaced."""

    mttdl_years: float | None
    """None if the chain has too many states."""
    loss_in_a_year: float | None


def repaired(
    arrangement: Arrangement, failures_per_year: float, repairs_per_year: float, *, parallel: bool = True
) -> Repaired:
    """Mean time to data loss, and the probability of loss within a year. Both exact, except for rounding."""
    rates = _Rates(failures_per_year, repairs_per_year, parallel)
    chain = _chain(arrangement, rates)
    if not isinstance(arrangement, Groups):
        return Repaired(chain.mean_time(), chain.chance(1.0)) if chain else Repaired(None, None)
    # Groups are independent, and any of them may lose data first: the probability needs the chain of one
    # group.
    one = _groups(Groups(arrangement.size, arrangement.bears), rates)
    chance = -math.expm1(arrangement.count * math.log1p(-one.chance(1.0))) if one else None
    return Repaired(chain.mean_time() if chain else None, chance)


def _chain(arrangement: Arrangement, rates: _Rates) -> Chain | None:
    match arrangement:
        case Groups():
            return _groups(arrangement, rates)
        case Sets():
            return _sets(arrangement, rates)
        case Arcs():
            return _arcs(arrangement, rates)


@dataclass(frozen=True)
class _Rates:
    """Per year."""

    failures: float
    repairs: float
    parallel: bool

    def repair(self, failed: int) -> float:
        """The rate at which one of `failed` failed drives is repaired."""
        return self.repairs * (failed if self.parallel else 1)


def _groups(groups: Groups, rates: _Rates) -> Chain | None:
    """A state is the number of groups with no failed drive, with one, two, ...: which groups does not matter."""

    def moves(state: Hashable) -> Moves:
        assert isinstance(state, tuple)  # noqa: S101 - for the reader and the type checker
        for failed, count in enumerate(state):
            if not count:
                continue
            often = count * (groups.size - failed) * rates.failures
            yield (_LOST if failed == groups.bears else _moved(state, failed, failed + 1)), often
            if failed:
                yield _moved(state, failed, failed - 1), count * rates.repair(failed)

    return Chain.explored((groups.count,) + (0,) * groups.bears, moves)


def _moved(state: tuple[int, ...], at: int, to: int) -> tuple[int, ...]:
    """The state with one group moved to another count of failures."""
    return tuple(count - (place == at) + (place == to) for place, count in enumerate(state))


def _sets(sets: Sets, rates: _Rates) -> Chain | None:
    """A state is the number of lost copies. A copy is back after one repair, whatever else of it has failed."""

    def moves(state: Hashable) -> Moves:
        assert isinstance(state, int)  # noqa: S101
        often = (sets.count - state) * sets.size * rates.failures
        yield (_LOST if state == sets.count - 1 else state + 1), often
        if state:
            yield state - 1, rates.repair(state)

    return Chain.explored(0, moves)


def _arcs(arcs: Arcs, rates: _Rates) -> Chain | None:
    """A state is the set of failed drives, rotated to its smallest representative.

    With serial repair each of the failed drives is equally likely to be the one under repair.
    """
    drives, block = arcs.drives, arcs.per_block
    everything = (1 << drives) - 1
    arc = (1 << arcs.length * block) - 1

    def turned(failed: int, by: int) -> int:
        return (failed << by | failed >> (drives - by)) & everything if by else failed

    arcs_of_all = [turned(arc, by) for by in range(0, drives, block)]

    def moves(state: Hashable) -> Moves:
        assert isinstance(state, int)  # noqa: S101
        missing = state.bit_count()
        for drive in range(drives):
            changed = state ^ 1 << drive
            if any(changed & whole == whole for whole in arcs_of_all):
                yield _LOST, rates.failures
                continue
            often = rates.repair(missing) / missing if state >> drive & 1 else rates.failures
            yield min(turned(changed, by) for by in range(0, drives, block)), often

    return Chain.explored(0, moves)
