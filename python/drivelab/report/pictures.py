"""Where pictures go and what a sweep's picture shows: names alone, so that nothing of altair is loaded for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.errors import InputError, ref

if TYPE_CHECKING:
    import altair

SUFFIXES = (".png", ".svg", ".pdf", ".html", ".json")
"""The kinds of files that a picture can be."""
LATENCIES = ("mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max")
"""The statistics of the latency of a point."""
METRICS = ("iops", "mbps", "latency", *(name.replace("_", ".") for name in LATENCIES))
"""What the picture of a sweep may show."""


def check_metric(name: str, called: str = "metric") -> None:
    """Refuse what is no metric of a picture. Raises InputError."""
    if name.strip().lower().replace("_", ".") not in METRICS:
        raise InputError(f"{ref(called, name)}: it is one of {', '.join(METRICS)}")


def drawn(
    make: Callable[[], altair.TopLevelMixin],
    path: str | Path | None,
    provenance: Callable[[], Mapping[str, Any]],
) -> altair.TopLevelMixin:
    """The chart that `make` returns, written to `path` if there is one; the suffix decides the kind of file.

    Raises ChartError where the suffix is unknown, there is nothing to draw, or the file cannot be written.
    """
    from drivelab import charts  # noqa: PLC0415 - altair takes longer to load than many a run

    if path is not None:
        charts.check_suffix(path)
    chart = make()
    if path is not None:
        charts.save(chart, path, provenance())
    return chart
