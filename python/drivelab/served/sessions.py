"""Sessions of `drivelab emulate` on this machine: which there are, what they do at the moment, and faults for them.

A session is named by its control socket. Those of the user are found where `emulate` puts their sockets; one with a
socket at a place of its own is named when the page is served.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from drivelab.errors import InputError, RunError, raw
from drivelab.errors.keys import as_keys
from drivelab.runs import control
from drivelab.runs.faults import ACTIONS, TAKES, request

_STATUS = {"action": "status", "member": 0}
_ANSWER_S = 10.0
_LISTED_S = 2.0
"""How long a session may take to answer where all are listed."""
_ASKED_MAX = 16
_SECOND_NS = 1e9


@dataclass(frozen=True)
class Session:
    """A session that may be asked."""

    named: str
    """As `drivelab fault` names its device."""
    is_given: bool
    """Whether it was named, and not found."""

    @property
    def id(self) -> str:
        """What the page calls it."""
        return hashlib.sha256(self.named.encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def status(self) -> control.Answer:
        """What it does at the moment. Raises InputError, RunError."""
        return control.ask(self.named, _STATUS, _ANSWER_S)

    def act(self, action: str, member: int, details: Mapping[str, object]) -> str:
        """Have a fault injected, as `drivelab fault` does; what the device says. Raises InputError, RunError."""
        return control.act(self.named, request(action, member, details))


def sessions(given: Sequence[str]) -> list[Session]:
    """Those that were named, then those that are found."""
    named = [Session(name, is_given=True) for name in dict.fromkeys(given)]
    found = [Session(one.control, is_given=False) for one in control.known() if one.control not in given]
    return named + found


def listed(given: Sequence[str]) -> list[dict[str, Any]]:
    """The sessions that answer, and those that were named with what is wrong with them."""
    asked = sessions(given)
    if not asked:
        return []
    # One that is stopped keeps the others waiting no longer than itself.
    with ThreadPoolExecutor(min(len(asked), _ASKED_MAX)) as pool:
        return [row for row in pool.map(_row, asked) if row is not None]


def _row(session: Session) -> dict[str, Any] | None:
    """A session that answers, or one that was named with what is wrong with it."""
    row: dict[str, Any] = {"id": session.id, "named": session.named}
    try:
        answer = control.ask(session.named, _STATUS, _LISTED_S)
    except (InputError, RunError) as error:
        # What a session that was killed has left is no session.
        return {**row, "error": as_keys(raw(error))} if session.is_given else None
    figures = answer.figures or {}
    return {**row, **{key: figures.get(key) for key in ("name", "clock", "size_bytes")}}


def actions() -> list[dict[str, Any]]:
    """What can be done to a session: each action, what it does in the words of `drivelab fault`, and its details."""
    return [{"name": name, "what": ACTIONS[name], "takes": list(takes)} for name, takes in TAKES.items()]


def moment(now: control.Answer, before: control.Answer | None = None) -> dict[str, Any]:
    """What a session does, from two answers one after the other; of the first one from its beginning on.

    Rates and latencies are by the model's clock, lateness by the machine's.
    """
    conditions = now.told.split("; ")
    found: dict[str, Any] = {"told": now.told, "in_force": conditions[1:]}
    if now.figures is None:
        return found
    last = (before.figures if before is not None else None) or {}
    seconds = (now.figures["model_ns"] - last.get("model_ns", 0)) / _SECOND_NS
    kinds = {
        kind: {key: now.figures[kind][key] - last.get(kind, {}).get(key, 0) for key in now.figures[kind]}
        for kind in ("reads", "writes", "flushes")
    }
    return found | {
        "depth": now.figures["under_way"],
        "seconds": seconds,
        "model_ns": now.figures["model_ns"],
        "iops": _rate(sum(kinds[kind]["commands"] for kind in ("reads", "writes")), seconds),
        "bytes_per_s": _rate(sum(kinds[kind]["bytes"] for kind in ("reads", "writes")), seconds),
        "errors": sum(now.figures[kind]["errors"] for kind in kinds),
        "commands": sum(now.figures[kind]["commands"] for kind in kinds),
        "latency_ns": _times(now.figures["latency_ns"], last.get("latency_ns")),
        "lateness_ns": _times(now.figures["lateness_ns"], last.get("lateness_ns")),
    }


def _rate(count: int, seconds: float) -> float | None:
    return count / seconds if seconds > 0 else None


def _times(now: Mapping[str, Any], last: Mapping[str, Any] | None) -> dict[str, Any]:
    """The mean since the last answer, None where there was none; percentiles and maximum of the whole session."""
    count, total = (now[key] - (last or {}).get(key, 0) for key in ("n", "sum"))
    return {"mean": total / count if count > 0 else None, **{key: now[key] for key in ("p50", "p99", "max")}}
