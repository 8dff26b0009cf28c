"""How far the next drive may be from its prediction, by how far the measured ones are: intervals, coverage, width."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy import stats

from firmware_sweeps import ACCESSES, SCSI, SWEEPS

DEPTHS = (2, 4, 8, 16, 32)
# The share of further drives that the range is to hold.
HELD = 0.9


@dataclass(frozen=True)
class Spread:
    """A sample of logarithms of errors, for the next one."""

    mean: float
    sd: float
    drives: int

    @staticmethod
    def of(values: Sequence[float], least: float = 0.0) -> Spread:
        """Create it from the errors; its deviation is at least that of a better known one."""
        mean = sum(values) / len(values)
        sd = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
        return Spread(mean, max(sd, least), len(values))


def interval(spreads: Sequence[Spread]) -> tuple[float, float]:
    """The share of the prediction, least and most, between which the next drive is with a probability of 90 %.

    The parts are independent; their degrees of freedom follow from Welch and Satterthwaite.
    """
    parts = [(one.sd**2 * (1 + 1 / one.drives), one.drives - 1) for one in spreads]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / count for part, count in parts)
    half = float(stats.t.ppf((1 + HELD) / 2, freedom)) * math.sqrt(variance)
    middle = sum(one.mean for one in spreads)
    return math.exp(middle - half), math.exp(middle + half)


Errors = Mapping[str, Mapping[int, float]]


def gain_spreads(rows: Errors, without: str = "") -> dict[int, Spread]:
    """By depth, the spread of the gain's errors; the deeper queue is not known better than the shallow one."""
    found: dict[int, Spread] = {}
    least = 0.0
    for depth in DEPTHS:
        values = [row[depth] for name, row in rows.items() if depth in row and name != without]
        found[depth] = Spread.of(values, least)
        least = found[depth].sd
    return found


def access_spread(without: str = "") -> Spread:
    """The spread of the access time's errors."""
    return Spread.of([one.error() for one in ACCESSES if one.name != without])


Range = list[tuple[int, float, float]]


def ranges(rows: Errors, without: Errors) -> dict[str, Range]:
    """The range of each kind of drive, as class_range.rs names them: depth, least and most.

    An order that is not its class's may be as far off as one without a guard, or as the class's.
    """
    access = access_spread()
    seek = (1, *interval([access]))
    found: dict[str, Range] = {"SEEK": [seek]}
    for prefix, of in (("", rows), ("OTHER_", without)):
        gains = gain_spreads(of)
        found[f"{prefix}GAIN"] = [
            (1, 1.0, 1.0),
            *((depth, *interval([one])) for depth, one in gains.items()),
        ]
        found[f"{prefix}BOTH"] = [
            seek,
            *((depth, *interval([access, one])) for depth, one in gains.items()),
        ]
    for name in ("GAIN", "BOTH"):
        found[f"OTHER_{name}"] = [
            (depth, min(low, own_low), max(high, own_high))
            for (depth, low, high), (_, own_low, own_high) in zip(
                found[f"OTHER_{name}"], found[name], strict=True
            )
        ]
    return found


def coverage(rows: Errors) -> str:
    """How many of the sweeps are inside the range that follows from the other drives, and how wide that is."""
    firsts = {one.name: one.error() for one in ACCESSES}
    inside, outside, widths = 0, [], []
    for sweep in SWEEPS:
        access, gains = access_spread(sweep.name), gain_spreads(rows, sweep.name)
        missed = []
        for depth in (1, *rows[sweep.name]):
            low, high = interval([access] if depth == 1 else [access, gains[depth]])
            ratio = math.exp(firsts[sweep.name] + rows[sweep.name].get(depth, 0.0))
            if not low <= ratio <= high:
                missed.append(depth)
            widths.append(2 * (high - low) / (high + low))
        inside += not missed
        if missed:
            outside.append(f"`{sweep.name}` at {', '.join(map(str, missed))}")
    widths.sort()
    return (
        f"Of {len(SWEEPS)} drives whose access time and gain are both known, {inside} are inside at every depth by the "
        f"range that follows from the others; outside is {' and '.join(outside) or 'none'}. The median width of these "
        "ranges is "
        f"{100 * widths[len(widths) // 2]:.0f} % of their middle."
    )


def constants(rows: Errors) -> str:
    """The errors of the gain by the classes, and by one constant for all drives."""
    gains = {
        sweep.name: {depth: rate / sweep.measured[1] for depth, rate in sweep.measured.items() if depth > 1}
        for sweep in (*SWEEPS, SCSI)
    }
    by_class, by_constant = [], []
    for name, own in gains.items():
        for depth, gain in own.items():
            others = [of[depth] for other, of in gains.items() if other != name and depth in of]
            by_class.append(abs(gain / math.exp(rows[name][depth]) - gain))
            by_constant.append(abs(math.exp(sum(map(math.log, others)) / len(others)) - gain))
    count = len(by_class)
    return (
        f"The mean error of the gain is {sum(by_class) / count:.3f} by the classes, and "
        f"{sum(by_constant) / count:.3f} by the geometric mean of the other drives' gains at that depth."
    )
