"""What stands between workload and drive: the protocol in force, the host's scheduler, faults."""

from __future__ import annotations

import json
from pathlib import Path

SWEEP = """
[target]
drive = "wd-4tb-7200"
controller = { interface = ["ahci", "legacy-ide"] }
elevator = ["none", "c-look"]
[workload]
iodepth = 16
[run]
ios = 400
"""


def _scenario(folder: Path, text: str) -> Path:
    (folder / "a.toml").write_text(text, encoding="utf-8")
    return folder / "a.toml"


def test_check_tells_what_controller_and_drive_share(run, tmp_path):
    path = _scenario(tmp_path, SWEEP)
    assert (
        "\n  in force: ncq, 32 commands at a time; none, 1 command at a time\n" in run("check", path).stdout
    )
    found = json.loads(run("check", path, "--json").stdout)
    in_force = [point["in_force"] for point in found["points"]]
    shared = [(one["protocol"], one["depth"]) for one in in_force]
    assert shared == [("ncq", 32)] * 2 + [("none", 1)] * 2
    # A class of firmware orders a drive's queue and its cached writes: it is in force without a queue too.
    assert [one["firmware"][0]["class"] for one in in_force] == ["sata-desktop"] * 4


def test_the_record_tells_it_too_and_a_queue_that_is_not_in_force_gains_nothing(run, tmp_path):
    points = json.loads(run("simulate", _scenario(tmp_path, SWEEP), "--json").stdout)["points"]
    assert [point["in_force"]["protocol"] for point in points] == ["ncq", "ncq", "none", "none"]
    # A range only where the drive holds more than one command.
    assert ["iops_low" in point for point in points] == [True, True, False, False]
    queue, both, nothing, scheduler = (point["iops"] for point in points)
    assert nothing < scheduler < both
    assert nothing < queue
    assert points[3]["breakdown_ns"]["wait"] > points[0]["breakdown_ns"]["wait"]


def test_reads_of_bad_sectors_fail_and_are_counted(run, tmp_path):
    text = """
[target]
drive = "wd-4tb-7200"
cache = false
faults = { bad_sectors = [["0B", "4KiB"]], retry_time = "100ms" }
[workload]
size = "8KiB"
[run]
duration = "5s"
"""
    (point,) = json.loads(run("simulate", _scenario(tmp_path, text), "--json").stdout)["points"]
    assert point["errors"] > 10
    assert point["iops"] > 0


def test_the_commands_of_two_hosts_need_a_protocol_that_knows_them(run, tmp_path):
    text = 'target.drive = "{}"\n[workload.job.a]\n[workload.job.b]\ninitiator = 1\nattribute = "ordered"\n'
    refused = run("check", _scenario(tmp_path, text.format("wd-4tb-7200")))
    assert refused.returncode == 2
    assert "NCQ knows one host" in refused.stderr
    assert 'NCQ has no attribute "ordered"' in refused.stderr
    fio = json.loads(run("check", _scenario(tmp_path, text.format("seagate-10k-scsi-74gb")), "--json").stdout)
    assert "; fio cannot express it: attribute=ordered" in fio["points"][0]["fio"]
    assert "another host of the same bus: initiator=1" in fio["points"][0]["fio"]
