"""What the package knows without a scenario of one's own: the catalogue, the schema, published tables."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from typing import Any

from drivelab import _core, experiment
from drivelab.arguments import speaks_of_arguments
from drivelab.errors import InputError, Interrupted, ScenarioError
from drivelab.experiment import Outcome
from drivelab.problem import Problem
from drivelab.scenario import Scenario, overrides_from, plan, read_source
from drivelab.simulation import Progress


def catalogue(kind: str = "drives") -> list[dict[str, Any]]:
    """All drives of the catalogue, or all `controllers` or `workloads`.

    Of each its name, its facts with mark and source, and the sources in full. Raises InputError for another kind.
    """
    if kind not in _core.kinds():
        raise InputError(f"the catalogue has no {kind}: it has {', '.join(_core.kinds())}")
    return [
        {
            "name": entry["name"],
            "path": f"catalogue/{entry['path']}",
            "facts": entry["facts"],
            "sources": tomllib.loads(entry["text"]).get("sources", {}),
        }
        for entry in _core.entries(kind)
    ]


def catalogue_kinds() -> list[str]:
    """The kinds of things that the catalogue has facts of."""
    return list(_core.kinds())


def catalogue_entry(name: str) -> dict[str, Any]:
    """What is called `name`, of any kind. Raises InputError for a name that is not there, with the nearest that are."""
    if name.endswith(".toml"):
        raise InputError(
            f"only what is in the catalogue can be shown, and {name} is a file; "
            "whether a drive's can be run, `simulate --drive` tells"
        )
    entries = [entry for kind in catalogue_kinds() for entry in catalogue(kind)]
    for entry in entries:
        if entry["name"] == name:
            return entry
    names = [entry["name"] for entry in entries]
    close = get_close_matches(name, names, cutoff=0.4)
    remedy = f"did you mean {' or '.join(close)}?" if close else f"there is {', '.join(names)}"
    raise InputError(f"nothing in the catalogue is called {name}: {remedy}")


@speaks_of_arguments
def check(scenario: Scenario, **overrides: object) -> list[Problem]:
    """Everything that is wrong with a scenario; nothing when it can run. Raises InputError (no such file)."""
    try:
        plan(read_source(scenario), overrides_from(overrides))
    except ScenarioError as error:
        return error.problems
    return []


@speaks_of_arguments
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
