"""What is wrong with a scenario, and what may be in one: `drivelab.check` and `drivelab.schema`."""

from __future__ import annotations

from typing import Any

from drivelab import _core
from drivelab.errors import ScenarioError
from drivelab.scenarios.names import names_checked
from drivelab.scenarios.problem import Problem
from drivelab.scenarios.scenario import Scenario, overrides_from, plan, read_source


@names_checked
def check(scenario: Scenario = "", **overrides: object) -> list[Problem]:
    """Everything that is wrong with a scenario; nothing when it can run. Arguments are those of `simulate`.

    Raises InputError (no such file).
    """
    try:
        laid_over = overrides_from(overrides)
        plan(read_source(scenario, laid_over), laid_over)
    except ScenarioError as error:
        return error.problems
    return []


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    return _core.schema()
