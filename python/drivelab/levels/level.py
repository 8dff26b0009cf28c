"""The levels by name: how many members each needs, how much of them is data, and which failures it tolerates.

The rules are those of the array itself; here they are stated for a table that shows every level, whether the number
of drives allows it or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from drivelab.errors import OptionError
from drivelab.levels.formulas import Arcs, Arrangement, Groups, Sets

LEVELS = (
    "jbod",
    "raid0",
    "raid1",
    "raid01",
    "raid10",
    "raid3",
    "raid4",
    "raid5",
    "raid6",
    "raid30",
    "raid50",
    "raid60",
    "raidz1",
    "raidz2",
    "raidz3",
)
"""Every level, in the order of the table."""

LAYOUTS = ("near", "far", "offset")
"""How the copies of RAID 10 may be placed: `raid10:far`. Other levels tolerate the same in every layout."""

COPIES, GROUPS = 2, 2
MEMBERS_MAX = 1024

PARITIES = {
    "raid3": 1,
    "raid4": 1,
    "raid5": 1,
    "raid6": 2,
    "raid30": 1,
    "raid50": 1,
    "raid60": 2,
    "raidz1": 1,
    "raidz2": 2,
    "raidz3": 3,
}
"""The number of members of a group that may be missing without loss."""
GROUPED = {"raid30", "raid50", "raid60"}
_TURNED = {"raid4", "raid5", "raid6", "raid50", "raid60"}
COPIED = {"raid01", "raid10"}
NOTHING_SPARE = {"jbod", "raid0"}


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
        cls, text: str, members: int, copies: int = COPIES, groups: int = GROUPS, option: str = "--levels"
    ) -> Level:
        """A level as typed: `raid5`, `raid10:far`. Raises InputError, for the option that names it."""
        name, colon, layout = text.strip().lower().partition(":")
        what = None
        if name not in LEVELS:
            what = f"there is no level {text.strip()}: it is {', '.join(LEVELS)}"
        elif colon and name == "raid10" and layout not in LAYOUTS:
            what = f"{text.strip()}: the layouts of raid10 are {', '.join(LAYOUTS)}"
        elif colon and name not in _TURNED | {"raid10"}:
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
        if self.name in COPIED and not 2 <= self.copies <= self.members:
            return f"{self.copies} copies need {max(self.copies, 2)} members or more"
        by = self.groups if self.name in GROUPED else self.copies if self.name == "raid01" else 1
        if by < 1 or self.members % by:
            what = "groups" if self.name in GROUPED else "copies of a striped set"
            return f"{by} {what} need a number of members that {by} divides"
        least = self._least()
        if self.members // self._parts() < least:
            return f"needs {least} members or more" + (" in each group" if self._parts() > 1 else "")
        return None

    def bears_none(self) -> str | None:
        """Why there is no degraded state; None where there is one."""
        return "holds everything once: without a member data are lost" if self.name in NOTHING_SPARE else None

    def arrangement(self) -> Arrangement:
        """Which sets of failed members lose data: any of them in a JBOD, which loses a part."""
        n, copies = self.members, self.copies
        if self.name in NOTHING_SPARE:
            return Groups(n, 0)
        if self.name == "raid1":
            return Groups(n, n - 1)
        if self.name == "raid01":
            return Sets(n // copies, copies)
        if self.name == "raid10":
            block = math.gcd(n, copies) if self.layout in {None, "near"} else 1
            if block == copies:
                return Groups(copies, copies - 1, n // copies)
            return Arcs(n // block, block, copies // block)
        return Groups(n // self._parts(), PARITIES[self.name], self._parts())

    def arrangement_of_all(self) -> Arrangement:
        """Which sets of failed members lose all data: different where members are independent."""
        return Groups(self.members, self.members - 1) if self.name == "jbod" else self.arrangement()

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

    def _parts(self) -> int:
        return self.groups if self.name in GROUPED else 1

    def _least(self) -> int:
        """Minimum number of members of each group."""
        if self.name in NOTHING_SPARE:
            return 1
        if self.name == "raid1":
            return 2
        if self.name in COPIED:
            return self.copies
        return PARITIES[self.name] + (1 if self.name.startswith("raidz") else 2)
