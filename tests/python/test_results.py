"""Results in a notebook: kept, copied, turned into frames; numbers of numpy; errors in the words of arguments."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from typing import NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
import pytest

import drivelab
from drivelab.runs import point as types

QUICK = {"drive": "wd-4tb-7200", "rw": "randrw", "number_ios": 200}


@pytest.fixture(scope="module")
def swept() -> drivelab.Result:
    """Two points."""
    return drivelab.simulate(**QUICK, iodepth=[1, 4])


def test_a_result_is_pickled_and_copied(swept):
    for other in (pickle.loads(pickle.dumps(swept)), copy.copy(swept), copy.deepcopy(swept)):  # noqa: S301
        assert other == swept
        assert other.to_dict() == swept.to_dict()
        assert str(other.table()) == str(swept.table())
        assert other.chart().to_dict()
    deep = copy.deepcopy(swept)
    deep.points[0]["axes"]["workload.iodepth"] = 9
    assert swept.points[0]["axes"]["workload.iodepth"] == 1


def test_a_copy_draws_its_yardstick_and_a_pickled_one_does_without():
    logged = drivelab.simulate(**QUICK, iodepth=4, log=20)
    assert copy.deepcopy(logged).timeline_chart().to_dict() == logged.timeline_chart().to_dict()
    assert pickle.loads(pickle.dumps(logged)).timeline_chart().to_dict()  # noqa: S301


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_points_become_a_frame(swept, library):
    frame = getattr(swept, f"to_{library}")()
    assert frame.shape[0] == 2
    assert list(frame["workload.iodepth"]) == [1, 4]
    assert list(frame["latency_ns.mean"]) == [point["latency_ns"]["mean"] for point in swept.points]
    assert "histogram" not in " ".join(frame.columns)


def test_points_with_different_figures_become_a_frame():
    result = drivelab.simulate(
        {"target": {"drive": ["wd-4tb-7200", {"base": "wd-4tb-7200", "rpm": "5400rpm"}]}}, number_ios=100
    )
    for frame in (result.to_pandas(), result.to_polars()):
        assert json.loads(list(frame["target.drive"])[1])["rpm"] == "5400rpm"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_the_extra_the_error_says_how_to_get_it(swept, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"needs {library}.*pip install \"drivelab\[{library}\]\""):
        getattr(swept, f"to_{library}")()


def test_numbers_and_arrays_of_numpy_are_numbers_and_lists(swept):
    mine = drivelab.simulate(
        drive="wd-4tb-7200", rw=np.str_("randrw"), number_ios=np.int64(200), iodepth=np.array([1, 4])
    )
    assert mine == swept
    scenario = {
        "target": {"drive": "wd-4tb-7200"},
        "workload": {"rw": "randrw", "iodepth": np.arange(1, 5, 3)},
    }
    assert drivelab.simulate(scenario, number_ios=200).points == swept.points


def unknown_keys(value: object, hint: object, path: str = "") -> list[str]:
    """Keys of a document that its type does not have."""
    if isinstance(value, list):
        inner_hint = next(iter(get_args(hint)), None)
        return [found for one in value for found in unknown_keys(one, inner_hint, path)]
    kinds = [kind for kind in (hint, *get_args(hint)) if is_typeddict(kind)]
    if not kinds or not isinstance(value, dict):
        return []
    hints = get_type_hints(kinds[0])
    marked = get_type_hints(kinds[0], include_extras=True)
    needed = [key for key in hints if get_origin(marked[key]) is not NotRequired]
    missing = [f"{path}{key}" for key in needed if key not in value]
    unknown = [f"{path}{key}" for key in value if key not in hints]
    inner = [
        name
        for key in value
        if key in hints
        for name in unknown_keys(value[key], hints[key], f"{path}{key}.")
    ]
    return [*missing, *unknown, *inner]


def test_the_type_of_a_point_has_every_key_of_every_record():
    array = {
        "level": "raid1",
        "members": 2,
        "drive": "wd-4tb-7200",
        "log": 3,
        "check_data": True,
        "number_ios": 50,
    }
    cut = {"drive": "wd-4tb-7200", "rw": "randwrite", "target.faults.power_cut": "2s"}
    for options in (QUICK, array, cut):
        for point in drivelab.simulate(**options).points:
            assert unknown_keys(point, types.Point) == []


def test_scans_and_levels_are_at_hand_and_show_themselves():
    scan = drivelab.scan("wd-4tb-7200", places=3, accesses=3)
    assert scan.run.identity() in scan._repr_html_()
    sizes = drivelab.scan_sizes("wd-4tb-7200", requests=1)
    assert "<table>" in sizes._repr_html_()
    assert callable(drivelab.compare_levels)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (drivelab.simulate, 'drive="wd-4tb-7200"'),
        (lambda: drivelab.simulate(level="raid5", members=4), 'drive="wd-4tb-7200"'),
        (
            lambda: drivelab.simulate(drive="x", bs="4k", **{"workload.bs": "8k"}),
            "bs .4k. and workload.bs .8k. both",
        ),
        (
            lambda: drivelab.simulate(drive="wd-4tb-7200", workers=10**9),
            "workers is 1000000000: at most 1024",
        ),
        (lambda: drivelab.scan("nowhere"), "--> drive"),
        (lambda: drivelab.compare_levels("nowhere"), "--> drive"),
        (lambda: drivelab.compare_levels("wd-4tb-7200", drive_price="x"), 'drive_price="x": a price'),
        (lambda: drivelab.compare_levels("wd-4tb-7200", afr="1%", mttf="1d"), "afr and mttf say"),
        (lambda: drivelab.compare_levels("wd-4tb-7200", members=0), "members=0"),
    ],
)
def test_errors_speak_of_arguments(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "--" not in str(caught.value).replace("-->", "")
    for problem in getattr(caught.value, "problems", ()):
        assert not problem["origin"].startswith("--")
