"""What the 2008 study found with a single drive, checked on the predicted cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from drivelab.experiment.outcome import Outcome
from drivelab.scanning import FirstOrder
from drivelab.scanning.sizes import LARGEST, SMALLEST, size_text

REVISIONS = ("00A7B0", "00A7B2", "65A7B0")
SIZES = [SMALLEST << step for step in range((LARGEST // SMALLEST).bit_length())]
LINEAR = 0.99
# "About 900" Mbit/s.
OUTER_LEAST, OUTER_MOST = 850, 950
# Maximum relative change of a rate that counts as unchanged by another link.
UNCHANGED = 0.005
# "At most about 5 %".
HOST_CACHE = 0.055
# The model "holds" if its error is no more than this; "near 1 MiB" is within a factor of four.
HOLDS = 0.05
NEAR_LEAST, NEAR_MOST = 2**18, 2**22


def surface(outcome: Outcome) -> tuple[bool, str]:
    """Both lines on every revision, and the outer rate of the one that has it."""
    cells = _cells(outcome)
    lines = [
        cells(f"{revision}/on/{figure}/64KiB")
        for revision in REVISIONS
        for figure in ("line_over_radius", "line_over_share")
    ]
    outer = [cells(f"{revision}/on/outer/64KiB") for revision in REVISIONS]
    holds = min(lines) >= LINEAR and any(OUTER_LEAST <= rate <= OUTER_MOST for rate in outer)
    rates = ", ".join(f"{name} {rate:.0f}" for name, rate in zip(REVISIONS, outer, strict=True))
    return holds, f"R2 {min(lines):.4f} to {max(lines):.4f}; outer edge in Mbit/s: {rates}"


def revisions(outcome: Outcome) -> tuple[bool, str]:
    """Latency and rate of the three revisions, compared with each other."""
    cells = _cells(outcome)
    latencies = {name: cells(f"{name}/on/random_read/4KiB") for name in REVISIONS}
    rates = {name: cells(f"{name}/on/read/64KiB") for name in REVISIONS}
    holds = (
        min(latencies, key=lambda name: latencies[name]) == "00A7B0"
        and min(rates, key=lambda name: rates[name]) == "00A7B0"
        and max(rates, key=lambda name: rates[name]) == "65A7B0"
    )
    return holds, "; ".join(f"{name} {latencies[name]:.2f} ms, {rates[name]:.1f} MiB/s" for name in REVISIONS)


def interface_never_limits(outcome: Outcome) -> tuple[bool, str]:
    """The outer rate is below the link's, and doubling the link rate changes no rate."""
    links = outcome.experiment.facts["link_mb_s"]
    cells, fast = _cells(outcome), outcome.variants["link-600"]
    shares = {name: cells(f"{name}/on/outer/64KiB") / (8 * link) for name, link in links.items()}
    changes = [
        fast[prediction.cell.id].predicted / prediction.predicted - 1
        for prediction in outcome.predictions
        if prediction.cell.id in fast
    ]
    holds = max(shares.values()) < 1 and max(map(abs, changes)) <= UNCHANGED
    most = max(shares, key=lambda name: shares[name])
    return holds, (
        f"outer rate at most {shares[most]:.0%} of the link ({most}, of {len(shares)} drives); "
        f"600 MB/s changes rates by {min(changes):+.2%} to {max(changes):+.2%}"
    )


def single_model(outcome: Outcome) -> tuple[bool, str]:
    """The fitted model holds in all four cases except near 1 MiB; there its errors are largest, larger for writes."""
    near: dict[str, float] = {}
    far: dict[str, float] = {}
    numbers = []
    for cache in ("off", "on"):
        for kind in ("reads", "writes"):
            misses = _misses(outcome, cache, f"random_{kind.removesuffix('s')}")
            largest = _largest(misses, near=True), _largest(misses, near=False)
            near[kind] = max(near.get(kind, 0.0), largest[0][1])
            far[kind] = max(far.get(kind, 0.0), largest[1][1])
            numbers.append(
                f"cache {cache}, {kind}: {_miss_text(largest[0])} near 1 MiB, {_miss_text(largest[1])} elsewhere"
            )
    holds = max(far.values()) <= HOLDS and near["writes"] > max(HOLDS, near["reads"])
    return holds, "; ".join(numbers)


def host_write_cache(outcome: Outcome) -> tuple[bool, str]:
    """The mean rate of sequential writes with requests merged and queued over that of one at a time."""
    cells, cached = _cells(outcome), outcome.variants["host-cache"]
    gains = {id_: prediction.predicted / cells(id_) - 1 for id_, prediction in cached.items()}
    holds = min(gains.values()) >= -UNCHANGED and max(gains.values()) <= HOST_CACHE
    return holds, ", ".join(f"{id_.split('/')[0]} {gain:+.1%}" for id_, gain in gains.items())


CLAIMS: Mapping[str, Callable[[Outcome], tuple[bool, str]]] = {
    claim.__name__: claim
    for claim in (surface, revisions, interface_never_limits, single_model, host_write_cache)
}


def _cells(outcome: Outcome) -> Callable[[str], float]:
    """The predicted figure under an id."""
    predictions = outcome.by_id()
    return lambda id_: predictions[id_].predicted


def _misses(outcome: Outcome, cache: str, figure: str) -> list[tuple[int, float]]:
    """Each size, and the absolute error of the model that is fitted to all sizes."""
    cells = _cells(outcome)
    times = [cells(f"00A7B0/{cache}/{figure}/{size_text(size)}") for size in SIZES]
    model = FirstOrder.of([float(size) for size in SIZES], times)
    return [(size, abs(miss)) for size, miss in zip(SIZES, model.misses, strict=True)]


def _largest(misses: Sequence[tuple[int, float]], *, near: bool) -> tuple[int, float]:
    """The size with the largest error, near 1 MiB or elsewhere."""
    group = [pair for pair in misses if (NEAR_LEAST <= pair[0] <= NEAR_MOST) is near]
    return max(group, key=lambda pair: pair[1])


def _miss_text(size_miss: tuple[int, float]) -> str:
    return f"{size_miss[1]:.1%} ({size_text(size_miss[0])})"
