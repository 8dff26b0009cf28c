"""`import drivelab`: the same as the command line, for programs and notebooks."""

from __future__ import annotations

import _thread
import threading
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivelab
from drivelab.report import toml_text
from drivelab.runs.simulation import run_plans, run_reduced
from drivelab.scenarios.scenario import plan, read_source

QUEUE = {
    "target": {"server": {"service": "exponential", "mean": "8ms"}},
    "workload": {"iodepth": 2},
    "run": {"ios": 2000},
}


def test_a_dictionary_text_and_file_are_the_same_scenario(tmp_path):
    path = tmp_path / "queue.toml"
    path.write_text(toml_text.dumps(QUEUE), encoding="utf-8")
    results = [drivelab.simulate(form) for form in (QUEUE, toml_text.dumps(QUEUE), path, str(path))]
    assert len({result.scenario_hash for result in results}) == 1
    assert len({result.points[0]["digest"] for result in results}) == 1


def test_overrides_sweep():
    result = drivelab.simulate(QUEUE, **{"workload.iodepth": [1, 4], "workload.bs": "8k"})
    assert [point["axes"] for point in result.points] == [{"workload.iodepth": 1}, {"workload.iodepth": 4}]
    assert "iodepth" in str(result.table())
    html = result._repr_html_()
    assert html.count("<tr>") == 3
    assert result.scenario_hash in html
    assert len(result.fio) == 2


def test_a_result_draws_itself():
    result = drivelab.simulate(QUEUE, **{"workload.iodepth": [1, 4]})
    assert result.chart().to_dict()
    assert result.breakdown_chart().to_dict()


def test_problems_are_raised_or_listed():
    with pytest.raises(drivelab.ScenarioError) as caught:
        drivelab.simulate(QUEUE, **{"workload.iodepth": 0, "workload.rw": "sideways"})
    assert [problem["origin"] for problem in caught.value.problems] == ["workload.iodepth", "workload.rw"]
    assert drivelab.check(QUEUE) == []
    assert len(drivelab.check(QUEUE, **{"workload.rw": "sideways"})) == 1


@pytest.mark.parametrize("scenario", ["absent.toml", {"target": {1, 2}}, "name = '\udcff'"])
def test_what_cannot_be_read_is_an_input_error(scenario):
    with pytest.raises(drivelab.InputError):
        drivelab.simulate(scenario)


@pytest.mark.parametrize("scenario", [None, 5, b"x", ["a"], {1: 2}])
def test_what_is_no_scenario_is_an_input_error_that_says_what_is(scenario):
    with pytest.raises(drivelab.InputError, match=r"a path, TOML text or a dictionary|scenario dictionary"):
        drivelab.simulate(scenario)


@pytest.mark.parametrize("workers", [0, -1])
def test_it_takes_a_worker(workers):
    with pytest.raises(drivelab.InputError, match=f"workers is {workers}"):
        drivelab.simulate(QUEUE, workers=workers)


def test_fios_words_are_keywords():
    words = drivelab.simulate(drive="wd-4tb-7200", rw="randread", bs="4KiB", iodepth=[1, 4], number_ios=200)
    keys = drivelab.simulate(
        **{
            "target.drive": "wd-4tb-7200",
            "workload.rw": "randread",
            "workload.bs": "4KiB",
            "workload.iodepth": [1, 4],
            "run.ios": 200,
        }
    )
    assert words.points == keys.points
    assert words.scenario_hash == keys.scenario_hash
    with pytest.raises(drivelab.ScenarioError) as caught:
        drivelab.simulate(QUEUE, iodepth=0)
    assert [problem["origin"] for problem in caught.value.problems] == ["iodepth"]
    with pytest.raises(drivelab.InputError, match=r"iodept is no argument: did you mean iodepth\?"):
        drivelab.simulate(QUEUE, iodept=1)


def test_a_result_shows_itself_in_a_line():
    result = drivelab.simulate({**QUEUE, "name": "short"}, iodepth=[1, 4])
    assert repr(result) == f"<Result 'short': 2 points, digest {result.to_dict()['digest']}>"


def test_an_interruption_keeps_what_finished():
    started = threading.Event()

    def on_progress(done: float) -> None:
        # Two points are done, the third has begun: now somebody presses Ctrl-C.
        if done >= 2 and not started.is_set():
            started.set()
            _thread.interrupt_main()

    with pytest.raises(drivelab.Interrupted) as caught:
        drivelab.simulate(QUEUE, workers=1, progress=on_progress, **{"run.ios": [100, 200, 10**12]})
    assert isinstance(caught.value, KeyboardInterrupt)
    assert [point["latency_ns"]["n"] for point in caught.value.result.points] == [100, 200]
    assert caught.value.result.to_dict()["interrupted"] is True


def test_a_fault_in_the_progress_callback_ends_the_run():
    def on_progress(done: float) -> None:
        raise LookupError(done)

    with pytest.raises(LookupError):
        drivelab.simulate(QUEUE, progress=on_progress, **{"run.ios": 10**12})


def test_a_run_that_cannot_go_on_is_a_run_error():
    # A thousand pauses of 700 days are more years than a run may last.
    with pytest.raises(drivelab.RunError):
        drivelab.simulate(QUEUE, thinktime="700d")


def test_progress_reaches_the_number_of_points():
    seen: list[float] = []
    drivelab.simulate(QUEUE, progress=seen.append, **{"workload.iodepth": [1, 2, 3]})
    assert seen == sorted(seen)
    assert seen[-1] == 3


def test_the_catalogue_and_the_schema():
    assert {"name", "path", "facts", "sources", "bases"} == drivelab.catalogue()[0].keys()
    assert drivelab.schema()["properties"]["workload"]


_values = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), _values, max_size=4))
def test_toml_reads_back_as_it_was_written(document):
    assert tomllib.loads(toml_text.dumps(document)) == document


def test_what_toml_cannot_say_is_named():
    with pytest.raises(TypeError, match=r"a\.b: a NoneType"):
        toml_text.dumps({"a": {"b": None}})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: drivelab.simulate(drive="wd-4tb-7200", iodept=4),
            "iodept is no argument: did you mean iodepth",
        ),
        (lambda: drivelab.check(io_depth=4), "io_depth is no argument: did you mean iodepth"),
        (lambda: drivelab.scan("wd-4tb-7200", placs=4), "placs is no argument: did you mean places"),
        (
            lambda: drivelab.compare_levels("wd-4tb-7200", level="raid5"),
            "level: target.array.level is not set so; see levels",
        ),
        (lambda: drivelab.simulate(zzz=4), "zzz is no argument: a key of a scenario is given by its path"),
        (
            lambda: drivelab.scan(["wd-4tb-7200", "wd-wd2500"]),
            r"scan_drives\(\[..\]\) sets several side by side",
        ),
        (lambda: drivelab.scan("wd-4tb-7200,wd-wd2500"), r"scan_drives\(\[..\]\) sets several side by side"),
    ],
)
def test_a_wrong_argument_is_named_with_the_right_one(call, says):
    with pytest.raises(drivelab.InputError, match=says):
        call()


def test_check_takes_what_simulate_takes():
    assert drivelab.check(drive="wd-4tb-7200", rw="randread", iodepth=[1, 4]) == []
    (problem,) = drivelab.check(drive="wd-4tb-7200", rw="randrd")
    assert problem["origin"] == "rw"


def test_names_in_one_text_are_a_list():
    found = drivelab.scan_drives("wd-wd740gd-00fla0, wd-wd2500", places=2, accesses=2)
    assert [scan.run.name for scan in found.scans] == ["wd-wd740gd-00fla0", "wd-wd2500"]


def test_ctrl_c_while_a_result_is_reduced_loses_none_of_it():
    plans = [plan(read_source(QUEUE)), plan(read_source(QUEUE))]
    calls: list[int] = []

    def keep(place: int, result: drivelab.Result) -> tuple[int, list[str]]:
        calls.append(place)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return place, [point["digest"] for point in result.points]

    # A worker may be at a later point by then, and ends it.
    first, second = run_reduced(plans, keep, workers=1)
    digests = [point["digest"] for point in run_plans(plans)[0].points]
    assert first == (0, digests)
    assert second in [(1, digests[:count]) for count in range(len(digests) + 1)]
    assert calls == [0, 0, 1]


def test_what_goes_wrong_while_a_result_is_reduced_ends_the_run():
    def keep(place: int, result: drivelab.Result) -> None:
        raise LookupError(place)

    with pytest.raises(LookupError, match="0"):
        run_reduced([plan(read_source(QUEUE))] * 2, keep)


def test_results_are_reduced_in_the_order_of_their_plans():
    plans = [plan(read_source({**QUEUE, "run": {"ios": ios}})) for ios in (50_000, 5, 500)]
    places: list[int] = []
    found = run_reduced(
        plans, lambda place, result: (places.append(place), result.points[0]["read"]["ios"])[1]
    )
    assert (places, found) == ([0, 1, 2], [50_000, 5, 500])
    assert run_reduced([], lambda *_: None) == []
