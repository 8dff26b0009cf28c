"""What can be done to a device while it is served: the actions, what each takes, and the request that asks for one."""

from __future__ import annotations

from collections.abc import Mapping

from drivelab.errors import InputError, ref
from drivelab.scenarios.quantities import span_ns

ACTIONS = {
    "media": "sectors of a member (--lba, --sectors) cannot be read until they are written",
    "corrupt": "the contents of these sectors (--lba, --sectors) on a member's media change without an error",
    "slow": "a member starts each command later by --by, or everything takes it --factor times as long",
    "hang": "a member does not answer, for good or --for a time",
    "reset": "the link to a member is reset: unanswered commands are sent again",
    "lie": "a member answers FLUSH at once, whatever its cache holds; --for ends it",
    "honest": "a member answers FLUSH when its cache is written",
    "fail": "a member fails for good; with --for an empty drive takes its place after that time",
    "dead": "the same as fail",
    "replace": "an empty drive takes the place of a member that has failed",
    "power-cut": "the power is cut, now or --during-write, and returns at once, or after --for",
    "scrub": "the array begins a scrub: it reads and compares all members",
    "rebuild": "the array begins to rebuild a missing member",
    "start": "an array that was not started after a power cut, being dirty and degraded, is started",
    "status": "reports the state of the device, and changes nothing",
}
"""Each action, in the words of the command line."""

SAME = {"dead": "fail"}
"""Other names of actions."""

TAKES: Mapping[str, tuple[str, ...]] = {
    "media": ("member", "lba", "sectors"),
    "corrupt": ("member", "lba", "sectors"),
    "slow": ("member", "by", "factor", "over", "share", "for", "every"),
    "hang": ("member", "for"),
    "reset": ("member",),
    "lie": ("member", "for"),
    "honest": ("member",),
    "fail": ("member", "for"),
    "replace": ("member",),
    "power-cut": ("for", "during_write"),
    "scrub": (),
    "rebuild": (),
    "start": (),
}
"""The details that each action takes which changes something."""

_SPANS = ("for", "by", "over", "every")
_COUNTS = ("lba", "sectors", "factor")


def request(action: str, member: int, details: Mapping[str, object]) -> dict[str, object]:
    """An action as the device reads it. Details are those of `drivelab fault`; None is left out. Raises InputError."""
    if action not in ACTIONS:
        raise InputError(f"{action}: there is no such action; there are {', '.join(ACTIONS)}")
    found: dict[str, object] = {"action": SAME.get(action, action), "member": member}
    found |= {name: details[name] for name in _COUNTS if details.get(name) is not None}
    if details.get("during_write"):
        found["during_write"] = True
    for name in _SPANS:
        if (text := details.get(name)) is not None:
            found[f"{name}_ns"] = span_ns(name, str(text))
    if (share := details.get("share")) is not None:
        found["share_ppm"] = _parts_per_million(str(share))
    return found


def _parts_per_million(share: str) -> int:
    """Of a share such as 1%. Raises InputError."""
    number = share.removesuffix("%")
    try:
        found = float(number) * (1e4 if share.endswith("%") else 1e6)
    except ValueError:
        found = -1.0
    if not 0 < found <= 1e6:
        raise InputError(f"{ref('share', share)}: give a share such as 1% or 0.01")
    return max(round(found), 1)
