"""A drive file from a description: which section says what, with the source of each, and its text.

A table of zones or of seeks is one entry to the line, so that people can read it and a change shows in a diff.
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
from drivelab.disksim.syntax import Description
from drivelab.disksim.system import disk_and_bus
from drivelab.toml_text import value_text

SHORT = "DS"
"""What the facts call their source."""

# A line of a table holds so many characters, as the text of the project does.
_LINE = 118
_MARK = "measured"


@dataclass(frozen=True)
class Drive:
    """A drive in the words of a drive file."""

    name: str
    keys: dict[str, Any]
    """The whole file as a dictionary."""

    def text(self) -> str:
        """The whole file."""
        return "\n".join(_text(self.name, self.keys)) + "\n"


def drive(description: Description) -> Drive:
    """The one drive of a description. Raises DisksimError."""
    block, bus = disk_and_bus(description)
    device = Parameters(block)
    found = disk(device, bus)
    model = Parameters(device.within("Model"))
    heads = model.count("Number of data surfaces", 1)
    model.ignore("Number of cylinders", "Block count")
    mech = Parameters(model.within("Mechanical Model"))
    if mech.block.type != "dm_mech_g1":
        raise mech.block.place.error(f"a mechanism of type {mech.block.type} cannot be imported")
    laid = layout(model.within("Layout Model"), heads)
    curve, seek_files = seek.points(mech, laid.cylinders)
    files = [*description.files, *seek_files]
    sections: dict[str, dict[str, Any]] = {
        "geometry": _geometry(laid),
        "seek": {"table": [[distance, ms(time)] for distance, time in curve]}
        if isinstance(curve, list)
        else {key: ms(time) for key, time in curve.items()},
        "settle": {
            "head_switch": ms(mech.time("Head switch time")),
            "write_settle": ms(mech.number("Add. write settling delay")),
            **found.on_arrival,
        },
        **_sections(found),
    }
    rpm = mech.count("Rotation speed (in rpms)", 1)
    mech.ignore("Access time type", "Percent error in rpms")
    for parameters in (model, mech):
        parameters.check_all_known()
    fact = {"mark": _MARK, "source": SHORT}
    keys = {
        "rpm": {"value": f"{rpm}rpm", **fact},
        "write_cache": {"value": found.write_cache, **fact},
        "identity": {"model": block.name, **fact},
        "sources": {SHORT: _source(files)},
        **{name: {**fact, **section} for name, section in sections.items() if section},
    }
    return Drive(block.name, keys)


def _sections(found: Disk) -> dict[str, dict[str, Any]]:
    return {
        "firmware": found.firmware,
        "link": dict(found.link),
        "queue": dict(found.queue),
        "cache": found.cache or {},
    }


def _geometry(laid: Layout) -> dict[str, Any]:
    keys: dict[str, Any] = {"heads": laid.heads, **laid.order, "zones": laid.zones}
    return {**keys, "slips": laid.slips} if laid.slips else keys


def _source(files: Sequence[Path]) -> str:
    first, *rest = dict.fromkeys(path.name for path in files)
    used = f" with {', '.join(rest)}" if rest else ""
    return f"{first}{used}: parameter files of DiskSim 4.0 (CMU-PDL-08-101)"


def _text(name: str, keys: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {name}, imported from its description for DiskSim by `drivelab import disksim`."
    for key, value in keys.items():
        if not isinstance(value, Mapping) or "value" in value:
            yield f"{key} = {value_text(value)}"
    for section, entries in keys.items():
        if isinstance(entries, Mapping) and "value" not in entries:
            yield f"\n[{section}]"
            for key, value in entries.items():
                yield from _entry(key, value)


def _entry(key: str, value: object) -> Iterator[str]:
    """A key with its value: a list of tables with as many to the line as it holds."""
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
