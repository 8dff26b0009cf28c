"""What the package knows without a scenario of one's own: the catalogue, the schema, published tables."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from typing import Any

from drivelab import _core, experiment
from drivelab.errors import InputError, Interrupted, ScenarioError
from drivelab.experiment import Outcome
from drivelab.problem import Problem
from drivelab.scenario import Scenario, overrides_from, plan, read_source
from drivelab.simulation import Progress


def catalogue() -> list[dict[str, Any]]:
    """Every drive of the catalogue: its name, its facts with mark and source, and the sources in full."""
    return [
        {
            "name": drive["name"],
            "path": f"catalogue/{drive['path']}",
            "facts": drive["facts"],
            "sources": tomllib.loads(drive["text"]).get("sources", {}),
        }
        for drive in _core.drives()
    ]


def catalogue_entry(name: str) -> dict[str, Any]:
    """The drive called `name`. Raises InputError for a name that is not there, with the nearest that are."""
    if name.endswith(".toml"):
        raise InputError(
            f"only drives of the catalogue can be shown, and {name} is a file; "
            "whether it can be run, `simulate --drive` tells"
        )
    drives = catalogue()
    for drive in drives:
        if drive["name"] == name:
            return drive
    names = [drive["name"] for drive in drives]
    close = get_close_matches(name, names, cutoff=0.4)
    remedy = f"did you mean {' or '.join(close)}?" if close else f"there is {', '.join(names)}"
    raise InputError(f"no drive is called {name}: {remedy}")


def check(scenario: Scenario, **overrides: object) -> list[Problem]:
    """Everything that is wrong with a scenario; nothing when it can run. Raises InputError (no such file)."""
    try:
        plan(read_source(scenario), overrides_from(overrides))
    except ScenarioError as error:
        return error.problems
    return []


def reproduce(name: str, *, workers: int | None = None, progress: Progress | None = None) -> Outcome:
    """Run a published table again, e.g. `reproduce("lkml-2007")`; or the experiment in the file at a path.

    Raises InputError (no such experiment), ScenarioError, RunError and Interrupted (Ctrl-C; its `result` holds
    the finished cells).
    """
    outcome = experiment.run(experiment.load(name), workers, progress)
    if outcome.interrupted:
        raise Interrupted(outcome)
    return outcome


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    return _core.schema()
