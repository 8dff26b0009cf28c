"""`drivelab check`, `catalogue` and `schema`: what a scenario gets wrong, what is known, what may be written."""

from __future__ import annotations

import json

import pytest

BROKEN = """\
name = "broken"

[target]
drive = "seagate-st3250620"

[workload]
rw = "randrd"
bs = "4"
iodept = 4
"""

# The last of them as it is shown. The wording of every message is held by the scenario room's own snapshots.
SNIPPET = """\
error: unknown key `iodept`
 --> broken.toml:9:1
  |
9 | iodept = 4
  | ^^^^^^
  = help: did you mean `iodepth`?

4 problems
"""


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text(BROKEN, encoding="utf-8")
    return path


@pytest.mark.parametrize("verb", ["check", "simulate"])
def test_all_problems_are_shown_at_once(run, broken, verb):
    done = run(verb, "broken.toml")
    assert (done.returncode, done.stdout) == (2, "")
    places = [line.strip() for line in done.stderr.splitlines() if "-->" in line]
    assert places == [f"--> broken.toml:{place}" for place in ("4:9", "7:6", "8:6", "9:1")]
    assert done.stderr.endswith(SNIPPET)


def test_problems_as_json(run, broken):
    done = run("check", broken, "--json")
    verdict = json.loads(done.stdout)
    assert (done.returncode, done.stderr, verdict["ok"]) == (2, "", False)
    assert [(problem["line"], problem["column"]) for problem in verdict["problems"]] == [
        (4, 9),
        (7, 6),
        (8, 6),
        (9, 1),
    ]
    assert verdict["problems"][3]["remedy"] == "did you mean `iodepth`?"


def test_a_good_scenario_is_summed_up(run, queue):
    done = run("check", queue)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "one station: ok, 3 points\n  workload.iodepth: 1, 4, 16\nseed 1, scenario "
    )


def test_a_good_scenario_as_json(run, queue):
    verdict = json.loads(run("check", queue, "--json", "--set", "run.seed=9").stdout)
    assert (verdict["ok"], verdict["problems"], verdict["seed"]) == (True, [], 9)
    assert len(verdict["points"]) == 3
    assert "iodepth=16" in verdict["points"][2]["fio"]


def test_check_and_record_agree_on_the_hash(run, queue):
    checked = json.loads(run("check", queue, "--json").stdout)
    record = json.loads(run("simulate", queue, "--json").stdout)
    assert checked["scenario_hash"] == record["scenario_hash"]


def test_the_catalogue_lists_its_controllers_and_workloads(run):
    lines = run("catalogue").stdout.splitlines()
    assert any(line.startswith("promise-sata150-tx4 ") and "sata-150" in line for line in lines)
    assert any(line.startswith("iometer/file-server ") and "80 % reads" in line for line in lines)


def test_the_catalogue_lists_its_drives(run):
    done = run("catalogue")
    assert (done.returncode, done.stderr) == (0, "")
    assert any(
        line.startswith("seagate-st3250620as ") and "7200rpm" in line for line in done.stdout.splitlines()
    )


def test_every_drive_of_the_catalogue_can_be_shown_and_run(run):
    drives = json.loads(run("catalogue", "--json").stdout)["drives"]
    assert len(drives) >= 3
    for drive in drives:
        shown = json.loads(run("catalogue", drive["name"], "--json").stdout)
        assert shown == drive
        done = run("simulate", "--drive", drive["name"], "--number-ios", "100", "--json")
        assert done.returncode == 0, done.stderr


def test_every_controller_and_workload_can_be_shown_and_run(run):
    listed = json.loads(run("catalogue", "--json").stdout)
    assert list(listed) == ["drives", "controllers", "workloads"]
    for kind, option in [("controllers", "target.controller"), ("workloads", "workload.pattern")]:
        assert len(listed[kind]) >= 5
        for entry in listed[kind]:
            assert json.loads(run("catalogue", entry["name"], "--json").stdout) == entry
        names = ",".join(entry["name"] for entry in listed[kind])
        on = ["--drive", "wd-4tb-7200", "--number-ios", "20"]
        done = run("simulate", *on, "--set", f"{option}={names}", "--json")
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)["points"]) == len(listed[kind])


def test_a_pattern_is_an_option(run):
    done = run("simulate", "--drive", "wd-4tb-7200", "--pattern", "iometer/file-server", "--fio")
    assert "bssplit=512/10:1024/5:2048/5:4096/60:8192/2:16384/4:32768/4:65536/10" in done.stdout
    assert "rwmixread=80" in done.stdout


def test_a_drive_shows_each_fact_with_its_source(run):
    done = run("catalogue", "seagate-st3250620as")
    rpm = next(line for line in done.stdout.splitlines() if line.startswith("rpm "))
    assert "7200rpm" in rpm
    assert rpm.split()[2] in {"datasheet", "measured", "inferred", "fitted"}


@pytest.mark.parametrize("options", [(), ("--drive",), ("--json",)])
def test_the_schema_knows_the_sections(run, options):
    schema = json.loads(run("schema", *options).stdout)
    known = schema["properties"].keys()
    assert ({"geometry", "seek"} if "--drive" in options else {"target", "workload", "run"}) <= known


def test_the_version_is_told(run):
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("drivelab ")


def test_what_a_base_states_is_among_the_facts(run, tmp_path):
    listed = run("catalogue").stdout.splitlines()
    row = next(line for line in listed if line.startswith("wd-wd740gd-00fla1 "))
    assert "Western Digital" in row
    assert row.split()[-1] == "10000rpm"
    (tmp_path / "mine.toml").write_text(
        'base = "wd-wd740gd-00fla1"\nrpm = "5400rpm"\nseek = { table = [[1, "1ms"], [200000, "9ms"]] }\n',
        encoding="utf-8",
    )
    entry = json.loads(run("catalogue", "./mine.toml", "--json").stdout)
    facts = {fact["key"]: fact for fact in entry["facts"]}
    assert [base["name"] for base in entry["bases"]] == ["wd-wd740gd-00fla1", "wd-wd740gd-00fla0"]
    assert (facts["rpm"]["value"], facts["rpm"]["base"]) == ("5400rpm", None)
    assert facts["identity.maker"]["base"] == "wd-wd740gd-00fla0"
    # A seek curve of another form is displaced, not inherited.
    assert [key for key in facts if key.startswith("seek.")] == ["seek.table"]
    assert len(facts) == len(entry["facts"])
    shown = run("catalogue", "./mine.toml").stdout
    assert shown.startswith("mine, from mine.toml, based on wd-wd740gd-00fla1, based on wd-wd740gd-00fla0")
    assert "inherited from" in shown


def test_a_rate_above_the_standard_of_its_link_is_noted(run):
    faster = ("--drive", "wd-4tb-7200", "--set", "target.drive.link={standard='sata-150',rate='600MB/s'}")
    done = run("simulate", *faster, "--number-ios", "10")
    assert done.returncode == 0
    assert "note: link.rate is 600 MB/s, above the 150 MB/s of its standard sata-150" in done.stderr
    slower = run(
        "simulate",
        *faster[:3],
        "target.drive.link={standard='sata-150',rate='100MB/s'}",
        "--number-ios",
        "10",
    )
    assert "above" not in slower.stderr


def test_the_same_error_for_several_values_is_told_once(run):
    done = run("simulate", "--drive", "wd-4tb-7200", "--bs", "4k,100g,200g")
    assert done.stderr.endswith("1 problem\n")
    both = run("simulate", "--drive", "wd-4tb-7200", "--bs", "100g", "--set", "workload.max_transfer=100g")
    assert both.stderr.endswith("2 problems\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--offset", "100%"), "`offset` leaves 2 sectors"),
        (("--rw", "flush"), "workload.commands = [{ rw ="),
        (
            ("--set", "target.controller={interface='ahci',timeout='1s',retries=3}"),
            "a command that `timeout` aborts is not retried",
        ),
    ],
)
def test_a_refusal_names_what_to_change(run, arguments, says):
    done = run("simulate", "--drive", "wd-4tb-7200", *arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_readwrite_is_rw(run):
    found = [
        json.loads(
            run("simulate", "--drive", "wd-4tb-7200", "--rw", rw, "--number-ios", "50", "--json").stdout
        )
        for rw in ("rw", "readwrite")
    ]
    assert found[0]["scenario_hash"] == found[1]["scenario_hash"]
    assert found[0]["digest"] == found[1]["digest"]
