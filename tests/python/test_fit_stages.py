"""The stages of `drivelab fit`, each on made-up truth: readers, seek curves, angles, likelihood,
sampler, surface, losses."""

from __future__ import annotations

import json
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest
from fio_results import job, part_3
from fit_files import RATES, SHEET, TRUTH, write_chain, write_drive, write_sweep
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import sample

from drivelab.errors import InputError
from drivelab.fit.chain import _on_one_track, timed
from drivelab.fit.draft import start_of
from drivelab.fit.fitted import ONE_OF_MANY, Fitted, Parameter
from drivelab.fit.inputs import Requests, Surface, read_chain, read_surface, read_trace
from drivelab.fit.mechanics import Model, chain_parameters
from drivelab.fit.output import drive_file
from drivelab.fit.parameters import (
    bent,
    cylinders_of,
    laid_over,
    seek_points,
)
from drivelab.fit.policy import scaled
from drivelab.fit.policy_numbers import best_numbers
from drivelab.fit.quantities import data_bytes, rate_bytes, share, spindle_rpm, time_ms, time_text
from drivelab.fit.replaying import TRACE_BLOCK, Replays, held_out
from drivelab.fit.results import Found, joined
from drivelab.fit.sampling import ensemble
from drivelab.fit.seek_curve import KNOTS, average_seek, hats, lee
from drivelab.fit.sweep_files import read_sweeps
from drivelab.fit.sweeping import Sweeps, _whitened
from drivelab.fit.trace_intervals import _minimum, _one
from drivelab.fit.tracing import fit_trace
from drivelab.fit.zones import fit_surface, rate_at


@pytest.fixture
def folder(tmp_path):
    write_drive(tmp_path, "sheet.toml", SHEET)
    write_drive(tmp_path, "truth.toml", TRUTH)
    return tmp_path


def test_quantities_are_read_with_their_units():
    assert [time_ms("8.5ms"), time_ms("250us"), time_ms("1s"), time_ms("1500ns")] == [8.5, 0.25, 1000, 0.0015]
    assert [data_bytes("4k"), data_bytes("4KiB"), data_bytes("3 sectors"), data_bytes("1GB")] == [
        4096,
        4096,
        1536,
        1e9,
    ]
    assert (rate_bytes("105MB/s"), spindle_rpm("7200rpm"), share("48%")) == (105e6, 7200, 0.48)
    for wrong, read in (
        ("8", time_ms),
        ("8..5ms", time_ms),
        ("--5ms", time_ms),
        ("3 fish", data_bytes),
        ("5MB", rate_bytes),
        ("2ms", share),
    ):
        with pytest.raises(InputError):
            read(wrong)


@given(st.floats(-1e3, 1e4))
def test_a_time_is_written_as_it_is_read(ms):
    assert time_ms(time_text(ms)) == pytest.approx(ms, abs=1e-6)


def test_fios_json_is_a_sweep(tmp_path):
    def job(depth, iops, p99) -> dict:
        options = {"rw": "randread", "ioengine": "libaio", "iodepth": str(depth)}
        side = {"iops": iops, "clat_ns": {"percentile": {"50.000000": 1, "99.000000": p99}}}
        return {
            "read": side,
            "write": {"iops": 0.0},
            "job options": options,
        }

    (tmp_path / "fio.json").write_text(
        json.dumps({"fio version": "fio-3.33", "jobs": [job(8, 120.0, 9e7), job(1, 80.0, 2e7)]})
    )
    (sweep,) = read_sweeps([tmp_path / "fio.json"])
    assert (sweep.depth.tolist(), sweep.iops.tolist(), sweep.p99.tolist()) == ([1, 8], [80, 120], [20, 90])


def _at_depth(depth, iops, options=()) -> dict:
    load = {"rw": "randread", "bs": "8k", "iodepth": str(depth), "ioengine": "libaio", **dict(options)}
    return {"fio version": "fio-3.33", "jobs": [job(load, read=part_3(int(iops * 20), 20, 8192, 9e6))]}


def test_a_sweep_is_all_that_compare_reads(tmp_path):
    documents = [json.dumps(_at_depth(depth, iops)) for depth, iops in ((4, 120), (1, 80), (16, 180))]
    (tmp_path / "one.json").write_text("\n".join(documents))
    (tmp_path / "folder").mkdir()
    for at, text in enumerate(documents):
        (tmp_path / "folder" / f"{at}.json").write_text(text)
    files = [tmp_path / "folder" / f"{at}.json" for at in range(3)]
    for paths in ([tmp_path / "one.json"], [tmp_path / "folder"], files):
        (sweep,) = read_sweeps(paths)
        assert (sweep.depth.tolist(), sweep.iops.tolist()) == ([1, 4, 16], [80, 120, 180])
        assert (sweep.bs, sweep.rw) == ("8k", "randread")
    # A rate limits a depth, and does not take its place.
    limited = [json.dumps(_at_depth(depth, 100, {"rate_iops": "100"})) for depth in (1, 8)]
    (tmp_path / "limited.json").write_text("\n".join(limited))
    assert read_sweeps([tmp_path / "limited.json"])[0].depth.tolist() == [1, 8]
    # What the record says is not overruled.
    with pytest.raises(InputError, match=r'one\.json: bs="4k": the file is of randread 8k'):
        read_sweeps([tmp_path / "one.json"], bs="4k")


def test_a_record_of_a_simulation_is_a_sweep():
    (sweep,) = read_sweeps([sample("v1-simulated.json")])
    assert (sweep.depth.tolist(), sweep.bs, sweep.rw) == ([1, 4], "4k", "randread")


def test_sweeps_of_several_loads_are_several(tmp_path):
    texts = [json.dumps(_at_depth(depth, 80 * depth, {"bs": bs})) for bs in ("8k",) for depth in (1, 2)] + [
        json.dumps(_at_depth(1, 70, {"fdatasync": "1"}))
    ]
    (tmp_path / "loads.json").write_text("".join(texts[:2]))
    (tmp_path / "writes.csv").write_text("iodepth,iops\n1,90\n8,95\n")
    assert [
        one.depth.tolist() for one in read_sweeps([tmp_path / "loads.json", tmp_path / "writes.csv"])
    ] == [
        [1, 2],
        [1, 8],
    ]
    (tmp_path / "range.json").write_text(json.dumps(_at_depth(1, 80, {"bsrange": "4k-64k"})))
    with pytest.raises(InputError, match="has several sizes; a sweep has one"):
        read_sweeps([tmp_path / "range.json"])


def test_what_is_held_out(folder):
    write_chain(folder, "chain.csv", reads=60, writes=20)
    chain = read_chain(folder / "chain.csv")
    held = held_out(chain, 0.5)
    # The last half of the reads, and of the writes.
    assert held.tolist() == [False] * 30 + [True] * 30 + [False] * 10 + [True] * 10
    (folder / "x.trace").write_text(chain.text() * 10)
    trace = read_trace(folder / "x.trace")
    held = held_out(trace, 0.5)
    assert [bool(held[k * TRACE_BLOCK]) for k in range(4)] == [False, True, False, True]
    assert not held_out(trace, 0).any()


def test_lees_curve_goes_through_its_three_figures():
    cylinders = 50_000
    at = np.unique(np.round(np.linspace(1, np.sqrt(cylinders - 1), 400) ** 2))
    time = lee(at, cylinders, 1.0, 8.5, 16.0)
    assert time[0] == pytest.approx(1)
    assert time[-1] == pytest.approx(16, rel=0.002)
    assert average_seek(at, time, cylinders) == pytest.approx(8.5, rel=0.01)


def test_a_curve_is_bent_at_its_knots(folder):
    draft = start_of(str(folder / "sheet.toml"))
    cylinders = cylinders_of(draft)
    at, before = seek_points(draft, cylinders)
    _, after = seek_points(bent(draft, np.array([0.5, 0, 0, 0, -1.0])), cylinders)
    assert after[0] - before[0] == pytest.approx(0.5, abs=0.05)
    assert after[-1] - before[-1] == pytest.approx(-1, abs=0.01)
    assert hats(at, cylinders).sum(axis=1) == pytest.approx(1)
    assert hats(at, cylinders).shape == (len(at), len(KNOTS))


def test_a_draft_keeps_one_form_of_the_seek_curve_and_both_parts_of_an_overhead(folder):
    draft = start_of(str(folder / "sheet.toml"))
    table = draft.having({"seek.table": [[1, "1ms"], [9999, "9ms"]]})
    assert table.keys()["seek"] == {"table": [[1, "1ms"], [9999, "9ms"]]}
    both = laid_over(draft, {"firmware.read_miss.after_write": 0.7})
    assert both.get("firmware.read_miss") == {"after_read": "0.3ms", "after_write": "0.7ms"}
    both.plan()
    assert scaled(draft, 0.5).get("seek.average") == "4.5ms"
    assert scaled(table, 2).get("seek.table") == [[1, "2ms"], [9999, "18ms"]]


def chain_of(folder, drive):
    write_chain(folder, "chain.csv", reads=300, writes=100)
    chain = read_chain(folder / "chain.csv")
    replays = Replays(joined([chain]), held_out(chain, 0))
    return replays, start_of(str(folder / drive))


def test_angles_hold_where_the_layout_is_the_drives_and_only_there(folder):
    replays, truth = chain_of(folder, "truth.toml")
    with replays:
        right = timed(replays, truth)
        other = timed(replays, truth.having({"skew.track": "0.11rev", "skew.cylinder": "0.4rev"}))
    assert right.sharpness > 300
    assert right.period == pytest.approx(60_000 / 7180, rel=1e-4)
    assert right.aligned.sum() == right.media.sum() > 350
    assert other.sharpness < 12
    assert other.aligned.sum() < 20


@pytest.mark.parametrize("host_ms", [0.0, 0.15, 0.4])
def test_what_the_host_takes_between_requests_is_not_taken_for_the_platters_speed(folder, host_ms):
    """The times hold nothing of it, but the platter turns on."""
    write_chain(folder, "chain.csv", reads=400, writes=0)
    chain = read_chain(folder / "chain.csv")
    truth = start_of(str(folder / "truth.toml"))
    asked = Requests(**{**chain.__dict__, "gap": np.full(len(chain), host_ms)})
    with Replays(asked, held_out(asked, 0)) as replays:
        served = replays.simulated(truth)
    told = Requests(**{**chain.__dict__, "time": served})
    with Replays(told, held_out(told, 0)) as replays:
        data = timed(replays, truth)
    assert data.sharpness > 300
    assert data.host == pytest.approx(host_ms, abs=0.01)
    assert data.period == pytest.approx(60_000 / 7180, rel=1e-4)
    parameters = chain_parameters(truth, data, bends=False)
    model = Model(data, truth, tuple(parameters))
    keys = [one.key for one in parameters]
    right = np.array([one.start for one in parameters])
    for key, off in (("rpm", 7), ("chain.host", 0.1)):
        for sign in (-1, 1):
            wrong = right.copy()
            wrong[keys.index(key)] += sign * off
            assert model.likelihood(wrong[None])[0] < model.likelihood(right[None])[0] - 3, key


@pytest.mark.parametrize("late_us", [0, 30])
def test_a_machine_that_wakes_up_later_after_a_longer_wait_is_not_taken_for_a_slower_platter(folder, late_us):
    """Times that are exact decide the speed; times that jitter may also grow with what they measure."""
    write_chain(folder, "chain.csv", reads=1_000, writes=0)
    chain = read_chain(folder / "chain.csv")
    truth = start_of(str(folder / "truth.toml"))
    draw = np.random.default_rng(4)
    late_ms = np.abs(draw.normal(0, 1, len(chain)) + 2 * (1 - np.exp(-chain.time / 6))) * late_us / 1e3
    told = Requests(**{**chain.__dict__, "time": chain.time + late_ms})
    with Replays(told, held_out(told, 0)) as replays:
        data = timed(replays, truth)
    assert data.sharpness > 300
    parameters = chain_parameters(truth, data, bends=False)
    model = Model(data, truth, tuple(parameters))
    place = [one.key for one in parameters].index("rpm")
    low, high = np.quantile(model.sample(model.best()[0])[:, place], [0.05, 0.95])
    assert low <= 7180 <= high
    assert high - low < (60 if late_us else 6)


def test_where_tracks_end_is_left_open_unless_the_layout_is_known(folder):
    skewed = {**RATES, "skew": {"track": "0.21rev", "cylinder": "0.27rev"}}
    write_drive(folder, "skewed.toml", skewed)
    write_chain(folder, "chain.csv", skewed, reads=1000, writes=0)
    served = read_chain(folder / "chain.csv")
    drive = start_of(str(folder / "skewed.toml"))
    with Replays(served, held_out(served, 0)) as replays:
        known = timed(replays, drive)
        # The same number of sectors a track, and other skews: the angles are not the drive's.
        other = timed(replays, drive.having({"skew.track": "0.11rev", "skew.cylinder": "0.4rev"}))
    assert (known.sharpness > 300, other.sharpness < 12) == (True, True)
    assert not known.crosses.any()
    # Eight sectors on tracks of some 700 to 1 500.
    assert 7 / 1600 < other.crosses.min() < other.crosses.max() < 7 / 500
    # A switch takes a skew of 0.11 or 0.4 of a turn in the draft, and 0.21 or 0.27 on the drive.
    assert 0.1 < other.crossing / other.period < 0.5
    over = known.rest > np.median(known.rest) + 1
    assert 0 < over.sum() < 25
    # Of what the draft holds to go over an end nothing is left in the rest, and nothing else is changed.
    assert np.ptp(other.rest) < 0.2
    assert other.rest[~over] == pytest.approx(known.rest[~over], abs=0.01)
    # Of tracks of 1 000 sectors: 200 sectors on, 1 000 on, and right behind.
    first = np.array([0, 208, 1216, 1224])
    near = Requests("", "chain", first >= 0, first, np.full(4, 8), np.ones(4), np.zeros(4))
    together, angle = _on_one_track(near, np.full(4, 0.001))
    assert together == pytest.approx([0, 0.8, 0, 1])
    assert angle[[1, 3]] == pytest.approx([0.208, 0.008])
    # Of a layout that is described, as those that are imported, the ends are known, whatever becomes of the angles.
    replays, truth = chain_of(folder, "truth.toml")
    with replays:
        described = timed(replays, truth.having({"skew.track": "0.11rev", "skew.cylinder": "0.4rev"}))
    assert described.sharpness < 12
    assert not described.crosses.any()
    assert set(described.together) <= {0.0, 1.0}


def test_the_truth_is_likelier_than_what_is_near_it(folder):
    replays, truth = chain_of(folder, "truth.toml")
    with replays:
        data = timed(replays, truth)
    model = Model(data, truth, tuple(chain_parameters(truth, data, bends=False)))
    keys = [one.key for one in model.parameters]
    right = np.array([one.start for one in model.parameters])
    best = model.likelihood(right[None])[0]
    for key, off in (("rpm", 10), ("seek.average", 0.5), ("seek.full", 1.5), ("firmware.read_miss", 0.6)):
        for sign in (-1, 1):
            wrong = right.copy()
            wrong[keys.index(key)] += sign * off
            assert model.likelihood(wrong[None])[0] < best - 3, key
    assert np.isneginf(model.prior(np.full((1, len(keys)), -1.0)))[0]


def test_the_sampler_draws_a_normal_distribution():
    covariance = np.array([[1.0, 0.8], [0.8, 2.0]])
    inverse = np.linalg.inv(covariance)

    def log_density(rows) -> np.ndarray:
        return -0.5 * np.einsum("ij,jk,ik->i", rows - 3, inverse, rows - 3)

    start = np.random.default_rng(4).normal(3, 1, (30, 2))
    draws = ensemble(log_density, start, 1500)
    assert draws.mean(axis=0) == pytest.approx([3, 3], abs=0.15)
    assert np.cov(draws.T) == pytest.approx(covariance, abs=0.25)


@settings(max_examples=15)
@given(outer=st.floats(60, 250), inner=st.floats(0.4, 0.8))
def test_a_surface_gives_its_rates_back(outer, inner):
    draft = start_of("hgst-c15k600")
    capacity = draft.plan().capacity_bytes(0)
    zones = int(draft.get("geometry.zone_count", 16))
    offset = (np.arange(20) + 0.5) / 20 * capacity
    rates = rate_at(offset, 1e6 * outer, inner, zones, capacity)
    _, fitted, rows, _ = fit_surface(draft, Surface("made up", offset, rates), ())
    told = {one.key: one for one in fitted}
    assert told["geometry.outer_rate"].value == pytest.approx(outer, rel=0.015)
    assert told["geometry.inner_to_outer"].value == pytest.approx(inner, rel=0.02)
    assert len(rows) == 20


def test_guard_and_ageing_are_found_along_their_ridge(folder):
    """A search along one after the other stops half-way."""
    truth = {**TRUTH, "queue": {**TRUTH["queue"], "order": "share-aged-sptf", "age_share": 3.6}}
    write_drive(folder, "aged.toml", truth)
    write_sweep(folder, "sweep.csv", truth, depths=(1, 2, 4, 8, 16, 32))
    sweeps = Sweeps(read_sweeps([folder / "sweep.csv"]), 1)
    start = start_of(str(folder / "aged.toml")).having({"queue.read_margin": "0ms", "queue.age_share": 1.5})
    found = best_numbers(sweeps, start, "share-aged-sptf", ())
    assert found.loss < sweeps.loss(start_of(str(folder / "aged.toml"))) + 3
    assert found.point["queue.age_share"] == pytest.approx(3.6, rel=0.25)


def test_an_error_that_all_rates_have_in_common_counts_once():
    gains = np.array([1.0, -1.0, 0.0])
    assert _whitened(gains) == pytest.approx(gains)
    # Three rates that are all off by one error: as likely as one that is off by sqrt(3 / 4) of it.
    assert np.sum(_whitened(np.ones(3)) ** 2) == pytest.approx(3 / 4)


def test_the_source_of_a_bent_curve_names_its_intervals_if_it_has_some(folder):
    write_drive(folder, "sheet.toml", SHEET)
    draft = start_of(str(folder / "sheet.toml")).having({"seek.table": [[1, "1ms"], [9999, "16ms"]]})
    found = Found(draft)

    def source() -> str:
        return tomllib.loads(drive_file("sheet.toml", found, {}))["seek"]["table"]["source"]

    # A trace alone bends the curve without an interval of it.
    assert source() == "FIT: a curve bent to the measurement"
    found.add([Fitted("seek.single", 1.0, 0.9, 1.1, "fitted")])
    assert source() == "FIT: a curve bent to the measurement; seek.single 90 % from 0.9 to 1.1 ms"


def test_an_interval_of_a_trace_that_is_as_wide_as_the_range_decides_nothing():
    class Random:
        """Simulated times that have nothing to do with the parameter."""

        requests = SimpleNamespace(time=np.random.default_rng(1).uniform(0, 30, 200))

        def __init__(self, *_: object) -> None:
            self.calls = 0

        def simulated(self, _draft: object) -> np.ndarray:
            self.calls += 1
            return np.random.default_rng(self.calls).uniform(0, 30, 200)

    draw = np.random.default_rng(2)
    draws = [draw.integers(0, 200, 200) for _ in range(40)]
    one = Parameter("firmware.read_miss.after_read", 0.3, 0.4, 0.0, 3.3)
    base = SimpleNamespace(get=lambda _key: None, having=lambda _values: None)
    found = _one(Random(), base, {one.key: 1.5}, one, draws)
    assert found.high - found.low > 0.66
    assert (found.mark, found.note) == ("undecided", ONE_OF_MANY)


def test_a_parabolas_minimum():
    assert _minimum([0, 1, 2], [4.0, 1.0, 0.0], (-5, 5)) == pytest.approx(2)
    assert _minimum([0, 1, 2], [0.0, 1.0, 2.0], (-5, 5)) == -5


def test_a_trace_tells_overheads_and_a_cache_rule(folder):
    """The truth reads on, the start does not, and takes longer for a hit."""
    cache = {"size": "4MiB", "segments": 4, "read_ahead": "limit"}
    truth = {
        **TRUTH,
        "cache": cache,
        "firmware": {**TRUTH["firmware"], "read_hit": "0.2ms"},
        "settle": {"write_settle": "0.5ms"},
    }
    draw = np.random.default_rng(6)
    lines = []
    for page in draw.integers(0, 1_000_000, 300):
        # Sequential ones behind it, after a pause in which the drive can read on.
        lines += [f"{page * 8 + 8 * k} 8" for k in range(draw.integers(1, 5))]
    (folder / "asked.trace").write_text("".join(f"R Hit {line} 1000 20000\n" for line in lines))
    write_drive(folder, "cached.toml", truth)
    asked = read_trace(folder / "asked.trace")
    with Replays(asked, held_out(asked, 0)) as replays:
        times = replays.simulated(start_of(str(folder / "cached.toml")))
    served = "".join(
        f"R Hit {line} {1e3 * took:.3f} 20000\n" for line, took in zip(lines, times, strict=True)
    )
    (folder / "served.trace").write_text(served)
    start = {
        **truth,
        "cache": {**cache, "read_ahead": "none"},
        "firmware": {**truth["firmware"], "read_hit": "0.5ms"},
    }
    write_drive(folder, "start.toml", start)
    requests = read_trace(folder / "served.trace")
    known = [
        "seek.bend",
        "link",
        "firmware.write",
        "settle.head_switch",
        "settle.write_settle",
        "firmware.read_miss",
    ]
    known += ["firmware.read_completion", "firmware.write_completion"]
    with Replays(requests, held_out(requests, 0.5)) as replays:
        draft, point, rules = fit_trace(
            replays, start_of(str(folder / "start.toml")), known, 1, lambda *_: None
        )
        assert replays.loss(draft) < 0.1 * replays.loss(start_of(str(folder / "start.toml")))
    assert rules["cache.read_ahead"] != "none"
    assert point["firmware.read_hit.after_read"] == pytest.approx(0.2, abs=0.05)


def test_a_line_that_no_reader_of_csv_takes_is_named(tmp_path):
    (tmp_path / "image.csv").write_text("x" * 200_000 + "\n")
    with pytest.raises(InputError, match=r"image.csv:1: field larger .*: this is no line of a table"):
        read_surface(tmp_path / "image.csv")
