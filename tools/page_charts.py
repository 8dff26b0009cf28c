"""Writes web/src/charts/grammar.json: what drivelab.charts draws of a sweep over depth, without the figures.

The page in the browser puts the figures of its own runs in. So there is one grammar for both, in
python/drivelab/charts, and a test compares what both draw of the same record. Run `python tools/page_charts.py` after
a change of these charts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from drivelab import charts

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "web/src/charts/grammar.json"

LATENCY = dict.fromkeys(("mean", "min", "max", "p50", "p90", "p95", "p99", "p99_9", "p99_99"), 1000000.0)


def point(depth: int, iops: float, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - what a record has
    """A point as a record has it, every figure known."""
    return {
        "axes": {"workload.iodepth": depth},
        "iops": iops,
        "bytes_per_s": 4096 * iops,
        "depth": {"asked": depth, "achieved": float(depth)},
        "latency_ns": {"n": 1000, **LATENCY},
        **more,
    }


def grammar() -> dict[str, Any]:
    """The two pictures: with a range and without."""
    plain = [point(1, 80.0), point(2, 90.0)]
    # At the first depth there is none: else the rows of the band are those of the line, and have one name.
    ranged = [plain[0], {**plain[1], "iops_low": 70.0, "iops_high": 100.0}]
    return {
        name: _bare(charts.depth(points).to_dict()) for name, points in (("ranged", ranged), ("plain", plain))
    }


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """A specification whose data sets are named for what is in them, and empty."""
    names = {}
    for name, rows in spec.pop("datasets").items():
        if "ms" in rows[0]:
            names[name] = "latencies"
        else:
            names[name] = "range" if _is_area(spec, name) else "rates"
    text = json.dumps(spec)
    for name, known in names.items():
        text = text.replace(name, known)
    bare: dict[str, Any] = json.loads(text)
    return bare


def _is_area(part: Any, name: str) -> bool:  # noqa: ANN401 - any part of a specification
    """Whether a data set is that of the shaded band."""
    if isinstance(part, dict):
        if part.get("data") == {"name": name} and part.get("mark", {}).get("type") == "area":
            return True
        return any(_is_area(one, name) for one in part.values())
    return isinstance(part, list) and any(_is_area(one, name) for one in part)


def text() -> str:
    """The file."""
    return json.dumps(grammar(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}", file=sys.stderr)
