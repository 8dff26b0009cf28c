"""The stage of a flash drive: from random reads over the depth to its dies, their time, and what the firmware adds.

At the least depth a read takes the time of a die and of the firmware; what no depth exceeds is either what all dies or
what the firmware gives; how the rate rises between them tells how many dies there are. The kinds of pages keep the
ratios that the start has, and everything of writes stays as it is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from drivelab.errors import InputError, RunError, ScenarioError, ref
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import FITTED, UNDECIDED, Fitted
from drivelab.fit.quantities import time_ms
from drivelab.fit.sweeping import Sweeps

DIES, READ = "flash.dies", "flash.read"
SERIAL, ANSWER = "firmware.read_miss", "firmware.read_completion"
RUN = {"warmup": "20ms", "ios": 12_000, "seed": 1}
"""Of one point: the rate of so many reads is known to half a percent."""
_DIES_MAX = 4_096
_LEAST_US = 0.2
_BAD = 10.0
_STEPS = 60
_NORMAL_90 = 1.645


@dataclass(frozen=True)
class Times:
    """What a sweep tells of a drive with this number of dies, in microseconds."""

    dies: int
    read: float
    serial: float
    answer: float
    loss: float
    """The mean square of the relative errors of the rates."""

    def on(self, draft: Draft, ratios: Sequence[float]) -> Draft:
        """The drive with them."""
        read = [_us(self.read * ratio) for ratio in ratios]
        return draft.having(
            {
                DIES: self.dies,
                READ: read[0] if len(read) == 1 else read,
                SERIAL: _us(self.serial),
                ANSWER: _us(self.answer),
            }
        )


def is_flash(draft: Draft) -> bool:
    """Whether the drive is of flash."""
    return draft.get(DIES) is not None


def fit_dies(
    sweeps: Sweeps, start: Draft, known: Sequence[str], tell: Callable[[str, float], object]
) -> tuple[Draft, list[Fitted]]:
    """The drive that explains the reads of the sweeps best, and what was found of it.

    :raises InputError: if there are no random reads, or of fewer than three depths.
    """
    reads = Sweeps([one for one in sweeps.sweeps if one.rw == "randread"], sweeps.workers)
    if len({int(depth) for one in reads.sweeps for depth in one.depth}) < 3:
        raise InputError(
            "a flash drive is fitted to random reads at three depths at least: measure more of them"
        )
    times = [time_ms(value) * 1e3 for value in _listed(start.get(READ))]
    ratios = [one / float(np.mean(times)) for one in times]
    search = _Search(reads, start, ratios, known, float(np.mean(times)))
    best = search.over_dies(tell)
    if best.loss >= _BAD:
        raise InputError(
            "no number of dies explains the sweep with what is known: the read at the least depth takes less than "
            f"the firmware's {SERIAL} and {ANSWER} and a die together; leave {ref('known')} out, or correct the start"
        )
    draft = best.on(start, ratios)
    return draft, search.fitted(best)


class _Search:
    """The best times for a number of dies, and the best number."""

    def __init__(
        self, sweeps: Sweeps, start: Draft, ratios: Sequence[float], known: Sequence[str], read: float
    ) -> None:
        self.sweeps, self.start, self.ratios, self.known = sweeps, start, ratios, frozenset(known)
        depth, self.iops = (
            np.concatenate([getattr(one, name) for one in sweeps.sweeps]) for name in ("depth", "iops")
        )
        least = int(np.argmin(depth))
        self.alone = 1e6 * float(depth[least]) / float(self.iops[least])
        self.top = float(np.max(self.iops)) / 1e6
        self.read = read
        self.tried: dict[int, Times] = {}

    def over_dies(self, tell: Callable[[str, float], object]) -> Times:
        """The best of all numbers of dies: first on a coarse scale, then beside the best."""
        if DIES in self.known:
            return self.at(int(self.start.get(DIES)))
        most = self.top * self.alone
        coarse = sorted({max(1, min(_DIES_MAX, round(most * share))) for share in np.geomspace(0.4, 3.0, 8)})
        for place, dies in enumerate(coarse):
            tell(f"{dies} dies", 0.8 * place / len(coarse))
            self.at(dies)
        while True:
            best = min(self.tried.values(), key=lambda one: one.loss)
            tries = [self._between(best.dies, way) for way in (-1, 1)]
            beside = [dies for dies in tries if dies is not None]
            if not beside:
                return best
            for dies in beside:
                tell(f"{dies} dies", 0.9)
                self.at(dies)

    def _between(self, dies: int, way: int) -> int | None:
        """The number half way to the next one that was tried; None if there is none between."""
        others = [one for one in self.tried if (one - dies) * way > 0]
        if not others:
            return None
        near = min(others, key=lambda one: abs(one - dies))
        middle = round(math.sqrt(dies * near))
        if middle in (dies, near):
            middle = dies + way
        return None if middle in self.tried or not 1 <= middle <= _DIES_MAX else middle

    def at(self, dies: int) -> Times:
        """The best times with so many dies."""
        if dies not in self.tried:
            share = min(0.95, max(0.3, dies / (self.top * self.alone)))
            begin = np.array([math.log(self.alone * share), math.log(0.7 / self.top)])
            found = optimize.minimize(
                lambda point: self._of(dies, point).loss,
                begin,
                method="Nelder-Mead",
                options={"maxfev": _STEPS, "xatol": 2e-3, "fatol": 1e-7, "initial_simplex": _simplex(begin)},
            )
            self.tried[dies] = self._of(dies, found.x)
        return self.tried[dies]

    def _of(self, dies: int, point: np.ndarray[Any, Any]) -> Times:
        read, serial = (float(value) for value in np.exp(point))
        if READ in self.known:
            read = self.read
        if SERIAL in self.known:
            serial = time_ms(self.start.get(SERIAL)) * 1e3
        answer = self.alone - read - serial
        if ANSWER in self.known:
            answer = time_ms(self.start.get(ANSWER)) * 1e3
        if answer < _LEAST_US or serial < _LEAST_US / 4:
            return Times(dies, read, serial, max(answer, _LEAST_US), _BAD + abs(answer))
        times = Times(dies, read, serial, answer, 0.0)
        try:
            points = self.sweeps.simulated(times.on(self.start, self.ratios), RUN)
        except (ScenarioError, RunError):
            return Times(dies, read, serial, answer, _BAD)
        found = np.array([point["iops"] for entries in points for point in entries])
        return Times(dies, read, serial, answer, float(np.mean(np.log(found / self.iops) ** 2)))

    def fitted(self, best: Times) -> list[Fitted]:
        """What was found. The interval is of the numbers of dies that explain the rates nearly as well."""
        count = len(self.iops)
        # The mean square grows by a share of 1.645^2 / n at the ends of a 90 % interval (of 1 % of error at the least).
        limit = max(best.loss, 1e-4) * (1 + _NORMAL_90**2 / max(count - 3, 1))
        near = [one for one in self.tried.values() if one.loss <= limit] or [best]
        at_edge = DIES not in self.known and best.dies in (min(self.tried), max(self.tried))
        found = []
        for key, name, unit in (
            (DIES, "dies", ""),
            (READ, "read", "us"),
            (SERIAL, "serial", "us"),
            (ANSWER, "answer", "us"),
        ):
            if key in self.known:
                continue
            values = [float(getattr(one, name)) for one in near]
            value = float(getattr(best, name))
            note = "of the mean of its kinds of pages" if key == READ and len(self.ratios) > 1 else ""
            sure = not (at_edge and key == DIES)
            mark = FITTED if sure else UNDECIDED
            if not sure:
                note = "the sweep ends before its dies do: more depths would tell"
            found.append(Fitted(key, value, min(values), max(values), mark, unit, note))
        return found


def _simplex(begin: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.array([begin, begin + np.array([0.1, 0.0]), begin + np.array([0.0, 0.3])])


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else [value]


def _us(value: float) -> str:
    return f"{value:.4g}us"
