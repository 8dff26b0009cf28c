"""How fast and how exact durability, plans and rebuilds are here: `python tools/durability_figures.py [NAME ..]`.

Each name is a figure, all of them unasked: `drive-years` of plain histories by the second and core; `rare`, a RAID 6
that loses data with about 1e-9 a year, by splitting and biasing beside its chain; `rebuild`, six rebuilds extrapolated
beside the same simulated whole; `eight` drives of 24 TB beside 150 requests a second; `plan`, 200 candidates. Times
are those of this process with all its threads.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import drivelab
from drivelab.arrays.durability import loss
from drivelab.arrays.levels import compare_levels
from drivelab.arrays.plan.planned import run as run_plan
from drivelab.arrays.simulation import rebuild
from drivelab.runs.simulation import run_plan as run_points
from drivelab.scenarios.scenario import plan, read_source

MIXED = {"rw": "randrw", "rwmixread": 70, "bs": "4KiB"}
CASES: Sequence[tuple[str, str, int, dict[str, Any]]] = (
    ("seagate-cheetah-9lp", "raid1", 2, {**MIXED, "rate_iops": 60}),
    ("seagate-cheetah-9lp", "raid10", 4, {"rw": "randread", "bs": "64KiB", "iodepth": 16}),
    ("wd-wd360gd", "raid5", 4, dict(rebuild.IDLE)),
    ("wd-wd360gd", "raid6", 5, {**MIXED, "rate_iops": 60}),
    ("wd-wd360gd", "raidz1", 4, {**MIXED, "rate_iops": 60}),
    ("wd-wd740gd-00fla0", "raid5", 4, {**MIXED, "rate_iops": 60}),
)
GRID = {
    "capacity": "60TB",
    "drive": "seagate-exos-x24-24tb,wd-ultrastar-dc-hc580-24tb",
    "drive_price": "seagate-exos-x24-24tb=400USD,wd-ultrastar-dc-hc580-24tb=430USD",
    "level": "raid1,raid01,raid10,raid5,raid6,raid50,raid60,raidz1,raidz2,raidz3",
    "members": "3..12",
    "rate_iops": "150",
    "max_latency": "p99=100ms",
    "max_loss": "1e-3/year",
    "afr": "1.5%",
    "ure": "1e-15/bit",
    "replacement": "2d",
}


@dataclass
class Clock:
    """Seconds that something took."""

    wall: float = 0.0
    cpu: float = 0.0

    def text(self) -> str:
        """Both, for people."""
        return f"{self.wall:.1f} s wall, {self.cpu:.1f} s of processors"


@contextmanager
def timed() -> Iterator[Clock]:
    """What is inside."""
    clock, wall, cpu = Clock(), time.perf_counter(), time.process_time()
    yield clock
    clock.wall, clock.cpu = time.perf_counter() - wall, time.process_time() - cpu


def drive_years(histories: int = 1 << 24) -> None:
    """Plain histories of groups of eight drives."""
    of: dict[str, Any] = {"members": 8, "mttf": "500000h", "rebuild": "24h", "ure": "none"}
    for level in ("raid5", "raid6"):
        with timed() as clock:
            found = loss(level, method="monte-carlo", histories=histories, error="0.01%", **of)
        years = found.outcomes[0]["drive_years"]
        print(
            f"drive-years: {level} of 8: {years / clock.cpu:,.3g} a second and core ({years:.3g}, {clock.text()})"
        )


def rare(histories: int = 1 << 25) -> None:
    """A RAID 6 of eight."""
    of: dict[str, Any] = {"members": 8, "afr": "1.5%", "rebuild": "12h", "ure": "none"}
    exact = loss("raid6", method="chain", **of).outcomes[0]["loss_in_a_year_percent"]["value"]
    for method in ("splitting", "biasing"):
        with timed() as clock:
            found = loss("raid6", method=method, histories=histories, **of).outcomes[0][
                "loss_in_a_year_percent"
            ]
        half = (found["high"] - found["low"]) / 2 / found["value"]
        print(
            f"rare: {method}: {found['value']:.4g} % ± {half:.1%} a year, {found['value'] / exact - 1:+.1%} from the "
            f"chain's {exact:.4g} %; {clock.text()}"
        )


def rebuilds(cases: Sequence[tuple[str, str, int, dict[str, Any]]] = CASES) -> None:
    """Extrapolated beside whole."""
    for drive, level, members, workload in cases:
        array = {"level": level, "members": members, "missing": [0], "rebuilding": True}
        run = {"until": "rebuilt", "duration": "10h", "seed": 2}
        scenario = {"target": {"drive": drive, "array": array}, "workload": workload}
        whole = drivelab.simulate({**scenario, "run": run}).points[0]["array"]["syncs"][0]["duration_ns"]
        with timed() as clock:
            found = extrapolated(drive, array, workload)
        hours = found["duration_ns"] / 3600e9
        print(
            f"rebuild: {level} of {members} x {drive}: {hours:.4g} h ± {found['relative_error']:.1%}, "
            f"{found['duration_ns'] / whole - 1:+.1%} from the whole; {clock.text()}"
        )


def extrapolated(drive: str, array: dict[str, Any], workload: dict[str, Any]) -> dict[str, Any]:
    """From parts of it, however short the whole rebuild is."""
    found: dict[str, Any] | None = None
    way: rebuild.Way | None = rebuild.SHORT
    while way is not None and way is not rebuild.WHOLE:
        scenario = {
            "target": {"drive": drive, "array": array},
            "workload": workload,
            "run": way.run_document(is_recorded=False),
        }
        checked = plan(read_source(scenario))
        rate = float(workload.get("rate_iops", 0))
        pool = ((checked.in_force or [None])[0] or {}).get("array", {}).get("record_bytes")
        records = checked.capacity_bytes(0) / pool if pool else None
        found = rebuild.extrapolated(run_points(checked).points, rate if rate >= 1 else None, records)
        way = rebuild.next_way(found, way)
    return dict(found or {})


def eight() -> None:
    """All three states of RAID 6, and its rebuild beside the load and idle."""
    with timed() as clock:
        found = (
            compare_levels("seagate-exos-x24-24tb", 8, levels="raid6", rw="randrw", rate_iops=150, full=False)
            .entries[0]
            .rebuild
        )
    assert found is not None  # noqa: S101 - raid6 is rebuilt
    hours = found["duration_ns"] / 3600e9
    print(f"eight: raid6 rebuilt in {hours:.4g} h ± {found['relative_error']:.1%}; {clock.text()}")


def candidates() -> None:
    """A plan with what would change its pick."""
    with timed() as clock:
        found = run_plan(GRID)
    picked = found.pick.name if found.pick else "nothing holds"
    print(f"plan: {len(found.candidates)} candidates, pick {picked}; {clock.text()}")


FIGURES: dict[str, Callable[[], None]] = {
    "drive-years": drive_years,
    "rare": rare,
    "rebuild": rebuilds,
    "eight": eight,
    "plan": candidates,
}


def main() -> int:
    """Show what is asked for. Return the exit code."""
    names = sys.argv[1:] or list(FIGURES)
    if unknown := [name for name in names if name not in FIGURES]:
        print(f"there is no {', '.join(unknown)}: there are {', '.join(FIGURES)}", file=sys.stderr)
        return 2
    for name in names:
        FIGURES[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
