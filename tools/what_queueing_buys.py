"""Write docs/what-queueing-buys.md and its pictures: what command queueing gains, and what it costs.

Every figure in the page comes from the runs below, so the page is made again whenever the model changes; a
test holds it to them. `python tools/what_queueing_buys.py` writes it, `--check` only compares.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import drivelab
from drivelab import charts

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "what-queueing-buys.md"
PICTURES = ROOT / "docs" / "pictures"

DRIVE = "wd-4tb-7200"
RUN = {"run.warmup": "10s", "run.ios": 20_000}
DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
SHORT = [1, 2, 4, 8, 16, 32]

Point = dict[str, Any]
Cell = str | float | int


def simulate(**keys: object) -> drivelab.Result:
    """Random reads of 4 KiB over the whole drive, unless the keys say otherwise."""
    names = {name.replace("__", "."): value for name, value in keys.items()}
    return drivelab.simulate(**{"target.drive": DRIVE, "workload.rw": "randread", **RUN, **names})


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table in Markdown, figures to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def by(result: drivelab.Result, *axes: str) -> dict[tuple[Any, ...], Point]:
    """The points by the values of these axes."""
    return {tuple(point["axes"][axis] for axis in axes): point for point in result.points}


def iops(point: Point) -> str:
    return f"{point['iops']:.1f}"


def gain(point: Point, base: Point) -> str:
    return f"{(point['iops'] / base['iops'] - 1) * 100:+.1f} %"


def milliseconds(point: Point, statistic: str) -> str:
    return f"{point['latency_ns'][statistic] / 1e6:.0f}"


def picture(name: str, result: drivelab.Result, title: str) -> str:
    """Draws a sweep beside the page; returns the reference to it."""
    PICTURES.mkdir(exist_ok=True)
    charts.save(charts.depth(result.points, title), PICTURES / f"{name}.svg", result.provenance())
    return f"![{title}](pictures/{name}.svg)"


def orders() -> str:
    """What the order of service gains over depth, and what it costs at the tail."""
    names = ["fcfs", "c-look", "sptf", "aged-sptf"]
    queue = {"target.queue.protocol": "scsi-tcq", "target.queue.depth": 256}
    result = simulate(**queue, **{"target.queue.order": names, "workload.iodepth": DEPTHS})
    points = by(result, "target.queue.order", "workload.iodepth")
    rows = {name: [points[name, depth] for depth in DEPTHS] for name in names}
    head = ["order", *map(str, DEPTHS)]
    at_32 = {name: points[name, 32] for name in names}
    tail = {name: at_32[name]["latency_ns"]["p99"] / at_32[name]["latency_ns"]["mean"] for name in names}
    sptf, fcfs = at_32["sptf"], at_32["fcfs"]
    return f"""\
## The order of service

The more commands a drive may choose from, the nearer the nearest of them is. In order of arrival (FCFS) depth gains
only what the firmware's work hides behind the mechanism's: {gain(points["fcfs", 2], points["fcfs", 1])} at 2, and nothing
more at any depth. Sorting by cylinder (C-LOOK) shortens the seeks and leaves the rotation. Choosing by seek and rotation
together (SPTF) shortens both, and goes on gaining: {gain(sptf, points["sptf", 1])} at 32.

I/Os per second over the number outstanding:

{table(head, [[name, *map(iops, row)] for name, row in rows.items()])}

{picture("queueing-orders", result, "I/Os per second and latency over depth, by order of service")}

## The tail that pays for it

What goes first is not what came first. Here is the 99th percentile of the latency over its mean:

{table(head, [[name, *(f"{p['latency_ns']['p99'] / p['latency_ns']['mean']:.2f}" for p in row)] for name, row in rows.items()])}

In order of arrival every wait is the sum of many services, so the tail shrinks with depth. C-LOOK makes everybody wait
for one sweep of the arm, twice the mean at most. SPTF leaves far commands behind: at 32 outstanding its mean is
{milliseconds(sptf, "mean")} ms where FCFS's is {milliseconds(fcfs, "mean")} ms, but its p99 is {milliseconds(sptf, "p99")} ms
against {milliseconds(fcfs, "p99")} ms, and its longest wait {milliseconds(sptf, "max")} ms against
{milliseconds(fcfs, "max")} ms. A little credit for age (aged SPTF: 6 ms for a second of waiting) keeps
{at_32["aged-sptf"]["iops"] / sptf["iops"] * 100:.0f} % of the rate with {milliseconds(at_32["aged-sptf"], "p99")} ms at p99
and {milliseconds(at_32["aged-sptf"], "max")} ms at most. At 256 outstanding the same credit weighs more, because waits are
longer: weight and depth belong together.
"""


def firmware() -> str:
    """What a poor firmware makes of the same queue."""
    kinds: list[tuple[str, dict[str, object]]] = [
        ("looks at everything, knows the angle", {}),
        ("knows distances, not angles", {"target.queue.knows": "distance"}),
        ("looks at the 4 oldest", {"target.queue.considers": 4}),
        ("looks at the 2 oldest", {"target.queue.considers": 2}),
        ("takes 50 us to look at each", {"target.queue.look_time": "50us"}),
        ("takes 300 us to look at each", {"target.queue.look_time": "300us"}),
        (
            "waits 1 ms for the host's answer",
            {"target.queue.chooses": "after-answer", "target.queue.answer_time": "1ms"},
        ),
        ("lets nobody be passed 64 times", {"target.queue.pass_limit": 64}),
    ]
    queue = {"target.queue.protocol": "ncq", "target.queue.order": "firmware", "workload.iodepth": SHORT}
    off = simulate(**{"target.queue.protocol": "none", "workload.iodepth": SHORT})
    base = off.points[0]
    rows = [["no queue", *("+0.0 %" for _ in SHORT)]]
    for name, keys in kinds:
        points = simulate(**queue, **keys).points
        rows.append([name, *(gain(point, base) for point in points)])
    return f"""\
## What a poor firmware loses

"NCQ" on the box says that a drive takes 32 commands, not what it does with them. The same mechanism under firmwares
that differ in one property each; gain over the drive without a queue, by number outstanding:

{table(["the firmware", *map(str, SHORT)], rows)}

This is how one drive gains 9 % and another 90 %, and how a third is slower with its queue on than off: one that takes
long to look at each command loses more by looking than it gains by choosing. Each row is a property in the drive's file
(`considers`, `knows`, `look_time`, `chooses`, `pass_limit`), to be measured rather than guessed.
"""


SECTIONS: list[Callable[[], str]] = [orders, firmware]

OPENING = f"""\
# What queueing buys

A drive that holds several commands may serve them in an order of its own. This page asks what that gains, what it costs,
and where it gains nothing. The drive is `{DRIVE}` of the catalogue (7 200 rpm), its caches off, random reads of 4 KiB
over the whole of it, 20 000 at each point after ten seconds of warm-up; what a drive of today with its caches on, or
another pattern, makes of it is one changed key away. Made by `tools/what_queueing_buys.py` from the tool itself.
"""


def page() -> str:
    return "\n".join([OPENING, *(section() for section in SECTIONS)])


def main() -> int:
    text = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE.relative_to(ROOT)} is not what the model says: run {Path(__file__).name}")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
