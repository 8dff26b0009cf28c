"""A drive file from a description: its sections, with the source of each, and its text.

A table of zones or of seeks has one entry per line, so that people can read it and a change shows in a diff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.disksim import seek
from drivelab.disksim.disk import Disk, disk, ms
from drivelab.disksim.layout import Layout, layout
from drivelab.disksim.parameters import Parameters
from drivelab.disksim.patterns import G4, patterns
from drivelab.disksim.syntax import Block, Description
from drivelab.disksim.system import disk_and_bus, disk_names
from drivelab.disksim.text import Place
from drivelab.report.plural import counted
from drivelab.report.toml_text import value_text

SHORT = "DS"
"""How the facts refer to their source."""

# The descriptions were made and validated with one request at a time, whatever queue the drive has.
_NO_QUEUE = {
    "value": "none",
    "mark": "inferred",
    "source": "described with one request at a time; of a SCSI drive that queues write scsi-tcq",
}
# Line length of a table, the same as for the project's text.
_LINE = 118


@dataclass(frozen=True)
class Drive:
    """A drive in the terms of a drive file."""

    name: str
    keys: dict[str, Any]
    """The whole file as a dictionary."""
    places: dict[str, Place]
    """Where each section is described."""
    zones: list[Place]
    """The same for each zone."""
    left_out: list[str]
    """What the description says and a drive file cannot, in words."""

    def text(self) -> str:
        """The whole file."""
        return "\n".join(_text(self.name, self.keys, self.left_out)) + "\n"


def drive(description: Description, name: str | None = None) -> Drive:
    """A drive of a description: the one with this name, or the model of all. Raises DisksimError."""
    block, bus = disk_and_bus(description, name)
    device = Parameters(block)
    found = disk(device, bus)
    model = Parameters(device.within("Model"))
    heads = model.count("Number of data surfaces", 1)
    reported = model.count("Block count")
    cylinders = model.count("Number of cylinders", 1) if model.has("Number of cylinders") else 1
    mech = Parameters(model.within("Mechanical Model"))
    if mech.block.type != "dm_mech_g1":
        raise mech.block.place.error(f"a mechanism of type {mech.block.type} cannot be imported")
    geometry, zones = _laid(model.within("Layout Model"), heads, reported)
    if "zones" in geometry:
        last = geometry["zones"][-1]
        cylinders = int(last["first_cylinder"] + last["cylinders"])
    found_seek = seek.curve(mech, cylinders)
    curve, seek_files = found_seek.points, found_seek.files
    files = [*description.files, *seek_files]
    table = {"table": [[distance, ms(time)] for distance, time in curve]} if isinstance(curve, list) else {}
    figures = {} if isinstance(curve, list) else {key: ms(time) for key, time in curve.items()}
    settle = {
        "head_switch": ms(mech.time("Head switch time")),
        "write_settle": ms(mech.number("Add. write settling delay") + found_seek.write_longer),
        **found.on_arrival,
    }
    rpm = mech.count("Rotation speed (in rpms)", 1)
    mech.ignore("Access time type", "Percent error in rpms")
    for parameters in (model, mech):
        parameters.check_all_known()
    specs, mechanics = block.place.path, mech.block.place.path
    places = dict.fromkeys(("write_cache", "firmware", "link", "disconnect", "queue", "cache"), block.place)
    places |= {"rpm": mech.place("Rotation speed (in rpms)"), "seek": mech.place("Seek type")}
    places |= {"settle": mech.block.place, "geometry": model.within("Layout Model").place}
    keys = {
        "rpm": {"value": f"{rpm}rpm", **_fact(mechanics)},
        "write_cache": {"value": found.write_cache, **_fact(specs)},
        "identity": {**_fact(specs), "model": block.name},
        "sources": {SHORT: _source(files)},
        "geometry": {
            **_fact(model.within("Layout Model").place.path),
            **geometry,
        },
        "seek": {**_fact(*seek_files or [mechanics]), **table, **figures},
        "settle": {**_fact(mechanics), **settle},
        # DiskSim's own orders have no guard margin: an imported drive stays as exact as it is described.
        "firmware": {**_fact(specs), "class": "ideal", **found.firmware},
        "link": {**_fact(specs), **_link(found)},
    }
    if found.disconnect:
        keys["disconnect"] = {**_fact(specs), **found.disconnect}
    keys["queue"] = {**_fact(specs), "protocol": _NO_QUEUE, **found.queue}
    if found.cache is None:
        keys["cache"] = {"value": False, **_fact(specs)}
    else:
        keys["cache"] = {**_fact(specs), **found.cache}
    others = len(disk_names(description)) - 1
    left_out = [f"the topology: it has {counted(others, 'more disk')}"] if others else []
    return Drive(block.name, keys, places, zones, [*found_seek.left_out, *left_out])


def _fact(*files: Path) -> dict[str, str]:
    """The source of a fact. The figures of descriptions of real drives were extracted by measurement."""
    return {"mark": "measured", "source": f"{SHORT}: {', '.join(map(_name, files))}"}


def _name(path: Path) -> str:
    """A file's name as text, even if its bytes are not valid text."""
    return path.name.encode(errors="replace").decode()


def _link(found: Disk) -> dict[str, Any]:
    """The link, with the sector time that its rate stands for."""
    keys: dict[str, Any] = dict(found.link)
    for key, sector in (("rate", found.sector.read), ("write_rate", found.sector.write)):
        if key in keys:
            source = f"{SHORT}: {ms(sector)[:-2]} ms a sector"
            keys[key] = {"value": keys[key], "mark": "measured", "source": source}
    return keys


def _laid(block: Block, heads: int, reported: int) -> tuple[dict[str, Any], list[Place]]:
    """The section geometry, and where each of its zones is described."""
    if block.type != G4:
        laid = layout(block, heads)
        return _geometry(laid, reported), laid.places
    found = patterns(block, heads)
    keys: dict[str, Any] = {"heads": heads}
    if 0 < reported < found.blocks:
        keys["capacity"] = f"{reported} sectors"
    elif reported > found.blocks:
        raise block.place.error(f"the layout holds {found.blocks} blocks, and the drive has {reported}")
    if found.skips:
        keys["skips"] = found.skips
    return {**keys, "patterns": [{"runs": runs} for runs in found.patterns]}, []


def _geometry(laid: Layout, reported: int) -> dict[str, Any]:
    keys: dict[str, Any] = {"heads": laid.heads, **laid.order}
    if 0 < reported < laid.blocks:
        keys["capacity"] = f"{reported} sectors"
    keys["zones"] = laid.zones
    return {**keys, "slips": laid.slips} if laid.slips else keys


def _source(files: Sequence[Path]) -> str:
    first, *rest = dict.fromkeys(map(_name, files))
    used = f" with {', '.join(rest)}" if rest else ""
    return f"{first}{used}: parameter files of DiskSim 4.0 (CMU-PDL-08-101)"


def _text(name: str, keys: Mapping[str, Any], left_out: Sequence[str]) -> Iterator[str]:
    shown = name if name.isprintable() else ascii(name)
    yield f"# {shown}, imported from its description for DiskSim by `drivelab import disksim`."
    yield from (f"# Left out: {omission}" for omission in left_out)
    for key, value in keys.items():
        if not isinstance(value, Mapping) or "value" in value:
            yield f"{key} = {value_text(value)}"
    for section, entries in keys.items():
        if isinstance(entries, Mapping) and "value" not in entries:
            yield f"\n[{section}]"
            for key, value in entries.items():
                if key != "patterns":
                    yield from _entry(key, value)
            for number, pattern in enumerate(entries.get("patterns", ())):
                yield f"\n[[{section}.patterns]] # {number}"
                yield from _entry("runs", pattern["runs"])


def _entry(key: str, value: object) -> Iterator[str]:
    """A key with its value: a list of tables with as many per line as fit."""
    if not isinstance(value, list):
        yield f"{key} = {value_text(value)}"
        return
    yield f"{key} = ["
    line = "   "
    for item in value:
        text = f" {value_text(item)},"
        if len(line) + len(text) > _LINE and line.strip():
            yield line
            line = "   "
        line += text
    yield from ([line] if line.strip() else [])
    yield "]"
