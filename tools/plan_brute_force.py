"""Check the pick of `drivelab plan` by brute force: `python tools/plan_brute_force.py [PROBLEMS [SEED]]`.

Each problem is drawn with its own seed: drives, levels, members, load, limits, prices and failures. It is planned
once as `drivelab plan` does it, with bounds first; and once every candidate is simulated in every state, rebuilt, and
compared with the limits here, using only its figures in `--json`. Both must name the same pick, and a bound must
never rule out a candidate whose figures meet the limits. Problems continue until as many as requested have a
solution; the others are compared too.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from drivelab.arrays.plan import answer, choice
from drivelab.arrays.plan.evaluate import evaluate
from drivelab.arrays.plan.grid import Asked, candidates
from drivelab.arrays.plan.options import asked_of
from drivelab.arrays.plan.planned import Plan
from drivelab.arrays.simulation.measure import Ran
from drivelab.scenarios.scenario import Override

DRIVES = ("seagate-cheetah-9lp", "wd-wd360gd")
LEVELS = ("raid0", "raid1", "raid10", "raid5", "raid6", "raidz1", "raidz2")
LATENCIES = {"mean": (8, 12, 20), "p90": (18, 30, 60), "p99": (30, 50, 100)}
PROBLEMS, SEED = 20, 1
BEHIND = 0.05
"""An array whose rate is lower than requested by this share does not carry the load."""

Row = Mapping[str, Any]


def problem(seed: int) -> dict[str, Any]:
    """The options of a plan drawn by this seed."""
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    drives = draw.sample(DRIVES, draw.randint(1, 2))
    low = draw.randint(3, 4)
    found: dict[str, Any] = {
        "capacity": f"{draw.choice((10, 15, 25, 40))}GB",
        "drive": ",".join(drives),
        "level": ",".join(draw.sample(LEVELS, 3)),
        "members": f"{low}..{low + 2}",
        "rw": draw.choice(("randread", "randrw", "randrw", "randwrite")),
        "bs": draw.choice(("4KiB", "16KiB", "64KiB")),
        "number_ios": 1500,
        "ramp_time": "2s",
        "drive_price": ",".join(f"{drive}={draw.randint(40, 200)}USD" for drive in drives),
        "afr": f"{draw.choice((1, 2, 5))}%",
        "max_loss": f"{draw.choice((1e-2, 1e-3, 1e-5, 1e-7)):g}/year",
    }
    if draw.random() < 0.6:
        found["rate_iops"] = str(draw.choice((10, 20, 40)))
        name = draw.choice(tuple(LATENCIES))
        found["max_latency"] = f"{name}={draw.choice(LATENCIES[name])}ms"
    else:
        depth = draw.choice((1, 2, 4))
        found["iodepth"] = str(depth)
        found["min_iops"] = depth * draw.choice((20, 35, 60))
    if draw.random() < 0.5:
        found["ure"] = draw.choice(("1e-15/bit", "1e-14/bit"))
    if draw.random() < 0.5:
        found["replacement"] = draw.choice(("1d", "3d"))
    if draw.random() < 0.3:
        found["budget"] = f"{draw.randint(300, 900)}USD"
    return found


def holds(row: Row, asked: Asked, *, rate: float | None) -> bool:
    """Whether the figures of a candidate meet every limit, by a rule independent of the plan's own."""
    limits = asked.limits
    if row["usable_bytes"] is None or row["usable_bytes"] < limits.capacity_bytes:
        return False
    if limits.cost is not None and row["cost"] > limits.cost:
        return False
    iops = row["iops_healthy"]
    if iops is None or (limits.iops is not None and iops < limits.iops):
        return False
    # Arrivals vary randomly: three standard deviations of their number.
    if rate is not None and iops < rate * (1 - max(BEHIND, 3 / asked.loads.requests**0.5)):
        return False
    if any(row[f"{name}_ns_healthy"] > most for name, most in limits.latencies_ns.items()):
        return False
    if row["bears_any"] and (row["rebuild_h"] is None or row["rebuild_relative_error"] is None):
        return False
    loss = row["loss_in_a_year_percent"]
    loss = row["loss_in_a_year_percent_high"] if loss is None else loss
    return limits.loss_percent is None or loss <= limits.loss_percent


def cheapest(rows: Sequence[Row]) -> str | None:
    """The name of the cheapest; at equal prices the one with the least loss, then the fastest."""
    ordered = sorted(
        rows, key=lambda row: (row["cost"], row["loss_in_a_year_percent"], row["mean_ns_healthy"])
    )
    return ordered[0]["candidate"] if ordered else None


def held(seed: int) -> tuple[bool, bool]:
    """Whether the pick of a problem is that of brute force, and whether there is one; prints what came out."""
    given = problem(seed)
    asked = asked_of(given, [Override("run.seed", str(seed), "seed")])
    bounded, whole = candidates(asked, given), candidates(asked, given)
    begun = time.process_time()
    evaluate(bounded, asked)
    between = time.process_time()
    ran = evaluate(whole, asked, bounded=False)
    ended = time.process_time()
    rate = float(given["rate_iops"]) if "rate_iops" in given else None
    rows = _rows(asked, whole, ran)
    best = cheapest([row for row in rows if holds(row, asked, rate=rate)])
    picked = choice.pick(bounded)
    name = picked.name if picked else None
    out = sum(any(failing.stage == "bound" for failing in one.failings) for one in bounded)
    wrong = [
        row["candidate"]
        for one, row in zip(bounded, rows, strict=True)
        if holds(row, asked, rate=rate) and not one.holds
    ]
    same = name == best and not wrong
    print(
        f"{seed:3} {'same' if same else 'DIFFERS'}: {name or 'nothing holds'}; {len(bounded)} candidates, {out} out "
        f"by bounds, {between - begun:.1f} s against {ended - between:.1f} s"
        + (f"; brute force: {best or 'nothing holds'}; wrongly out: {', '.join(wrong)}" if not same else ""),
        flush=True,
    )
    return same, best is not None


def _rows(asked: Asked, whole: Sequence[Any], ran: Ran) -> list[Row]:
    found = Plan(asked, list(whole), None, [], [], [], ran)
    return [answer.row(one, found) for one in whole]


def main() -> int:
    """Compares as many problems as requested."""
    given = [int(word) for word in sys.argv[1:3]]
    count, seed = [*given, *(PROBLEMS, SEED)[len(given) :]]
    picks = problems = same = 0
    while picks < count:
        is_same, has_pick = held(seed)
        picks, problems, same, seed = picks + has_pick, problems + 1, same + is_same, seed + 1
    print(f"{same} of {problems} problems come out as by brute force; in {picks} of them something holds")
    return 0 if same == problems else 1


if __name__ == "__main__":
    sys.exit(main())
