"""Options of answers: a field of a dataclass with its help, which the command line and a call of Python both take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True)
class Option:
    """What is said of an option: its help, what stands for its value, and the names that a shell completes."""

    help: str
    metavar: str
    names: str = ""
    """A list of names of `cli/completion.py`: drives, levels, loads."""


# Options that several answers have.
Drive = Annotated[str, Option("A drive of the catalogue, or a path to one", "NAME", "drives")]
Level = Annotated[str | None, Option("An array of the drive: raid0, raid5, raid10 ..", "NAME", "levels")]
Members = Annotated[str | None, Option("Number of drives of the array", "N")]
Rw = Annotated[str | None, Option("read, write, rw, randread, randwrite or randrw", "KIND", "loads")]
Bs = Annotated[str, Option("Size of a request", "SIZE")]
Rwmixread = Annotated[str | None, Option("Share of reads in a mixed load, in percent [70]", "PERCENT")]
