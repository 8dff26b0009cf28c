"""`drivelab plan` and `drivelab.arrays.plan.plan`: what they pick, say, draw and refuse."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from messages import held, told

from drivelab import charts
from drivelab.arrays.durability import loss
from drivelab.arrays.levels import compare_levels
from drivelab.arrays.plan import Plan, plan, sensitivity
from drivelab.arrays.plan.bounds import waiting
from drivelab.arrays.plan.choice import miss
from drivelab.arrays.plan.evaluate import evaluate, judge_rebuild, loss_span, loss_value, rebuild_hours
from drivelab.arrays.plan.grid import candidates
from drivelab.arrays.plan.load import load, scaled
from drivelab.arrays.plan.loss import HISTORIES, times
from drivelab.arrays.plan.options import asked_of
from drivelab.arrays.plan.planned import run as run_plan
from drivelab.arrays.plan.question import laws_by_name
from drivelab.arrays.plan.sensitivity import capacity_turn
from drivelab.arrays.simulation.planning import drive_bytes
from drivelab.errors import InputError

# In one process, which knows the loads that others have run.
pytestmark = [pytest.mark.usefixtures("loads_once"), pytest.mark.xdist_group("plan")]

SMALL, OTHER = "seagate-cheetah-9lp", "wd-wd360gd"
QUICK: dict[str, Any] = {
    "capacity": "20GB",
    "drive": SMALL,
    "level": "raid10,raid5,raid6",
    "members": "4..5",
    "rate_iops": "30",
    "number_ios": 1000,
    "ramp_time": "1s",
    "drive_price": "80USD",
    "afr": "3%",
}


def options(given: dict[str, Any]) -> list[str]:
    return [word for key, value in given.items() for word in (f"--{key.replace('_', '-')}", str(value))]


@pytest.fixture(scope="module")
def planned() -> Plan:
    return plan(**QUICK, max_latency="p99=150ms", max_loss="2e-6/year")


def test_the_answer_is_a_few_lines_on_a_screen(run):
    done = run("plan", *options(QUICK), "--max-latency", "p99=150ms", "--max-loss", "2e-6/year", "--table")
    assert done.returncode == 0, done.stderr
    answer, table, assumed = done.stdout.rstrip("\n").split("\n\n")
    assert max(map(len, (done.stdout + done.stderr).splitlines())) <= 100
    # What goes on is set in.
    lines = answer.replace("\n  ", " ").splitlines()
    said = ["pick", "gives", "costs", "survives", "assumes", "would change the pick"]
    assert [line.partition(":")[0] for line in lines] == said
    assert lines[0].startswith(
        "pick: raid6 of 5 x seagate-cheetah-9lp, 27.31 GB usable: the cheapest of 2 that hold"
    )
    assert "exact" in lines[2]
    assert "the failure of any two drives" in lines[3]
    assert "chance of 0 " not in done.stdout
    assert sum(line.startswith("raid") for line in table.splitlines()) == 6
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert len(notes) == 3
    assert re.search(r"^\d+ more notes: --notes$", done.stderr, re.MULTILINE)
    assert "unreadable sectors 1e-16/bit, by data sheets of drives of 10 000 rpm and more (--ure)" in lines[4]
    assert lines[4].startswith("assumes: Poisson arrivals (--rate-process linear: evenly spaced); ")
    # Every assumption is named, those that were left out with the option that says them.
    names = [row.partition("  ")[0] for row in assumed.splitlines() if not row.startswith(" ")]
    assert {"annual failure rate", "rebuild time", "load", "unreadable sectors", "hot spares"} <= set(names)
    assert "(assumed, --ure)" in assumed.replace("\n", " ")
    assert "time to detect 0 (--detection)" in done.stderr.replace("\n ", "")


def test_json_csv_and_python_say_the_same(run, planned):
    given = (*options(QUICK), "--max-latency", "p99=150ms", "--max-loss", "2e-6/year")
    found = json.loads(run("plan", *given, "--json").stdout)
    assert found == json.loads(json.dumps(planned.to_dict()))
    rows = list(csv.DictReader(io.StringIO(run("plan", *given, "--csv").stdout)))
    assert [row["candidate"] for row in rows] == [one["candidate"] for one in found["candidates"]]
    picked = next(one for one in found["candidates"] if one["candidate"] == found["pick"])
    low, high = picked["p99_ns_healthy_low"], picked["p99_ns_healthy_high"]
    assert low <= picked["p99_ns_healthy"] <= high
    low, high = picked["loss_in_a_year_percent_low"], picked["loss_in_a_year_percent_high"]
    assert low <= picked["loss_in_a_year_percent"] <= high
    assert found["pick"] in found["front"]


def test_compare_levels_has_the_same_figures(planned):
    picked = planned.pick
    assert picked is not None
    found = compare_levels(
        SMALL, 5, levels=["raid6"], rate_iops=30, number_ios=1000, ramp_time="1s", full=False, afr="3%"
    )
    (raid6,) = found.entries
    assert raid6.capacity_bytes == picked.entry.capacity_bytes
    assert raid6.states == picked.entry.states
    assert raid6.rebuild == picked.entry.rebuild
    assert picked.loss == raid6.loss


def test_where_nothing_holds_the_limit_that_binds_is_named(run):
    done = run("plan", *options(QUICK), "--max-latency", "p99=12ms", "--max-loss", "2e-6/year")
    assert done.returncode == 3, done.stderr
    first, second = done.stdout.replace("\n  ", " ").splitlines()[:2]
    assert first == "nothing holds, of 6 candidates"
    assert second.startswith("--max-latency binds: without it raid10 of 5 x seagate-cheetah-9lp holds; p99 ")


def test_of_contradictory_limits_the_nearest_is_named(run):
    given = {**QUICK, "capacity": "1TB", "max_loss": "1e-30/year"}
    done = run("plan", *options(given))
    assert done.returncode == 3
    _, second, *_ = done.stdout.replace("\n  ", " ").splitlines()
    assert second.startswith(
        "--capacity and --max-loss bind together: nearest is raid6 of 4 x seagate-cheetah-9lp; holds 18.21 GB; "
    )


def test_a_load_that_nothing_carries_is_said(run):
    done = run("plan", *options({**QUICK, "rate_iops": 3000}))
    assert done.returncode == 3
    assert done.stdout.replace("\n  ", " ").splitlines()[1].startswith("the load binds: without it raid")
    assert "of 3,000 IOPS" in done.stdout


def test_every_limit_that_stands_in_the_way_is_named(run):
    # A load that is not carried has no latency that could be held, and a rebuild beside it none.
    given = {**QUICK, "level": "raid5", "members": 5, "rate_iops": 3000, "max_latency": "p99=50ms"}
    line = run("plan", *options(given)).stdout.replace("\n  ", " ").splitlines()[1]
    assert line.startswith(
        "the load and --max-latency bind together: nearest is raid5 of 5 x seagate-cheetah-9lp; does "
    )
    assert "; p99 " in line
    # However fast it were rebuilt it loses more often than that.
    given = {**QUICK, "level": "raid5", "members": 5, "rate_iops": 3000, "max_loss": "1e-12/year"}
    line = run("plan", *options(given)).stdout.replace("\n  ", " ").splitlines()[1]
    assert line.startswith("the load and --max-loss bind together")
    assert line.endswith(" a year however fast it is rebuilt")
    # Of a limit that may hold nothing is said.
    line = (
        run("plan", *options({**given, "max_loss": "1e-3/year"})).stdout.replace("\n  ", " ").splitlines()[1]
    )
    assert line.startswith(
        "the load binds: without it raid5 of 5 x seagate-cheetah-9lp holds, as far as is known"
    )


def test_states_that_lose_data_bind_by_their_name(run):
    given = {**QUICK, "level": "raid0", "members": 4, "states": "degraded"}
    line = run("plan", *options(given)).stdout.replace("\n  ", " ").splitlines()[1]
    assert line == (
        "--states binds: without it raid0 of 4 x seagate-cheetah-9lp holds; loses data with a drive missing"
    )


def test_what_cannot_be_is_in_the_table_with_its_rule(run):
    done = run(
        "plan", *options({**QUICK, "level": "raid6", "members": "3..4", "capacity": "10GB"}), "--table"
    )
    rows = [line for line in done.stdout.split("\n\n")[1].splitlines() if line.startswith("raid")]
    assert [row.split()[0:3] for row in rows] == [["raid6", "of", "4"], ["raid6", "of", "3"]]
    assert "needs 4" in rows[1]


def test_the_pick_turns_where_it_is_said_to():
    given = {**QUICK, "level": "raid6", "members": "5", "replacement": "2d", "max_loss": "1e-6/year"}
    found = plan(**given)
    by_key = {one.key: one for one in found.assumptions}
    # The chance goes with the cube of the rate, the square of the delay, and hardly with a rebuild of half an hour.
    assert list(by_key)[:2] == ["afr", "replacement"]
    assert by_key["afr"].high.value / by_key["afr"].low.value == pytest.approx(64, rel=0.2)
    assert by_key["replacement"].high.value / by_key["replacement"].low.value == pytest.approx(16, rel=0.2)
    (factor,) = (turn.factor for turn in by_key["afr"].turns if turn.why)
    for other, holds in ((factor * 0.9, True), (factor * 1.1, False)):
        again = plan(**{**given, "afr": times("3%", other)})
        assert (again.pick is not None) == holds


def test_the_pick_above_what_it_holds_is_named():
    given = {**QUICK, "level": "raid5", "members": "3..5", "capacity": "15GB"}
    found = plan(**given)
    assert found.pick is not None
    assert found.capacity is not None
    text = f"capacity above {found.pick.entry.capacity_bytes / 1e9:.4g} GB: {found.capacity.then}"
    assert text in found.lines()[-1]
    for more, name in ((0, found.pick.name), (10**6, found.capacity.then)):
        again = plan(**{**given, "capacity": f"{found.pick.entry.capacity_bytes + more}B"})
        assert again.pick is not None
        assert again.pick.name == name


def test_a_heavier_load_turns_the_pick_to_what_holds_it():
    given = {**QUICK, "level": "raid5,raid10", "members": "3..5", "afr": None, "max_latency": "p99=33ms"}
    given["rate_process"] = "linear"
    found = plan(**{key: value for key, value in given.items() if value is not None})
    (load,) = found.assumptions
    turn = next(turn for turn in load.turns if turn.factor > 1)
    assert turn.why
    again = plan(**{key: value for key, value in {**given, "rate_iops": 30 * turn.factor}.items() if value})
    assert (again.pick and again.pick.name) == turn.then
    assert found.pick is not None
    assert found.pick.name != turn.then


def test_prices_turn_the_pick_exactly():
    given = {
        **QUICK,
        "drive": f"{SMALL},{OTHER}",
        "level": "raid6",
        "drive_price": f"{SMALL}=60USD,{OTHER}=110USD",
        "spares": 1,
    }
    found = plan(**given)
    assert found.pick is not None
    turn = next(one for one in found.prices if one.drive == SMALL and one.price > 60)
    for price, name in ((turn.price - 1, found.pick.name), (turn.price + 1, turn.other)):
        again = plan(**{**given, "drive_price": f"{SMALL}={price:.2f}USD,{OTHER}=110USD"})
        assert again.pick is not None
        assert again.pick.name == name


def candidate(name: str, cost: float, capacity: int = 10**12, **more: Any) -> Any:  # noqa: ANN401
    """A candidate that holds, as far as it matters to choices between several."""
    figures = {"latency_ns": {"mean": 1e6, "p99": more.pop("p99", 2e6)}}
    entry = SimpleNamespace(capacity_bytes=capacity, states={"healthy": {"load": figures}}, rebuild=None)
    kept = {"holds": True, "loss": None, "failings": [], **more}
    return SimpleNamespace(name=name, cost={"total": cost}, entry=entry, **kept)


def test_one_that_holds_no_more_does_not_follow_the_pick():
    picked = candidate("raid5", 100.0)
    others = [candidate("raid4", 110.0), candidate("raid5 of 4", 130.0, 2 * 10**12), picked]
    assert capacity_turn(picked, others).then == "raid5 of 4"
    assert capacity_turn(picked, others[:1]).then is None


@pytest.mark.parametrize(
    ("key", "text", "is_better"),
    [
        ("mttf", "1200000h", True),
        ("drive_life", "weibull:1.12:461386h", True),
        ("common", "shelf:20y:30%", True),
        ("latent", "exponential:9y", True),
        ("ure", "1e-15/bit", False),
        ("detection", "2h", False),
        ("scrub", "7d", False),
    ],
)
def test_a_longer_time_between_common_failures_is_better_and_to_detect_one_worse(
    monkeypatch, key, text, is_better
):
    """The chance goes with the assumption or its inverse: at four times, or a quarter, it is over the limit."""

    def year(_one: object, _asked: object, _key: str, factor: float) -> dict[str, float]:
        chance = 1 / factor if is_better else factor
        return {"value": chance, "low": 0.9 * chance, "high": 1.1 * chance}

    monkeypatch.setattr(sensitivity, "year_at", year)
    picked = candidate("raid6", 100.0, loss={"loss_in_a_year_percent": year(None, None, key, 1.0)})
    asked = SimpleNamespace(limits=SimpleNamespace(loss_percent=4.0))
    (turn,) = sensitivity._of_failures(key, text, picked, [picked], asked).turns
    assert turn.factor == pytest.approx(0.25 if is_better else 4.0, rel=0.05)
    assert turn.why == "over --max-loss"


def test_the_nearest_to_a_latency_has_one_that_is_known():
    limits = SimpleNamespace(states=("healthy",), latencies_ns={"p99": 1e6})
    asked = SimpleNamespace(limits=limits)
    assert miss(candidate("a", 1.0, p99=2.5e6), "latency", asked) == pytest.approx(2.5)
    assert miss(candidate("b", 1.0, p99=None), "latency", asked) == math.inf


def test_the_interval_of_a_loss_holds_that_of_its_rebuild():
    alone = {"low": 1.0, "high": 2.0}
    for over, span in ((None, (1.0, 2.0)), ({"low": 0.5, "high": 3.0}, (0.5, 3.0))):
        loss_ = {"loss_in_a_year_percent": alone, "loss_in_a_year_over_rebuilds_percent": over}
        assert loss_span(loss_) == span


def test_cost_counts_spares_controllers_and_power():
    found = plan(**{
        **QUICK, "level": "raid5", "members": "4", "spares": 1, "controller": "intel-ich9r", "drive": OTHER,
        "controller_price": "240USD", "power_price": "0.30USD/kWh", "drive_power": "8W", "life": "3y",
        "capacity": "90GB",
    })  # fmt: skip
    assert found.pick is not None
    assert found.pick.cost["total"] == pytest.approx(5 * 80 + 240 + 5 * 0.008 * 3 * 8760 * 0.30)


def test_a_scenario_is_a_load(run, tmp_path: Path):
    (tmp_path / "load.toml").write_text(
        '[workload]\nrw = "randrw"\nbs = "4KiB"\nrwmixread = 70\nrate_iops = 30\nrate_process = "poisson"\n'
    )
    given = {key: value for key, value in QUICK.items() if key != "rate_iops"} | {
        "level": "raid6",
        "members": 5,
    }
    by_file = json.loads(run("plan", *options(given), "--load", "load.toml", "--json").stdout)
    by_words = json.loads(run("plan", *options(given), "--rate-iops", "30", "--json").stdout)
    states = [found["candidates"][0]["states"] for found in (by_file, by_words)]
    assert states[0] == states[1]


JOBS = """[workload]
bs = "4KiB"
job.a = { rw = "randread", rate_iops = "20/s", numjobs = 2 }
job.b = { rw = "randwrite", rate_iops = 10 }
"""


def test_jobs_ask_for_a_rate_and_are_varied_together(tmp_path: Path):
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS)
    loads = load({"load": str(file)})
    assert loads.rate == 50
    more = scaled(loads, 1.5)
    assert more is not None
    assert more.rate == 75
    assert more.workload()["bs"] == "4KiB"
    file.write_text('[workload]\nrw = "randread"\niodepth = 4\n')
    more = scaled(load({"load": str(file)}), 0.5)
    assert more is not None
    assert more.workload()["iodepth"] == 2
    file.write_text('[workload]\nrw = "randread"\n')
    assert scaled(load({"load": str(file)}), 2) is None


def test_a_trace_is_a_load_and_runs_faster_where_it_is_varied(run, tmp_path: Path):
    lines = [f"0,{number * 997 % 9000 * 8},4096,{'RW'[number % 2]},{number / 40}" for number in range(1200)]
    (tmp_path / "a.spc").write_text("".join(f"{line}\n" for line in lines))
    given = {key: value for key, value in QUICK.items() if key != "rate_iops"}
    given |= {"level": "raid5", "members": 4}
    del given["number_ios"], given["ramp_time"]
    done = run("plan", *options(given), "--load", "a.spc", "--max-latency", "mean=40ms", "--notes")
    assert done.returncode == 0, done.stderr
    assert "load: the trace a.spc at its recorded times" in done.stderr
    assert "40.02 IOPS" in done.stdout
    assert scaled(load({"load": "a.spc"}), 2).workload() == {  # type: ignore[union-attr]
        "trace": {"file": "a.spc", "scale_time": 0.5}
    }


def test_of_equal_prices_it_is_said_what_decides(run):
    done = run("plan", *options({**QUICK, "level": "raid5,raid6", "members": 5}))
    same = "seagate-cheetah-9lp costs the same: the pick"
    assert f"note: raid5 of 5 x {same} loses data less often\n" in done.stderr
    # A stripe and a row of drives lose as often as each other.
    given = {**QUICK, "level": "jbod,raid0", "members": 5}
    done = run("plan", *options(given))
    name, other = ("jbod", "raid0") if "pick: jbod" in done.stdout else ("raid0", "jbod")
    assert f"pick: {name}" in done.stdout
    assert f"note: {other} of 5 x {same} answers faster and loses data as often\n" in done.stderr.replace(
        "\n  ", " "
    )
    done = run("plan", *options({key: value for key, value in given.items() if key != "afr"}))
    assert f"note: {other} of 5 x {same} answers faster\n" in done.stderr


def test_limits_apply_in_the_states_that_are_named():
    given = {**QUICK, "level": "raid5", "members": "4", "max_latency": "p99=100ms"}
    assert plan(**given).pick is not None
    found = plan(**given, states="healthy,rebuilding")
    assert found.pick is None
    ((failing,),) = ([one.text for one in each.failings] for each in found.candidates)
    assert failing.endswith(" ms while it is rebuilt")


@pytest.mark.parametrize(("figures", "said"), [
    ({"kept_up": False}, ["requests wait longer and longer while it is rebuilt"]),
    ({"duration_ns": None}, ["hosts leave nothing to a rebuild"]),
    ({}, []),
])  # fmt: skip
def test_a_rebuild_that_hosts_wait_for_longer_and_longer_is_no_array_to_buy(planned, figures, said):
    picked = planned.pick
    entry = replace(picked.entry, rebuild={**picked.entry.rebuild, **figures})
    one = replace(picked, entry=entry, failings=[])
    judge_rebuild(one)
    assert [failing.text for failing in one.failings] == said


def test_with_a_fast_rebuild_the_bound_of_the_loss_is_below_the_loss():
    given = {**QUICK, "level": "raid10,raid5", "max_loss": "1e-12/year"}
    asked = asked_of(given, [])
    bounded, whole = candidates(asked, given), candidates(asked, given)
    evaluate(bounded, asked)
    evaluate(whole, asked, bounded=False)
    ruled = [one for one in bounded if [failing.limit for failing in one.failings] == ["loss"]]
    assert ruled
    for one in ruled:
        other = next(other for other in whole if other.name == one.name)
        assert not one.is_simulated
        assert 0 < loss_value(one) < loss_value(other)


@pytest.mark.parametrize(("at", "known"), [(0.3, 2), (0.92, 3)])
def test_an_interrupted_plan_has_no_pick(at, known):
    def interrupt(share: float) -> None:
        if share > at:
            raise KeyboardInterrupt

    found = run_plan(
        {key: str(value) for key, value in QUICK.items() if key != "number_ios"}, progress=interrupt
    )
    assert found.ran.interrupted
    assert found.pick is None
    assert found.lines() == [f"no pick: interrupted with {known} of 6 candidates known"]
    # What was held to every limit before is told, and may yet not be the cheapest.
    assert sum(row["holds"] for row in found.rows()) == known - 2
    assert found.to_dict()["interrupted"]


def test_a_state_that_loses_data_is_said_once(run):
    given = {**QUICK, "level": "raid0", "members": 4, "states": "degraded", "max_latency": "p99=1ms"}
    done = run("plan", *options(given), "--json")
    assert done.returncode == 3
    (one,) = json.loads(done.stdout)["candidates"]
    texts = [failing["text"] for failing in one["failings"]]
    assert texts.count("loses data with a drive missing") == 1


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_pictures(run, tmp_path: Path, suffix: str):
    pictures = ("-o", f"plan.{suffix}", "--tornado", f"tornado.{suffix}")
    done = run("plan", *options(QUICK), "--max-loss", "1e-6/year", "-q", *pictures)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / f"plan.{suffix}").stat().st_size > 10_000
    assert (tmp_path / f"tornado.{suffix}").stat().st_size > 5_000


def test_every_candidate_is_in_the_picture(planned):
    rows = [row for rows in planned.chart().to_dict()["datasets"].values() for row in rows]
    assert {row["candidate"] for row in rows if "candidate" in row} == {
        one.name for one in planned.candidates
    }
    bars = [row for rows in planned.tornado().to_dict()["datasets"].values() for row in rows if "side" in row]
    assert {row["side"] for row in bars} == {"half as much", "twice as much"}


def test_what_is_no_more_than_noise_has_no_bar(planned):
    found = json.loads(json.dumps(planned.to_dict()))
    first, *_ = (one for one in found["assumptions"] if one["is_told"])
    # The chain is exact, so whatever half and twice of the rate do is told.
    assert first["key"] == "afr"
    for key in ("loss_at_half", "loss_at_twice"):
        first |= {f"{key}_percent_low": 0.0, f"{key}_percent_high": 100.0, f"is_{key}_told": False}
    first["is_told"] = False
    drawn = charts.tornado(found).to_dict()
    rows = [row for rows in drawn["datasets"].values() for row in rows if "assumption" in row]
    assert rows
    assert all(first["name"] not in row["assumption"] for row in rows)
    assert f"change less than the intervals show: {first['name']}" in json.dumps(drawn["title"])


def test_noise_is_marked_in_the_table():
    given = {
        **QUICK,
        "afr": None,
        "drive_life": "weibull:1.12:50000h",
        "level": "raid5",
        "members": 5,
        "wrong_drive": "1e-9",
    }
    found = plan(**{key: value for key, value in given.items() if value is not None})
    by_key = {one.key: one for one in found.assumptions}
    # A mistake in a thousand million does nothing that histories could show.
    assert not by_key["wrong_drive"].is_told
    assert by_key["drive_life"].is_told
    cells = {row[0].text: row[2].text for row in found.assumed().rows}
    assert cells["wrong drive pulled"].startswith("~")
    assert not cells["drive life"].startswith("~")
    assert any(note.startswith("~: half and twice of ") for note in found.notes())


def test_a_bound_is_drawn_as_one(planned):
    found = json.loads(json.dumps(planned.to_dict()))
    out, unseen, *_ = found["candidates"]
    # One is ruled out by what it loses at least, of one no loss was seen in all histories.
    out |= {"loss_in_a_year_percent": 3e-4, "is_loss_a_bound": True}
    unseen |= {
        "loss_in_a_year_percent": None,
        "loss_in_a_year_percent_high": 2e-5,
        "is_loss_a_bound": False,
    }
    drawn = charts.pareto(found).to_dict()
    rows = [row for rows in drawn["datasets"].values() for row in rows if "mark" in row]
    marks = {(row["candidate"], row["value"]): row["mark"] for row in rows}
    assert marks[out["candidate"], 3e-4] == "triangle-up"
    assert marks[unseen["candidate"], 2e-5] == "triangle-down"
    said = json.dumps(drawn["title"])
    assert "Triangle up: at least so likely, however fast it is rebuilt; down: at most" in said
    for one in found["candidates"]:
        one |= {"loss_in_a_year_percent": 3e-4, "is_loss_a_bound": False}
    assert "Triangle" not in json.dumps(charts.pareto(found).to_dict()["title"])


def test_bounds_are_what_they_are_derived_to_be():
    turn = 8.33e6
    # The mean of a uniform part of a turn, and of the least of two.
    assert waiting(turn, 1, 1.0, None, 4000) == pytest.approx(0.9 * turn / 2)
    assert waiting(turn, 2, 1.0, None, 4000) == pytest.approx(0.9 * turn / 3)
    # Of many requests the quantile is that of the distribution.
    assert waiting(turn, 1, 1.0, 0.99, 10**9) == pytest.approx(0.99 * turn, rel=1e-3)
    assert waiting(turn, 2, 1.0, 0.99, 10**9) == pytest.approx(0.9 * turn, rel=1e-3)
    assert waiting(turn, 1, 0.005, 0.99, 4000) == 0.0
    assert math.isclose(float(times("1.5%", 2)[:-1]), 3.0)
    assert times("1e-15/bit", 0.5) == "5e-16/bit"
    # Of a law its times alone, no shape and no share.
    assert times("weibull:1.12:461386h:6h", 2) == "weibull:1.12:922772h:12h"
    assert times("survival:1y=98%,5y=89%", 2) == "survival:2y=98%,10y=89%"
    assert times("shelf:20y:30%", 0.5) == "shelf:10y:30%"
    assert times("5%:8", 2) == "10%:8"


def test_what_durability_knows_of_failures_is_asked_here_too():
    given = {key: value for key, value in QUICK.items() if key != "afr"}
    failing = {
        "batch": "5%:2",
        "wrong_drive": "2%",
        "common": "shelf:20y:30%",
        "outage": ["controller:50y:8h"],
    }
    drive_life = "weibull:1.12:5000h"
    found = plan(
        **{**given, "level": "raid6", "members": "5"},
        drive_life=drive_life,
        scrub="uniform:1h:100h",
        ure="1e-14/bit",
        replacement="fixed:100h",
        life="1y",
        **failing,
    )
    assert found.pick is not None
    assert found.pick.loss is not None
    # The same as `durability` has it.
    rebuilt = rebuild_hours(found.pick)
    alone = loss(
        "raid6", members=5, capacity=f"{drive_bytes(found.pick.chosen)}B", rebuild=rebuilt, drive_life=drive_life,
        histories=HISTORIES, scrub="uniform:1h:100h", ure="1e-14/bit", replacement="fixed:100h", life="1y",
        **failing,
    )  # fmt: skip
    assert found.pick.loss["loss_in_a_year_percent"] == alone.outcomes[0]["loss_in_a_year_percent"]
    assert found.pick.loss["unavailability"] == pytest.approx(8 / (50 * 8760), rel=1e-4)
    assert "; not available 0.16 h a year by outages" in found.lines()[3]
    # Each is a row, and what is a time may be longer for the better.
    rows = {one.key: one for one in found.assumptions}
    assert {
        "drive_life",
        "batch",
        "wrong_drive",
        "common",
        "scrub",
        "ure",
        "replacement",
        "rebuild",
        "load",
    } == set(rows)
    assert rows["drive_life"].value == drive_life
    for key, is_better in (("drive_life", True), ("common", True), ("batch", False), ("wrong_drive", False)):
        low, high = rows[key].low, rows[key].high
        assert low
        assert high
        assert (low.value > high.value) == is_better, key
    table = found.assumed().rows
    assert ["outages", "controller:50y:8h", "-", "-", ""] in [[cell.text for cell in row] for row in table]


def test_laws_are_given_by_drive():
    laws = laws_by_name(
        f"{SMALL}=survival:1y=98%,5y=89%, {OTHER}=fixed:5y", [SMALL, OTHER], str, "--drive-life", "fixed:5y"
    )
    assert laws == {SMALL: "survival:1y=98%,5y=89%", OTHER: "fixed:5y"}
    law = "survival:1y=98%,5y=89%"
    assert laws_by_name(law, [SMALL, OTHER], str, "--drive-life", "fixed:5y") == {SMALL: law, OTHER: law}


REFUSED: list[dict[str, Any]] = [
    {"drive_price": None},
    {"drive_price": "80"},
    {"drive_price": "wd=80USD"},
    {"drive": f"{SMALL},{OTHER}", "drive_price": f"{SMALL}=80USD"},
    {"max_loss": "1.2/year"},
    {"max_loss": "0"},
    {"max_loss": "1e-4", "afr": None},
    {"afr": "120%"},
    {"afr": None, "ure": "1e-15/bit"},
    {"afr": None, "wrong_drive": "1%"},
    {"mttf": "500000h"},
    {"drive_life": "fixed:5y"},
    {"afr": None, "drive_life": "weibul:2:9y"},
    {"afr": None, "drive_life": "wd=fixed:5y"},
    {"afr": None, "drive": f"{SMALL},{OTHER}", "drive_price": "80USD", "drive_life": f"{SMALL}=fixed:5y"},
    {"batch": "5%"},
    {"batch": "500%:8"},
    {"wrong_drive": "x"},
    {"outage": "controller"},
    {"common": "shelf:20y"},
    {"attended": "30x5"},
    {"capacity": None},
    {"capacity": "60"},
    {"capacity": "0TB"},
    {"max_latency": "p98=5ms"},
    {"max_latency": "p99.9=5ms"},
    {"max_latency": "p50=80ms,p99=50ms"},
    {"members": "12..4"},
    {"members": "3", "level": "raid6"},
    {"drive": None},
    {"drive": None, "capacity": None},
    {"level": "raid7"},
    {"states": "broken"},
    {"power_price": "0.30USD/kWh"},
    {"power_price": "0.30USD", "drive_power": "7W"},
    {"controller": "intel-ich9r"},
    {"controller_price": "240USD"},
    {"budget": "500EUR"},
    {"members": "4..1000", "drive": f"{SMALL},{OTHER}"},
    {"load": "load.toml"},
    {"load": "absent.toml", "rate_iops": None},
    {"load": "absent.trace", "rate_iops": None},
    {"load": "absent.trace", "rate_iops": None, "number_ios": None, "ramp_time": None},
    {"load": "odd.trace", "rate_iops": None, "number_ios": None, "ramp_time": None},
    {"load": "recorded.toml", "rate_iops": None},
    {"load": "recorded.toml", "rate_iops": None, "number_ios": None, "ramp_time": None},
    {"load": "recorded.toml", "rate_iops": None, "set": "workload.trace.format=spc"},
    {"set": "workload.trace.format=spc"},
    {"set": "target.array.level=raid5"},
    {"set": "workload.bs=8k"},
    {"bs": "4k,8k"},
    {"iodepth": 4},
    {"iodepth": "1,4", "rate_iops": None},
    {"pattern": "iometer/file-server", "bs": "8k"},
    {"level": "raid6", "copies": 2},
    {"level": "raid6", "groups": 2},
    {"states": "degraded", "rate_iops": None},
    {"afr": None, "life": "3y"},
    {"reads": "1TB"},
    {"reads": "1TB", "ure": "1e-15/bit"},
    {"reads": "1TB", "latent": "1e-4/h", "scrub": "1w"},
    {"drive_power": "-7W", "power_price": "0.30USD/kWh"},
    {"drive_power": "7W", "power_price": "-0.30USD/kWh"},
    {"max_latency": "p99=-5ms"},
    {"capacity": "-5TB"},
    {"replacement": "-2h"},
    {"budget": "-5USD"},
    {"load": "nothing.toml", "rate_iops": None},
    {"load": "words.toml", "rate_iops": None},
    {"drive": "wd-nothing"},
    {"drive_price": "-1USD"},
    {"budget": "lots"},
    {"controller": "no-controller", "controller_price": "1USD"},
    {"electricity": "1"},
    {"members": "0", "level": "raid7,raid6,raid8", "copies": 1, "capacity": "60", "states": "broken,lost"},
    {"drive": f"{SMALL},{OTHER}", "drive_price": f"{SMALL}=80,other=1USD", "afr": f"{SMALL}=3%", "ure": "x"},
    {"rw": "random", "iodepth": "0", "max_latency": "p98=5ms,p99=-5ms", "min_iops": "0", "budget": "5"},
    {"afr": None, "max_loss": "2", "ure": "1e-15/bit", "batch": "5%:2", "life": "3", "controller": "none"},
    {"drive": None, "capacity": "60", "power_price": "1USD", "drive_power": "7", "level": ","},
    {
        "groups": "x",
        "copies": "y",
        "spares": "-1",
        "number_ios": "many",
        "rwmixread": "0.5",
        "budget": "lots",
    },
    {"drive": "wd-4tb-720,wd-wd36gd", "budget": "lots"},
    {"controller": "intel-ich9"},
    {"controller": "intel-ich9,intel-ich9r,intel-ich6"},
    {"rwmixread": "300", "ramp_time": "5x", "number_ios": "0", "bs": "1x"},
    {"level": "raid7,raid50", "groups": 0, "copies": 1},
    {"ure": "x", "latent": "y", "scrub": "z", "batch": "a:b", "attended": "axb"},
    {"latent": "20h"},
    {"drive": f"{SMALL},{OTHER}", "drive_price": f"{SMALL}=80", "afr": f"{SMALL}=x,{OTHER}=y"},
]


def test_what_is_wrong_is_said_with_a_remedy(run, tmp_path):
    (tmp_path / "nothing.toml").write_text("")
    (tmp_path / "words.toml").write_text('[workload]\nrw = "randred"\n')
    (tmp_path / "odd.trace").write_text("hello\nworld\n")
    (tmp_path / "recorded.toml").write_text('[workload]\ntrace = "odd.trace"\n')
    asked = [{**QUICK, **given} for given in REFUSED]
    commands = [
        ["plan", *options({key: value for key, value in each.items() if value is not None})] for each in asked
    ]
    held("plan-messages.txt", told(run, commands, tmp_path))


def test_what_a_drive_file_lacks_may_be_set(tmp_path):
    drive = tmp_path / "part.toml"
    drive.write_text(
        'seek = { single = "1ms", average = "8ms", full = "16ms" }\n'
        'geometry = { heads = 4, capacity = "500GB", outer_rate = "100MB/s", inner_to_outer = "50%" }\n'
    )
    asked = {**QUICK, "drive": str(drive), "budget": "lots"}
    with pytest.raises(InputError, match=r"no `rpm`: add(.|\n)*budget=.lots"):
        plan(**asked)
    with pytest.raises(InputError) as error:
        plan(**asked, **{"target.drive.rpm": "7200rpm"})
    assert "rpm" not in str(error.value)
    drive.write_text('rmp = "7200rpm"\n')
    with pytest.raises(
        InputError, match=r"part.toml:1:1: unknown key `rmp`: did you mean `rpm`\?\nbudget=.lots"
    ):
        plan(**asked)


def test_what_is_wrong_is_said_in_the_callers_words():
    with pytest.raises(InputError, match="drive_price is missing"):
        plan(**{key: value for key, value in QUICK.items() if key != "drive_price"})


def test_a_mistyped_argument_is_named_with_what_is_near():
    with pytest.raises(InputError, match="capcity is no argument: did you mean capacity"):
        plan(capcity="60TB")
