"""What the 2004 study found with arrays, checked on the predicted cells.

S and T are the Promise S150 TX4 and TX4200 with the Raptor, C the AcceleRAID 170 with the Cheetah. A claim holds if
it holds under both readings of the study's 22 KB. Light load is one outstanding, heavy load 64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from drivelab.experiment.outcome import Outcome

PATTERNS = ("published", "doubled")
SYSTEMS = ("S", "T", "C")
STRIPED = ("raid0x1", "raid0x2", "raid0x3", "raid0x4")
DEPTHS = (1, 4, 16, 64)
# "A few per cent", "small margins", "about even".
CLOSE = 0.10
# Around the printed lead of 13 %.
LEAD_LEAST, LEAD_MOST = 0.08, 0.18

Claim = Callable[[Outcome], tuple[bool, str]]
Iops = Callable[[str, str, int], float]


def _by_pattern(check: Callable[[Iops], tuple[bool, str]]) -> Claim:
    """A claim on I/O per second by system, array and depth that must hold under both readings of 22 KB."""

    def claim(outcome: Outcome) -> tuple[bool, str]:
        cells = outcome.by_id()

        def of(name: str) -> Iops:
            return lambda system, array, depth: cells[f"{name}/{system}/{array}/{depth}/iops"].predicted

        found = [check(of(name)) for name in PATTERNS]
        numbers = "; ".join(f"{name}: {text}" for name, (_, text) in zip(PATTERNS, found, strict=True))
        return all(holds for holds, _ in found), numbers

    return claim


def _levels_out(iops: Iops) -> tuple[bool, str]:
    gains = {system: iops(system, "raid0x2", 64) / iops(system, "raid0x2", 16) - 1 for system in SYSTEMS}
    rises = {system: iops(system, "raid0x2", 64) / iops(system, "raid0x2", 1) for system in SYSTEMS}
    last = iops("S", "raid0x2", 64) < min(iops("T", "raid0x2", 64), iops("C", "raid0x2", 64))
    holds = last and gains["S"] < gains["T"] and rises["S"] < min(rises["T"], rises["C"])
    return holds, f"{_listed(iops, 'raid0x2', 64)}; from 16 " + ", ".join(
        f"{system} {gain:+.0%}" for system, gain in gains.items()
    )


def _larger_array(iops: Iops) -> tuple[bool, str]:
    behind = all(
        iops("S", "raid0x4", depth) < min(iops("T", "raid0x4", depth), iops("C", "raid0x4", depth))
        for depth in (16, 64)
    )
    holds = behind and iops("T", "raid0x4", 64) > iops("C", "raid0x4", 64)
    return holds, f"16: {_listed(iops, 'raid0x4', 16)}, 64: {_listed(iops, 'raid0x4', 64)}"


def _two_close(iops: Iops) -> tuple[bool, str]:
    rates = [iops(system, "raid0x2", 1) for system in SYSTEMS]
    gains = {system: iops(system, "raid0x2", 1) / iops(system, "raid0x1", 1) for system in ("S", "C")}
    holds = min(rates) >= (1 - CLOSE) * max(rates) and gains["C"] < gains["S"]
    return (
        holds,
        f"{_listed(iops, 'raid0x2', 1)}; second member x{gains['S']:.2f} with S, x{gains['C']:.2f} with C",
    )


def _light_load(iops: Iops) -> tuple[bool, str]:
    rates = {array: [iops(system, array, 1) for system in SYSTEMS] for array in ("raid0x3", "raid0x4")}
    holds = all(s > t > c >= (1 - CLOSE) * s for s, t, c in rates.values())
    return holds, "; ".join(_listed(iops, array, 1) for array in rates)


def _heavy_load(iops: Iops) -> tuple[bool, str]:
    lead = iops("T", "raid0x4", 64) / iops("C", "raid0x4", 64) - 1
    # C leads with one drive and T with four: so T has the steeper slope.
    holds = iops("C", "raid0x1", 64) > iops("T", "raid0x1", 64) and LEAD_LEAST <= lead <= LEAD_MOST
    return holds, (
        f"one drive {_listed(iops, 'raid0x1', 64)}; four {_listed(iops, 'raid0x4', 64)}, T over C {lead:+.1%}"
    )


def _raid1_drop(iops: Iops) -> tuple[bool, str]:
    changes = {array: iops("T", array, 64) / iops("T", array, 16) - 1 for array in ("raid1x2", "raid10x4")}
    holds = changes["raid1x2"] < 0 <= changes["raid10x4"]
    return holds, ", ".join(f"{array} {change:+.1%}" for array, change in changes.items())


def _raid10_over_raid1(iops: Iops) -> tuple[bool, str]:
    gains = [
        iops(system, "raid10x4", depth) / iops(system, "raid1x2", depth)
        for system in SYSTEMS
        for depth in DEPTHS
    ]
    return min(gains) > 1, f"x{min(gains):.2f} to {max(gains):.2f}"


def _raid10_order(iops: Iops) -> tuple[bool, str]:
    four, sixteen, most = ({s: iops(s, "raid10x4", depth) for s in SYSTEMS} for depth in (4, 16, 64))
    even = min(sixteen.values()) >= (1 - CLOSE) * max(sixteen.values())
    holds = max(four, key=lambda s: four[s]) == "S" and even and most["S"] < most["T"]
    return holds, "; ".join(f"{depth}: {_listed(iops, 'raid10x4', depth)}" for depth in (4, 16, 64))


def _sata_like_scsi(iops: Iops) -> tuple[bool, str]:
    gains = {system: iops(system, "raid0x4", 64) / iops(system, "raid0x1", 1) for system in ("T", "C")}
    return gains["T"] >= gains["C"], ", ".join(f"{system} x{gain:.2f}" for system, gain in gains.items())


def system_price(outcome: Outcome) -> tuple[bool, str]:
    """Sums of the printed prices."""
    prices, printed = outcome.experiment.facts["price_usd"], outcome.experiment.facts["system_usd"]
    parts = {"C": ("AcceleRAID 170", "Cheetah 10K.6"), "T": ("TX4200", "WD740GD")}
    sums = {
        system: [prices[card] + count * prices[drive] for count in (1, 2, 3, 4)]
        for system, (card, drive) in parts.items()
    }
    same = prices["S150 TX4"] == prices["TX4200"]
    return sums == printed and same, "; ".join(
        f"{system} {', '.join(map(str, found))}" for system, found in sums.items()
    )


CLAIMS: Mapping[str, Claim] = {
    "striped-levels-out": _by_pattern(_levels_out),
    "striped-larger-array": _by_pattern(_larger_array),
    "two-members-close": _by_pattern(_two_close),
    "light-load-3-4": _by_pattern(_light_load),
    "heavy-load-1-to-4": _by_pattern(_heavy_load),
    "raid1-drop": _by_pattern(_raid1_drop),
    "raid10-over-raid1": _by_pattern(_raid10_over_raid1),
    "raid10-order": _by_pattern(_raid10_order),
    "sata-like-scsi": _by_pattern(_sata_like_scsi),
    "system-price": system_price,
}


def _listed(iops: Iops, array: str, depth: int) -> str:
    return ", ".join(f"{system} {iops(system, array, depth):.0f}" for system in SYSTEMS)
