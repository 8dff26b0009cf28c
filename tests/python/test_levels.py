"""What the levels bear and how likely they lose data: against enumeration, published figures, closed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.errors import InputError
from drivelab.levels.cost import Price, Prices
from drivelab.levels.figures import stream_figures
from drivelab.levels.formulas import (
    Arcs,
    Failures,
    Groups,
    Sets,
    chance_of_rate,
    mttf_of_rate,
    rate_of_chance,
    rate_of_mttf,
)
from drivelab.levels.level import LEVELS, Level
from drivelab.levels.odds import Lifetime, odds, parse_hours
from drivelab.levels.verdict import _Judge

FIVE = Fraction(5, 100)


def all_levels(members: int) -> Iterator[Level]:
    for name in (*LEVELS, "raid10:far", "raid10:offset"):
        for copies in range(2, members + 1):
            for groups in range(1, members + 1):
                level = Level.named(name, members, copies, groups)
                if level.rule() is None:
                    yield level


def loses(level: Level, failed: frozenset[int]) -> bool:
    """Whether data are lost, straight from where they lie."""
    n, k = level.members, level.copies
    if level.name in {"jbod", "raid0"}:
        return bool(failed)
    if level.name == "raid1":
        return len(failed) == n
    if level.name == "raid01":
        # A striped set is given up with its first member.
        columns = n // k
        return all(any(copy * columns + i in failed for i in range(columns)) for copy in range(k))
    if level.name == "raid10":
        near = level.layout is None
        homes = [{((c * k if near else c) + copy) % n for copy in range(k)} for c in range(n)]
        return any(home <= failed for home in homes)
    parities = {"3": 1, "4": 1, "5": 1, "6": 2, "30": 1, "50": 1, "60": 2, "z1": 1, "z2": 2, "z3": 3}
    bears = parities[level.name.removeprefix("raid")]
    groups = level.groups if level.name in {"raid30", "raid50", "raid60"} else 1
    size = n // groups
    return any(sum(drive // size == group for drive in failed) > bears for group in range(groups))


@pytest.mark.parametrize("members", range(1, 8))
def test_every_set_of_failed_members_is_counted_where_it_belongs(members):
    for level in all_levels(members):
        sets = [[frozenset(some) for some in combinations(range(members), j)] for j in range(members + 1)]
        lost = [sum(loses(level, some) for some in of_size) for of_size in sets]
        failures = Failures.of(level.arrangement())
        assert failures.lost == lost, level
        assert failures.arrangement.drives == members
        assert failures.bears_worst == next(j for j in range(members + 1) if lost[j]) - 1
        assert failures.bears_best == max(j for j in range(members + 1) if lost[j] < len(sets[j]))
        # No member is special: which one is missing does not change the chance.
        for gone in range(members):
            chance = Fraction(0)
            for some in (some for of_size in sets for some in of_size if gone in some):
                if loses(level, some):
                    others = len(some) - 1
                    chance += FIVE**others * (1 - FIVE) ** (members - 1 - others)
            assert failures.loss_after_one(FIVE) == chance, level


@given(
    st.one_of(
        st.builds(Groups, st.integers(1, 8), st.just(0), st.integers(1, 4)),
        st.builds(Groups, st.integers(4, 8), st.integers(0, 3), st.integers(1, 4)),
        st.builds(Sets, st.integers(1, 6), st.integers(2, 4)),
        st.integers(2, 6).flatmap(
            lambda length: st.builds(Arcs, st.integers(length, 12), st.integers(1, 3), st.just(length))
        ),
    ),
    st.fractions(0, 1),
)
def test_all_sets_together_are_certain_and_more_failures_never_help(arrangement, chance):
    failures = Failures.of(arrangement)
    n = arrangement.drives
    borne = [math.comb(n, j) - lost for j, lost in enumerate(failures.lost)]
    assert all(0 <= sets <= math.comb(n, j) for j, sets in enumerate(borne))
    survival = sum(sets * chance**j * (1 - chance) ** (n - j) for j, sets in enumerate(borne))
    assert failures.loss(chance) == 1 - survival
    shares = [Fraction(lost, math.comb(n, j)) for j, lost in enumerate(failures.lost)]
    assert shares == sorted(shares)
    assert failures.loss(float(chance)) == pytest.approx(float(failures.loss(chance)), rel=1e-12)


# "Storage, Raid, and intel's ICHxR" (2008), each drive failing with 5 %: level, members, percent as printed.
STUDY = [
    ("raid1", 2, "0.25"),
    ("raid0", 4, "18.55"),
    ("raid10", 4, "0.499"),
    ("raid10", 6, "0.748"),
    ("raid5", 4, "1.40"),
]


@pytest.mark.parametrize(("name", "members", "percent"), STUDY)
def test_the_chances_of_the_study_to_its_last_digit(name, members, percent):
    found = float(100 * Failures.of(Level.named(name, members).arrangement()).loss(FIVE))
    assert f"{found:.{len(percent.partition('.')[2])}f}" == percent


def test_raid5_of_six_is_what_the_formula_says_and_not_what_was_printed():
    # The study prints 3.2.
    assert float(100 * Failures.of(Level.named("raid5", 6).arrangement()).loss(FIVE)) == pytest.approx(
        3.2773828125
    )


@pytest.mark.parametrize("members", range(2, 13))
def test_the_formulas_as_the_study_writes_them(members):
    f, n = FIVE, members
    forms = {
        "raid0": 1 - (1 - f) ** n,
        "jbod": 1 - (1 - f) ** n,
        "raid1": f**n,
        "raid5": 1 - (1 - f) ** n - n * f * (1 - f) ** (n - 1),
    }
    if n % 2 == 0:
        forms["raid10"] = 1 - (1 - f**2) ** (n // 2)
        forms["raid01"] = (1 - (1 - f) ** (n // 2)) ** 2
    for name, form in forms.items():
        level = Level.named(name, members)
        if level.rule() is None:
            assert Failures.of(level.arrangement()).loss(f) == form, name


def test_a_jbod_loses_some_with_any_drive_and_all_with_the_last():
    found = odds(Level.named("jbod", 3), Lifetime(rate_of_chance(0.05)), None)
    assert (found["bears_worst"], found["bears_best"]) == (0, 0)
    chances = found["none_replaced"]
    assert chances["loss_in_a_year_percent"] == pytest.approx(100 * (1 - 0.95**3))
    assert chances["loss_of_all_in_a_year_percent"] == pytest.approx(100 * 0.05**3)


@pytest.mark.parametrize(("blocks", "size"), [(1, 2), (1, 4), (2, 2), (4, 2), (2, 3)])
def test_copies_that_fill_their_drives_are_groups(blocks, size):
    # The same array told in two ways.
    groups, arcs = Groups(size, size - 1, blocks), Arcs(blocks, size, 1)
    assert Failures.of(arcs).lost == Failures.of(groups).lost


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
        (lambda: parse_hours("12", "--repair"), "--repair 12: a time above zero"),
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
    ("raid01", 5, "2 copies of a striped set need a number of members that 2 divides"),
    ("raid50", 5, "2 groups need a number of members that 2 divides"),
    ("raid60", 6, "needs 4 members or more in each group"),
    ("raidz1", 1, "needs 2 members or more"),
    ("raidz3", 3, "needs 4 members or more"),
    ("raid10", 1, "2 copies need 2 members or more"),
]


@pytest.mark.parametrize(("name", "members", "rule"), RULES)
def test_rules(name, members, rule):
    assert Level.named(name, members).rule() == rule
