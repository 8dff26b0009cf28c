"""When a figure is misleading, and why. Each warning has a code for programs and a sentence for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drivelab.measuring.device import SECTOR, System, Target
from drivelab.measuring.extents import unwritten_share
from drivelab.measuring.silence import never_answered, unanswered
from drivelab.report import steady
from drivelab.report.plural import counted

# A processor that is busy for this share of the time limits the rate.
CPU_SHARE = 0.9
# Below this share of the requested depth, the depth was not reached.
DEPTH_SHARE = 0.9
# Others transferred this share of our own amount, and as many bytes: metadata and rounding are less.
NEIGHBOUR_SHARE = 0.1
NEIGHBOUR_LEAST_BYTES = 1_000_000
# This share of our transfers did not reach the device.
MISSING_SHARE = 0.1
# Other programs, or other guests, had the processor for this share of the time.
STOLEN_SHARE = 0.05
# No drive with platters answers a random read faster.
ROTATIONAL_LEAST_NS = 1_000_000
_COMPRESSING = {"btrfs", "zfs", "bcachefs", "f2fs"}


@dataclass(frozen=True)
class Reading:
    """Counters of the machine before or after a run."""

    moved: tuple[int, int] | None
    """Sectors that the disk has read and written."""
    stolen: int
    total: int

    @classmethod
    def of(cls, target: Target, system: System) -> Reading:
        """The current values."""
        fields = (system.text("proc/stat") or "").partition("\n")[0].split()[1:]
        ticks = [int(field) for field in fields if field.isdigit()]
        moved = target.block.counters() if target.block else None
        return cls(moved, ticks[7] if len(ticks) > 7 else 0, sum(ticks[:8]))


@dataclass(frozen=True)
class Counters:
    """What the machine has counted during all runs, and what they did."""

    before: Reading
    after: Reading
    moved_bytes: tuple[int, int]
    """Bytes read and written."""
    issued_bytes: tuple[int, int]
    """The same with what failed, or was under way at the end."""


def _warning(code: str, text: str) -> dict[str, str]:
    return {"code": code, "text": text}


def warnings_of(
    target: Target,
    system: System,
    points: Sequence[Mapping[str, Any]],
    fio: Sequence[str],
    counters: Counters,
) -> list[dict[str, str]]:
    """All reasons to doubt the figures of points, of which `fio` has the job files."""
    return [
        *_of_target(target, system, points),
        *_of_device(target, system, points),
        *_of_points(target, points),
        *_of_depth(points, fio),
        *_of_counters(counters),
    ]


def _of_target(
    target: Target, system: System, points: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, str]]:
    measured = [point["measured"] for point in points]
    if any(one["direct_refused"] for one in measured):
        yield _warning(
            "direct-refused",
            f"{target.file_system or 'the target'} refuses O_DIRECT: reads come from the page cache where they "
            "can, and writes end there",
        )
    elif any(not one["direct"] for one in measured):
        yield _warning(
            "page-cache", "reads and writes went through the page cache: this is the memory's rate"
        )
    reads = any(point["read"]["ios"] for point in points)
    path = target.path if target.is_file and reads else None
    share = unwritten_share(path) if path is not None else None
    if share:
        yield _warning(
            "never-written",
            f"{100 * share:.0f} % of the file was never written: its reads end in the file system and reach no device; "
            "write it once",
        )
    if target.file_system in _COMPRESSING:
        yield _warning(
            "compression",
            f"{target.file_system} may compress, check and move what it stores: the figures are those of the file "
            "system, not of the drive",
        )
    block = target.block
    if target.is_emulated:
        times = (
            ""
            if _runs_in_real_time(target)
            else f", and its clock is {target.clock}: the times are not a drive's"
        )
        yield _warning("emulated", f"this is a drive that drivelab emulates, not a real one{times}")
    elif target.server is not None:
        yield _warning(
            "device-unknown",
            "what lies behind this address is not known beyond what its server told, so nothing of it was checked",
        )
    elif block is None:
        yield _warning(
            "device-unknown", "which device this lies on is not known, so nothing of it was checked"
        )
    elif block.kind == "loop":
        direct = system.text(str(block.disk.node), "loop/dio")
        behind = "" if direct == "1" else ", through its page cache"
        yield _warning(
            "loop",
            f"/dev/{block.disk.name} is a loop device: it is measured with a file system behind it{behind}",
        )
    elif block.kind == "virtual":
        yield _warning(
            "virtual-disk",
            f"/dev/{block.disk.name} is a virtual disk: what it does with an address, a queue or a cache is its host's "
            "affair, and other guests share it",
        )
    elif block.members:
        yield _warning(
            "made-of-others",
            f"/dev/{block.disk.name} is made of {', '.join(block.members)}: not one drive is measured",
        )


def _of_device(
    target: Target, system: System, points: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, str]]:
    block = target.block
    if block is None:
        return
    deepest = max((point["depth"]["asked"] or 0 for point in points), default=0)
    if block.queue_depth is not None and deepest > block.queue_depth:
        off = "NCQ is off: " if block.queue_depth == 1 else ""
        yield _warning(
            "queue-depth",
            f"{off}the drive is given at most {counted(block.queue_depth, 'command')} at once (device/queue_depth); "
            f"the rest of {deepest} wait in the kernel",
        )
    cache = block.queue("write_cache")
    if any(point["write"]["ios"] for point in points) and cache == "write back":
        yield _warning(
            "write-cache",
            "the drive's write cache is on: a write is answered before it is on the medium (write_cache: write back)",
        )
    policies = {
        policy
        for host in system.names("sys/class/scsi_host")
        if f"/{host}/" in str(block.disk.node)
        and (policy := system.text("sys/class/scsi_host", host, "link_power_management_policy"))
    }
    if policies - {"max_performance"}:
        yield _warning(
            "power-management",
            f"the link saves power ({', '.join(sorted(policies))}): the first command after a pause takes longer",
        )
    if system.text(str(block.disk.node), "device/power/runtime_status") == "suspended":
        yield _warning(
            "power-management", "the drive was asleep (runtime_status): the first commands woke it"
        )
    governor = system.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor == "powersave" and not block.rotational:
        yield _warning(
            "power-management", "the processor saves power (governor powersave): short latencies are its, too"
        )


def _of_points(target: Target, points: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    silent = [(never_answered(point), text) for point in points if (text := unanswered(point)) is not None]
    if silent:
        more = f"; so it was at {counted(len(silent) - 1, 'more point')}" if len(silent) > 1 else ""
        yield _warning("unanswered", f"{max(silent)[1]}{more}")
    busy = [point for point in points if (point["measured"]["cpu_share"] or 0) > CPU_SHARE]
    if busy:
        share = max(point["measured"]["cpu_share"] for point in busy)
        yield _warning(
            "cpu-bound",
            f"at {_count(busy)} a processor was busy for {100 * share:.0f} % of the time: the rate is the program's, "
            "not the drive's",
        )
    unsteady = [one for point in points if (one := steady.ending(point)) is not None and not one.is_steady]
    if unsteady:
        worst = max(unsteady, key=lambda one: one.most)
        yield _warning(
            "not-steady",
            f"the last quarter of the run differs from its mean ({worst.text()}): it was not steady "
            "yet, a cache was full, or the drive throttles; run longer, or --until-steady",
        )
    fast = [
        point
        for point in points
        if (point["read"]["latency_ns"]["p50"] or ROTATIONAL_LEAST_NS) < ROTATIONAL_LEAST_NS
        and point["measured"]["direct"]
    ]
    if _has_platters(target) and _runs_in_real_time(target) and fast:
        yield _warning(
            "too-fast",
            "this is said to be a drive with platters, and half of its reads took less than 1 ms: they came "
            "from a cache, or were sequential",
        )
    for note in {point["measured"]["engine_note"] for point in points} - {None}:
        yield _warning(
            "no-io-uring", f"{note}; threads with preadv2 and pwritev2 did the work, at a higher cost"
        )


def _of_depth(points: Sequence[Mapping[str, Any]], fio: Sequence[str]) -> Iterator[dict[str, str]]:
    shallow = [
        point
        for point, job in zip(points, fio, strict=True)
        if point["depth"]["asked"]
        and point["depth"]["achieved"] < DEPTH_SHARE * point["depth"]["asked"]
        # While a FLUSH is outstanding nothing else is issued, and while a job thinks nothing is.
        and not point["flush"]["count"]
        and "\nthinktime=" not in job
    ]
    if shallow:
        worst = min(shallow, key=lambda point: point["depth"]["achieved"] / point["depth"]["asked"])
        yield _warning(
            "depth-not-achieved",
            f"at {_count(shallow)} fewer commands were under way than asked for: {worst['depth']['achieved']:.1f} of "
            f"{worst['depth']['asked']}",
        )


def _runs_in_real_time(target: Target) -> bool:
    """Whether its times are those of a drive, as far as is known."""
    return target.clock in (None, "real")


def _has_platters(target: Target) -> bool:
    if target.server is not None:
        return bool(target.server.export["rotational"])
    return target.block is not None and bool(target.block.rotational) and target.block.kind == "disk"


def _of_counters(counters: Counters) -> Iterator[dict[str, str]]:
    before, after = counters.before, counters.after
    ours, issued = sum(counters.moved_bytes), sum(counters.issued_bytes)
    if before.moved is not None and after.moved is not None and ours > 0:
        device = (sum(after.moved) - sum(before.moved)) * SECTOR
        # What was under way at the end has moved, or has not.
        if device - issued > max(NEIGHBOUR_SHARE * issued, NEIGHBOUR_LEAST_BYTES):
            yield _warning(
                "busy-neighbour",
                f"the disk moved {_mb(device)} MB while this moved {_mb(ours)}: somebody else used it",
            )
        elif device < (1 - MISSING_SHARE) * ours:
            yield _warning(
                "did-not-reach",
                f"only {100 * device / ours:.0f} % of the bytes reached the disk: the rest came from a cache, or from "
                "extents that were never written",
            )
    ticks = after.total - before.total
    if ticks > 0 and (after.stolen - before.stolen) > STOLEN_SHARE * ticks:
        share = (after.stolen - before.stolen) / ticks
        yield _warning(
            "stolen", f"the hypervisor had the processor for {100 * share:.0f} % of the time (steal)"
        )


def _mb(count: int) -> str:
    return f"{count / 1e6:,.0f}" if count >= 100_000_000 else f"{count / 1e6:.3g}"


def _count(points: Sequence[object]) -> str:
    return "one point" if len(points) == 1 else f"{len(points)} points"
