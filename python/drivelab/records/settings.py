"""The settings of a record: each key of its scenario with its values, and what the drive has where nobody set it.

What is stated stands in the scenario; what is implied comes from the drive's file, its interface and its class. Of
both, `target.queue`, `target.cache` and `target.write_cache` are the values in force, wherever they were set.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drivelab import _core
from drivelab.records.model import Settings, is_workload
from drivelab.records.places import axis_name
from drivelab.report.points_table import axis_text
from drivelab.scenarios.sizes import size_of

DRIVE = "target.drive"
# Sections of a drive file that a scenario sets below `target`.
_OF_TARGET = ("queue", "cache", "write_cache")
_NO_SETTINGS = {"name"}
# They tell one run from another and say nothing about it.
_UNSPOKEN = {"run.seed", "workload.name", "workload.ioengine", "workload.time_based"}
NOT_SET = "not set"
# A longer value is a table of the drive, and not for people.
_CHARACTERS_MAX = 120
_VALUES_MAX = 200


def settings_of(document: Mapping[str, Any]) -> Settings:
    """The settings of a record; none of one that holds no scenario."""
    text = document.get("scenario")
    if not isinstance(text, str):
        return Settings()
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return Settings()
    points = [point for point in document.get("points") or () if isinstance(point, Mapping)]
    swept = _swept(points)
    stated = {key: [_shown(value)] for key, value in _flat(tree, "") if key not in _NO_SETTINGS}
    stated = {key: values for key, values in stated.items() if not _is_below(key, swept)} | swept
    if (base := stated.get(f"{DRIVE}.base")) and DRIVE not in stated:
        stated[DRIVE] = base
    for key in list(stated):
        # A key of the queue may be set in the drive's table as well.
        if key.startswith(tuple(f"{DRIVE}.{name}" for name in _OF_TARGET)):
            stated.setdefault(f"target.{key.removeprefix(DRIVE + '.')}", stated[key])
    implied = _of_drive(stated, document.get("files")) | _in_force(points, stated)
    return Settings(stated, {key: values for key, values in implied.items() if key not in stated})


def _swept(points: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for point in points:
        axes = point.get("axes")
        for key, value in axes.items() if isinstance(axes, Mapping) else ():
            found.setdefault(str(key), {})[_shown(value)] = None
    return {key: list(values)[:_VALUES_MAX] for key, values in found.items()}


def _is_below(key: str, swept: Mapping[str, object]) -> bool:
    return any(key == axis or key.startswith((f"{axis}.", f"{axis}[")) for axis in swept)


def _flat(value: Any, before: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - whatever TOML has
    """Each value below a table with its full name, as a scenario's overrides have it."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{before}.{key}" if before else key)
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{before}[{number}]")
    else:
        yield before, value


def _shown(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else axis_text(value)
    return text if len(text) <= _CHARACTERS_MAX else f"{text[:_CHARACTERS_MAX]}.."


def _of_drive(stated: Mapping[str, list[str]], files: object) -> dict[str, list[str]]:
    """What the drive's file says, with the files that it is based on."""
    names = stated.get(DRIVE, [])
    if len(names) != 1 or not isinstance(files, Mapping):
        return {}
    chain: list[tuple[str, str]] = []
    name: str | None = names[0]
    while name is not None and name not in dict(chain):
        text = files.get(f"catalogue/drives/{name}.toml", files.get(name))
        if not isinstance(text, str):
            break
        chain.append((name, text))
        name = _core.base(text)
    if not chain:
        return {}
    found = {}
    for fact in _core.facts("drives", chain[0][1], chain[1:]):
        key, values = fact["key"], [_shown(fact["value"])]
        if key.startswith("identity."):
            continue
        found[f"{DRIVE}.{key}"] = values
        if key.split(".")[0] in _OF_TARGET:
            found[f"target.{key}"] = values
    return found


def _in_force(points: Sequence[Mapping[str, Any]], stated: Mapping[str, object]) -> dict[str, list[str]]:
    """What controller and drive have agreed on, and what was assumed, where it is the same at every point."""
    found: dict[str, dict[str, None]] = {}
    for point in points:
        force = point.get("in_force")
        if not isinstance(force, Mapping):
            continue
        assumed = [one for one in force.get("assumed") or () if isinstance(one, Mapping)]
        own = {str(one.get("key")): one.get("value") for one in assumed}
        for firmware in force.get("firmware") or ():
            own |= {str(key): value for key, value in firmware.get("supplied") or ()}
        own |= {f"queue.{key}": force[key] for key in ("protocol", "depth") if force.get(key) is not None}
        for key, value in own.items():
            before = "target" if key.split(".")[0] in _OF_TARGET else DRIVE
            found.setdefault(f"{before}.{key}", {})[_shown(value)] = None
    return {key: list(values) for key, values in found.items() if key not in stated}


def is_same(one: str, other: str) -> bool:
    """Whether two values are the same, however they are written: 4k and 4096, 60s and 1min."""
    if one.strip().lower() == other.strip().lower():
        return True
    for reader in (size_of, _time_of):
        left, right = reader(one), reader(other)
        if left is not None and left == right:
            return True
    return False


def _time_of(text: str) -> int | None:
    # fio's minutes.
    text = text.strip().lower()
    text = f"{text}in" if text.endswith("m") else text
    try:
        return _core.span_ns(text)
    except ValueError:
        return None


def differences(first: Settings, other: Settings) -> dict[str, tuple[str, str]]:
    """The settings in which two records differ as a whole, with the value of each; what is swept is a place.

    The workload's axes are places as well. Of two different drives only what somebody set is named.
    """
    if not (first.stated and other.stated):
        return {}
    mine, others = first.all(), other.all()
    stated = {**first.stated, **other.stated}
    is_other_drive = _differs(mine.get(DRIVE), others.get(DRIVE))
    # A measured record has no target: it is the device.
    has_target = all(any(key.startswith("target.") for key in keys) for keys in (mine, others))
    found = {}
    for key in dict.fromkeys([*stated, *mine, *others]):
        if key in _UNSPOKEN or is_workload(axis_name(key)) or _is_twice(key, stated):
            continue
        if key.startswith("target.") and not has_target:
            continue
        # What follows from another setting is no difference of its own.
        is_fact = key.startswith(f"{DRIVE}.") and key in mine and key in others and not is_other_drive
        if key not in stated and not is_fact:
            continue
        one, two = mine.get(key, [NOT_SET]), others.get(key, [NOT_SET])
        if len(one) == len(two) == 1 and _differs(one, two):
            found[key] = (one[0], two[0])
    return found


def _is_twice(key: str, stated: Mapping[str, object]) -> bool:
    """Whether the same difference has another name: `target.queue.depth` is that of `target.drive.queue.depth`."""
    name = key.removeprefix(f"{DRIVE}.")
    below = name != key and name.split(".")[0] in _OF_TARGET
    return key == f"{DRIVE}.base" or (below and f"target.{name}" in stated)


def _differs(one: Sequence[str] | None, other: Sequence[str] | None) -> bool:
    if one is None or other is None or len(one) != len(other):
        return one != other
    return not all(is_same(left, right) for left, right in zip(one, other, strict=True))


def label(settings: Mapping[str, str]) -> str:
    """Settings in a few words, for a table or a chart."""
    return ", ".join(f"{key.removeprefix('target.')} {value}" for key, value in settings.items())


def of_target(settings: Settings) -> dict[str, str]:
    """What was set of the target beside its name: what tells a record from others of the same drive."""
    named = {DRIVE, f"{DRIVE}.base", "target.array.level", "target.array.members"}
    return {
        key: values[0]
        for key, values in settings.stated.items()
        if key.startswith("target.")
        and len(values) == 1
        and not (key in named or _is_twice(key, settings.stated))
    }


def as_axis(settings: Settings, axis: str) -> str | None:
    """The one value of a setting under the name that it has as an axis."""
    for key, values in settings.all().items():
        if axis_name(key) == axis and len(values) == 1:
            return values[0]
    return None
