"""`drivelab import smartctl`: what a drive says of itself becomes a drive file, and nothing that it does not say."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from messages import held, told

from drivelab.errors import InputError
from drivelab.smartctl import import_drive
from drivelab.smartctl.drive_file import Drive

ATA: dict[str, Any] = {
    "json_format_version": [1, 0],
    "smartctl": {"version": [7, 3], "exit_status": 0},
    "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
    "model_family": "Made Up Red",
    "model_name": "MU MU20EFRX",
    "serial_number": "SECRET-7",
    "firmware_version": "82.00A82",
    "user_capacity": {"blocks": 3907029168, "bytes": 2000398934016},
    "logical_block_size": 512,
    "physical_block_size": 4096,
    "rotation_rate": 5400,
    "form_factor": {"ata_value": 2, "name": "3.5 inches"},
    "trim": {"supported": False},
    "interface_speed": {"max": {"string": "6.0 Gb/s"}, "current": {"string": "3.0 Gb/s"}},
    "sata_version": {"string": "SATA 3.0", "value": 62},
    "smart_status": {"passed": True},
    "ata_smart_attributes": {"table": [{"id": 1, "raw": {"value": 9}}, {"id": 5, "raw": {"value": 16}}]},
    "power_on_time": {"hours": 47657},
}
SAS: dict[str, Any] = {
    "smartctl": {"version": [7, 4], "exit_status": 0},
    "device": {"protocol": "SCSI"},
    "scsi_vendor": "MADEUP",
    "scsi_model_name": "MADEUP ST600",
    "user_capacity": {"blocks": 146515303, "bytes": 600126681088},
    "logical_block_size": 4096,
    "rotation_rate": 10500,
    "scsi_transport_protocol": {"name": "SAS (SPL-4)", "value": 6},
    "scsi_grown_defect_list": 3,
    "scsi_sas_port_0": {"phy_0": {"negotiated_logical_link_rate": "phy enabled; 12 Gbps"}},
}
SHEET = """
[seek]
single = "1ms"
average = "8.5ms"
full = "15.9ms"
"""


@pytest.fixture
def imported(tmp_path):
    """The drive of a table."""

    def imported(table: dict[str, Any]) -> Drive:
        path = tmp_path / "drive.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        return import_drive(path)

    return imported


def test_a_drive_that_says_much(imported):
    drive = imported(ATA)
    keys = tomllib.loads(drive.text())
    assert keys == drive.keys
    assert (keys["rpm"]["value"], keys["geometry"]["capacity"]) == ("5400rpm", "3907029168 sectors")
    assert (keys["identity"]["model"], keys["identity"]["form_factor"]) == ("MU MU20EFRX", "3.5in")
    assert keys["link"]["standard"]["value"] == "sata-600"
    assert keys["identity"]["notes"] == (
        "sectors of 512 bytes, physically 4096; firmware 82.00A82; TRIM: no; powered on for 47657 h; 16 reallocated "
        "sectors; SMART: passed; its link ran at 3.0 Gb/s"
    )
    assert "SECRET" not in drive.text()
    assert any(one.startswith("geometry.heads:") for one in drive.left_out)


def test_a_sas_drive(imported):
    keys = imported(SAS).keys
    # 4096-byte blocks are counted in sectors of 512.
    assert keys["geometry"]["capacity"] == f"{146515303 * 8} sectors"
    assert keys["link"]["standard"] == {
        "value": "sas-12",
        "mark": "inferred",
        "source": "SM: negotiated, the drive may be faster",
    }
    assert keys["identity"]["maker"] == "MADEUP"
    assert "3 reallocated sectors" in keys["identity"]["notes"]


def test_what_a_drive_does_not_say_is_not_in_the_file(imported):
    bare = {"smartctl": {}, "model_name": "MU", "sata_version": {"string": "SATA 3.0"}}
    drive = imported(bare)
    assert set(drive.keys) == {"identity", "sources"}
    # Which of the speeds of SATA 3.0 it has is unknown.
    assert drive.keys["identity"]["interface"] == "SATA"
    assert {one.partition(":")[0] for one in drive.left_out} == {
        "rpm",
        "geometry.capacity",
        "link.standard",
        "geometry.heads",
        "geometry.outer_rate",
        "geometry.inner_to_outer",
        "seek",
    }


def test_zones_and_trim_are_hints_at_shingles(imported):
    for more in ({"trim": {"supported": True}}, {"zoned_device": {"capabilities": "Host Aware Zones"}}):
        drive = imported({**ATA, **more})
        assert any("shingled recording" in one for one in drive.left_out)
    assert "zoned: Host Aware Zones" in drive.keys["identity"]["notes"]


def test_with_a_data_sheet_it_is_a_drive(run, tmp_path):
    (tmp_path / "drive.json").write_text(json.dumps(ATA), encoding="utf-8")
    done = run("import", "smartctl", "drive.json", "-o", "mine.toml")
    assert done.returncode == 0
    assert "left out: geometry.heads: surfaces that hold data" in done.stderr
    # drivelab itself asks for what is missing.
    asked = run("catalogue", "./mine.toml")
    assert asked.returncode == 2
    assert "add heads = 4" in asked.stderr
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    sheet = (
        text.replace("capacity =", 'heads = 8\nouter_rate = "147MB/s"\ninner_to_outer = "48%"\ncapacity =')
        + SHEET
    )
    (tmp_path / "mine.toml").write_text(sheet, encoding="utf-8")
    shown = run("catalogue", "./mine.toml").stdout
    # The class follows from the file, as of any drive from a data sheet.
    assert "firmware.class" in shown
    assert "sata-" in shown


@given(st.data())
@settings(max_examples=200)
def test_changed_output_is_told(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "changed.json"
    table = json.loads(json.dumps(data.draw(st.sampled_from([ATA, SAS]))))
    values = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.lists(st.none())
    )
    for name in data.draw(st.lists(st.sampled_from(sorted(table)), max_size=4)):
        inner = table[name]
        if isinstance(inner, dict) and data.draw(st.booleans()):
            inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(values)
        else:
            table[name] = data.draw(values)
    text = json.dumps(table)
    path.write_text(
        text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text, encoding="utf-8"
    )
    try:
        assert tomllib.loads(import_drive(path).text())
    except InputError as error:
        message = str(error)
    else:
        return
    assert str(path) in message


FILES = {
    "empty.json": "",
    "text.json": "smartctl 7.3\n",
    "fio.json": '{"fio version": "fio-3.33", "jobs": []}',
    "two.json": '{"smartctl": {}}\n{"smartctl": {}}',
    "failed.json": '{"smartctl": {"messages": [{"string": "open device: /dev/sda failed: Permission denied"}]}}',
    "flash.json": '{"smartctl": {}, "model_name": "SSD 1", "rotation_rate": 0}',
    "capacity.json": json.dumps({**ATA, "user_capacity": {"blocks": 3, "bytes": 4096}}),
    "drive.json": json.dumps(ATA),
}
WRONG = (
    "import smart drive.json",
    "import smartctl none.json",
    *(f"import smartctl {name}" for name in FILES if name != "drive.json"),
    "import smartctl drive.json --disk x",
    "compare drive.json drive.json",
)


def test_messages(run, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    held("smartctl-messages.txt", told(run, [words.split() for words in WRONG], tmp_path))
