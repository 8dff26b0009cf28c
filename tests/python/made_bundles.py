"""Records as `measure all` writes them of a drive that is simulated, and bundles of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fit_files import SHEET, TRUTH, write_drive

from drivelab import simulate
from drivelab.record_library.call import Records
from drivelab.record_library.entry import entry_of
from drivelab.record_library.exchange import FORMAT, FORMAT_VERSION
from drivelab.records.opening import Document

MODEL = "ACME AX1000-B7"
SIZE = 10_240_000_000
IDENTITY = {
    "maker": "Acme",
    "model": "AX1000-B7",
    "year": 2009,
    "interface": "SATA 3Gb/s",
    "form_factor": "3.5in",
}
SECRETS = ["lab-seven", "WD-WX1234567", "/srv/jane/disks", "jane@example.org", "10.1.2.3", "12:34:56"]
LOADS: dict[str, dict[str, Any]] = {
    "sweep": {"rw": "randread", "bs": "4KiB", "iodepth": [1, 4, 16]},
    "chain": {"rw": "randread", "bs": "4KiB", "iodepth": 1},
    "surface": {"rw": "read", "bs": "64KiB", "iodepth": 1, "offset": ["10%", "50%", "90%"]},
}
RUNS: dict[str, dict[str, Any]] = {
    "sweep": {"duration": "60s", "warmup": "2s", "seed": 8},
    "chain": {"ios": 600, "seed": 3},
    "surface": {"ios": 200, "seed": 5},
}


def record(load: str, truth: dict[str, Any] = TRUTH) -> dict[str, Any]:
    """The record of a measurement, with all that a machine may say of itself."""
    scenario = {"target": {"drive": truth}, "workload": LOADS[load], "run": RUNS[load]}
    found = simulate(scenario, log=600 if load == "chain" else 0).to_dict()
    for point in found["points"]:
        if "commands" in point:
            point["commands"] = [_as_measured(one) for one in point["commands"]]
    # What a measurement does not know, and what it knows in place of it.
    lines = [f"workload.{key} = {json.dumps(value)}" for key, value in LOADS[load].items()]
    return {
        **found,
        "kind": "measured",
        "target": MODEL,
        "scenario": "\n".join([f'name = "{load}"', *lines]) + "\n",
        "overrides": [],
        "environment": {
            "kernel": "Linux 6.18",
            "hostname": SECRETS[0],
            "note": f"{SECRETS[1]} in {SECRETS[0]}, {SECRETS[2]}/a.img, of {SECRETS[3]} at {SECRETS[4]}",
            "began": f"2026-11-29 {SECRETS[5]}",
            "target": {"path": f"{SECRETS[2]}/a.img", "kind": "block", "size_bytes": SIZE},
            "device": {"model": MODEL, "serial": SECRETS[1], "rotational": True, "size_bytes": SIZE},
        },
    }


def _as_measured(one: dict[str, Any]) -> dict[str, Any]:
    kept = ("id", "access", "first_sector", "sectors", "outcome", "submitted_ns", "completed_ns")
    return {**{key: one[key] for key in kept}, "intended_ns": one["submitted_ns"]}


def export(records: list[dict[str, Any]], folder: Path) -> str:
    """What `library export --anonymous` writes of records."""
    with Records(str(folder / "library.sqlite"), create=True) as library:
        for one in records:
            library.add(one)
        return json.dumps(library.exported((), anonymous=True))


def exported(records: list[dict[str, Any]]) -> str:
    """An export of records as they are, with the digests that fit."""
    of = [entry_of(Document([one], "made"), source="", is_anonymous=True).to_dict() for one in records]
    listed = [{**table, "content": [one]} for table, one in zip(of, records, strict=True)]
    return json.dumps({"format": FORMAT, "format_version": FORMAT_VERSION, "records": listed})


def write_sheet(folder: Path) -> None:
    """The data sheet of the drive, with its identity."""
    write_drive(folder, "sheet.toml", {**SHEET, "identity": IDENTITY})
