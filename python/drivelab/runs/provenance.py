"""From what a result can be repeated and recognised: the same facts and the same line, whatever was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drivelab import _core


def provenance(scenario_hash: str, seed: int, digest: str) -> dict[str, Any]:
    """The program, its model, the scenario, the seed and the digest of all events."""
    return {
        "version": _core.VERSION,
        "model_version": _core.MODEL_VERSION,
        "scenario_hash": scenario_hash,
        "seed": seed,
        "digest": digest,
    }


def line(facts: Mapping[str, Any]) -> str:
    """The same in one line."""
    return (
        f"drivelab {facts['version']}, model {facts['model_version']}, seed {facts['seed']}, "
        f"scenario {facts['scenario_hash']}, digest {facts['digest']}"
    )
