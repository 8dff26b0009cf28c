"""Chances, times and prices of levels: against published figures and closed forms."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.arrays.cost import Price, Prices
from drivelab.arrays.level import Level
from drivelab.arrays.levels.verdict import _Judge
from drivelab.arrays.odds import (
    Lifetime,
    chance_of_rate,
    mttf_of_rate,
    odds,
    parse_hours,
    rate_of_chance,
    rate_of_mttf,
)
from drivelab.arrays.simulation.figures import stream_figures
from drivelab.errors import InputError


def test_a_jbod_loses_some_with_any_drive_and_all_with_the_last():
    found = odds(Level.named("jbod", 3), Lifetime(rate_of_chance(0.05)), None)
    assert (found["bears_worst"], found["bears_best"]) == (0, 0)
    chances = found["none_replaced"]
    assert chances["loss_in_a_year_percent"] == pytest.approx(100 * (1 - 0.95**3))
    assert chances["loss_of_all_in_a_year_percent"] == pytest.approx(100 * 0.05**3)


@given(st.floats(1e-6, 0.99))
def test_chance_rate_and_mean_time_are_one(chance):
    rate = rate_of_chance(chance)
    assert chance_of_rate(rate) == pytest.approx(chance, rel=1e-12)
    assert rate_of_mttf(mttf_of_rate(rate)) == pytest.approx(rate, rel=1e-12)


def test_a_data_sheet_of_a_million_hours():
    # FAST 2007: 1.0 to 1.5 million hours are "at most 0.88 %".
    assert 100 * chance_of_rate(rate_of_mttf(1.0e6)) == pytest.approx(0.8722, abs=1e-4)
    assert Lifetime.parse(None, "1200000h") == Lifetime(0.0073)
    life = Lifetime.parse("5%", None)
    assert life is not None
    assert life.chance == pytest.approx(0.05)
    assert Lifetime.parse(None, None) is None


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Lifetime.parse("5%", "1h"), "twice"),
        (lambda: Lifetime.parse("5", None), "between 0 and 100"),
        (lambda: Lifetime.parse("0%", None), "between 0 and 100"),
        (lambda: Lifetime.parse("100%", None), "between 0 and 100"),
        (lambda: parse_hours("12", "repair"), "repair=12: a time has its unit"),
        (lambda: parse_hours("0h", "--repair"), "above zero"),
        (lambda: Price.parse("140", "--drive-price"), "140USD"),
        (lambda: Price.parse("-1USD", "--drive-price"), "140USD"),
        (lambda: Prices.parse(None, "9USD"), "changes nothing"),
        (lambda: Prices.parse("9USD", "9EUR"), "one currency"),
        (lambda: Level.named("raid7", 4), "no level raid7"),
        (lambda: Level.named("raid10:left-symmetric", 4), "near, far, offset"),
        (lambda: Level.named("raid1:far", 4), "raid1 has one layout"),
    ],
)
def test_what_makes_no_sense_says_why(call, says):
    with pytest.raises(InputError, match=says):
        call()


@pytest.mark.parametrize("text", ["720min", "0.5d", "12 h", "43200s"])
def test_times_have_units(text):
    assert parse_hours(text, "--repair") == pytest.approx(12)


def test_during_a_repair_one_more_failure_may_be_the_loss():
    life = Lifetime.parse("5%", None)
    assert life is not None
    meanwhile = chance_of_rate(life.per_year, 100 / 8760)
    for name, failures in (("raid5", 1), ("raid6", 2)):
        found = odds(Level.named(name, 4), life, 100.0)
        lost = math.fsum(
            math.comb(3, n) * meanwhile**n * (1 - meanwhile) ** (3 - n) for n in range(failures, 4)
        )
        assert found["others_fail_during_a_repair_percent"] == pytest.approx(100 * lost)


@pytest.mark.parametrize(
    ("error", "other", "pick"),
    [(0.05, 96.0, "raid5"), (0.05, 94.0, "raid0"), (None, 99.5, "raid5"), (0.001, 98.0, "raid0")],
)
def test_of_levels_within_the_error_the_one_that_bears_more_is_picked(error, other, pick):
    def row(level: str, iops: float, bears: int) -> dict[str, Any]:
        known = {
            "keeps_up_healthy": None,
            "iops_relative_error_healthy": error,
            "loss_in_a_year_percent": 1.0,
        }
        return {"level": level, "iops_healthy": iops, "bears_any": bears, **known}

    rows = [row("raid0", 100.0, 0), row("raid5", other, 1)]
    judge = _Judge(SimpleNamespace(loads=SimpleNamespace(trace=None, is_stream=False)), rows)
    assert judge._best(rows)["level"] == pick


def test_a_stream_has_the_rates_of_its_slowest_and_its_fastest_place():
    points = [
        {
            "bytes_per_s": rate,
            "latency_ns": {"n": 9, "mean": 1e6},
            "depth": {"asked": 8},
            "axes": {"workload.offset": place},
            "errors": 0,
        }
        for place, rate in (("0%", 250e6), ("50%", 200e6), ("99%", 120e6))
    ]
    found = stream_figures(points)
    assert found is not None
    rates = [found[f"{name}_bytes_per_s"] for name in ("min", "mean", "max")]
    assert rates == pytest.approx([120e6, 190e6, 250e6])


def test_prices_of_the_study_of_2004():
    # Controller and one to four drives: AcceleRAID 170 with Cheetahs, FastTrak with Raptors.
    scsi, sata = Prices.parse("339USD", "379USD"), Prices.parse("219USD", "159USD")
    assert scsi is not None
    assert sata is not None
    assert [scsi.system(n) for n in range(1, 5)] == [718, 1057, 1396, 1735]
    assert [sata.system(n) for n in range(1, 5)] == [378, 597, 816, 1035]


def test_cost_per_gb_of_the_study_of_2008():
    # A drive of 640 GB at 13.3 cents a GB, the controller on the board: members, and how many of them hold data.
    prices = Prices(Price(0.133 * 640, "USD"))
    printed = {(1, 1): "13.3", (2, 1): "26.6", (4, 2): "26.6", (4, 3): "17.7"}
    for (members, data), cents in printed.items():
        found = prices.to_dict(members, data * 640 * 10**9)
        assert f"{100 * found['per_usable_gb']:.1f}" == cents
        assert found["per_usable_gib"] / found["per_usable_gb"] == pytest.approx(2**30 / 1e9)


RULES = [
    ("raid1", 1, "needs 2 members or more"),
    ("raid5", 2, "needs 3 members or more"),
    ("raid6", 3, "needs 4 members or more"),
    ("raid01", 5, "needs a number of members that 2 copies divide"),
    ("raid50", 5, "needs a number of members that 2 groups divide"),
    ("raid60", 6, "needs 4 members or more in each of 2 groups"),
    ("raidz1", 1, "needs 2 members or more"),
    ("raidz3", 3, "needs 4 members or more"),
    ("raid10", 1, "needs 2 members or more for 2 copies"),
]


@pytest.mark.parametrize(("name", "members", "rule"), RULES)
def test_rules(name, members, rule):
    assert Level.named(name, members).rule() == rule
