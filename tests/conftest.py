"""What every test here runs under: how hard Hypothesis looks, and that it looks the same way on every CI run.

`HYPOTHESIS_PROFILE=thorough` looks harder.
"""

from __future__ import annotations

import os
import pickle
import signal
import zlib
from collections.abc import Iterator
from dataclasses import replace
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


@pytest.fixture(scope="session", autouse=True)
def published_once() -> Iterator[None]:
    """An experiment of the catalogue is run once by each process of the tests, whichever of them ask for it.

    What it comes to is decided by its scenarios: an experiment with the same ones is the same.
    """
    known: dict[tuple[str, ...], experiment.Outcome] = {}

    def run(loaded, workers=None, progress=None, ready=None):  # noqa: ANN202
        ready = planned(loaded) if ready is None else ready
        # Questions of the room of durability have no hash; what they ask is all that they are.
        asked = (getattr(plan, "scenario_hash", None) or repr(plan) for plan in ready.plans.values())
        key = (loaded.name, *ready.plans, *asked)
        if loaded.name not in experiment.names():
            return engine.run(loaded, workers, progress, ready)
        if key not in known:
            known[key] = engine.run(loaded, workers, progress, ready)
        outcome = known[key]
        return known.pop(key) if outcome.interrupted else outcome

    with mock.patch.object(experiment, "run", run):
        yield


@pytest.fixture(scope="session")
def known_loads() -> dict[tuple[str, ...], bytes]:
    """The results of the loads of levels that have run in this process, packed: there are thousands of points."""
    return {}


@pytest.fixture(scope="module")
def loads_once(known_loads: dict[tuple[str, ...], bytes]) -> Iterator[None]:
    """A load of a level, of `compare-levels`, `plan` or a simulated rebuild, is simulated once by each process.

    The same scenario has the same result: see tools/determinism.py. What becomes of it is made anew for each test.
    """
    simulated = measure.run_reduced

    def run(plans, keep, workers=None, progress=None):  # noqa: ANN202
        if progress is not None or executors.current() is not None:
            return simulated(plans, keep, workers, progress)
        keys = [(one.scenario_hash, one.name, repr((one.seed, one.axes, one.skipped))) for one in plans]
        new = list({key: place for place, key in enumerate(keys) if key not in known_loads}.values())
        kept = {}

        def keep_new(at, result):  # noqa: ANN202
            place = new[at]
            kept[place] = keep(place, result)
            if not result.interrupted:
                known_loads[keys[place]] = zlib.compress(pickle.dumps(replace(result, plan=None)), 1)

        if new:
            simulated([plans[place] for place in new], keep_new, workers, progress)
        for place, (one, key) in enumerate(zip(plans, keys, strict=True)):
            if place not in kept:
                packed = pickle.loads(zlib.decompress(known_loads[key]))  # noqa: S301 - packed above
                kept[place] = keep(place, replace(packed, plan=one))
        return [kept[place] for place in range(len(plans))]

    with mock.patch.object(measure, "run_reduced", run):
        yield


# A shell starts what it puts into the background with Ctrl-C ignored, and every command here would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
