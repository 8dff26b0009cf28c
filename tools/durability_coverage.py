"""How often the intervals of biased histories contain the chain's figure:
`python tools/durability_coverage.py [SEEDS]`.

raidz3 of eight drives and a common cause that affects few of them, where a few weights dominate: twelve cases of
failures, rebuilds and causes, each run with this many seeds (30) and compared with the chain, which is exact.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

from drivelab.arrays.durability import loss

SEEDS, HISTORIES = 30, 100_000
DRIVES = (("2%", "30h"), ("0.5%", "10h"), ("5%", "100h"))
CAUSES = ("surge:1y:2%", "surge:100y:2%", "surge:1000y:2%", "surge:20y:0.5%")
FIGURES = ("loss_in_a_year_percent", "loss_in_life_percent")


def main() -> int:
    """Print a line for each case and the sum. Return the exit code."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    total = dict.fromkeys(FIGURES, 0)
    cases = list(product(DRIVES, CAUSES))
    for (afr, rebuild), cause in cases:
        given: dict[str, Any] = {"members": 8, "afr": afr, "rebuild": rebuild, "common": cause, "ure": "none"}
        exact = loss("raidz3", method="chain", **given).outcomes[0]
        held = dict.fromkeys(FIGURES, 0)
        for seed in range(1, seeds + 1):
            found = loss("raidz3", method="biasing", seed=seed, histories=HISTORIES, **given).outcomes[0]
            for name in FIGURES:
                held[name] += found[name]["low"] <= exact[name]["value"] <= found[name]["high"]
        counts = ", ".join(f"{name} {held[name]} of {seeds}" for name in FIGURES)
        print(f"{afr} a year, {rebuild}, {cause}: {counts}", flush=True)
        total = {name: total[name] + held[name] for name in FIGURES}
    print(", ".join(f"{name} {total[name]} of {seeds * len(cases)}" for name in FIGURES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
