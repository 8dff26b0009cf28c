"""How likely an array is to lose data: exact, from the sets of failed drives that its level tolerates.

Each drive fails within a year with the same probability, independently, and nobody replaces it: these are the
assumptions of the study "Storage, Raid, and intel's ICHxR" (2008). Of all sets of j failed drives some are tolerated
and some lose data; with their count for each j the probability is a sum without differences, so it is as exact for
1e-15 as for a half. With repair the engine of durability answers (risk.py).

Three arrangements cover all levels: `Groups`, `Sets` and `Arcs`. Counts are polynomials, a list whose entry j is the
number of sets of j drives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import TypeAlias, TypeVar

HOURS_PER_YEAR = 8760.0

Counts: TypeAlias = list[int]
Chance = TypeVar("Chance", float, Fraction)


@dataclass(frozen=True)
class Groups:
    """Groups of drives, each of which tolerates some failures: RAID 0, 1, 3, 4, 5, 6, 10, 30, 50, 60, RAID-Z."""

    size: int
    bears: int
    count: int = 1

    @property
    def drives(self) -> int:
        """All drives of the array."""
        return self.size * self.count

    def borne(self) -> Counts:
        """How many sets of each number of drives may fail without data loss."""
        group = [math.comb(self.size, failed) for failed in range(self.bears + 1)]
        return _power(group, self.count)


@dataclass(frozen=True)
class Sets:
    """Copies of a stripe set, each of which is lost with its first drive: RAID 01."""

    size: int
    count: int

    @property
    def drives(self) -> int:
        """All drives of the array."""
        return self.size * self.count

    def borne(self) -> Counts:
        """Every set that leaves one copy intact: all except those with a failure in each copy."""
        broken = _less(_all(self.size), [1])
        return _less(_all(self.drives), _power(broken, self.count))


@dataclass(frozen=True)
class Arcs:
    """Blocks of drives in a circle; data are lost when `length` neighbouring blocks fail completely.

    RAID 10 where the copies do not form groups: with `far` and `offset` each stripe unit is on a drive and its
    successors (blocks of one drive); with `near` copies begin at each multiple of gcd(drives, copies).
    """

    blocks: int
    per_block: int
    length: int

    @property
    def drives(self) -> int:
        """All drives of the array."""
        return self.blocks * self.per_block

    def borne(self) -> Counts:
        """Count round the circle from the first block that has not failed completely.

        It is preceded by `ahead` failed blocks; together with the failed ones at the end they form one run.
        """
        failed = [0] * self.per_block + [1]
        stands = _less(_all(self.per_block), failed)
        total: Counts = [0]
        for ahead in range(min(self.length, self.blocks)):
            # runs[b]: the counts of cases in which the blocks so far end with b failed ones.
            runs = [[0] for _ in range(self.length)]
            runs[0] = _times(_power(failed, ahead), stands)
            for _ in range(self.blocks - ahead - 1):
                runs = [_times(_sum(runs), stands), *(_times(run, failed) for run in runs[:-1])]
            total = _plus(total, _sum(runs[: self.length - ahead]))
        return _trimmed(total)


Arrangement: TypeAlias = Groups | Sets | Arcs


@dataclass(frozen=True)
class Failures:
    """The failures that an arrangement tolerates, and how likely it is to lose data."""

    arrangement: Arrangement
    lost: Counts
    """How many sets of each number of drives lose data."""

    @classmethod
    def of(cls, arrangement: Arrangement) -> Failures:
        """Count the sets of failed drives that lose data."""
        return cls(arrangement, _less(_all(arrangement.drives), arrangement.borne()))

    @property
    def bears_worst(self) -> int:
        """How many drives may fail, whichever they are."""
        return next(failed for failed, sets in enumerate(self.lost) if sets) - 1

    @property
    def bears_best(self) -> int:
        """How many drives may fail in the best case."""
        drives = self.arrangement.drives
        return max(failed for failed in range(drives + 1) if self.lost[failed] < math.comb(drives, failed))

    def loss(self, chance: Chance) -> Chance:
        """The probability of data loss, if each drive fails with this probability. Exact for a Fraction."""
        return self._sum(chance, self.lost, self.arrangement.drives)

    def loss_after_one(self, chance: Chance) -> Chance:
        """The same if one drive has already failed, and each of the others fails with this probability.

        All drives are equivalent in any arrangement, so each is in j of n of the sets of j drives.
        """
        drives = self.arrangement.drives
        others = [failed * sets // drives for failed, sets in enumerate(self.lost)][1:]
        return self._sum(chance, others, drives - 1)

    @staticmethod
    def _sum(chance: Chance, sets: Counts, drives: int) -> Chance:
        terms = [
            count * chance**failed * (1 - chance) ** (drives - failed)
            for failed, count in enumerate(sets)
            if count
        ]
        return sum(terms, 0 * chance)


def rate_of_chance(chance: float) -> float:
    """Failures per year of a drive that fails within a year with this probability: exponential lifetimes."""
    return -math.log1p(-chance)


def chance_of_rate(per_year: float, years: float = 1.0) -> float:
    """The probability that a drive with this failure rate per year fails within some years."""
    return -math.expm1(-per_year * years)


def rate_of_mttf(hours: float) -> float:
    """Failures per year of a drive with this mean time to failure."""
    return HOURS_PER_YEAR / hours


def mttf_of_rate(per_year: float) -> float:
    """The mean time to failure in hours; infinite if nothing fails."""
    return HOURS_PER_YEAR / per_year if per_year else math.inf


def _all(drives: int) -> Counts:
    """All sets of this many drives: (1 + x)^n."""
    return [math.comb(drives, failed) for failed in range(drives + 1)]


def _plus(left: Counts, right: Counts) -> Counts:
    return [a + b for a, b in zip_longest(left, right, fillvalue=0)]


def _less(left: Counts, right: Counts) -> Counts:
    return [a - b for a, b in zip_longest(left, right, fillvalue=0)]


def _times(left: Counts, right: Counts) -> Counts:
    product = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    return product


def _power(base: Counts, exponent: int) -> Counts:
    return _fold(_times, [base] * exponent, [1])


def _sum(parts: Sequence[Counts]) -> Counts:
    return _fold(_plus, parts, [0])


def _fold(step: Callable[[Counts, Counts], Counts], parts: Sequence[Counts], first: Counts) -> Counts:
    total = first
    for part in parts:
        total = step(total, part)
    return total


def _trimmed(counts: Counts) -> Counts:
    """Without trailing zeros."""
    while len(counts) > 1 and not counts[-1]:
        counts = counts[:-1]
    return counts
