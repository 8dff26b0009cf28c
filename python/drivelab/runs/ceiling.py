"""What the media and the links of a target give at most, and the note that a cache gave what exceeds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TOLERANCE = 1.01
"""A rate is above the ceiling from this multiple of it on: its window may begin or end within a track."""
_NAMES = {
    "host": "the host's page cache",
    "controller": "the controller's cache",
    "drive": "the drive's cache",
}
_SIDES = {"read": ("reads", "answered"), "write": ("writes", "took")}
_ARM_LEAST_NS = 5e5
"""What an arm and a platter need, at the least, for most reads at random places."""


def excess(point: Mapping[str, Any], ceiling: Mapping[str, Any] | None) -> dict[str, tuple[str, float]]:
    """For reads and for writes that exceed a ceiling: `media` or `link`, and that ceiling in bytes per second.

    The drives that read and write at once have one rate for both: then each side is judged by the whole.
    """
    found: dict[str, tuple[str, float]] = {}
    if ceiling is None:
        return found
    rates = {side: point[side]["bytes_per_s"] for side in _SIDES}
    use = sum(rates[side] / ceiling[f"media_{side}"] for side in _SIDES if ceiling[f"media_{side}"])
    for side, rate in rates.items():
        media, link = ceiling[f"media_{side}"], ceiling[f"link_{side}"]
        if link is not None and rate > TOLERANCE * link:
            found[side] = ("link", link)
        elif rate > TOLERANCE * media:
            found[side] = ("media", media)
    if not found and use > TOLERANCE:
        side = max(rates, key=lambda one: rates[one])
        found[side] = ("media", ceiling[f"media_{side}"])
    return found


def notes(
    points: Sequence[Mapping[str, Any]],
    ceilings: Sequence[Mapping[str, Any] | None],
    jobs: Sequence[str],
) -> Iterator[str]:
    """A note for reads and one for writes that exceed what media and links give: the largest, and how many more.

    `jobs` are the workloads of the points as job files of fio.
    """
    for side, (what, did) in _SIDES.items():
        above = [
            (point[side]["bytes_per_s"], kind, most, ceiling or {})
            for point, ceiling in zip(points, ceilings, strict=True)
            if side in (found := excess(point, ceiling))
            for kind, most in [found[side]]
        ]
        if not above:
            continue
        rate, kind, most, ceiling = max(above, key=lambda one: one[0])
        more = f" (so at {len(above)} of {len(points)} points)" if len(points) > 1 else ""
        giver = "links" if kind == "link" else "media"
        yield (
            f"{what} at {rate / 1e6:,.4g} MB/s exceed the {most / 1e6:,.4g} MB/s that the {giver} give at most{more}: "
            f"{_cache(ceiling.get('caches', ()), kind)} {did} part of them"
        )

    near = [
        (point, ceiling)
        for point, ceiling, job in zip(points, ceilings, jobs, strict=True)
        if ceiling is not None and _is_beside_the_arm(point, job) and not excess(point, ceiling)
    ]
    if near:
        point, ceiling = max(near, key=lambda one: one[0]["read"]["iops"])
        more = f" (so at {len(near)} of {len(points)} points)" if len(points) > 1 else ""
        yield (
            f"{point['read']['iops']:,.4g} random reads/s are more than an arm gives{more}: "
            f"{_cache(ceiling['caches'], 'media')} answered most of them"
        )


def _is_beside_the_arm(point: Mapping[str, Any], job: str) -> bool:
    """Whether reads at random places took hardly any time of an arm and a platter."""
    means = point["breakdown_ns"]
    kinds = {line.partition("=")[2] for line in job.splitlines() if line.startswith("rw=")}
    if means is None or kinds != {"randread"} or "percentage_random" in job:
        return False
    mechanical: float = means["seek"] + means["rotation"] + means["transfer"]
    beside: float = means["overhead"] + means["link"]
    return mechanical < _ARM_LEAST_NS and mechanical <= 2 * beside


def _cache(caches: Sequence[str], kind: str) -> str:
    """The caches that can have given it: beyond the links only those before them."""
    able = [one for one in caches if kind == "media" or one != "drive"]
    return " or ".join(_NAMES[one] for one in able) or "a cache"
