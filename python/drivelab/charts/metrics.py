"""What a picture of a sweep shows: a rate with the latency below it, the latency alone, or one statistic of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.charts.errors import ChartInputError
from drivelab.charts.rows import Row, Sweep
from drivelab.report.pictures import LATENCIES, METRICS

STATISTICS = ("mean", "p99", "max")
"""The statistics of the latency that are shown unless one is named."""
RATES = {"iops": "IOPS", "mb_per_s": "MB/s"}
_OF_NAME = {"iops": ("iops", STATISTICS), "mbps": ("mb_per_s", STATISTICS), "latency": (None, STATISTICS)}


@dataclass(frozen=True)
class Metric:
    """The quantities of a picture: the field of a rate, or None, and the statistics of the latency."""

    rate: str | None
    statistics: Sequence[str]

    @property
    def rate_title(self) -> str:
        """The name of the rate on an axis."""
        return RATES[self.rate] if self.rate else ""

    @property
    def title(self) -> str:
        """The quantities in a heading."""
        latency = "latency" if len(self.statistics) > 1 else latency_title(self.statistics[0])
        return f"{self.rate_title} and {latency}" if self.rate else latency[:1].upper() + latency[1:]

    def missing(self) -> ChartInputError:
        """The error where no point has any of it."""
        if self.rate or len(self.statistics) > 1:
            return ChartInputError("no point has a rate or a latency")
        name = self.statistics[0].replace("_", ".")
        remedy = (
            "" if name in {"mean", "max"} else ": too few I/Os finished for it; run longer, or take the mean"
        )
        return ChartInputError(f"no point has a {latency_title(name)}{remedy}")

    def rates(self, plan: Sweep) -> list[Row]:
        """The rows that have the rate."""
        return [row for row in plan.rows if row[self.rate] is not None] if self.rate else []

    def latencies(self, plan: Sweep) -> list[Row]:
        """A row for each point and statistic that is known, in `ms`."""
        return [
            {**row, "statistic": name, "ms": row[name]}
            for row in plan.rows
            for name in self.statistics
            if row[name] is not None and row[name] > 0
        ]


def metric_of(name: str) -> Metric:
    """The metric of a name in `METRICS`. Raises ChartInputError."""
    known = name.strip().lower().replace(".", "_")
    if known in _OF_NAME:
        return Metric(*_OF_NAME[known])
    if known in LATENCIES:
        return Metric(None, (known,))
    raise ChartInputError(f"there is no metric {name!r}: it is one of {', '.join(METRICS)}")


def latency_title(statistic: str) -> str:
    """The name of one statistic of the latency."""
    return f"{statistic.replace('_', '.')} latency"
