"""Arrays as a user meets them: the words of the command line, what `check` tells, results with and without."""

from __future__ import annotations

import json

import pytest

import drivelab
from drivelab.report.points_table import points_csv
from drivelab.runs.result import Result

RAPTOR = "wd-wd740gd-00fla0"
QUICK = ("--number-ios", "400")

SWEEP = f"""
[target]
drive = "{RAPTOR}"
array = {{ level = ["raid0", "raid5", "raid10"], members = [2, 4] }}
[run]
ios = 200
"""


@pytest.fixture
def sweep(tmp_path):
    path = tmp_path / "array.toml"
    path.write_text(SWEEP, encoding="utf-8")
    return path


def test_the_words_of_the_command_line_make_an_array(run):
    words = ("--drive", RAPTOR, "--level", "raid10", "--members", "4", "--stripe-unit", "128k")
    done = run("simulate", *words, "--rw", "randread", "--bs", "4k", "--iodepth", "1,16", *QUICK, "--json")
    one, sixteen = json.loads(done.stdout)["points"]
    array = one["in_force"]["array"]
    assert (array["level"], array["members"], array["kept_by"]) == ("raid10", 4, "host")
    # Two copies of half the members each, in whole stripe units.
    assert array["capacity_bytes"] == 2 * array["member_bytes"]
    assert array["member_bytes"] == 145_226_112 // 256 * 256 * 512
    assert sixteen["iops"] > 2.5 * one["iops"]


def test_more_members_answer_more_at_once(run):
    words = ("--drive", RAPTOR, "--level", "raid0", "--members", "1,2,4", "--iodepth", "32", *QUICK, "--json")
    rates = [point["iops"] for point in json.loads(run("simulate", *words).stdout)["points"]]
    assert rates[0] < rates[1] < rates[2]


def test_the_help_names_the_words(run):
    text = run("simulate", "--help").stdout
    assert "An array of the drive" in text
    assert all(word in text for word in ("--level", "--members", "--stripe-unit"))


def test_check_tells_what_an_array_is_and_what_it_bears(run, sweep):
    lines = run("check", sweep).stdout.splitlines()
    told = [line.removeprefix("  array: ") for line in lines if line.startswith("  array: ")]
    of = {line.split(",")[0]: line for line in told}
    assert of["raid0 of 4 members"].endswith("; 297.4 GB usable, 74.4 GB on each member; bears no failure")
    assert of["raid5 of 4 members"].endswith("; 223.1 GB usable, 74.4 GB on each member; bears any 1 failure")
    assert of["raid10 of 4 members"].endswith("; bears any 1 failure, at best 2")
    assert "raid5 needs at least 3 members, not 2" in run("check", sweep).stdout


def test_check_says_what_is_true_of_members_that_differ(run, tmp_path):
    """Two sizes, and two protocols: one without a queue, and one with 32 tags."""
    scenario = tmp_path / "a.toml"
    unlike = '{ base = "wd-wd740gd-00fla0", queue = { protocol = "none" } }'
    scenario.write_text(
        f'[target.array]\nlevel = ["jbod", "raid0"]\ndrives = [{unlike}, "wd-4tb-7200", "{RAPTOR}"]\n',
        encoding="utf-8",
    )
    out = run("check", scenario).stdout
    assert "TB usable, 74.4 GB to 3.96 TB on its members; bears no failure" in out
    assert "223.1 GB usable, 74.4 GB on each member; bears no failure" in out
    spoken = [
        {"protocol": "none", "depth": 1},
        {"protocol": "ncq", "depth": 32},
        {"protocol": "ata-tcq", "depth": 32},
    ]
    told = ", and ".join(
        f"{one['protocol']}, {one['depth']} command{'s' if one['depth'] > 1 else ''} at a time"
        for one in spoken
    )
    assert f"\n  in force: {told}\n" in out
    jbod, raid0 = (
        point["in_force"] for point in json.loads(run("check", scenario, "--json").stdout)["points"]
    )
    assert (jbod["protocol"], jbod["depth"], jbod["by_protocol"]) == ("none and ncq and ata-tcq", 1, spoken)
    assert jbod["array"]["smallest_member_bytes"] == 145_226_112 * 512
    assert "smallest_member_bytes" not in raid0["array"]


def test_check_as_json_has_the_same(run, sweep):
    found = json.loads(run("check", sweep, "--json").stdout)
    arrays = [point["in_force"]["array"] for point in found["points"]]
    assert [(array["level"], array["members"]) for array in arrays] == [
        ("raid0", 2),
        ("raid0", 4),
        ("raid5", 4),
        ("raid10", 2),
        ("raid10", 4),
    ]
    (skipped,) = found["skipped"]
    assert skipped["axes"] == {"target.array.level": "raid5", "target.array.members": 2}


def test_of_many_arrays_the_first_are_told(run, sweep):
    told = run("check", sweep, "--set", "target.array.members=" + ",".join(map(str, range(2, 12)))).stdout
    assert told.count("  array: ") == 12
    assert "  and 17 more arrays\n" in told


def test_a_level_without_members_and_members_without_a_level_are_refused(run):
    refused = run("simulate", "--drive", RAPTOR, "--level", "raid5")
    assert (refused.returncode, "an array of how many members?" in refused.stderr) == (2, True)
    refused = run("simulate", "--drive", RAPTOR, "--members", "4")
    assert (refused.returncode, "an array of no level" in refused.stderr) == (2, True)


def test_the_controller_of_the_catalogue_says_who_keeps_it(run, sweep):
    card = ("--set", "target.controller=promise-fasttrak-s150-tx4")
    found = json.loads(run("check", sweep, *card, "--json").stdout)
    assert {point["in_force"]["array"]["kept_by"] for point in found["points"]} == {"controller"}
    reasons = {skipped["reason"] for skipped in found["skipped"]}
    assert "promise-fasttrak-s150-tx4 keeps no raid5: it keeps jbod, raid0, raid1, raid10" in " ".join(
        reasons
    )


def test_results_load_with_an_array_of_the_record_and_without(sweep):
    result = drivelab.simulate(sweep, members=4, level="raid10")
    (point,) = result.points
    assert point["in_force"]["array"]["level"] == "raid10"
    plain = {key: value for key, value in point.items() if key != "array"}
    told = {**plain, "array": {"failures": 1, "rebuild": {"ns": 5}, "states": ["whole", "missing"]}}
    for each in (plain, told):
        loaded = Result(points=[each], name="a", seed=1, scenario_hash="0")
        assert len(loaded.table().rows) == 1
        assert json.loads(json.dumps(loaded.to_dict()))["points"] == [each]
    assert "array.rebuild.ns" in points_csv([told]).splitlines()[0]
    assert "array.rebuild.ns" not in points_csv([plain]).splitlines()[0]


def test_keyword_arguments_are_the_same_words():
    result = drivelab.simulate({"run": {"ios": 50}}, drive=RAPTOR, level=["raid0", "raid1"], members=2)
    assert [point["axes"]["target.array.level"] for point in result.points] == ["raid0", "raid1"]


def test_an_array_that_fails_in_the_course_of_a_run_is_told_as_such(run):
    fails = "[{drive=0,at='1s'},{drive=1,at='2s'}]"
    done = run(
        *("simulate", "--drive", "wd-4tb-7200", "--level", "raid5", "--members", "3", "--rw", "randread"),
        *("--iodepth", "4", "--runtime", "4s", "--set", f"target.faults.fail={fails}"),
    )
    assert done.returncode == 0
    assert "note: the array has failed, and " in done.stderr
    # A longer ramp time would not make it steady.
    assert "is not steady" not in done.stderr
