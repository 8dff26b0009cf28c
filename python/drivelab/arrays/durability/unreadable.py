"""Unreadable sectors where an option says nothing of them: the rate of data sheets for the class of the drive.

| class | rate | source |
|---|---|---|
| 10 000 rpm and more | 1e-16/bit | Cheetah 15K.7 and Savvio 10K.5 product manuals (1 sector in 10^16 bits) |
| 7 200 rpm, 6 TB and more, or SCSI | 1e-15/bit | Barracuda ES.2 product manual; Hetzler 2012 for drives for servers |
| flash | 1e-15/bit | JEDEC JESD218: the most that a drive for clients may have (for servers 1e-16) |
| others: desktops, notebooks | 1e-14/bit | Hetzler, "Non-recoverable read errors and reliability", 2012 |

A data sheet gives the most that its maker admits, so the figures are bounds rather than means. What drives did in the
field lies between 1e-15 and 4e-14 a bit (Elerath, CACM 52(6), 2009: 8e-15 to 3.2e-13 a byte).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from drivelab.arrays import typed
from drivelab.errors import InputError, ScenarioError, ref
from drivelab.report import toml_text
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.scenario import Override, Source, plan

NONE = "none"
"""The value of --ure without unreadable sectors."""
_FAST_RPM, _NEARLINE_BYTES = 9_000, 6e12


@dataclass(frozen=True)
class Assumed:
    """The rate of a class."""

    rate: str
    """As `--ure` takes it."""
    because: str
    """The class, in words."""

    def text(self) -> str:
        """The assumption for people."""
        return f"unreadable sectors {self.rate}, by data sheets of {self.because} (--ure)"

    def to_dict(self) -> dict[str, str]:
        """The assumption for JSON."""
        return {"ure": self.rate, "because": self.because}


FAST = Assumed("1e-16/bit", "drives of 10 000 rpm and more")
NEARLINE = Assumed("1e-15/bit", "nearline drives")
SCSI = Assumed("1e-15/bit", "SCSI drives of 7 200 rpm")
FLASH = Assumed("1e-15/bit", "flash drives for clients")
DESKTOP = Assumed("1e-14/bit", "desktop drives")


def is_none(given: object) -> bool:
    """Whether unreadable sectors are left out of what may happen."""
    return str(given).strip().lower() == NONE


def with_default(options: Mapping[str, Any]) -> tuple[dict[str, Any], Assumed | None]:
    """The options of an array with the rate of its drives where they say none, and that rate."""
    found = assumed(options)
    return ({**options, "ure": found.rate}, found) if found else (dict(options), None)


def assumed(options: Mapping[str, Any]) -> Assumed | None:
    """What is assumed of the drives of an array; None if the options say how many sectors are unreadable."""
    if any(options.get(key) is not None for key in ("ure", "latent")):
        return None
    if options.get("drive") is not None:
        return of_drive(str(options["drive"]))
    try:
        return of_capacity(typed.capacity(options.get("capacity", "1TB"), "capacity"))
    except InputError:
        # It is refused elsewhere.
        return NEARLINE


def of_capacity(count: float) -> Assumed:
    """The class of a drive of which only the capacity in bytes is known."""
    return NEARLINE if count >= _NEARLINE_BYTES else DESKTOP


def of_drive(drive: str, overrides: Sequence[Override] = ()) -> Assumed:
    """The class of a drive of the catalogue or of a file, with what is laid over it."""
    others = tuple(one for one in overrides if one.key.startswith("target."))
    of_one = tuple(one for one in others if not one.key.startswith(("target.array.", "target.controller")))
    return _of_drive((Override("target.drive", drive, ref("drive")), *of_one))


@cache
def _of_drive(overrides: tuple[Override, ...]) -> Assumed:
    document = {"target": {}, "workload": {"rw": "read", "offset": "0B"}, "run": {"ios": 1}}
    try:
        planned = plan(Source(toml_text.dumps(document), "the drive alone"), overrides)
        point: Mapping[str, Any] = run_plan(planned, 1, log=1).points[0]
    except (InputError, ScenarioError):
        # What is wrong with a drive is said where it is used.
        return NEARLINE
    platter: Mapping[str, Any] = point.get("platter") or {}
    if not platter:
        return FLASH
    if 60e9 / platter["rotation_ns"] >= _FAST_RPM:
        return FAST
    if planned.capacity_bytes(0) >= _NEARLINE_BYTES:
        return NEARLINE
    protocol = ((planned.in_force or [None])[0] or {}).get("protocol")
    return SCSI if protocol == "scsi-tcq" else DESKTOP
