"""A drive file from smartctl's JSON (`smartctl -x -j`, 7.0 on): what a drive says of itself.

Model, capacity, spindle speed, form factor and link become keys, marked as of the maker; sector sizes, zones, TRIM, age
and health become notes. Heads, rates and seeks are in no drive's answer: the file names them, and `drivelab catalogue`
refuses it until a data sheet or a measurement has added them. The class of its firmware follows from the keys, as that
of a drive from a data sheet. Serial numbers are not taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import InputError
from drivelab.host.files import read_text
from drivelab.records.repair import documents, has_object
from drivelab.report.toml_text import value_text

SHORT = "SM"
"""How the facts refer to their source."""

_BYTES_PER_SECTOR = 512
_SIZE_MAX_BYTES = 16 * 2**20
_LINKS = {"1.5": "sata-150", "3.0": "sata-300", "6.0": "sata-600"}
_SAS = {"3": "sas-3", "6": "sas-6", "12": "sas-12"}
_FORMS = {"5.25": "5.25in", "3.5": "3.5in", "2.5": "2.5in", "1.8": "1.8in"}
_REALLOCATED = 5
_MISSING = {
    "geometry.heads": "surfaces that hold data: on a data sheet, or twice the disks",
    "geometry.outer_rate": "rate of the outermost zone: on a data sheet, or the begin of `drivelab measure surface`",
    "geometry.inner_to_outer": "rate of the innermost zone as a share of it: the end of `drivelab measure surface`",
    "seek": "single, average and full: on a data sheet, or `drivelab fit`",
}
_UNUSED = "`durability` has no key for the age and the health of a single drive"


@dataclass(frozen=True)
class Drive:
    """A drive in the terms of a drive file."""

    name: str
    keys: dict[str, Any]
    """The whole file as a dictionary."""
    left_out: list[str]
    """What smartctl does not say, and what it says and a drive file cannot, in words."""

    def text(self) -> str:
        """The whole file."""
        return "\n".join(_text(self)) + "\n"


def import_drive(path: Path) -> Drive:
    """The drive of a file with smartctl's JSON. Raises InputError, with a remedy, if it has no hard disk in it."""
    text = read_text(path, _SIZE_MAX_BYTES, "output of smartctl")
    found = documents(text, str(path)).found if has_object(text) else []
    tables = [one for one in found if isinstance(one.get("smartctl"), Mapping)]
    if len(tables) != 1:
        what = f"{len(tables)} outputs of smartctl are in it; take a file for each drive"
        raise InputError(f"{path}: {what if tables else 'this is no output of `smartctl -x -j`'}")
    return _drive(tables[0], path)


def _drive(table: Mapping[str, Any], path: Path) -> Drive:
    model = (
        _text_of(table, "model_name") or _text_of(table, "scsi_model_name") or _text_of(table, "scsi_product")
    )
    if not model:
        raise InputError(
            f"{path}: no model of a drive is in it{_why(table)}; run `smartctl -x -j` of one drive as root"
        )
    rate = table.get("rotation_rate")
    if _text_of(table, "device", "protocol") == "NVMe" or (rate == 0 and not isinstance(rate, bool)):
        raise InputError(f"{path}: {model} has no spindle, and drivelab has no model of flash yet")
    source = f"what the drive says of itself, as smartctl {_version(table)} printed it"
    fact = {"mark": "datasheet", "source": SHORT}
    left_out = []
    keys: dict[str, Any] = {}
    if isinstance(rate, int) and not isinstance(rate, bool) and rate > 1:
        keys["rpm"] = {"value": f"{rate}rpm", **fact}
    else:
        left_out.append("rpm: the drive does not say it")
    identity: dict[str, Any] = {}
    if maker := _text_of(table, "scsi_vendor") or _text_of(table, "vendor"):
        identity["maker"] = maker
    identity["model"] = model
    if family := _text_of(table, "model_family"):
        identity["class"] = family
    identity |= _form_factor(table)
    link, interface, said = _link(table)
    if interface:
        identity["interface"] = interface
    notes = [*_notes(table), *said]
    if notes:
        identity["notes"] = "; ".join(notes)
    keys["identity"] = {**identity, **fact}
    keys["sources"] = {SHORT: source}
    sectors = _sectors(table, path)
    if sectors is None:
        left_out.append("geometry.capacity: the drive does not say it")
    else:
        keys["geometry"] = {"capacity": f"{sectors} sectors", **fact}
    if link:
        keys["link"] = link
    else:
        left_out.append("link.standard: the speed of its link is not in the output")
    left_out += [f"{key}: {what}" for key, what in _MISSING.items()]
    left_out += _not_modelled(table)
    return Drive(model, keys, left_out)


def _why(table: Mapping[str, Any]) -> str:
    """What smartctl itself says went wrong."""
    messages = table.get("smartctl", {}).get("messages")
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("string"), str):
            return f" (smartctl: {one['string'][:200]})"
    return ""


def _version(table: Mapping[str, Any]) -> str:
    found = table.get("smartctl", {}).get("version")
    whole = isinstance(found, list) and all(isinstance(one, int) for one in found)
    return ".".join(map(str, found)) if whole and found else "of an unknown version"


def _at(table: Mapping[str, Any], *names: str) -> object:
    """The value at a path of keys; None if there is none."""
    found: object = table
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _text_of(table: Mapping[str, Any], *names: str) -> str:
    found = _at(table, *names)
    return " ".join(found.split()) if isinstance(found, str) and found.isprintable() else ""


def _number_of(table: Mapping[str, Any], *names: str) -> int | None:
    found = _at(table, *names)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def _sectors(table: Mapping[str, Any], path: Path) -> int | None:
    """The capacity in sectors of 512 bytes. Raises InputError where its two forms contradict each other."""
    size, blocks = _number_of(table, "user_capacity", "bytes"), _number_of(table, "user_capacity", "blocks")
    block = _number_of(table, "logical_block_size")
    if not size:
        return None
    if blocks is not None and block is not None and blocks * block != size:
        raise InputError(
            f"{path}: user_capacity is {size} bytes, and {blocks} blocks of {block} bytes are {blocks * block}: the "
            "file was changed; run smartctl again"
        )
    return size // _BYTES_PER_SECTOR if size % _BYTES_PER_SECTOR == 0 else None


def _form_factor(table: Mapping[str, Any]) -> dict[str, str]:
    name = _text_of(table, "form_factor", "name").removesuffix(" inches")
    return {"form_factor": _FORMS[name]} if name in _FORMS else {}


def _link(table: Mapping[str, Any]) -> tuple[dict[str, Any], str, list[str]]:
    """The section link, the interface where its speed is unknown, and notes."""
    most = _text_of(table, "interface_speed", "max", "string").removesuffix(" Gb/s")
    now = _text_of(table, "interface_speed", "current", "string").removesuffix(" Gb/s")
    if most in _LINKS:
        found = {"standard": {"value": _LINKS[most], "mark": "datasheet", "source": SHORT}}
        return found, "", [f"its link ran at {now} Gb/s"] if now in _LINKS and now != most else []
    transport = _text_of(table, "scsi_transport_protocol", "name")
    if transport.startswith("SAS"):
        rates = set(_SAS) & set(_negotiated(table))
        if rates:
            rate = max(rates, key=int)
            negotiated = f"{SHORT}: negotiated, the drive may be faster"
            return {"standard": {"value": _SAS[rate], "mark": "inferred", "source": negotiated}}, "", []
        return {}, "SAS", []
    if transport:
        return {}, transport, []
    return {}, "SATA" if _text_of(table, "sata_version", "string") else "", []


def _negotiated(table: object) -> Iterator[str]:
    """The rates of the links of all its ports, in Gbit/s."""
    if isinstance(table, Mapping):
        for key, value in table.items():
            if key == "negotiated_logical_link_rate" and isinstance(value, str):
                if match := re.search(r"(\d+)(?:\.0)? Gbps", value):
                    yield match[1]
            elif isinstance(value, Mapping) and str(key).startswith(("scsi_sas_port", "phy", "sas_port")):
                yield from _negotiated(value)


def _notes(table: Mapping[str, Any]) -> list[str]:
    """Sector sizes, zones, TRIM, firmware, age and health, as far as they are stated."""
    notes = []
    logical, physical = _number_of(table, "logical_block_size"), _number_of(table, "physical_block_size")
    if logical:
        notes.append(f"sectors of {logical} bytes" + (f", physically {physical}" if physical else ""))
    versions = (_text_of(table, name) for name in ("firmware_version", "scsi_revision", "revision"))
    if firmware := next(filter(None, versions), ""):
        notes.append(f"firmware {firmware}")
    if zoned := _zoned(table):
        notes.append(f"zoned: {zoned}")
    trims = _at(table, "trim", "supported")
    if isinstance(trims, bool):
        notes.append("TRIM: " + ("yes, which on a disk hints at shingled recording" if trims else "no"))
    if (hours := _number_of(table, "power_on_time", "hours")) is not None:
        notes.append(f"powered on for {hours} h")
    if (count := _reallocated(table)) is not None:
        notes.append(f"{count} reallocated sectors")
    passed = _at(table, "smart_status", "passed")
    if isinstance(passed, bool):
        notes.append(f"SMART: {'passed' if passed else 'FAILED'}")
    return notes


def _zoned(table: Mapping[str, Any]) -> str:
    for name in ("zoned_device", "zbc_device", "zoned"):
        found = (
            _text_of(table, name, "capabilities") or _text_of(table, name, "string") or _text_of(table, name)
        )
        if found:
            return found
    return ""


def _reallocated(table: Mapping[str, Any]) -> int | None:
    grown = _number_of(table, "scsi_grown_defect_list")
    if grown is not None:
        return grown
    rows = _at(table, "ata_smart_attributes", "table")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and row.get("id") == _REALLOCATED:
            return _number_of(row, "raw", "value")
    return None


def _not_modelled(table: Mapping[str, Any]) -> list[str]:
    found = []
    is_named = "(SMR)" in _text_of(table, "model_family")
    if is_named or _zoned(table) or _at(table, "trim", "supported") is True:
        found.append(
            "shingled recording, at which this report hints: `smr = {}` adds that of the one drive that is known"
        )
    if _number_of(table, "power_on_time", "hours") is not None or _reallocated(table) is not None:
        found.append(f"power-on hours and reallocated sectors are notes: {_UNUSED}")
    return found


def _text(drive: Drive) -> Iterator[str]:
    yield f"# {drive.name}, from what the drive says of itself, by `drivelab import smartctl`."
    yield from (f"# Left out: {omission}" for omission in drive.left_out)
    for key, value in drive.keys.items():
        if "value" in value:
            yield f"{key} = {value_text(value)}"
    for section, entries in drive.keys.items():
        if "value" not in entries:
            yield f"\n[{section}]"
            yield from (f"{key} = {value_text(value)}" for key, value in entries.items())
