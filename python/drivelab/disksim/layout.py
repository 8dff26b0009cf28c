"""The placement of blocks: a layout `dm_layout_g1` as the keys of a drive file's section `geometry`.

DiskSim counts the sectors of a zone from its first track on, spares and slips included, as a drive file counts slots.
Each sparing scheme defines the part of the zone at whose end spares lie; a slipped defect uses one up. The only
difference: within a track DiskSim passes slots without blocks in zero time, which no platter does and a drive file
cannot express.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from drivelab.disksim.parameters import Parameters, as_count, wrong
from drivelab.disksim.syntax import Block
from drivelab.disksim.text import Place

NONE, TRACKS, CYLINDER, TRACK, DISK_END, RANGE, ZONE, ZONE_TO_END = 0, 1, 2, 3, 7, 8, 9, 10
SCHEMES = (NONE, TRACKS, CYLINDER, TRACK, DISK_END, RANGE, ZONE, ZONE_TO_END)
ORDERS = {0: {"surface_order": "cylinder"}, 1: {"surface_order": "alternating"}}
ORDERS[2] = {"surface_order": "alternating", "alternates_by": "drive"}

CYLINDERS_MAX = 2**22
"""The limit of a drive file."""

Slip = dict[str, Any]
"""An entry of a drive file's `geometry.slips`."""


@dataclass(frozen=True)
class Layout:
    """A whole drive's layout in the terms of a drive file."""

    heads: int
    order: dict[str, str]
    zones: list[dict[str, Any]]
    slips: list[Slip]
    blocks: int
    """Blocks that the zones hold."""
    places: list[Place]
    """Where each zone is described."""


def layout(block: Block, heads: int) -> Layout:
    """The layout of a drive with this many heads."""
    if block.type != "dm_layout_g1":
        raise block.place.error(
            f"a layout of type {block.type} cannot be imported, only dm_layout_g1 and dm_layout_g4"
        )
    whole = Parameters(block)
    if whole.has("Skew units") and whole.word("Skew units") != "sectors":
        raise whole.wrong("Skew units", "only sectors can be imported")
    mapping = whole.one_of("LBN-to-PBN mapping scheme", tuple(ORDERS))
    scheme = int(whole.number("Sparing scheme used"))
    if scheme not in SCHEMES:
        known = ", ".join(map(str, SCHEMES))
        raise whole.wrong("Sparing scheme used", f"schemes {known} can be imported")
    range_ = whole.count("Rangesize for sparing", 1) if scheme == RANGE else 0
    whole.ignore("Rangesize for sparing")
    entries = whole.items("Zones")
    if not entries:
        raise whole.wrong("Zones", "there is no zone")
    zones: list[dict[str, Any]] = []
    slips: list[Slip] = []
    blocks = 0
    for entry in entries:
        if not isinstance(entry.value, Block):
            raise entry.place.error("a zone is a block dm_layout_g1_zone { .. }")
        zone = _Zone(Parameters(entry.value), heads, mapping, scheme, range_)
        zones.append(zone.keys())
        slips += zone.slip_entries()
        blocks += zone.blocks()
    whole.check_all_known()
    return Layout(heads, ORDERS[mapping], zones, slips, blocks, [entry.place for entry in entries])


class _Zone:
    """One zone, with its numbers in DiskSim's meaning."""

    def __init__(self, zone: Parameters, heads: int, mapping: int, scheme: int, range_: int) -> None:
        self.zone = zone
        self.heads = heads
        self.mapping = mapping
        self.scheme = scheme
        self.range = range_
        self.first = zone.count("First cylinder number")
        if zone.count("Last cylinder number") >= CYLINDERS_MAX:
            raise zone.wrong("Last cylinder number", f"no drive has more than {CYLINDERS_MAX} cylinders")
        self.cylinders = zone.count("Last cylinder number") - self.first + 1
        if self.cylinders < 1:
            raise zone.wrong("Last cylinder number", "the zone ends before it begins")
        self.per_track = zone.count("Blocks per track", 1)
        self.spares = zone.count("Number of spares")
        if self.scheme in (CYLINDER, TRACK, RANGE) and self.spares >= self._stretch:
            what = "all of their stretch, which has no room for blocks then"
            raise zone.wrong("Number of spares", f"they are {what}: it has {self._stretch} sectors")
        self.slips = sorted({as_count(entry) for entry in zone.items("slips")})
        self._check_defects()
        self._check_slips()

    def _check_defects(self) -> None:
        """A remapped defect would cost a seek of its own, which a drive file cannot express."""
        pairs = self.zone.items("defects")
        if len(pairs) % 2:
            raise self.zone.wrong("defects", "pairs of numbers are wanted")
        for bad, replacement in zip(pairs[::2], pairs[1::2], strict=True):
            if as_count(bad) != as_count(replacement):
                raise wrong(bad, "defects that are mapped elsewhere cannot be imported")

    @property
    def _cylinder(self) -> int:
        return self.heads * self.per_track

    @property
    def _stretch(self) -> int:
        """Sectors of the range that a spare serves."""
        lengths = {
            CYLINDER: self._cylinder,
            TRACK: self.per_track,
            RANGE: self.range * self._cylinder,
            TRACKS: self.cylinders * self.heads,
        }
        return lengths.get(self.scheme, self.cylinders * self._cylinder)

    def _check_slips(self) -> None:
        slots = self.cylinders * (self.heads if self.scheme == TRACKS else self._cylinder)
        if self.slips and self.slips[-1] >= slots:
            raise self.zone.wrong("slips", f"{self.slips[-1]} is behind the zone's {slots}")
        if self.scheme == NONE and self.slips:
            raise self.zone.wrong("slips", "there are none without a sparing scheme")
        if self.scheme in (DISK_END, ZONE_TO_END):
            return
        # A range that is cut off at the zone's end has no spares.
        whole = slots // self._stretch
        for number in {slip // self._stretch for slip in self.slips}:
            used = bisect_left(self.slips, (number + 1) * self._stretch) - bisect_left(
                self.slips, number * self._stretch
            )
            room = self.spares if number < whole else 0
            if used > room:
                raise self.zone.wrong("slips", f"{used} of them share {room} spares")

    def keys(self) -> dict[str, Any]:
        """The zone in the terms of a drive file."""
        zone = self.zone
        keys: dict[str, Any] = {
            "first_cylinder": self.first,
            "cylinders": self.cylinders,
            "sectors_per_track": self.per_track,
            "start": self._turns("Offset of first block"),
            "track_skew": self._turns("Skew for track switch"),
            "cylinder_skew": self._turns("Skew for cylinder switch"),
        }
        dead = zone.count("Empty space at zone front")
        if front := self._slot(dead) if dead else 0:
            keys["front"] = front
        keys |= self._spare_keys()
        if self.scheme in (CYLINDER, TRACK) and self.slips:
            keys["slips_turn"] = True
        zone.check_all_known()
        return keys

    def _turns(self, key: str) -> str:
        """This many sectors as an angle."""
        sectors = self.zone.count(key) % self.per_track
        return f"{Decimal(sectors) / self.per_track:.12f}".rstrip("0").rstrip(".") + "rev"

    def _spare_keys(self) -> dict[str, int]:
        spares = self.spares + (len(self.slips) if self.scheme == ZONE_TO_END else 0)
        if not spares or self.range > self.cylinders:
            return {}
        match self.scheme:
            case 1:
                return {"spare_tracks": spares}
            case 2:
                return {"spares_per_cylinder": spares}
            case 3:
                return {"spares_per_track": spares}
            case 8:
                return {"spares_per_range": spares, "spare_range": self.range}
            case 9 | 10:
                return {"spares": spares}
        return {}

    def blocks(self) -> int:
        """How many blocks the zone holds."""
        slots = self.cylinders * self._cylinder
        taken = {
            TRACKS: self.spares * self.per_track,
            DISK_END: len(self.slips),
            ZONE: self.spares,
            ZONE_TO_END: self.spares + len(self.slips),
        }
        if self.scheme in (CYLINDER, TRACK, RANGE):
            taken[self.scheme] = self.spares * (slots // self._stretch)
        return slots - self.zone.count("Empty space at zone front") - taken.get(self.scheme, 0)

    def _slot(self, place: int) -> int:
        """The slot at index `place` among the zone's slots that can hold a block."""
        if self.scheme == TRACKS:
            track, sector = divmod(place, self.per_track)
            return (track + self._slipped(0, track)) * self.per_track + sector
        if self.scheme in (CYLINDER, TRACK, RANGE):
            number, inside = divmod(place, self._stretch - self.spares)
            first = number * self._stretch
            return first + inside + self._slipped(first, inside)
        return place + self._slipped(0, place)

    def _slipped(self, first: int, place: int) -> int:
        """Number of slips from `first` on that precede a place."""
        count = 0
        for slip in self.slips[bisect_left(self.slips, first) :]:
            if slip - first > place + count:
                break
            count += 1
        return count

    def slip_entries(self) -> Iterator[Slip]:
        """The slips as a drive file lists them, with adjacent ones on a track merged."""
        if self.scheme == TRACKS:
            for track in self.slips:
                yield {**self._track(track), "whole_track": True}
            return
        run: Slip = {}
        end = -1
        for slip in self.slips:
            if slip == end and slip % self.per_track:
                run["count"] = run.get("count", 1) + 1
            else:
                if run:
                    yield run
                run = {**self._track(slip // self.per_track), "sector": slip % self.per_track}
            end = slip + 1
        if run:
            yield run

    def _track(self, track: int) -> Slip:
        """Cylinder and head of a track of the zone."""
        inside, step = divmod(track, self.heads)
        counted = inside + (self.first if self.mapping == 2 else 0)
        down = self.mapping != 0 and counted % 2 == 1
        return {"cylinder": self.first + inside, "head": self.heads - 1 - step if down else step}
