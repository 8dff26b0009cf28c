"""What every test here runs under: how hard Hypothesis looks, and that it looks the same way on every CI run.

`HYPOTHESIS_PROFILE=thorough` looks harder.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import settings

from drivelab import experiment
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


# A shell starts what it puts into the background with Ctrl-C ignored, and every command here would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
