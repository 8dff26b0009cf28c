"""Broken descriptions: each is imported or refused with its file, never slowly, and what is written can be run.

The small made-up sets are always there; those of real drives are no part of the repository (see `reference` in
conftest.py).
"""

from __future__ import annotations

import re
import shutil
import time
import tomllib

import pytest
from disksim_model import Files
from disksim_mutants import Mutant, mutants
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from drivelab.cli.app import program
from drivelab.cli.boundary import guarded
from drivelab.scenarios.scenario import plan, read_source

# A whole import of the largest set takes a fraction of this, on a busy machine too.
SECONDS_MAX = 5.0
MESSAGE_MAX = 10_000
REFERENCE = ("atlas10k", "barracuda", "cheetah9LP", "dec_rz26", "hp_c3323a")

CURVE = {
    "Seek type": "curve",
    "Single cylinder seek time": "1.0",
    "Average seek time": "5.0",
    "Full strobe seek time": "9.0",
}
HPL = {"Seek type": "hplplus10", "HPL seek equation values": "[ 400, 3.24, 0.4, 8.0, 0.008, -1.0 ]"}
TEN = {"First ten seek times": "[ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ]"}
PATTERNS = """dm_layout_g4 {
TP = [ 0, 9, 10, 2, 5, 8 ],
IDX = [
[ 0, 3, 0.0, 10, 1, 0.25, 40, -4, TRACK, 0, 0,
 40, 0, 0.5, 10, 1, 0.25, 40, 4, TRACK, 0, 1 ],
[ 0, 0, 0.0, 80, 4, 0.5, 240, 12, IDX, 0,
 240, 12, 0.125, 4, 1, 0.5, 22, 12, TRACK, 1, 0 ]
],
Slips = [ 7, 2, 90, 1 ],
Remaps = [ ]
}"""
MADE_UP = {
    "plain": Files(),
    "slips": Files(
        layout={"Sparing scheme used": "8", "Rangesize for sparing": "2"},
        zones=[{"Number of spares": "3", "slips": "[ 4, 5, 47 ]", "Empty space at zone front": "2"}],
    ),
    "spares of a track": Files(
        layout={"Sparing scheme used": "3"}, zones=[{"Number of spares": "2", "slips": "[ 9 ]"}]
    ),
    "spare tracks": Files(
        layout={"Sparing scheme used": "1"}, zones=[{"Number of spares": "2", "slips": "[ 3 ]"}]
    ),
    "data sheet": Files(mech=CURVE, disk={"Fast write level": "0", "Extra write disconnect": "1"}),
    "equation": Files(mech=HPL | TEN),
    "two zones": Files(
        zones=[{}, {"First cylinder number": "10", "Last cylinder number": "19", "Blocks per track": "8"}],
        layout={"LBN-to-PBN mapping scheme": "2"},
    ),
    "patterns": Files(layout_text=PATTERNS, seek="1, 1.0, 0.1, 1.2\n9, 2.5, 0.1, 2.7\n"),
}


def main(arguments: list[str]) -> int:
    """The command line, within this process."""
    return guarded(lambda words: program(words)(args=words, standalone_mode=False), arguments)


def import_one(folder, parv, mutant: Mutant, capsys) -> None:
    """Import a description with one file changed, and hold the outcome to all that is promised of it."""
    original = (folder / mutant.file).read_bytes()
    out = folder / "out.toml"
    out.unlink(missing_ok=True)
    (folder / mutant.file).write_text(mutant.text, encoding="utf-8", newline="")
    note(f"{mutant.file}: {mutant.how}")
    capsys.readouterr()
    started = time.process_time()
    try:
        code = main(["import", "disksim", str(folder / parv), "-o", str(out)])
    finally:
        (folder / mutant.file).write_bytes(original)
    assert time.process_time() - started < SECONDS_MAX
    told = capsys.readouterr().err
    assert "defect of drivelab" not in told
    assert "Traceback" not in told
    assert len(told) < MESSAGE_MAX
    assert code in (0, 2), told
    if code == 2:
        assert told.startswith("error: ")
        assert re.search(rf"{re.escape(str(folder))}/\S+(:\d+)?: |cannot read ", told), told
        assert not out.exists()
        return
    # As a file, and as a table in a scenario.
    for drive in (str(out), tomllib.loads(out.read_text(encoding="utf-8"))):
        plan(read_source({"target": {"drive": drive}, "workload": {"bs": "512B"}}))


@pytest.mark.parametrize("name", MADE_UP)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_made_up_description_with_a_mistake(tmp_path, capsys, name, data):
    parv = MADE_UP[name].write(tmp_path).name
    files = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("a.*")}
    import_one(tmp_path, parv, data.draw(mutants(files)), capsys)


@pytest.mark.parametrize("name", REFERENCE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_description_of_a_real_drive_with_a_mistake(tmp_path, capsys, reference, name, data):
    folder = reference(f"disksim/{name}.parv").parent
    for path in folder.glob(f"{name}*"):
        if path.suffix in (".parv", ".diskspecs", ".model", ".seek"):
            shutil.copyfile(path, tmp_path / path.name)
    files = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob(f"{name}*")}
    import_one(tmp_path, f"{name}.parv", data.draw(mutants(files)), capsys)


@pytest.mark.parametrize("name", MADE_UP)
def test_without_a_mistake_it_is_imported(tmp_path, capsys, name):
    parv = MADE_UP[name].write(tmp_path)
    assert main(["import", "disksim", str(parv), "-o", str(tmp_path / "out.toml")]) == 0, (
        capsys.readouterr().err
    )


def refused(folder, files: Files, capsys) -> str:
    """What is said of a description."""
    parv = files.write(folder)
    capsys.readouterr()
    assert main(["import", "disksim", str(parv)]) == 2
    return capsys.readouterr().err.replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            Files(disk={"Bulk sector transfer time": "1e999999999"}),
            "error: a.diskspecs:5: 'Bulk sector transfer time' is 1e999999999: no figure of a drive has such a size; "
            "write one from 1e-15 to 1e15\n",
        ),
        (
            Files(layout={"Sparing scheme used": "3"}, zones=[{"Number of spares": "10"}]),
            "error: a.model:18: 'Number of spares' is 10: they are all of their stretch, which has no room for "
            "blocks then: it has 10 sectors\n",
        ),
        (
            Files(zones=[{"Last cylinder number": "4194304"}]),
            "error: a.model:12: 'Last cylinder number' is 4194304: no drive has more than 4194304 cylinders\n",
        ),
        (
            Files(mech={"Rotation speed (in rpms)": "7"}),
            "error: a.model:30: the drive's `rpm` cannot be used: no spindle turns like this (in a drive file: write a "
            'speed from "30rpm" to "300000rpm")\n',
        ),
        (
            Files(zones=[{}, {}]),
            "error: a.model:22: the drive's `geometry` cannot be used: zone 1 begins before the previous one ends "
            "(in a drive file: correct the zone)\n",
        ),
        (
            Files(seek="1, 900\n2, 1000\n"),
            "error: a.model:26: the drive's `seek` cannot be used: the seek time of 3 cylinders is not between 0 and "
            "1s (in a drive file: correct the seek curve)\n",
        ),
        (
            Files(seek="1, 1\n4194305, 2\n"),
            "error: a.seek:2: a seek over 4194305 cylinders: no drive has more than 4194304\n",
        ),
        (Files(seek="1, 1e-9\n2, 2\n"), "error: a.seek:1: a seek of 1e-9 ms\n"),
    ],
)
def test_what_makes_no_drive_is_told_at_its_place(tmp_path, capsys, files, message):
    assert refused(tmp_path, files, capsys) == message


def test_files_that_name_each_other_end(tmp_path, capsys):
    (tmp_path / "a.parv").write_text("source b\n" * 100)
    (tmp_path / "b").write_text("# nothing\n")
    assert main(["import", "disksim", str(tmp_path / "a.parv")]) == 2
    assert "a.parv:64: more than 64 files are named; a description has a handful" in capsys.readouterr().err
    (tmp_path / "b").write_text("x" * (4 * 2**20 + 1))
    assert main(["import", "disksim", str(tmp_path / "a.parv")]) == 2
    assert "larger than 4 MiB, so it describes no drive" in capsys.readouterr().err


def test_a_name_that_no_comment_can_hold_is_escaped(tmp_path, capsys):
    parv = Files(instances={"x": "X\x07"}).write(tmp_path)
    specs = tmp_path / "a.diskspecs"
    specs.write_text(specs.read_text().replace("disksim_disk X", "disksim_disk X\x07"))
    out = tmp_path / "out.toml"
    assert main(["import", "disksim", str(parv), "-o", str(out)]) == 0, capsys.readouterr().err
    assert tomllib.loads(out.read_text())["identity"]["model"] == "X\x07"
