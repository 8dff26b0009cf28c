"""The environment of a measurement: what a reader needs to know of machine and device to trust or repeat it.

Without the machine's name and serial numbers, unless they are requested.
"""

from __future__ import annotations

import os
import platform
import re
from typing import Any

from drivelab.measuring.address import server_facts
from drivelab.measuring.device import System, Target


def environment(
    target: Target, system: System, *, with_host: bool = False, with_serial: bool = False
) -> dict[str, Any]:
    """As the record has it."""
    machine = platform.uname()
    path = target.server.address if target.server is not None and with_host else target.shown
    return {
        "kernel": f"{machine.system} {machine.release}",
        "machine": machine.machine,
        **({"host": machine.node} if with_host else {}),
        "cpu": _cpu(system),
        "cpus": os.cpu_count(),
        "governor": system.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "clock": system.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "target": {
            "path": path,
            "kind": target.kind,
            "size_bytes": target.size_bytes,
            "file_system": target.file_system,
            "mount_options": target.mount_options or None,
        },
        "device": device_facts(target, with_serial=with_serial),
    }


def device_facts(target: Target, *, with_serial: bool = False) -> dict[str, Any] | None:
    """The device, or the one below the file; None if none is known."""
    if target.server is not None:
        return server_facts(target.server)
    block = target.block
    if block is None:
        return None
    cache = block.queue("write_cache")
    return {
        "name": block.disk.name,
        "kind": block.kind,
        "model": block.model,
        "firmware": block.firmware,
        **({"serial": block.serial} if with_serial else {}),
        "size_bytes": block.disk.size_bytes,
        "rotational": block.rotational,
        "scheduler": block.scheduler,
        "queue_depth": block.queue_depth,
        "write_cache": None if cache is None else cache == "write back",
        "link": block.link,
        "logical_block_bytes": _number(block.queue("logical_block_size")),
        "physical_block_bytes": _number(block.queue("physical_block_size")),
        "members": block.members or None,
    }


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _cpu(system: System) -> str | None:
    found = re.search(r"^model name\s*:\s*(.+)$", system.text("proc/cpuinfo") or "", re.MULTILINE)
    return found[1].strip() if found else None
