"""`drivelab import disksim` on layouts in patterns (dm_layout_g4): where each block lies, and what is refused."""

from __future__ import annotations

import gzip
from bisect import bisect_right
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from disksim_g4 import G4, Entry, layouts, read
from disksim_model import Files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drivelab import _core, disksim, simulate
from drivelab.report import toml_text

HEADS = 3


def description(folder, layout: G4 | str, **changes: str):
    text = layout if isinstance(layout, str) else layout.text()
    reported = "0" if isinstance(layout, str) else str(layout.blocks)
    given_ = {
        "surfaces": str(HEADS),
        "reported": reported,
        "layout_text": text,
        "seek": "1, 1.0\n9, 2.5\n",
    } | changes
    return Files(**given_).write(folder)


def planned(keys):
    return _core.Plan(
        toml_text.dumps({"target": {"drive": keys}, "workload": {"bs": "512B"}}), "a.toml", ".", []
    )


def places(keys, blocks):
    return _core.places(planned(keys), blocks)


def off_by(found: float, expected: Fraction) -> float:
    """How far two angles are apart, of a turn."""
    apart = abs(Fraction(found) - expected) % 1
    return float(min(apart, 1 - apart))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(layout=layouts(HEADS))
def test_each_block_lies_where_disksim_has_it(tmp_path, layout):
    keys = disksim.import_drive(description(tmp_path, layout)).keys
    blocks = list(range(layout.blocks))
    for block, found in zip(blocks, places(keys, blocks), strict=True):
        expected = layout.place(block)
        assert found[:3] == expected[:3], block
        # A nanosecond of 10 ms, and half a step of 2^-32 of a turn for each of some angles.
        assert off_by(found[3], expected[3]) < 3e-7, block


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(layout=layouts(HEADS), data=st.data())
def test_a_drive_of_patterns_can_be_run(tmp_path, layout, data):
    drive = disksim.import_drive(description(tmp_path, layout))
    (tmp_path / "x.toml").write_text(drive.text(), encoding="utf-8")
    sectors = data.draw(st.integers(1, layout.blocks))
    workload = {"rw": data.draw(st.sampled_from(["randread", "randwrite", "read", "write"]))}
    found = simulate(
        {
            "target": {"drive": str(tmp_path / "x.toml")},
            "workload": {**workload, "bs": f"{512 * sectors}B"},
            "run": {"duration": "1s"},
        }
    )
    assert found.points[0]["iops"] > 0


def whole(nodes: str, tracks: str = "0, 9, 10", slips: str = "", remaps: str = "") -> str:
    return (
        f"dm_layout_g4 {{ TP = [ {tracks} ], IDX = [ {nodes} ], Slips = [ {slips} ], Remaps = [ {remaps} ] }}"
    )


TRACK = "0, 0, 0.0, 10, 1, 0.25, 200, 20, TRACK, 0, 0"


def test_what_a_layout_becomes(tmp_path):
    nodes = "[ 0, 3, 0.0, 10, 1, 0.25, 40, -4, TRACK, 0, 0, 40, 0, 1.5, 10, 1, -0.25, 40, 4, TRACK, 0, 1 ], "
    nodes += "[ 0, 0, 0.0, 80, 4, 0.5, 400, 20, IDX, 0, 400, 20, 0.125, 60, 4, 0.5, 150, 12, IDX, 0 ]"
    drive = disksim.import_drive(description(tmp_path, whole(nodes, slips="7, 2, 90, 1"), reported="500"))
    geometry = {key: value for key, value in drive.keys["geometry"].items() if key not in ("mark", "source")}
    track = {"sectors_per_track": 10}
    back = {"head": 0, **track, "cylinder": 3, "count": 4, "back": True, "skew": "0.25rev"}
    there = {"head": 1, **track, "start": "0.5rev", "count": 4, "skew": "0.75rev"}
    assert geometry == {
        "heads": HEADS,
        "capacity": "500 sectors",
        "skips": [[7, 2], [90, 1]],
        "patterns": [
            {"runs": [back, there]},
            # Only a part of it is repeated by the last entry, and of its last instance only a part of that.
            {"runs": [back, there | {"count": 2}]},
            {"runs": [back | {"count": 3}]},
            {
                "runs": [
                    {"pattern": 0, "count": 5, "step": 4, "skew": "0.5rev"},
                    {
                        "pattern": 1,
                        "cylinder": 20,
                        "start": "0.125rev",
                        "count": 2,
                        "step": 4,
                        "skew": "0.5rev",
                    },
                    {"pattern": 2, "cylinder": 28, "start": "0.125rev"},
                ]
            },
        ],
    }


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (whole(""), "'IDX' is a list of 0: there is no node"),
        (whole("[ ]"), "node 0 is empty"),
        (whole("1"), "'' is 1: a list is wanted: [ .. ]"),
        (whole("[ 0, 0, 0.0 ]"), "an entry of node 0 is not lbn, cyl, off,"),
        (whole(f"[ {TRACK[:-3]} ]"), "an entry of node 0 is not lbn, cyl, off,"),
        (whole("[ 0, 0, 0.0, 10, 1, 0.25, 200, 20, HEAD, 0, 0 ]"), "an entry of node 0 is not lbn,"),
        (whole(f"[ {TRACK.replace('0, 0, 0.0', '5, 0, 0.0')} ]"), "do not follow each other: 0 is wanted"),
        (whole(f"[ {TRACK}, {TRACK} ]"), "do not follow each other: 200 is wanted"),
        (whole(f"[ {TRACK[:-1]}3 ]"), "is 3: the drive has 3 heads"),
        (whole("[ 0, 0, 0.0, 10, 1, 0.25, 200, 20, TRACK, 1, 0 ]"), "is 1: there are 1 kinds of tracks"),
        (whole("[ 0, 0, 0.0, 11, 1, 0.25, 200, 20, TRACK, 0, 0 ]"), "is 11: what it repeats holds 10"),
        (
            whole("[ 0, 0, 0.0, 0, 1, 0.25, 200, 20, TRACK, 0, 0 ]"),
            "is 0: a whole number from 1 on is wanted",
        ),
        (
            whole("[ 0, 0, 0.0, 200, 1, 0.25, 200, 20, IDX, 0 ]"),
            "node 0 can only repeat nodes that stand before",
        ),
        (
            whole("[ 0, 1, 0.0, 10, 1, 0.25, 200, -20, TRACK, 0, 0 ]"),
            "the drive's `geometry` cannot be used: pattern 0",
        ),
        (whole(f"[ {TRACK.replace('200', '1e14')} ]"), "no drive has more than 4194304 cylinders"),
        (whole(f"[ {TRACK} ]", "0, 9"), "'TP' is a list of 2: groups of 3 numbers are wanted"),
        (whole(f"[ {TRACK} ]", "0, 10, 10"), "no track holds its blocks in sectors 0 to 10 of 10"),
        (
            whole(f"[ {TRACK} ]", "0, 65535, 65536"),
            "no track holds its blocks in sectors 0 to 65535 of 65536",
        ),
        (whole(f"[ {TRACK} ]", slips="5, 2, 6, 1"), "is 6: a slip begins before the one before it ends"),
        (whole(f"[ {TRACK} ]", slips="199, 2"), "is 199: a slip is behind the layout's 200 slots"),
        (whole(f"[ {TRACK} ]", slips="0, 200"), "'Slips' is a list of 2: they leave no block"),
        (
            whole(f"[ {TRACK} ]", remaps="1, 1, 1, 1, 1, 1"),
            "blocks that are mapped elsewhere cannot be imported",
        ),
        (whole(f"[ {TRACK} ]").replace("Remaps", "Remap"), "dm_layout_g4 has no parameter 'Remaps'"),
        (whole(f"[ {TRACK} ]").replace("TP", "A = 1, TP"), "dm_layout_g4 has no parameter 'A'"),
    ],
)
def test_a_layout_that_cannot_be_is_refused_at_its_line(tmp_path, layout, message):
    with pytest.raises(disksim.DisksimError, match=r"a\.model:\d+: ") as refused:
        disksim.import_drive(description(tmp_path, layout))
    assert message in str(refused.value)


def test_a_drive_cannot_report_more_than_its_layout_holds(tmp_path):
    with pytest.raises(disksim.DisksimError, match=r"the layout holds 200 blocks, and the drive has 201"):
        disksim.import_drive(description(tmp_path, whole(f"[ {TRACK} ]"), reported="201"))


def test_nodes_of_many_parts_end(tmp_path):
    # Each level would double the patterns, were one that is known written again.
    nodes = [f"[ {TRACK} ]"]
    for number in range(25):
        entry = "0, 0, 0.0, {0}, 0, 0.0, {0}, 1, IDX, {1}"
        nodes.append(f"[ {entry.format(200, number)} ]")
    assert (
        len(disksim.import_drive(description(tmp_path, whole(", ".join(nodes)))).keys["geometry"]["patterns"])
        == 26
    )
    nodes += [f"[ 0, 0, 0.0, 200, 0, 0.0, 200, 1, IDX, {number} ]" for number in range(25, 40)]
    with pytest.raises(disksim.DisksimError, match="deep"):
        disksim.import_drive(description(tmp_path, whole(", ".join(nodes))))


@pytest.fixture(scope="module")
def maxtor_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("maxtor")


@pytest.fixture
def maxtor(reference, maxtor_folder):
    folder = reference("disksim/maxtor300g/maxtor300g.parv").parent
    if not (maxtor_folder / "maxtor300g.parv").exists():
        for path in folder.iterdir():
            if path.suffix == ".gz":
                (maxtor_folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
            else:
                (maxtor_folder / path.name).write_bytes(path.read_bytes())
    return maxtor_folder


@pytest.fixture
def maxtor_imported(maxtor, maxtor_drives, run, monkeypatch):
    """The drive as Python has it, and what its import by the command line comes to: it is long, and made once."""
    if not maxtor_drives:
        read_it = disksim.import_drive

        def kept(path: Path, disk: str | None) -> disksim.Drive:
            maxtor_drives.append(read_it(path, disk))
            return maxtor_drives[0]

        monkeypatch.setattr(disksim, "import_drive", kept)
        done = run("import", "disksim", maxtor / "maxtor300g.parv", "-o", maxtor / "x.toml")
        maxtor_drives.append(done)
    drive, done = maxtor_drives
    return drive, done, maxtor / "x.toml"


@pytest.fixture(scope="module")
def maxtor_drives():
    return []


@pytest.mark.xdist_group("maxtor")
def test_a_drive_of_35_patterns_and_15_000_slips(maxtor, maxtor_imported):
    drive, _, _ = maxtor_imported
    plan = planned(drive.keys)
    layout = read((maxtor / "maxtor300g-layout.model").read_text())
    assert (layout.blocks, len(layout.slips)) == (585_937_500, 14_693)
    assert drive.keys["geometry"]["capacity"] == "585937499 sectors"
    # From DiskSim's layout library.
    known = {
        36_270: (0, 0, 0, 0.445921),
        59_812: (20, 1, 93, 0.581003),
        10_000_000: (1_089, 2, 378, 0.224225),
        300_000_000: (35_724, 4, 435, 0.721481),
        585_937_498: (80_512, 4, 528, 0.015462),
    }
    for (block, expected), found in zip(known.items(), _core.places(plan, list(known)), strict=True):
        assert found[:3] == expected[:3], block
        assert abs(found[3] - expected[3]) < 2e-6
    drawn = np.random.default_rng(1).integers(0, 585_937_499, 5_000).tolist()
    # First and last block of each track: the slots that hold none are counted out.
    before, skipped = [], 0
    for position, count in layout.slips:
        before.append(position - skipped)
        skipped += count
    held = [position for position, _ in layout.slips]
    slipped = {position + more for position, count in layout.slips for more in range(count)}
    sums = [0]
    for _, count in layout.slips:
        sums.append(sums[-1] + count)
    ends = [slot for pair in layout.track_ends() for slot in pair if slot not in slipped]
    assert len(ends) > 1_200_000
    blocks = [slot - sums[bisect_right(held, slot)] for slot in ends]
    sample = np.random.default_rng(2).integers(0, len(ends), 5_000)
    for block, slot in ((blocks[at], ends[at]) for at in sample):
        assert layout.place(block) == layout.place_of_slot(slot)
    # Neighbours on a track differ by its sectors alone, which a walk over all ends can tell without a search each.
    # A prime, so that all heads, both ends and all patterns are met.
    every = 1 if settings.get_current_profile_name() == "thorough" else 17
    walked = [(slot, block) for slot, block in zip(ends, blocks, strict=True) if block < 585_937_499][::every]
    ends_found = _core.places(plan, [block for _, block in walked])
    for (slot, _), found in zip(walked, ends_found, strict=True):
        expected = place_of(layout, slot)
        assert found[:3] == expected[:3], slot
        assert off_by(found[3], expected[3]) < 4e-7, slot
    for block, found in zip(drawn, _core.places(plan, drawn), strict=True):
        expected = layout.place(block)
        assert found[:3] == expected[:3], block
        assert off_by(found[3], expected[3]) < 4e-7, block


def place_of(layout: G4, slot: int):
    """The same way as the plain one, with a search in place of a walk over the entries: there are 1.2 million ends."""
    node, cylinder, angle = len(layout.nodes) - 1, 0, 0
    while True:
        begins = _BEGINS.setdefault((id(layout), node), [entry.lbn for entry in layout.nodes[node]])
        entry: Entry = layout.nodes[node][bisect_right(begins, slot) - 1]
        instance, slot = divmod(slot - entry.lbn, entry.len)
        cylinder += entry.cyl + (-1 if entry.cylrunlen < 0 else 1) * instance * entry.cyllen
        # In millionths of a turn, as the file has them.
        off, alen = _MILLIONTHS.setdefault(id(entry), (int(entry.off * 10**6), int(entry.alen * 10**6)))
        angle += off + instance * alen
        if entry.head is not None:
            low, _, per_track = layout.tracks[entry.child]
            return (
                cylinder,
                entry.head,
                low + slot,
                Fraction(angle * per_track + slot * 10**6, per_track * 10**6) % 1,
            )
        node = entry.child


_BEGINS: dict[tuple[int, int], list[int]] = {}
_MILLIONTHS: dict[int, tuple[int, int]] = {}


@pytest.mark.xdist_group("maxtor")
def test_its_write_curve_is_a_settle_and_its_spread_is_told(maxtor_imported):
    _, done, written = maxtor_imported
    assert done.returncode == 0
    told = "maxtor300g_dual.seek: the spread of the seeks, a standard deviation of 0.008518 to 0.302387 ms"
    assert f"left out: {told}\n" in done.stderr
    text = written.read_text()
    assert f"# Left out: {told}\n" in text
    assert 'write_settle = "0.15ms"' in text
    assert '[1, "0.5257ms"]' in text
