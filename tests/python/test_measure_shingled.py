"""Whether a drive is shingled: the verdict on simulated drives, on a file that cannot tell, on figures."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from drivelab import InputError, catalogue
from drivelab.measuring.shingled import (
    CANNOT_TELL,
    CONVENTIONAL,
    SHINGLED,
    Evidence,
    conclude,
    flush_every,
    phases,
    said_by_kernel,
)
from drivelab.scenarios.catalogue_choice import Medium, chosen

# What a conventional drive shows: 12 ms a random read, 130 MB/s.
FOUND = Evidence(12e6, 2.0e9, 5e6, 4.0e9, 2.02e9, 500)


def judged(run, *words: object) -> dict:
    done = run("measure", "shingled", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_drive_of_the_catalogue_is_judged_as_it_is(run):
    expected = {Medium.SMR: SHINGLED, Medium.FLASH: CANNOT_TELL, Medium.CMR: CONVENTIONAL}
    for medium, verdict in expected.items():
        names = [entry["name"] for entry in chosen(catalogue("drives"), medium)]
        # As many as one test may take of those that are alike.
        found = {name: judged(run, "--drive", name)["verdict"] for name in names[:6]}
        assert found == dict.fromkeys(found, verdict)


def test_the_evidence_is_a_movement_of_the_arm_for_each_block(run):
    found = judged(run, "--drive", "seagate-st8000as0002", "--writes", "200")["evidence"]
    assert found["writes"] == 200
    assert found["extra_ns"] > found["random_read_ns"]
    assert found["after_bytes_per_s"] < found["before_bytes_per_s"] / 4


def test_a_file_on_this_machine_cannot_tell(run, tmp_path):
    target = tmp_path / "target"
    with target.open("wb") as file:
        file.truncate(2 << 30)
    found = judged(run, target, "--write", "--yes-destroy", target, "--writes", "100")
    assert found["verdict"] == CANNOT_TELL
    assert found["evidence"]["writes"] == 100
    assert found["environment"]["target"]["path"] == str(target)
    assert target.stat().st_size == 2 << 30


@pytest.mark.parametrize("writes", [100, 101, 150])
def test_the_last_write_is_flushed_however_many_there_are(run, writes):
    assert judged(run, "--drive", "seagate-st8000as0002", "--writes", writes)["verdict"] == SHINGLED
    assert writes % flush_every(writes) == 0


@pytest.mark.parametrize(
    ("found", "verdict", "reason"),
    [
        (FOUND, CONVENTIONAL, "in their place"),
        (replace(FOUND, after_ns=22e9), SHINGLED, "40 ms more for each written block"),
        # As much longer as a few movements of the arm.
        (replace(FOUND, after_ns=2.9e9), CANNOT_TELL, "too much for blocks in their place"),
        # A stream that was disturbed has not been moved: two milliseconds for each block are no movement.
        (replace(FOUND, after_ns=4.1e9, random_read_ns=20e6), CANNOT_TELL, "too little for a movement"),
        # Few blocks, each with a movement of the arm.
        (replace(FOUND, after_ns=2.4e9, writes=10), CANNOT_TELL, "too much for blocks"),
        (replace(FOUND, random_read_ns=0.1e6, after_ns=22e9), CANNOT_TELL, "no arm|takes too little"),
        (replace(FOUND, before_ns=16e9, after_ns=40e9), CANNOT_TELL, "before anything was written"),
    ],
)
def test_what_the_figures_say(found, verdict, reason):

    assert conclude(found).verdict == verdict
    assert re.search(reason, conclude(found).reason)
    assert conclude(found, "a loop device").to_dict()["verdict"] == CANNOT_TELL


def test_a_target_needs_room_for_both_streams():
    with pytest.raises(InputError, match="2 GiB"):
        phases(1 << 30, 500)
    asked = phases(2 << 30, 500)
    ends = [phase.offset + phase.span for phase in asked.values()]
    assert max(ends) <= 2 << 30
    assert asked["before"] == asked["after"]
    assert asked["writes"].offset + asked["writes"].span <= asked["elsewhere"].offset


class Zoned:
    """A target of which the kernel knows zones."""

    def __init__(self, zoned: str | None) -> None:
        """Create it with the word of the kernel."""
        self.block = self
        self.zoned = zoned


@pytest.mark.parametrize(("zoned", "verdict"), [("host-managed", SHINGLED), ("none", None), (None, None)])
def test_what_the_kernel_knows_needs_no_run(zoned, verdict):
    found = said_by_kernel(Zoned(zoned))
    assert (found and found.verdict) == verdict
