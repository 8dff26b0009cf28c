"""What the 2004 study found with single drives, checked on the predicted cells.

P, S and T are the Promise SATA150 TX4, S150 TX4 and TX4200 with the Raptor, A and C the AHA-29160 and the AcceleRAID
170 with the Cheetah; Q is the number of outstanding requests. The study's 22 KB can be read in two ways: a claim
holds if it holds under both, and the numbers are given for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from drivelab.experiment.outcome import Outcome, Prediction

PATTERNS = ("published", "doubled")
SYSTEMS = ("P", "S", "T", "A", "C")
DEPTHS = (1, 4, 16, 64)
# "Well above".
WELL = 0.10
# "Differs only slightly", and "hardly matters".
SLIGHTLY = 0.03
HARDLY = 0.02
# The statistical error if a run is too short to estimate its own.
STATISTICAL_ERROR = 0.01
# A rate or a time as it would be printed.
PRINTED_MS = 0.0005

Claim = Callable[[Outcome], tuple[bool, str]]
Iops = Callable[[str, int], float]


def _by_pattern(check: Callable[[Iops], tuple[bool, str]]) -> Claim:
    """A claim on I/O per second by system and depth that must hold under both readings of 22 KB."""

    def claim(outcome: Outcome) -> tuple[bool, str]:
        cells = outcome.by_id()
        found = [
            check(lambda system, depth, name=name: cells[f"{name}/{system}/{depth}/iops"].predicted)  # type: ignore[misc]
            for name in PATTERNS
        ]
        numbers = "; ".join(f"{name}: {text}" for name, (_, text) in zip(PATTERNS, found, strict=True))
        return all(holds for holds, _ in found), numbers

    return claim


def _q1_queueing_last(iops: Iops) -> tuple[bool, str]:
    return iops("T", 1) < min(iops("S", 1), iops("P", 1)), _listed(iops, 1)


def _q4_order(iops: Iops) -> tuple[bool, str]:
    gaps = [iops("T", depth) / iops("S", depth) - 1 for depth in (1, 4)]
    lowest = all(iops("T", 4) < iops(other, 4) for other in SYSTEMS if other != "T")
    holds = iops("A", 4) > iops("C", 4) and lowest and abs(gaps[1]) < abs(gaps[0])
    return holds, f"{_listed(iops, 4)}; T over S {gaps[0]:+.1%} at 1, {gaps[1]:+.1%} at 4"


def _q16_order(iops: Iops) -> tuple[bool, str]:
    return iops("A", 16) > iops("C", 16) > iops("T", 16), _listed(iops, 16)


def _q64_order(iops: Iops) -> tuple[bool, str]:
    middle, last = (iops("C", 64), iops("T", 64)), (iops("S", 64), iops("P", 64))
    holds = iops("A", 64) >= (1 + WELL) * max(middle) and min(middle) > max(last)
    return holds, _listed(iops, 64)


def promise_family_same(outcome: Outcome) -> tuple[bool, str]:
    """S against P, and the TX4200 without its queue against S, at every depth and under both readings."""
    cells, off = outcome.by_id(), outcome.variants["queue-off"]
    places = [(pattern, depth) for pattern in PATTERNS for depth in DEPTHS]
    pairs = {
        "P over S": [(cells[_id(p, "P", q)], cells[_id(p, "S", q)]) for p, q in places],
        "T without queueing over S": [(off[_id(p, "T", q)], cells[_id(p, "S", q)]) for p, q in places],
    }
    changes = {name: [_change(*pair) for pair in found] for name, found in pairs.items()}
    holds = all(
        abs(change) <= _noise(*pair)
        for name, found in pairs.items()
        for pair, change in zip(found, changes[name], strict=True)
    )
    return holds, "; ".join(
        f"{name} {min(found):+.2%} to {max(found):+.2%}" for name, found in changes.items()
    )


def positioning_dominates(outcome: Outcome) -> tuple[bool, str]:
    """Positioning against transfer at Q 1, the gain with one-sector requests, and that with a faster slot."""
    cells, bare = outcome.by_id(), outcome.variants["one-sector"]
    holds, numbers = True, []
    for pattern in PATTERNS:
        for system in ("S", "A"):
            part = {
                name: cells[_id(pattern, system, 1, name)].predicted
                for name in ("seek", "rotation", "transfer", "link", "response")
            }
            positioning, moving = part["seek"] + part["rotation"], part["transfer"] + part["link"]
            gain = _change(bare[_id(pattern, system, 1)], cells[_id(pattern, system, 1)])
            # Without the transfer time of the data, I/O per second grow by its share and no more.
            allowed = part["response"] / (part["response"] - moving) - 1
            holds = holds and positioning > part["transfer"]
            holds = holds and gain <= allowed + 2 * STATISTICAL_ERROR
            numbers.append(
                f"{pattern} {system}: positioning {positioning:.2f} of {part['response']:.2f} ms, "
                f"data {moving:.2f} ms, without them {gain:+.1%}"
            )
    slots = [_change(fast, cells[id_]) for id_, fast in outcome.variants["fast-slot"].items()]
    numbers.append(f"PCI 66/64 {min(slots):+.1%} to {max(slots):+.1%} at 22 and 69.5 KB")
    return holds and max(map(abs, slots)) <= HARDLY, "; ".join(numbers)


def transfer_times(outcome: Outcome) -> tuple[bool, str]:
    """Arithmetic: the printed times are the printed size over the printed rates."""
    facts = outcome.experiment.facts
    times = {name: facts["transfer_kb"] / rate for name, rate in facts["link_rate_mb_s"].items()}
    holds = all(abs(times[name] - printed) < PRINTED_MS for name, printed in facts["transfer_ms"].items())
    return holds, ", ".join(
        f"{times[name]:.4f} ms at {rate} MB/s" for name, rate in facts["link_rate_mb_s"].items()
    )


def system_price(outcome: Outcome) -> tuple[bool, str]:
    """Arithmetic: controller and drive together."""
    prices, printed = outcome.experiment.facts["price_usd"], outcome.experiment.facts["system_usd"]
    sums = {
        "C": prices["AcceleRAID 170"] + prices["Cheetah 10K.6"],
        "S": prices["S150 TX4"] + prices["WD740GD"],
        "T": prices["TX4200"] + prices["WD740GD"],
    }
    return sums == printed, ", ".join(f"{name} {price}" for name, price in sums.items())


def firmware_revisions(outcome: Outcome) -> tuple[bool, str]:
    """The later firmware over the earlier one, at every depth with every controller on which it was run."""
    cells, later = outcome.by_id(), outcome.variants["fla1"]
    changes = [
        _change(prediction, cells[id_])
        for id_, prediction in later.items()
        if prediction.cell.fields["pattern"] in PATTERNS
    ]
    holds = max(map(abs, changes)) <= SLIGHTLY and min(changes) < 0
    return holds, f"{min(changes):+.1%} to {max(changes):+.1%}"


CLAIMS: Mapping[str, Claim] = {
    "single-q1-queueing-last": _by_pattern(_q1_queueing_last),
    "single-q4-order": _by_pattern(_q4_order),
    "single-q16-order": _by_pattern(_q16_order),
    "single-q64-order": _by_pattern(_q64_order),
    "promise-family-same": promise_family_same,
    "positioning-dominates": positioning_dominates,
    "transfer-times": transfer_times,
    "system-price": system_price,
    "firmware-revisions": firmware_revisions,
}


def _id(pattern: str, system: str, depth: int, figure: str = "iops") -> str:
    return f"{pattern}/{system}/{depth}/{figure}"


def _change(one: Prediction, other: Prediction) -> float:
    return one.predicted / other.predicted - 1


def _noise(*predictions: Prediction) -> float:
    """The maximum statistical difference between two equivalent runs."""
    return math.hypot(*(found.statistical_error or STATISTICAL_ERROR for found in predictions))


def _listed(iops: Iops, depth: int, systems: Iterable[str] = SYSTEMS) -> str:
    return ", ".join(f"{system} {iops(system, depth):.0f}" for system in systems)
