"""What a run is about, in words for the title of a picture: the drive, the workload, and what was set otherwise."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.report import toml_text
from drivelab.scenarios.scenario import Override, Source
from drivelab.scenarios.sizes import size_with_unit

# The kinds of fio, as people say them.
KINDS = {
    "read": "sequential reads",
    "write": "sequential writes",
    "rw": "sequential reads and writes",
    "readwrite": "sequential reads and writes",
    "randread": "random reads",
    "randwrite": "random writes",
    "randrw": "random reads and writes",
}
# These are in the title itself; what is below them goes under their names.
_SAID = {"target.drive", "target.array.level", "target.array.members"}
# More than so many settings make a title that nobody reads.
_SETTINGS_MAX = 5


@dataclass(frozen=True)
class Subject:
    """The target by its name, and what was laid over it: keys below `target` with their values as they were given."""

    target: str
    settings: Mapping[str, str]

    def title(self, fio: Sequence[str]) -> str:
        """One line: the target and the workload of all points, as far as they have it in common."""
        return ": ".join(part for part in (self.target, workload(fio)) if part)

    def notes(self, swept: Iterable[str]) -> list[str]:
        """What was set otherwise and is no axis of the picture."""
        axes = set(swept)
        found = [
            f"{key.removeprefix('target.')} {text}" for key, text in self.settings.items() if key not in axes
        ]
        more = f" and {len(found) - _SETTINGS_MAX} more" if len(found) > _SETTINGS_MAX else ""
        return [f"With {', '.join(found[:_SETTINGS_MAX])}{more}"] if found else []


def workload(fio: Sequence[str]) -> str:
    """Kind and block size, where all points (as fio job files) share them."""
    kinds = {tuple(re.findall(r"^rw=(\w+)", text, re.MULTILINE)) for text in fio}
    sizes = {tuple(re.findall(r"^bs=(\d+)$", text, re.MULTILINE)) for text in fio}
    splits = any("bssplit=" in text for text in fio)
    names = {KINDS.get(kind, kind) for found in kinds for kind in found}
    kind = names.pop() if len(names) == 1 else ""
    if any(re.search(r"^percentage_random=", text, re.MULTILINE) for text in fio):
        # Only a share of them goes to random places.
        kind = kind.removeprefix("random ").removeprefix("sequential ")
    size = ""
    if len(sizes) == 1 and not splits and len(set(found := sizes.pop())) == 1:
        size = size_with_unit(int(found[0]))
    return " ".join(part for part in (kind, f"of {size}" if kind and size else size) if part)


def is_sequential(fio: Sequence[str]) -> bool:
    """Whether no point has a job that goes to random places: then a rate in MB/s says more than IOPS."""
    kinds = [kind for text in fio for kind in re.findall(r"^rw=(\w+)", text, re.MULTILINE)]
    plain = not any(re.search(r"percentage_random=[^0]", text) for text in fio)
    return bool(kinds) and plain and not any(kind.startswith("rand") for kind in kinds)


def subject_of(source: Source, overrides: Iterable[Override]) -> Subject:
    """The subject of a scenario with its overrides, which have been checked before."""
    try:
        tree = toml_text.loads(source.text)
    except tomllib.TOMLDecodeError:
        tree = {}
    keys = dict(_flat(tree.get("target", {}), "target"))
    for override in overrides:
        if override.key.startswith("target."):
            keys[override.key] = override.value.strip().strip("'\"")
    drive = keys.get("target.drive") or keys.get("target.drive.base", "")
    if drive.endswith(".toml") and "," not in drive:
        drive = Path(drive).stem
    if "," in drive:
        drive = drive.strip("[]").replace("'", "").replace('"', "").replace(",", ", ").replace("  ", " ")
    level, members = keys.get("target.array.level"), keys.get("target.array.members")
    if level:
        drive = f"{level}{f' of {members}' if members else ''}{f' {drive}' if drive else ''}"
    others = {key: text for key, text in keys.items() if key not in _SAID and key != "target.drive.base"}
    return Subject(drive, others)


def _flat(table: Any, prefix: str) -> Iterable[tuple[str, str]]:  # noqa: ANN401 - whatever TOML has
    """Each key below a table with its value as text."""
    if not isinstance(table, Mapping):
        yield prefix, table if isinstance(table, str) else _text(table)
        return
    for key, value in table.items():
        yield from _flat(value, f"{prefix}.{key}")


def _text(value: object) -> str:
    """A value as a scenario has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
