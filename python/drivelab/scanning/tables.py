"""A scan for people: its figures, the fits, and how it was measured."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from drivelab.report.points_table import rate_text
from drivelab.report.table import Cell, Table
from drivelab.scanning import burst, sizes, surface

if TYPE_CHECKING:
    from drivelab.scanning.scan import Scan, SizeScan

MB, MS = 1e6, 1e6


def scan_table(found: Scan) -> Table:
    """Rate and access time: minimum, mean, maximum and spread."""
    rates = [rate / MB for rate in found.surface.rates]
    times = [time / MS for time in found.access.times_ns]
    rows = [
        ["transfer rate, MB/s", *map(rate_text, _spread(rates))],
        ["access time, ms", *(f"{figure:.2f}" for figure in _spread(times))],
    ]
    if found.burst is not None:
        rate = rate_text(found.burst.bytes_per_s / MB) if found.burst.buffered else "-"
        rows.append(["burst rate, MB/s", "", rate, "", ""])
    return Table(
        ["", "min", "mean", "max", "deviation"],
        [[Cell(text) for text in row] for row in rows],
        title=f"{found.run.name}, {found.run.capacity_bytes / 1e9:,.1f} GB, by {found.rw}",
        left=frozenset({0}),
    )


def scan_notes(found: Scan) -> list[str]:
    """What was fitted to the surface, and how each figure was measured."""
    seconds = found.surface.seconds_for(found.run.capacity_bytes)
    notes = [f"The whole surface at these rates takes {_duration(seconds)}."]
    square, radius = found.surface.square_over_share(), found.surface.over_cylinder()
    if square is not None and square.r2 is not None:
        edges = " to ".join(f"{max(square.at(share), 0.0) ** 0.5 / MB:.1f}" for share in (0, 1))
        notes.append(
            f"Rate squared over the share of the data: a line from {edges} MB/s, R2 {square.r2:.4f}"
            + (f"; rate over the cylinder: R2 {radius.r2:.4f}." if radius and radius.r2 is not None else ".")
        )
    if (text := link_note(found)) is not None:
        notes.append(text)
    if found.burst is not None and not found.burst.buffered:
        notes.append("No burst rate: the drive did not have the block in a buffer.")
    notes.append(
        f"Rate: {surface.REQUESTS[found.rw]} sequential {found.rw}s of {surface.BLOCK} at each of "
        f"{len(found.surface.places)} places, after {surface.WARM_UP[found.rw]} at the same place; one outstanding."
    )
    block = found.run.method["access"]["workload"]["bs"]
    notes.append(f"Access: {len(found.access.times_ns)} random {found.rw}s of {block}, one outstanding.")
    if found.burst is not None:
        counted = found.burst.buffered_reads
        of = f"; of these the {counted} that the buffer served" if 0 < counted < found.burst.reads else ""
        notes.append(f"Burst: the same {burst.BLOCK} read {burst.REQUESTS} times{of}.")
    return notes


def link_note(found: Scan) -> str | None:
    """A note that the rates are those of the link, if it is the limit at every place."""
    share = found.link_share
    if share is None or share < surface.LINK_BOUND:
        return None
    return (
        f"At every place the link takes {int(100 * share)} % of the time or more: the rates are those of the link, "
        "not of the platter; --set target.drive.link.rate=.. raises it."
    )


def sizes_table(found: SizeScan) -> Table:
    """A row for each size: measured, modelled and residual, for each direction."""
    columns = ["size"]
    for direction in found.directions:
        columns += [f"{direction.direction} ms", "model ms", "miss"]
    by_size: dict[int, list[Cell]] = {}
    for direction in found.directions:
        misses = zip(direction.sizes_bytes, direction.times_ns, direction.model.misses, strict=True)
        for size, time, miss in misses:
            texts = (ms_text(time), ms_text(time / (1 + miss)), f"{miss:+.1%}")
            by_size.setdefault(size, []).extend(map(Cell, texts))
    rows = [[Cell(sizes.size_text(size)), *cells] for size, cells in sorted(by_size.items())]
    return Table(columns, rows, title=found.run.name)


def sizes_notes(found: SizeScan) -> list[str]:
    """The two figures of each model, and its largest residual."""
    notes = []
    for direction in found.directions:
        model = direction.model
        size, miss = model.worst()
        notes.append(
            f"{direction.direction}: time = {ms_text(model.latency_ns)} ms + size / "
            f"{model.bytes_per_s / MB:.1f} MB/s ({model.bytes_per_s / 2**20:.1f} MiB/s); "
            f"missed most at {sizes.size_text(round(size))}, by {miss:+.1%}"
        )
    method = found.run.method["sizes"]
    largest = found.run.settings.get("workload.max_transfer", sizes.MAX_TRANSFER)
    notes.append(
        f"Each size: {method['run']['ios']} random requests, one outstanding, after {sizes.WARM_UP}; larger ones "
        f"than {largest} as several commands at once. The fit makes the relative misses least."
    )
    return notes


def ms_text(time_ns: float) -> str:
    """A time in ms, with as many digits as are significant."""
    ms = time_ns / MS
    return f"{ms:,.0f}" if ms >= 1000 else f"{ms:.1f}" if ms >= 100 else f"{ms:.2f}"


def _spread(values: list[float]) -> tuple[float, float, float, float]:
    return min(values), statistics.fmean(values), max(values), statistics.pstdev(values)


def _duration(seconds: float) -> str:
    """Hours and minutes, or minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"
