"""Data checked beside a run, and power cuts: what the console says, what the record holds, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
from pathlib import Path

import pytest

import drivelab
from drivelab.report.data_summary import _array_lines, checked_text, cut_lines

DRIVE = ("--drive", "wd-4tb-7200", "--rw", "randwrite", "--size", "1GiB")
CUT = ("--set", "target.faults.power_cut=2s")
RAID5 = ("--drive", "wd-4tb-7200", "--level", "raid5", "--members", "4", "--rw", "randrw", "--size", "1GiB")


def record(done):
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_check_says_what_was_checked_in_one_line_and_changes_nothing_else(run):
    plain = record(run("simulate", *RAID5, "--number-ios", "500", "--json"))
    checked = record(run("simulate", *RAID5, "--number-ios", "500", "--check-data", "--json"))
    data = checked["points"][0].pop("data")
    assert checked == plain
    assert data["sectors_read"] > 0
    assert data["compared"]["what"] == "parity"
    done = run("simulate", *RAID5, "--number-ios", "500", "--check-data")
    line = next(line for line in done.stdout.splitlines() if line.startswith("data: "))
    assert line == (
        f"data: {data['sectors_read']:,} sectors read, all as last written; {data['sectors_kept']:,} written sectors "
        f"there at the end; parity of {data['compared']['rows']:,} rows matches"
    )


def test_of_several_points_the_line_is_their_sum(run):
    done = run("simulate", *DRIVE, "--number-ios", "50", "--iodepth", "1,4", "--check-data")
    assert "data at 2 points: nothing was read; " in done.stdout


@pytest.mark.parametrize("target", ["target.null={}", 'target.server={mean="1ms"}'])
def test_a_station_has_no_data(run, target):
    done = run("simulate", "--set", target, "--thinktime", "1ms", "--number-ios", "5", "--check-data")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "error: --check-data: a station holds no data; take a drive or an array as the target\n"
    )


def test_a_power_cut_ends_the_run_and_says_what_it_has_taken(run):
    options = (*DRIVE, *CUT, "--iodepth", "4", "--set", "target.write_cache=true")
    point = record(run("simulate", *options, "--json"))["points"][0]
    cut = point["power_cut"]
    assert (point["ended"], point["window_ns"], cut["at_ns"]) == ("power-cut", 2 * 10**9, 2 * 10**9)
    assert cut["lost"]["commands"] > 0
    assert cut["lost_although_flushed_sectors"] == 0
    assert cut["lost_from"]["drive_cache_sectors"] == cut["lost"]["sectors"]
    done = run("simulate", *options)
    assert "lost writes" in done.stdout.splitlines()[0]
    assert "the power went at 2 s\n  lost: " in done.stdout
    assert "4 writes under way: " in done.stdout


def test_a_sweep_shows_the_window_against_the_settings(run):
    sweep = ("--set", "target.faults.power_cut=1s,2s,3s", "--set", "target.write_cache=false,true")
    done = run("simulate", *DRIVE, *sweep, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 6
    assert not any("ranges" in key and key != "power_cut.ranges_in_all" for key in rows[0])
    lost = {(row["target.write_cache"], int(row["power_cut.lost.commands"]) > 0) for row in rows}
    assert lost == {("False", False), ("True", True)}
    # Of so many points the table tells enough.
    assert "the power went" not in run("simulate", *DRIVE, *sweep).stdout


def test_a_run_that_is_over_before_says_so(run):
    done = run("simulate", *DRIVE, *CUT, "--number-ios", "5")
    assert done.stderr == "note: the power did not go: the run was over before, after its I/Os\n"
    assert "lost writes" not in done.stdout


def test_a_cut_ends_a_rebuild_too(run):
    options = (*RAID5, *CUT, "--set", "target.array.missing=[0]", "--set", "target.array.rebuilding=true")
    point = record(run("simulate", *options, "--set", "run.until=rebuilt", "--json"))["points"][0]
    assert (point["ended"], point["array"]["state"]) == ("power-cut", "rebuilding")
    assert point["power_cut"]["array"]["members"] == 3


def test_an_array_tells_of_its_write_hole(run):
    cuts = ("--set", "target.faults.power_cut=1000ms,1007ms,1013ms,1021ms", "--iodepth", "8")
    writes = ("randwrite" if argument == "randrw" else argument for argument in RAID5)
    options = (*writes, *cuts, "--set", "target.write_cache=false")
    done = run("simulate", *options, "--set", "target.array.write_hole=bitmap")
    assert "rows unfit" in done.stdout.splitlines()[0]
    assert "after the bitmap's resync 0" in done.stdout
    assert "0 if one fails later" in done.stdout


def test_the_reference_explains_every_key_of_a_cut(run):
    from test_simulate import keys_of

    page = (Path(__file__).parents[2] / "docs" / "reference" / "record.md").read_text(encoding="utf-8")
    explained = {word for code in re.findall(r"`([^`]+)`", page) for word in code.split(".")}
    options = (*RAID5, *CUT, "--set", "target.write_cache=true", "--log", "3")
    point = record(run("simulate", *options, "--json"))["points"][0]
    found = set().union(*(keys_of(point[key]) for key in ("data", "power_cut", "member_commands")))
    assert found - explained == set()
    assert len(found) > 50


def test_from_python(tmp_path):
    result = drivelab.simulate(drive="wd-4tb-7200", number_ios=20, check_data=True)
    assert result.points[0]["data"]["sectors_read"] == 160
    assert (
        checked_text(result.points)
        == "data: 160 sectors read, all as last written; 0 written sectors there at the end"
    )
    assert checked_text([{}]) is None


def test_words_for_what_was_corrupted():
    found = {
        "sectors_read": 80,
        "sectors_kept": 7,
        "compared": None,
        "corrupted": {"reads": 1, "first_read_at_ns": 9, "sectors": 2, "redundancy_differs": True},
    }
    assert checked_text([{"data": found}]) == (
        "data: 80 sectors read, 1 read wrong, and nobody was told; 7 written sectors there at the end; 2 written "
        "sectors wrong; what was corrupted does not fit its parity or copy"
    )


def test_what_was_put_down_in_vain_is_told(run):
    faults = (
        'target.faults={fail=[{drive=3, at="1s"}], slow=[{drive=3, by="2s", at="2s"}, {by="1ms", at="1h"}]}'
    )
    options = ("--drive", "wd-4tb-7200", "--level", "raid5", "--members", "4", "--rw", "randread", "--quiet")
    told = run("simulate", *options, "--number-ios", "1000", "--randseed", "1,2", "--set", faults).stderr
    assert (
        "note: faults.slow of drive 3 at 2 s was not done: drive 3 has failed before, at 2 of 2 points\n"
        in told
    )
    assert (
        "note: faults.slow of drive 0 at 3600 s was not done: the run was over before, at 2 of 2 points\n"
        in told
    )
    corrupt = ("--set", 'target.faults.corrupt=[{at="1s"}]')
    told = run("simulate", *options[:2], "--number-ios", "1000", *corrupt).stderr
    assert "note: what was corrupted is seen with --check-data alone: without it a run has no data\n" in told


def test_words_for_what_is_left():
    cut = {
        "at_ns": 12 * 10**9,
        "lost": {"commands": 1, "commands_in_part": 0, "sectors": 8, "bytes": 4096},
        "lost_since_ns": 1_500_000_000,
        "lost_although_flushed_sectors": 8,
        "lost_from": {
            "host_memory_sectors": 0,
            "controller_memory_sectors": 0,
            "drive_cache_sectors": 0,
            "write_hole_sectors": 8,
        },
        "dirty": {"host_memory_bytes": 0, "controller_memory_bytes": 0, "drive_cache_bytes": 0},
        "kept_by_battery_sectors": 2000,
        "in_flight": {"commands": 2, "commands_done": 0, "commands_undone": 1, "commands_torn": 1},
        "array": {
            "what": "parity",
            "write_hole": "ppl",
            "members": 3,
            "rows": 1000,
            "rows_unfit": 2,
            "rows_unfit_after_recovery": 0,
            "wrong_with_member_lost_in_cut_sectors": 1,
            "wrong_with_member_lost_later_sectors": 0,
            "wrong_now_sectors": 8,
        },
    }
    assert list(cut_lines(cut)) == [
        "the power went at 12 s",
        "  lost: 1 answered write, 4.1 kB (4.1 kB in rows whose parity did not fit), the oldest answered 1.5 s before",
        "  8 sectors of that had been flushed: a FLUSH was answered before they were on media",
        "  1.02 MB kept by the controller's battery",
        "  2 writes under way: 1 not there, 1 torn",
        "  parity does not fit in 2 of 1,000 rows; after the partial parity log 0",
        "  made of the other members, of all 3 in turn: 1 sector wrong if one fails with the power, 0 if one fails "
        "later",
        "  8 sectors of missing members read wrong now, whether the run wrote them or not: the data and parity beside "
        "them do not fit",
    ]


def test_a_missing_member_has_the_write_hole_at_once(run):
    """Nothing that was answered is lost, no row has parity to compare, and data that nobody wrote are wrong."""
    options = (
        "--drive",
        "wd-4tb-7200",
        "--level",
        "raid5",
        "--members",
        "4",
        "--rw",
        "randwrite",
        "--iodepth",
        "16",
    )
    options += ("--set", "target.array.missing=[0]", "--set", "target.faults.power_cut=10.08s,10.1s")
    cuts = [point["power_cut"] for point in record(run("simulate", *options, "--json"))["points"]]
    wrong = [cut["array"]["wrong_now_sectors"] for cut in cuts]
    assert all(wrong)
    assert not any(cut["lost"]["commands"] or cut["array"]["rows"] for cut in cuts)
    out = run("simulate", *options).stdout
    table = out.split("\n\n", 1)[0].splitlines()
    assert table[0].endswith("  wrong sectors")
    assert [int(line.split()[-1]) for line in table[1:]] == wrong
    for sectors in wrong:
        assert (
            f"\n  {sectors} sectors of missing members read wrong now, whether the run wrote them or not: the data and "
            "parity beside them do not fit\n"
        ) in out + "\n"
    assert out.count("no answered write is lost; data from before the run are\n") == 2
    closed = run("simulate", *options, "--set", "target.array.write_hole=journal").stdout
    assert "wrong" not in closed
    assert closed.count("no answered write is lost\n") == 2


def test_one_copy_that_is_wrong_has_no_parity_beside_it():
    array = dict.fromkeys(("rows", "rows_unfit", "rows_unfit_after_recovery"), 1)
    array |= dict.fromkeys(
        ("wrong_with_member_lost_in_cut_sectors", "wrong_with_member_lost_later_sectors"), 0
    )
    array |= {"what": "copies", "write_hole": "open", "members": 1, "wrong_now_sectors": 1}
    assert list(_array_lines(array)) == [
        "copies do not fit in 1 of 1 piece",
        "1 sector of missing members reads wrong now, whether the run wrote them or not",
    ]


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "power-cuts.md"
# A scenario or a command, and the block behind it with what it prints.
SHOWN = re.compile(
    r"^```(toml\n(?P<scenario>.*?)|\n(?P<command>drivelab .*?))^```\n\n```\n(?P<shown>.*?)^```", re.M | re.S
)


def test_the_page_shows_what_is_printed(run, tmp_path):
    def printed(block):  # noqa: ANN202
        if block["scenario"] is None:
            done = run(*shlex.split(block["command"].replace("\\\n", " "))[1:], "-q")
        else:
            (tmp_path / "a.toml").write_text(block["scenario"], encoding="utf-8")
            done = run("simulate", "a.toml", "-q")
        assert done.returncode == 0
        assert all(line.startswith("note: ") for line in done.stderr.splitlines())
        return block[0].removesuffix(block["shown"] + "```") + done.stdout.strip() + "\n```"

    page = PAGE.read_text(encoding="utf-8")
    assert len(SHOWN.findall(page)) == 6
    current = SHOWN.sub(printed, page)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(current, encoding="utf-8")
    assert current == PAGE.read_text(encoding="utf-8")
