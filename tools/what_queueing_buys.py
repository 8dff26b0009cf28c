"""Write docs/learn/what-queueing-buys.md and its pictures: what command queueing gains, and what it costs.

Every figure in the page comes from the runs below, so the page is written again whenever the model changes; a test
compares text and pictures with them. `make docs` writes them.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import drivelab
from drivelab import charts

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "learn" / "what-queueing-buys.md"
PICTURES = ROOT / "docs" / "pictures"

DRIVE = "wd-4tb-7200"
RUN = {"run.warmup": "10s", "run.ios": 20_000}
DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
SHORT = [1, 2, 4, 8, 16, 32]

Point = Mapping[str, Any]
Cell = str | float | int


def simulate(keys: Mapping[str, Any]) -> drivelab.Result:
    """Random reads of 4 KiB over the whole drive, unless the keys say otherwise."""
    return drivelab.simulate(**{"target.drive": DRIVE, "workload.rw": "randread", **RUN, **keys})


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table in Markdown, with right-aligned figures."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def by(result: drivelab.Result, *axes: str) -> dict[tuple[Any, ...], Point]:
    """The points by the values of these axes."""
    return {tuple(point["axes"][axis] for axis in axes): point for point in result.points}


def iops(point: Point) -> str:
    """I/Os per second."""
    return f"{point['iops']:.1f}"


def gain(point: Point, base: Point) -> str:
    """The relative gain in I/Os per second over another point."""
    return f"{(point['iops'] / base['iops'] - 1) * 100:+.1f} %"


def tail(point: Point) -> str:
    """The 99th percentile of the latency over its mean."""
    return f"{point['latency_ns']['p99'] / point['latency_ns']['mean']:.2f}"


def milliseconds(point: Point, statistic: str) -> str:
    """A statistic of the latency."""
    return f"{point['latency_ns'][statistic] / 1e6:.0f}"


def picture(name: str, result: drivelab.Result, title: str) -> str:
    """Draws a sweep into the page's folder; returns the reference to it."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    charts.save(charts.depth(result.points, title), PICTURES / f"{name}.svg", result.provenance())
    return f"![{title}](../pictures/{name}.svg)"


def twelve() -> str:
    """Twelve commands, in the drive's order and in order of arrival."""
    keys: dict[str, Any] = {
        "target.drive": DRIVE,
        "workload.iodepth": 12,
        "workload.thinktime": "1h",
        "run.ios": 12,
    }
    result = drivelab.simulate(log=12, **keys)
    PICTURES.mkdir(parents=True, exist_ok=True)
    charts.save(result.timeline_chart(), PICTURES / "queueing-twelve.svg", result.provenance())
    return """\
## Twelve commands

The whole idea in one picture: twelve reads arrive at once. In order of their arrival the head crosses the disk
again and again; in the drive's own order it picks up what lies on its way, and what the platter brings round in time.

![Twelve reads in the order of service and in order of arrival](../pictures/queueing-twelve.svg)

    drivelab simulate --drive wd-4tb-7200 --iodepth 12 --thinktime 1h --number-ios 12 --timeline twelve.svg
"""


def orders() -> str:
    """The gain of the order of service over depth, and its cost in the tail."""
    names = ["fcfs", "c-look", "sptf", "aged-sptf"]
    queue = {"target.queue.protocol": "scsi-tcq", "target.queue.depth": 256}
    result = simulate({**queue, "target.queue.order": names, "workload.iodepth": DEPTHS})
    points = by(result, "target.queue.order", "workload.iodepth")
    rows = {name: [points[name, depth] for depth in DEPTHS] for name in names}
    head = ["order", *map(str, DEPTHS)]
    at_32 = {name: points[name, 32] for name in names}
    sptf, fcfs = at_32["sptf"], at_32["fcfs"]
    return f"""\
## The order of service

The more commands a drive may choose from, the nearer the nearest of them is. In order of arrival (FCFS)
depth gains only what the firmware's work hides behind the mechanism's:
{gain(points["fcfs", 2], points["fcfs", 1])} at 2, and nothing more at any depth. Sorting by cylinder
(C-LOOK) shortens the seeks and leaves the rotation. Choosing by seek and rotation together (SPTF)
shortens both, and goes on gaining: {gain(sptf, points["sptf", 1])} at 32.

I/Os per second over the number outstanding:

{table(head, [[name, *map(iops, row)] for name, row in rows.items()])}

{picture("queueing-orders", result, "I/Os per second and latency over depth, by order of service")}

## The tail that pays for it

What goes first is not what came first. Here is the 99th percentile of the latency over its mean:

{table(head, [[name, *map(tail, row)] for name, row in rows.items()])}

In order of arrival every wait is the sum of many services, so the tail shrinks with depth. C-LOOK makes
everybody wait for one sweep of the arm, twice the mean at most. SPTF leaves far commands behind: at 32
outstanding its mean is {milliseconds(sptf, "mean")} ms where FCFS's is {milliseconds(fcfs, "mean")} ms,
but its p99 is {milliseconds(sptf, "p99")} ms against {milliseconds(fcfs, "p99")} ms, and its longest wait
{milliseconds(sptf, "max")} ms against {milliseconds(fcfs, "max")} ms. A little credit for age (aged SPTF:
6 ms for a second of waiting) keeps {at_32["aged-sptf"]["iops"] / sptf["iops"] * 100:.0f} % of the rate
with {milliseconds(at_32["aged-sptf"], "p99")} ms at p99 and {milliseconds(at_32["aged-sptf"], "max")} ms
at most. At 256 outstanding the same credit weighs more, because waits are longer: weight and depth belong
together. The rest of this page uses what the drive has in the catalogue, the law of its
[class](../reference/firmware-classes.md) with its guard against a late arm, unless an order is named.
"""


def stream() -> str:
    """How long a read waits beside a stream of writes."""
    seconds = 120
    work = {
        "job": {
            "reader": {"rw": "randread", "bs": "4KiB"},
            "stream": {"rw": "write", "bs": "64KiB", "iodepth": 4},
        }
    }
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("fcfs", {"target.queue.order": "fcfs"}),
        ("sptf", {"target.queue.order": "sptf"}),
        (
            "sptf, none older than 4 s passed over",
            {"target.queue.order": "sptf", "target.queue.age_limit": "4s"},
        ),
        *(
            (
                f"aged-sptf, {weight * 1000:.0f} ms for a second",
                {"target.queue.order": "aged-sptf", "target.queue.age_weight": weight},
            )
            for weight in (0.003, 0.006, 0.032)
        ),
        ("as its class: a share of its age", {}),
    ]
    rows: list[list[Cell]] = []
    for name, keys in kinds:
        run = {"run.warmup": "10s", "run.duration": f"{seconds}s"}
        (point,) = drivelab.simulate(**{"target.drive": DRIVE, "workload": work, **run, **keys}).points
        reads, written = point["read"], f"{point['write']['bytes_per_s'] / 1e6:.1f}"
        waits = [milliseconds(reads, "mean"), milliseconds(reads, "max")] if reads["ios"] else ["-", "-"]
        rows.append([name, reads["ios"], *waits, written])
    return f"""\
## Who is passed over beside a stream

A command that begins where the arm stands costs nothing to reach, so beside a sequential stream it always goes
first. One reader at a time asks for 4 KiB at a random place while a writer keeps four pieces of a sequence
outstanding, past the cache; what the two get in {seconds} s:

{table(["order", "reads", "mean wait, ms", "longest, ms", "written, MB/s"], rows)}

Pure SPTF never turns to the read. Drives that were tried that way have a hard bound between one and four
seconds ([accuracy.md](../studies/accuracy.md#how-long-a-command-waits)), so the drives of the catalogue have one too:
this drive goes by its [class](../reference/firmware-classes.md), where a command's age counts the more the fewer wait.
"""


def firmware() -> str:
    """The effect of poor firmware with the same queue."""
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("looks at everything, knows the angle, 6 ms for a second", {"target.queue.age_weight": 0.006}),
        ("gives a command no credit for its age", {"target.queue.age_weight": 0}),
        ("knows distances, not angles", {"target.queue.knows": "distance"}),
        ("looks at the 4 oldest", {"target.queue.considers": 4}),
        ("looks at the 2 oldest", {"target.queue.considers": 2}),
        ("takes 50 us to look at each", {"target.queue.look_time": "50us"}),
        ("takes 300 us to look at each", {"target.queue.look_time": "300us"}),
        (
            "waits 1 ms for the host's answer",
            {"target.queue.chooses": "after-answer", "target.queue.answer_time": "1ms"},
        ),
        ("puts a command first once 64 others went", {"target.queue.pass_limit": 64}),
    ]
    queue = {
        "target.queue.protocol": "ncq",
        "target.queue.order": "aged-sptf",
        "target.queue.age_weight": 0,
        "workload.iodepth": SHORT,
    }
    off = simulate({"target.queue.protocol": "none", "workload.iodepth": SHORT})
    base = off.points[0]
    rows = [["no queue", *("+0.0 %" for _ in SHORT)]]
    for name, keys in kinds:
        points = simulate({**queue, **keys}).points
        rows.append([name, *(gain(point, base) for point in points)])
    return f"""\
## What a poor firmware loses

"NCQ" on the box says that a drive takes 32 commands, not what it does with them. The same mechanism under
firmwares that differ in one property each; gain over the drive without a queue, by number outstanding:

{table(["the firmware", *map(str, SHORT)], rows)}

This is how one drive gains 9 % and another 90 %, and how a third is slower with its queue on than off:
one that takes long to look at each command loses more by looking than it gains by choosing. Each row is a
property in the drive's file (`age_weight`, `knows`, `considers`, `look_time`, `chooses`, `pass_limit`), to be measured
rather than guessed.
"""


def protocols() -> str:
    """The overhead of the protocols."""
    bus = {"target.queue.release_time": "30us", "target.queue.service_time": "60us"}
    bridge = {"base": DRIVE, "link": {"bridge": "25us"}}
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("SATA NCQ", {"target.queue.protocol": "ncq"}),
        ("SCSI TCQ, depth 32", {"target.queue.protocol": "scsi-tcq", "target.queue.depth": 32}),
        ("ATA TCQ", {"target.queue.protocol": "ata-tcq", **bus}),
        ("ATA TCQ behind a bridge", {"target.queue.protocol": "ata-tcq", "target.drive": bridge, **bus}),
    ]
    base = simulate({"target.queue.protocol": "none", "workload.iodepth": SHORT}).points[0]
    rows = [
        [name, *(gain(point, base) for point in simulate({**keys, "workload.iodepth": SHORT}).points)]
        for name, keys in kinds
    ]
    return f"""\
## What the protocol costs

The protocols differ in what an exchange takes. NCQ's drive sets up its own transfers. ATA TCQ's drive
lets go of the bus (here 30 us) and calls the host back before data flow (60 us), and a bridge in between
(25 us each way) makes every message of that longer; figures of this kind are published for few drives,
these are examples. Gain over no queue:

{table(["protocol", *map(str, SHORT)], rows)}

With one outstanding there is nothing to choose, so the round trips are pure loss: queueing is slower on
than off. From two on, most of them hide behind the work for others.
"""


def elevators() -> str:
    """The host's own scheduler, the drive's queue, and both."""
    depths = [1, 4, 16, 31, 64, 128, 256]
    schedulers = ["none", "noop", "deadline", "c-look", "fair"]
    axes = {"target.elevator": schedulers, "workload.iodepth": depths}
    alone = by(simulate({"target.queue.protocol": "none", **axes}), "target.elevator", "workload.iodepth")
    queue = {"target.queue.protocol": "ncq", "target.queue.depth": 31}
    both = by(simulate({**queue, **axes}), "target.elevator", "workload.iodepth")
    rows = [
        [name, scheduler, *(iops(points[scheduler, depth]) for depth in depths)]
        for name, points in (("one at a time", alone), ("31, its own order", both))
        for scheduler in schedulers
    ]
    spread = [
        max(both[scheduler, depth]["iops"] for scheduler in schedulers)
        / min(both[scheduler, depth]["iops"] for scheduler in schedulers)
        - 1
        for depth in depths
    ]
    inside = max(spread[: depths.index(31) + 1]) * 100
    return f"""\
## The host sorts, too

In front of every drive stands the operating system's own scheduler. It knows addresses but no angles, and
it only sees what has not gone to the drive yet. A drive that takes one command at a time leaves
everything to it; a drive that takes 31 leaves it what does not fit. I/Os per second:

{table(["drive takes", "host", *map(str, depths)], rows)}

While everything outstanding fits into the drive's queue, the host's schedulers are idle hands: up to 31
the best and the worst of them are {inside:.1f} % apart. The drive's knowledge of angles is worth more
than the host's longer list; but beyond 31 the host goes on sorting what waits, and the two together serve
more than either alone.
"""


def interfaces() -> str:
    """Legacy IDE against AHCI."""
    rows = []
    for name, interface in (("AHCI", "ahci"), ("legacy IDE", "legacy-ide")):
        points = simulate({"target.controller.interface": interface, "workload.iodepth": SHORT}).points
        rows.append([name, *map(iops, points)])
    return f"""\
## Legacy IDE against AHCI

The same drive on the same port. Without AHCI there is no NCQ, and each command costs the host more
register accesses, of about a microsecond each; next to a mechanism that is little, so what is lost is the
queue. I/Os per second:

{table(["interface", *map(str, SHORT)], rows)}
"""


def waiting() -> str:
    """Synchronous against asynchronous I/O."""
    queue = {"target.queue.protocol": "ncq"}
    counts = [1, 4, 16, 32]
    asynchronous = simulate({**queue, "workload.iodepth": counts}).points
    processes = simulate({**queue, "workload.numjobs": counts}).points
    alone = simulate(queue).points[0]
    thinking = simulate({**queue, "workload.thinktime": "5ms", "workload.numjobs": counts}).points
    rows = [
        ["one process, so many at once", *map(iops, asynchronous)],
        ["so many processes, one at a time each", *map(iops, processes)],
        ["the same, each thinks for 5 ms", *map(iops, thinking)],
        ["one process that waits for each", *(iops(alone) for _ in counts)],
    ]
    return f"""\
## Who waits gains nothing

A process that waits for each I/O keeps one outstanding, and no queue can reorder one. That is the
desktop's case: most of its reads are synchronous. Queueing pays when somebody does not wait, or when many
wait at once. I/Os per second:

{table(["", *map(str, counts)], rows)}

Who issues makes no difference to the drive: one process with 16 outstanding and 16 processes with one
each are the same load.
"""


SECTIONS: list[Callable[[], str]] = [
    twelve,
    orders,
    stream,
    firmware,
    protocols,
    elevators,
    interfaces,
    waiting,
]

OPENING = f"""\
# What queueing buys

*For the reader who asks what a queue is for.*

A drive that holds several commands may serve them in an order of its own. This page asks what that gains,
what it costs, and where it gains nothing. The drive is `{DRIVE}` of the catalogue (7 200 rpm), its caches
off, random reads of 4 KiB over the whole of it, 20 000 at each point after ten seconds of warm-up; what
another drive or pattern makes of it is one changed key away. Made by
`tools/what_queueing_buys.py` from the tool itself.
"""


def page() -> str:
    """The whole page, its paragraphs filled."""
    blocks = "\n".join([OPENING, *(section() for section in SECTIONS)]).split("\n\n")
    return (
        "\n\n".join(block if block.startswith(("|", "#", "!", "    ")) else filled(block) for block in blocks)
        + "\n"
    )


def filled(paragraph: str) -> str:
    """A paragraph wrapped to lines of even length."""
    return textwrap.fill(paragraph, 118, break_long_words=False, break_on_hyphens=False)


def main() -> int:
    """Write the page and its pictures."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
