"""What the 2007 linux-kernel table shows, checked on the predicted cells.

The ranges are those of the published cells, so a ratio is compared as it would have been printed: to two digits, a
share to whole percent. Sizes are in KiB.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from drivelab.experiment.outcome import Outcome

SCSI, SATA = "scsi-10k-74gb", "sata-st3250620as"
SIZES_16_UP = (16, 64, 128, 512, 1024)
SIZES = (4, *SIZES_16_UP)
THREADS = (1, 2, 4)
# A rate that "does not depend on threads": 0.6 printed is 0.55 to 0.65.
FLAT = 0.08
# The printed digits leave each of the published ratios uncertain by 0.02; the rest is for the model.
DROP_TOLERANCE = 0.05
# The statistical error if a run is too short to estimate its own.
STATISTICAL_ERROR = 0.005


def scsi_reads_grow(outcome: Outcome) -> tuple[bool, str]:
    """From 1 to 4 threads random reads gain 1.19 to 1.35, random writes 1.14 to 1.38."""
    rate = _rates(outcome, SCSI)
    reads = [round(rate(size, 4, "rndRd") / rate(size, 1, "rndRd"), 2) for size in SIZES_16_UP]
    writes = [round(rate(size, 4, "rndWr") / rate(size, 1, "rndWr"), 2) for size in SIZES_16_UP]
    holds = _within(reads, 1.19, 1.35) and _within(writes, 1.14, 1.38)
    return holds, f"reads x{_listed(reads)}; writes x{_listed(writes)}"


def scsi_total_grows(outcome: Outcome) -> tuple[bool, str]:
    """Read + write of the random mix rises with each doubling of threads, 17 to 32 % in all."""
    rate = _rates(outcome, SCSI)
    totals = [[_mixed_total(rate, size, threads) for threads in THREADS] for size in SIZES_16_UP]
    gains = [round(four / one - 1, 2) for one, _, four in totals]
    rises = all(one < two < four for one, two, four in totals)
    return rises and _within(
        gains, 0.17, 0.32
    ), f"gains {_percents(gains)}; rises at each step: {_yes(rises)}"


def scsi_reads_favoured(outcome: Outcome) -> tuple[bool, str]:
    """At 4 threads of each kind writes get 15 to 25 % of the random mix."""
    rate = _rates(outcome, SCSI)
    shares = [round(_write_share(rate, size, 4), 2) for size in SIZES]
    return _within(shares, 0.15, 0.25), f"write shares {_percents(shares)}"


def scsi_mixed_write_flat(outcome: Outcome) -> tuple[bool, str]:
    """At 16 and 64 KiB the mixed write rate is that of 1 thread, independent of the threads."""
    rate = _rates(outcome, SCSI)
    ratios = [
        rate(size, threads, "rndRW_write") / rate(size, 1, "rndRW_write")
        for size in (16, 64)
        for threads in (2, 4)
    ]
    return _within(
        ratios, 1 - FLAT, 1 + FLAT
    ), f"x{_listed(ratios)} of 1 thread (16 and 64 KiB, 2 and 4 threads)"


def scsi_mixed_write_drops(outcome: Outcome) -> tuple[bool, str]:
    """From 128 KiB the mixed write rate at 4 threads is 0.69, 0.63, 0.37 of that at 1."""
    rate = _rates(outcome, SCSI)
    ratios = [rate(size, 4, "rndRW_write") / rate(size, 1, "rndRW_write") for size in (128, 512, 1024)]
    published = (0.69, 0.63, 0.37)
    holds = all(
        abs(ratio - print_) <= DROP_TOLERANCE for ratio, print_ in zip(ratios, published, strict=True)
    )
    return holds, f"x{_listed(ratios)} against {_listed(published)}, each within {DROP_TOLERANCE}"


def sata_threads_hardly_matter(outcome: Outcome) -> tuple[bool, str]:
    """From 64 KiB random reads and writes stay within 10 % of one thread."""
    rate = _rates(outcome, SATA)
    ratios = [
        rate(size, threads, column) / rate(size, 1, column)
        for size in SIZES_16_UP[1:]
        for column in ("rndRd", "rndWr")
        for threads in (2, 4)
    ]
    return _within(ratios, 0.9, 1.1), f"x{min(ratios):.2f} to x{max(ratios):.2f} of 1 thread"


def sata_shares_even(outcome: Outcome) -> tuple[bool, str]:
    """From 16 KiB writes get 0.44 to 0.51 of the random mix."""
    rate = _rates(outcome, SATA)
    shares = [round(_write_share(rate, size, threads), 2) for size in SIZES_16_UP for threads in THREADS]
    return _within(shares, 0.44, 0.51), f"write shares {min(shares):.2f} to {max(shares):.2f}"


def queueing_never_worse(outcome: Outcome) -> tuple[bool, str]:
    """Each cell with the drive's queue on is at least that with it off, up to the statistical error.

    Reader and writer of a mixed column are added: a queue that prefers reads shifts the shares between the two on
    purpose, and its author reported the drive's total.
    """
    off = outcome.variants["queue-off"]
    sums: dict[str, list[float]] = {}
    for on in outcome.predictions:
        other = off[on.cell.id]
        key = on.cell.id.removesuffix("_read").removesuffix("_write")
        with_queue, without, error = sums.get(key, [0.0, 0.0, 0.0])
        allowed = math.hypot(*(p.statistical_error or STATISTICAL_ERROR for p in (on, other)))
        sums[key] = [with_queue + on.predicted, without + other.predicted, max(error, allowed)]
    changes = {key: on / without - 1 for key, (on, without, _) in sums.items()}
    worse = [key for key, change in changes.items() if change < -sums[key][2]]
    compared = f"{len(changes)} columns, reader and writer of a mixed one together"
    if not worse:
        return True, f"none of {compared}, is worse"
    worst = min(worse, key=lambda key: changes[key])
    return False, f"{len(worse)} of {compared}, are worse, most {worst}: {changes[worst]:+.0%}"


CLAIMS: Mapping[str, Callable[[Outcome], tuple[bool, str]]] = {
    claim.__name__: claim
    for claim in (
        scsi_reads_grow,
        scsi_total_grows,
        scsi_reads_favoured,
        scsi_mixed_write_flat,
        scsi_mixed_write_drops,
        sata_threads_hardly_matter,
        sata_shares_even,
        queueing_never_worse,
    )
}

_Rate = Callable[[int, int, str], float]


def _rates(outcome: Outcome, drive: str) -> _Rate:
    """One drive's predicted rates by size, threads and column."""
    predictions = outcome.by_id()
    return lambda size, threads, column: predictions[f"{drive}/{size}/{threads}/{column}"].predicted


def _mixed_total(rate: _Rate, size: int, threads: int) -> float:
    return rate(size, threads, "rndRW_read") + rate(size, threads, "rndRW_write")


def _write_share(rate: _Rate, size: int, threads: int) -> float:
    return rate(size, threads, "rndRW_write") / _mixed_total(rate, size, threads)


def _within(values: Iterable[float], least: float, most: float) -> bool:
    return all(least <= value <= most for value in values)


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _percents(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.0%}" for value in values)


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"
