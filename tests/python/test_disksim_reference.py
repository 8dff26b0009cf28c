"""The five drives whose descriptions for DiskSim were extracted from real ones, with their measured requests.

The places of blocks are held to test vectors of DiskSim's layout library and to its formulas, the service times to
the measurement. The files are not part of the repository (see `reference` in conftest.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction

import pytest
from disksim_model import Layout, Zone

from drivelab import _core, disksim, validate
from drivelab.disksim import syntax
from drivelab.disksim.parameters import Parameters, as_count
from drivelab.disksim.syntax import Block
from drivelab.report import toml_text


@dataclass(frozen=True)
class Drive:
    """What is known of a drive."""

    reported: int
    held: int
    """Blocks: as the drive says, and as many as its zones hold by DiskSim's count."""
    places: list[tuple[int, int, int, int, float]]
    """Blocks with cylinder, head, sector and angle, from DiskSim's layout library."""
    requests: int
    far_reads: int
    measured: float
    """The mean of the measured times, in milliseconds."""
    mean_within: float
    """How far the simulated mean may be from it, in percent."""
    demerit: float
    """The demerit that must not be exceeded, in milliseconds."""


DRIVES = {
    "atlas10k": Drive(
        17_938_986,
        17_966_953,
        [
            (2004, 1, 5, 0, 0.281437),
            (55016, 27, 3, 240, 0.694611),
            (55017, 27, 3, 242, 0.700599),
            (867643, 433, 0, 0, 0.0),
            (10000000, 5134, 1, 116, 0.202614),
        ],
        10_000,
        3_117,
        3.8931,
        2.0,
        0.12,
    ),
    "cheetah9LP": Drive(
        17_783_240,
        17_918_387,
        [
            (3048, 1, 0, 0, 0.724409),
            (168316, 55, 2, 168, 0.267717),
            (168317, 55, 2, 170, 0.275591),
            (10000000, 3493, 10, 215, 0.285714),
            (17783239, 6894, 5, 122, 0.934132),
        ],
        10_000,
        3_150,
        4.2729,
        2.0,
        0.12,
    ),
    "barracuda": Drive(
        4_110_000,
        4_217_670,
        [
            (5491, 5, 4, 97, 0.693548),
            (5492, 6, 0, 0, 0.451613),
            (110748, 120, 4, 165, 0.715054),
        ],
        10_000,
        3_151,
        6.6274,
        3.0,
        0.33,
    ),
    "hp_c3323a": Drive(
        2_056_008,
        2_056_008,
        [(0, 1, 4, 0, 0.7), (806760, 994, 0, 0, 0.413793)],
        9_074,
        2_914,
        15.7649,
        2.0,
        0.306,
    ),
    "dec_rz26": Drive(
        2_050_860,
        2_050_860,
        [(57, 29, 1, 0, 0.120690), (1000000, 1282, 1, 49, 0.965517)],
        7_980,
        2_633,
        15.8087,
        2.0,
        0.34,
    ),
    "hp_c2247a": Drive(2_054_864, 2_054_864, [], 9_999, 1_964, 15.2982, 2.0, 0.0915),
    "st41601n": Drive(2_676_846, 2_676_846, [], 9_999, 3_202, 14.6168, 2.0, 0.077),
}


@pytest.fixture(params=DRIVES)
def name(request):
    return request.param


@pytest.fixture
def description(reference, name):
    return reference(f"disksim/{name}.parv")


@pytest.fixture
def plan(description):
    keys = disksim.import_drive(description).keys
    return _core.Plan(toml_text.dumps({"target": {"drive": keys}}), "a.toml", ".", [])


def test_blocks_lie_where_the_layout_library_puts_them(name, plan):
    known = DRIVES[name].places
    for place, found in zip(known, _core.places(plan, [place[0] for place in known]), strict=True):
        assert found[:3] == place[1:4]
        assert abs(found[3] - place[4]) < 2e-6


def layout_of(description) -> Layout:
    """The numbers of a layout, read without the import."""
    found = syntax.read(description)
    disk = next(block for block in found.blocks.values() if block.type == "disksim_disk")
    model = Parameters(Parameters(disk).within("Model"))
    layout = Parameters(model.within("Layout Model"))
    zones = []
    for entry in layout.items("Zones"):
        assert isinstance(entry.value, Block)
        zone = Parameters(entry.value)
        keys = (
            "First cylinder number",
            "Last cylinder number",
            "Blocks per track",
            "Offset of first block",
            "Empty space at zone front",
            "Skew for track switch",
            "Skew for cylinder switch",
            "Number of spares",
        )
        slips = [as_count(slip) for slip in zone.items("slips")]
        zones.append(Zone(*(zone.count(key) for key in keys), slips))
    schemes = ("LBN-to-PBN mapping scheme", "Sparing scheme used", "Rangesize for sparing")
    return Layout(model.count("Number of data surfaces"), *(layout.count(key) for key in schemes), zones)


def test_blocks_lie_where_the_formulas_put_them(name, plan, description):
    layout = layout_of(description)
    assert sum(map(layout.size, layout.zones)) == DRIVES[name].held
    capacity = DRIVES[name].reported
    borders, first = [], 0
    for zone in layout.zones:
        borders += [first, first + layout.size(zone) - 1]
        first += layout.size(zone)
    blocks = sorted({*range(0, capacity, capacity // 2_000), *borders, capacity - 1})
    blocks = [block for block in blocks if block < capacity]
    for block, found in zip(blocks, _core.places(plan, blocks), strict=True):
        expected = layout.place(block)
        assert found[:3] == expected[:3], f"block {block}"
        off = Fraction(found[3]) - expected[3]
        # A skew is known to half a step of 2^-32 of a turn, and as many add up as there are tracks in the zone.
        assert abs(off - round(off)) < 6e-6, f"block {block}"


def test_a_drive_takes_as_long_as_it_was_measured_to(run, reference, tmp_path, name, description):
    drive = DRIVES[name]
    assert run("import", "disksim", description, "-o", "x.toml").returncode == 0
    done = run("validate", "x.toml", "--trace", reference(f"disksim/{name}.trace"), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["requests"] == drive.requests
    assert round(found["mean_measured_ms"], 4) == drive.measured
    off = 100 * (found["mean_simulated_ms"] / found["mean_measured_ms"] - 1)
    assert abs(off) < drive.mean_within
    assert found["demerit_ms"] < drive.demerit
    # No cache helps a read that begins far from where the last request ended: the mechanics alone decide.
    far = found["groups"]["far_reads"]
    assert far["requests"] == drive.far_reads
    assert abs(far["mean_simulated_ms"] / far["mean_measured_ms"] - 1) < 0.02


def test_the_angle_at_the_start_hardly_matters(reference, tmp_path):
    drive = disksim.import_drive(reference("disksim/cheetah9LP.parv"))
    (tmp_path / "x.toml").write_text(drive.text(), encoding="utf-8")
    trace = reference("disksim/cheetah9LP.trace")
    first, *others = [validate(tmp_path / "x.toml", trace, seed=seed).all for seed in (1, 2, 3)]
    for other in others:
        assert not (other.simulated == first.simulated).all()
        assert abs(other.mean_simulated / first.mean_simulated - 1) < 0.005
        assert abs(other.demerit - first.demerit) < 0.02
