"""Drives described for DiskSim as drive files: what becomes of each parameter, and which cannot be imported."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import replace
from fractions import Fraction

import pytest
from disksim_model import Files, Layout, Zone
from hypothesis import assume, given
from hypothesis import strategies as st

from drivelab import _core, disksim, validate
from drivelab.report import toml_text

SPREAD = "left out: a.seek: the spread of the seeks, a standard deviation of 0.1 ms\n"


@pytest.fixture
def keys(tmp_path):
    """The drive file of a description, as a dictionary, once it has been found to run."""

    def keys(files: Files) -> dict:
        drive = disksim.import_drive(files.write(tmp_path))
        assert tomllib.loads(drive.text()) == drive.keys
        plan(drive.keys)
        return drive.keys

    return keys


def plan(keys: dict) -> _core.Plan:
    scenario = {"target": {"drive": keys}, "workload": {"bs": "512B"}}
    return _core.Plan(toml_text.dumps(scenario), "a.toml", ".", [])


def section(keys: dict, name: str) -> dict:
    """A section without where it comes from."""
    return {key: value for key, value in keys[name].items() if key not in ("mark", "source")}


def test_a_drive_file_says_what_the_description_does(keys):
    found = keys(Files())
    assert found["rpm"] == {"value": "6000rpm", "mark": "measured", "source": "DS: a.model"}
    assert found["write_cache"]["value"] is True
    assert found["identity"]["model"] == "X"
    assert found["sources"]["DS"].startswith("a.parv with a.diskspecs, a.model, a.seek: parameter files of")
    assert all(found[name]["mark"] == "measured" for name in found if name not in ("sources",))
    assert section(found, "geometry") == {
        "heads": 2,
        "surface_order": "cylinder",
        "zones": [
            {
                "first_cylinder": 0,
                "cylinders": 10,
                "sectors_per_track": 10,
                "start": "0rev",
                "track_skew": "0.3rev",
                "cylinder_skew": "0.4rev",
            }
        ],
    }
    assert section(found, "seek") == {"table": [[1, "1ms"], [9, "2.500001ms"]]}
    assert section(found, "settle") == {
        "head_switch": "0.5ms",
        "write_settle": "-0.25ms",
        "read_on_arrival": True,
        "write_on_arrival": False,
    }
    assert section(found, "firmware") == {
        "class": "ideal",
        "read_hit": {"after_read": "0.1ms", "after_write": "0.2ms"},
        "read_miss": {"after_read": "0.3ms", "after_write": "0.4ms"},
        "write": {"after_read": "0.7ms", "after_write": "0.8ms"},
        "write_hit": {"after_read": "0.5ms", "after_write": "0.6ms"},
        "read_completion": "0.01ms",
        "write_completion": "0.02ms",
    }
    assert section(found, "link") == {
        "rate": {"value": "5120000B/s", "mark": "measured", "source": "DS: 0.1 ms a sector"},
        "write_data": "while-positioning",
    }
    assert section(found, "queue").pop("protocol")["value"] == "none"
    assert found["queue"]["chooses"] == "at-completion"
    assert section(found, "cache") == {
        "segments": 3,
        "segment_size": "40 sectors",
        "segmentation": "fixed",
        "separate_writes": False,
        "send_from": "0%",
        "write_from": "50%",
        "keeps_passing": True,
        "hits_while_busy": False,
        "read_ahead": "limit",
        "read_ahead_limit": "30 sectors",
        "read_ahead_on_hit": False,
        "covers_front": False,
        "ends_sector": True,
        "keeps_written": True,
        "write_segments": 2,
        "destage": "at-once",
        "takes_writes_while_busy": False,
    }


@pytest.mark.parametrize(
    ("disk", "name", "expected"),
    [
        ({"Time scale for overheads": "2.5"}, "firmware", {"read_completion": "0.025ms"}),
        ({"Preseeking level": "2"}, "queue", {"chooses": None}),
        ({"Bulk sector transfer time": "-0.015"}, "link", {"rate": None}),
        (
            {"Buffer continuous read": "0"},
            "cache",
            dict.fromkeys(("read_ahead_limit", "read_ahead_on_hit", "covers_front", "ends_sector"))
            | {"read_ahead": "none"},
        ),
        ({"Buffer continuous read": "1"}, "cache", {"read_ahead": "track"}),
        ({"Buffer continuous read": "2"}, "cache", {"read_ahead": "cylinder"}),
        ({"Buffer continuous read": "4"}, "cache", {"read_ahead": "next-track", "read_ahead_limit": None}),
        ({"Maximum read-ahead (blks)": "0"}, "cache", {"read_ahead_limit": "40 sectors"}),
        ({"Minimum read-ahead (blks)": "1"}, "cache", {"read_ahead_least": "1 sector"}),
        ({"Read-ahead on idle hit": "1"}, "cache", {"read_ahead_on_hit": True}),
        ({"Allow almost read hits": "1"}, "cache", {"covers_front": True, "covers_within": "0s"}),
        ({"Stop prefetch in sector": "1"}, "cache", {"ends_sector": False}),
        ({"Use separate write segment": "1"}, "cache", {"separate_writes": True, "keeps_written": None}),
        ({"Allow read hits on write data": "0"}, "cache", {"keeps_written": False}),
        ({"Allow write prebuffering": "1"}, "cache", {"takes_writes_while_busy": True}),
        ({"Maximum number of write segments": "9"}, "cache", {"write_segments": 3}),
        ({"High (read) water mark": "0.125"}, "cache", {"send_from": "12.5%"}),
        ({"High (read) water mark": "1"}, "cache", {"send_from": "100%"}),
        ({"High (read) water mark": "1", "Never disconnect": "1"}, "settle", {"read_on_arrival": False}),
        ({"Immediate buffer write": "1"}, "settle", {"write_on_arrival": True}),
        ({"Minimum seek delay": "0.7"}, "settle", {"write_least": "0.7ms"}),
        ({"Maximum read-ahead (blks)": "41"}, "cache", {"read_ahead_limit": "40 sectors"}),
        ({"Read-ahead over requested": "-1"}, "cache", {"read_ahead_limit": "30 sectors"}),
        ({"Low (write) water mark": "0"}, "cache", {"write_from": "0%"}),
        ({"Read any free blocks": "0"}, "cache", {"keeps_passing": False}),
        ({"Allow sneaky full read hits": "1"}, "cache", {"hits_while_busy": None}),
        ({"Set watermark by reqsize": "0"}, "cache", {"send_from": "0%"}),
        ({"Enable caching in buffer": "2"}, "cache", {"segments": 3}),
        ({"Fast write level": "1"}, "cache", {"destage": "at-once"}),
    ],
)
def test_a_parameter_changes_its_key_and_no_other(keys, disk, name, expected):
    before, found = keys(Files()), keys(Files(disk=disk))
    if expected is None:
        assert name not in found
        return
    wanted = section(before, name) | expected
    if "Time scale for overheads" in disk:
        wanted["write_completion"] = "0.05ms"
        for key in ("read_hit", "read_miss", "write", "write_hit"):
            old = wanted[key]
            wanted[key] = {at: f"{2.5 * float(ms.removesuffix('ms')):g}ms" for at, ms in old.items()}
    wanted = {key: value for key, value in wanted.items() if value is not None}
    assert section(found, name) == wanted
    changed = {key for key in found if found[key] != before[key]}
    assert changed <= {name}


@pytest.mark.parametrize("mark", ["0", "0.25", "1"])
def test_a_write_to_the_media_waits_for_its_first_sectors_whatever_the_mark(keys, mark):
    disk = {"Fast write level": "0", "Low (write) water mark": mark}
    assert not {"write_from", "write_first"} & keys(Files(disk=disk))["cache"].keys()
    found = keys(Files(disk=disk | {"Use separate write segment": "1"}))["cache"]
    assert "write_from" not in found
    assert (found["write_first"]["value"], found["write_first"]["mark"]) == ("10 sectors", "inferred")
    fast = keys(Files(disk={"Use separate write segment": "1", "Low (write) water mark": mark}))["cache"]
    assert "write_first" not in fast
    assert fast["write_from"] == f"{100 * float(mark):g}%"


def test_without_fast_writes_there_is_no_write_cache(keys):
    found = keys(Files(disk={"Fast write level": "0", "Use separate write segment": "1"}))
    assert found["write_cache"]["value"] is False
    assert "write_hit" not in found["firmware"]
    assert not {"destage", "keeps_written", "write_segments"} & found["cache"].keys()
    disk = {"Fast write level": "0", "Buffer continuous read": "0", "Enable caching in buffer": "0"}
    found = keys(Files(disk=disk | {"Allow read hits on write data": "0"}))
    assert found["cache"]["value"] is False


def test_a_bus_that_is_let_go_of_has_its_times(keys):
    assert "disconnect" not in keys(Files(disk={"Never disconnect": "1"}))
    disk = {
        "Time scale for overheads": "2",
        "Data preparation overhead": "0.01",
        "First reselect overhead": "0.02",
        "Read disconnect afterread": "0.03",
        "Read disconnect afterwrite": "0.04",
        "Write disconnect overhead": "0.05",
    }
    found = section(keys(Files(disk=disk)), "disconnect")
    assert found == {
        "preparation": "0.02ms",
        "reselection": "0.04ms",
        "write_release": "0.1ms",
        "read_release": {"after_read": "0.06ms", "after_write": "0.08ms"},
    }
    assert section(keys(Files(disk=disk | {"Never disconnect": "1"})), "disconnect") == found | {
        "keeps_bus": True
    }
    through = {"Fast write level": "0", "Allow read hits on write data": "0"}
    twice = through | {
        "Time scale for overheads": "2",
        "Extra write disconnect": "1",
        "Extradisc command overhead": "0.1",
        "Extradisc disconnect overhead": "0.2",
        "Extradisc inter-disconnect delay": "0.3",
        "Extradisc 2nd disconnect overhead": "0.4",
        "Extradisc seek delta": "-0.5",
        "Other reselect overhead": "0.6",
    }
    assert section(keys(Files(disk=twice)), "disconnect") == {
        "second": {
            "command": "0.2ms",
            "release": "0.4ms",
            "away": "0.3ms",
            "arm": "-0.5ms",
            "release_again": "0.8ms",
            "reselection": "1.2ms",
        }
    }


def test_the_slower_of_disk_and_bus_is_the_link(keys):
    bus = {"Read block transfer time": "0.25", "Write block transfer time": "0.25"}
    assert keys(Files(bus=bus))["link"]["rate"]["value"] == "2048000B/s"
    slower = {"Read block transfer time": "0.05", "Write block transfer time": "0.07"}
    assert keys(Files(bus=slower))["link"]["rate"]["value"] == "5120000B/s"
    odd = keys(Files(disk={"Bulk sector transfer time": "0.105"}))
    assert odd["link"]["rate"]["value"] == "4876191B/s"


def test_a_bus_may_take_longer_one_way(keys):
    def link(read: str, write: str, bulk: str = "0.1") -> dict[str, object]:
        bus = {"Read block transfer time": read, "Write block transfer time": write}
        found = keys(Files(bus=bus, disk={"Bulk sector transfer time": bulk}))["link"]
        return {key: fact["value"] for key, fact in found.items() if key in ("rate", "write_rate")}

    assert link("0.25", "0.2") == {"rate": "2048000B/s", "write_rate": "2560000B/s"}
    # The slower of both for each way.
    assert link("0.25", "0.05") == {"rate": "2048000B/s", "write_rate": "5120000B/s"}
    assert link("0", "0.25", "-0.015") == {"write_rate": "2048000B/s"}
    assert link("0.25", "0", "0") == {"rate": "2048000B/s", "write_rate": "1000GB/s"}


def test_the_way_of_a_write_may_take_longer(tmp_path):
    bus = {"Read block transfer time": "0.1", "Write block transfer time": "0.3"}
    files = {"bus": bus, "disk": {"Write hit over. after read": "0.5", "Write hit over. after write": "0.5"}}
    times = {}
    for name, description in (("slow", Files(**files)), ("even", Files(disk=files["disk"]))):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "x.toml").write_text(
            disksim.import_drive(description.write(folder)).text(), encoding="utf-8"
        )
        (folder / "x.trace").write_text("W Hit 0 6 1000 900000\nR Hit 100 6 1000 900000\nW Hit 50 4 1000 0\n")
        times[name] = list(validate(folder / "x.toml", folder / "x.trace").all.simulated)
    # Two tenths of a millisecond more a sector. The read comes as much later, and waits as much less for its sector.
    late = [slow - even for slow, even in zip(times["slow"], times["even"], strict=True)]
    assert late == pytest.approx([6 * 0.2, -6 * 0.2, 4 * 0.2], abs=1e-5)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        *(
            (Files(disk={key: value}), f"diskspecs:LINE: '{key}' is {value}: only {right} can be imported: ")
            for key, value, right in [
                ("Per-request overhead time", "0.1", 0),
                ("Combine seq writes", "0", 1),
                ("Disconnect write if seek", "1", 0),
                ("Read directly to buffer", "0", 1),
                ("Immed transfer partial hit", "0", 1),
            ]
        ),
        (
            Files(disk={"Fast write level": "3"}),
            "diskspecs:LINE: 'Fast write level' is 3: 0, 1 or 2 is wanted",
        ),
        (
            Files(disk={"Never disconnect": "x"}),
            "diskspecs:LINE: 'Never disconnect' is x: a number is wanted",
        ),
        (Files(disk={"Never disconnect": "2"}), "diskspecs:LINE: 'Never disconnect' is 2: 0 or 1 is wanted"),
        (
            Files(disk={"Fast write level": None}),
            "diskspecs:1: disksim_disk X has no parameter 'Fast write level'",
        ),
        (
            Files(disk={"Fast writes level": "1"}),
            "diskspecs:LINE: disksim_disk has no parameter 'Fast writes level'; did you mean 'Fast write level'?",
        ),
        (
            Files(disk={"Read hit over. after read": "-1"}),
            "diskspecs:LINE: 'Read hit over. after read' is -1: a time is not negative",
        ),
        (
            Files(disk={"Segment size (in blks)": "0"}),
            "diskspecs:LINE: 'Segment size (in blks)' is 0: a whole number from 1 on is wanted",
        ),
        (
            Files(disk={"Number of buffer segments": "1", "Use separate write segment": "1"}),
            "diskspecs:LINE: 'Number of buffer segments' is 1: a whole number from 2 on is wanted",
        ),
        (
            Files(disk={"High (read) water mark": "1.5"}),
            "diskspecs:LINE: 'High (read) water mark' is 1.5: a share from 0 to 1 is wanted",
        ),
        (
            Files(disk={"Low (write) water mark": "-1"}),
            "diskspecs:LINE: 'Low (write) water mark' is -1: a share from 0 to 1 is wanted",
        ),
        (
            Files(disk={"High (read) water mark": "1", "Set watermark by reqsize": "0"}),
            "diskspecs:LINE: 'Set watermark by reqsize' is 0: a mark by the segment cannot be imported",
        ),
        (
            Files(disk={"Enable caching in buffer": "0"}),
            "diskspecs:LINE: 'Enable caching in buffer' is 0: then nothing may read ahead or answer writes",
        ),
        (
            Files(bus={"Arbitration time": "0.1"}),
            "parv:LINE: 'Arbitration time' is 0.1: only 0 can be imported: the model has no arbitration",
        ),
        (
            Files(bus={"type": "2"}),
            "parv:LINE: 'type' is 2: only 1 can be imported: the bus has to belong to one request at a time",
        ),
        (
            Files(controller={"Scale for delays": "1.0"}),
            "parv:LINE: 'Scale for delays' is 1.0: only 0 can be imported: the controller has to cost nothing",
        ),
        (
            Files(controller={"type": "3"}),
            "parv:LINE: 'type' is 3: only 1 can be imported: the controller has to pass requests on as they are",
        ),
        (
            Files(driver={"Constant access time": "5"}),
            "parv:LINE: 'Constant access time' is 5: only 0 can be imported: the disk has to be simulated",
        ),
        (Files(instances={"x": None}), "parv:LINE: x is in the topology, and no instance of anything"),
        (Files(instances={"x": "Y"}), "parv:LINE: there is no block Y"),
        (Files(instances={"x": "B"}), "parv:LINE: x is a disksim_disk, and B a disksim_bus"),
        (
            Files(topology=""),
            "parv: there is no topology, and without one nobody knows the disk's bus; name the .parv file, not "
            "one of those that it uses",
        ),
        (
            Files(
                topology="topology disksim_iodriver d [ disksim_bus b [ disksim_disk x [] disksim_disk y [] ] ]"
            ),
            "parv:LINE: there are 2 disks of 2 models in the topology, and a drive file describes one: choose by "
            "disk; there is x (X), y",
        ),
        (
            Files(topology="topology disksim_iodriver d [ disksim_disk x [] ]"),
            "parv:LINE: the disk hangs on no bus",
        ),
        (
            Files(
                topology="topology disksim_iodriver d [ disksim_ssd s [ disksim_disk x [] ] ]",
                instances={"s": "B"},
            ),
            "parv:LINE: s is a disksim_ssd, and B a disksim_bus",
        ),
        (Files(mech_type="dm_mech_g2"), "model:LINE: a mechanism of type dm_mech_g2 cannot be imported"),
        (
            Files(layout_type="dm_layout_g2"),
            "model:LINE: a layout of type dm_layout_g2 cannot be imported, only dm_layout_g1 and dm_layout_g4",
        ),
        (
            Files(layout={"Skew units": "revolutions"}),
            "model:LINE: 'Skew units' is revolutions: only sectors can be imported",
        ),
        (
            Files(layout={"LBN-to-PBN mapping scheme": "3"}),
            "model:LINE: 'LBN-to-PBN mapping scheme' is 3: 0, 1 or 2 is wanted",
        ),
        *(
            (
                Files(layout={"Sparing scheme used": scheme}),
                f"model:LINE: 'Sparing scheme used' is {scheme}: schemes 0, 1, 2, 3, 7, 8, 9, 10 can be imported",
            )
            for scheme in ("4", "5", "6", "11")
        ),
        (Files(zones=()), "model:LINE: 'Zones' is a list of 0: there is no zone"),
        (
            Files(layout={"Zones": "[ 4 ]"}),
            "model:LINE: a zone is a block dm_layout_g1_zone { .. }",
        ),
        (
            Files(zones=[{"Last cylinder number": "0", "First cylinder number": "1"}]),
            "model:LINE: 'Last cylinder number' is 0: the zone ends before it begins",
        ),
        (
            Files(zones=[{"defects": "[ 4, 9 ]"}]),
            "model:LINE: '' is 4: defects that are mapped elsewhere cannot be imported",
        ),
        (
            Files(zones=[{"defects": "[ 4 ]"}]),
            "model:LINE: 'defects' is a list of 1: pairs of numbers are wanted",
        ),
        (
            Files(zones=[{"slips": "[ 4 ]"}]),
            "model:LINE: 'slips' is a list of 1: there are none without a sparing scheme",
        ),
        (
            Files(zones=[{"slips": "[ 4, 200 ]"}], layout={"Sparing scheme used": "7"}),
            "model:LINE: 'slips' is a list of 2: 200 is behind the zone's 200",
        ),
        (
            Files(
                zones=[{"slips": "[ 4, 5 ]", "Number of spares": "1"}], layout={"Sparing scheme used": "9"}
            ),
            "model:LINE: 'slips' is a list of 2: 2 of them share 1 spares",
        ),
        (
            Files(
                zones=[{"slips": "[ 195 ]", "Number of spares": "2"}],
                layout={"Sparing scheme used": "8", "Rangesize for sparing": "4"},
            ),
            "model:LINE: 'slips' is a list of 1: 1 of them share 0 spares",
        ),
        (
            Files(mech={"Seek type": "linear"}),
            "model:LINE: 'Seek type' is linear: extracted, curve, hpl and hplplus10 can be imported",
        ),
        (
            Files(mech={"Full seek curve": "b.seek"}),
            "model:LINE: cannot read FOLDER/b.seek: no such file or directory",
        ),
        (Files(seek="1, 1.0\n"), "seek:1: a seek curve needs two points or more"),
        (Files(seek="1, 1.0\n\n2; 3\n"), "seek:3: '2; 3' is not `distance, time`"),
        (Files(seek="1, 1.0\n1, 2.0\n"), "seek:2: the distance 1 is not above the one before it"),
        (Files(seek="0, 1.0\n1, 2.0\n"), "seek:1: the distance 0 is not above the one before it"),
        (Files(seek="1, 0.0\n2, 2.0\n"), "seek:1: a seek of 0.0 ms"),
        (Files(seek="1, NaN\n2, 2.0\n"), "seek:1: a seek of NaN ms"),
    ],
)
def test_what_cannot_be_imported_is_named_with_its_file_and_line(tmp_path, files, message):
    with pytest.raises(disksim.DisksimError) as raised:
        disksim.import_drive(files.write(tmp_path))
    found = str(raised.value)
    file, _, rest = message.partition(":")
    key = rest.split("'")[1] if rest.count("'") >= 2 else ""
    lines = (tmp_path / f"a.{file}").read_text().splitlines()
    shown = found.removeprefix(f"{tmp_path}/a.{file}")
    assert shown != found
    if rest.startswith("LINE"):
        line = int(shown.split(":")[1])
        if key:
            assert key in lines[line - 1], "the line that it names has the parameter"
        shown = shown.replace(f":{line}:", ":LINE:", 1)
    assert shown.replace(str(tmp_path), "FOLDER").startswith(f":{rest}")


HPL = "[ 400, 3.24, 0.4, 8.0, 0.008, {} ]"


@pytest.mark.parametrize("form", ["hpl", "hplplus10"])
def test_the_forms_of_the_hp_laboratories_are_points(keys, form):
    ten = [1.0 + tenth / 10 for tenth in range(10)]
    mech = {
        "Seek type": form,
        "HPL seek equation values": HPL.format("2.5" if form == "hpl" else "-1"),
        "First ten seek times": str(ten),
    }
    zone = {"Last cylinder number": "1961"}
    points = {
        at: float(ms.removesuffix("ms")) for at, ms in keys(Files(mech=mech, zones=[zone]))["seek"]["table"]
    }

    def exact(distance: int) -> float:
        if form == "hplplus10" and distance <= 10:
            return ten[distance - 1]
        if form == "hpl" and distance == 1:
            return 2.5
        return 3.24 + 0.4 * math.sqrt(distance) if distance < 400 else 8.0 + 0.008 * distance

    known = sorted(points)
    assert (known[0], known[-1]) == (1, 1961)
    assert len(known) < 450
    for distance in range(1, 1962):
        above = next(at for at in known if at >= distance)
        below = max(at for at in known if at <= distance)
        share = (distance - below) / (above - below) if above > below else 0
        between = points[below] + share * (points[above] - points[below])
        assert abs(between - exact(distance)) < 0.00025, distance


def test_a_form_without_a_time_of_its_own_for_one_cylinder(keys):
    mech = {"Seek type": "hpl", "HPL seek equation values": HPL.format("-1")}
    assert keys(Files(mech=mech))["seek"]["table"][0] == [1, "3.64ms"]


def test_lees_curve_goes_through_its_three_figures(keys):
    mech = {
        "Seek type": "curve",
        "Single cylinder seek time": "1",
        "Average seek time": "2",
        "Full strobe seek time": "3",
    }
    assert section(keys(Files(mech=mech)), "seek") == {"single": "1ms", "average": "2ms", "full": "3ms"}


@pytest.mark.parametrize(
    ("mech", "message"),
    [
        (
            {"HPL seek equation values": "[ 1 ]"},
            "'HPL seek equation values' is a list of 1: six values are wanted",
        ),
        ({"First ten seek times": "[ 1 ]"}, "'First ten seek times' is a list of 1: ten times are wanted"),
        (
            {
                "HPL seek equation values": "[ 400, -9, 0.4, 8.0, 0.008, 0 ]",
                "First ten seek times": "[" + "1," * 10 + "]",
            },
            "'HPL seek equation values' is a list of 6: a seek over 11 cylinders would take -7.673350 ms",
        ),
    ],
)
def test_a_form_that_makes_no_sense_is_refused(tmp_path, mech, message):
    given = {"Seek type": "hplplus10", "HPL seek equation values": HPL.format("-1"), **mech}
    files = Files(mech=given, zones=[{"Last cylinder number": "99"}])
    with pytest.raises(disksim.DisksimError) as raised:
        disksim.import_drive(files.write(tmp_path))
    assert str(raised.value).endswith(message)


def described(layout: Layout) -> Files:
    """A description with this layout."""
    zones = [
        {
            "First cylinder number": str(zone.first),
            "Last cylinder number": str(zone.last),
            "Blocks per track": str(zone.spt),
            "Offset of first block": f"{zone.offset}.000000",
            "Empty space at zone front": str(zone.dead),
            "Skew for track switch": f"{zone.track_skew}.000000",
            "Skew for cylinder switch": str(zone.cylinder_skew),
            "Number of spares": str(zone.spares),
            "slips": str(list(zone.slips)),
            "defects": "[ 3, 3 ]",
        }
        for zone in layout.zones
    ]
    kind = {
        "LBN-to-PBN mapping scheme": str(layout.mapping),
        "Sparing scheme used": str(layout.scheme),
        "Rangesize for sparing": str(layout.range),
    }
    return Files(layout=kind, zones=zones, surfaces=str(layout.surfaces), reported="99999")


@st.composite
def layouts(draw):
    """Layouts of one or two zones in each scheme, with slips that fit, and anything else that may be."""
    surfaces, scheme = draw(st.integers(1, 4)), draw(st.sampled_from([0, 1, 2, 3, 7, 8, 9, 10]))
    range_ = draw(st.integers(1, 3))
    zones, next_ = [], 0
    for _ in range(draw(st.integers(1, 2))):
        first, cylinders = next_ + draw(st.integers(0, 2)), draw(st.integers(1, 7))
        spt = draw(st.integers(3, 12))
        bpc, slots = surfaces * spt, cylinders * surfaces * spt
        stretch = {1: cylinders * surfaces, 2: bpc, 3: spt, 8: range_ * bpc}.get(scheme, slots)
        counted = cylinders * surfaces if scheme == 1 else slots
        spares = draw(st.integers(0, min(stretch - 1, 8)))
        whole = counted // stretch
        slips = set()
        for slip in draw(st.lists(st.integers(0, counted - 1), max_size=0 if scheme == 0 else 6)):
            number = slip // stretch
            room = spares if number < whole else 0
            free = scheme in (7, 10) or len({s for s in slips | {slip} if s // stretch == number}) <= room
            slips |= {slip} if free else set()
        zone = Zone(
            first, first + cylinders - 1, spt, draw(st.integers(0, spt)), 0, 1, 2, spares, sorted(slips)
        )
        layout = Layout(surfaces, 0, scheme, range_, [zone])
        # Behind the last whole range DiskSim's own count of blocks and its mapping part ways where spares are many.
        assume(scheme != 8 or (cylinders % range_ == 0 or spares < bpc))
        assume(layout.size(zone) > 0)
        dead = draw(st.integers(0, min(25, layout.size(zone) - 1)))
        skews = {"track_skew": draw(st.integers(0, spt)), "cylinder_skew": draw(st.integers(0, spt))}
        zones.append(replace(zone, dead=dead, **skews))
        next_ = first + cylinders
    return Layout(surfaces, draw(st.sampled_from([0, 1, 2])), scheme, range_, zones)


@given(layout=layouts())
def test_every_block_lies_where_disksim_puts_it(tmp_path_factory, layout):
    drive = disksim.import_drive(described(layout).write(tmp_path_factory.mktemp("layout")))
    checked = plan(drive.keys)
    capacity = sum(map(layout.size, layout.zones))
    for block, found in enumerate(_core.places(checked, range(capacity))):
        expected = layout.place(block)
        assert found[:3] == expected[:3], f"block {block}"
        off = Fraction(found[3]) - expected[3]
        assert abs(off - round(off)) < 1e-6, f"block {block}"
    with pytest.raises(IndexError):
        _core.places(checked, [capacity])


def test_a_drive_may_report_less_than_its_zones_hold(keys):
    assert "capacity" not in keys(Files(reported="200"))["geometry"]
    assert "capacity" not in keys(Files(reported="201"))["geometry"]
    assert "capacity" not in keys(Files(reported="0"))["geometry"]
    assert keys(Files(reported="199"))["geometry"]["capacity"] == "199 sectors"


def test_slips_side_by_side_are_one_entry(keys):
    zone = {"slips": "[ 9, 10, 11, 13, 14, 15 ]", "Number of spares": "6"}
    found = keys(Files(zones=[zone], layout={"Sparing scheme used": "9"}))
    assert found["geometry"]["slips"] == [
        {"cylinder": 0, "head": 0, "sector": 9},
        {"cylinder": 0, "head": 1, "sector": 0, "count": 2},
        {"cylinder": 0, "head": 1, "sector": 3, "count": 3},
    ]


def test_the_text_is_for_people(tmp_path):
    zones = [
        {
            "First cylinder number": str(20 * at),
            "Last cylinder number": str(20 * at + 9),
            "Number of spares": "40",
        }
        for at in range(3)
    ]
    slips = "[ " + ", ".join(map(str, range(0, 80, 2))) + " ]"
    zones[0]["slips"] = slips
    files = Files(zones=zones, layout={"Sparing scheme used": "9"})
    text = disksim.import_drive(files.write(tmp_path)).text()
    assert text.startswith("# X, imported from its description for DiskSim by `drivelab import disksim`.\n")
    assert sum(line.startswith("    { first_cylinder") for line in text.splitlines()) == 3
    assert max(map(len, text.splitlines())) < 200
    assert text.count(", sector =") == 40


def test_the_command_line_writes_a_drive_that_runs(run, tmp_path):
    Files().write(tmp_path)
    done = run("import", "disksim", "a.parv", "-o", "x.toml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote x.toml\n{SPREAD}")
    text = (tmp_path / "x.toml").read_text(encoding="utf-8")
    printed = run("import", "disksim", "a.parv")
    assert (printed.returncode, printed.stdout, printed.stderr) == (0, text, SPREAD)
    asked = json.loads(run("import", "disksim", "a.parv", "--json").stdout)
    assert (asked["format"], asked["name"], asked["drive"]) == ("disksim", "X", tomllib.loads(text))
    ran = run("simulate", "--drive", "x.toml", "--rw", "randrw", "--number-ios", "200", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["points"][0]["latency_ns"]["n"] == 200
    (tmp_path / "s.toml").write_text('[target]\ndrive = "x.toml"\n')
    assert run("check", "s.toml").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["b.parv"], 2, "error: cannot read b.parv: no such file or directory\n"),
        (["a.diskspecs"], 2, "error: a.diskspecs: there is no topology"),
        (
            ["a.trace"],
            2,
            "error: a.trace:1: '{' is missing after Hit; there is '0'; "
            "the file to name is the description's .parv, and a.trace is none\n",
        ),
        (
            ["a.parv", "-o", "nowhere/x.toml"],
            1,
            "error: -o nowhere/x.toml: cannot write: there is no folder nowhere",
        ),
    ],
)
def test_what_the_command_line_cannot_do_it_says(run, tmp_path, arguments, code, message):
    Files().write(tmp_path)
    (tmp_path / "a.trace").write_text("R Hit 0 10 2000.0 500.0\n")
    done = run("import", "disksim", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(message)


ARRAY = Files(
    instances={"x": None, "disk0 .. disk2": "X"},
    topology="topology disksim_iodriver d [ disksim_bus b [ disksim_disk disk0 [], disksim_disk disk1 [], "
    "disksim_disk disk2 [] ] ]",
)


@pytest.mark.parametrize("options", [[], ["--disk", "disk1"]])
def test_one_disk_of_an_array_is_imported(run, tmp_path, options):
    Files().write(tmp_path)
    alone = json.loads(run("import", "disksim", "a.parv", "--json").stdout)
    ARRAY.write(tmp_path)
    done = run("import", "disksim", "a.parv", "--json", *options)
    assert "left out: the topology: it has 2 more disks" in done.stderr
    assert json.loads(done.stdout)["drive"] == alone["drive"]


def test_a_disk_of_an_array_is_named(run, tmp_path):
    ARRAY.write(tmp_path)
    done = run("import", "disksim", "a.parv", "--disk", "disk3")
    assert done.returncode == 2
    assert "--disk disk3: no disk is called so; there is disk0, disk1, disk2 (X)" in done.stderr


def test_another_simulator_is_refused_in_plain_words(run):
    done = run("import", "raidframe", "a.parv")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "error: Invalid value for 'disksim|smartctl': 'raidframe' cannot be imported; disksim and smartctl can\n"
    )


def test_a_drive_that_cannot_run_is_not_written(run, tmp_path):
    Files(mech={"Add. write settling delay": "-1.5"}).write(tmp_path)
    done = run("import", "disksim", "a.parv", "-o", "x.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "write settle" in done.stderr
    assert not (tmp_path / "x.toml").exists()


def test_a_spread_that_no_number_holds_is_none(run, tmp_path):
    Files().write(tmp_path)
    (tmp_path / "a.seek").write_text("1, 1.0, 1e999999999, 1.2\n9, 2.5, 0.1, 1e-999999999\n")
    done = run("import", "disksim", "a.parv", "-o", "x.toml")
    assert (done.returncode, done.stderr.count(SPREAD)) == (0, 1), done.stderr
