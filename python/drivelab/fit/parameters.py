"""The parameters of a fit: the numbers and rules of a drive file, their start values and their bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drivelab import _core
from drivelab.errors import InputError
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import Parameter
from drivelab.fit.inputs import Numbers
from drivelab.fit.quantities import rate_bytes, share, spindle_rpm, time_ms, time_text
from drivelab.fit.seek_curve import KNOTS, ROOT_LINE, hats, lee, root_line

_TABLE_POINTS = 48
_CYLINDERS: dict[str, int] = {}


def number_of(draft: Draft, key: str, default: float = 0.0) -> float:
    """A value of the drive as a number in its parameter's unit. Raises InputError if it is not a number."""
    value = draft.get(key)
    if value is None:
        return default
    if key == "rpm":
        return spindle_rpm(value)
    if key.startswith("link."):
        return rate_bytes(value) / 1e6
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, list):  # a spread by distance: its middle stands for it
        return time_ms(value[len(value) // 2][1])
    return time_ms(value)


def overhead(draft: Draft, key: str) -> float:
    """A firmware overhead in ms, if it applies to all commands before or after commands of one kind."""
    value = draft.get(key)
    if value is None and key.endswith((".after_read", ".after_write")):
        value = draft.get(key.rpartition(".")[0])
    if isinstance(value, Mapping):
        return time_ms(value.get("after_read", "0ms"))
    return time_ms(value) if value is not None else 0.0


def laid_over(draft: Draft, point: Mapping[str, float]) -> Draft:
    """The drive with these numbers. A seek curve is bent by `seek.bend.0` .., milliseconds to add at each of KNOTS."""
    values: dict[str, Any] = {}
    tables: dict[str, dict[str, str]] = {}
    bends = np.zeros(len(KNOTS))
    for key, number in point.items():
        if key.startswith("seek.bend."):
            bends[int(key.rsplit(".", 1)[1])] = number
        elif key.endswith((".after_read", ".after_write")):
            table, _, last = key.rpartition(".")
            tables.setdefault(table, {})[last] = time_text(number)
        else:
            values[key] = text_of(key, number)
    for table, parts in tables.items():
        before = draft.get(table)
        kept = before if isinstance(before, Mapping) else {}
        if not kept and before is not None:
            kept = {"after_read": before, "after_write": before}
        values[table] = {**kept, **parts}
    draft = draft.having(values) if values else draft
    return bent(draft, bends) if bends.any() else draft


def text_of(key: str, number: float) -> Any:  # noqa: ANN401 - as the file has it
    """A parameter's number in the notation of a drive file."""
    if key == "rpm":
        return f"{number:.4f}rpm"
    if key.startswith("link."):
        return f"{round(number * 1e6)}B/s"
    if key in {"queue.age_weight", "queue.age_share", "queue.seek_margin"}:
        return round(number, 6)
    return time_text(number)


def cylinders_of(draft: Draft) -> int:
    """The number of cylinders of its blocks, from the last block."""
    # Creating the plan takes longer than all other steps, and a fit calls this again and again.
    layout = {key: draft.get(key) for key in draft.keys_of("geometry.", "skew.", "settle.", "rpm")}
    key = repr(layout if draft.get("geometry.zones") is None else draft.get("geometry.zones"))
    if key not in _CYLINDERS:
        _CYLINDERS[key] = _count_cylinders(draft)
    return _CYLINDERS[key]


def _count_cylinders(draft: Draft) -> int:
    plan = draft.plan()
    blocks = np.linspace(0, plan.capacity_bytes(0) // 512 - 1, 33).astype(int).tolist()
    return 1 + max(place[0] for place in _core.places(plan, blocks))


def seek_points(draft: Draft, cylinders: int) -> tuple[Numbers, Numbers]:
    """The seek curve as points: distances in cylinders, times in milliseconds. Raises InputError without one."""
    table = draft.get("seek.table")
    if table is not None:
        points = np.array([[float(at), time_ms(time)] for at, time in table])
        return points[:, 0], points[:, 1]
    root = np.linspace(1, np.sqrt(max(cylinders - 1, 4)), _TABLE_POINTS)
    at = np.unique(np.round(root**2))
    if draft.get("seek.single") is not None:
        single, average, full = (time_ms(draft.get(f"seek.{key}")) for key in ("single", "average", "full"))
        if draft.get("seek.form") == ROOT_LINE:
            return at, root_line(at, cylinders, np.array([[single, average, full]]), longer_settle(draft))[0]
        return at, lee(at, cylinders, single, average, full)
    if draft.get("seek.limit") is not None:
        short = time_ms(draft.get("seek.a", "0ms")) + time_ms(draft.get("seek.b")) * np.sqrt(at)
        far = time_ms(draft.get("seek.c")) + time_ms(draft.get("seek.e", "0ms")) * at / 1000
        return at, np.where(at < float(draft.get("seek.limit")), short, far)
    raise InputError(
        f"{draft.name} has no seek curve to start from: give seek.single, seek.average and seek.full"
    )


def longer_settle(draft: Draft) -> float:
    """How much longer a seek over more than one cylinder settles, as a fraction."""
    value = draft.get("seek.longer_settle")
    return 0.0 if value is None else share(value) if isinstance(value, str) else float(value) / 100


def bent(draft: Draft, bends: Numbers) -> Draft:
    """The drive with these milliseconds added to its seek curve at each knot."""
    cylinders = cylinders_of(draft)
    at, time = seek_points(draft, cylinders)
    time = np.maximum(time + hats(at, cylinders) @ bends, 0.01)
    return draft.having({"seek.table": [[int(d), time_text(t)] for d, t in zip(at, time, strict=True)]})


def trace_parameters(draft: Draft, known: Sequence[str]) -> list[Parameter]:
    """The numbers that a trace with cache hits and near requests may determine."""
    found = []
    cached = draft.writes_cached()
    names = ["read_hit", "read_miss", "write_hit" if cached else "write"]
    for name in names:
        # With a write cache the overhead of a write applies to both if there is no write_hit.
        source = "write" if name == "write_hit" and draft.get("firmware.write_hit") is None else name
        for before in ("after_read", "after_write"):
            value = draft.get(f"firmware.{source}")
            part = value.get(before) if isinstance(value, Mapping) else value
            start = time_ms(part) if part is not None else 0.0
            key = f"firmware.{name}.{before}"
            found.append(Parameter(key, start, 0.3 + 0.3 * start, 0.0, start + 3))
    for name in ("read_completion", "write_completion"):
        start = number_of(draft, f"firmware.{name}")
        found.append(Parameter(f"firmware.{name}", start, 0.2 + 0.3 * start, 0.0, start + 2))
    start = number_of(draft, "settle.head_switch")
    found.append(Parameter("settle.head_switch", start, 0.2 + 0.3 * start, 0.0, start + 2))
    if not cached:
        start = number_of(draft, "settle.write_settle")
        found.append(Parameter("settle.write_settle", start, 0.4, -1.5, start + 2))
    for name in ("rate", "write_rate"):
        if draft.get(f"link.{name}") is not None:
            start = number_of(draft, f"link.{name}")
            found.append(Parameter(f"link.{name}", start, 0.3 * start, 0.3 * start, 4 * start, "MB/s"))
    for name in ("preparation", "reselection", "read_release", "write_release"):
        value = draft.get(f"disconnect.{name}")
        if isinstance(value, str) and time_ms(value) > 0:
            start = time_ms(value)
            found.append(Parameter(f"disconnect.{name}", start, 0.3 * start + 0.1, 0.0, 3 * start))
    found += [Parameter(f"seek.bend.{k}", 0.0, 0.3, -1.5, 2.0) for k in range(len(KNOTS))]
    held = set(known)
    return [one for one in found if one.key not in held and one.key.rpartition(".")[0] not in held]
