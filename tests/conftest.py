"""What every test here runs under: how hard Hypothesis looks, the same way on every CI run, and how many workers.

`HYPOTHESIS_PROFILE=thorough` looks harder.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings

from drivelab import executors, experiment
from drivelab.arrays.simulation import measure
from drivelab.experiment import engine
from drivelab.experiment.engine import planned

settings.register_profile("fast", max_examples=50, deadline=None)
settings.register_profile("ci", parent=settings.get_profile("fast"), derandomize=True, print_blob=True)
settings.register_profile("thorough", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "fast"))


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are processors: some of the tests wait for a device with its true timing."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


class Shared:
    """What was computed in this run of the tests, by key, in files that all its workers see.

    What is computed twice at the same time is the same: see tools/determinism.py.
    """

    def __init__(self, folder: Path) -> None:
        """Use a folder of this run alone, so that nothing of an older build is in it."""
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def get(self, key: object) -> Any:  # noqa: ANN401
        """What was computed for this key; None if nothing was."""
        try:
            return pickle.loads(zlib.decompress(self._path(key).read_bytes()))  # noqa: S301 - written below
        except FileNotFoundError:
            return None

    def put(self, key: object, value: object) -> None:
        """Keep what was computed: whole, or not at all."""
        path = self._path(key)
        own = path.with_suffix(f".{os.getpid()}")
        own.write_bytes(zlib.compress(pickle.dumps(value), 1))
        own.replace(path)

    def _path(self, key: object) -> Path:
        return self._folder / hashlib.sha256(repr(key).encode()).hexdigest()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """What all workers of this run have computed."""
    own = tmp_path_factory.getbasetemp()
    return Shared((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "computed")


@pytest.fixture(scope="session", autouse=True)
def published_once(shared: Shared) -> Iterator[None]:
    """An experiment of the catalogue is run once, whichever tests ask for it.

    What it comes to is decided by its scenarios: an experiment with the same ones is the same.
    """
    known: dict[object, experiment.Outcome] = {}

    def run(loaded, workers=None, progress=None, ready=None):  # noqa: ANN202
        ready = planned(loaded) if ready is None else ready
        if loaded.name not in experiment.names():
            return engine.run(loaded, workers, progress, ready)
        # Questions of the room of durability have no hash; what they ask is all that they are.
        asked = [getattr(plan, "scenario_hash", None) or repr(plan) for plan in ready.plans.values()]
        key = (loaded.name, *ready.plans, *asked)
        if key not in known:
            found = shared.get(key)
            if found is None:
                found = engine.run(loaded, workers, progress, ready)
                if found.interrupted:
                    return found
                shared.put(key, replace(found, experiment=None))
            known[key] = replace(found, experiment=loaded)
        return known[key]

    with mock.patch.object(experiment, "run", run):
        yield


@pytest.fixture(scope="module")
def loads_once(shared: Shared) -> Iterator[None]:
    """A load of a level, of `compare-levels`, `plan` or a simulated rebuild, is simulated once.

    What becomes of it is made anew for each test.
    """
    simulated = measure.run_reduced

    def run(plans, keep, workers=None, progress=None):  # noqa: ANN202
        if progress is not None or executors.current() is not None:
            return simulated(plans, keep, workers, progress)
        keys = [(one.scenario_hash, one.name, one.seed, one.axes, one.skipped) for one in plans]
        kept = {}
        new = []
        for place, (one, key) in enumerate(zip(plans, keys, strict=True)):
            found = shared.get(key)
            if found is None:
                new.append(place)
            else:
                kept[place] = keep(place, replace(found, plan=one))

        def keep_new(at, result):  # noqa: ANN202
            place = new[at]
            kept[place] = keep(place, result)
            if not result.interrupted:
                shared.put(keys[place], replace(result, plan=None))

        if new:
            simulated([plans[place] for place in new], keep_new, workers, progress)
        return [kept[place] for place in range(len(plans))]

    with mock.patch.object(measure, "run_reduced", run):
        yield


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make groups (`xdist_group`) hold: all tests of a group run in one process, and set up once.

    pytest-xdist 3.8 adds the group to a test's id where pytest before 9.2 kept it; pytest 9.2 keeps it elsewhere, and
    without this no group holds.
    """
    for item in items:
        named = vars(item).get("_nodeid", item.nodeid)
        if named != item.nodeid:
            item._id = type(item.id).parse(named)


# A shell starts what it puts into the background with Ctrl-C ignored, and every command here would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
