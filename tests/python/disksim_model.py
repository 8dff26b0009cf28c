"""What the tests of the import compare with: a small description to change, and DiskSim's own layout formulas.

The formulas are those of DiskSim 4.0's `dm_layout_g1`, one case for each sparing scheme, with a walk over the
slips where the drive file's geometry has arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

DISK = {
    "Model": "source a.model",
    "Per-request overhead time": "0.0",
    "Time scale for overheads": "1.0",
    "Bulk sector transfer time": "0.1",
    "Hold bus entire read xfer": "0",
    "Hold bus entire write xfer": "0",
    "Allow almost read hits": "0",
    "Allow sneaky full read hits": "0",
    "Allow sneaky partial read hits": "0",
    "Allow sneaky intermediate read hits": "0",
    "Allow read hits on write data": "1",
    "Allow write prebuffering": "0",
    "Preseeking level": "0",
    "Never disconnect": "0",
    "Print stats": "1",
    "Avg sectors per cylinder": "20",
    "Max queue length": "1",
    "Scheduler": "disksim_ioqueue { Scheduling policy = 1 }",
    "Number of buffer segments": "3",
    "Maximum number of write segments": "2",
    "Segment size (in blks)": "40",
    "Use separate write segment": "0",
    "Low (write) water mark": "0.5",
    "High (read) water mark": "0.0",
    "Set watermark by reqsize": "1",
    "Calc sector by sector": "1",
    "Enable caching in buffer": "1",
    "Buffer continuous read": "3",
    "Minimum read-ahead (blks)": "0",
    "Maximum read-ahead (blks)": "30",
    "Read-ahead over requested": "1",
    "Read-ahead on idle hit": "0",
    "Read any free blocks": "1",
    "Fast write level": "2",
    "Immediate buffer read": "1",
    "Immediate buffer write": "0",
    "Combine seq writes": "1",
    "Stop prefetch in sector": "0",
    "Disconnect write if seek": "0",
    "Write hit stop prefetch": "1",
    "Read directly to buffer": "1",
    "Immed transfer partial hit": "1",
    "Read hit over. after read": "0.1",
    "Read hit over. after write": "0.2",
    "Read miss over. after read": "0.3",
    "Read miss over. after write": "0.4",
    "Write hit over. after read": "0.5",
    "Write hit over. after write": "0.6",
    "Write miss over. after read": "0.7",
    "Write miss over. after write": "0.8",
    "Read completion overhead": "0.01",
    "Write completion overhead": "0.02",
    "Data preparation overhead": "0.0",
    "First reselect overhead": "0.0",
    "Other reselect overhead": "0.5",
    "Read disconnect afterread": "0.0",
    "Read disconnect afterwrite": "0.0",
    "Write disconnect overhead": "0.0",
    "Extra write disconnect": "0",
    "Extradisc command overhead": "0.5",
    "Extradisc disconnect overhead": "0.5",
    "Extradisc inter-disconnect delay": "0.5",
    "Extradisc 2nd disconnect overhead": "0.5",
    "Extradisc seek delta": "0.5",
    "Minimum seek delay": "0.0",
}
MECH = {
    "Access time type": "trackSwitchPlusRotation",
    "Seek type": "extracted",
    "Full seek curve": "a.seek",
    "Add. write settling delay": "-0.25",
    "Head switch time": "0.5",
    "Rotation speed (in rpms)": "6000",
    "Percent error in rpms": "1.0",
}
LAYOUT = {
    "LBN-to-PBN mapping scheme": "0",
    "Sparing scheme used": "0",
    "Rangesize for sparing": "1",
}
ZONE = {
    "First cylinder number": "0",
    "Last cylinder number": "9",
    "Blocks per track": "10",
    "Offset of first block": "0.000000",
    "Empty space at zone front": "0",
    "Skew for track switch": "3.000000",
    "Skew for cylinder switch": "4.000000",
    "Number of spares": "0",
    "slips": "[ ]",
    "defects": "[ ]",
}
SEEK = "Seek distances measured: 2\n1, 1.0\n9,\t2.5000009 0.1\n"
BUS = {
    "type": "1",
    "Arbitration type": "1",
    "Arbitration time": "0.0",
    "Read block transfer time": "0.0",
    "Write block transfer time": "0.0",
    "Print stats": "0",
}
DRIVER = {"type": "1", "Constant access time": "0.0"}
CONTROLLER = {"type": "1", "Scale for delays": "0.0", "Bulk sector transfer time": "0.0"}
TOPOLOGY = "topology disksim_iodriver d [ disksim_ctlr c [ disksim_bus b [ disksim_disk x [] ] ] ]"
INSTANCES = {"d": "D", "c": "C", "b": "B", "x": "X"}


@dataclass
class Files:
    """A description in pieces: change one, then `write`. A value of None takes a parameter out."""

    disk: dict[str, str | None] = field(default_factory=dict)
    mech: dict[str, str | None] = field(default_factory=dict)
    layout: dict[str, str | None] = field(default_factory=dict)
    zones: Sequence[Mapping[str, str | None]] = ({},)
    bus: dict[str, str | None] = field(default_factory=dict)
    driver: dict[str, str | None] = field(default_factory=dict)
    controller: dict[str, str | None] = field(default_factory=dict)
    instances: dict[str, str | None] = field(default_factory=dict)
    topology: str = TOPOLOGY
    seek: str = SEEK
    surfaces: str = "2"
    reported: str = "200"
    mech_type: str = "dm_mech_g1"
    layout_type: str = "dm_layout_g1"
    layout_text: str | None = None
    """In place of the layout."""

    def write(self, folder: Path) -> Path:
        """The files in a folder. Returns the first."""
        zones = ",\n".join(f"dm_layout_g1_zone {_entries(ZONE, zone)}" for zone in self.zones)
        layout = _entries(LAYOUT | {"Zones": f"[\n{zones}\n]"}, self.layout)
        model = {
            "Number of data surfaces": self.surfaces,
            "Number of cylinders": "10",
            "Block count": self.reported,
            "Layout Model": self.layout_text or f"{self.layout_type} {layout}",
            "Mechanical Model": f"{self.mech_type} {_entries(MECH, self.mech)}",
        }
        instances = "\n".join(
            f"instantiate [ {device} ] as {block}"
            for device, block in (INSTANCES | self.instances).items()
            if block
        )
        (folder / "a.model").write_text(f"dm_disk M {_entries(model, {})}\n")
        (folder / "a.diskspecs").write_text(f"disksim_disk X {_entries(DISK, self.disk)}\n")
        (folder / "a.seek").write_text(self.seek)
        (folder / "a.parv").write_text(
            f"disksim_iodriver D {_entries(DRIVER, self.driver)}\n"
            f"disksim_bus B {_entries(BUS, self.bus)}\n"
            f"disksim_ctlr C {_entries(CONTROLLER, self.controller)}\n"
            f"source a.diskspecs\n{instances}\n{self.topology}\n"
        )
        return folder / "a.parv"


def _entries(given: Mapping[str, str], changed: Mapping[str, str | None]) -> str:
    lines = [f"  {key} = {value}" for key, value in (given | changed).items() if value is not None]
    return "{\n" + ",\n".join(lines) + "\n}"


@dataclass(frozen=True)
class Zone:
    """A zone in DiskSim's numbers."""

    first: int
    last: int
    spt: int
    offset: int
    dead: int
    track_skew: int
    cylinder_skew: int
    spares: int
    slips: Sequence[int]


Place = tuple[int, int, int, Fraction]
"""Cylinder, head, sector, and the angle at which the sector begins to pass."""


@dataclass(frozen=True)
class Layout:
    """A drive's layout as DiskSim works it out."""

    surfaces: int
    mapping: int
    scheme: int
    range: int
    zones: Sequence[Zone]

    def size(self, zone: Zone) -> int:
        """Blocks of a zone."""
        cylinders = zone.last - zone.first + 1
        base = cylinders * self.surfaces * zone.spt - zone.dead
        taken = {
            0: 0,
            1: zone.spares * zone.spt,
            2: zone.spares * cylinders,
            3: zone.spares * cylinders * self.surfaces,
            7: len(zone.slips),
            8: zone.spares * (cylinders // self.range),
            9: zone.spares,
            10: zone.spares + len(zone.slips),
        }
        return base - taken[self.scheme]

    def place(self, lbn: int) -> Place:
        """Where a block lies."""
        for zone in self.zones:
            if lbn < self.size(zone):
                return self._in(zone, lbn + zone.dead)
            lbn -= self.size(zone)
        raise IndexError(lbn)

    def _in(self, zone: Zone, x: int) -> Place:
        spt, bpc = zone.spt, self.surfaces * zone.spt
        match self.scheme:
            case 1:
                track = x // spt
                for slip in zone.slips:
                    track += slip <= track
                p = track * spt + x % spt
            case 2 | 3 | 8:
                length = {2: bpc, 3: spt, 8: self.range * bpc}[self.scheme]
                region, y = divmod(x, length - zone.spares)
                p = region * length + y + _slipped(zone.slips, region * length, y)
            case _:
                p = x + _slipped(zone.slips, 0, x)
        cylinder, inside = divmod(p, bpc)
        head, sector = divmod(inside, spt)
        shift = 0
        if self.scheme == 2:
            shift = sum(slip < cylinder * bpc for slip in zone.slips)
        if self.scheme == 3:
            shift = sum(slip < (cylinder * self.surfaces + head) * spt for slip in zone.slips)
        switches = (head + (self.surfaces - 1) * cylinder) * zone.track_skew + cylinder * zone.cylinder_skew
        angle = Fraction(zone.offset + switches + shift + sector, spt) % 1
        odd = cylinder + (zone.first if self.mapping == 2 else 0)
        if self.mapping and odd % 2:
            head = self.surfaces - 1 - head
        return zone.first + cylinder, head, sector, angle


def _slipped(slips: Sequence[int], first: int, y: int) -> int:
    count = 0
    for slip in slips:
        count += first <= slip and slip - first <= y + count
    return count
