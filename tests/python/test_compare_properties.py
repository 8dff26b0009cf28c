"""What must hold of every comparison: which points are matched, how far figures are apart, how sure that is."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import drivelab
from drivelab.comparison.beside import Compared, compared
from drivelab.comparison.choice import chosen
from drivelab.comparison.difference import Difference, difference, each_of, joint_freedom, margin
from drivelab.comparison.matching import matched, pooled
from drivelab.records import precision
from drivelab.records.model import PERCENTILES, Figure, Record, RecordPoint
from drivelab.records.opening import of_object

OPTIONS = {
    "figures": ("iops",),
    "confidence_percent": 95,
    "pointwise": False,
    "threshold_percent": None,
    "worse_only": False,
    "strict": False,
    "ignore": (),
    "where": None,
    "split": None,
}

values = st.floats(1, 1e6)
errors = st.one_of(st.just(0.0), st.floats(1e-6, 0.5))
figures = st.builds(
    Figure,
    value=values,
    error=errors,
    freedom=st.sampled_from([1.0, 4.0, 11.0, 31.0, math.inf]),
    resolution=st.sampled_from([0.0, 1e-3, 0.05]),
)
axes = st.fixed_dictionaries(
    {},
    optional={
        "iodepth": st.sampled_from([1, 4, 16]),
        "bs": st.sampled_from([4096, 65536]),
        "rw": st.sampled_from(["read", "randread"]),
        "queue.order": st.sampled_from(["fcfs", "sptf"]),
        "drive": st.sampled_from(["x", "y"]),
    },
)


def of_axes(places: list[dict[str, object]]) -> Record:
    points = [RecordPoint(dict(place), {"iops": Figure(100.0, 0.01)}) for place in places]
    return Record("a", "simulated", points)


records = st.lists(axes, min_size=1, max_size=8).map(of_axes)


@given(one=records, two=records)
def test_each_point_is_matched_once_or_told(one, two):
    found = matched(one, two)
    for at, record in enumerate((one, two)):
        paired = [id((pair.first, pair.other)[at]) for pair in found.pairs]
        lonely = sum(lone.is_first == (at == 0) for lone in found.lonely)
        assert len(set(paired)) == len(paired)
        assert len(paired) + lonely == len(record.points)
    assert all(lone.reason for lone in found.lonely)


@given(one=records, two=records)
def test_matched_points_disagree_in_nothing_but_what_tells_the_records_apart(one, two):
    found = matched(one, two)
    for pair in found.pairs:
        for name in (pair.first.axes.keys() & pair.other.axes.keys()) - found.subjects.keys():
            assert pair.first.axes[name] == pair.other.axes[name]


@given(one=records, two=records, draw=st.randoms(use_true_random=False))
def test_matching_depends_on_neither_side_nor_order(one, two, draw):
    def pairs(first: Record, other: Record, *, swapped: bool = False) -> set[tuple[int, int]]:
        ends = [(id(pair.first), id(pair.other)) for pair in matched(first, other).pairs]
        return {(b, a) if swapped else (a, b) for a, b in ends}

    known = pairs(one, two)
    assert pairs(two, one, swapped=True) == known
    shuffled = Record("b", "simulated", draw.sample(two.points, len(two.points)))
    assert pairs(one, shuffled) == known


@given(record=st.lists(axes, min_size=1, max_size=8, unique_by=lambda place: repr(sorted(place.items()))))
def test_a_record_whose_places_differ_is_matched_with_itself_whole(record):
    found = matched(of_axes(record), of_axes(record))
    assert len(found.pairs) == len(record)
    assert found.subjects == {}


@given(place=axes, seeds=st.lists(st.integers(1, 99), min_size=2, max_size=6, unique=True), data=st.data())
def test_runs_that_differ_in_their_seed_are_one_point_with_their_mean(place, seeds, data):
    iops = [data.draw(values) for _ in seeds]
    points = [
        RecordPoint({**place, "seed": seed}, {"iops": Figure(value)})
        for seed, value in zip(seeds, iops, strict=True)
    ]
    (point,) = pooled(Record("a", "simulated", points)).points
    assert point.axes == place
    assert point.figures["iops"].value == pytest.approx(statistics.fmean(iops))
    assert point.figures["iops"].freedom == len(seeds) - 1
    # Of a published table two figures are no repeats.
    assert len(pooled(Record("a", "published", points)).points) == len(points)


def apart(one: Figure, two: Figure, confidence: float = 0.95) -> Difference:
    return difference({}, "iops", one, two, confidence, identical=False)


@given(one=figures, two=figures)
def test_a_difference_is_the_same_from_either_side(one, two):
    forth, back = apart(one, two), apart(two, one)
    assert (1 + forth.share) * (1 + back.share) == pytest.approx(1)
    assert back.shown == {"more": "less", "less": "more"}.get(forth.shown, forth.shown)
    assert forth.low <= forth.share <= forth.high
    if forth.high < 1e6 and back.high < 1e6:
        assert (1 + forth.low) * (1 + back.high) == pytest.approx(1)


@given(one=figures, two=figures, factor=st.floats(0.01, 100))
def test_a_difference_has_no_unit(one, two, factor):
    def scaled(figure: Figure) -> Figure:
        return Figure(figure.value * factor, figure.error, figure.freedom, figure.resolution)

    known, found = apart(one, two), apart(scaled(one), scaled(two))
    assert found.share == pytest.approx(known.share, abs=1e-9)
    assert found.low == pytest.approx(known.low, abs=1e-9)


@given(one=figures, two=figures, low=st.floats(0.5, 0.99), high=st.floats(0.5, 0.99))
def test_more_confidence_is_a_wider_interval(one, two, low, high):
    assume(low < high)
    narrow, wide = apart(one, two, low), apart(one, two, high)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(one=figures, two=figures, thresholds=st.tuples(st.floats(0, 2), st.floats(0, 2)), worse=st.booleans())
def test_what_is_within_a_threshold_is_within_a_larger_one(one, two, thresholds, worse):
    found = apart(one, two)
    small, large = (found.judged(threshold, worse_only=worse) for threshold in sorted(thresholds))
    order = {"within": 0, "open": 1, "beyond": 2}
    assert order[large] <= order[small]
    # Worse alone is never stricter.
    assert order[found.judged(1, worse_only=True)] <= order[found.judged(1, worse_only=False)]


def test_a_figure_of_zero_has_no_share():
    found = apart(Figure(0.0, 0.1), Figure(5.0, 0.1))
    assert (found.share, found.low, found.shown) == (None, None, "unknown")
    assert found.judged(10, worse_only=False) == "beyond"
    assert apart(Figure(5.0, 0.1), Figure(0.0, 0.1)).share == -1
    assert apart(Figure(0.0), Figure(0.0)).share == 0


def test_an_error_that_nobody_knows_leaves_no_interval():
    found = apart(Figure(100.0), Figure(120.0, 0.01))
    assert (found.shown, found.low, found.share) == ("unknown", None, pytest.approx(0.2))
    assert [found.judged(share, worse_only=False) for share in (0.1, 0.3)] == ["beyond", "within"]


def test_repeats_are_held_to_each_other_as_by_welch():
    draw = random.Random(1)  # noqa: S311
    one = [draw.gauss(100, 1.0) for _ in range(5)]
    two = [draw.gauss(101, 0.4) for _ in range(9)]
    a, b = precision.of_repeats(one), precision.of_repeats(two)
    told = stats.ttest_ind(two, one, equal_var=False)
    assert joint_freedom([a, b]) == pytest.approx(told.df, rel=0.02)
    interval = told.confidence_interval(0.95)
    half = (interval.high - interval.low) / 2 / statistics.fmean(one)
    assert margin(a, b, 0.95) == pytest.approx(half, rel=0.02)


def test_rounding_is_added_to_both_ends():
    a, b = Figure(100.0, 0.0, resolution=0.05), Figure(100.0, 0.0, resolution=0.01)
    assert margin(a, b, 0.95) == pytest.approx(-math.log(0.95) - math.log(0.99))


def test_intervals_that_hold_at_once_share_what_may_miss():
    assert each_of(1, 0.95) == 0.95
    assert each_of(0, 0.95) == 0.95
    assert each_of(10, 0.95) == pytest.approx(0.995)


@pytest.mark.parametrize("carry", [0.0, 0.5, 0.75])
def test_the_error_of_a_mean_fits_stretches_that_depend_on_each_other(carry):
    """An AR(1) series: what is told of one run against how far runs are apart."""
    draw = random.Random(2)  # noqa: S311
    means, told = [], []
    for _ in range(300):
        level, pieces = draw.gauss(0, 1) / math.sqrt(1 - carry**2), []
        for at in range(96):
            level = carry * level + draw.gauss(0, 1)
            pieces.append({"start_ns": at, "ios": 100, "mean_latency_ns": 1000 + 10 * level})
        means.append(statistics.fmean(piece["mean_latency_ns"] for piece in pieces))
        figure = precision.of_series(means[-1], pieces)
        assert figure.freedom in {11, 23}
        told.append(figure.error * means[-1])
    ratio = statistics.stdev(means) / math.sqrt(statistics.fmean(error**2 for error in told))
    assert 0.75 < ratio < 1.1


def test_a_rate_has_the_wider_of_two_errors():
    pieces = [{"start_ns": at * 100, "ios": 50 if at < 48 else 150} for at in range(96)]
    assert precision.of_batches(1.0, 0.0204, [], 9600).error == pytest.approx(0.01)
    # The rate doubles half way, so each stretch is half the mean off: 12 of them, and 24.
    figure = precision.of_batches(1.0, 0.0204, pieces, 9600)
    assert (figure.error, figure.freedom) == (pytest.approx(math.sqrt(0.5 / 11 - 0.25 / 23)), 11)


def test_of_a_mixed_queue_few_response_times_are_independent():
    independent = precision.independent
    assert independent(1000, 0.5, None, 1, is_mixed=False) is None
    assert independent(1000, 0.5, 0.001, 1, is_mixed=False) == 1000
    assert independent(1000, 0.5, 0.05, 1, is_mixed=False) == pytest.approx(100)
    assert independent(1000, 0.5, 0.001, 16, is_mixed=False) == 500
    assert independent(1000, 0.5, 0.001, 16, is_mixed=True) == pytest.approx(1000 / 31)


def test_a_percentile_of_independent_times_has_the_error_of_its_rank():
    draw = random.Random(3)  # noqa: S311
    found, told = [], []
    for _ in range(300):
        times = sorted(draw.expovariate(1) * 1e6 for _ in range(2000))
        quantile = precision.quantile_of_counts([(time, 1) for time in times])
        value = quantile(PERCENTILES["p90"])
        figure = precision.of_percentile(value, "p90", quantile, 2000, 31, "histogram")
        found.append(math.log(value))
        told.append(figure.error)
    assert statistics.stdev(found) == pytest.approx(statistics.fmean(told), rel=0.12)


SCENARIO = """\
[target]
{target}
[workload]
{workload}
[run]
warmup = "2s"
duration = "30s"
seed = {seed}
"""
LOADS = {
    "reads": ('drive = "wd-4tb-7200"', 'rw = "randread"\nbs = "4KiB"\niodepth = [1, 16]'),
    "mixed": ('drive = "wd-wd740gd-00fla0"', 'rw = "randrw"\nbs = "16KiB"\niodepth = 16'),
    "stations": ('server = { service = "exponential", mean = "4ms" }', 'rw = "randread"\niodepth = [1, 8]'),
}


@pytest.mark.parametrize("load", LOADS)
def test_runs_that_differ_in_their_seed_alone_are_seldom_told_apart(tmp_path, load):
    """Of 40 comparisons with 95 % confidence 2 may be wrong; 7 or more are by chance in one case of 300."""
    target, workload = LOADS[load]
    path = tmp_path / "x.toml"

    def record(seed: int) -> Record:
        path.write_text(SCENARIO.format(target=target, workload=workload, seed=seed), encoding="utf-8")
        return of_object(drivelab.simulate(path).to_dict(), f"seed {seed}")

    options = {**OPTIONS, "figures": ("iops", "mean", "p50", "p90", "p99")}
    found = [compared([record(2 * at), record(2 * at + 1)], chosen(**options)) for at in range(1, 41)]
    assert sum(map(is_told_apart, found)) <= 6
    intervals = [one for each in found for one in each.besides[0].differences if one.is_uncertain]
    assert len(intervals) >= 40 * 4


def is_told_apart(found: Compared) -> bool:
    return any(one.shown in {"more", "less"} for beside in found.besides for one in beside.differences)
