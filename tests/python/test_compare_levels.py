"""`drivelab compare-levels`: the levels side by side, as a user has them."""

from __future__ import annotations

import json
import re
from csv import DictReader
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import drivelab
from drivelab import charts
from drivelab.arrays.level import LEVELS, MEMBERS_MAX, Level
from drivelab.arrays.levels import compare_levels
from drivelab.arrays.odds import chance_of_rate
from drivelab.arrays.simulation import measure, planning
from drivelab.arrays.simulation.loads import RANDOM, STATES, STREAMS
from drivelab.cli.app import program
from drivelab.errors import InputError, RunError
from drivelab.runs.result import Failure, Result
from drivelab.scenarios.scenario import Override, plan, read_source

# In one process, which knows the loads that others have run.
pytestmark = [pytest.mark.usefixtures("loads_once"), pytest.mark.xdist_group("levels")]

DRIVE = "wd-wd740gd-00fla0"
BRIEF = ("--iodepth", "1,4", "--number-ios", "300", "--ramp-time", "1s")
FOUR = ("--drive", DRIVE, "--members", "4", *BRIEF)


def once(*arguments: str) -> list[str]:
    """The arguments with each option once: a later value replaces the default of these tests."""
    kept = list(arguments)
    for option in ("--members", "--iodepth", "--number-ios", "--ramp-time"):
        for _ in range(kept.count(option) - 1):
            at = kept.index(option)
            del kept[at : at + 2]
    return kept


def compared(run: Any, *arguments: object) -> dict[str, Any]:  # noqa: ANN401
    done = run("compare-levels", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def by_label(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {level["label"]: level for level in found["levels"]}


def test_every_level_side_by_side(run):
    found = compared(
        run,
        *FOUR,
        *("--afr", "5%", "--repair", "12h", "--drive-price", "219USD", "--controller-price", "159USD"),
    )
    levels = by_label(found)
    assert tuple(levels) == LEVELS
    # Of four drives: what is data, to within a stripe.
    data = {
        "jbod": 4,
        "raid0": 4,
        "raid1": 1,
        "raid01": 2,
        "raid10": 2,
        "raid3": 3,
        "raid4": 3,
        "raid5": 3,
        "raid6": 2,
    }
    for label, members in data.items():
        level = levels[label]
        assert level["capacity_bytes"] == pytest.approx(members * found["drive_bytes"], rel=1e-4)
        assert level["cost"]["system"] == 1035
        assert level["cost"]["per_usable_gb"] == pytest.approx(1035e9 / level["capacity_bytes"])
        states = ["healthy"] if label in {"jbod", "raid0"} else list(STATES)
        assert list(level["states"]) == states
        for loads in level["states"].values():
            assert list(loads) == ["load", *RANDOM, *STREAMS]
            for rw in RANDOM:
                assert [point["iodepth"] for point in loads[rw]] == [1, 4]
                assert all(point["iops"] > 0 for point in loads[rw])
    for label in ("raidz1", "raidz2", "raidz3"):
        assert list(levels[label]["states"]) == list(STATES)
    assert levels["raid5"]["failures"]["none_replaced"]["loss_in_a_year_percent"] == pytest.approx(1.401875)
    assert levels["raid10"]["failures"]["bears_best"] == 2
    assert levels["raid60"]["reason"] == "needs 4 members or more in each of 2 groups"


def test_the_figures_are_those_of_simulate(run):
    found = compared(
        run, *FOUR, "--levels", "raid1,raid10:far", "--controller", "intel-ich9r", "--randseed", "5"
    )
    for level in found["levels"]:
        for state, loads in level["states"].items():
            array = {**level["settings"], **found["states"][state]}
            scenario = {**found["method"]["randrw"], "target": {"array": array}}
            points = drivelab.simulate(scenario, **found["settings"]).points
            assert [point["iops"] for point in loads["randrw"]] == [point["iops"] for point in points]
            assert loads["randrw"][1]["latency_ns"]["mean"] == points[1]["latency_ns"]["mean"]


def test_the_same_from_python(run):
    found = compare_levels(
        DRIVE,
        3,
        levels="raid1,raid10",
        iodepth=(1, 4),
        number_ios=300,
        ramp_time="1s",
        states=("degraded", "healthy"),
        mttf="1200000h",
        drive_price="1EUR",
        **{"run.seed": 3},
    )
    arguments = ("--members", "3", "--levels", "raid1,raid10", "--states", "degraded,healthy", *BRIEF)
    prices = ("--mttf", "1200000h", "--drive-price", "1EUR", "--set", "run.seed=3")
    assert found.to_dict() == compared(run, "--drive", DRIVE, *arguments, *prices)
    assert repr(found).startswith(f"<Comparison '3 x {DRIVE}': 2 levels, digest ")


def test_what_arrays_are_known_for(run):
    levels = by_label(compared(run, *FOUR, "--levels", "jbod,raid0,raid1,raid10", "--states", "healthy"))

    def iops(label: str, load: str) -> float:
        return float(levels[label]["states"]["healthy"][load][1]["iops"])

    def rate(label: str, load: str) -> float:
        return float(levels[label]["states"]["healthy"][load]["mean_bytes_per_s"])

    # Stripes make a stream of four; a mirror has to write everything everywhere.
    assert rate("raid0", "read") == pytest.approx(4 * rate("jbod", "read"), rel=0.15)
    assert rate("raid10", "write") == pytest.approx(2 * rate("jbod", "write"), rel=0.15)
    assert iops("raid0", "randwrite") > 1.5 * iops("raid1", "randwrite")
    assert iops("raid0", "randread") > 1.8 * levels["jbod"]["states"]["healthy"]["randread"][0]["iops"]


def test_people_see_a_table_for_each_topic_and_every_level_that_cannot_be(run):
    done = run(
        *once(
            "compare-levels", *FOUR, "--members", "3", "--levels", "raid0,raid1,raid01,raid6", "--afr", "5%"
        ),
        "--full",
    )
    assert done.returncode == 0
    titles = [block.splitlines()[0] for block in done.stdout.split("\n\n")]
    # Which of the two does 1 % more is a matter of a short run.
    assert titles[0].startswith(("fastest: raid0, ", "fastest: raid1, "))
    load = "random reads and writes of 4KiB (70 % reads), 1 outstanding"
    assert titles[1:] == [
        f"3 x {DRIVE}: {load}",
        f"3 x {DRIVE}: what they hold, cost and bear",
        "Chance that data are lost within a year, %: a drive fails with 5 %",
        f"Rebuild of a member, extrapolated: idle, and under {load}",
        "Sequential reads and writes, MB/s",
        "Random reads of 4KiB: IOPS and mean latency by depth",
        "Random writes of 4KiB: IOPS and mean latency by depth",
        "Random reads and writes of 4KiB, 70 % of them reads: IOPS and mean latency by depth",
        "Not possible",
    ]
    assert done.stdout.splitlines()[-2:] == [
        "raid01  needs a number of members that 2 copies divide",
        "raid6   needs 4 members or more",
    ]
    assert "note: raid0 cannot be degraded or rebuilding: holds everything once" in done.stderr
    assert "no promise by the calendar" in done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[2:] for row in rows if row[:2] == ["raid0", "degraded"]] == [["-"] * 5] * 3
    quiet = run(
        *once(
            "compare-levels", *FOUR, "--members", "3", "--levels", "raid0,raid1,raid01,raid6", "--afr", "5%"
        ),
        *("--full", "-q"),
    )
    assert (quiet.stdout, quiet.stderr) == (done.stdout, "")


def test_a_pool_without_a_member_reads_as_before_and_a_remark_says_why(run):
    done = run("compare-levels", *FOUR, "--levels", "raidz1,raid5")
    assert "note: raidz1: a read brings a whole record" in done.stderr
    levels = by_label(compared(run, *FOUR, "--levels", "raidz1,raid5"))
    at_16 = {
        (level, state): levels[level]["states"][state]["randread"][-1]["iops"]
        for level in ("raidz1", "raid5")
        for state in ("healthy", "degraded")
    }
    assert at_16["raidz1", "degraded"] > 0.9 * at_16["raidz1", "healthy"]
    assert at_16["raid5", "degraded"] < 0.9 * at_16["raid5", "healthy"]
    whole = run("compare-levels", *FOUR, "--levels", "raidz1", "--states", "healthy", *BRIEF)
    assert "a read brings a whole record" not in whole.stderr


def test_a_remark_says_how_a_pool_takes_small_writes(run):
    remark = "note: raidz1: a write smaller than its record moves the record at once"
    options = ("compare-levels", *FOUR, "--levels", "raidz1,raid5", "--states", "healthy")
    assert remark in run(*options).stderr
    assert remark in run(*options, "--bs", "16k", "--set", "target.array.record_size=32k").stderr
    assert remark not in run(*options, "--bs", "16k", "--set", "target.array.record_size=16k").stderr
    assert remark not in run(*options, "--set", "target.host_cache=true").stderr
    assert "a write smaller" not in run(*options[:-4], "--levels", "raid5", *options[-2:]).stderr


def test_a_repair_takes_what_the_rebuild_of_an_idle_array_takes(run):
    arguments = ("--levels", "raid0,raid1", "--states", "healthy", "--afr", "5%", "--repair", "measured")
    found = compared(run, *FOUR, *arguments, "--set", "target.array.rebuild.ceiling=20MB/s")
    raid0, raid1 = found["levels"]
    assert (raid0["rebuild"], "repair_hours" in raid0["failures"]) == (None, False)
    # Slower than both drives anywhere, so the ceiling it is.
    assert raid1["rebuild"]["member_bytes_per_s"] == pytest.approx(20e6, rel=0.01)
    hours = found["drive_bytes"] / 20e6 / 3600
    assert raid1["failures"]["repair_hours"] == pytest.approx(hours, rel=0.01)
    # Mirrors of four lose data where the three others fail meanwhile.
    meanwhile = chance_of_rate(found["lifetime"]["failures_per_year"], hours / 8760)
    percent = raid1["failures"]["others_fail_during_a_repair_percent"]
    assert percent == pytest.approx(100 * meanwhile**3, rel=0.05)


def test_where_the_first_failure_is_the_loss_its_mean_time_needs_no_repair(run):
    arguments = ("--levels", "jbod,raid0,raid5", "--states", "healthy", "--mttf", "500000h")
    found = compared(run, *FOUR, *arguments)
    years = 500_000 / 8760 / 4
    for bare in found["levels"][:2]:
        assert bare["loss"]["mttdl_years"]["value"] == pytest.approx(years)
        assert "repair_hours" not in bare["failures"]
    done = run("compare-levels", *FOUR, *arguments)
    rows = {
        line.split()[0]: line.split()
        for line in done.stdout.splitlines()
        if line.startswith(("jbod", "raid"))
    }
    assert [rows[level][-1] for level in ("jbod", "raid0")] == ["14.3", "14.3"]
    done = run("compare-levels", *FOUR, *arguments, "--csv")
    assert [float(row["mttdl_years"]) for row in DictReader(done.stdout.splitlines())][:2] == [
        pytest.approx(years)
    ] * 2


def test_a_pool_is_rebuilt_by_what_lies_in_it(run):
    arguments = ("--levels", "raidz1,raidz2", "--states", "healthy", "--afr", "5%", "--repair", "measured")
    settings = ("--set", "target.array.rebuild.ceiling=20MB/s", "--set", "target.array.fill=30%")
    # Hosts that write move records onto the new member, and there is less to go over.
    found = compared(run, *FOUR, *arguments, *settings, "--rw", "randread")
    for pool in found["levels"]:
        assert pool["rebuild"]["member_bytes_per_s"] == pytest.approx(20e6, rel=0.01)
        hours = 0.3 * found["drive_bytes"] / 20e6 / 3600
        assert pool["failures"]["repair_hours"] == pytest.approx(hours, rel=0.01)


def test_a_jbod_loses_some_or_all(run):
    done = run("compare-levels", *FOUR, "--levels", "jbod", "--afr", "5%", "--states", "healthy", "--full")
    assert [line.split() for line in done.stdout.split("\n\n")[3].splitlines()[2:]] == [
        ["jbod", "-", "18.5", "4.87", "0", "18.55", "100", "-"],
        ["jbod,", "all", "of", "them", "-", "-", "-", "-", "0.000625", "-", "-"],
    ]


def test_the_rules_are_those_of_the_scenario():
    for members in range(1, 13):
        for name in (*LEVELS, "raid10:far"):
            for count in (2, 3):
                level = Level.named(name, members, copies=count, groups=count)
                problems = drivelab.check({"target": {"drive": DRIVE, "array": level.scenario()}})
                assert bool(problems) == (level.rule() is not None), (level, problems)


def test_as_many_members_as_an_array_may_have():
    def problems(members: int) -> list[dict[str, Any]]:
        return drivelab.check({"target": {"drive": DRIVE, "array": {"level": "raid0", "members": members}}})

    assert problems(MEMBERS_MAX) == []
    assert "out of range" in problems(MEMBERS_MAX + 1)[0]["message"]


def test_what_is_borne_is_what_the_array_says_of_itself():
    for members in range(1, 10):
        for name in (*LEVELS, "raid10:far", "raid10:offset"):
            for count in (2, 3):
                level = Level.named(name, members, copies=count, groups=count)
                if level.rule() is None:
                    checked = plan(read_source({"target": {"drive": DRIVE, "array": level.scenario()}}))
                    array = (checked.in_force[0] or {})["array"]
                    failures = level.failed_sets()
                    assert (failures.bears_worst, failures.bears_best) == (
                        array["bears"],
                        array["bears_at_best"],
                    ), level


def test_a_key_that_only_some_levels_have_goes_to_them(run):
    done = run(
        *("compare-levels", *FOUR, "--levels", "raid0,raid1", "--states", "healthy"),
        *("--stripe-unit", "256KiB", "--set", "target.array.read_choice=first"),
    )
    assert done.returncode == 0
    assert "note: target.array.read_choice is left out where it changes nothing: raid0" in done.stderr
    assert "note: target.array.stripe_unit is left out where it changes nothing: raid1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--drive", "no-such-drive"), "no-such-drive"),
        ((*FOUR, "--rw", "trim"), "--rw trim: it is read, write, rw, randread"),
        (("--drive", DRIVE, "--rate_iops", "many"), "--> --rate-iops"),
        ((*FOUR, "--rate_iops", "60"), "--iodepth changes nothing with --rate-iops"),
        (
            (*FOUR, "--pattern", "iometer/file-server", "--rw", "randread"),
            "--rw changes nothing with --pattern",
        ),
        ((*FOUR, "--pattern", "iometer/file-server", "--bs", "8k"), "--bs changes nothing with --pattern"),
        (
            (*FOUR, "--pattern", "iometer/file-server", "--rwmixread", "50"),
            "--rwmixread changes nothing with --p",
        ),
        ((*FOUR, "--rw", "randread", "--rwmixread", "50"), "--rwmixread changes nothing with --rw randread"),
        ((*FOUR, "--members", "4,6"), "--members 4,6: a comparison has one number of drives; compare once"),
        ((*FOUR, "--members", "four"), "one number of drives; such as --members 4"),
        ((*FOUR, "--pattern", "no/such"), "--> --pattern"),
        ((*FOUR, "--csv", "--full"), "choose one of --json, --csv and --full"),
        ((*FOUR, "--set", 'target.array.rebuilt="5%"'), "see --states"),
        ((*FOUR, "--levels", "raid7"), "there is no level raid7"),
        ((*FOUR, "--levels", ","), "--levels: which?"),
        ((*FOUR, "--members", "1", "--levels", "raid1,raid5"), "1 member makes none of these levels"),
        ((*FOUR, "--states", "broken"), "healthy, degraded, rebuilding"),
        ((*FOUR, "--iodepth", "1,x"), "numbers with commas"),
        ((*FOUR, "--iodepth", "4,4"), "each number once"),
        ((*FOUR, "--rwmixread", "100"), "between 1 and 99"),
        ((*FOUR, "--bs", "4x"), "--> --bs"),
        ((*FOUR, "--ramp-time", "long"), "--> --ramp-time"),
        ((*FOUR, "--stripe-unit", "1"), "--> --stripe-unit"),
        ((*FOUR, "--afr", "5%", "--mttf", "9h"), "twice"),
        ((*FOUR, "--repair", "9h"), "nothing fails"),
        ((*FOUR, "--set", "workload.bs=8k"), "--set workload.bs: workload.bs is not set so; see --bs"),
        (
            (*FOUR, "--set", "workload.size=8k"),
            "workload.size is not free here; free are the keys under target",
        ),
        ((*FOUR, "--set", "workload.trace.format=spc"), "changes nothing without a recorded trace"),
        ((*FOUR, "--set", "target.array.level=raid5"), "see --levels"),
        (
            (*FOUR, "--levels", "raid5,raid6", "--copies", "2"),
            "--copies changes nothing with raid5, raid6: it is of",
        ),
        (
            (*FOUR, "--levels", "raid5,raid6", "--groups", "2"),
            "--groups changes nothing with raid5, raid6: it is of",
        ),
        (("--drive", DRIVE, "--trace", "a.spc", "--bs", "8k"), "--bs changes nothing with --trace, which is"),
        (
            ("--drive", DRIVE, "--trace", "a.spc", "--number-ios", "90"),
            "--number-ios changes nothing with --trace",
        ),
        (
            ("--drive", DRIVE, "--trace", "a.spc", "--ramp-time", "1s"),
            "--ramp-time changes nothing with --trace",
        ),
        ((*FOUR, "--drive-price", "-5USD"), "--drive-price -5USD: a price is not below zero"),
        ((*FOUR, "--afr", "2%", "--repair", "-2h"), "--repair -2h: a time is not below zero"),
        ((*FOUR, "--set", "target.array.missing=[1]"), "see --states"),
        ((*FOUR, "--set", "target.array.read_choice=best"), "read_choice"),
        (
            (*FOUR, "--set", "target.write_cache=true,false"),
            "--set target.write_cache true,false: levels are compared with one value of each key",
        ),
        ((*FOUR, "--bs", "4k,8k"), "--bs 4k,8k: levels are compared with one value"),
        ((*FOUR, "--ramp-time", "1s,2s"), "--ramp-time 1s,2s: levels are compared with one value"),
        ((*FOUR, "--levels", "raid5", "--stripe-unit", "4k,8k"), "--stripe-unit 4k,8k: levels are compared"),
        ((*FOUR, "--number-ios", "0"), "0 is out of range\n--> --number-ios"),
        ((*FOUR, "--number-ios", "-1"), "-1 is out of range\n--> --number-ios"),
        ((*FOUR, "--full", "--iodepth", "1,100000000"), "100000000 is out of range\n--> --iodepth"),
        ((*FOUR, "--members", "2000"), "--members 2000: an array has 1 to 1,024"),
        ((*FOUR, "--copies", "0"), "--copies 0: "),
        ((*FOUR, "--groups", "0"), "--groups 0: "),
        ((*FOUR, "--states", ","), "--states: which?"),
        ((*FOUR, "-o", "levels.gif"), "a picture ends in"),
        ((), "--drive"),
    ],
)
def test_what_cannot_be_compared_says_why(run, arguments, says):
    done = run("compare-levels", *once(*arguments))
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_points_that_fail_leave_the_others(monkeypatch, capsys):
    ran = measure.run_reduced

    def failing(plans: Any, keep: Any, *rest: Any) -> Any:  # noqa: ANN401
        def first_fails(place: int, result: Result) -> Any:  # noqa: ANN401
            failures = [Failure(point["axes"], "time does not pass") for point in result.points]
            return keep(place, result if place else replace(result, points=[], failures=failures))

        return ran(plans, first_fails, *rest)

    monkeypatch.setattr(measure, "run_reduced", failing)
    arguments = ["compare-levels", *FOUR, "--levels", "raid0", "--json"]
    assert program()(args=arguments, standalone_mode=False) == 1
    out, err = capsys.readouterr()
    at = "level = raid0, state = healthy, load = load"
    assert err == f"error: time does not pass (at {at})\n"
    found = json.loads(out)
    assert list(found["levels"][0]["states"]["healthy"]) == [*RANDOM, *STREAMS]
    assert len(found["failures"]) == 1
    with pytest.raises(RunError, match="time does not pass"):
        compare_levels(DRIVE, levels=["raid0"], iodepth=1, number_ios=128, ramp_time="1s")


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_pictures(run, tmp_path: Path, suffix: str):
    done = run("compare-levels", *FOUR, "--levels", "raid0,raid1", "-q", "-o", f"levels.{suffix}")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / f"levels.{suffix}").stat().st_size > 10_000


def test_the_picture_has_a_mark_for_each_figure():
    found = compare_levels(
        DRIVE, 2, levels=["raid0", "raid1"], iodepth=(1, 4), number_ios=200, ramp_time="1s"
    )
    rows = [row for rows in found.chart().to_dict()["datasets"].values() for row in rows]
    # The load by state: two levels whole, one of them in two more states, as IOPS and as latency.
    by_state = [row for row in rows if row.get("series") in STATES]
    assert len(by_state) == 2 * (2 + 2)
    raid1 = next(row for row in found.verdict().rows if row["level"] == "raid1")
    values = {row["value"] for row in by_state if row["level"] == "raid1"}
    assert {raid1[f"iops_{state}"] for state in STATES} <= values
    # Hours of a rebuild with their errors, idle and under the load; depths of whole levels under three loads.
    hours = [row for row in rows if "low" in row]
    assert {row["value"] for row in hours} == {raid1["rebuild_h"], raid1["rebuild_idle_h"]}
    assert all(row["low"] <= row["value"] <= row["high"] for row in hours)
    assert len([row for row in rows if row.get("series") in {1, 4}]) == 2 * 2 * 3
    with pytest.raises(charts.ChartError, match="no level"):
        charts.levels({"levels": []})


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_had_finished_is_printed_after_ctrl_c(monkeypatch, capsys, form):
    ran = measure.run_reduced

    def stopped(plans: Any, keep: Any, *rest: Any) -> Any:  # noqa: ANN401
        def first_finishes(place: int, result: Result) -> Any:  # noqa: ANN401
            return keep(place, replace(result, points=[], interrupted=True) if place else result)

        return ran(plans, first_finishes, *rest)

    monkeypatch.setattr(measure, "run_reduced", stopped)
    arguments = ["compare-levels", *FOUR, "--levels", "raid0,raid1", "--states", "healthy", *form]
    assert program()(args=arguments, standalone_mode=False) == 130
    out, err = capsys.readouterr()
    assert f"interrupted: 1 of {34 if form else 2} points finished" in err
    if form:
        raid0, raid1 = json.loads(out)["levels"]
        assert (list(raid0["states"]["healthy"]), raid1["states"]) == (["load"], {})
    else:
        rows = [line.split() for line in out.splitlines()]
        assert [len(row) for row in rows if row[:1] == ["raid0"]] == [5]
        assert [row[2:] for row in rows if row[:1] == ["raid1"]] == [["-", "-", "3"]]


def test_keys_that_no_array_takes_are_refused_by_name():
    with pytest.raises(InputError, match="see members"):
        planning.checked(DRIVE, [Override("target.array.members", "3", "--set target.array.members")])


def test_a_level_that_falls_behind_is_ranked_by_what_it_does(run):
    brief = ("--number-ios", "1500", "--ramp-time", "1s", "--levels", "raid10,raid5")
    asked = ("--drive", "wd-4tb-7200", "--members", "4", *brief)
    done = run("compare-levels", *asked, "--rate_iops", "2000")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("fastest: raid10, only ")
    assert any(line.startswith("rebuilt, extrapolated: under this load in >") for line in lines)
    behind = next(line for line in lines if line.startswith("cannot keep up with 2000 a second: "))
    assert behind.endswith("all; all with a drive missing; all while it is rebuilt")
    rows = [line for line in lines if line.startswith(("raid10 ", "raid5 "))]
    assert all("cannot keep up  only" in " ".join(row.split(" ")) or "cannot keep up" in row for row in rows)
    csv = list(DictReader(run("compare-levels", *asked, "--rate_iops", "2000", "--csv").stdout.splitlines()))
    assert [row["keeps_up_healthy"] for row in csv] == ["False", "False"]
    assert float(csv[0]["iops_healthy"]) > float(csv[1]["iops_healthy"])


def test_with_a_rate_every_state_is_told_by_its_latency(run):
    asked = (
        "--drive",
        DRIVE,
        "--members",
        "4",
        "--levels",
        "raid10",
        "--number-ios",
        "500",
        "--ramp-time",
        "1s",
    )
    out = run("compare-levels", *asked, "--rate_iops", "60").stdout
    assert "cannot keep up" not in out
    titles, values = (re.split(r"\s{2,}", line) for line in out.splitlines()[-2:])
    row = dict(zip(titles, values, strict=True))
    record = next(
        iter(DictReader(run("compare-levels", *asked, "--rate_iops", "60", "--csv").stdout.splitlines()))
    )
    for state, title in (("healthy", "ms"), ("degraded", "degraded ms"), ("rebuilding", "rebuilding ms")):
        assert float(row[title]) == pytest.approx(float(record[f"mean_latency_ns_{state}"]) / 1e6, rel=1e-3)


def test_what_the_tables_take_is_not_refused_with_them(run):
    whole = ("--levels", "raid0", "--states", "healthy", "--full", "-q")
    assert run("compare-levels", *FOUR, *whole, "--rate_iops", "60").returncode == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"members": [4, 6]}, "members=.4, 6.: a comparison has one number of drives"),
        ({"rw": "randread", "rwmixread": 50, "full": False}, 'rwmixread changes nothing with rw="randread"'),
        ({"bs": "8k", "pattern": "iometer/file-server", "full": False}, "bs changes nothing with pattern"),
        ({"iodepth": "1,x"}, 'iodepth="1,x": numbers'),
    ],
)
def test_arguments_are_named_as_arguments(words, says):
    with pytest.raises(InputError, match=f"^{says}"):
        compare_levels(DRIVE, **words)
