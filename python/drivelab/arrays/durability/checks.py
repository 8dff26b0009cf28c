"""Invalid options of an array: unknown keys, values of the wrong kind, options without effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from difflib import get_close_matches
from typing import Any

from drivelab.arrays.durability import simulated, unreadable
from drivelab.arrays.level import COPIED, GROUPED, NOTHING_SPARE, PARITIES
from drivelab.errors import NoSuchKeyError, OptionError, ref
from drivelab.errors.several import Problems

Options = Mapping[str, Any]

LIVES = ("afr", "mttf", "drive_life")
"""The three ways to give the life of a drive."""

FAILURES = (
    "life",
    "batch",
    "ure",
    "latent",
    "scrub",
    "reads",
    "detection",
    "replacement",
    "attended",
    "spares",
    "wrong_drive",
    "common",
    "outage",
)
"""What fails beside the drives, and what a repair waits for; a plan passes them on as typed."""

KEYS = (
    "level",
    "members",
    "layout",
    "copies",
    "groups",
    "parity",
    "width",
    "stripes",
    "capacity",
    *LIVES,
    *FAILURES,
    "rebuild",
    "serial",
    "method",
    "seed",
    "histories",
    "error",
    "every_loss",
    *simulated.KEYS,
)
"""The options of an array, as arguments and as keys of a file."""

USED_BY: Mapping[str, frozenset[str]] = {
    "layout": frozenset({"raid10"}),
    "copies": frozenset(COPIED),
    "groups": frozenset(GROUPED | {"lrc"}),
    "parity": frozenset({"draid", "lrc"}),
    "width": frozenset({"draid"}),
    "stripes": frozenset({"draid"}),
}
"""Options that only some levels have, and these levels."""

BARE = frozenset(NOTHING_SPARE | {"linear"})
"""Levels that lose data with their first failure."""

_GROUP_BEARS: Mapping[str, int] = {**dict.fromkeys(BARE, 0), **PARITIES}
"""The number of members of a group that may be missing without loss; for other levels it depends on options."""
_ONE_GROUP = BARE | {level for level, parities in PARITIES.items() if parities == 1 and level not in GROUPED}
"""Levels without concurrent rebuilds: a second failure loses the data."""
NEVER_REPAIRED = (
    "rebuild", "serial", "detection", "replacement", "attended", "scrub", "spares", "wrong_drive", "ure", "latent",
)  # fmt: skip
"""Options without effect if the first failure is the loss."""

_STAND_INS = {"afr": "1%", "mttf": "500000h", "drive_life": "500000h", "ure": "1e-15/bit", "scrub": "1w"}
# More problems than anybody reads: with so many the rest is not looked for.
_PROBLEMS_MAX = 100
_FLAGS = frozenset({"serial", "every_loss", "sync"})
_LISTS = frozenset({"level", "rebuild", "common", "outage"})


def check_keys(names: Iterable[str]) -> None:
    """Reject unknown keys. Raises InputError."""
    problems = Problems()
    for name in names:
        if name not in KEYS and len(problems.found) < _PROBLEMS_MAX:
            near = get_close_matches(name, KEYS, n=2)
            remedy = f"did you mean {' or '.join(near)}?" if near else f"it is one of {', '.join(KEYS)}"
            problems.found.append(NoSuchKeyError(name, None, "there is no such key", remedy))
    problems.check()


def check_values(options: Options) -> None:
    """Reject values of the wrong kind for their key; unknown keys have none. Raises InputError."""
    problems = Problems()
    for key, value in options.items():
        if key in KEYS and (wrong := _kind(key, value)) is not None:
            problems.found.append(OptionError(key, None, *wrong))
    problems.check()


def with_stand_ins(options: Options, wrong: Set[str]) -> Options:
    """The options without keys that are `wrong`, so that the others can be checked beside them.

    Where others have no effect without a key, and its value is wrong, a sound value stands in for it.
    """
    sound = {key: value for key, value in options.items() if key not in wrong}
    return sound | {key: value for key, value in _STAND_INS.items() if key in wrong}


def _kind(key: str, value: object) -> tuple[str, str] | None:
    """The error of a value's kind, and the remedy; None if there is none."""
    if key in _FLAGS:
        return None if isinstance(value, bool) else ("it is true or false", "write true, or leave it out")
    if key == "level":
        names = value if isinstance(value, list | tuple) else [value]
        is_named = all(isinstance(name, str) for name in names)
        remedy = 'such as "raid6", or ["raid5", "raid6"]'
        return None if is_named else ("it takes the name of a level, or a list of names", remedy)
    if isinstance(value, list | tuple):
        if key not in _LISTS:
            return "it takes one value, not a list", "run it once for each value"
        value = next(
            (one for one in value if not isinstance(one, str | int | float) or isinstance(one, bool)), ""
        )
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        several = ", or a list of these" if key in _LISTS else ""
        return f"it takes a text or a number{several}", 'such as 8 or "20h"'
    return None


def check_used(options: Options, names: Sequence[str]) -> None:
    """Reject options without effect with any of these levels, or with the other options. Raises InputError."""
    problems = Problems()
    plain = {name.partition(":")[0] for name in names}
    for key, users in USED_BY.items():
        if options.get(key) is not None and not plain & users:
            problems.found.append(
                OptionError(
                    key,
                    None,
                    f"it changes nothing with {', '.join(names)}",
                    f"it is of {', '.join(sorted(users))}; leave it out",
                )
            )
    problems.read(None, check_reads, options)
    problems.read(None, _check_rebuilds, options, plain)
    problems.check()


def _check_rebuilds(options: Options, plain: Set[str]) -> None:
    """Reject rebuilds of more missing members than any of these levels survives, and a shared rate without concurrent
    rebuilds.
    """
    alone = {level: _without_concurrent_rebuilds(level, options) for level in sorted(plain)}
    if options.get("serial") and all(alone.values()):
        what = f"it changes nothing with {', '.join(map(str, alone.values()))}: a second failure is the loss"
        raise OptionError("serial", None, what, "leave it out")
    given = options.get("rebuild") or ""
    steps = given if isinstance(given, list | tuple) else str(given).split(",")
    most = max(_GROUP_BEARS.get(level, len(steps)) for level in plain) or 1
    if len(steps) > most:
        names = ", ".join(sorted(plain))
        what = f"{len(steps)} times, and no group of {names} is rebuilt with more than {most} missing"
        raise OptionError(
            "rebuild", given if isinstance(given, str) else None, what, f"give {most}", item=most
        )


def _without_concurrent_rebuilds(level: str, options: Options) -> str | None:
    """The level in words if a second failure of its members is always the loss; None for others."""
    if level in _ONE_GROUP:
        return level
    if level in COPIED | {"raid1"} and str(options.get("members")).strip() == "2":
        return f"{level} of 2 members"
    if GROUPED & {level} and PARITIES[level] == 1 and str(options.get("groups")).strip() == "1":
        return f"{level} of one group"
    return None


def check_reads(options: Options) -> None:
    """Reject --reads if nothing uses it: it belongs to --ure, which has a default, and --scrub. Raises InputError."""
    if options.get("reads") is None:
        return
    has = {key: options.get(key) is not None for key in ("ure", "scrub", "latent")}
    is_none = has["ure"] and unreadable.is_none(options["ure"])
    if has["scrub"] and not is_none and not has["latent"]:
        return
    remedy = (
        f"it makes a rate by the hour of {ref('ure')} for {ref('scrub')}: give {ref('scrub', '1w')}, or "
        "leave it out"
    )
    what = f"without {ref('scrub')}"
    if has["latent"]:
        what, remedy = f"beside {ref('latent')}, which is such a rate", "leave it out"
    elif is_none:
        what, remedy = f"with {ref('ure', 'none')}", "leave it out"
    raise OptionError("reads", options["reads"], f"it changes nothing {what}", remedy)
