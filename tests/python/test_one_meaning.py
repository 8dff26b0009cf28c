"""`plan`, `durability` and `compare-levels` say the same of the same array: its chance of loss, its arrivals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from drivelab.arrays.durability import loss, unreadable
from drivelab.arrays.levels import compare_levels
from drivelab.arrays.plan import plan
from drivelab.arrays.simulation.loads import Loads
from drivelab.errors import InputError

# 9.1 GB: its rebuild is simulated whole.
pytestmark = pytest.mark.usefixtures("loads_once")

DRIVE = "seagate-cheetah-9lp"
LEVELS = "raid10,raid5,raid6,raid1,raid01,raid0"
LOAD = {"rate_iops": "30"}
FAST = {"number_ios": 300, "ramp_time": "1s"}


def words(given: dict[str, object]) -> list[str]:
    return [word for key, value in given.items() for word in (f"--{key.replace('_', '-')}", str(value))]


@pytest.mark.xdist_group("chance")
@pytest.mark.parametrize(
    "causes",
    [{}, {"ure": "1e-12/bit", "replacement": "2d"}, {"ure": "none"}],
    ids=["unasked", "given", "none"],
)
def test_the_chance_of_loss_is_one_figure_in_every_verb(run, causes):
    common = {"drive": DRIVE, "members": 4, "afr": "3%", **LOAD, **causes}
    found: dict[str, dict[str, list[object]]] = {}

    def keep(verb: str, level: object, percent: object) -> None:
        found.setdefault(str(level), {}).setdefault(str(percent), []).append(verb)

    done = run("durability", *words({**common, "level": LEVELS, "rebuild": "simulated"}), "--csv")
    assert done.returncode == 0, done.stderr
    for row in csv.DictReader(io.StringIO(done.stdout)):
        keep("durability", row["level"], float(row["loss_in_a_year_percent"]))
    done = run("compare-levels", *words({**common, **FAST, "levels": LEVELS}), "--csv")
    assert done.returncode == 0, done.stderr
    for row in csv.DictReader(io.StringIO(done.stdout)):
        keep("compare-levels", row["level"], float(row["loss_in_a_year_percent"]))
    bought = {"capacity": "1GB", "drive_price": "80USD", "level": LEVELS}
    done = run("plan", *words({**common, **FAST, **bought}), "--csv")
    assert done.returncode == 0, done.stderr
    for row in csv.DictReader(io.StringIO(done.stdout)):
        keep("plan", row["level"], float(row["loss_in_a_year_percent"]))
    own = {"members": 4, "afr": "3%", **causes}
    losses = loss(LEVELS, drive=DRIVE, rebuild="simulated", **LOAD, **own)
    for name, one in zip(LEVELS.split(","), losses.outcomes, strict=True):
        keep("loss()", name, one["loss_in_a_year_percent"]["value"])
    compared = compare_levels(
        DRIVE,
        4,
        levels=LEVELS,
        rate_iops="30",
        number_ios=300,
        ramp_time="1s",
        full=False,
        afr="3%",
        **causes,
    )
    for entry in compared.entries:
        assert entry.loss
        keep("compare_levels()", entry.level.label, entry.loss["loss_in_a_year_percent"]["value"])
    planned = plan(**{**common, **FAST, **bought})
    for row in planned.rows():
        keep("plan()", row["level"], row["loss_in_a_year_percent"])
    verbs = ["durability", "compare-levels", "plan", "loss()", "compare_levels()", "plan()"]
    assert {level: list(figures.values()) for level, figures in found.items()} == {
        level: [verbs] for level in LEVELS.split(",")
    }


def test_a_figure_is_printed_in_percent_by_every_verb(run):
    given = {"drive": DRIVE, "members": 4, "afr": "3%", "rate_iops": "30"}
    durable = run("durability", *words({**given, "level": "raid5", "rebuild": "simulated"})).stdout
    compared = run("compare-levels", *words({**given, **FAST, "levels": "raid5"})).stdout
    bought = {"capacity": "1GB", "drive_price": "80USD", "level": "raid5"}
    planned = run("plan", *words({**given, **FAST, **bought}), "--table").stdout
    (figure,) = {
        durable.partition("chance of loss ")[2].partition(" %")[0],
        compared.partition("raid5 least (")[2].partition(" %")[0],
        planned.replace("\n  ", " ").partition("with a chance of ")[2].partition(" %")[0],
    }
    assert float(figure) > 0
    for said in (durable, compared, planned):
        # A narrow table breaks the title before its unit.
        assert "loss/year" in said
        assert figure in said.rpartition("loss/year")[2].split()


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("rpm of the base", "1e-16/bit"),
        ('geometry.capacity = "46878236672 sectors"', "1e-15/bit"),
        ('geometry.capacity = "1953525168 sectors"', "1e-14/bit"),
    ],
)
def test_unreadable_sectors_go_by_the_class_of_the_drive(tmp_path: Path, text: str, rate: str):
    base = "wd-wd740gd-00fla0" if "rpm" in text else "seagate-exos-x24-24tb"
    (tmp_path / "own.toml").write_text(f'base = "{base}"\n' + ("" if "rpm" in text else f"{text}\n"))
    assert unreadable.of_drive(str(tmp_path / "own.toml")).rate == rate


def test_a_capacity_stands_for_a_class_where_no_drive_is_named():
    of = {"members": 4, "afr": "1%", "rebuild": "20h"}
    for capacity, rate in (("18TB", "1e-15/bit"), ("4TB", "1e-14/bit")):
        unasked, given = (loss("raid5", capacity=capacity, **of, **more) for more in ({}, {"ure": rate}))
        assert unasked.assumed
        assert unasked.assumed.rate == rate
        assert unasked.outcomes == given.outcomes
        assert given.assumed is None
    # What is known by the hour takes the place of what is read.
    assert loss("raid5", latent="1e-4/h", **of).assumed is None


def test_a_rate_is_a_poisson_process_unless_said_otherwise(run):
    for said, process in (
        ({"rate_iops": 30}, "poisson"),
        ({"rate_iops": 30, "rate_process": "linear"}, "linear"),
    ):
        assert Loads.chosen(full=False, **said).workload()["rate_process"] == process
    given = {"drive": DRIVE, "members": 4, "levels": "raid5", "states": "healthy", **FAST, **LOAD}
    found = {}
    for process in ((), ("--rate-process", "linear"), ("--rate-process", "poisson")):
        done = run("compare-levels", *words(given), *process, "--json")
        assert done.returncode == 0, done.stderr
        found[process] = json.loads(done.stdout)
    unasked, linear, poisson = found.values()
    assert unasked["digest"] == poisson["digest"] != linear["digest"]
    (lazy,) = unasked["verdict"]["levels"]
    (even,) = linear["verdict"]["levels"]
    # Requests that come in a bunch wait for each other.
    assert lazy["mean_latency_ns_healthy"] > even["mean_latency_ns_healthy"]
    assert "30 Poisson arrivals a second" in unasked["verdict"]["load"]
    assert "30 evenly spaced arrivals a second" in linear["verdict"]["load"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rate_process": "linear"}, "rate_process changes nothing without rate_iops"),
        ({"rate_iops": 30, "rate_process": "even"}, "it is poisson or linear"),
        ({"sync": True, "rw": "randread"}, 'sync changes nothing with rw="randread"'),
        ({"sync": True, "trace": "a.spc"}, "sync changes nothing with trace"),
        ({"rate_process": "linear", "trace": "a.spc"}, "rate_process changes nothing with trace"),
    ],
)
def test_words_of_a_load_that_change_nothing_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        Loads.chosen(full=False, **given)


def test_writes_that_end_in_a_volatile_cache_are_said_and_sync_ends_them_on_the_media(run):
    # Its drives answer writes early; those of the other do not.
    bought = {"capacity": "100GB", "drive_price": "80USD", "level": "raid10", "members": 4, **FAST}
    given = {**bought, "drive": "wd-wd740gd-00fla0", "rate_iops": 40}
    cached = run("plan", *words(given), "--quiet").stdout
    forced = run("plan", *words(given), "--sync", "--quiet").stdout
    assert (
        "; writes end in volatile caches (--sync: on the media)"
        in cached.replace("\n  ", " ").splitlines()[0]
    )
    assert "volatile" not in forced

    def mean_ms(said: str) -> float:
        return float(said.partition("gives: mean ")[2].partition(" ms")[0])

    assert mean_ms(forced) > mean_ms(cached)
    given = {**bought, "capacity": "10GB", "drive": DRIVE, "rate_iops": 30}
    assert "volatile" not in run("plan", *words(given), "--quiet").stdout
    compared = {"drive": "wd-wd740gd-00fla0", "members": 4, "levels": "raid10", "states": "healthy", **FAST}
    said = run("compare-levels", *words(compared))
    assert "writes end in volatile caches (--sync: on the media)" in said.stdout
    said = run("compare-levels", *words(compared), "--sync")
    assert "volatile" not in said.stdout
    assert "writes with FUA" in said.stdout
