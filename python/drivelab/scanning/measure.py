"""The measurements for experiments: a workload by name, and the figures of its points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.runs.result import Point
from drivelab.scanning import access, burst, surface


@dataclass(frozen=True)
class Measure:
    """A workload that is merged under a cell's own scenario, and the evaluation of its points."""

    document: Mapping[str, Any]
    figures: Callable[[Sequence[Point]], Mapping[str, float]]
    log: int = 0
    """Number of commands of each point that the figures need logged."""


MEASURES: Mapping[str, Measure] = {
    "surface-read": Measure(
        surface.document("read"), lambda points: surface.Surface.of(points).figures(), surface.LOGGED
    ),
    "surface-write": Measure(
        surface.document("write"), lambda points: surface.Surface.of(points).figures(), surface.LOGGED
    ),
    "access": Measure(access.document(), access.figures),
    "burst": Measure(burst.document(), burst.figures, burst.REQUESTS),
}
"""Each measurement under its name in an experiment's file."""
