"""A configuration of Iometer as a scenario: what it means here, and what cannot be."""

from drivelab.iometer.configuration import is_configuration, scenario_of

__all__ = ["is_configuration", "scenario_of"]
