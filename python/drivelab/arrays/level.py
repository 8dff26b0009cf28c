"""A RAID level over some members: whether they make it, its keys in a scenario, and the failures that it bears.

The table of levels and the counts of failed sets are those of the array itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drivelab import _core
from drivelab.errors import OptionError

_KNOWN = {one["name"]: one for one in _core.levels()}

LEVELS = tuple(_KNOWN)
"""Every level, in the order of the table."""

LAYOUTS = ("near", "far", "offset")
"""How the copies of RAID 10 may be placed: `raid10:far`. Other levels tolerate the same in every layout."""

COPIES, GROUPS = 2, 2
MEMBERS_MAX = 1024

PARITIES = {name: one["parities"] for name, one in _KNOWN.items() if one["parities"] is not None}
"""The number of members of a group that may be missing without loss."""
GROUPED = frozenset(name for name, one in _KNOWN.items() if one["has_groups"])
COPIED = frozenset(name for name, one in _KNOWN.items() if one["has_copies"])
NOTHING_SPARE = frozenset(name for name, one in _KNOWN.items() if not one["is_redundant"])
BARE = NOTHING_SPARE | {"linear"}
"""Levels that lose data with their first failure."""


@dataclass(frozen=True)
class Level:
    """A level over some members."""

    name: str
    members: int
    copies: int = COPIES
    groups: int = GROUPS
    layout: str | None = None

    @classmethod
    def named(
        cls, text: str, members: int, copies: int = COPIES, groups: int = GROUPS, option: str = "levels"
    ) -> Level:
        """A level as typed: `raid5`, `raid10:far`. Raises InputError, for the option that names it."""
        name, colon, layout = text.strip().lower().partition(":")
        what = None
        if name not in LEVELS:
            what = f"there is no level {text.strip()}: it is {', '.join(LEVELS)}"
        elif colon and name == "raid10" and layout not in LAYOUTS:
            what = f"{text.strip()}: the layouts of raid10 are {', '.join(LAYOUTS)}"
        elif colon and not _KNOWN[name]["has_layouts"]:
            what = f"{text.strip()}: {name} has one layout; leave it out"
        if what is not None:
            raise OptionError(option, None, what, is_named=False)
        return cls(name, members, copies, groups, layout if colon else None)

    @property
    def label(self) -> str:
        """The level as typed."""
        return self.name if self.layout is None else f"{self.name}:{self.layout}"

    def rule(self) -> str | None:
        """Why these members cannot make the level; None where they can."""
        lacking = _core.level_lacks(self.name, self.members, self.copies, self.groups)
        return None if lacking is None else f"needs {lacking}"

    def bears_none(self) -> str | None:
        """Why there is no degraded state; None where there is one."""
        return "holds everything once: without a member data are lost" if self.name in NOTHING_SPARE else None

    def failed_sets(self) -> _core.FailedSets:
        """The sets of failed members with which data are lost: any of them in a JBOD, which loses a part."""
        layout = self.layout if self.name == "raid10" else None
        return _core.FailedSets(
            self.name, self.members, copies=self.copies, groups=self.groups, layout=layout
        )

    def failed_sets_of_all(self) -> _core.FailedSets:
        """The sets with which all data are lost: different where members are independent."""
        if self.name == "jbod" and self.members > 1:
            return _core.FailedSets("raid1", self.members)
        return self.failed_sets()

    def scenario(self) -> dict[str, Any]:
        """The keys of target.array for this level."""
        found: dict[str, Any] = {"level": self.name, "members": self.members}
        if self.name in COPIED:
            found["copies"] = self.copies
        if self.name in GROUPED:
            found["groups"] = self.groups
        if self.layout is not None:
            found["layout"] = self.layout
        return found
